"""Text of a tool that opens a line as our notices and markers do is marked as the tool's. Pure: text in, text out.

What the model reads opens a line like a notice in two cases only: we wrote it for this output, or it is, letter for letter,
a notice we gave for an output that is still stored (its record holds the hash). See docs/notices.md, "What cannot be forged".
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise

import stringzilla

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    #: The notices that were given for a ref, as `remember` wrote them; none where nothing is stored under it.
    Given = Callable[[str], Sequence[str]]

#: Put before a tool's line that opens like one of ours.
MARK = "[tool text] "
#: A text of ASCII without any of these has no line to mark; most have none of the first, and no more is looked at.
BRACKETS = ("[", "(", "{", "<", "]")
NEEDLES = ("clipped", "utput c", "[...", "next:", "<u+")
BLOCK, LONGEST = 1 << 16, max(map(len, NEEDLES))
#: The store is asked for at most this many refs for one output.
LOOKUPS = 16
#: No notice has more lines, or more characters.
NOTICE_LINES = 4
NOTICE_CHARS = 1 << 14
#: The shape of a ref (`store.record` mints it): how long its name may be, how many digits follow.
NAME_CHARS = 32
REF_DIGITS = (12, 64)
_HEX = "0123456789abcdef"
_IN_REF = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_.-")
#: The number of digits of its SHA-256 that are kept of a notice.
DIGEST = 16

_find = stringzilla.find


def may_hold(text: str) -> bool:
    """Return whether a line may have to be marked: one look at memory speed, and most texts need no other."""
    if not text.isascii():
        return True
    for bracket in BRACKETS:
        if bracket in text:
            break
    else:
        return False
    # In blocks: small letters of all of a large text would need as much fresh memory.
    for at in range(0, len(text), BLOCK):
        low = text[at : at + BLOCK + LONGEST].lower()
        for needle in NEEDLES:
            if _find(low, needle) >= 0:
                return True
    return False


class Guard:
    """Marks the lines of one output. `openings`: further words that a notice opens with, where the wording is not ours."""

    __slots__ = ("_given", "_known", "_openings")

    def __init__(self, given: Given, openings: Sequence[str] = ()) -> None:
        self._given = given
        self._openings = tuple(openings)
        self._known: dict[str, Sequence[str]] = {}

    def suspects(self, text: str) -> bool:
        return bool(self._openings) or may_hold(text)

    def __call__(self, text: str) -> str:
        """The text, with MARK before every line that reads like ours and is not; the very same where there is none."""
        if not self.suspects(text):
            return text
        from spillover.document.lookalike import reads_like  # only now

        lines = text.split("\n")
        found = {number: kind for number, line in enumerate(lines) if (kind := reads_like(line, self._openings))}
        if not found:
            return text
        ours = self._ours(lines, found)
        if len(ours) == len(found):
            return text
        for number in found.keys() - ours:
            lines[number] = MARK + lines[number]
        return "\n".join(lines)

    def _ours(self, lines: Sequence[str], found: Mapping[int, str]) -> set[int]:
        """Return which of the lines that read like ours are ours: notices we gave, and the markers that were given with them."""
        ours: set[int] = set()
        gaps = [number for number, kind in found.items() if kind == "gap"]
        seen: set[str] = set()
        for at in (number for number, kind in found.items() if kind == "notice"):
            notice, entries = self._genuine(lines, at)
            if not notice:
                continue
            behind = at + notice.count("\n") + 1
            ours.update(number for number in range(at, behind) if number in found)
            if notice not in seen:  # a second copy of it vouches for itself alone
                seen.add(notice)
                ours.update(_markers(lines, gaps[bisect_left(gaps, behind) :], entries))
        return ours

    def _genuine(self, lines: Sequence[str], at: int) -> tuple[str, list[str]]:
        """Return the notice we gave that stands at this line, and what was remembered of its markers; "" where there is none."""
        for behind in range(at + 1, min(at + NOTICE_LINES, len(lines)) + 1):
            notice = "\n".join(lines[at:behind])
            if len(notice) > NOTICE_CHARS:
                break
            entries = [entry for ref in refs_in(notice) for entry in self._notices(ref)]
            own = digest(notice) if entries else ""
            markers = [entry.partition("-")[2] for entry in entries if entry.partition("-")[0] == own]
            if markers:
                return notice, markers
        return "", []

    def _notices(self, ref: str) -> Sequence[str]:
        if ref not in self._known:
            self._known[ref] = self._given(ref) if len(self._known) < LOOKUPS else ()
        return self._known[ref]


def _markers(lines: Sequence[str], gaps: Sequence[int], entries: Sequence[str]) -> Sequence[int]:
    """Return the gap lines that one of these entries ("3-9f86d081884c7d65": three markers and their digest) vouches for."""
    for count, _, own in (entry.partition("-") for entry in entries if entry):
        first = gaps[: int(count)]
        if len(first) == int(count) and digest("\n".join(lines[number] for number in first)) == own:
            return first
    return ()


def remember(notice: str, text: str) -> str:
    """Return what a record keeps of a notice that was given at the top of this text: its digest, and that of its markers."""
    from spillover.document.lookalike import reads_like

    lines = text.split("\n")[notice.count("\n") + 1 :]
    # A marker has an ellipsis, or three dots.
    markers = [line for line in lines if (not line.isascii() or line.count(".") > 2) and reads_like(line) == "gap"]
    behind = f"-{len(markers)}-{digest(chr(10).join(markers))}" if markers else ""
    return digest(notice) + behind


def digest(text: str) -> str:
    import hashlib  # only where there is a notice

    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST]


def refs_in(notice: str) -> list[str]:
    """Return the refs that a notice names, by themselves or in a path, in order and each once; all have the shape we mint."""
    words = "".join(char if char in _IN_REF else " " for char in notice).split()
    pairs = (pair for word in words for pair in pairwise(word.split("-")))
    found: dict[str, None] = {}
    for name, rest in pairs:
        digits = rest[: len(rest) - len(rest.lstrip(_HEX))]
        if 0 < len(name) <= NAME_CHARS and REF_DIGITS[0] <= len(digits) <= REF_DIGITS[1]:
            found[f"{name}-{digits}"] = None
    return list(found)
