"""An output that is pushed rather than pulled: write as it comes, then ask for the clip."""

from __future__ import annotations

from spillover import pipeline
from spillover.errors import UsageError
from spillover.source.intake import as_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

    from spillover.choices import Choices
    from spillover.result import Clip
    from spillover.source.intake import Chunk


class Capture:
    """`write(chunk, stream="stderr")` as often as needed, then `.clip`. If an exception ends the `with` block, nothing is kept."""

    def __init__(self, choices: Choices, call_id: str | None = None) -> None:
        self._choices = choices
        self._call_id = call_id
        self._intake = pipeline.begin(choices)
        self._clip: Clip | None = None
        self._dropped = False

    def write(self, chunk: Chunk, stream: str = "stdout") -> int:
        """Add the next piece. Like a file, this returns how much was written."""
        if self._clip is not None or self._dropped:
            raise UsageError("this capture has ended; start another one.")
        self._intake.write(as_bytes(chunk), stream)
        return len(chunk)

    def flush(self) -> None:
        """Do nothing: a capture has no buffer. It can be used like a file."""

    @property
    def clip(self) -> Clip:
        """What the model gets. Reading this ends the capture."""
        if self._dropped:
            raise UsageError("this capture ended with an exception, and kept nothing.")
        if self._clip is None:
            self._clip = pipeline.settle(self._intake, self._choices, call_id=self._call_id)
        return self._clip

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None and self._clip is None:
            self._dropped = True
            self._intake.abandon()
