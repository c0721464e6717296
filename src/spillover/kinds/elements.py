"""The elements of a piece of markup: which tag closes which, what each element is worth, and which of them failed."""

from __future__ import annotations

import re

import stringzilla

from spillover.document.document import TAG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spillover.document.document import Work

    Token = tuple[int, int, "Element | None", "Element | None"]  # from, to, what it opens, what it stands in or closes
    Unit = tuple[int, int, int, str]  # a piece: rank, from, to, why

#: An element up to this size is shown whole or not at all; longer text is cut into pieces of it.
SMALL = 600
#: More siblings of one name than this are too many: the first two and the last one stand for them.
MANY = 6
#: The work for tags is counted for this many at a time.
BATCH = 256
#: A closing tag closes one of this many open elements at most.
DEEP = 64

# One tag, comment, CDATA section or declaration, which is never cut. Linear: what is not closed reaches to the end, and so
# is looked at once; all else is possessive. A tag that fails has been followed to the next < outside of quotes; of two tags
# that begin inside of each other's quotes, the third that does stands where one of them ended, so a byte is looked at
# three times at most.
_TAG = rb"""<[!/]?([A-Za-z_][^\s<>"'/]*+)[^<>"']*+(?:(?:"[^"]*+"|'[^']*+')[^<>"']*+)*+>"""
CLOSED_TAG = re.compile(_TAG)
_TOKEN = re.compile(
    rb"<(?:!--.*?(?:-->|\Z)|!\[CDATA\[.*?(?:\]\]>|\Z)|\?.*?(?:\?>|\Z)|(!DOCTYPE[^<>\[]*+\[)|" + _TAG[1:] + rb")",
    re.DOTALL,
)
#: How a declaration ends that holds others.
_DECLARED = re.compile(rb"\]\s*+>")
VOID = frozenset(b"area base br col embed hr img input link meta source track wbr".split())
UNCLOSED = frozenset(b"li p tr td th dt dd option thead tbody".split())
RAW = frozenset((b"script", b"style"))
_DROPPED = frozenset((b"script", b"style", b"svg", b"noscript", b"template"))
_HEADINGS = frozenset((b"title", b"h1", b"h2", b"h3", b"h4", b"h5", b"h6", b"caption"))
#: What can be filled or pressed; links are too many to be each worth a heading.
_CONTROLS = frozenset((b"form", b"input", b"button", b"select", b"textarea"))
_FAILED = frozenset((b"failure", b"error", b"failed", b"fail", b"fault", b"faultstring", b"exception"))
_FAILED_TAG = re.compile(
    rb"""(?i)\b(?:status|result|outcome|state|severity|level|class)\s*+=\s*+["'](?:fail|err|fatal|broken)"""
)
# A word is looked at twice from its beginning: \b holds nowhere inside of it.
_FAILED_TEXT = re.compile(
    rb"\b(?:FAIL(?:ED|URE)?|[Ff]ailed|[Ff]ailure|ERROR|[Ee]rror:|\w*Error\b|\w*Exception\b|FATAL|panic)\b"
)
#: Without one of these, neither of the two can match.
_FAILED_WORDS = (b"FAIL", b"ailed", b"ailure", b"ERROR", b"rror", b"Exception", b"FATAL", b"panic")
_FAILED_VALUES = tuple(quote + word for quote in (b'"', b"'") for word in (b"fail", b"err", b"fatal", b"broken"))
#: What a piece is worth showing, the most first.
FRAME, NAMED, FAILED, HEADING, PLAIN, REPEATED, LAST = range(7)


def read_elements(data: bytes, work: Work, *, inside: bool) -> list[Token]:
    """Return the tags of a piece of markup, in order, with the elements that they open and close, each with its rank.

    `inside`: the piece is from the middle of an output.
    """
    tokens, elements = _tree(data, work, Element(b"", 0, 0, None) if inside else None)
    _mark(data, elements)
    return tokens


