"""The tools for going back as JSON schemas, and calls of them by name: for people with a loop of their own."""

from __future__ import annotations

import inspect
import json
import re

from msgspec import Struct

from spillover.errors import SpilloverError, UsageError
from spillover.events import record_retrieval
from spillover.journal import RETRIEVALS
from spillover.notice.words import one_line
from spillover.retrieve.asked import CALLS, RANGES, read_value
from spillover.retrieve.tools import ERROR_CHARS, tools
from spillover.show.fit import trim

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from spillover.choices import Choices
    from spillover.journal import Operation

    Tool = Callable[..., str]

#: The types our tools have, as JSON has them. None is what is not given. A range may come as a list too, which is not advertised.
RANGE = "str | int | list[int] | None"
TYPES = {
    "str": "string",
    "str | None": "string",
    "str | int": "string",
    "str | list[str]": "string",
    RANGE: "string",
    "int": "integer",
    "bool": "boolean",
}
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


def tool_specs(offered: Sequence[Tool], style: str) -> list[dict[str, Any]]:
    """Return the tools as a request to a model lists them."""
    if style not in STYLES:
        raise UsageError(f"style={style!r} is unknown; use {', '.join(STYLES)}.")
    return [STYLES[style](tool.__name__, about(tool), schema(tool)) for tool in offered]


def about(tool: Tool) -> str:
    """Return what a tool says about itself, without its arguments."""
    return (inspect.getdoc(tool) or "").partition("\n\nArgs:\n")[0]


def schema(tool: Tool) -> dict[str, Any]:
    """Return the arguments of a tool, from its signature and its docs, as a JSON schema."""
    said = dict(re.findall(r"^ +(\w+): (.+)$", (inspect.getdoc(tool) or "").partition("\n\nArgs:\n")[2], re.MULTILINE))
    parameters = inspect.signature(tool).parameters.values()
    return {
        "type": "object",
        "properties": {one.name: {"type": TYPES[one.annotation], "description": said[one.name]} for one in parameters},
        "required": [one.name for one in parameters if one.default is one.empty],
        "additionalProperties": False,
    }


class Answer(Struct, frozen=True):
    """The answer to a model's call: the `text` to send back, and whether it says that something is wrong with the call."""

    text: str
    is_error: bool = False

    def __str__(self) -> str:
        return self.text


class Refused(Exception):  # noqa: N818  it carries an answer
    """A call that could not be answered, in words for the model that fit."""


def dispatch(choices: Choices, name: str, arguments: Mapping[str, Any] | str | None) -> Answer:
    """Answer a model's call of one of the tools by its name. What is wrong with the call is answered, too, in words that fit."""

    def refuse(words: str) -> str:
        raise Refused(words)

    try:
        tool = _find(tools(choices, failed=refuse), name)
        return Answer(tool(**check_arguments(schema(tool), _read(arguments), name)))
    except Refused as refused:
        return Answer(str(refused), is_error=True)
    except SpilloverError as error:
        said = str(error)
    except Exception as error:  # noqa: BLE001  a loop must not end because its model asked for something odd
        said = f"{name} failed: {type(error).__name__}: {error}"
    words = trim(f"[{one_line(choices.cover_text(said), ERROR_CHARS)}]", choices)
    record_retrieval(choices, operation_of(name), words)
    return Answer(words, is_error=True)


def operation_of(name: str) -> Operation:
    """Return what a tool of ours does, in the word that the journal has for it."""
    for word in RETRIEVALS:
        if word in str(name):
            return word  # type: ignore[return-value]  # one of the words
    return "read"


def _find(offered: Sequence[Tool], name: str) -> Tool:
    for tool in offered:
        if tool.__name__ == name:
            return tool
    raise UsageError(f"unknown tool {_quote(name)}; use {', '.join(tool.__name__ for tool in offered)}.")


def _read(arguments: Mapping[str, Any] | str | None) -> Mapping[str, Any]:
    """Return arguments as models send them, an object, the JSON of one, or nothing, as an object."""
    if isinstance(arguments, (str, bytes)):
        try:
            arguments = json.loads(arguments or "{}")
        except ValueError as error:
            raise UsageError(
                f'the arguments are not JSON ({error}); send an object such as {{"ref": "last"}}.'
            ) from error
    if arguments is None:
        return {}
    if not isinstance(arguments, dict) and not hasattr(arguments, "keys"):
        raise UsageError('the arguments are not an object; send one such as {"ref": "last"}.')
    return arguments  # type: ignore[return-value]


def check_arguments(schema: dict[str, Any], given: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the arguments in the types they should have. A refusal has an example in it.

    What is null is not given, and neither is an empty text for what may be left out: some models send every argument.
    """
    known = schema["properties"]
    given = {key: value for key, value in given.items() if value is not None}
    given = {key: value for key, value in given.items() if value != "" or key in schema["required"] or key not in known}
    example = f"for example {name}{CALLS.get(_plain_name(name), '(...)')}"
    for key in given:
        if key not in known:
            raise UsageError(f"unknown argument {_quote(key)}; {name} takes {', '.join(known)}; {example}.")
    for key in schema["required"]:
        if key not in given:
            raise UsageError(f"the argument {key} is missing; {example}.")
    try:
        return {
            key: value if _takes_list(key, value) else read_value(key, value, known[key]["type"])
            for key, value in given.items()
        }
    except UsageError as error:
        raise UsageError(f"the argument {error}; {example}.") from None


def _takes_list(name: str, value: Any) -> bool:
    """Return whether the tool itself reads this argument, which may be a list."""
    return name in RANGES or (name == "ref" and isinstance(value, list))


def _plain_name(name: str) -> str:
    """Return our name of a tool that may have a prefix."""
    return next((known for known in CALLS if name.endswith(known)), name)


def _quote(name: object) -> str:
    return repr(one_line(str(name), 40))
