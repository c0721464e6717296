"""daycare: the last 8,000 characters of every text block, stream and Python result; what is missing is counted."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from spillover.api import Clipper
from spillover.document.document import Document
from spillover.errors import UsageError
from spillover.kinds.ends import MAX_CHAR_BYTES, both_ends, first_chars, keep_ends, last_chars
from spillover.kinds.selection import Fill, Span, join, largest, share_fairly
from spillover.notice.form import CutFacts, Form, HiddenPart, Segments, Words, lost_words
from spillover.profiles import has_whole_file, make
from spillover.result import Clip
from spillover.results.blocks import TEXT_TYPES
from spillover.settings.limits import Limits
from spillover.settings.settings import Call
from spillover.source.blob import Blob
from spillover.types import Keep, Selector

__all__ = [
    "MAX_CHARS",
    "TOTAL_CHARS",
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

MAX_CHARS = 8_000  # of a text block, of a stream, of either part of a Python result
TOTAL_CHARS = 16_000  # of all texts of a result: what two streams have, or a Python result
#: The same as settings, for `profile = "daycare"`.
SETTINGS = {"chars": MAX_CHARS, "keep": "tail"}

#: Two streams with their labels, notices and the marks of JSON.
EXEC_CHARS = TOTAL_CHARS + 1_024
NO_OUTPUT = {False: "Command completed with no output.", True: "Command failed with no output."}
EXEC_TOOL = "exec"
PYTHON_TOOL = "run_python"
PYTHON_TEXT = "Python execution completed.\n\nTool calls: {calls}\n\nPrint output:\n{printed}\n\nOutput:\n{output}"
#: A text of these two tools passes `tool_result` up to this size: a harness may have added a line to it.
MAX_BOUNDED_CHARS = EXEC_CHARS + 1_024

#: A block that is cut shows at least this much, so at most forty are cut, with notices of 4,096 characters in all.
MIN_BLOCK_CHARS = 400


class Bounded(Struct, frozen=True):
    """A text that is bounded, and the facts of each cut in it."""

    text: str
    clips: tuple[Clip, ...] = ()

    def __str__(self) -> str:
        return self.text

    @property
    def refs(self) -> tuple[str, ...]:
        """What the full texts are stored under, to go back to."""
        return _list_refs(self.clips)


class RlmResult(Struct, frozen=True):
    """A Python result, bounded; both modes of delivery have the same text."""

    text: str
    is_error: bool = False
    clips: tuple[Clip, ...] = ()

    @property
    def refs(self) -> tuple[str, ...]:
        """What the full texts are stored under."""
        return _list_refs(self.clips)

    @property
    def typed_result(self) -> dict[str, Any]:
        """The same bounded text, as other tools get it."""
        return {"summary": self.text, "isError": self.is_error}

    def message(self) -> dict[str, Any]:
        """Return it as a message of the user, in `<python_result>`, for a model without tools."""
        text = f"<python_result>\n{self.text}\n</python_result>"
        return {"role": "user", "content": [{"type": "text", "text": text}]}

    def tool_message(self, call_id: str, name: str = PYTHON_TOOL) -> dict[str, Any]:
        """Return it as the result of a call, for a model with tools. `tool_result` lets its text pass."""
        content = [{"type": "text", "text": self.text}]
        return {
            "role": "toolResult",
            "toolCallId": call_id,
            "toolName": name,
            "content": content,
            "isError": self.is_error,
        }


class Result(list):  # type: ignore[type-arg]  # blocks are of any shape
    """The bounded blocks of a result, and the facts of each cut."""

    def __init__(self, blocks: Sequence[Any], clips: Sequence[Clip]) -> None:
        super().__init__(blocks)
        self.clips = tuple(clips)

    @property
    def refs(self) -> tuple[str, ...]:
        """What the full texts are stored under, to go back to."""
        return _list_refs(self.clips)


def _list_refs(clips: Sequence[Clip]) -> tuple[str, ...]:
    return tuple(clip.ref for clip in clips if clip.ref)


def tail(text: str, limit: int, source: str = "") -> str:
    """Return the last `limit` characters, below a line that says how many are missing, and of which `source`."""
    missing = len(text) - _check(limit)
    return text if missing <= 0 else f"{_word_notice(missing, source)}\n{text[missing:]}"


def head_tail(text: str, limit: int, source: str = "") -> str:
    """Return `limit` characters of both ends, with how many are missing between; an odd one goes to the beginning."""
    missing = len(text) - _check(limit)
    if missing <= 0:
        return text
    head_chars = (limit + 1) // 2
    return f"{text[:head_chars]}{_set_between(_word_notice(missing, source))}{text[head_chars + missing :]}"


def head(text: str, limit: int) -> str:
    """Return the first `limit` characters, and dots where there are more."""
    return text if len(text) <= _check(limit) else f"{text[:limit]}..."


def _check(limit: int) -> int:
    if limit < 0:
        raise UsageError(f"limit={limit} is not a number of characters; use 0 or more.")
    return limit


def _word_notice(chars: int, source: str = "") -> str:
    """Return the notice: how many characters are missing, and of what."""
    return f"... ({chars:,} chars truncated{f' from {source}' if source else ''})"


def _set_between(notice: str) -> str:
    """Return a notice as it stands between two parts."""
    return f"\n\n{notice} ...\n\n"


def clipper(
    *, source: str | None = None, place: bool = True, keep: Keep | Selector = "tail", **options: Any
) -> Clipper:
    """Return a Clipper that truncates as daycare does, and adds where the full output is, unless `place=False`."""
    return make({"limits": Limits(chars=MAX_CHARS), "keep": keep, "wording": form(source, place=place)}, options)


def form(source: str | None = None, *, place: bool = False, segments: Segments = ()) -> Form:
    """Return its notice; without a source, that of a result with one text: "output (12,345 chars total)".

    With the `segments` of a command's streams, each notice says of which stream something is missing.
    """

    def for_streams(segments: Segments, blob: Blob, call: Call) -> Call:
        """Return the call that cuts each stream of a command by itself, to the characters that one text may have."""
        chars = call.limits.chars
        if chars is None or call.settings.keep != "tail" or len({name for name, _ in segments}) < 2:
            return call
        ranges = [place for ranges in _find_tails(segments, blob, chars).values() for place in ranges]
        total = sum(len(blob.read(start, end).decode("utf-8", "replace")) for start, end in ranges)
        limits = replace(call.limits, chars=max(total, chars))
        wording = form(source, place=place, segments=tuple(segments))
        return call.with_settings(limits=limits, keep=_keep_tails(segments, chars), wording=wording)

    def words(cut: CutFacts) -> Words:
        location = f"full output: {cut.place}" if has_whole_file(cut) else lost_words(cut)
        full = f"; {location}" if place else ""
        label = source or f"output ({cut.total.chars:,} chars total)"
        opens = bool(cut.before.bytes)
        closes = bool(cut.behind.bytes)
        if segments:
            return _word_streams(cut, segments, label, full)
        if opens + closes + max(0, len(cut.parts) - 1) <= 1:  # one gap: the notice stands there
            notice = _word_notice(cut.hidden.chars, f"{label}{full}")
            closing = _set_between(notice) if cut.keep == "ends" else f"\n{notice}"
            return f"{notice}\n" * opens, _set_between(notice), closing * closes

        def gap(missing: HiddenPart) -> str:
            return _set_between(_word_notice(missing.chars))

        notice = _word_notice(cut.hidden.chars, f"{label}, in all{full}")
        return f"{notice}\n{gap(cut.before) * opens}", gap, gap(cut.behind).rstrip() * closes

    cuts = {"tail": last_chars, "ends": both_ends, "head": first_chars}
    return Form(words, cuts, for_streams=None if segments else for_streams)


def _word_streams(cut: CutFacts, segments: Segments, label: str, full: str) -> Words:
    """Return the notices for streams that were cut each by itself; `full` is the place of all, in the first of them."""
    bounds = [*accumulate((size for _, size in segments), initial=0)]

    def name_streams(missing: HiddenPart) -> str:
        inside = segments[bisect_right(bounds, missing.start) - 1 : bisect_left(bounds, missing.end)]
        return " and ".join(sorted({name for name, _ in inside}, reverse=True))

    opening = ""
    place_in_gap = ""
    if cut.before.bytes:
        opening = f"{_word_notice(cut.before.chars, name_streams(cut.before) + full)}\n"
    elif len(cut.parts) == 2:  # one gap, with the only notice
        place_in_gap = full
    else:
        opening = f"{_word_notice(cut.hidden.chars, f'{label}, in all{full}')}\n"

    def gap(missing: HiddenPart) -> str:
        return _set_between(_word_notice(missing.chars, name_streams(missing) + place_in_gap))

    return opening, gap, ""


def _keep_tails(segments: Segments, chars: int) -> Selector:
    """Return a selector of the last characters of each stream: `chars` of each, or as many as fit."""

    def select(document: Document, fill: Fill) -> Sequence[Span]:
        def spans(room: int) -> Sequence[Span]:
            tails = _find_tails(segments, document.blob, room)
            return join([Span(start, end) for places in tails.values() for start, end in places])

        if document.gap[0] < document.gap[1]:  # only both ends could be kept
            return keep_ends(0.0)(document, fill)
        room = chars if fill(spans(chars)) <= 1 else largest(chars, lambda room: fill(spans(room)))
        return spans(room)

    return select


def _find_tails(segments: Segments, blob: Blob, chars: int) -> dict[str, list[tuple[int, int]]]:
    """Return the byte ranges of the last characters of each stream, from the last to the first."""
    places: dict[str, list[tuple[int, int]]] = {name: [] for name, _ in segments}
    room = dict.fromkeys(places, chars)
    end = sum(size for _, size in segments)
    for name, size in reversed(segments):
        if room[name] > 0:
            start = max(end - size, end - MAX_CHAR_BYTES * room[name])
            data = blob.read(start, end)
            begins = [at for at, byte in enumerate(data) if byte & 0xC0 != 0x80]
            first = begins[-room[name] :][:1]
            if start == end - size and len(begins) <= room[name]:
                first = [0]
            places[name].append((start + (first[0] if first else 0), end))
            room[name] -= len(begins)
        end -= size
    return places


def _cut(
    by: Clipper | None, keep: Keep, text: str, limit: int, source: str, *, tool: str | None, call_id: str | None
) -> Bounded:
    """Store a text, and return a part of it with the facts of the cut."""
    cutter = (by or clipper()).but(Limits(chars=limit), keep=keep, wording=form(source))
    clip = cutter.clip(text, tool=tool, call_id=call_id)
    return Bounded(clip.text, (clip,))


def exec_output(
    stdout: str,
    stderr: str,
    *,
    as_json: bool = False,
    failed: bool = False,
    by: Clipper | None = None,
    tool: str | None = EXEC_TOOL,
    call_id: str | None = None,
) -> Bounded:
    """Return both streams, each cut to its last 8,000 characters; with `as_json`, as an object of the two."""
    streams = {"stdout": stdout, "stderr": stderr}
    lay_out: Callable[[Mapping[str, str]], str] = _to_json
    if not as_json:
        streams = {name: text for name, text in streams.items() if text.strip()}
        lay_out = _to_text
    if not as_json and not streams:
        return Bounded(NO_OUTPUT[failed])
    room = _find_room(streams, lay_out)
    clips: list[Clip] = []
    for name, text in streams.items():
        if len(text) > room:
            clips += _cut(by, "tail", text, room, name, tool=tool, call_id=call_id).clips
            streams[name] = tail(text, room, name)
    return Bounded(lay_out(streams), tuple(clips))


def _find_room(streams: Mapping[str, str], lay_out: Callable[[Mapping[str, str]], str]) -> int:
    """Return the characters that each stream may show: fewer where JSON writes a character as several."""
    low = 1
    high = MAX_CHARS
    while low < high:
        middle = high if high == MAX_CHARS and low == 1 else (low + high + 1) // 2
        if len(lay_out({name: tail(text, middle, name) for name, text in streams.items()})) <= EXEC_CHARS:
            low = middle
        else:
            high = middle - 1
    return low


def _to_text(streams: Mapping[str, str]) -> str:
    return "\n\n".join(f"{name}:\n{text}" for name, text in streams.items())


def _to_json(streams: Mapping[str, str]) -> str:
    text = json.dumps(streams, indent=2, ensure_ascii=False)
    if text.isascii():
        return text
    # A lone surrogate has no UTF-8; as an escape it has.
    return "".join(f"\\u{ord(char):04x}" if "\ud800" <= char <= "\udfff" else char for char in text)


def rlm_result(
    print_output: Sequence[str],
    output: str,
    *,
    tool_calls: int = 0,
    by: Clipper | None = None,
    tool: str | None = PYTHON_TOOL,
    call_id: str | None = None,
) -> RlmResult:
    """Return the output and the result of a run: both ends of 8,000 characters of each, 16,000 together."""
    clips: list[Clip] = []

    def cut(text: str, limit: int, source: str) -> str:
        if len(text) <= limit:
            return text
        part = _cut(by, "ends", text, limit, source, tool=tool, call_id=call_id)
        clips.extend(part.clips)
        return part.text

    printed = cut("\n".join(print_output), MAX_CHARS, "print output") if print_output else "(none)"
    returned = cut(output, MAX_CHARS, "output") if output else "(empty)"
    text = cut(PYTHON_TEXT.format(calls=tool_calls, printed=printed, output=returned), TOTAL_CHARS, "python result")
    return RlmResult(text, clips=tuple(clips))


def rlm_tool_result(
    text: str,
    *,
    is_error: bool = False,
    by: Clipper | None = None,
    tool: str | None = PYTHON_TOOL,
    call_id: str | None = None,
) -> RlmResult:
    """Return any text as a Python result, an error for example: both ends of 16,000 characters."""
    if len(text) <= TOTAL_CHARS:
        return RlmResult(text, is_error)
    result = _cut(by, "ends", text, TOTAL_CHARS, "python result", tool=tool, call_id=call_id)
    return RlmResult(result.text, is_error, result.clips)


def tool_result(blocks: Any, *, by: Clipper | None = None, tool: str | None = None, call_id: str | None = None) -> Any:
    """Bound the blocks of a result, or a whole message: each text to 8,000 characters, all of them to 16,000.

    Returns the same object when nothing is cut. With `tool="exec"` or `tool="run_python"`, or a message that has one of
    them as `toolName`, the last long text was bounded part by part already, and passes; of a longer Python result, both
    ends stay. The other texts share what that leaves of the 16,000 characters, 400 at least.
    """
    if isinstance(blocks, Mapping) and isinstance(blocks.get("content"), list):
        call = {"tool": tool or blocks.get("toolName"), "call_id": call_id or blocks.get("toolCallId")}
        content = tool_result(blocks["content"], by=by, **call)
        return blocks if content is blocks["content"] else {**blocks, "content": content}
    if isinstance(blocks, (str, bytes, Mapping)):
        raise UsageError('tool_result takes a list of blocks, e.g. [{"type": "text", "text": "..."}], or a message.')
    texts = {number: text for number, block in enumerate(blocks) if (text := _get_text(block)) is not None}
    cuts: dict[int, Bounded] = {}
    last_long = max((number for number, text in texts.items() if len(text) > MAX_CHARS), default=None)
    if last_long is not None and tool in (EXEC_TOOL, PYTHON_TOOL):
        text = texts[last_long]
        if len(text) <= MAX_BOUNDED_CHARS:
            cuts[last_long] = Bounded(text)
        elif tool == PYTHON_TOOL:
            cuts[last_long] = _cut(by, "ends", text, TOTAL_CHARS, "python result", tool=tool, call_id=call_id)
    sizes = {number: len(text) for number, text in texts.items() if number not in cuts}
    passing = sum(min(len(cut.text), TOTAL_CHARS) for cut in cuts.values())
    rooms = _share_room(sizes, max(TOTAL_CHARS - passing, MIN_BLOCK_CHARS))
    if rooms == sizes and not any(cut.clips for cut in cuts.values()):
        return blocks
    label = "output" if len(texts) == 1 else "output block"
    without_room = [number for number in sizes if number not in rooms]
    if without_room:
        whole = "\n".join(texts[number] for number in without_room)
        source = f"{len(without_room):,} output blocks"
        cuts[without_room[0]] = _cut(by, "tail", whole, MIN_BLOCK_CHARS, source, tool=tool, call_id=call_id)
    total = sum(map(len, texts.values()))
    for number, room in rooms.items():
        if room < sizes[number]:
            size = f"{sizes[number]:,} chars total" if label == "output" else f"{sizes[number]:,}/{total:,}"
            source = f"{label} ({size})"
            cuts[number] = _cut(by, "tail", texts[number], room, source, tool=tool, call_id=call_id)
    return Result(
        [
            _with_text(block, cuts[number].text) if number in cuts else block
            for number, block in enumerate(blocks)
            if number in cuts or number not in without_room
        ],
        [clip for number in sorted(cuts) for clip in cuts[number].clips],
    )


def _share_room(sizes: Mapping[int, int], total: int) -> dict[int, int]:
    """Return the characters to show of each text, `total` in all; without room for all, the first ones have none."""
    needs = {number: min(size, MAX_CHARS) for number, size in sizes.items()}
    smallest = {number: min(need, MIN_BLOCK_CHARS) for number, need in needs.items()}
    room = total if sum(smallest.values()) <= total else total - MIN_BLOCK_CHARS
    numbers: list[int] = []
    left = room
    for number in reversed(needs):  # what comes last says most
        left -= smallest[number]
        if left < 0:
            break
        numbers.insert(0, number)
    shares = share_fairly(room, [needs[number] for number in numbers], [1] * len(numbers))
    return dict(zip(numbers, shares, strict=True))


def _get_text(block: Any) -> str | None:
    if isinstance(block, str):
        return block
    text = block.get("text") if isinstance(block, Mapping) and block.get("type") in TEXT_TYPES else None
    return text if isinstance(text, str) else None


def _with_text(block: Any, text: str) -> Any:
    return text if isinstance(block, str) else {**block, "text": text}
