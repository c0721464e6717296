"""The tools for going back as JSON schemas, and called by name: for people with a loop of their own."""

from __future__ import annotations

import inspect
import json
import re

from spillover.errors import SpilloverError, UsageError
from spillover.fit import beginning
from spillover.notice import one_line
from spillover.retrieve.tools import ERROR_CHARS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from spillover.choices import Choices

    Tool = Callable[..., str]

#: The types our tools have, as JSON has them. None is what is not given.
TYPES = {"str": "string", "str | None": "string", "int": "integer", "bool": "boolean"}

#: Name, description and schema of a tool, as an API wants to have them.
STYLES: dict[str, Callable[[str, str, dict[str, Any]], dict[str, Any]]] = {
    "openai": lambda name, about, schema: {
        "type": "function",
        "function": {"name": name, "description": about, "parameters": schema},
    },
    "openai-responses": lambda name, about, schema: {
        "type": "function",
        "name": name,
        "description": about,
        "parameters": schema,
        "strict": False,  # a strict one may leave nothing out
    },
    "anthropic": lambda name, about, schema: {"name": name, "description": about, "input_schema": schema},
}


def tool_specs(tools: Sequence[Tool], style: str) -> list[dict[str, Any]]:
    """The tools as a request to a model lists them."""
    if style not in STYLES:
        raise UsageError(f"style={style!r} is no way to list tools; use {', '.join(STYLES)}.")
    return [STYLES[style](tool.__name__, about(tool), schema(tool)) for tool in tools]


def about(tool: Tool) -> str:
    """What a tool says of itself, without its arguments."""
    return (inspect.getdoc(tool) or "").partition("\n\nArgs:\n")[0]


def schema(tool: Tool) -> dict[str, Any]:
    """The arguments of a tool, from its signature and its docs."""
    said = dict(re.findall(r"^ +(\w+): (.+)$", (inspect.getdoc(tool) or "").partition("\n\nArgs:\n")[2], re.MULTILINE))
    parameters = inspect.signature(tool).parameters.values()
    return {
        "type": "object",
        "properties": {one.name: {"type": TYPES[one.annotation], "description": said[one.name]} for one in parameters},
        "required": [one.name for one in parameters if one.default is one.empty],
        "additionalProperties": False,
    }


def dispatch(tools: Sequence[Tool], name: str, arguments: Mapping[str, Any] | str | None, choices: Choices) -> str:
    """The answer of the tool of this name. What is wrong with the call is answered, too, in words that fit."""
    try:
        tool = _named(tools, name)
        return tool(**checked(schema(tool), _read(arguments)))
    except SpilloverError as error:
        said = str(error)
    except Exception as error:  # noqa: BLE001  a loop must not end because its model asked for something odd
        said = f"{name} failed: {type(error).__name__}: {error}"
    return beginning(f"[{one_line(said, ERROR_CHARS)}]", choices)


def _named(tools: Sequence[Tool], name: str) -> Tool:
    for tool in tools:
        if tool.__name__ == name:
            return tool
    raise UsageError(f"there is no tool {_quoted(name)}; there are {', '.join(tool.__name__ for tool in tools)}.")


def _read(arguments: Mapping[str, Any] | str | None) -> Mapping[str, Any]:
    """As models give them: an object, the JSON of one, or nothing."""
    if isinstance(arguments, (str, bytes)):
        try:
            arguments = json.loads(arguments or "{}")
        except ValueError as error:
            raise UsageError(f"the arguments are no JSON: {error}.") from error
    if arguments is None:
        return {}
    if not isinstance(arguments, dict) and not hasattr(arguments, "keys"):
        raise UsageError("the arguments are no object.")
    return arguments  # type: ignore[return-value]


def checked(schema: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments in the types they should have; null is what is not given."""
    known = schema["properties"]
    for name in given:
        if name not in known:
            raise UsageError(f"there is no argument {_quoted(name)}; there are {', '.join(known)}.")
    for name in schema["required"]:
        if given.get(name) is None:
            raise UsageError(f"the argument {name} is missing.")
    return {name: _typed(name, value, known[name]["type"]) for name, value in given.items() if value is not None}


def _typed(name: str, value: Any, kind: str) -> Any:
    """A number where a text should be, and the other way round, is what was meant."""
    if kind == "string" and isinstance(value, (str, int)) and not isinstance(value, bool):
        return str(value)
    if kind == "boolean" and isinstance(value, bool):
        return value
    if kind == "integer" and isinstance(value, (str, int, float)) and not isinstance(value, bool):
        try:
            number = int(value)
        except (ValueError, OverflowError):
            number = None
        if number is not None and (isinstance(value, str) or number == value):
            return number
    raise UsageError(f"the argument {name} is no {kind}.")


def _quoted(name: object) -> str:
    return repr(one_line(str(name), 40))
