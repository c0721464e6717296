"""Results: the text that the model gets, and the facts about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from spillover.document.document import Document
from spillover.kinds.selection import Reason
from spillover.settings.limits import Limits, Size, count_lines
from spillover.tokens import estimate
from spillover.types import Outcome


class Clip(Struct, frozen=True):
    """A clipped output. `text` is for the model; the rest is for you."""

    text: str
    outcome: Outcome = "whole"
    ref: str | None = None  # names the stored output; None when nothing was stored
    path: str | None = None  # the file that holds it, if there is one
    reason: str | None = None  # why it is lost, stored in part, or kept on this machine only
    sha256: str | None = None  # of what is stored
    why: tuple[Reason, ...] = ()  # for each part that is shown for a reason, the reason
    _kind: str = ""
    _total: Size | None = None
    _shown_size: Size | None = None
    _ranges: tuple[tuple[int, int], ...] | None = None
    _count: Callable[[str], int] = estimate
    _limits: Limits | None = None

    def __str__(self) -> str:
        return self.text

    @property
    def limits(self) -> Limits | None:
        """The limits that applied, including those of a rule or a budget; None for a Clip that no Clipper returned."""
        return self._limits

    @property
    def total(self) -> Size:
        """The size of the whole output: exact, but for the tokens of a cut output, which are estimated."""
        return self._total or self._measure()

    @property
    def shown(self) -> Size:
        """How much of the output the model can see; the notice and the gap markers are not part of it."""
        return self._shown_size or self.total

    @property
    def kind(self) -> str:
        """What the output was recognized as.

        "log", "json", "ndjson", "csv", "tsv", "diff", "html", "xml", "search", "source", "page", "prose", "repr" or
        "blob".
        """
        if self._kind:
            return self._kind
        from spillover.kinds.kind import describe  # loads numpy, and the kind of an output that fits is seldom read

        return describe(Document.from_bytes(self.text.encode("utf-8", "replace")))

    @property
    def ranges(self) -> tuple[tuple[int, int], ...]:
        """The line ranges the model can see, at least in part."""
        if self._ranges is not None:
            return self._ranges
        lines = self.total.lines
        return ((1, lines),) if lines else ()

    @property
    def hidden(self) -> tuple[tuple[int, int], ...]:
        """The line ranges that are hidden completely."""
        edges = [0, *(edge for first, last in self.ranges for edge in (first, last)), self.total.lines + 1]
        pairs = zip(edges[::2], edges[1::2], strict=True)
        return tuple((before + 1, after - 1) for before, after in pairs if after - before > 1)

    def as_dict(self) -> dict[str, Any]:
        """Return the text and the facts, for JSON."""
        return {
            "outcome": self.outcome,
            "ref": self.ref,
            "path": self.path,
            "reason": self.reason,
            "total": asdict(self.total),
            "shown": asdict(self.shown),
            "ranges": self.ranges,
            "text": self.text,
        }

    def _measure(self) -> Size:
        size = len(self.text.encode("utf-8", "surrogatepass"))
        return Size(count_lines(self.text), size, len(self.text), self._count(self.text) if self.text else 0)


class Clipped(Struct, frozen=True):
    """A clip, and the text of each section of its output; no texts if the output has no sections."""

    clip: Clip
    texts: tuple[str, ...] = ()


class Blocks(list):  # type: ignore[type-arg]  # blocks are of any shape
    """Clipped blocks: a list of the same shape as the original, with the facts in `clip`."""

    def __init__(self, blocks: Sequence[Any], clip: Clip) -> None:
        super().__init__(blocks)
        self.clip = clip


class Progress(Struct, frozen=True):
    """The progress of a running command."""

    bytes: int
    last: str  # the last line so far, cleaned, at most 200 characters


class Run(Struct, frozen=True):
    """A command that has ended."""

    exit_code: int
    clip: Clip
    timed_out: bool = False
    stdout_bytes: int = 0
    stderr_bytes: int = 0
    signals: tuple[int, ...] = ()  # received while it ran, and passed on to it
    streams: tuple[tuple[str, str], ...] = ()  # (stream, text) in order of arrival, when nothing was cut
    still_open: tuple[str, ...] = ()  # streams that a process it started still had open when we stopped reading
    warning: str | None = None  # of a profile about the command, before it ran


class Answer(Struct, frozen=True):
    """The answer to a model's call: the `text` to send back, and whether it reports an error."""

    text: str
    is_error: bool = False

    def __str__(self) -> str:
        return self.text
