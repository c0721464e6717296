"""Bytes in frames: each is compressed by itself, and its hash is known, so that a range costs and proves only what it holds.

All frames but the last hold the same number of bytes. The hash is of a frame as it is stored: it is checked before
anything is decompressed. One zstd frame behind another is a zstd file, so `zstd -d` gives the whole output back.

In a bucket, the table of the frames is in the record. A compressed file in a folder ends with it: a frame that
decompressors skip, with the table as JSON and the number of its bytes.
"""

from __future__ import annotations

import hashlib
import json
import struct
import sys
from _thread import allocate_lock  # as in store.memory
from itertools import accumulate

from msgspec import Struct

from spillover.errors import MissingExtraError, StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType
    from typing import Any

    from spillover.source.blob import Blob

#: Of the output in one frame: the least that a read costs. Twice as much compresses 1 % better; half makes a record half as large again.
FRAME = 1 << 19
#: No frame of ours is larger; one that claims to be is not given the memory.
LARGEST = 1 << 24
LEVEL = 1
PLAIN, ZSTD = "plain", "zstd"
#: An output whose first frame shrinks by less than this is stored as it is.
WORTH = 0.9
#: Frames that are read at once by whoever reads on, and that are kept at hand.
WINDOW = 8
HELD = 2 * WINDOW
_HASH_DIGITS = 64
_SKIPPED = 0x184D2A5E  # how a frame begins that decompressors skip


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


class DamagedError(StoreError):
    """Bytes are not the ones that were stored."""


class Frames(Struct, frozen=True):
    """How the bytes of an output are stored: what each frame takes, and the SHA-256 of that."""

    form: str = PLAIN
    frame: int = FRAME
    sizes: tuple[int, ...] = ()
    hashes: tuple[str, ...] = ()
    size: int = 0  # of the output

    def to_json(self) -> dict[str, Any]:
        return {"form": self.form, "frame": self.frame, "sizes": self.sizes, "sha256": self.hashes}

    @property
    def stored(self) -> int:
        return sum(self.sizes)

    def starts(self) -> list[int]:
        return [0, *accumulate(self.sizes)]

    def holds(self, number: int) -> int:
        """Return how many bytes of the output are in a frame."""
        return min(self.frame, self.size - number * self.frame)

    def unpack(self, number: int, data: bytes | memoryview, name: str) -> bytes:
        """Return what a frame holds; StoreError when it is not what was stored."""
        if hashlib.sha256(data).hexdigest() != self.hashes[number]:
            raise damaged(self, number, name)
        if self.form == PLAIN:
            return bytes(data)
        library = zstd()
        inside = library.ZstdDecompressor()
        size = self.holds(number)
        try:
            plain: bytes = inside.decompress(data, max_length=size + 1)
            whole = inside.eof and len(plain) == size and not inside.unused_data
        except library.ZstdError:
            whole = False
        if not whole:
            raise damaged(self, number, name)
        return plain


def damaged(frames: Frames, number: int, name: str) -> DamagedError:
    """Return what to raise where stored bytes are not those that were stored."""
    first = number * frames.frame
    return DamagedError(
        f"Bytes {first + 1:,}-{first + frames.holds(number):,} of {name} are not the ones that were stored: their hash does not match. "
        "They are not shown; the others can be read."
    )


