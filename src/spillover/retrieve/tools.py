"""Retrieval tools for a model: typed functions, their schemas, and calls by name. An error is an answer, too."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from spillover.document.document import cover_text
from spillover.errors import RefError, SpilloverError, UsageError
from spillover.events import record_retrieval, together
from spillover.journal import RETRIEVALS, Operation
from spillover.kinds.fit import trim
from spillover.kinds.selection import largest
from spillover.notice.hints import TOOLS, Hint
from spillover.notice.wording import lines_of, one_line
from spillover.result import Answer, Clip
from spillover.retrieve.grep import grep
from spillover.retrieve.names import expand_names, matches, quote
from spillover.retrieve.read import fill, read
from spillover.settings.limits import spell_int
from spillover.settings.settings import Call
from spillover.store.record import Record

#: Characters of an error, within the limits; more explain more, at a cost in tokens.
ERROR_CHARS = 400
#: An example of a call of each tool, for errors.
CALLS = {
    "read_output": '(ref="last", lines="120:180")',
    "grep_output": '(ref="last", pattern="ERROR|FAILED", context=2)',
    "outline_output": '(ref="last")',
    "list_outputs": '(tool="bash")',
}
#: The tool of each operation.
TOOL_OF = {
    "read": "read_output",
    "diff": "read_output",
    "grep": "grep_output",
    "outline": "outline_output",
    "list": "list_outputs",
}
#: Words that models use for the run before an output.
BEFORE = ("before", "previous", "last")


def tools(call: Call, hint: Hint = TOOLS, failed: Callable[[str], str] = str) -> list[Callable[..., str]]:
    """Return the tools as functions with the settings of a call; their answers name each other.

    `hint` has other names for them; `failed` is called with the words of an error.
    """
    call = call.with_settings(hints=hint)
    prefix = (hint.search or "").partition("grep_output")[0]

    def answer(operation: Operation, retrieve: Callable[[], str]) -> str:
        try:
            return retrieve()
        except SpilloverError as error:
            words = cover_text(call.settings, word_for_models(error, prefix, tool=TOOL_OF[operation]))
            words = trim(f"[{one_line(words, ERROR_CHARS)}]", call)
        record_retrieval(call, operation, words)
        return failed(words)

    def read_output(
        ref: str | list[str],
        lines: str | int | list[int] | None = None,
        columns: str | int | list[int] | None = None,
        bytes: str | int | list[int] | None = None,  # noqa: A002
        since: str | None = None,
    ) -> str:
        """Read part of a stored tool output.

        Args:
            ref: The name in the notice, or "last", "last:cargo test"; REF#/stdout for a value in JSON; "last:3",
                "all", the name of a tool or a list for several outputs. A name is e.g. bash-7f3a9c2e41d05b86.
            lines: A range: "120:180", "120:+50" (50 from 120 on), "-50:" (the last 50). Default: from the start.
            columns: A part of one line, e.g. lines="7", columns="4001:8000".
            bytes: Bytes instead of lines, with control characters visible.
            since: An earlier output, or "before": only what changed since.
        """

        def retrieve() -> str:
            names = _read_names(ref)
            if since:
                return _diff(call, names, _read_name(read_value("since", since, "string")))
            ranges: dict[str, Any] = {"lines": lines, "bytes_": bytes, "columns": columns}
            part = {name: value for name, value in ranges.items() if value not in (None, "")}
            return _answer_each(call, "read", names, lambda call, ref: read(call, ref, **part))

        return answer("diff" if since else "read", retrieve)

    def grep_output(
        ref: str | list[str],
        pattern: str,
        context: int = 0,
        ignore_case: bool = False,
        fixed: bool = False,
        start: str | int = "1",
    ) -> str:
        """Search stored tool outputs, line by line.

        Args:
            ref: As for read_output; one or several.
            pattern: A regular expression (no look-around, no backreferences).
            context: Lines to show around each match.
            ignore_case: Ignore case.
            fixed: Treat the pattern as plain text.
            start: The line to search from.
        """

        def retrieve() -> str:
            options: dict[str, Any] = {
                "context": read_value("context", context, "integer"),
                "ignore_case": read_value("ignore_case", ignore_case, "boolean"),
                "fixed": read_value("fixed", fixed, "boolean"),
                "start": read_value("start", start, "string"),
            }
            text = read_value("pattern", pattern, "string")
            names = _read_names(ref)
            return _answer_each(call, "grep", names, lambda call, ref: grep(call, ref, text, **options))

        return answer("grep", retrieve)

    def outline_output(ref: str) -> str:
        """Get a map of a stored tool output: sections, where failures cluster, what repeats, where to read next.

        Args:
            ref: As for read_output.
        """

        def retrieve() -> str:
            from spillover.retrieve.outline import outline

            return outline(call, _read_name(ref)).text

        return answer("outline", retrieve)

    def list_outputs(tool: str | None = None, query: str | None = None) -> str:
        """List the stored tool outputs, newest first.

        Args:
            tool: Only outputs of this tool.
            query: Only outputs of commands with these words, e.g. "cargo test".
        """

        def retrieve() -> str:
            name = None if tool is None else read_value("tool", tool, "string")
            words = "" if query is None else read_value("query", query, "string")
            text = _list(call, tool=name, query=words)
            record_retrieval(call, "list", text, clip=Clip(text, _count=call.settings.count))
            return text

        return answer("list", retrieve)

    return [read_output, grep_output, outline_output, list_outputs]


def _diff(call: Call, ref: Any, since: str) -> str:
    """Return the changes since an earlier output, or since the previous run of the same command."""
    from spillover.retrieve.diff import diff

    if not isinstance(ref, str) or expand_names(ref, call.settings.outputs) is not None:
        raise UsageError("since compares one output with an earlier one; name one ref.")
    return diff(call, ref, None if since.strip() in BEFORE else since).text


def _answer_each(call: Call, operation: Operation, names: Any, retrieve: Callable[[Call, str], Clip]) -> str:
    """Answer for one output, or for several of them, each under its name and in an equal part of the limits."""
    refs = expand_names(names, call.settings.outputs)
    if refs is None:
        return retrieve(call, names).text
    if not refs:
        raise RefError("Nothing is stored here yet.")
    share = replace(call, limits=call.limits.share(0.9 / len(refs)), trigger=None)
    answers: list[str] = []
    with together():
        for ref in refs:
            try:
                text = retrieve(share, ref).text
            except UsageError:
                if len(refs) <= 2:
                    raise
                raise UsageError(f"{len(refs)} outputs leave too little room for each; ask for fewer.") from None
            except SpilloverError as error:
                text = f"[{one_line(word_for_models(error), 200)}]"
            answers.append(f"== {ref}\n{text.rstrip()}\n")
    count = largest(len(answers), lambda number: fill("".join(answers[:number]), call))
    clip = Clip("".join(answers[:count]), _count=call.settings.count, _limits=call.limits)
    record_retrieval(call, operation, clip.text, clip=clip)
    return clip.text


def _list(call: Call, *, tool: str | None = None, query: str = "") -> str:
    """List as many stored outputs as fit, newest first, and their number."""
    call = call.within_budget()
    records, total = call.settings.outputs.newest()
    rows = [_row(record) for record in records if tool in (None, record.tool) and matches(record, query)]
    filtered = tool is not None or query != ""
    among = f" among the newest {len(records):,} of {total:,}" if filtered and total > len(records) else ""
    number = len(rows) if filtered else total

    def text(count: int) -> str:
        return f"{''.join(rows[:count])}[{count:,} of {number:,} stored output{'s' * (number != 1)}{among}.]"

    answer = text(largest(len(rows), lambda count: fill(text(count), call)))
    call.spend(answer)
    return answer


def _row(record: Record) -> str:
    part = ", in part" if record.partial else ""
    command = f": {one_line(record.command, 80)}" if record.command else ""
    return f"{record.ref} ({lines_of(record.lines)}, {record.bytes:,} bytes{part}){command}\n"


# The schemas

RANGE = "str | int | list[int] | None"
#: The JSON type of each annotation of our tools. A range may be a list, too, which the schema does not say.
TYPES = {
    "str": "string",
    "str | None": "string",
    "str | int": "string",
    "str | list[str]": "string",
    RANGE: "string",
    "int": "integer",
    "bool": "boolean",
}
#: The function that puts the name, the description and the schema of a tool into the shape of each API.
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
        "strict": False,  # a strict schema has no optional arguments
    },
    "anthropic": lambda name, about, schema: {"name": name, "description": about, "input_schema": schema},
}


def tool_specs(functions: Sequence[Callable[..., str]], style: str) -> list[dict[str, Any]]:
    """Return the tools in the shape of a request to a model."""
    if style not in STYLES:
        raise UsageError(f"style={style!r} is unknown; use {', '.join(STYLES)}.")
    return [STYLES[style](tool.__name__, about(tool), schema(tool)) for tool in functions]


def about(tool: Callable[..., str]) -> str:
    """Return the docstring of a tool without its arguments."""
    return (inspect.getdoc(tool) or "").partition("\n\nArgs:\n")[0]


def schema(tool: Callable[..., str]) -> dict[str, Any]:
    """Return the arguments of a tool as a JSON schema, from its signature and its docstring."""
    arguments = (inspect.getdoc(tool) or "").partition("\n\nArgs:\n")[2].replace("\n        ", " ")
    about = dict(re.findall(r"^    (\w+): (.+)$", arguments, re.MULTILINE))
    parameters = inspect.signature(tool).parameters
    return {
        "type": "object",
        "properties": {
            name: {"type": TYPES[parameter.annotation], "description": about[name]}
            for name, parameter in parameters.items()
        },
        "required": [name for name, parameter in parameters.items() if parameter.default is parameter.empty],
        "additionalProperties": False,
    }


# Calls by name


class _Refused(Exception):  # noqa: N818  it carries an answer
    """The words of an error, on their way out of a tool."""


def dispatch(call: Call, name: str, arguments: Mapping[str, Any] | str | None) -> Answer:
    """Answer a model's call of a tool by its name; a wrong call gets an explanation within the limits."""

    def refuse(words: str) -> str:
        raise _Refused(words)

    try:
        tool = _find_tool(tools(call, failed=refuse), name)
        return Answer(tool(**check_arguments(schema(tool), _read_arguments(arguments), name)))
    except _Refused as refused:
        return Answer(str(refused), is_error=True)
    except SpilloverError as error:
        words = str(error)
    except Exception as error:  # noqa: BLE001  an agent's loop must not end because of an odd call of its model
        words = f"{name} failed: {type(error).__name__}: {error}"
    words = trim(f"[{one_line(cover_text(call.settings, words), ERROR_CHARS)}]", call)
    record_retrieval(call, operation_of(name), words)
    return Answer(words, is_error=True)


