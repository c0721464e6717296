"""From words to the function that carries them out, and its arguments."""

from __future__ import annotations

import re
from importlib import import_module

from spillover.cli.commands import COMMANDS, parser_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    Function = Callable[[argparse.Namespace], int]

#: The function of each command, as module.function; None: of the filter. Only the module of the one that is called is imported.
FUNCTIONS = {
    None: "clipping.filter_stdin",
    "run": "clipping.run",
    "sh": "sh.sh",
    "read": "retrieval.read",
    "grep": "retrieval.grep",
    "outline": "retrieval.outline",
    "diff": "retrieval.diff",
    "list": "keeping.list_",
    "show": "keeping.show",
    "ui": "ui.ui",
    "path": "refs.path",
    "pin": "refs.pin",
    "unpin": "refs.unpin",
    "rm": "refs.rm",
    "verify": "refs.verify_",
    "gc": "cleaning.gc",
    "stats": "stats.stats",
    "push": "cleaning.push",
    "init": "init.init",
    "hook": "hook.hook",
    "mcp": "mcp.mcp",
    "config": "keeping.config",
    "trust": "trust.trust",
    "doctor": "doctor.doctor",
    "completion": "about.completion",
    "help": "about.help_",
}
_FROM_END = re.compile(r"-[\d_,]+(:.*)?")
#: The option of grep that takes a pattern, as people type it: `-e X`, `-eX`, behind other letters as in `-ie X`, `--regexp=X`.
_EXPRESSION = re.compile(r"(?P<flags>-[ivFocnE]*)e(?P<short>.*)|--regexp(?:=(?P<long>.*))?", re.DOTALL)


def parse(argv: Sequence[str]) -> tuple[Function, argparse.Namespace]:
    """Return what to call, and with what. Wrong use ends here, with exit 2."""
    name = argv[0] if argv and argv[0] in COMMANDS else None
    if name is None and argv and not argv[0].startswith("-"):
        _refuse_command(argv[0])
    rest = list(argv[1:] if name else argv)
    if name == "read":
        # -50 and -50: are ranges, not options; the first word can be none.
        rest = [f" {word}" if at and _FROM_END.fullmatch(word) else word for at, word in enumerate(rest)]
    parser = parser_for(name)
    if name == "grep":
        rest, given = _take_patterns(rest)
        if given:  # a stand-in lets the parser check the other words; a pattern may begin with a dash
            arguments = parser.parse_args(["PATTERN", *rest])
            arguments.ref, arguments.pattern, arguments.patterns = arguments.pattern, " ".join(given), given
            return _function(name), arguments
    # Where a word may be left out, argparse by itself would not look for it behind an option.
    mixed = name in ("read", "verify", "rm", "help", "ui") and "--" not in rest
    return _function(name), parser.parse_intermixed_args(rest) if mixed else parser.parse_args(rest)


def _take_patterns(words: list[str]) -> tuple[list[str], list[str]]:
    """Return the words without `-e PATTERN`, and the patterns: grep takes any number of them."""
    rest, given, at = [], [], 0
    while at < len(words) and words[at] != "--":
        found = _EXPRESSION.fullmatch(words[at])
        inside = (found["short"] or found["long"]) if found else None
        if found and found["flags"] and found["flags"] != "-":
            rest.append(found["flags"])
        if inside:
            given.append(inside)
        elif found and at + 1 < len(words):
            at += 1
            given.append(words[at])
        else:
            rest.append(words[at])
        at += 1
    return rest + words[at:], given


def _function(name: str | None) -> Function:
    """Import the module of one command and return its function."""
    module, _, function = FUNCTIONS[name].partition(".")
    found: Function = getattr(import_module(f"spillover.cli.{module}"), function)
    return found


def _refuse_command(word: str) -> None:
    from spillover.cli.mistakes import guess
    from spillover.cli.output import complain

    near = guess(word, COMMANDS)
    meant = f"Did you mean `spill {near}`? " if near else ""
    complain(f"unknown command {word!r}. {meant}To run a program: spill run -- {word} …")
    raise SystemExit(2)
