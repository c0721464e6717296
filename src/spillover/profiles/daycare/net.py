"""What the safety net recognises: the streams of a command, or a Python result, by the text itself.

Their parts were bounded one by one, and the plain cut to the last 8,000 characters would undo that. A text that was written
to JSON and read back, or got a line more, carries no mark but its own shape.
"""

from __future__ import annotations

from spillover.base.data import dataclass
from spillover.profiles.daycare.exec import EXEC_CHARS, exec_output
from spillover.profiles.daycare.rlm import DONE, TOOL, rlm_tool_result
from spillover.profiles.daycare.text import TOTAL_CHARS, Bounded, clipper, cut_tail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from spillover.clipper import Clipper

#: A harness may add so much before and behind; more behind is cut to that.
BEFORE, BEHIND = 512, 400
#: What is recognised and no longer than this passes unchanged.
PASSES = EXEC_CHARS + 1_024
STREAMS = ("stdout", "stderr")
PYTHON_OPENINGS = (f"{DONE}\n", "<python_result>\n")
#: What stands in the middle of a Python result that was cut, behind the first half.
PYTHON_CUT = ("\n\n... (", " chars truncated from python result) ...\n\n")


@dataclass(frozen=True, slots=True)
class Streams:
    """The streams of a command, and what a harness added."""

    streams: Mapping[str, str]
    as_json: bool
    before: str = ""
    behind: str = ""


def bound(text: str, *, by: Clipper | None, tool: str | None, call_id: str | None) -> Bounded | None:
    """Return a text whose parts were bounded one by one, bounded the same way; None when it is any other text."""
    streams = find_streams(text)
    if streams is None and not is_python(text, tool):
        return None
    if len(text) <= PASSES:
        return Bounded(text)
    if streams is None:
        result = rlm_tool_result(text, by=by, tool=tool, call_id=call_id)
        return Bounded(result.text, result.clips)
    stdout, stderr = (streams.streams.get(name, "") for name in STREAMS)
    out = exec_output(stdout, stderr, as_json=streams.as_json, by=by, tool=tool, call_id=call_id)
    behind = Bounded(streams.behind)
    if len(streams.behind) > BEHIND:
        behind = cut_tail(by or clipper(), streams.behind, BEHIND, "output", tool=tool, call_id=call_id)
    return Bounded(f"{streams.before}{out.text}{behind.text}", (*out.clips, *behind.clips))


def find_streams(text: str) -> Streams | None:
    """Return the streams of a text that `exec_output` wrote, or anybody else the same way; None when it is another text."""
    found = (_opening(text, f"{name}:\n") for name in STREAMS)
    at = min((place for place in found if place is not None), default=None)
    if at is None:
        return _find_json(text)
    first, label, rest = (
        text[at:].partition("\n\nstderr:\n") if text.startswith("stdout:\n", at) else (text[at:], "", "")
    )
    name, _, stream = first.partition(":\n")
    return Streams({name: stream} | ({"stderr": rest} if label else {}), as_json=False, before=text[:at])


def is_python(text: str, tool: str | None = None) -> bool:
    """Whether a text is a Python result: by the tool's name, by how it begins, or by where it was cut."""
    if tool == TOOL or any(_opening(text, words) is not None for words in PYTHON_OPENINGS):
        return True
    opens, closes = PYTHON_CUT
    half = TOTAL_CHARS // 2
    end = text.find(closes, half, half + 64)
    return text.startswith(opens, half) and text[half + len(opens) : max(end, 0)].replace(",", "").isdigit()


def _opening(text: str, words: str) -> int | None:
    """Where a line near the beginning starts with these words; None where none does."""
    at = 0 if text.startswith(words) else text.find(f"\n{words}", 0, BEFORE) + 1
    return at if at or text.startswith(words) else None


def _find_json(text: str) -> Streams | None:
    import json

    at = _opening(text, "{")
    if at is None or not text[at + 1 : at + BEFORE].lstrip().startswith(('"stdout"', '"stderr"')):
        return None
    try:
        found, end = json.JSONDecoder().raw_decode(text, at)
    except (ValueError, RecursionError):
        return None
    if set(found) != set(STREAMS) or not all(type(stream) is str for stream in found.values()):
        return None
    return Streams(found, as_json=True, before=text[:at], behind=text[end:])
