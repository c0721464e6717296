"""Any source as chunks of bytes: text, bytes, files, paths, iterables."""

from __future__ import annotations

import os

from spillover.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
    from typing import IO

    Chunk = str | bytes | bytearray | memoryview
    Source = Chunk | os.PathLike[str] | IO[str] | IO[bytes] | Iterable[Chunk]
    AsyncSource = Source | AsyncIterable[Chunk]

READ = 1 << 22

WHAT_IS_TAKEN = "str, bytes, a file, a Path, or an iterable of str or bytes"


def as_bytes(chunk: Chunk) -> bytes | bytearray | memoryview:
    """Return the bytes of a chunk. A lone surrogate has no UTF-8; it is kept as the three bytes it would have had."""
    if isinstance(chunk, str):
        try:
            return chunk.encode()
        except UnicodeEncodeError:
            return chunk.encode("utf-8", "surrogatepass")
    if isinstance(chunk, (bytes, bytearray)):
        return chunk
    if isinstance(chunk, memoryview):
        return chunk if chunk.contiguous and chunk.itemsize == 1 and chunk.ndim == 1 else chunk.tobytes()
    raise UsageError(f"cannot clip {type(chunk).__name__}; give {WHAT_IS_TAKEN}.")


def chunks(source: Source) -> Iterator[bytes | bytearray | memoryview]:
    """Return the source, piece by piece; what is wrong with it is said before the first piece."""
    if isinstance(source, (str, bytes, bytearray, memoryview)):
        return iter((as_bytes(source),))
    if isinstance(source, os.PathLike):
        return _path(source)
    if hasattr(source, "read"):
        return _file(source)  # type: ignore[arg-type]  # whatever can be read from
    if hasattr(source, "__aiter__"):
        raise UsageError("an async iterable needs `await aclip(...)`, or the method of that name on a Clipper.")
    if hasattr(source, "__iter__") and not isinstance(source, dict):
        return map(as_bytes, source)
    raise UsageError(f"cannot clip {type(source).__name__}; give {WHAT_IS_TAKEN}.")


def file_name(source: object) -> str:
    """Return what a file is called, whose ending says what is in it; "" where the source is none."""
    path = source if isinstance(source, os.PathLike) else getattr(source, "name", "")
    try:
        return os.path.basename(os.fsdecode(path)) if isinstance(path, (str, bytes, os.PathLike)) else ""
    except (TypeError, ValueError):  # somebody's own idea of a path
        return ""


async def achunks(source: AsyncSource) -> AsyncIterator[bytes | bytearray | memoryview]:
    """Yield the same for a source that may be asynchronous."""
    if hasattr(source, "__aiter__"):
        async for chunk in source:
            yield as_bytes(chunk)
    else:
        for chunk in chunks(source):
            yield chunk


def _path(path: os.PathLike[str]) -> Iterator[bytes]:
    try:
        file = open(path, "rb", buffering=0)  # noqa: SIM115  closed in _closing, once it has been read
    except OSError as error:
        raise UsageError(f"{os.fspath(path)}: {error.strerror}.") from error
    return _closing(file)


def _closing(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        yield from iter(lambda: file.read(READ), b"")


def _file(file: IO[str] | IO[bytes]) -> Iterator[bytes | bytearray | memoryview]:
    while chunk := file.read(READ):
        yield as_bytes(chunk)
