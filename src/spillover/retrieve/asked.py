"""What models send, and what they mean by it: a range as a list or with a dash, the path of an output for its ref."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress

from spillover.base.integers import spell_int
from spillover.errors import RefError, SpilloverError, UsageError
from spillover.notice.words import one_line
from spillover.store.base import REF_SHAPE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: How a range is written, for a refusal.
RANGE_EXAMPLES = '"120:180", "120:+50" (50 from 120 on), "-50:" (the last 50), or [120, 180]'
#: A call of each tool, for a refusal.
CALLS = {
    "read_output": '(ref="last", lines="120:180")',
    "grep_output": '(ref="last", pattern="ERROR|FAILED", context=2)',
    "outline_output": '(ref="last")',
    "list_outputs": '(tool="bash")',
}
#: Arguments that are ranges.
RANGES = ("lines", "columns", "bytes")
#: What models send for yes and no.
BOOLEANS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
#: Words of a refusal that has an example in it.
SHOWING = ("for example", "e.g. ", "write ", "such as")
#: Signs between two numbers that stand for our colon: 1-3, 1..3, and the dashes of typography.
BETWEEN = ("..", "\N{EN DASH}", "\N{EM DASH}", "\N{FIGURE DASH}", "-")
#: Words around a number that say nothing: lines 1-3, #L1-L3.
AROUND = ("#", "lines", "line", "bytes", "columns", "l")
#: The names models give to the ends of a range.
ENDS = (("start", "end"), ("first", "last"), ("from", "to"), ("begin", "end"))
QUOTED_CHARS = 40
#: Words of a sentence that is meant for a person at a shell.
SHELL = ("`spill ", "--all-scopes", "another folder", "is in neither")
#: How a stored output is called outside of our own commands.
SCHEME = "spill://"


def read_ref(ref: Any) -> Any:
    """Return the ref that is meant: that in the path or the URI of an output, or the text that came."""
    if not isinstance(ref, str):
        return read_value("ref", ref, "string")
    text = ref.strip().strip("\"'`")
    if text.startswith(SCHEME):
        text = text.removeprefix(SCHEME)
    text, sign, fragment = text.partition("#")
    if sign:
        return f"{read_ref(text)}#{fragment}"
    if "/" in text or "\\" in text:
        name = text.replace("\\", "/").rpartition("/")[2]
        text = name if REF_SHAPE.fullmatch(_stem(name)) else text
    stem = _stem(text)
    return stem if REF_SHAPE.fullmatch(stem) else text


def _stem(name: str) -> str:
    for ending in (".zst", ".txt", ".json"):
        name = name.removesuffix(ending)
    return name


def read_range(value: Any, name: str = "lines") -> str | None:
    """Return a range as our own readers take it; UsageError, with an example, for what is none. An empty text is none given."""
    if value is None or value == "":
        return None
    try:
        text = _join(value)
    except RecursionError:  # it contains itself
        text = None
    if text is None or not _is_range(text):
        raise UsageError(f"{name}={_quote(value)} is not a range; write {RANGE_EXAMPLES}.")
    return text


def _quote(value: Any) -> str:
    """Return a value as a refusal repeats it."""
    try:
        return repr(one_line(str(spell_int(value) if isinstance(value, int) else value), QUOTED_CHARS))
    except Exception:  # noqa: BLE001  somebody else's object, or one that contains itself
        return f"a {type(value).__name__}"


def _join(value: Any) -> str | None:
    """Return a text with a colon between first and last."""
    if isinstance(value, str) and value.strip().startswith(("[", "{")):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return str(spell_int(int(value))) if value - value == 0 == value % 1 else None
    if isinstance(value, Mapping):
        return _join_ends(value)
    if isinstance(value, (list, tuple)):
        parts = ["" if one is None else _join(one) for one in value]
        return ":".join(map(str, parts)) if 1 <= len(parts) <= 2 and None not in parts else None
    return _join_text(value) if isinstance(value, str) else None


def _join_ends(value: Mapping[str, Any]) -> str | None:
    for first, last in ENDS:
        if value.keys() <= {first, last} and first in value:
            return _join([value[first], value.get(last)])
    if value.keys() == {"offset", "limit"}:
        offset, count = _join(value["offset"]), _join(value["limit"])
        return None if offset is None or count is None else f"{offset}:+{count}"
    return None


def _join_text(text: str) -> str:
    text = "".join(text.lower().split())
    for word in AROUND:
        text = text.removeprefix(word)
    text = text.replace("-l", "-").replace(":l", ":").replace("..l", "..")
    if ":" in text:
        return text
    for sign in BETWEEN:
        first, found, last = text.partition(sign)
        if found and first:  # a dash in front belongs to a number from the end
            return f"{first}:{last}"
    first, comma, last = text.partition(",")
    return f"{first}:{last}" if comma and len(last) != 3 else text  # 1,000 is a number


def _is_range(text: str) -> bool:
    digits = text.replace("_", "").replace(",", "")
    first, colon, last = digits.partition(":")
    ends = [first.removeprefix("-"), (last.removeprefix("+") if last.startswith("+") else last.removeprefix("-"))]
    return (
        any(ends)
        and all(end == "" or (end.isascii() and end.isdigit()) for end in ends)
        and (bool(colon) or ends[0] != "")
    )


def read_number(value: Any, name: str) -> int:
    """Return a whole number, which may come as text; UsageError for what is none."""
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        number = None
    is_other = isinstance(value, bool) or (not isinstance(value, str) and number != value)
    if number is None or is_other or isinstance(spell_int(number), str):
        raise UsageError(f"{name}={_quote(value)} is not a whole number.")
    return number


def read_value(name: str, value: Any, kind: str) -> Any:
    """Return an argument in the type it should have; a number sent as text, or text as a number, is what was meant."""
    if kind == "string" and isinstance(value, (str, int)) and not isinstance(value, bool):
        return str(spell_int(value) if isinstance(value, int) else value)
    if kind == "boolean" and isinstance(value, (str, int)):
        word = str(spell_int(value) if isinstance(value, int) else value).lower()
        if word in BOOLEANS:
            return BOOLEANS[word]
    if kind == "integer" and isinstance(value, (str, int, float)):
        with suppress(UsageError):
            return read_number(value, name)
    article = "an" if kind == "integer" else "a"
    raise UsageError(f"{name} is not {article} {kind}")


def word_for_models(error: SpilloverError, prefix: str = "", *, tool: str = "read_output") -> str:
    """Return an error in words for a model: its own next call, and no command of a shell that it may not have."""
    said = ". ".join(filter(None, map(_drop_commands, str(error).split(". "))))
    if not isinstance(error, RefError):
        shows = not isinstance(error, UsageError) or any(words in said for words in SHOWING)
        return said if shows else f"{said.rstrip('.')}; for example {prefix}{tool}{CALLS[tool]}."
    return (
        f'{said.rstrip(".")}. {prefix}list_outputs() shows what is stored; then e.g. {prefix}read_output(ref="last").'
    )


def _drop_commands(sentence: str) -> str:
    return "; ".join(part for part in sentence.split("; ") if not any(word in part for word in SHELL))
