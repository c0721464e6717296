"""Pieces of an output, by which its kind is recognised, and the kind that its name or its command speaks of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import chain

from msgspec import Struct

from spillover.document.document import Document

#: Bytes read of the beginning. Larger: a kind that shows late is recognised, and every output that overflows takes
#: longer.
HEAD_BYTES = 1 << 16
#: Bytes read of the end.
TAIL_BYTES = 1 << 14
#: Pieces read of the middle, and the bytes of each.
MIDDLE_PIECES, PIECE_BYTES = 3, 1 << 13
#: The first line of most outputs is shorter, and is found without splitting the pieces.
FIRST_LINE_BYTES = 1 << 10
#: The share of lines that must be of a kind. Larger: what has a few lines of something else around it is a log.
SURE = 0.97

#: What the end of a name, or a command, says of the kind.
SUFFIXES = {
    "json": ("json",), "ndjson": ("ndjson", "jsonl"), "csv": ("csv", "psv"), "tsv": ("tsv", "tab"),
    "diff": ("diff", "patch", "git diff", "git show", "git log -p"), "html": ("html", "htm"), "xml": ("xml", "svg"),
}  # fmt: skip


class Sample(Struct, frozen=True, dict=True):
    """Some of an output: its head, some of its middle, its tail. `hint`: the kind its name or its call speaks of."""

    pieces: Sequence[bytes]
    size: int  # of the whole output
    hint: str = ""

    @classmethod
    def of(cls, document: Document, hint: str = "") -> Sample:
        """Read the pieces of a document."""
        return cls(list(_read_pieces(document)), document.size, hint)

    @property
    def head(self) -> bytes:
        return self.pieces[0]

    @property
    def is_whole(self) -> bool:
        """Whether the head is all of the output."""
        return self.size <= HEAD_BYTES

    @cached_property
    def lines(self) -> list[bytes]:
        """The whole lines of all pieces, without their ends; blank ones are left out."""
        return list(chain.from_iterable(self._split()))

    @property
    def first_line(self) -> bytes:
        """The first line that is not blank."""
        line, ends, _ = self.head[:FIRST_LINE_BYTES].partition(b"\n")
        if ends and line[:1].strip():
            return line.removesuffix(b"\r")
        return next(chain.from_iterable(self._split()), b"")

    def inner_pieces(self) -> Iterator[bytes]:
        """Yield the pieces behind the head without the parts of lines at their edges."""
        for piece in self.pieces[1:]:
            yield piece[piece.find(b"\n") + 1 : piece.rfind(b"\n") + 1]

    def _split(self) -> Iterator[list[bytes]]:
        for number, piece in enumerate(self.pieces):
            lines = piece.split(b"\n")
            first = 1 if number else 0  # where a piece begins and ends there are parts of lines
            last = len(lines) if number == len(self.pieces) - 1 or self.is_whole else len(lines) - 1
            texts = list(filter(bytes.strip, lines[first:last]))
            yield [line.removesuffix(b"\r") for line in texts] if b"\r" in piece else texts


def read_hint(name: str) -> str:
    """Return the kind that a name or a command speaks of: "x.csv", "git diff HEAD~1"; "" for most."""
    words = " ".join(name.lower().split())
    for kind, suffixes in SUFFIXES.items():
        if any(words.endswith(f".{word}") or words == word or words.startswith(f"{word} ") for word in suffixes):
            return kind
    return ""


def _read_pieces(document: Document) -> Iterator[bytes]:
    """Yield the head, pieces of the middle, and the tail."""
    size = document.size
    if size <= HEAD_BYTES:
        yield document.blob.read(0, size)
        return
    yield document.blob.read(0, HEAD_BYTES)
    for number in range(1, MIDDLE_PIECES + 1):
        at = size * number // (MIDDLE_PIECES + 1)
        if at >= HEAD_BYTES and (piece := document.blob.read(at, min(at + PIECE_BYTES, size - TAIL_BYTES))):
            yield piece
    if tail := document.blob.read(max(HEAD_BYTES, size - TAIL_BYTES), size):
        yield tail


def are_most(share: float, lines: Sequence[bytes], test: Callable[[bytes], object]) -> bool:
    """Tell whether at least this share of lines passes a test; the first lines decide for most outputs."""
    left = len(lines)
    bound = share * len(lines)
    for line in lines:
        if not test(line):
            left -= 1
            if left < bound:
                return False
    return True


def are_few(share: float, lines: Sequence[bytes], test: Callable[[bytes], object]) -> bool:
    """Tell whether at most this share of lines passes a test."""
    count = 0
    bound = share * len(lines)
    for line in lines:
        if test(line):
            count += 1
            if count > bound:
                return False
    return True
