"""Markup that is written by the rules, read in arrays: its tags, which closes which, and what each element is worth.

By the rules: < and > stand in turn, quotes are closed, and every element that is opened is closed in its turn. Most of what
programs print is like this; what is not is read tag by tag (markup.py), with the same result, and `read_tags` says so.
"""

from __future__ import annotations

from spillover.base.data import dataclass
from spillover.select.arrays import find_byte, group, load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Array = Any  # of numpy; its own types say little about what is in one

#: Names of elements are shorter, and fewer than these; elements are not nested deeper.
LONGEST, MOST_NAMES, DEEPEST = 24, 64, 48
#: What a tag may be.
OPENS, CLOSES, OTHER = 0, 1, 2

_LOWER = bytes(c + 32 if 65 <= c <= 90 else c for c in range(256))
_NAME_BEGINS = bytes(chr(c).isalpha() or c == 0x5F if c < 0x80 else 0 for c in range(256))
_NAME_ENDS = bytes(c in b" \t\n\r\x0b\x0c<>\"'/" for c in range(256))


@dataclass(frozen=True, slots=True)
class Tags:
    """Tags, in one place of each array: from, to (behind it), what it is, which element it opens or closes, what it stands in."""

    start: Array
    end: Array
    kind: Array
    element: Array  # -1: none
    owner: Array  # what an opening tag stands in, what a closing one closes; -1: nothing


@dataclass(frozen=True, slots=True)
class Elements:
    """Elements in the order in which they open, in one place of each array."""

    start: Array
    opened: Array  # where the first tag ends
    inner: Array  # where the last tag begins
    end: Array
    parent: Array  # -1: none
    depth: Array
    name: Array  # which of the names
    nth: Array  # how many of the same name stand before it in its parent
    alike: Array  # and how many there are
    empty: Array  # nothing but text is in it
    holds: Array  # others are in it
    names: tuple[bytes, ...]

    def named(self, those: frozenset[bytes]) -> Array:
        """Return which elements have one of these names: a boolean each."""
        import numpy as np

        return np.array([name in those for name in self.names], dtype=bool)[self.name]


def read_tags(
    data: bytes, void: frozenset[bytes], raw: frozenset[bytes], unclosed: frozenset[bytes]
) -> tuple[Tags, Elements] | None:
    """Return the tags and elements of some markup; None where it is not written by the rules.

    Elements in `void` are never closed; what is in `raw` is no markup; two of one name in `unclosed` never stand in each other.
    """
    load()
    import numpy as np

    text = np.frombuffer(data, dtype=np.uint8)
    start, last = find_byte(text, 0x3C), find_byte(text, 0x3E)
    if not len(start) or len(start) != len(last) or (start >= last).any() or (last[:-1] >= start[1:]).any():
        return None
    second, third = text[start + 1], text[np.minimum(start + 2, len(text) - 1)]
    begins = np.frombuffer(_NAME_BEGINS, dtype=bool)
    closes, said = second == 0x2F, second == 0x21
    marked = closes | said
    named = begins[np.where(marked, third, second)]
    if not (named & ~marked).any():
        return None
    others = (~named).nonzero()[0]
    if not all(_is_opaque(data[start[at] : last[at] + 1]) for at in others.tolist()):
        return None
    if any(b"[" in data[start[at] : last[at]] for at in (said & named).nonzero()[0].tolist()):
        return None  # a declaration that may hold others
    if not _are_quotes_closed(data, text, start, last, named):
        return None
    name = np.zeros(len(start), dtype=np.int16)
    found = _names(data, (start + 1 + marked)[named])
    if found is None:
        return None
    name[named], names = found
    opens = named & ~marked
    alone = opens & ((text[last - 1] == 0x2F) | np.array([each in void for each in names], dtype=bool)[name])
    closes &= named
    if np.array([each in raw for each in names], dtype=bool)[name[opens]].any():
        return None
    return _nest(start, last, opens, closes, alone, name, names, unclosed)


def _is_opaque(token: bytes) -> bool:
    """Return whether this is a comment, a CDATA section or an instruction that ends where it should; there is no other > in it."""
    return any(
        token.startswith(first) and token.endswith(behind) and len(token) >= len(first) + len(behind)
        for first, behind in ((b"<!--", b"-->"), (b"<![CDATA[", b"]]>"), (b"<?", b"?>"))
    )


def _are_quotes_closed(data: bytes, text: Array, start: Array, last: Array, named: Array) -> bool:
    """Return whether each tag has quotes of one kind only, and as many that open as that close."""
    import numpy as np

    odd = np.zeros(len(start), dtype=np.int64)
    both = np.zeros(len(start), dtype=np.int64)
    for quote in (0x22, 0x27):
        if quote not in data:
            continue
        where = find_byte(text, quote)
        tag = start.searchsorted(where) - 1
        inside = (tag >= 0) & (where < last[tag])
        count = np.bincount(tag[inside], minlength=len(start))
        odd |= count & 1
        both += count > 0
    return not (named & ((odd > 0) | (both > 1))).any()


