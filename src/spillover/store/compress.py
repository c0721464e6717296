"""The form of a compressed output: zstd in frames of their own, and a table at the end that says where each begins.

It is the seekable format of the zstd project: any `zstd -d` gives the output back, and a range costs only the frames it
stands in. Each frame carries a checksum of what is in it. No file is touched here: bytes in, bytes out.
"""

from __future__ import annotations

import struct
import sys
from _thread import allocate_lock  # as in store.memory
from itertools import accumulate, pairwise

from spillover.errors import MissingExtraError, StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from spillover.intake.blob import Blob

#: So much of an output is in one frame: what the smallest read costs, and enough to compress well.
FRAME = 1 << 20
#: A frame that claims to hold more is none of ours, and is not given the memory.
LARGEST = 8 << 20
#: So many frames are kept at hand, for whoever reads on from where it was.
HELD = 4
LEVEL = 3

_ENTRY = struct.Struct("<II")  # bytes in the file, bytes of the output
_HEADER = struct.Struct("<II")  # a frame that decompressors skip, and its size
_FOOTER = struct.Struct("<IBI")  # how many frames, no options, the format
_SKIPPED, _SEEKABLE = 0x184D2A5E, 0x8F92EAB1


def zstd() -> ModuleType:
    """Return the library: Python's own from 3.14 on, before that the extra."""
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd as library
        else:
            from backports import zstd as library
    except ImportError as error:
        raise MissingExtraError("compressed outputs need the extra: pip install 'spillover[zstd]'") from error
    return library


def packed(source: Blob) -> Iterator[bytes]:
    """Yield an output in this form, piece by piece."""
    library = zstd()
    options = {
        library.CompressionParameter.compression_level: LEVEL,
        library.CompressionParameter.checksum_flag: True,
    }
    table = bytearray()
    for start in range(0, source.size, FRAME):
        part = source.read(start, start + FRAME)
        frame: bytes = library.compress(part, options=options)
        table += _ENTRY.pack(len(frame), len(part))
        yield frame
    count = len(table) // _ENTRY.size
    yield _HEADER.pack(_SKIPPED, len(table) + _FOOTER.size) + table + _FOOTER.pack(count, 0, _SEEKABLE)


class PackedBlob:
    """The bytes of a compressed output, read where they are wanted; `name` is what to call it in a complaint."""

    __slots__ = ("_held", "_library", "_lock", "_name", "_source", "_starts", "_step", "size")

    def __init__(self, source: Blob, name: str) -> None:
        self._source, self._name = source, name
        try:
            self._library = zstd()
            entries = self._table()
        except BaseException:
            source.close()
            raise
        self._starts = [0, *accumulate(stored for stored, _ in entries)]
        self._step = entries[0][1] if entries else FRAME
        self.size = sum(size for _, size in entries)
        self._held: dict[int, bytes] = {}  # the one used last stands last
        self._lock = allocate_lock()

    def read(self, start: int, end: int) -> bytes:
        at, end = max(start, 0), min(end, self.size)
        parts = []
        while at < end:
            number, skipped = divmod(at, self._step)
            part = self._frame(number)[skipped : skipped + end - at]
            parts.append(part)
            at += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        self._source.close()
        self._held.clear()

    def _frame(self, number: int) -> bytes:
        with self._lock:  # several threads may read
            frame = self._held.pop(number, None) or self._unpacked(number)
            self._held[number] = frame
            if len(self._held) > HELD:
                del self._held[next(iter(self._held))]
            return frame

    def _unpacked(self, number: int) -> bytes:
        """Return a frame as it was: all of it, no more than the table says, and with the right checksum."""
        start, end = self._starts[number : number + 2]
        first = number * self._step
        size = min(self._step, self.size - first)
        inside = self._library.ZstdDecompressor()
        try:
            data: bytes = inside.decompress(self._source.read(start, end), max_length=size + 1)
            whole = inside.eof and len(data) == size and not inside.unused_data
        except self._library.ZstdError:
            whole = False
        if not whole:
            raise StoreError(
                f"Bytes {first + 1:,}-{first + size:,} of {self._name} are damaged; the others can be read."
            )
        return data

    def _table(self) -> list[tuple[int, int]]:
        """Return what each frame takes in the file and holds of the output, if that can be and fills the file."""
        source, whole = self._source, self._source.size
        footer = source.read(whole - _FOOTER.size, whole)
        count, options, form = _FOOTER.unpack(footer) if len(footer) == _FOOTER.size else (0, 0, 0)
        size = count * _ENTRY.size + _FOOTER.size
        begin = whole - size - _HEADER.size
        if form == _SEEKABLE and options == 0 and begin >= 0:
            header, table = source.read(begin, begin + _HEADER.size), source.read(begin + _HEADER.size, whole)
            entries = list(_ENTRY.iter_unpack(table[: -_FOOTER.size]))
            sizes = [size for _, size in entries]
            even = all(one == other for one, other in pairwise(sizes[:-1])) and sizes[-1:] <= sizes[:1]
            fair = all(0 < size <= LARGEST for size in sizes) and sum(stored for stored, _ in entries) == begin
            if header == _HEADER.pack(_SKIPPED, size) and even and fair:
                return entries
        raise StoreError(f"{self._name} is damaged: it does not end with a table of its frames.")
