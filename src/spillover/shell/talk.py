"""Which lines talk to a person: editors, pagers, prompts. What they print is of use only while they run."""

from __future__ import annotations

from spillover.shell.command import without_version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.shell.command import Command

#: They draw on the terminal, ask, or never end.
PROGRAMS = frozenset(
    {"vim", "vi", "nvim", "nano", "emacs", "less", "more", "top", "htop", "ssh", "man", "tmux", "screen", "watch", "sudo", "su"}
)  # fmt: skip
#: They do so when they are given nothing to run, and nothing is piped into them.
PROMPTS = frozenset(
    {"python", "ipython", "node", "deno", "bun", "irb", "ghci", "lua", "bash", "sh", "dash", "zsh", "fish"}
)
#: Options of theirs that name nothing to run.
WITHOUT_SCRIPT = frozenset({"-q", "-i", "-l", "-u", "-B", "--login", "--norc", "--noprofile"})


def talks_to_a_person(line: str) -> bool:
    """Return whether a pipeline of a line ends in an editor, a pager or a prompt that shows on the terminal."""
    from spillover.shell.line import parse  # hooks want the table alone

    for *before, last in parse(line):
        if last.silent:
            continue
        asks = not before and "<" not in line
        if last.program in PROGRAMS or (asks and _asks(last)):
            return True
    return False


def _asks(command: Command) -> bool:
    if command.program == "read":  # bash prints its prompt only on a terminal
        return any(word.startswith("-") and word.endswith("p") for word in command.words)
    return without_version(command.program) in PROMPTS and WITHOUT_SCRIPT.issuperset(command.words)
