"""Requests to an object store: a deadline for each, and words for what goes wrong.

Credentials, regions and endpoints are the library's own business: its variables (AWS_…, GOOGLE_…, AZURE_…) and its
conventions.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import contextmanager, suppress
from datetime import timedelta
from operator import itemgetter
from threading import Event, Thread

from msgspec import Struct

from spillover.errors import MissingExtraError, StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import builtins  # a method has the name of a type
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime
    from typing import Any, TypeVar

    Result = TypeVar("Result")

#: How long a request may take without any sign of progress.
DEADLINE_SECONDS = 5.0
#: Keys in one page of a listing, and in one request that removes objects.
PAGE_KEYS = 1_000
#: Up to this size an object is one request, and made only if there is none; above, it goes up in parts.
PART_BYTES = 8 << 20
PARTS_AT_ONCE = 4
#: What the library's own variables can say of the connection, e.g. AWS_ALLOW_HTTP.
PREFIXES = ("aws", "google", "azure")
FLAGS = ("allow_http", "allow_invalid_certificates", "http1_only", "http2_only")
CLIENT_OPTIONS = (*FLAGS, "proxy_url", "proxy_ca_certificate", "proxy_excludes", "user_agent")
SUMMARY_CHARS = 240

NO_BUCKET = "the bucket does not exist; create it, or name another in the store's URL"
NO_CREDENTIALS = (
    "no credentials were found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give this machine a role"
)
NOT_ALLOWED = "these credentials may not do this; docs/fleet.md has the policy it takes"
NOT_A_STORE = "the endpoint answers 404 Not Found: it is not an object store, or the URL is wrong; see AWS_ENDPOINT_URL"
GARBLED = "what arrived differs from what was sent"
OTHER_REGION = "the bucket is in another region; set AWS_REGION"
#: (what the answer says, what to do about it); the first that matches counts.
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
#: By these a 404 is about the bucket and not about an object. With their tags: a key may hold any words.
NO_BUCKET_SIGNS = (
    "<Code>NoSuchBucket</Code>",
    "<Message>The specified bucket does not exist",
    "<Code>ContainerNotFound</Code>",
)

#: A tuple, of which a listing can afford 100,000.
_listing_row = itemgetter("path", "size", "last_modified")
_library_process: int | None = None  # the process whose threads the library has


class NotFound(Exception):  # noqa: N818  a fact about a key, caught where it is asked for
    """There is no such object."""


class Conflict(Exception):  # noqa: N818  as above
    """There is such an object already, or it has changed meanwhile."""


class Denied(StoreError):  # noqa: N818  as above
    """These credentials may not do this; to those who may list only a part of a bucket, S3 says so of missing objects too."""


class StoredObject(Struct, frozen=True):
    """An object: its bytes, and which version of it this is."""

    data: bytes
    tag: str | None


class Bucket:
    """A bucket and a prefix in it; keys here are relative to that prefix."""

    __slots__ = ("_bulk", "_one_by_one", "_options", "_quick", "busy_until", "deadline", "url")

    def __init__(self, url: str, *, deadline: float = DEADLINE_SECONDS, options: dict[str, Any] | None = None) -> None:
        self.url = url
        self.deadline = deadline
        self.busy_until = 0.0  # until then, looks that may be left out are
        self._options = options or {}
        self._quick: Any = None
        self._bulk: Any = None
        self._one_by_one: Any = None

    @property
    def quick(self) -> Any:
        """The client for small requests, which give up by themselves."""
        _refuse_fork()
        if self._quick is None:
            self._quick = self._client(timedelta(seconds=self.deadline))
        return self._quick

    @property
    def bulk(self) -> Any:
        """The client for whole outputs, which whoever waits for them watches."""
        _refuse_fork()
        if self._bulk is None:
            self._bulk = self._client(timedelta(minutes=10))
        return self._bulk

    def _client(self, timeout: timedelta, **more: Any) -> Any:
        """Return a client of the library whose single tries take at most so long."""
        require_library()
        from obstore import store as stores  # an extra

        from_url: Any = stores.from_url  # its options are those of the scheme, which is known only here
        # S3 refuses an upload whose SHA-256 is not the one that was sent along, so what is garbled on the way is noticed at once.
        checksum = {"checksum_algorithm": "SHA256"} if self.url.startswith("s3://") else {}
        options = {**checksum, **self._options, **more}
        wait = timedelta(seconds=self.deadline)
        client = {
            "connect_timeout": wait,
            **_client_variables(os.environ),
            **options.pop("client_options", {}),
            "timeout": timeout,
        }
        # Tries end before the deadline does, so that what the store said is told, and not only that it took too long.
        backoff = {"init_backoff": wait / 50, "max_backoff": wait / 10, "base": 2}
        retries = {"max_retries": 5, "retry_timeout": wait / 2, "backoff": backoff}
        with self._explain():
            return from_url(self.url, client_options=client, retry_config=retries, **options)

    def get(self, key: str) -> StoredObject:
        """Return an object whole; NotFound when there is none."""

        def work() -> StoredObject:
            answer = self.quick.get(key)
            return StoredObject(bytes(answer.bytes()), answer.meta["e_tag"])

        return self._request(work, f"get {_folder(key)}")

    def get_range(self, key: str, start: int, end: int) -> bytes:
        """Return a part of an object."""
        return self._request(lambda: bytes(self.quick.get_range(key, start=start, end=end)), f"get {_folder(key)}")

    def head(self, key: str) -> Any:
        """Return size, e_tag and last_modified of an object; None where there is none."""
        with suppress(NotFound):
            return self._request(lambda: self.quick.head(key), f"get {_folder(key)}")

    def create(self, key: str, data: bytes) -> None:
        """Put an object where there is none; Conflict when there is one."""
        self._put(key, data, "create")

    def replace(self, key: str, data: bytes, tag: str | None) -> None:
        """Put an object in the place of the version with this tag, or of any; Conflict when it has changed meanwhile."""
        try:
            self._put(key, data, {"e_tag": tag} if tag else "overwrite")
        except NotImplementedError:  # a store that cannot compare: the last one counts
            self._put(key, data, "overwrite")
        except Conflict:
            bare = tag.strip('"') if tag else tag
            if not bare or bare == tag or (self.head(key) or {}).get("e_tag") != tag:
                raise
            self._put(key, data, {"e_tag": bare})  # it has not changed: radosgw compares the tag without its quotes

    def _put(self, key: str, data: bytes, mode: Any) -> None:
        started = time.monotonic()

        def send() -> None:
            with self._explain(f"put {_folder(key)}", writing=mode in ("create", "overwrite")):
                watch(
                    self.url,
                    self.deadline,
                    lambda _: self.quick.put(key, data, mode=mode, use_multipart=False),
                )

        try:
            send()
        except StoreError:
            # The library does not try again what arrived garbled, or whose answer was cut short. What fails slowly was tried often enough.
            if time.monotonic() - started > self.deadline / 4:
                raise
            send()

    def put_pieces(self, key: str, pieces: Iterator[bytes]) -> None:
        """Put a large object in parts, under a key that nobody else has. It takes as long as it takes."""
        with self._explain(f"put {_folder(key)}", writing=True):
            self.bulk.put(key, pieces, use_multipart=True, chunk_size=PART_BYTES, max_concurrency=PARTS_AT_ONCE)

    def delete(self, keys: list[str]) -> None:
        """Remove objects; those that are not there are gone already."""
        for at in range(0, len(keys), PAGE_KEYS):
            page = keys[at : at + PAGE_KEYS]
            try:
                self._delete(self._one_by_one or self.quick, page)
            except Denied:
                # For one request that names many objects, some servers ask for rights to the whole bucket.
                if self._one_by_one is not None or not self.url.startswith("s3://"):
                    raise
                client = self._client(timedelta(seconds=self.deadline), disable_bulk_delete=True)
                self._delete(client, page)
                self._one_by_one = client

    def _delete(self, client: Any, keys: builtins.list[str]) -> None:
        with suppress(NotFound):
            self._request(lambda: client.delete(keys), f"delete {_folder(keys[0])}")

    def list(self, prefix: str, *, after: str | None = None) -> Iterator[tuple[str, int, datetime]]:
        """Yield the objects below a prefix, in the order of their keys, page by page: key, size, and when it was changed."""
        pages = self._request(lambda: iter(self.quick.list(prefix or None, offset=after, chunk_size=PAGE_KEYS)), "list")
        while (page := self._request(lambda: next(pages, None), "list")) is not None:
            yield from map(_listing_row, page)

    def _request(self, work: Callable[[], Result], operation: str) -> Result:
        """Return what a request returns that makes no condition."""
        try:
            with self._explain(operation):
                return watch(self.url, self.deadline, lambda _: work())
        except Conflict as error:
            raise StoreError(f"{self.url}: {_summarize(error.__cause__ or error)}") from error

    @contextmanager
    def _explain(self, operation: str = "list", *, writing: bool = False) -> Iterator[None]:
        """Turn what the library raises into NotFound, Conflict, or a StoreError that says what to do.

        `operation` says what and where, for those who have to grant the right to it. For a request that makes an object,
        "not found" is about the bucket or the endpoint.
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
            if kind in ("AlreadyExistsError", "PreconditionError"):
                raise Conflict from error
            if kind == "PermissionDeniedError":
                raise Denied(f"{self.url}: {_describe(error, operation)}") from error
            if type(error).__module__.startswith("obstore") or isinstance(error, (OSError, ValueError, TypeError)):
                raise StoreError(f"{self.url}: {_describe(error, operation)}") from error
            raise


