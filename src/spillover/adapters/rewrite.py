"""A shell line before it runs: the same line inside `spill sh`, where that changes nothing but what the model sees of it.

Left as they are: lines that change the shell they run in, lines that go on in the background or talk to a person, and lines that
a rule of the user speaks of, because a host matches its rules on the line that it is given.
"""

from __future__ import annotations

from shlex import quote

from spillover.shell.talk import PROGRAMS as INTERACTIVE
from spillover.shell.tree import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from spillover.shell.split import Raw

COMMAND = "spill"
#: Longer lines would not be readable where a person is asked about them.
MOST_CHARS = 4_000
#: What these change ends with the shell that runs them.
CHANGES_SHELL = frozenset(
    {"cd", "pushd", "popd", "export", "source", ".", "alias", "unset", "set", "shopt", "exec", "trap", "ulimit", "umask", "eval", "wait",
     "fg", "bg", "jobs", "disown", "read", "exit", "nvm", "conda", "pyenv", "declare", "local", "readonly", "hash"}
)  # fmt: skip
#: The same, as the parser calls it.
CHANGING = frozenset({"declaration_command", "unset_command", "function_definition"})
#: What they print is short, or bounded by another tool; a line of nothing else is not worth a word.
SHORT = frozenset(
    {"pwd", "echo", "true", "false", "mkdir", "touch", "rm", "cp", "mv", "chmod", "ln", "which", "date", "sleep", "kill", "spill"}
)  # fmt: skip


def rewrite_line(
    line: str, is_ruled: Callable[[Sequence[Sequence[str]]], bool] = lambda _: False, *, command: str = COMMAND
) -> str | None:
    """Return the line as it is to run instead; None where it stays as it is.

    `is_ruled` is asked whether a rule of the user speaks of any of these commands, each a list of its words. `command` is how the
    shell finds us.
    """
    if not line.strip() or len(line) > MOST_CHARS or not all(char.isprintable() or char in "\n\t" for char in line):
        return None
    head, rest = _leading_cd(line)
    pipelines = read(rest)
    if not pipelines or _is_unread(rest):
        return None
    commands = [raw.words for stages in pipelines for raw in stages if raw.words]
    names = [words[0].rpartition("/")[2] for words in commands]
    if any(name in CHANGES_SHELL or name in INTERACTIVE or name == COMMAND for name in names):
        return None
    if all(name in SHORT for name in names) or rest.rstrip().endswith("&"):
        return None
    everything = [words for stages in (read(line) or []) for words in (raw.words for raw in stages)]
    if is_ruled(everything):
        return None
    return f"{head}{quote(command)} sh {_quote(rest.strip())}"


def _leading_cd(line: str) -> tuple[str, str]:
    """Return `cd somewhere && ` and what follows it: the folder outlives the line, so it stays outside."""
    words, sign, rest = line.partition("&&")
    if not sign or "\n" in words or words.split()[:1] != ["cd"]:
        return "", line
    found: list[list[Raw]] | None = read(words)
    plain = found is not None and len(found) == 1 and len(found[0]) == 1 and len(found[0][0].words) == 2
    return (f"{words.rstrip()} && ", rest) if plain and not set(words) & set("|;<>`$(") else ("", line)


def _is_unread(line: str) -> bool:
    """Return whether the line could not be read for certain, or sets something that outlives it."""
    from spillover.shell.tree import load

    parse = load()
    if parse is None:
        return True
    root = parse(line.encode("utf-8", "surrogateescape")).root_node
    stack = [root]
    while stack:
        node = stack.pop()
        assigns = (
            node.type.startswith("variable_assignment") and node.parent is not None and node.parent.type != "command"
        )
        if node.type in CHANGING or assigns:
            return True
        stack += node.named_children
    return root.has_error


def _quote(line: str) -> str:
    """Return the line in quotes, as a person can read it: double quotes where it has single ones and nothing that they change."""
    if "'" in line and not set(line) & set('"$`\\!'):
        return f'"{line}"'
    return quote(line)
