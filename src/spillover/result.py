"""What the model gets, and the facts about it."""

from __future__ import annotations

from msgspec import Struct

from spillover.base import Public
from spillover.settings.limits import Size, count_lines
from spillover.tokens import estimate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from spillover.settings.limits import Limits
    from spillover.types import Outcome


class Reason(Struct, frozen=True):
    """Why lines `first` to `last` are shown."""

    first: int
    last: int
    why: str

    def __str__(self) -> str:
        lines = f"line {self.first:,}" if self.first == self.last else f"lines {self.first:,}-{self.last:,}"
        return f"{lines}: {self.why}"


class Clip(Struct, metaclass=Public, frozen=True):
    """An output brought within limits. `text` is for the model; the rest is for you."""

    text: str
    outcome: Outcome = "whole"
    ref: str | None = None  # names the stored output; None when nothing was stored
    path: str | None = None  # the file that holds it, if there is one
    reason: str | None = None  # why it is lost, stored in part, or kept on this machine only
    sha256: str | None = None  # of what is stored
    why: tuple[Reason, ...] = ()  # for each part that is shown for a reason, the reason
    _kind: str = ""
    _total: Size | None = None
    _shown: Size | None = None
    _ranges: tuple[tuple[int, int], ...] | None = None
    _count: Callable[[str], int] = estimate
    _limits: Limits | None = None

    def __str__(self) -> str:
        return self.text

    @property
    def limits(self) -> Limits | None:
        """The limits that applied, including those of a rule or a budget; None if no Clipper made this."""
        return self._limits

    @property
    def total(self) -> Size:
        """How large the whole output is. Lines, bytes and chars are exact; the tokens of a cut output are an estimate."""
        return self._total or self._measure()

    @property
    def shown(self) -> Size:
        """How much of the output the model can see; the notice and the gap markers are not part of it."""
        return self._shown or self.total

    @property
    def kind(self) -> str:
        """What the output was recognized as: "log", "json", "ndjson", "csv", "tsv", "diff", "html", "xml", "search", "source", "page", "prose", "repr" or "blob"."""
        if self._kind:
            return self._kind
        from spillover.select.kind import describe
        from spillover.source.blob import MemoryBlob, Meter
        from spillover.view.document import Document, Section

        data = self.text.encode("utf-8", "replace")
        meter = Meter()
        meter.feed(data, hashing=False)
        sections = (Section(0, len(data)),)
        return describe(Document(MemoryBlob(data), meter.index, meter.lines, meter.newlines, sections))

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

    def _measure(self) -> Size:
        size = len(self.text.encode("utf-8", "surrogatepass"))
        return Size(count_lines(self.text), size, len(self.text), self._count(self.text) if self.text else 0)