class _Declared:
    """Where declarations that hold others end, in some bytes that are looked through from their beginning on."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._ends = True  # False where none can end any more

    def end(self, match: re.Match[bytes]) -> tuple[int, bytes] | None:
        """Return where the one ends that opens here, or the tag that it is instead, and its name; None where it is neither."""
        ends = _DECLARED.search(self._data, match.end()) if self._ends else None
        if ends:
            return ends.end(), b""
        self._ends = False
        tag = CLOSED_TAG.match(self._data, match.start())  # the bracket may be a character like any other
        return (tag.end(), tag[1]) if tag else None


def tokens_of(data: bytes, at: int) -> Iterator[tuple[int, int]]:
    """Yield from where to where each tag, comment and the like reaches."""
    declared = _Declared(data)
    for match in _TOKEN.finditer(data, at):
        if match.start() < at:  # inside of a declaration
            continue
        end = match.end() if match[1] is None else (declared.end(match) or (0, b""))[0]
        if end:
            yield match.start(), end
            at = end


class Element:
    """An element, what it is to its siblings, and whether it failed or holds what did."""

    __slots__ = ("children", "encloses", "end", "failed", "inner", "name", "nth", "opened", "parent", "rank", "start")

    def __init__(self, name: bytes, start: int, opened: int, parent: Element | None) -> None:
        self.name, self.start, self.opened, self.parent = name, start, opened, parent
        self.inner = self.end = opened  # where its closing tag begins and ends, once that is known
        self.children: dict[bytes, int] | None = None  # how many of each name; most elements have none
        self.failed = self.encloses = False
        self.nth = 0
        self.rank = PLAIN
        if parent is not None:
            siblings = parent.children
            if siblings is None:
                parent.children = {name: 1}
            else:
                self.nth = siblings.get(name, 0)
                siblings[name] = self.nth + 1

    def weigh(self) -> None:
        """Settle its rank: by its name, its place among its siblings, and what it stands in, which comes first."""
        parent = self.parent
        around = parent.rank if parent is not None else PLAIN
        count = parent.children[self.name] if parent is not None and parent.children is not None else 1
        if self.failed or around == FAILED:
            self.rank = FAILED
        elif self.name in _DROPPED or around == LAST:
            self.rank = LAST
        elif around == REPEATED or (count >= MANY and 2 <= self.nth < count - 1):
            self.rank = REPEATED
        elif self.name in _HEADINGS or self.name in _CONTROLS:
            self.rank = HEADING

    @property
    def why(self) -> str:
        name = self.name.decode("utf-8", "replace")
        return f"{name} failed" if self.failed else name


def is_one(data: bytes, element: Element) -> bool:
    """Return whether an element is a piece of its own: it is short, or there is nothing but text in it."""
    if element.end == element.opened and not data.endswith(b"/>", element.start, element.end):
        return element.name in VOID
    long = element.end - element.start > SMALL
    return (
        not long or element.name in RAW or (not element.children and b"<" not in data[element.opened : element.inner])
    )


def cut_pieces(data: bytes, edges: tuple[int, int, int, int], rank: int, why: str) -> Iterator[Unit]:
    """Yield text with the tags around it, in pieces if it is long: the first and the last are worth more than the others."""
    start, opened, inner, end = edges
    if end - start <= SMALL + SMALL // 2:
        yield rank, start, end, why
        return
    at, cuts = start, []
    while end - at > SMALL + SMALL // 2:
        cut = max(_cut(data, max(at, opened), at + SMALL), opened)
        if cut >= inner or cut <= at:
            break
        cuts.append(cut)
        at = cut
    for one, two in zip([start, *cuts], [*cuts, end], strict=True):
        yield rank if one == start or two == end else max(rank, REPEATED), one, two, why if one == start else ""


def _cut(data: bytes, low: int, high: int) -> int:
    """Return the best place to cut text: behind a line, a word, or at least a character."""
    for mark in (b"\n", b" "):
        cut = data.rfind(mark, low + (high - low) // 2, high) + 1
        if cut:
            return cut
    while high > low and high < len(data) and 0x80 <= data[high] < 0xC0:
        high -= 1
    return high


def _has_any(data: bytes, words: Sequence[bytes]) -> bool:
    return any(stringzilla.find(data, word) >= 0 for word in words)


def _may_be_tagged(data: bytes) -> bool:
    """Return whether a tag may say that something failed."""
    return _has_any(data.lower(), _FAILED_VALUES)


def _tree(data: bytes, work: Work, root: Element | None) -> tuple[list[Token], list[Element]]:
    """Return tags, comments and the like in order, and the elements they make; what is never closed ends where it opens."""
    tokens: list[Token] = []
    elements: list[Element] = []
    stack: list[Element] = []
    open_ended: set[bytes] = set()
    declared = _Declared(data)
    matches = _TOKEN.finditer(data)
    while match := next(matches, None):
        start, at = match.span()
        if not len(tokens) % BATCH:
            work.spend(TAG * BATCH)
        owner = stack[-1] if stack else root
        name = match[2]
        if match.lastindex == 1:
            end = declared.end(match)
            if end is None:
                continue
            at, name = end
            matches = _TOKEN.finditer(data, at)
        second = data[start + 1]
        if not name or second == 0x21:
            tokens.append((start, at, None, owner))
            continue
        name = name.lower()
        if second == 0x2F:
            if stack and stack[-1].name == name:
                owner = stack.pop()
                owner.inner, owner.end = start, at
                tokens.append((start, at, None, owner))
                continue
            place = len(stack) - 1
            least = max(0, len(stack) - DEEP)
            while place >= least and stack[place].name != name:
                place -= 1
            if place >= least:
                stack[place].inner, stack[place].end = start, at
                owner = stack[place]
                del stack[place:]
            tokens.append((start, at, None, owner))
            continue
        if owner is not None and owner.name == name and name in UNCLOSED:
            owner.inner = owner.end = start
            stack.pop()
            owner = stack[-1] if stack else root
        element = Element(name, start, at, owner)
        elements.append(element)
        tokens.append((start, at, element, owner))
        if name in RAW:
            closing = None if name in open_ended else re.compile(rb"(?i)</%b\s*+>" % name).search(data, at)
            if closing is None:
                open_ended.add(name)  # nor is there one behind any later
            else:
                element.inner, element.end = closing.span()
                matches = _TOKEN.finditer(data, element.end)
        elif data[at - 2] != 0x2F and name not in VOID:
            stack.append(element)
    return tokens, elements


def _mark(data: bytes, elements: Sequence[Element]) -> None:
    """Mark the elements that failed, and those around them. Words in a text count only where few texts have them."""
    leaves = [element for element in elements if not element.children and element.inner > element.opened]
    worded: list[Element] = []
    if _has_any(data, _FAILED_WORDS):  # most pages have none of them, and are told at memory speed
        worded = [leaf for leaf in leaves if _FAILED_TEXT.search(data, leaf.opened, leaf.inner)]
    failed = worded if len(worded) <= max(5, len(leaves) // 20) else []
    tagged = _may_be_tagged(data)
    failed += [
        one for one in elements if one.name in _FAILED or (tagged and _FAILED_TAG.search(data, one.start, one.opened))
    ]
    for element in failed:
        element.failed = True
        at = element.parent
        while at is not None and not at.encloses:
            at.encloses = True
            at = at.parent
    for element in elements:
        if element.encloses and element.parent is not None and 0 < element.end - element.opened <= 4 * SMALL:
            element.failed = True  # the test that holds a failure, not the failure alone
        element.weigh()
