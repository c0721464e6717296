"""What a run of Python printed and gave back, for the model: both ends of each, in a message or as a tool's result."""

from __future__ import annotations

from spillover.data import dataclass
from spillover.profiles.daycare_text import MAX_CHARS, TOTAL_CHARS, Bounded, clipper, ends_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from spillover.clipper import Clipper
    from spillover.result import Clip

TEXT = "Python execution completed.\n\nTool calls: {calls}\n\nPrint output:\n{printed}\n\nOutput:\n{output}"


@dataclass(frozen=True, slots=True)
class RlmResult:
    """A Python result, bounded; both modes of delivery say the same text."""

    text: Bounded
    is_error: bool = False

    @property
    def refs(self) -> tuple[str, ...]:
        """What the whole texts are stored under."""
        return self.text.refs

    @property
    def typed_result(self) -> dict[str, Any]:
        """What other tools get of it: bounded by the same text."""
        return {"summary": self.text, "isError": self.is_error}

    def message(self) -> dict[str, Any]:
        """Without tools: a message of the user's, in `<python_result>`."""
        text = Bounded(f"<python_result>\n{self.text}\n</python_result>", self.text.clips)
        return {"role": "user", "content": [{"type": "text", "text": text}]}

    def tool_message(self, call_id: str, name: str = "run_python") -> dict[str, Any]:
        """With tools: the result of the call. `tool_result` lets its text pass."""
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
    tool: str | None = "run_python",
    call_id: str | None = None,
) -> RlmResult:
    """What a run printed (both ends of 8,000 characters) and gave back (the same), within 16,000 together."""
    chosen, clips = by or clipper(), []

    def cut(text: str, limit: int, source: str) -> str:
        if len(text) <= limit:
            return text
        clips.append(ends_of(chosen, limit, source).clip(text, tool=tool, call_id=call_id))
        return clips[-1].text

    printed = cut("\n".join(print_output), MAX_CHARS, "print output") if print_output else "(none)"
    given = cut(output, MAX_CHARS, "output") if output else "(empty)"
    text = cut(TEXT.format(calls=tool_calls, printed=printed, output=given), TOTAL_CHARS, "python result")
    return RlmResult(Bounded(text, clips))


def rlm_tool_result(
    text: str,
    *,
    is_error: bool = False,
    by: Clipper | None = None,
    tool: str | None = "run_python",
    call_id: str | None = None,
) -> RlmResult:
    """Any text as a Python result, an error for example: both ends of 16,000 characters."""
    if len(text) <= TOTAL_CHARS:
        return RlmResult(text if isinstance(text, Bounded) else Bounded(text), is_error)
    clips: list[Clip] = [ends_of(by or clipper(), TOTAL_CHARS, "python result").clip(text, tool=tool, call_id=call_id)]
    return RlmResult(Bounded(clips[0].text, clips), is_error)
