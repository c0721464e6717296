"""The pipelines of a shell line, with the commands that are run in the end."""

from __future__ import annotations

from msgspec.structs import replace

from spillover.shell import split, tree
from spillover.shell.command import Command, join, without_version
from spillover.shell.inner import SHELLS, unwrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.shell.split import Raw

#: Nobody types longer lines, or shells nested deeper than this.
MOST_CHARS, MOST_DEEP = 20_000, 3
#: Commands beyond these are ignored.
MOST_PIPELINES, MOST_STAGES = 500, 50
#: A stage of a pipeline that is several commands.
GROUP = Command("(")


def parse(line: str, deep: int = 0) -> list[list[Command]]:
    """Return the pipelines of a line, each a list of commands; `sudo`, `uv run` or `bash -c` stand for what they run."""
    text = str(line)[:MOST_CHARS]
    found = split.read_plain(text)
    if found is None:
        found = tree.read(text)  # which takes a while to load
    pipelines = split.read(text) if found is None else found
    return [
        each
        for raws in pipelines[:MOST_PIPELINES]
        for each in join([_commands(raw, deep) for raw in raws[:MOST_STAGES]], GROUP)
    ]


def parse_substitutions(line: str) -> list[list[Command]]:
    """Return the pipelines inside `$(…)`, backticks and `<(…)`, which `parse` leaves out: they do not print by themselves."""
    return [pipeline for inner in tree.read_substitutions(str(line)[:MOST_CHARS]) for pipeline in parse(inner)]


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
