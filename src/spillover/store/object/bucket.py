"""The requests to an object store, each with a deadline, and the words for what goes wrong with them.

Credentials, regions and endpoints are the library's own business: its variables (AWS_…, GOOGLE_…, AZURE_…) and its
conventions.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, suppress
from operator import itemgetter

from msgspec import Struct

from spillover.errors import MissingExtraError, StoreError
from spillover.store.object.words import describe, lacks_bucket, summary

TYPE_CHECKING = False
if TYPE_CHECKING:
    import builtins  # a method has the name of a type
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime, timedelta
    from typing import Any, TypeVar

    Listed = tuple[str, int, datetime]
    Given = TypeVar("Given")

#: How long a request may take without any sign of progress.
DEADLINE_SECONDS = 5.0
PAGE = 1_000
#: Up to this size an object is one request, and made only if there is none; above, it goes up in parts.
PART = 8 << 20
PARTS_AT_ONCE = 4
#: What the library's own variables can say of the connection, e.g. AWS_ALLOW_HTTP.
PREFIXES = ("aws", "google", "azure")
FLAGS = ("allow_http", "allow_invalid_certificates", "http1_only", "http2_only")
CLIENT = (*FLAGS, "proxy_url", "proxy_ca_certificate", "proxy_excludes", "user_agent")


#: A tuple, of which a listing can afford 100,000.
_listed = itemgetter("path", "size", "last_modified")
_used_in: int | None = None  # the process whose threads the library has


class Missing(Exception):  # noqa: N818  a fact about a key, caught where it is asked for
    """There is no such object."""


class Taken(Exception):  # noqa: N818  as above
    """There is such an object already, or it has changed meanwhile."""


class Denied(StoreError):  # noqa: N818  as above
    """These credentials may not do this; to those who may list only a part of a bucket, S3 says so of missing objects too."""


class Found(Struct, frozen=True):
    """An object: its bytes, and which version of it this is."""

    data: bytes
    tag: str | None


def library() -> Any:
    """Return obstore, or say what to install."""
    try:
        import obstore
    except ImportError as error:
        raise MissingExtraError("object stores need the extra: pip install 'spillover[s3]'") from error
    return obstore


def _refuse_fork() -> None:
    """Raise a StoreError in a child of a process that has used the library: its threads are not there, and it would hang or crash."""
    global _used_in  # noqa: PLW0603  the library has one set of threads for the process
    if _used_in is None:
        _used_in = os.getpid()
    elif _used_in != os.getpid():
        raise StoreError(
            "this process was forked from one that had used the bucket; start workers with spawn, or fork before the first output"
        )


def within(seconds: float, what: str, work: Callable[[], Given]) -> Given:
    """Return what the work returns; StoreError when it takes longer. It then goes on in a thread that ends with the process."""
    from threading import Thread

    done: list[Given] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:  # noqa: BLE001  raised again below
            failed.append(error)

    thread = Thread(target=run, name="spillover-request", daemon=True)
    try:
        thread.start()
    except RuntimeError:  # no more threads here, or the interpreter is ending
        run()
    else:
        thread.join(seconds)
    if failed:
        raise failed[0]
    if not done:
        raise StoreError(no_answer(what, seconds))
    return done[0]


def no_answer(what: str, seconds: float) -> str:
    return f"{what} gave no answer for {seconds:g} seconds"


class Bucket:
    """A bucket and a prefix in it; keys here are relative to that prefix."""

    __slots__ = ("_bulk", "_one_by_one", "_options", "_quick", "busy_until", "deadline", "url")

    def __init__(self, url: str, *, deadline: float = DEADLINE_SECONDS, options: dict[str, Any] | None = None) -> None:
        self.url, self.deadline, self._options = url, deadline, options or {}
        self.busy_until = 0.0  # until then, looks that may be left out are
        self._quick: Any = None
        self._bulk: Any = None
        self._one_by_one: Any = None

    @property
    def quick(self) -> Any:
        """The client for small requests, which give up by themselves."""
        self._make()
        return self._quick

    @property
    def bulk(self) -> Any:
        """The client for whole outputs, which whoever waits for them watches."""
        self._make()
        return self._bulk

    def _make(self) -> None:
        _refuse_fork()
        if self._quick is None:
            from datetime import timedelta

            self._bulk = self._client(timedelta(minutes=10))
            self._quick = self._client(timedelta(seconds=self.deadline))

    def _client(self, timeout: timedelta, **more: Any) -> Any:
        """Return a client of the library whose single tries take at most so long."""
        from datetime import timedelta

        library()
        from obstore import store as stores

        from_url: Any = stores.from_url  # its options are those of the scheme, which is known only here
        # S3 refuses an upload whose SHA-256 is not the one that was sent along, so what is garbled on the way is noticed at once.
        checked = {"checksum_algorithm": "SHA256"} if self.url.startswith("s3://") else {}
        options = {**checked, **self._options, **more}
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
        with self.explain():
            return from_url(self.url, client_options=client, retry_config=retries, **options)

    def get(self, key: str) -> Found:
        """Return an object whole; Missing when there is none."""

        def work() -> Found:
            answer = self.quick.get(key)
            return Found(bytes(answer.bytes()), answer.meta["e_tag"])

        return self._ask(work, f"get {_near(key)}")

    def get_range(self, key: str, start: int, end: int) -> bytes:
        """Return a part of an object."""
        return self._ask(lambda: bytes(self.quick.get_range(key, start=start, end=end)), f"get {_near(key)}")

    def create(self, key: str, data: bytes) -> None:
        """Put an object where there is none; Taken when there is one."""
        self._put(key, data, "create")

    def replace(self, key: str, data: bytes, tag: str | None) -> None:
        """Put an object in the place of the version that was seen; Taken when it has changed meanwhile."""
        try:
            self._put(key, data, {"e_tag": tag} if tag else "overwrite")
        except NotImplementedError:  # a store that cannot compare: the last one counts
            self._put(key, data, "overwrite")
        except Taken:
            bare = tag.strip('"') if tag else tag
            if not bare or bare == tag or (self.head(key) or {}).get("e_tag") != tag:
                raise
            self._put(key, data, {"e_tag": bare})  # it has not changed: radosgw compares the tag without its quotes

    def _put(self, key: str, data: bytes, mode: Any) -> None:
        begun = time.monotonic()

        def send() -> None:
            with self.explain(f"put {_near(key)}", writing=mode in ("create", "overwrite")):
                within(self.deadline, self.url, lambda: self.quick.put(key, data, mode=mode, use_multipart=False))

        try:
            send()
        except StoreError:
            # The library does not try again what arrived garbled, or whose answer was cut short. What fails slowly was tried often enough.
            if time.monotonic() - begun > self.deadline / 4:
                raise
            send()

    def head(self, key: str) -> Any:
        """Return size, e_tag and last_modified of an object; None where there is none."""
        try:
            return self._ask(lambda: self.quick.head(key), f"get {_near(key)}")
        except Missing:
            return None

    def put(self, key: str, data: bytes) -> None:
        """Put an object, whatever is there."""
        self._ask(lambda: self.quick.put(key, data, use_multipart=False), f"put {_near(key)}", writing=True)

    def put_pieces(self, key: str, pieces: Iterator[bytes]) -> None:
        """Put a large object in parts, under a key that nobody else has. It takes as long as it takes."""
        with self.explain(f"put {_near(key)}", writing=True):
            self.bulk.put(key, pieces, use_multipart=True, chunk_size=PART, max_concurrency=PARTS_AT_ONCE)

    def delete(self, keys: list[str]) -> None:
        """Remove objects; those that are not there are gone already."""
        for at in range(0, len(keys), PAGE):
            some, quick = keys[at : at + PAGE], self.quick
            try:
                self._delete(self._one_by_one or quick, some)
            except Denied:
                # For one request that names many objects, some servers ask for rights to the whole bucket.
                if self._one_by_one is not None or not self.url.startswith("s3://"):
                    raise
                from datetime import timedelta

                client = self._client(timedelta(seconds=self.deadline), disable_bulk_delete=True)
                self._delete(client, some)
                self._one_by_one = client

    def _delete(self, client: Any, keys: builtins.list[str]) -> None:
        with suppress(Missing):
            self._ask(lambda: client.delete(keys), f"delete {_near(keys[0])}")

    def list(self, prefix: str, *, after: str | None = None) -> Iterator[Listed]:
        """Yield the objects below a prefix, in the order of their keys, page by page: key, size, and when it was changed."""
        pages = self._ask(lambda: iter(self.quick.list(prefix or None, offset=after, chunk_size=PAGE)), "list")
        while (page := self._ask(lambda: next(pages, None), "list")) is not None:
            yield from map(_listed, page)

    def _ask(self, work: Callable[[], Given], doing: str, *, writing: bool = False) -> Given:
        """Return what a request returns that makes no condition."""
        try:
            with self.explain(doing, writing=writing):
                return within(self.deadline, self.url, work)
        except Taken as error:
            raise StoreError(f"{self.url}: {summary(error.__cause__ or error)}") from error

    @contextmanager
    def explain(self, doing: str = "list", *, writing: bool = False) -> Iterator[None]:
        """Turn what the library raises into Missing, Taken, or a StoreError that says what to do.

        `doing` is the operation and where, for those who have to grant the right to it.
        A request that makes an object is never Missing anything: "not found" is then about the bucket or the endpoint.
        """
        try:
            yield
        except (StoreError, MissingExtraError, Missing, Taken):
            raise
        except FileNotFoundError as error:
            if writing or lacks_bucket(str(error)):
                raise StoreError(f"{self.url}: {describe(error, doing)}") from error
            raise Missing from error
        except Exception as error:
            kind = type(error).__name__
            if kind in ("AlreadyExistsError", "PreconditionError"):
                raise Taken from error
            if kind == "PermissionDeniedError":
                raise Denied(f"{self.url}: {describe(error, doing)}") from error
            if type(error).__module__.startswith("obstore") or isinstance(error, (OSError, ValueError, TypeError)):
                raise StoreError(f"{self.url}: {describe(error, doing)}") from error
            raise


def _near(key: str) -> str:
    """Say where a key is, without its name: the same for every output of a scope."""
    return f"in {key.rpartition('/')[0]}/"


def _client_variables(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return what the library's variables say of the connection: it stops looking at them once a deadline is given."""
    found: dict[str, Any] = {}
    for name in CLIENT:
        for prefix in PREFIXES:
            if said := environ.get(f"{prefix}_{name}".upper()):
                found[name] = said.lower() in ("1", "true", "yes", "on") if name in FLAGS else said
    return found
