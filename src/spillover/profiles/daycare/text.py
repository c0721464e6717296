"""daycare's words: the end of a text, or both ends, and how much is missing, and of what."""

from __future__ import annotations

from spillover.base.data import dataclass, replace
from spillover.errors import UsageError
from spillover.limits import Limits
from spillover.notice.form import Form, Missing, Told, lost_words
from spillover.profiles.base import make
from spillover.select.exact import both_ends, first_chars, last_chars

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from spillover.clipper import Clipper
    from spillover.notice.form import Words
    from spillover.result import Clip
    from spillover.types import Keep, Selector

MAX_CHARS = 8_000  # of a text block, of a stream, of either part of a Python result
TOTAL_CHARS = 16_000  # of all texts of a result: what two streams have, or a Python result


@dataclass(frozen=True, slots=True)
class Bounded:
    """A text that is bounded, and the facts of each cut in it."""

    text: str
    clips: tuple[Clip, ...] = ()

    def __str__(self) -> str:
        return self.text

    @property
    def refs(self) -> tuple[str, ...]:
        """What the full texts are stored under, to go back to."""
        return tuple(clip.ref for clip in self.clips if clip.ref)


def tail(text: str, limit: int, source: str = "") -> str:
    """Return the last `limit` characters, below a line that says how many are missing, and of what where that is known."""
    hidden = len(text) - _check(limit)
    return text if hidden <= 0 else f"{truncated(hidden, source)}\n{text[hidden:]}"


def head_tail(text: str, limit: int, source: str = "") -> str:
    """Return `limit` characters of both ends, with how many are missing between; an odd one goes to the beginning."""
    hidden = len(text) - _check(limit)
    upto = (limit + 1) // 2
    return text if hidden <= 0 else f"{text[:upto]}{_between(truncated(hidden, source))}{text[upto + hidden :]}"


def head(text: str, limit: int) -> str:
    """Return the first `limit` characters, and dots where there are more."""
    return text if len(text) <= _check(limit) else f"{text[:limit]}..."


def truncated(hidden: int, source: str = "") -> str:
    """Return the notice: how many characters are missing, and of what."""
    return f"... ({hidden:,} chars truncated{f' from {source}' if source else ''})"


def _between(notice: str) -> str:
    """Return a notice as it stands between two parts."""
    return f"\n\n{notice} ...\n\n"


def clipper(*, source: str | None = None, place: bool = True, keep: Keep | Selector = "tail", **given: Any) -> Clipper:
    """Return a Clipper that truncates as daycare does, and adds where the full output is, unless `place=False`."""
    return make({"limits": Limits(chars=MAX_CHARS), "keep": keep, "wording": form(source, place=place)}, given)


def form(source: str | None = None, *, place: bool = False) -> Form:
    """Return its notice; without a source, that of a result with one text: "output (12,345 chars total)"."""

    def words(told: Told) -> Words:
        kept = f"full output: {told.place}" if told.place and told.stored is None else lost_words(told)
        where = f"; {kept}" if place else ""
        label = source or f"output ({told.total.chars:,} chars total)"
        opens, closes = bool(told.before.bytes), bool(told.behind.bytes)
        if opens + closes + max(0, len(told.parts) - 1) <= 1:  # one gap: the notice stands there
            notice = truncated(told.hidden.chars, f"{label}{where}")
            closing = _between(notice) if told.keep == "ends" else f"\n{notice}"
            return f"{notice}\n" * opens, _between(notice), closing * closes

        def gap(missing: Missing) -> str:
            return _between(truncated(missing.chars))

        notice = truncated(told.hidden.chars, f"{label}, in all{where}")
        return f"{notice}\n{gap(told.before) * opens}", gap, gap(told.behind).rstrip() * closes

    return Form(words, {"tail": last_chars, "ends": both_ends, "head": first_chars})


def cut_tail(
    by: Clipper, text: str, limit: int, source: str, *, tool: str | None = None, call_id: str | None = None
) -> Bounded:
    """Store a text, and return its last characters with the facts of the cut."""
    return _cut(by, "tail", text, limit, source, tool, call_id)


def cut_ends(
    by: Clipper, text: str, limit: int, source: str, *, tool: str | None = None, call_id: str | None = None
) -> Bounded:
    """Store a text, and return both ends of it with the facts of the cut."""
    return _cut(by, "ends", text, limit, source, tool, call_id)


def _cut(by: Clipper, keep: Keep, text: str, limit: int, source: str, tool: str | None, call_id: str | None) -> Bounded:
    chosen = replace(by, limits=Limits(chars=limit), keep=keep, wording=form(source))
    clip = chosen.clip(text, tool=tool, call_id=call_id)
    return Bounded(clip.text, (clip,))


def _check(limit: int) -> int:
    if limit < 0:
        raise UsageError(f"limit={limit} is not a number of characters; use 0 or more.")
    return limit
