"""`spill help`, `spill version` and `spill completion`: what there is."""

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

    name = arguments.command
    if name is not None and name not in COMMANDS:
        near = guess(name, COMMANDS)
        meant = f" Did you mean `spill help {near}`?" if near else " `spill help` lists the commands."
        raise UsageError(f"unknown command {name!r}.{meant}")
    put(parser_for(name).format_help())
    return exits.OK


def version(_: argparse.Namespace) -> int:
    from spillover import __version__

    put(f"spill {__version__}\n")
    return exits.OK


def completion(arguments: argparse.Namespace) -> int:
    from spillover.cli.completion import SCRIPTS

    put(SCRIPTS[arguments.shell]())
    return exits.OK