class Progress:
    """What an upload has come to, for whoever waits for it."""

    __slots__ = ("slack", "step_time", "stopped")

    def __init__(self) -> None:
        self.step_time = time.monotonic()
        self.slack = 0.0
        self.stopped = False

    def step(self, slack: float = 0.0) -> None:
        """Say that it moves, and that the next step may take so many seconds more than the deadline."""
        if self.stopped:
            raise StoreError("the upload was abandoned")
        self.step_time = time.monotonic()
        self.slack = slack


def watch(url: str, deadline: float, work: Callable[[Progress], Result]) -> Result:
    """Return what the work returns; StoreError when it has not moved for the deadline.

    It then goes on in a thread that ends with the process.
    """
    progress = Progress()
    finished = Event()
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work(progress))
        except BaseException as error:  # noqa: BLE001  raised again below
            errors.append(error)
        finally:
            finished.set()

    try:
        Thread(target=run, name="spillover-request", daemon=True).start()
    except RuntimeError:  # no more threads here, or the interpreter is ending
        run()
    while not finished.wait(max(0.001, progress.step_time + deadline + progress.slack - time.monotonic())):
        if time.monotonic() >= progress.step_time + deadline + progress.slack:
            progress.stopped = True
            raise StoreError(f"{url} gave no answer for {deadline:g} seconds")
    if errors:
        raise errors[0]
    return results[0]


