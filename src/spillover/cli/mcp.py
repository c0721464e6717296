"""`spill mcp`: our tools as a server, alone or in front of another one."""

from __future__ import annotations

import os

from spillover.cli import exits
from spillover.cli.output import complain
from spillover.cli.setup import make_clipper_anyway
from spillover.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


def mcp(arguments: argparse.Namespace) -> int:
    """Serve until the client is gone; report a server behind us that ends first."""
    from spillover.adapters.mcp import serve  # asyncio is paid for by those who serve

    argv = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    if argv and arguments.url:
        raise UsageError("use only one of a command and --url.")
    if arguments.no_tools and not (argv or arguments.url):
        raise UsageError("--no-tools leaves nothing to serve; name a server to put spill in front of.")
    chosen, wrong = make_clipper_anyway(arguments, ("tools",))
    if wrong:
        complain(wrong)
    if os.isatty(0):
        complain("waiting for an MCP client on stdin; Ctrl-C to stop")
    how = serve(chosen, command=argv, url=arguments.url, offer=not arguments.no_tools, complain=complain)
    if how is None:
        return exits.OK
    complain(f"the MCP server {how}")
    return exits.GONE
