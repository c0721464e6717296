"""daycare: the last 8,000 characters of every text block, with what is missing counted and labelled."""

from __future__ import annotations

from collections.abc import Mapping

from spillover.data import replace
from spillover.errors import UsageError
from spillover.limits import Limits
from spillover.profiles.daycare_exec import EXEC_CHARS, exec_output, streams_of
from spillover.profiles.daycare_message import agent_message
from spillover.profiles.daycare_rlm import RlmResult, rlm_result, rlm_tool_result
from spillover.profiles.daycare_text import MAX_CHARS, TOTAL_CHARS, Bounded, clipper, form, head, head_tail, tail
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
    "agent_message",
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
    """The blocks of a result, bounded, and the facts of each cut."""

    def __init__(self, blocks: Sequence[Any], clips: Sequence[Clip]) -> None:
        super().__init__(blocks)
        self.clips = tuple(clips)

    @property
    def refs(self) -> tuple[str, ...]:
        """What the whole texts are stored under, for whoever wants to go back."""
        return tuple(clip.ref for clip in self.clips if clip.ref)


def tool_result(
    blocks: Sequence[Any], *, by: Clipper | None = None, tool: str | None = None, call_id: str | None = None
) -> Sequence[Any]:
    """The blocks of a result, each text within 8,000 characters and all of them within 16,000; the same object if they are.

    What `exec_output` and `rlm_result` made is bounded already, and passes (one of them; a second is a text like any).
    """
    if isinstance(blocks, (str, bytes, Mapping)):
        raise UsageError('tool_result takes a list of blocks, e.g. [{"type": "text", "text": "..."}].')
    texts = {number: text for number, block in enumerate(blocks) if (text := _text(block)) is not None}
    if len(texts) == 1 and not isinstance(only := next(iter(texts.values())), Bounded) and len(only) > MAX_CHARS:
        streams = streams_of(
            only
        )  # made elsewhere, or no longer a Bounded: cut as one text it would be no JSON any more
        if streams is not None and len(only) <= EXEC_CHARS:
            return blocks
        if streams is not None:
            cut = exec_output(streams["stdout"], streams["stderr"], as_json=True, by=by, tool=tool, call_id=call_id)
            return Result([block if _text(block) is None else _with_text(block, cut) for block in blocks], cut.clips)
    passed = [number for number, text in texts.items() if isinstance(text, Bounded)][-1:]
    sizes = {number: len(text) for number, text in texts.items() if number not in passed}
    rooms = _rooms(sizes)
    if rooms == sizes:
        return blocks
    chosen = by or clipper()
    label = "output" if len(texts) == 1 else "output block"
    clips: dict[int, Clip] = {}
    dropped = [number for number in sizes if number not in rooms]
    if dropped:
        whole = "\n".join(texts[number] for number in dropped)
        clips[dropped[0]] = _cut(whole, LEAST, f"{len(dropped):,} output blocks", chosen, tool, call_id)
    total = sum(map(len, texts.values()))
    for number, room in rooms.items():
        if room < sizes[number]:
            size = f"{sizes[number]:,} chars total" if label == "output" else f"{sizes[number]:,}/{total:,}"
            clips[number] = _cut(texts[number], room, f"{label} ({size})", chosen, tool, call_id)
    return Result(
        [
            _with_text(block, clips[number].text) if number in clips else block
            for number, block in enumerate(blocks)
            if number in clips or number not in dropped
        ],
        [clips[number] for number in sorted(clips)],
    )


def _rooms(sizes: Mapping[int, int]) -> dict[int, int]:
    """How much of each text is shown; one that is not here gives its place to those behind it."""
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


def _cut(text: str, room: int, label: str, by: Clipper, tool: str | None, call_id: str | None) -> Clip:
    return replace(by, limits=Limits(chars=room), wording=form(label)).clip(text, tool=tool, call_id=call_id)


def _text(block: Any) -> str | None:
    if isinstance(block, str):
        return block
    if isinstance(block, Mapping) and block.get("type") in TEXT_TYPES and isinstance(block.get("text"), str):
        text: str = block["text"]
        return text
    return None


def _with_text(block: Any, text: str) -> Any:
    return text if isinstance(block, str) else {**block, "text": text}