def operation_of(name: str) -> Operation:
    """Return the operation of a tool in the journal; "read" for an unknown tool."""
    for word in RETRIEVALS:
        if word in str(name):
            return word  # type: ignore[return-value]
    return "read"


def _find_tool(functions: Sequence[Callable[..., str]], name: str) -> Callable[..., str]:
    for tool in functions:
        if tool.__name__ == name:
            return tool
    raise UsageError(f"unknown tool {quote(name)}; use {', '.join(tool.__name__ for tool in functions)}.")


def _read_arguments(arguments: Mapping[str, Any] | str | None) -> Mapping[str, Any]:
    """Return the arguments of a model as a mapping; models send an object, its JSON, or nothing."""
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


def check_arguments(schema: dict[str, Any], arguments: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the arguments of a call without empty ones; a UsageError has an example in it.

    Empty are null, and for an optional argument an empty text: some models send every argument.
    """
    properties = schema["properties"]
    required = schema["required"]
    plain_name = next((tool for tool in CALLS if name.endswith(tool)), name)
    example = f"for example {name}{CALLS.get(plain_name, '(...)')}"
    checked_arguments = {}
    for key, value in arguments.items():
        if key not in properties and value is not None:
            raise UsageError(f"unknown argument {quote(key)}; {name} takes {', '.join(properties)}; {example}.")
        if value is not None and (value != "" or key in required):
            checked_arguments[key] = value
    for key in required:
        if key not in checked_arguments:
            raise UsageError(f"the argument {key} is missing; {example}.")
    return checked_arguments


# Values and errors of a model

BOOLEANS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
#: Words that mark an error with an example in it.
EXAMPLE_WORDS = ("for example", "e.g. ", "write ", "such as")
#: Words that mark a sentence for a person at a shell.
SHELL_WORDS = ("`spill ", "--all-scopes", "another folder", "is in neither")


def read_value(name: str, value: Any, kind: str) -> Any:
    """Convert an argument to its type: models send numbers as text, and text as numbers."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = spell_int(value)
    if kind == "string" and isinstance(value, (str, int)) and not isinstance(value, bool):
        return str(value)
    if kind == "boolean" and isinstance(value, (str, int)) and str(value).lower() in BOOLEANS:
        return BOOLEANS[str(value).lower()]
    if kind == "integer" and isinstance(value, (str, int, float)) and not isinstance(value, bool):
        with suppress(ValueError, OverflowError):
            if isinstance(value, str) or int(value) == value:
                return int(value)
    article = "an" if kind == "integer" else "a"
    raise UsageError(f"{name}={quote(value)} is not {article} {kind}.")


def word_for_models(error: SpilloverError, prefix: str = "", *, tool: str = "read_output") -> str:
    """Return the words of an error for a model, with its next call and without commands of a shell."""
    words = ". ".join(filter(None, map(_drop_commands, str(error).split(". "))))
    if isinstance(error, RefError):
        next_call = f'{prefix}list_outputs() shows what is stored; then e.g. {prefix}read_output(ref="last").'
        return f"{words.rstrip('.')}. {next_call}"
    if not isinstance(error, UsageError) or any(example in words for example in EXAMPLE_WORDS):
        return words
    return f"{words.rstrip('.')}; for example {prefix}{tool}{CALLS[tool]}."


def _drop_commands(sentence: str) -> str:
    return "; ".join(part for part in sentence.split("; ") if not any(word in part for word in SHELL_WORDS))


def _read_names(ref: Any) -> Any:
    """Return a cleaned name, or a list of several."""
    if not isinstance(ref, (list, tuple)):
        return _read_name(ref)
    names = [_read_name(name) for name in ref]
    return names[0] if len(names) == 1 else names


def _read_name(ref: Any) -> Any:
    """Return a name without spaces and quotes around it."""
    return ref.strip().strip("\"'`") if isinstance(ref, str) else read_value("ref", ref, "string")
