"""What a call asks for, by its arguments: the query of its result. Bounded, and kept nowhere."""

from __future__ import annotations

from collections.abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Of all arguments so much is read, of one so much, and so many of them.
CHARS, ONE, MOST = 4_000, 1_000, 64
DEEP = 5
#: Arguments that say how, not what; the command is told by itself.
HOW = frozenset(
    ("command", "cwd", "timeout", "output_mode", "content", "new_string", "old_string", "limit", "head_limit", "run_in_background")
)  # fmt: skip


def query_of(arguments: Any) -> str:
    """Return the words of a call's arguments: a pattern, a path, a description; "" where there are none."""
    if isinstance(arguments, str):  # as JSON, or a text of its own
        arguments = _parsed(arguments)
    said: list[str] = []
    _collect(arguments, said, 0)
    return " ".join(said)[:CHARS]


def _parsed(text: str) -> Any:
    if len(text) <= CHARS and text.lstrip()[:1] in ("{", "["):
        import json  # whoever calls tools has it already

        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text


def _collect(value: Any, said: list[str], deep: int) -> None:
    if len(said) >= MOST or deep > DEEP:
        return
    if isinstance(value, str):
        said.append(value[:ONE])
    elif isinstance(value, Mapping):
        for key, inner in list(value.items())[:MOST]:
            if key not in HOW:
                _collect(inner, said, deep + 1)
    elif isinstance(value, (list, tuple)):
        for inner in value[:MOST]:
            _collect(inner, said, deep + 1)
