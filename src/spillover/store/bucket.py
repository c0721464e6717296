"""Requests to an object store, each with a deadline, and errors that say what to do.

Credentials, regions and endpoints are found by the library, obstore: its variables (AWS_…, GOOGLE_…, AZURE_…) and its
conventions.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from itertools import chain
from threading import Thread
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

from msgspec import Struct

from spillover.errors import MissingExtraError, StoreError

Result = TypeVar("Result")

#: Seconds of a request without any progress; more delay a call when the store is away.
DEADLINE_SECONDS = 5.0
#: Seconds of a request in an upload in parts, whose progress is watched; more wait longer for a dead connection.
PART_SECONDS = 600.0
#: Keys in a page of a listing, and in a request that removes objects; the services allow no more.
PAGE_KEYS = 1_000
#: Bytes of an object that is uploaded in one request, and of a part of a larger one; more take more memory.
PART_BYTES = 8 << 20
#: Parts uploaded at once; more take more memory.
PARTS_AT_ONCE = 4
#: The slowest upload in parts to wait for. A higher number gives up on slow lines.
MIN_BYTES_PER_SECOND = 1 << 20
#: Options of the connection that the library's variables may set, e.g. AWS_ALLOW_HTTP.
VARIABLE_PREFIXES = ("AWS", "GOOGLE", "AZURE")
FLAGS = ("allow_http", "allow_invalid_certificates", "http1_only", "http2_only")
CLIENT_OPTIONS = (*FLAGS, "proxy_url", "proxy_ca_certificate", "proxy_excludes", "user_agent")
#: Characters of a message of the library; more make ours longer.
MAX_MESSAGE_CHARS = 240

NO_BUCKET = "the bucket does not exist; create it, or name another in the store's URL"
NO_CREDENTIALS = (
    "no credentials were found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give this machine a role"
)
NOT_ALLOWED = "these credentials may not do this; docs/fleet.md has the policy it takes"
NOT_A_STORE = "the endpoint answers 404 Not Found: it is not an object store, or the URL is wrong; see AWS_ENDPOINT_URL"
GARBLED = "what arrived differs from what was sent"
OTHER_REGION = "the bucket is in another region; set AWS_REGION"
#: (part of the answer, what to do); the first that matches counts.
REMEDIES = (
    ("NoSuchBucket", NO_BUCKET),
    ("The specified bucket does not exist", NO_BUCKET),
    ("ContainerNotFound", "the container does not exist; create it, or name another in the store's URL"),
    ("InvalidBucketName", "that is not the name of a bucket; use s3://BUCKET/PREFIX"),
    ("RequestTimeTooSkewed", "the clock of this machine is wrong; set it (e.g. by NTP)"),
    ("RequestExpired", "the clock of this machine is wrong, or the credentials have expired"),
    ("SignatureDoesNotMatch", "the secret key does not belong to the access key; see AWS_SECRET_ACCESS_KEY"),
    ("InvalidAccessKeyId", "the access key is unknown there; see AWS_ACCESS_KEY_ID"),
    ("BadDigest", GARBLED),
    ("XAmzContentSHA256Mismatch", GARBLED),
    ("ExpiredToken", "the credentials have expired; get new ones"),
    ("169.254.169.254", NO_CREDENTIALS),
    ("metadata.google.internal", "no credentials were found; set GOOGLE_APPLICATION_CREDENTIALS"),
    ("AccessDenied", NOT_ALLOWED),
    ("403 Forbidden", NOT_ALLOWED),
    ("401 Unauthorized", "the credentials are wrong"),
    ("PermanentRedirect", OTHER_REGION),
    ("AuthorizationHeaderMalformed", OTHER_REGION),
    ("builder error", "the endpoint is http://, which is refused unless AWS_ALLOW_HTTP=true is set"),
    ("error sending request", "the endpoint does not answer; see AWS_ENDPOINT_URL and the network"),
    ("404 Not Found", NOT_A_STORE),
    ("503 ", "the store is overloaded or away; it was tried again"),
    ("429 ", "too many requests; it was tried again"),
    ("500 ", "the store has failed; it was tried again"),
)
#: A 404 with one of these is about the bucket, not about an object. With the tags, since a key may be any text.
NO_BUCKET_SIGNS = (
    "<Code>NoSuchBucket</Code>",
    "<Message>The specified bucket does not exist",
    "<Code>ContainerNotFound</Code>",
)

_library_process: int | None = None  # the process in which the library has started its threads


class NotFound(Exception):  # noqa: N818  a fact about a key, caught by the caller
    """There is no such object."""


class Conflict(Exception):  # noqa: N818  as above
    """There is such an object already, or it has changed meanwhile."""


class Denied(StoreError):  # noqa: N818  as above
    """The credentials have no right to a request; S3 also answers so for a missing object if they may not list."""


class StoredObject(Struct, frozen=True):
    """The bytes of an object, and the tag of their version."""

    data: bytes
    tag: str | None


class Listed(NamedTuple):
    """An object in a listing."""

    key: str
    size: int
    modified: datetime


class Bucket:
    """A bucket and a prefix in it. Keys are relative to the prefix."""

    def __init__(self, url: str, *, deadline: float = DEADLINE_SECONDS, options: dict[str, Any] | None = None) -> None:
        self.url = url
        self.deadline = deadline
        self.pause_until = 0.0  # until then, optional requests are left out
        self._options = options or {}
        self._clients: dict[tuple[object, ...], Any] = {}
        self._bulk_delete = True

    def get(self, key: str) -> StoredObject:
        """Return an object; raise NotFound if there is none."""

        def work() -> StoredObject:
            answer = self.client().get(key)
            return StoredObject(bytes(answer.bytes()), answer.meta["e_tag"])

        return self._request(work, f"get {_folder(key)}")

    def get_range(self, key: str, start: int, end: int) -> bytes:
        """Return a range of an object's bytes; raise NotFound if there is none."""
        return self._request(lambda: bytes(self.client().get_range(key, start=start, end=end)), f"get {_folder(key)}")

    def head(self, key: str) -> Any:
        """Return size, e_tag and last_modified of an object; None if there is none."""
        with suppress(NotFound):
            return self._request(lambda: self.client().head(key), f"get {_folder(key)}")

    def put(self, key: str, pieces: Iterator[bytes]) -> None:
        """Put an object under a key that nobody else uses: in one request, or in parts if it is large."""
        first: list[bytes] = []
        size = 0
        while size <= PART_BYTES and (piece := next(pieces, b"")):
            first.append(piece)
            size += len(piece)
        if size <= PART_BYTES:
            self._put(key, b"".join(first), "overwrite")
            return

        def send(progress: Progress) -> None:
            client = self.client(PART_SECONDS)
            watched = progress.watch(chain(first, pieces), PARTS_AT_ONCE * PART_BYTES / MIN_BYTES_PER_SECOND)
            client.put(key, watched, use_multipart=True, chunk_size=PART_BYTES, max_concurrency=PARTS_AT_ONCE)

        with self._explain(f"put {_folder(key)}", writing=True):
            watch(self.url, self.deadline, send)

    def create(self, key: str, data: bytes) -> None:
        """Put a new object; raise Conflict if there is one with this key."""
        self._put(key, data, "create")

    def replace(self, key: str, data: bytes, tag: str | None) -> None:
        """Replace the version of an object that has this tag (None: any); raise Conflict if it has changed."""
        try:
            self._put(key, data, {"e_tag": tag} if tag else "overwrite")
        except NotImplementedError:  # the store cannot compare: the last writer wins
            self._put(key, data, "overwrite")
        except Conflict:
            bare = tag.strip('"') if tag else tag
            if not bare or bare == tag or (self.head(key) or {}).get("e_tag") != tag:
                raise
            self._put(key, data, {"e_tag": bare})  # unchanged: radosgw compares the tag without its quotes

    def _put(self, key: str, data: bytes, mode: Any) -> None:
        started = time.monotonic()

        def send() -> None:
            writing = mode in ("create", "overwrite")
            with self._explain(f"put {_folder(key)}", writing=writing, conditional=mode != "overwrite"):
                watch(self.url, self.deadline, lambda _: self.client().put(key, data, mode=mode, use_multipart=False))

        try:
            send()
        except StoreError:
            # The library does not repeat a request that arrived garbled, or whose answer was cut short. One that failed
            # slowly was repeated often enough.
            if time.monotonic() - started > self.deadline / 4:
                raise
            send()

    def delete(self, keys: Sequence[str]) -> None:
        """Remove objects. A missing one is no error."""
        for start in range(0, len(keys), PAGE_KEYS):
            page = keys[start : start + PAGE_KEYS]
            try:
                self._delete(page, bulk=self._bulk_delete)
            except Denied:
                # For one request that names many objects, some servers demand rights to the whole bucket.
                if not self._bulk_delete or not self.url.startswith("s3://"):
                    raise
                self._delete(page, bulk=False)
                self._bulk_delete = False

    def _delete(self, keys: Sequence[str], *, bulk: bool) -> None:
        options = {} if bulk else {"disable_bulk_delete": True}
        with suppress(NotFound):
            self._request(lambda: self.client(**options).delete([*keys]), f"delete {_folder(keys[0])}")

    def list(self, prefix: str, *, after: str | None = None) -> Iterator[Listed]:
        """Yield the objects below a prefix in the order of their keys, page by page."""

        def start() -> Any:
            return iter(self.client().list(prefix or None, offset=after, chunk_size=PAGE_KEYS))

        pages = self._request(start, "list")
        while (page := self._request(lambda: next(pages, None), "list")) is not None:
            for row in page:
                yield Listed(row["path"], row["size"], row["last_modified"])

    def client(self, timeout: float | None = None, **options: Any) -> Any:
        """Return a client of the library, whose requests take at most `timeout` seconds each, or the deadline."""
        _refuse_fork()
        key = (timeout, *options)
        if key not in self._clients:
            with self._explain():
                self._clients[key] = self._make_client(timeout or self.deadline, options)
        return self._clients[key]

    def _make_client(self, timeout: float, more: dict[str, Any]) -> Any:
        from_url: Any = load_library().from_url  # its options are those of the URL's scheme
        # S3 refuses an upload whose SHA-256 differs from the one sent along: one that was garbled is noticed at once.
        checksum = {"checksum_algorithm": "SHA256"} if self.url.startswith("s3://") else {}
        options = {**checksum, **self._options, **more}
        wait = timedelta(seconds=self.deadline)
        client = {
            "connect_timeout": wait,
            **_client_variables(os.environ),
            **options.pop("client_options", {}),
            "timeout": timedelta(seconds=timeout),
        }
        # Retries end before the deadline does, so that the error is the server's and not only that it took too long.
        backoff = {"init_backoff": wait / 50, "max_backoff": wait / 10, "base": 2}
        retries = {"max_retries": 5, "retry_timeout": wait / 2, "backoff": backoff}
        return from_url(self.url, client_options=client, retry_config=retries, **options)

    def _request(self, work: Callable[[], Result], operation: str) -> Result:
        """Return the result of a request that changes nothing, or removes objects."""
        with self._explain(operation):
            return watch(self.url, self.deadline, lambda _: work())

    @contextmanager
    def _explain(self, operation: str = "list", *, writing: bool = False, conditional: bool = False) -> Iterator[None]:
        """Turn the library's errors into NotFound, Conflict, or a StoreError with a remedy.

        `operation` names the right that is needed. In a request that creates an object (`writing`), "not found" is
        about the bucket or the endpoint. Only a request with a condition (`conditional`) can be in conflict.
        """
        try:
            yield
        except (StoreError, MissingExtraError, NotFound, Conflict):
            raise
        except FileNotFoundError as error:
            if not writing and not any(sign in str(error) for sign in NO_BUCKET_SIGNS):
                raise NotFound from error
            raise StoreError(f"{self.url}: {_describe(error, operation)}") from error
        except Exception as error:
            kind = type(error).__name__
            if conditional and kind in ("AlreadyExistsError", "PreconditionError"):
                raise Conflict from error
            if kind == "PermissionDeniedError":
                raise Denied(f"{self.url}: {_describe(error, operation)}") from error
            if type(error).__module__.startswith("obstore") or isinstance(error, (OSError, ValueError, TypeError)):
                raise StoreError(f"{self.url}: {_describe(error, operation)}") from error
            raise


