"""`spill help` and `spill completion`."""

from __future__ import annotations

from spillover.cli import exits
from spillover.cli.output import put
from spillover.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


def help_(arguments: argparse.Namespace) -> int:
    from spillover.cli.commands import COMMANDS, parser_for
    from spillover.cli.mistakes import guess

    name = arguments.topic
    if name is not None and name not in COMMANDS:
        near = guess(name, COMMANDS)
        meant = f" Did you mean `spill help {near}`?" if near else " `spill help` lists the commands."
        raise UsageError(f"unknown command {name!r}.{meant}")
    put(parser_for(name).format_help())
    return exits.OK


def completion(arguments: argparse.Namespace) -> int:
    """Print a completion script: shtab makes it from the parsers, so what `--help` lists is what is completed."""
    import shtab

    from spillover.cli.commands import COMMANDS, parser_for
    from spillover.profiles import NAMES
    from spillover.settings.settings import KEEPS

    parser = parser_for(None)
    commands = parser.add_subparsers(prog="spill")
    parsers = [parser]
    for name, (about, add, _) in COMMANDS.items():
        parsers.append(commands.add_parser(name, help=about))
        add(parsers[-1])
    choices = {"keep": KEEPS, "profile": NAMES, "topic": tuple(COMMANDS)}
    refs = shtab.cmd("echo last; spill list --quiet")
    completers = {
        **dict.fromkeys(("ref", "refs", "other", "pattern"), refs),
        "store": shtab.DIRECTORY,
        "file": shtab.FILE,
    }
    for action in (action for each in parsers for action in each._actions):  # noqa: SLF001  argparse has no other list
        action.choices = choices.get(action.dest, action.choices)
        if action.dest in completers:
            action.complete = completers[action.dest]  # type: ignore[attr-defined]  # shtab reads it
    put(shtab.complete(parser, arguments.shell) + "\n")
    return exits.OK
