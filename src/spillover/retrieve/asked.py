"""What models send, and what they mean by it: a range as a list or with a dash, the path of an output for its ref."""

from __future__ import annotations

from contextlib import suppress

from spillover.base.integers import spell_int
from spillover.errors import RefError, SpilloverError, UsageError
from spillover.notice.words import one_line
from spillover.retrieve.names import spell_range

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
QUOTED_CHARS = 40
#: Words of a sentence that is meant for a person at a shell.
SHELL = ("`spill ", "--all-scopes", "another folder", "is in neither")


def read_ref(ref: Any) -> Any:
    """Return a name without what models put around it."""
    return ref.strip().strip("\"'`") if isinstance(ref, str) else read_value("ref", ref, "string")


def read_range(value: Any, name: str = "lines") -> str | None:
    """Return a range as our own readers take it; UsageError, with an example, for what is none. An empty text is none given."""
    if value is None or value == "":
        return None
    text = spell_range(value)
    if text is None:
        raise UsageError(f"{name}={_quote(value)} is not a range; write {RANGE_EXAMPLES}.")
    return text


def _quote(value: Any) -> str:
    """Return a value as a refusal repeats it."""
    try:
        return repr(one_line(str(spell_int(value) if isinstance(value, int) else value), QUOTED_CHARS))
    except Exception:  # noqa: BLE001  somebody else's object, or one that contains itself
        return f"a {type(value).__name__}"


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
