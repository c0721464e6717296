"""The words that stand where something is hidden."""

from __future__ import annotations

from spillover.notice.clipped import Gap
from spillover.notice.wording import WORDING, Wording

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from spillover.kinds.selection import Hidden, Inside

    Say = Callable[[int, int], str]

#: Kinds of what is hidden whose short markers have its number of parts in them.
COUNTED = ("items", "keys")
#: Templates that name the first and the last line and nothing else, ready for both numbers.
_of_lines: dict[str, Say] = {}


def mark_lines(wording: Wording = WORDING, tier: int = 0) -> tuple[Say, Say] | None:
    """Return what says from two numbers that one line, or that these lines, are hidden; None where the wording says more of them."""
    one, several = (
        _of_lines.get(words) or _prepare(words)
        for words in (_choose_words(wording, tier, one=True), _choose_words(wording, tier, one=False))
    )
    return None if one is None or several is None else (one, several)


def _choose_words(wording: Wording, tier: int, *, one: bool) -> str:
    if tier == 2:
        return wording.gap_tiny_line if one else wording.gap_tiny
    return wording.gap_line if one else wording.gap_lines


def _prepare(words: str) -> Say | None:
    """Return what puts both numbers into a template; None where it asks for more, or quotes a brace."""
    say = words.replace("{first}", "{0:,}").replace("{last}", "{1:,}").format
    try:
        say(1, 2)
    except (LookupError, ValueError):
        return None
    if "{{" in words or "}}" in words:
        return None
    _of_lines[words] = say
    return say


def marker(gap: Gap, wording: Wording = WORDING, tier: int = 0, hidden: Hidden | None = None) -> str:
    """Return the words that stand where something is hidden."""
    one = gap.first == gap.last
    if hidden is not None:
        tiny = "tiny_" if tier == 2 and hidden.inline and hidden.inside is None else ""
        words: str = getattr(wording, f"gap_{tiny}{hidden.kind}")
    elif gap.whole_lines:
        words = _choose_words(wording, tier, one=one)
    else:
        words = wording.gap_tiny_bytes if tier == 2 else wording.gap_bytes
    first, last, start, end = f"{gap.first:,}", f"{gap.last:,}", f"{gap.start:,}", f"{gap.end:,}"
    where = f"line {first}" if one else f"lines {first}-{last}"
    if hidden is None:
        return words.format(
            first=first, last=last, start=start, end=end, count="0", where=where, times="0 more times", note="", s="s"
        )
    count, note = hidden.count, hidden.note
    if not gap.whole_lines and (one or not hidden.inline):  # a part of a line is named by its bytes
        # The first marker in full says that these are bytes. Where the others say how much there is, its first byte will do.
        numbers = start if hidden.kind in COUNTED else f"{start}-{end}"
        where = numbers if tier == 2 and hidden.inline else f"bytes {start}-{end}"
    if hidden.inside is not None:
        where = _where_inside(hidden.inside)
    times = "once more" if count == 1 else f"{count:,} more times"
    said = words.format(
        first=first, last=last, start=start, end=end, count=f"{count:,}", where=where, times=times, note=note,
        s="" if count == 1 else "s",
    )  # fmt: skip
    return said if hidden.inside is None else _quote(said, hidden)


def _where_inside(place: Inside) -> str:
    """Return a place in a string of JSON: "lines 61-20,410 of /stdout"."""
    of = "" if place.pointer is None else f" of {place.pointer}"
    if not place.whole_lines:
        return f"bytes {place.start:,}-{place.end:,}{of}"
    return (f"line {place.first:,}" if place.first == place.last else f"lines {place.first:,}-{place.last:,}") + of


def _quote(said: str, hidden: Hidden) -> str:
    """Return the words as they stand in a string of JSON: on a line of their own, unless they stand inside of one."""
    import json  # only strings that were cut need it

    from spillover.kinds.selection import INLINE

    place = hidden.inside
    own_line = place is not None and place.whole_lines and not place.open_ended and hidden.kind not in INLINE
    return json.dumps(said + "\n" * own_line, ensure_ascii=False)[1:-1]