def from_json(value: Any, size: int) -> Frames:
    """Return the frames that a record tells of; ValueError where they cannot be true of an output of this size."""
    form, frame = value["form"], value["frame"]
    sizes, hashes = tuple(value["sizes"]), tuple(value["sha256"])
    if form not in (PLAIN, ZSTD) or type(frame) is not int or not 0 < frame <= LARGEST:
        raise ValueError("its bytes are in a form that this version does not know")
    count = -(-size // frame)
    if len(sizes) != count or len(hashes) != count:
        raise ValueError("its frames do not add up to its bytes")
    if any(type(each) is not int or not 0 < each <= 2 * LARGEST for each in sizes):
        raise ValueError("a frame has no size")
    if any(not isinstance(each, str) or len(each) != _HASH_DIGITS for each in hashes):
        raise ValueError("a frame has no hash")
    made = Frames(form, frame, sizes, hashes, size)
    if form == PLAIN and any(stored != made.holds(number) for number, stored in enumerate(sizes)):
        raise ValueError("its frames do not add up to its bytes")
    return made


class Packer:
    """Turns an output into frames, and knows their sizes and hashes afterwards."""

    def __init__(self, source: Blob, *, compress: bool = True) -> None:
        self._source = source
        self.form = PLAIN
        self._sizes: list[int] = []
        self._hashes: list[str] = []
        if compress and source.size:
            first = source.read(0, FRAME)
            if len(_compress(first)) < WORTH * len(first):
                self.form = ZSTD

    def pieces(self) -> Iterator[bytes]:
        """Yield the frames in order."""
        for start in range(0, self._source.size, FRAME):
            data = self._source.read(start, start + FRAME)
            if self.form == ZSTD:
                data = _compress(data)
            self._sizes.append(len(data))
            self._hashes.append(hashlib.sha256(data).hexdigest())
            yield data

    def frames(self) -> Frames:
        """Return the table, once every piece has been taken."""
        return Frames(self.form, FRAME, tuple(self._sizes), tuple(self._hashes), self._source.size)


def _compress(data: bytes) -> bytes:
    library = zstd()
    made: Callable[..., bytes] = library.compress
    return made(data, level=LEVEL)


class FrameBlob:
    """The bytes of an output in frames, read by ranges.

    A read takes the frames it stands in and the one behind them; whoever reads on gets WINDOW frames at once.
    """

    __slots__ = ("_fetch", "_frames", "_held", "_lock", "_name", "_next", "_starts", "size")

    def __init__(self, frames: Frames, fetch: Callable[[int, int], bytes], name: str) -> None:
        self._frames, self._fetch, self._name = frames, fetch, name
        self._starts = frames.starts()
        self.size = frames.size
        self._held: dict[int, bytes] = {}  # the one used last stands last
        self._next = -1  # the frame after those that were fetched last
        self._lock = allocate_lock()

    def read(self, start: int, end: int) -> bytes:
        start, end = max(start, 0), min(end, self.size)
        if start >= end:
            return b""
        step = self._frames.frame
        first, last = start // step, (end - 1) // step
        parts = []
        for number in range(first, last + 1):
            frame = self._frame(number, last)
            base = number * step
            parts.append(frame[max(0, start - base) : end - base])
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        self._held.clear()

    def load(self, first: int, upto: int) -> dict[int, bytes]:
        """Read frames at once, check each, keep them at hand, and return them by their numbers."""
        upto = min(upto, len(self._starts) - 1)
        begin, end = self._starts[first], self._starts[upto]
        data = memoryview(self._fetch(begin, end))
        if len(data) != end - begin:
            raise DamagedError(
                f"{self._name} is damaged: {end - begin:,} bytes were asked for, and {len(data):,} came."
            )
        parts = {}
        for number in range(first, upto):
            at = self._starts[number] - begin
            try:
                parts[number] = self._frames.unpack(number, data[at : at + self._frames.sizes[number]], self._name)
            except DamagedError:
                if number == first:
                    raise
                break  # read along; whoever wants it asks for it, and is told
        with self._lock:
            for number, part in parts.items():
                self._held.pop(number, None)
                self._held[number] = part
            while len(self._held) > HELD:
                del self._held[next(iter(self._held))]
        return parts

    def _frame(self, number: int, last: int) -> bytes:
        with self._lock:
            held = self._held.pop(number, None)
            if held is not None:
                self._held[number] = held
                return held
        wanted = number + WINDOW if number == self._next else max(number + 2, min(last + 1, number + WINDOW))
        parts = self.load(number, wanted)
        self._next = max(parts) + 1
        return parts[number]


class PackedBlob(FrameBlob):
    """The bytes of a compressed file, whose table is at its end; `name` is what to call it in a complaint."""

    __slots__ = ("_source",)

    def __init__(self, source: Blob, name: str) -> None:
        self._source = source
        try:
            zstd()  # or say at once what to install
            frames = _read_table(source, name)
        except BaseException:
            source.close()
            raise
        super().__init__(frames, source.read, name)

    def close(self) -> None:
        self._source.close()
        super().close()


def encode_table(frames: Frames) -> bytes:
    """Return the end of a compressed file."""
    table = json.dumps({"bytes": frames.size, **frames.to_json()}).encode("ascii")
    return struct.pack("<II", _SKIPPED, len(table) + 4) + table + struct.pack("<I", len(table))


def _read_table(source: Blob, name: str) -> Frames:
    try:
        (size,) = struct.unpack("<I", source.read(source.size - 4, source.size))
        begin = source.size - 4 - size
        header = source.read(begin - 8, begin)
        table = json.loads(source.read(begin, source.size - 4))
        frames = from_json(table, table["bytes"])
        whole = header == struct.pack("<II", _SKIPPED, size + 4) and frames.stored == begin - 8
    except (struct.error, ValueError, KeyError, TypeError, RecursionError):
        whole = False
    if not whole:
        raise StoreError(f"{name} is damaged: it does not end with a table of its frames.")
    return frames
