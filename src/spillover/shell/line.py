"""The pipelines of a shell line, with the commands that are run in the end."""

from __future__ import annotations

import re

from msgspec.structs import replace

from spillover.shell import split, tree
from spillover.shell.command import Command, bare_name, join, without_version
from spillover.shell.inner import SHELLS, unwrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.shell.split import Raw

#: Nobody types longer lines, or shells nested deeper than this.
MOST_CHARS, MOST_DEEP = 20_000, 3
#: Commands beyond these are ignored.
MOST_PIPELINES, MOST_STAGES = 500, 50
#: Commands of `spill` and tools of ours that look at what is stored, or at the store itself.
RETRIEVALS = frozenset({"read", "grep", "outline", "diff", "list", "show", "path", "stats", "verify"})
RETRIEVAL_TOOLS = ("read_output", "grep_output", "outline_output", "list_outputs")
#: What reads files; and what a stored output is called, which a notice names by its path.
READERS = frozenset(
    {
        "cat",
        "head",
        "tail",
        "sed",
        "awk",
        "grep",
        "egrep",
        "fgrep",
        "rg",
        "less",
        "more",
        "wc",
        "tac",
        "nl",
        "cut",
        "sort",
        "jq",
    }
)
STORED_FILE = re.compile(r"[a-z0-9_.]{1,32}-[0-9a-f]{12,64}\.txt", re.ASCII)
#: A stage of a pipeline that is several commands.
GROUP = Command("(")


def parse(line: str, deep: int = 0) -> list[list[Command]]:
    """Return the pipelines of a line, each a list of commands; `sudo`, `uv run` or `bash -c` stand for what they run."""
    return [each for raws in _read(line) for each in join([_commands(raw, deep) for raw in raws], GROUP)]


def _read(line: str) -> list[list[Raw]]:
    """Return the pipelines of a line as they are written."""
    text = str(line)[:MOST_CHARS]
    found = split.read_plain(text)
    if found is None:
        found = tree.read(text)  # which takes a while to load
    pipelines = split.read(text) if found is None else found
    return [raws[:MOST_STAGES] for raws in pipelines[:MOST_PIPELINES]]


def is_retrieval(tool: str, command: str | None) -> bool:
    """Return whether a call does nothing but look at stored outputs. It is no run, and never the one that `last` names."""
    if command is None or not ("spill" in command or ".txt" in command):
        return command is None and tool.endswith(RETRIEVAL_TOOLS)
    # A record has `bash -c LINE` without the quotes.
    shell, dash, line = command.partition(" -c ")
    lines = [command, line] if dash and without_version(bare_name(shell)) in SHELLS else [command]
    return any(_retrieves(line) for line in lines)


def _retrieves(line: str) -> bool:
    first = [pipeline[0] for pipeline in parse(line) if pipeline[0].program != "cd"]
    return bool(first) and all(_looks(command) for command in first)


def _looks(command: Command) -> bool:
    """Return whether a command is `spill read …` or another of these, also under `spill run` and `spill sh`, or reads a stored file."""
    if command.program in READERS:
        return any(STORED_FILE.fullmatch(word.rpartition("/")[2]) for word in command.plain)
    if command.program != "spill" or not command.words:
        return False
    verb, *rest = command.words
    if verb == "run" and "--" in rest:
        return _retrieves(" ".join(rest[rest.index("--") + 1 :]))
    return _retrieves(rest[-1]) if verb == "sh" and rest else verb in RETRIEVALS


def parse_substitutions(line: str, deep: int = 0) -> list[list[Command]]:
    """Return the pipelines inside `$(…)`, backticks and `<(…)`, which `parse` leaves out: they do not print by themselves."""
    found = [pipeline for inner in tree.read_substitutions(str(line)[:MOST_CHARS]) for pipeline in parse(inner)]
    scripts = [unwrap(raw.words) for raws in _read(line) for raw in raws if not raw.silent] if deep < MOST_DEEP else []
    for script in scripts:
        found += parse_substitutions(script, deep + 1) if isinstance(script, str) else []
    return found


def _commands(raw: Raw, deep: int) -> list[list[Command]]:
    """Return what a command runs in the end: itself, or the pipelines of the line that it gives to a shell."""
    found = unwrap(raw.words)
    if isinstance(found, Command) and raw.script and not found.words and without_version(found.program) in SHELLS:
        found = raw.script
    if isinstance(found, Command):
        return [[replace(found, silent=raw.silent)]]
    inner = parse(found, deep + 1) if found and deep < MOST_DEEP else []
    if raw.silent:
        inner = [[*each[:-1], replace(each[-1], silent=True)] for each in inner]
    return inner
