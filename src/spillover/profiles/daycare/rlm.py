"""What a run of Python printed and returned, for the model: both ends of each, in a message or as a tool's result."""

from __future__ import annotations

from spillover.base.data import dataclass
from spillover.profiles.daycare.text import MAX_CHARS, TOTAL_CHARS, Bounded, clipper, cut_ends

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from spillover.clipper import Clipper
    from spillover.result import Clip

#: The name of the tool, and what its results begin with.
TOOL = "run_python"
DONE = "Python execution completed."
TEXT = DONE + "\n\nTool calls: {calls}\n\nPrint output:\n{printed}\n\nOutput:\n{output}"


@dataclass(frozen=True, slots=True)
class RlmResult:
    """A Python result, bounded; both modes of delivery say the same text."""

    text: str
    is_error: bool = False
    clips: tuple[Clip, ...] = ()

    @property
    def refs(self) -> tuple[str, ...]:
        """What the full texts are stored under."""
        return Bounded(self.text, self.clips).refs

    @property
    def typed_result(self) -> dict[str, Any]:
        """What other tools get of it: the same bounded text."""
        return {"summary": self.text, "isError": self.is_error}

    def message(self) -> dict[str, Any]:
        """Return it as a message of the user, in `<python_result>`, for a model without tools."""
        text = f"<python_result>\n{self.text}\n</python_result>"
        return {"role": "user", "content": [{"type": "text", "text": text}]}

    def tool_message(self, call_id: str, name: str = TOOL) -> dict[str, Any]:
        """Return it as the result of a call, for a model with tools. `tool_result` lets its text pass."""
        content = [{"type": "text", "text": self.text}]
        return {
            "role": "toolResult",
            "toolCallId": call_id,
            "toolName": name,
            "content": content,
            "isError": self.is_error,
        }


def rlm_result(
    print_output: Sequence[str],
    output: str,
    *,
    tool_calls: int = 0,
    by: Clipper | None = None,
    tool: str | None = TOOL,
    call_id: str | None = None,
) -> RlmResult:
    """Return what a run printed and gave back: both ends of 8,000 characters of each, 16,000 together."""
    clips: list[Clip] = []

    def cut(text: str, limit: int, source: str) -> str:
        if len(text) <= limit:
            return text
        bounded = cut_ends(by or clipper(), text, limit, source, tool=tool, call_id=call_id)
        clips.extend(bounded.clips)
        return bounded.text

    printed = cut("\n".join(print_output), MAX_CHARS, "print output") if print_output else "(none)"
    given = cut(output, MAX_CHARS, "output") if output else "(empty)"
    text = cut(TEXT.format(calls=tool_calls, printed=printed, output=given), TOTAL_CHARS, "python result")
    return RlmResult(text, clips=tuple(clips))


def rlm_tool_result(
    text: str,
    *,
    is_error: bool = False,
    by: Clipper | None = None,
    tool: str | None = TOOL,
    call_id: str | None = None,
) -> RlmResult:
    """Return any text as a Python result, an error for example: both ends of 16,000 characters."""
    if len(text) <= TOTAL_CHARS:
        return RlmResult(text, is_error)
    bounded = cut_ends(by or clipper(), text, TOTAL_CHARS, "python result", tool=tool, call_id=call_id)
    return RlmResult(bounded.text, is_error, bounded.clips)