class Progress:
    """The progress of an upload, for the thread that waits for it."""

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self.until = time.monotonic() + deadline
        self.abandoned = False

    def watch(self, pieces: Iterable[bytes], slack: float) -> Iterator[bytes]:
        """Yield the pieces; sending each may take the deadline and `slack` seconds more."""
        for piece in pieces:
            if self.abandoned:
                raise StoreError("the upload was abandoned")
            self.until = time.monotonic() + self.deadline + slack
            yield piece


def watch(url: str, deadline: float, work: Callable[[Progress], Result]) -> Result:
    """Run work in a thread and return its result; raise StoreError if it makes no progress within the deadline.

    The thread then goes on until the process ends.
    """
    progress = Progress(deadline)
    future: Future[Result] = Future()

    def run() -> None:
        try:
            future.set_result(work(progress))
        except BaseException as error:  # noqa: BLE001  raised again below
            future.set_exception(error)

    try:
        Thread(target=run, name="spillover-request", daemon=True).start()
    except RuntimeError:  # no more threads here, or the interpreter is ending
        run()
    while True:
        try:
            return future.result(max(0.001, progress.until - time.monotonic()))
        except TimeoutError:
            if future.done():
                return future.result()
            if time.monotonic() >= progress.until:
                progress.abandoned = True
                raise StoreError(f"{url} gave no answer for {deadline:g} seconds") from None


