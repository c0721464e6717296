"""Bytes in frames: each is compressed by itself, and its hash is known, so that a range costs and proves only what it holds.

All frames but the last hold the same number of bytes. The hash is of a frame as it is stored: it is checked before
anything is decompressed. One zstd frame behind another is a zstd file, so `zstd -d` gives the whole output back.
"""

from __future__ import annotations

import hashlib
from itertools import accumulate

from msgspec import Struct

from spillover.errors import StoreError
from spillover.store.compress import zstd

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from spillover.intake.blob import Blob

#: Of the output in one frame: the least that a read costs. Twice as much compresses 1 % better; half makes a record half as large again.
FRAME = 1 << 19
#: No frame of ours is larger; one that claims to be is not given the memory.
LARGEST = 1 << 24
LEVEL = 1
PLAIN, ZSTD = "plain", "zstd"
#: An output whose first frame shrinks by less than this is stored as it is.
WORTH = 0.9
_HASH_DIGITS = 64


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
