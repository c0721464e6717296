"""`spill mcp`: our tools as a server, alone or in front of others."""

from __future__ import annotations

import os

from spillover.cli import exits
from spillover.cli.output import complain
from spillover.cli.setup import make_clipper_anyway
from spillover.errors import UsageError
from spillover.notice.words import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

#: How much of a command, or of an address, names a server in what we say of it.
NAME_CHARS = 80


def mcp(arguments: argparse.Namespace) -> int:
    """Serve until the client is gone; report a server behind us that ends first."""
    from spillover.adapters.mcp import Server, serve, servers_in  # asyncio is paid for by those who serve

    argv = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    if sum(map(bool, (argv, arguments.url, arguments.servers))) > 1:
        raise UsageError("use only one of a command, --url and --servers.")
    servers = servers_in(arguments.servers) if arguments.servers else []
    if argv:
        servers = [Server(name=one_line(" ".join(argv), NAME_CHARS), argv=argv)]
    elif arguments.url:
        servers = [Server(name=one_line(arguments.url, NAME_CHARS), url=arguments.url)]
    if arguments.no_tools and not servers:
        raise UsageError("--no-tools leaves nothing to serve; name a server to put spill in front of.")
    chosen, wrong = make_clipper_anyway(arguments, ("tools",))
    if wrong:
        complain(wrong)
    if os.isatty(0):
        complain("waiting for an MCP client on stdin; Ctrl-C to stop")
    how = serve(chosen, servers, offer=not arguments.no_tools, complain=complain)
    if how is None:
        return exits.OK
    complain(f"the MCP server {how}")
    return exits.GONE