def load_library() -> ModuleType:
    """Return obstore's stores; raise MissingExtraError if it is not installed."""
    try:
        from obstore import store
    except ImportError as error:
        raise MissingExtraError("object stores need the extra: pip install 'spillover[s3]'") from error
    return store


def _refuse_fork() -> None:
    """Raise StoreError in a fork of a process that has used the library: without its threads, it would hang."""
    global _library_process  # noqa: PLW0603  the library has one set of threads for the process
    if _library_process is None:
        _library_process = os.getpid()
    elif _library_process != os.getpid():
        raise StoreError(
            "this process was forked from one that had used the bucket; "
            "start workers with spawn, or fork before the first output"
        )


def _client_variables(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the library's variables about the connection, which it ignores if a deadline is set."""
    options: dict[str, Any] = {}
    for name in CLIENT_OPTIONS:
        for prefix in VARIABLE_PREFIXES:
            if value := environ.get(f"{prefix}_{name.upper()}"):
                options[name] = value.lower() in ("1", "true", "yes", "on") if name in FLAGS else value
    return options


def _folder(key: str) -> str:
    """Return the folder of a key, which is the same for every output of a scope."""
    return f"in {key.rpartition('/')[0]}/"


def _describe(error: BaseException, operation: str) -> str:
    """Return the remedy for an error, or its message; for a missing right, also the operation that needs it."""
    text = str(error)
    remedy = next((words for sign, words in REMEDIES if sign in text), "")
    return f"{remedy} (denied: {operation})" if remedy == NOT_ALLOWED else remedy or _summarize(error)


def _summarize(error: BaseException) -> str:
    """Return the library's message in one line, without its debugging output."""
    line = str(error).split("\n\nDebug source", 1)[0]
    line = re.sub(r"<[^<>]{0,200}>", " ", line)
    line = " ".join(line.split())
    return line if len(line) <= MAX_MESSAGE_CHARS else line[: MAX_MESSAGE_CHARS - 1] + "…"
