"""From words to the function that carries them out, and its arguments."""

from __future__ import annotations

import re

from spillover.cli.commands import COMMANDS, parser_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    Function = Callable[[argparse.Namespace], int]

_FROM_END = re.compile(r"-[\d_,]+(:.*)?")
#: Options of grep that take the pattern, as people type them.
_EXPRESSION = ("-e", "--regexp")


def parse(argv: Sequence[str]) -> tuple[Function, argparse.Namespace]:
    """Return what to call, and with what. Wrong use ends here, with exit 2."""
    name = argv[0] if argv and argv[0] in COMMANDS else None
    if name is None and argv and not argv[0].startswith("-"):
        _refuse_command(argv[0])
    rest = list(argv[1:] if name else argv)
    if name == "read":
        # -50 and -50: are ranges, not options; the first word can be none.
        rest = [f" {word}" if at and _FROM_END.fullmatch(word) else word for at, word in enumerate(rest)]
    if name == "grep":
        rest = _move_expression(rest)
    parser = parser_for(name)
    # Where a word may be left out, argparse by itself would not look for it behind an option.
    mixed = name in ("read", "show", "verify", "rm", "help", "ui") and "--" not in rest
    return _function(name), parser.parse_intermixed_args(rest) if mixed else parser.parse_args(rest)


def _move_expression(words: list[str]) -> list[str]:
    """Put the pattern of `-e PATTERN` where the pattern stands without it: last."""
    for at, word in enumerate(words[:-1]):
        if word == "--":
            break
        if word in _EXPRESSION:
            others = words[:at] + words[at + 2 :]
            return [*others, *["--"] * ("--" not in others), words[at + 1]]
    return words


def _function(name: str | None) -> Function:
    if name in (None, "run"):
        from spillover.cli import clipping  # each command pays only for itself

        return clipping.run if name else clipping.filter_stdin
    if name == "sh":
        from spillover.cli import sh

        return sh.sh
    if name in ("read", "grep", "outline", "diff"):
        from spillover.cli import retrieval

        return retrieval.FUNCTIONS[name]
    if name == "stats":
        from spillover.cli import stats

        return stats.stats
    if name in ("gc", "push"):
        from spillover.cli import cleaning

        return cleaning.FUNCTIONS[name]
    if name in ("path", "pin", "unpin", "rm", "verify"):
        from spillover.cli import refs

        return {"path": refs.path, "pin": refs.pin, "unpin": refs.unpin, "rm": refs.rm, "verify": refs.verify_}[name]
    if name in ("help", "version", "completion"):
        from spillover.cli import about

        return {"help": about.help_, "version": about.version, "completion": about.completion}[name]
    if name == "ui":
        from spillover.cli import ui

        return ui.ui
    if name == "mcp":
        from spillover.cli import mcp

        return mcp.mcp
    if name == "hook":
        from spillover.cli import hook

        return hook.hook
    if name == "init":
        from spillover.cli import init

        return init.init
    if name == "trust":
        from spillover.cli import trust

        return trust.trust
    from spillover.cli import keeping

    return keeping.FUNCTIONS[name or ""]


def _refuse_command(word: str) -> None:
    from spillover.cli.mistakes import guess
    from spillover.cli.output import complain

    near = guess(word, COMMANDS)
    meant = f"Did you mean `spill {near}`? " if near else ""
    complain(f"unknown command {word!r}. {meant}To run a program: spill run -- {word} …")
    raise SystemExit(2)
