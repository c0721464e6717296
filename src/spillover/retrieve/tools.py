"""Going back, as plain typed functions for a model to call. They answer in words, even when something is wrong."""

from __future__ import annotations

from msgspec.structs import replace

from spillover.errors import SpilloverError, UsageError
from spillover.events import record_retrieval, together
from spillover.notice.hints import TOOLS, Hint
from spillover.notice.words import one_line
from spillover.result import Clip
from spillover.retrieve import look
from spillover.retrieve.asked import read_number, read_range, read_ref, read_value, word_for_models
from spillover.retrieve.names import find_each
from spillover.retrieve.several import each
from spillover.show.fit import trim

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from spillover.choices import Choices
    from spillover.journal import Operation

#: The most characters of an error; fewer where limits are smaller.
ERROR_CHARS = 400
#: The tool that does each.
TOOL_OF = {
    "read": "read_output",
    "diff": "read_output",
    "grep": "grep_output",
    "outline": "outline_output",
    "list": "list_outputs",
}
#: The words for the run before an output.
BEFORE = ("before", "previous", "last")


def _one(ref: Any) -> Any:
    """Return the one ref of a list of one."""
    return ref[0] if isinstance(ref, list) and len(ref) == 1 else ref


def _diff(choices: Choices, ref: Any, since: str) -> str:
    """Return what changed since an earlier output: a ref, or the run before it of the same command."""
    if not isinstance(ref, str):
        raise UsageError("since compares one output with an earlier one; name one ref.")
    return look.diff(choices, ref, None if since.strip() in BEFORE else since).text


def tools(choices: Choices, hint: Hint = TOOLS, failed: Callable[[str], str] = str) -> list[Callable[..., str]]:
    """Return the functions, bound to these choices; an answer that goes on names these very functions.

    `hint` says what they are called, where they have other names; `failed` gets the words for what is wrong.
    """
    choices = replace(choices, hints=hint)
    prefix = (hint.search or "").partition("grep_output")[0]

    def answer(operation: Operation, ask: Callable[[], str]) -> str:
        try:
            return ask()
        except SpilloverError as error:
            words = choices.cover_text(word_for_models(error, prefix, tool=TOOL_OF[operation]))
            words = trim(f"[{one_line(words, ERROR_CHARS)}]", choices)
        record_retrieval(choices, operation, words)
        return failed(words)

    def ask_each(operation: Operation, refs: list[str], ask: Callable[[Choices, str], Clip]) -> str:
        with together():
            clip = each(choices, refs, ask)
        record_retrieval(choices, operation, clip.text, clip=clip)
        return clip.text

    def read_output(
        ref: str | list[str],
        lines: str | int | list[int] | None = None,
        columns: str | int | list[int] | None = None,
        bytes: str | int | list[int] | None = None,  # noqa: A002
        since: str | None = None,
    ) -> str:
        """Read part of a stored tool output.

        Args:
            ref: The name in the notice, e.g. bash-7f3a9c2e41d05b86; or "last", "last:cargo test"; REF#/stdout for a value in JSON. Several: "last:3", a tool's name, "all", a list.
            lines: A range: "120:180", "120:+50" (50 from 120 on), "-50:" (the last 50). Default: from the start.
            columns: A part of one line, e.g. lines="7", columns="4001:8000".
            bytes: Bytes instead of lines, with control characters visible.
            since: An earlier output, or "before": only what changed since.
        """

        def ask() -> str:
            ranges = {"lines": lines, "bytes_": bytes, "columns": columns}
            read = {name: read_range(value, name.rstrip("_")) for name, value in ranges.items()}
            asked = [read_ref(one) for one in ref] if isinstance(ref, (list, tuple)) else read_ref(ref)
            refs = find_each(asked, choices.outputs)
            if since:
                earlier = read_ref(read_value("since", since, "string"))
                return _diff(choices, _one(asked) if refs is None else refs, earlier)
            if refs is None:
                return look.read(choices, _one(asked), **read).text
            return ask_each("read", refs, lambda choices, ref: look.read(choices, ref, **read))

        return answer("diff" if since else "read", ask)

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

        def ask() -> str:
            options: dict[str, Any] = {
                "context": read_number(context, "context"),
                "ignore_case": read_value("ignore_case", ignore_case, "boolean"),
                "fixed": read_value("fixed", fixed, "boolean"),
                "start": read_value("start", start, "string"),
            }
            wanted = read_value("pattern", pattern, "string")
            asked = [read_ref(one) for one in ref] if isinstance(ref, (list, tuple)) else read_ref(ref)
            refs = find_each(asked, choices.outputs)
            if refs is None:
                return look.grep(choices, _one(asked), wanted, **options).text
            return ask_each("grep", refs, lambda choices, ref: look.grep(choices, ref, wanted, **options))

        return answer("grep", ask)

    def outline_output(ref: str) -> str:
        """Get a map of a stored tool output: its sections, where failures cluster, what repeats, and where to read next.

        Args:
            ref: As for read_output.
        """
        return answer("outline", lambda: look.outline(choices, read_ref(ref)).text)

    def list_outputs(tool: str | None = None, query: str | None = None) -> str:
        """List the stored tool outputs, newest first.

        Args:
            tool: Only outputs of this tool.
            query: Only outputs of commands with these words, e.g. "cargo test".
        """

        def ask() -> str:
            name = None if tool is None else read_value("tool", tool, "string")
            words = "" if query is None else read_value("query", query, "string")
            listed = look.listing(choices, tool=name, query=words)
            record_retrieval(choices, "list", listed, clip=Clip(listed, _count=choices.count))
            return listed

        return answer("list", ask)

    return [read_output, grep_output, outline_output, list_outputs]
