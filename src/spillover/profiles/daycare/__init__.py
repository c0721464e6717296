"""daycare: the last 8,000 characters of every text block, with what is missing counted and labelled."""

from __future__ import annotations

from collections.abc import Mapping

from spillover.errors import UsageError
from spillover.profiles.daycare.exec import exec_output
from spillover.profiles.daycare.net import bound
from spillover.profiles.daycare.rlm import RlmResult, rlm_result, rlm_tool_result
from spillover.profiles.daycare.text import (
    MAX_CHARS,
    TOTAL_CHARS,
    Bounded,
    clipper,
    cut_tail,
    form,
    head,
    head_tail,
    tail,
)
from spillover.select.ends import fair

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from spillover.clipper import Clipper
    from spillover.result import Clip

__all__ = [
    "Bounded",
    "Result",
    "RlmResult",
    "clipper",
    "exec_output",
    "form",
    "head",
    "head_tail",
    "rlm_result",
    "rlm_tool_result",
    "tail",
    "tool_result",
]

#: The same as settings, for `profile = "daycare"`.
SETTINGS = {"chars": MAX_CHARS, "keep": "tail"}
TEXT_TYPES = frozenset({"text", "input_text", "output_text"})
#: A block that is cut shows so much at least, so no more than forty are cut, and their words stay few.
LEAST = 400
MOST_CUT = TOTAL_CHARS // LEAST
#: What the words of all cuts of a result may add to TOTAL_CHARS.
WORDS_CHARS = 4_096


class Result(list):  # type: ignore[type-arg]  # blocks are of any shape
    """The bounded blocks of a result, and the facts of each cut."""

    def __init__(self, blocks: Sequence[Any], clips: Sequence[Clip]) -> None:
        super().__init__(blocks)
        self.clips = tuple(clips)

    @property
    def refs(self) -> tuple[str, ...]:
        """What the full texts are stored under, to go back to."""
        return tuple(clip.ref for clip in self.clips if clip.ref)


def tool_result(blocks: Any, *, by: Clipper | None = None, tool: str | None = None, call_id: str | None = None) -> Any:
    """Bound the blocks of a result, or a whole message: each text to 8,000 characters, all of them to 16,000.

    Returns the same object when nothing is cut. A Python result, or the streams of a command, was bounded part by part,
    and passes or is cut that way again (one of them, the last; another one is a text like any).
    """
    if isinstance(blocks, Mapping) and isinstance(blocks.get("content"), list):
        known = {"tool": tool or blocks.get("toolName"), "call_id": call_id or blocks.get("toolCallId")}
        content = tool_result(blocks["content"], by=by, **known)
        return blocks if content is blocks["content"] else {**blocks, "content": content}
    if isinstance(blocks, (str, bytes, Mapping)):
        raise UsageError('tool_result takes a list of blocks, e.g. [{"type": "text", "text": "..."}], or a message.')
    texts = {number: text for number, block in enumerate(blocks) if (text := _text(block)) is not None}
    cuts: dict[int, Bounded] = {}
    for number in reversed(texts):
        found = bound(texts[number], by=by, tool=tool, call_id=call_id) if len(texts[number]) > MAX_CHARS else None
        if found is not None:
            cuts[number] = found
            break
    sizes = {number: len(text) for number, text in texts.items() if number not in cuts}
    rooms = _share_room(sizes)
    if rooms == sizes and not any(cut.clips for cut in cuts.values()):
        return blocks
    chosen = by or clipper()
    label = "output" if len(texts) == 1 else "output block"
    dropped = [number for number in sizes if number not in rooms]
    if dropped:
        whole = "\n".join(texts[number] for number in dropped)
        cuts[dropped[0]] = cut_tail(chosen, whole, LEAST, f"{len(dropped):,} output blocks", tool=tool, call_id=call_id)
    total = sum(map(len, texts.values()))
    for number, room in rooms.items():
        if room < sizes[number]:
            size = f"{sizes[number]:,} chars total" if label == "output" else f"{sizes[number]:,}/{total:,}"
            cuts[number] = cut_tail(chosen, texts[number], room, f"{label} ({size})", tool=tool, call_id=call_id)
    return Result(
        [
            _with_text(block, cuts[number].text) if number in cuts else block
            for number, block in enumerate(blocks)
            if number in cuts or number not in dropped
        ],
        [clip for number in sorted(cuts) for clip in cuts[number].clips],
    )


def _share_room(sizes: Mapping[int, int]) -> dict[int, int]:
    """Return how much of each text is shown; one that is left out makes room for those behind it."""
    wanted = {number: min(size, MAX_CHARS) for number, size in sizes.items()}
    least = sum(min(size, LEAST) for size in wanted.values())
    room = TOTAL_CHARS if least <= TOTAL_CHARS else TOTAL_CHARS - LEAST
    kept: list[int] = []
    left = room
    for number in reversed(wanted):  # what comes last says most
        left -= min(wanted[number], LEAST)
        if left < 0:
            break
        kept.append(number)
    kept.reverse()
    return dict(zip(kept, fair(room, [wanted[number] for number in kept], [1] * len(kept)), strict=True))


def _text(block: Any) -> str | None:
    if isinstance(block, str):
        return block
    if isinstance(block, Mapping) and block.get("type") in TEXT_TYPES and isinstance(block.get("text"), str):
        text: str = block["text"]
        return text
    return None


def _with_text(block: Any, text: str) -> Any:
    return text if isinstance(block, str) else {**block, "text": text}
