"""The sums that S3 gives back for what it got, so that what was garbled on the way is noticed at once. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class Sums:
    """The tag that S3 gives an object that came in parts of so many bytes."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._parts: list[bytes] = []
        self._part = _new_md5()
        self._room = self._size

    def follow(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            rest = memoryview(piece)
            while rest:
                self._part.update(rest[: self._room])
                taken = min(self._room, len(rest))
                rest, self._room = rest[taken:], self._room - taken
                if not self._room:
                    self._end_part()
            yield piece

    def _end_part(self) -> None:
        self._parts.append(self._part.digest())
        self._part, self._room = _new_md5(), self._size

    @property
    def tag(self) -> str:
        if self._room < self._size:
            self._end_part()
        return f"{md5(b''.join(self._parts))}-{len(self._parts)}"


def _new_md5() -> Any:
    import hashlib  # wanted only once something has overflowed

    return hashlib.md5(usedforsecurity=False)


def md5(data: bytes) -> str:
    """Return the tag of an object that came in one request."""
    made = _new_md5()
    made.update(data)
    digest: str = made.hexdigest()
    return digest


def is_of(tag: str | None, expected: str) -> bool:
    """Return whether this is the tag of an object with this sum."""
    return tag is not None and tag.strip('"') == expected
