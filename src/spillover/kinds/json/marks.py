"""Where the values of JSON stand: brackets and commas outside of strings by depth, found at memory speed."""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from spillover.document.document import OBJECT, UNBOUNDED, Work

Array = Any  # of numpy; its own types say little about what is in one

#: Bytes looked at together. Larger: their arrays leave the cache, and take more memory.
BLOCK_BYTES = 1 << 20
#: Brackets below this depth are ignored. Larger: what they hold is cut, too, and more arrays are kept.
MAX_DEPTH = 32
#: Brackets and commas remembered, 4 bytes each; the deepest are forgotten first. Larger: more memory.
MAX_MARKS = 24 << 20
#: Members listed together. Larger: a container of millions takes far more memory than its marks.
LISTED_MEMBERS = 1 << 12
BOM = b"\xef\xbb\xbf"
#: How a value that can be shown in part begins; what follows the blanks is not one, so nothing is tried twice.
OPENS = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*+(?=[\[{])")

_BLANK = b" \t\r\n"
# Both are matched at one place, and no quantifier gives anything back.
_BLANKS = re.compile(rb"[ \t\r\n]*+")
_KEY = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"[ \t\r\n]*+:[ \t\r\n]*+', re.DOTALL)


class Member(Struct, frozen=True):
    """A value in its container: `at` is where its key begins, or itself where it has none."""

    at: int
    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.at


class Marks(Struct, frozen=True):
    """A JSON value with its opening brackets, commas and closing brackets: for each depth from 1, their places."""

    data: bytes
    levels: tuple[Array, ...]
    work: Work = UNBOUNDED

    def inside(self, start: int, end: int, depth: int) -> Array | None:
        """Return the marks of a container with members; None where it is none, is empty, or is too deep."""
        if self.data[start] not in b"[{" or depth > len(self.levels):
            return None
        level = self.levels[depth - 1]
        # The same type, or all of it would be converted first.
        first, last = level.searchsorted(level.dtype.type(start)), level.searchsorted(level.dtype.type(end))
        edges = level[first:last]
        is_empty = len(edges) == 2 and skip(self.data, int(edges[0]) + 1, int(edges[1])) == edges[1]
        return None if is_empty else edges

    def member(self, edges: Array, number: int) -> Member:
        """Return a value of the container that has these marks."""
        return self._between(int(edges[number]), int(edges[number + 1]), is_object=self.data[edges[0]] == 0x7B)

    def members(self, edges: Array) -> Iterator[Member]:
        """Yield the values of a container."""
        is_object = self.data[edges[0]] == 0x7B
        for first in range(0, len(edges) - 1, LISTED_MEMBERS):
            for opens, closes in pairwise(edges[first : first + LISTED_MEMBERS + 1].tolist()):
                yield self._between(opens, closes, is_object=is_object)

    def _between(self, opens: int, closes: int, *, is_object: bool) -> Member:
        at = skip(self.data, opens + 1, closes)
        end = trim(self.data, at, closes, self.work)
        return Member(at, find_value(self.data, at, end) if is_object else at, end)


def parse(data: bytes, work: Work = UNBOUNDED) -> Marks | None:
    """Return the marks of a JSON object or array; None where the bytes are neither, or are not shown unchanged."""
    if not OPENS.match(data) or not _is_valid(data):
        return None
    # A carriage return that ends no line makes what stands before it invisible.
    if b"\r" in data and data.count(b"\r") != data.count(b"\r\n"):
        return None
    return scan(data, work)


def _is_valid(data: bytes) -> bool:
    """Return whether it is one JSON value in UTF-8. Decoding to `Raw` checks everything else, and builds nothing."""
    try:
        msgspec.json.decode(memoryview(data)[len(BOM) if data.startswith(BOM) else 0 :], type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    if data.isascii():
        return True
    decoder = getincrementaldecoder("utf-8")()
    try:
        for at in range(0, len(data), BLOCK_BYTES):
            decoder.decode(data[at : at + BLOCK_BYTES], final=at + BLOCK_BYTES >= len(data))
    except UnicodeDecodeError:
        return False
    return True


def scan(data: bytes, work: Work = UNBOUNDED) -> Marks:
    """Return the marks of one JSON value, known to be valid."""
    levels: list[bytearray] = []  # it grows in place, where pieces of an array would be held twice
    at = in_string = depth = 0
    deepest = MAX_DEPTH
    while at < len(data):
        block = np.frombuffer(data, np.uint8, min(BLOCK_BYTES, len(data) - at), at)
        offsets, in_string = _find_marks(block, in_string)
        depths, depth = _count_depths(block[offsets], depth)
        places = offsets.astype(np.int32)
        places += np.int32(at)
        top = min(int(depths.max()), deepest) if len(depths) else 0
        levels += [bytearray() for _ in range(len(levels), top)]
        for number in range(int(depths.min()) if top else 1, top + 1):
            levels[number - 1] += places[depths == number].data
        while len(levels) > 1 and sum(map(len, levels)) > MAX_MARKS * places.itemsize:
            levels.pop()
            deepest = len(levels)
        at += len(block) + _escapes_next(data, at, at + len(block))
    return Marks(data, tuple(np.frombuffer(level, np.int32) for level in levels), work)


def _find_marks(block: Array, in_string: int) -> tuple[Array, int]:
    """Return where brackets and commas outside of strings are, and whether the block ends in a string."""
    quotes = block == 0x22
    escapes = np.flatnonzero(block == 0x5C)
    if len(escapes):
        quotes[_escaped(escapes, len(block))] = False
    folded = block | 0x20
    signs = _pack((block == 0x2C) | (folded == 0x7B) | (folded == 0x7D))
    strings, in_string = _pack_strings(quotes, in_string)
    signs &= ~strings
    bits = np.unpackbits(signs.view(np.uint8), count=len(block), bitorder="little")
    return np.flatnonzero(bits.view(bool)), in_string


def _escaped(escapes: Array, size: int) -> Array:
    """Return what stands behind an odd number of backslashes."""
    last = np.flatnonzero(np.diff(escapes, append=size + 2) != 1)  # of each run of them
    length = np.diff(last, prepend=-1)
    behind = escapes[last[length & 1 == 1]] + 1
    return behind[:-1] if len(behind) and behind[-1] == size else behind


def _pack(flags: Array) -> Array:
    """Pack flags into bits, the first one lowest."""
    octets = np.packbits(flags, bitorder="little")
    words = np.zeros((len(octets) + 7) // 8, np.uint64)
    words.view(np.uint8)[: len(octets)] = octets
    return words


def _pack_strings(quotes: Array, in_string: int) -> tuple[Array, int]:
    """Set the bits from an opening quote up to its closing one; return whether the last string stays open, too."""
    words = _pack(quotes)
    for shift in (1, 2, 4, 8, 16, 32):  # each bit becomes the parity of all up to it
        words ^= words << np.uint64(shift)
    is_odd = (words >> np.uint64(63)).astype(np.uint8)
    carried = np.bitwise_xor.accumulate(is_odd) ^ np.uint8(in_string)
    words[1:][carried[:-1] == 1] ^= np.uint64(0xFFFFFFFFFFFFFFFF)
    if in_string:
        words[0] ^= np.uint64(0xFFFFFFFFFFFFFFFF)
    return words, int(carried[-1])


def _count_depths(signs: Array, depth: int) -> tuple[Array, int]:
    """Return the depth of the container each mark belongs to, with `depth` before the first; and behind the last."""
    folded = signs | 0x20
    closes = (folded == 0x7D).view(np.int8)
    step = (folded == 0x7B).view(np.int8) - closes
    after = np.cumsum(step, dtype=np.int16)  # what is valid is never so deep that this overflows
    after += after.dtype.type(depth)
    return after + closes, int(after[-1]) if len(after) else depth


def _escapes_next(data: bytes, start: int, end: int) -> int:
    """Return 1 if the byte behind these is escaped by the last of them."""
    if data[end - 1] != 0x5C:
        return 0
    return (end - start - len(data[start:end].rstrip(b"\\"))) & 1


def skip(data: bytes, at: int, end: int) -> int:
    """Return where the blanks end that begin here."""
    match = _BLANKS.match(data, at, end)
    return match.end() if match else at


def trim(data: bytes, start: int, end: int, work: Work = UNBOUNDED) -> int:
    """Return where a value ends that is followed by blanks up to `end`."""
    while data[end - 1] in _BLANK:
        piece = data[max(start, end - 64) : end]
        end -= len(piece) - len(piece.rstrip(_BLANK))
        work.spend(OBJECT)
    return end


def find_value(data: bytes, at: int, end: int) -> int:
    """Return where the value of the member begins whose key begins here."""
    key = _KEY.match(data, at, end)
    return key.end() if key else at
