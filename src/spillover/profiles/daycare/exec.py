"""What a command printed, for the model: the end of each stream, as text or as JSON."""

from __future__ import annotations

from spillover.profiles.daycare.text import MAX_CHARS, TOTAL_CHARS, Bounded, clipper, cut_tail, tail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from spillover.clipper import Clipper
    from spillover.result import Clip

#: What labels, words and the marks of JSON may add to the two streams.
AROUND = 1_024
EXEC_CHARS = TOTAL_CHARS + AROUND
NOTHING = {False: "Command completed with no output.", True: "Command failed with no output."}


def exec_output(
    stdout: str,
    stderr: str,
    *,
    as_json: bool = False,
    failed: bool = False,
    by: Clipper | None = None,
    tool: str | None = "exec",
    call_id: str | None = None,
) -> Bounded:
    """Return both streams, each cut to its last 8,000 characters; with `as_json`, as an object of the two."""
    streams = {"stdout": stdout, "stderr": stderr}
    lay_out: Callable[[Mapping[str, str]], str] = _json
    if not as_json:
        streams = {name: text for name, text in streams.items() if text.strip()}
        lay_out = _text
    if not as_json and not streams:
        return Bounded(NOTHING[failed])
    room = _find_room(streams, lay_out)
    clips: list[Clip] = []
    for name, text in streams.items():
        if len(text) > room:
            clips += cut_tail(by or clipper(), text, room, name, tool=tool, call_id=call_id).clips
            streams[name] = tail(text, room, name)
    return Bounded(lay_out(streams), tuple(clips))


def _find_room(streams: Mapping[str, str], lay_out: Callable[[Mapping[str, str]], str]) -> int:
    """Return how much each stream may show: less where JSON writes a character as several."""
    low, high = 1, MAX_CHARS
    while low < high:
        middle = high if high == MAX_CHARS and low == 1 else (low + high + 1) // 2
        if len(lay_out({name: tail(text, middle, name) for name, text in streams.items()})) <= EXEC_CHARS:
            low = middle
        else:
            high = middle - 1
    return low


def _text(streams: Mapping[str, str]) -> str:
    return "\n\n".join(f"{name}:\n{text}" for name, text in streams.items())


def _json(streams: Mapping[str, str]) -> str:
    import json

    text = json.dumps(streams, indent=2, ensure_ascii=False)
    if text.isascii():
        return text
    # Half a character has no UTF-8: as an escape it has.
    return "".join(f"\\u{ord(char):04x}" if "\ud800" <= char <= "\udfff" else char for char in text)
