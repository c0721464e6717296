"""Which calls of a host only go back to what is stored: their answers fit already, and are never stored again."""

from __future__ import annotations

import os

#: The commands that go back, and the tools of `spill mcp` that do.
COMMANDS = frozenset({"read", "grep", "outline", "show", "list"})
TOOLS = ("read_output", "grep_output", "outline_output", "list_outputs")
#: What may stand beside them: it changes the folder, or takes something away from an answer.
BESIDE = frozenset({"cd", "head", "tail", "grep", "wc", "sort", "uniq", "cut"})
#: Between two commands of a shell. Anything else in a command line that is no word makes it somebody else's.
BETWEEN = frozenset({"&&", "||", ";", "|", "\n"})


def is_command(command: object) -> bool:
    """Whether a command line only asks `spill` for what is stored."""
    if not isinstance(command, str) or "spill" not in command:
        return False
    import shlex  # only for a command that may be ours

    words = shlex.shlex(command.strip(), posix=True, punctuation_chars="();<>|&\n`")
    words.whitespace, words.commenters = " \t\r", ""
    words.whitespace_split = True
    try:
        calls = _calls(list(words))
    except ValueError:  # a quote without its other half
        return False
    ours = [call[1:2] for call in calls if os.path.basename(call[0]) == "spill"]
    others = {call[0] for call in calls if os.path.basename(call[0]) != "spill"}
    return bool(ours) and others <= BESIDE and all(set(verb) & COMMANDS for verb in ours)


def _calls(words: list[str]) -> list[list[str]]:
    """The commands in a line, each with its words; a redirection, a group or a substitution is none of ours."""
    calls: list[list[str]] = [[]]
    for word in words:
        if word in BETWEEN:
            calls.append([])
        elif word.strip("();<>|&\n`") == "" or "$(" in word:
            raise ValueError(word)
        else:
            calls[-1].append(word)
    return [call for call in calls if call]


def is_tool(name: str) -> bool:
    """Whether a tool is one of `spill mcp`, under whatever name a host gives it."""
    return name.endswith(TOOLS)


def is_stored(path: object, root: object) -> bool:
    """Whether a file is one of the store's."""
    if not isinstance(path, str) or not isinstance(root, (str, os.PathLike)) or "\0" in path:
        return False
    return os.path.realpath(path).startswith(os.path.realpath(root) + os.sep)
