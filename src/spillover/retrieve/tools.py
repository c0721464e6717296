"""Going back, as plain typed functions for a model to call. They answer in words, also when something is wrong."""

from __future__ import annotations

from spillover.data import replace
from spillover.errors import SpilloverError
from spillover.fit import beginning
from spillover.notice import TOOLS, Hint, one_line
from spillover.retrieve import look

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from spillover.choices import Choices

#: An error is told in no more than this, or in less where limits are smaller.
ERROR_CHARS = 180


def tools(choices: Choices, hint: Hint = TOOLS, failed: Callable[[str], str] = str) -> list[Callable[..., str]]:
    """The functions, bound to these choices; an answer that goes on names these very functions.

    `hint` says what they are called, where they have other names; `failed` gets the words for what is wrong.
    """
    choices = replace(choices, hints=hint)

    def said(answer: Callable[[], str]) -> str:
        try:
            return answer()
        except SpilloverError as error:
            return failed(beginning(f"[{one_line(str(error), ERROR_CHARS)}]", choices))

    def read_output(ref: str, lines: str | None = None, columns: str | None = None, bytes: str | None = None) -> str:  # noqa: A002
        """Read part of a stored tool output.

        Args:
            ref: The name in the notice, e.g. bash-7f3a9c2e41d0; or "last", or "last:cargo test" for the last run of that.
            lines: A range: "120:180", "120:+50" (50 from 120 on), "-50:" (the last 50). Without it: from the start.
            columns: A part of one line, e.g. lines="7", columns="4001:8000".
            bytes: A range of bytes instead of lines, control characters made visible.
        """
        return said(lambda: look.read(choices, ref, lines=lines, bytes_=bytes, columns=columns).text)

    def grep_output(
        ref: str, pattern: str, context: int = 0, ignore_case: bool = False, fixed: bool = False, start: str = "1"
    ) -> str:
        """Search a stored tool output, line by line.

        Args:
            ref: The name in the notice, e.g. bash-7f3a9c2e41d0; or "last", or "last:cargo test" for the last run of that.
            pattern: A regular expression (RE2: no look-around, no backreferences).
            context: Lines to show around each match.
            ignore_case: Whether capitals make no difference.
            fixed: Take the pattern as plain text.
            start: The line to search from, to go on where an answer ended.
        """
        return said(
            lambda: (
                look.grep(
                    choices, ref, pattern, context=context, ignore_case=ignore_case, fixed=fixed, start=start
                ).text
            )
        )

    def outline_output(ref: str) -> str:
        """Get a map of a stored tool output: its sections, where failures cluster, what repeats, and where to read next.

        Args:
            ref: The name in the notice, e.g. bash-7f3a9c2e41d0; or "last", or "last:cargo test" for the last run of that.
        """
        return said(lambda: look.outline(choices, ref).text)

    def list_outputs(tool: str | None = None, query: str | None = None) -> str:
        """List the stored tool outputs, newest first.

        Args:
            tool: Only those of this tool.
            query: Only those whose command has these words, in this order, e.g. "cargo test".
        """
        return said(lambda: look.listing(choices, tool=tool, query=query or ""))

    return [read_output, grep_output, outline_output, list_outputs]
