"""What a command printed, for the model: the end of each stream, both of them there, as text or as JSON."""

from __future__ import annotations

from spillover.data import replace
from spillover.limits import Limits
from spillover.profiles.daycare_text import MAX_CHARS, TOTAL_CHARS, Bounded, clipper, form, tail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from spillover.clipper import Clipper

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
    """Both streams, each cut to its last 8,000 characters; with `as_json` an object of the two. `tool_result` lets it pass."""
    streams = {"stdout": stdout, "stderr": stderr}
    laid: Callable[[Mapping[str, str]], str] = _json
    if not as_json:
        streams = {name: text.rstrip() for name, text in streams.items() if text.strip()}
        laid = _text
    if not as_json and not streams:
        return Bounded(NOTHING[failed])
    room = _room(streams, laid)
    chosen, clips = by or clipper(), []
    for name, text in streams.items():
        if len(text) > room:
            cut = replace(chosen, limits=Limits(chars=room), wording=form(name))
            clips.append(cut.clip(stdout if name == "stdout" else stderr, tool=tool, call_id=call_id))
            streams[name] = tail(text, room, name)
    return Bounded(laid(streams), clips)


def streams_of(text: str) -> dict[str, str] | None:
    """The two streams of a text that is such an object, written by whomever; None when it is anything else."""
    import json

    if not text.lstrip().startswith("{"):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    streams = (
        isinstance(found, dict)
        and set(found) == {"stdout", "stderr"}
        and all(type(one) is str for one in found.values())
    )
    return found if streams else None


def _room(streams: Mapping[str, str], laid: Callable[[Mapping[str, str]], str]) -> int:
    """How much each stream may show. JSON writes some characters as several, so that there may be room for fewer."""
    low, high = 1, MAX_CHARS
    while low < high:
        middle = high if high == MAX_CHARS and low == 1 else (low + high + 1) // 2
        if len(laid({name: tail(text, middle, name) for name, text in streams.items()})) <= EXEC_CHARS:
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
