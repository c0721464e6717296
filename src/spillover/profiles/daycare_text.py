"""daycare's words: the end of a text, or both ends, and how much is missing of what."""

from __future__ import annotations

from spillover.data import replace
from spillover.errors import UsageError
from spillover.form import Form, Told, lost_words
from spillover.limits import Limits
from spillover.profiles.base import made
from spillover.select.exact import both_ends, first_chars, last_chars

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Self

    from spillover.clipper import Clipper
    from spillover.result import Clip

MAX_CHARS = 8_000  # of a text block, of a stream, of either part of a Python result
TOTAL_CHARS = 16_000  # of all texts of a result: what two streams have, or a Python result


def tail(text: str, limit: int, source: str = "output") -> str:
    """The last characters, and before them how many are missing."""
    hidden = len(text) - _checked(limit)
    return text if hidden <= 0 else f"... ({hidden:,} chars truncated from {source})\n{text[hidden:]}"


def head_tail(text: str, limit: int, source: str = "output") -> str:
    """Characters of both ends, and between them how many are missing; of an odd number, one more from the beginning."""
    hidden = len(text) - _checked(limit)
    upto = (limit + 1) // 2
    if hidden <= 0:
        return text
    return f"{text[:upto]}\n\n... ({hidden:,} chars truncated from {source}) ...\n\n{text[upto + hidden :]}"


def head(text: str, limit: int) -> str:
    """The first characters, and that there are more."""
    return text if len(text) <= _checked(limit) else f"{text[:limit]}..."


def clipper(*, source: str | None = None, place: bool = True, **given: Any) -> Clipper:
    """What daycare does to any output. Its words name no file; ours add where the whole is, unless `place=False`."""
    return made({"limits": Limits(chars=MAX_CHARS), "keep": "tail", "wording": form(source, place=place)}, given)


def form(source: str | None = None, *, place: bool = False) -> Form:
    """Its notice; without a source, that of a result with one text: "output (12,345 chars total)"."""

    def words(told: Told) -> tuple[str, str, str]:
        hidden = told.total.chars - told.shown.chars
        label = source or f"output ({told.total.chars:,} chars total)"
        kept = f"full output: {told.place}" if told.place and told.stored is None else lost_words(told)
        said = f"... ({hidden:,} chars truncated from {label}{f'; {kept}' if place else ''})"
        between = f"\n\n{said} ...\n\n"
        if len(told.parts) > 1 or told.keep not in ("head", "tail"):
            return "", between, "" if len(told.parts) > 1 else between
        return (f"{said}\n", "", "") if told.keep == "tail" else ("", "", f"\n{said}")

    return Form(words, {"tail": last_chars, "ends": both_ends, "head": first_chars})


def ends_of(by: Clipper, limit: int, source: str) -> Clipper:
    """The same Clipper for both ends of another text."""
    return replace(by, limits=Limits(chars=limit), keep="ends", wording=form(source))


class Bounded(str):
    """A text that was brought down by someone who knew its parts; the safety net lets it pass. A str with its facts."""

    __slots__ = ("clips",)
    clips: tuple[Clip, ...]

    def __new__(cls, text: str, clips: Sequence[Clip] = ()) -> Self:
        made = super().__new__(cls, text)
        made.clips = tuple(clips)
        return made

    @property
    def refs(self) -> tuple[str, ...]:
        """What the whole texts are stored under, for whoever wants to go back."""
        return tuple(clip.ref for clip in self.clips if clip.ref)


def _checked(limit: int) -> int:
    if limit < 0:
        raise UsageError(f"limit={limit} is no number of characters; use 0 or more.")
    return limit