def _names(data: bytes, start: Array) -> tuple[Array, tuple[bytes, ...]] | None:
    """Return which name stands at each place, in small letters, and the names; None where one is long, or they are many."""
    import numpy as np

    padded = data + b">" * (LONGEST + 16)  # so that eight bytes can be read behind any
    lower, ends = padded.translate(_LOWER), padded.translate(_NAME_ENDS)
    words: list[Array] = []
    going: Array = np.ones(len(start), dtype=bool)  # which names are not ended in the words so far
    for at in range(0, LONGEST + 8, 8):
        # Below the lowest bit of what ends a name there is the name, and below no bit everything.
        closing = _words(ends, at)[start]
        below = (closing & (~closing + np.uint64(1))) - np.uint64(1)
        word = _words(lower, at)[start] & below
        words.append(np.where(going, word, 0) if at else word)
        going &= closing == 0
        if not going.any():
            break
    if len(words) * 8 > LONGEST and (going.any() or words[-1].any()):
        return None
    code = np.full(len(start), -1, dtype=np.int16)
    names: list[bytes] = []
    while code[first := int(code.argmin())] < 0:
        if len(names) == MOST_NAMES:
            return None
        same = words[0] == words[0][first]
        for more in words[1:]:
            same &= more == more[first]
        code[same] = len(names)
        names.append(lower[start[first] : ends.index(1, start[first])])
    return code, tuple(names)


def _words(padded: bytes, at: int) -> Array:
    """Return the eight bytes that begin so far behind each byte, as one number each."""
    import numpy as np

    return np.ndarray((len(padded) - at - 8,), dtype="<u8", buffer=padded, offset=at, strides=(1,))


def _nest(
    start: Array,
    last: Array,
    opens: Array,
    closes: Array,
    alone: Array,
    name: Array,
    names: tuple[bytes, ...],
    unclosed: frozenset[bytes],
) -> tuple[Tags, Elements] | None:
    """Return which tag closes which, and what stands in what; None where an element is not closed in its turn."""
    import numpy as np

    both = opens & ~alone  # opens what another closes
    depth = both.cumsum(dtype=np.int32) - closes.cumsum(dtype=np.int32)  # behind each tag
    if depth.min() < 0 or depth[-1] != 0 or depth.max() > DEEPEST:
        return None
    level = (depth - both).astype(np.uint8)  # of the element that a tag opens or closes: how many it stands in
    tags = (both | closes).nonzero()[0]
    tags = tags[level[tags].argsort(kind="stable")]
    first, second = tags[::2], tags[1::2]
    if not (opens[first].all() and closes[second].all() and (level[first] == level[second]).all()):
        return None
    if (name[first] != name[second]).any():
        return None
    element = np.full(len(start), -1)
    element[opens] = np.arange(int(opens.sum()))
    element[second] = element[first]
    owner = _owners(level, both, closes, element)
    at = opens.nonzero()[0]
    close = at.copy()
    close[element[first]] = second
    parent, code = owner[at], name[at]
    same = (parent >= 0) & (code == code[parent])
    if np.array([each in unclosed for each in names], dtype=bool)[code[same]].any():
        return None
    opened, paired = last[at] + 1, close > at
    nth, alike = _place(parent, code, len(names))
    return (
        Tags(
            start,
            last + 1,
            np.where(opens, np.uint8(OPENS), np.where(closes, np.uint8(CLOSES), np.uint8(OTHER))),
            element,
            owner,
        ),
        Elements(
            start[at],
            opened,
            np.where(paired, start[close], opened),
            np.where(paired, last[close] + 1, opened),
            parent,
            level[at],
            code,
            nth,
            alike,
            close <= at + 1,
            np.bincount(parent + 1, minlength=len(at) + 1)[1:] > 0,
            names,
        ),
    )


def _owners(level: Array, both: Array, closes: Array, element: Array) -> Array:
    """Return the element in which each tag stands, or that it closes; -1 where it stands in none."""
    import numpy as np

    # The first tag in an element stands right behind the one that opens it; the others in it come next at their level.
    others = (~closes).nonzero()[0]
    others = others[level[others].argsort(kind="stable")]
    known = both[others - 1]
    known[0] = True  # nothing stands before it
    around = np.where(known, element[others - 1], -1)
    around[0] = -1
    owner = element.copy()
    owner[others] = around[np.maximum.accumulate(np.where(known, np.arange(len(others)), 0))]
    return owner


def _place(parent: Array, code: Array, names: int) -> tuple[Array, Array]:
    """Return how many elements of the same name stand before each in its parent, and how many there are."""
    import numpy as np

    order, starts, sizes = group((parent + 1) * names + code)
    nth, alike = np.empty(len(parent), dtype=np.int64), np.empty(len(parent), dtype=np.int64)
    nth[order] = np.arange(len(parent)) - starts.repeat(sizes)
    alike[order] = sizes.repeat(sizes)
    return nth, alike
