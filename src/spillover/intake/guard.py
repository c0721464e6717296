"""A store's writer, held to its contract: whatever it raises is a StoreError, and a read that comes up short is an error."""

from __future__ import annotations

import os
from contextlib import suppress

from spillover.errors import StoreError, describe_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from spillover.intake.blob import Blob

    Given = TypeVar("Given")


def store_error(error: Exception) -> StoreError:
    """Return any exception as a StoreError with a message."""
    if isinstance(error, StoreError) and str(error):
        return error
    words = describe_error(error) if isinstance(error, OSError) else ""
    return StoreError(words or f"{type(error).__name__}: {error}".removesuffix(": "))


def ask(what: Callable[..., Given], *given: Any) -> Given:
    """Call a store; what it raises comes back as a StoreError."""
    try:
        return what(*given)
    except Exception as error:
        raise store_error(error) from error


class GuardedWriter:
    """A writer that raises nothing but StoreError, and nothing at all when it is abandoned."""

    __slots__ = ("_inner",)

    def __init__(self, begin: Callable[[], Any]) -> None:
        self._inner = ask(begin)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        try:
            self._inner.write(data)
        except Exception as error:
            raise store_error(error) from error

    def fileno(self) -> int | None:
        fd = ask(self._inner.fileno)
        return fd if isinstance(fd, int) and fd >= 0 else None

    def blob(self) -> GuardedBlob:
        return GuardedBlob(ask(self._inner.blob))

    def ends(self, stored: int, side: int) -> tuple[bytes, bytes]:
        """Return the first and the last bytes written; without a new descriptor if none is left."""
        middle = min(side, stored)
        try:
            blob = self.blob()
            try:
                return blob.read(0, middle), blob.read(max(middle, stored - side), stored)
            finally:
                blob.close()
        except StoreError:
            fd = self.fileno()
            if fd is None:
                raise
            return _read(fd, 0, middle), _read(fd, max(middle, stored - side), stored)

    def publish(self, record: Any) -> Any:
        published = ask(self._inner.publish, record)
        if not isinstance(getattr(published, "ref", None), str):
            raise StoreError("the store published it without a ref")
        return published

    def abandon(self) -> None:
        with suppress(Exception):
            self._inner.abandon()


def _read(fd: int, start: int, end: int) -> bytes:
    data = ask(os.pread, fd, end - start, start)
    if len(data) < end - start:
        raise StoreError("the stored bytes cannot be read back whole")
    return data


class GuardedBlob:
    """Bytes of a store: all that were asked for, or a StoreError."""

    __slots__ = ("_inner", "size")

    def __init__(self, inner: Blob) -> None:
        self._inner = inner
        self.size = int(ask(lambda: inner.size))

    def read(self, start: int, end: int) -> bytes:
        try:
            data = self._inner.read(start, end)
            missing = min(end, self.size) - max(start, 0) - len(data)
        except Exception as error:
            raise store_error(error) from error
        if missing > 0 or not isinstance(data, bytes):  # whoever reads on from here would never come to the end
            raise StoreError("the stored bytes cannot be read back whole")
        return data

    def close(self) -> None:
        with suppress(Exception):
            self._inner.close()