def require_library() -> None:
    """Raise MissingExtraError, with what to install, where obstore is not there."""
    try:
        import obstore  # noqa: F401  an extra
    except ImportError as error:
        raise MissingExtraError("object stores need the extra: pip install 'spillover[s3]'") from error


def _refuse_fork() -> None:
    """Raise a StoreError in a child of a process that has used the library: its threads are not there, and it would hang or crash."""
    global _library_process  # noqa: PLW0603  the library has one set of threads for the process
    if _library_process is None:
        _library_process = os.getpid()
    elif _library_process != os.getpid():
        raise StoreError(
            "this process was forked from one that had used the bucket; start workers with spawn, or fork before the first output"
        )


def _client_variables(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return what the library's variables say of the connection: it stops looking at them once a deadline is given."""
    options: dict[str, Any] = {}
    for name in CLIENT_OPTIONS:
        for prefix in PREFIXES:
            if value := environ.get(f"{prefix}_{name}".upper()):
                options[name] = value.lower() in ("1", "true", "yes", "on") if name in FLAGS else value
    return options


def _folder(key: str) -> str:
    """Say where a key is, without its name: the same for every output of a scope."""
    return f"in {key.rpartition('/')[0]}/"


def _describe(error: BaseException, operation: str) -> str:
    """Return what to do about an error, or what it says; where a right is missing, with the operation that needs it."""
    text = str(error)
    remedy = next((words for sign, words in REMEDIES if sign in text), "")
    return f"{remedy} (denied: {operation})" if remedy == NOT_ALLOWED else remedy or _summarize(error)


def _summarize(error: BaseException) -> str:
    """Return the first line of what a library says, without its debugging output."""
    line = str(error).split("\n\nDebug source", 1)[0]
    line = re.sub(r"<[^<>]{0,200}>", " ", line)
    line = " ".join(line.split())
    return line if len(line) <= SUMMARY_CHARS else line[: SUMMARY_CHARS - 1] + "…"
