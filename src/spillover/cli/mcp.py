"""`spill mcp`: our tools as a server, alone or in front of others."""

from __future__ import annotations

import os

from spillover.cli import exits
from spillover.cli.output import complain
from spillover.cli.setup import clipper
from spillover.errors import UsageError
from spillover.notice import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

#: How much of a command, or of an address, names a server in what we say of it.
NAME_CHARS = 80
LOCAL = "127.0.0.1"


def mcp(arguments: argparse.Namespace) -> int:
    """Serve until the client has gone; a server behind us that ends first is told of."""
    from spillover.adapters.mcp import Server, serve, servers_in  # asyncio is paid for by those who serve

    argv = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    if sum(map(bool, (argv, arguments.url, arguments.servers))) > 1:
        raise UsageError("a command, --url and --servers are three ways to say one thing; use one of them.")
    servers = servers_in(arguments.servers) if arguments.servers else []
    if argv:
        servers = [Server(name=one_line(" ".join(argv), NAME_CHARS), argv=argv)]
    elif arguments.url:
        servers = [Server(name=one_line(arguments.url, NAME_CHARS), url=arguments.url)]
    at = _address(arguments.http) if arguments.http is not None else None
    if at is None and os.isatty(0):
        complain("an MCP client is expected on stdin; Ctrl-C ends the waiting")
    how = serve(clipper(arguments, ("tools",)), servers, at=at, allow_run=arguments.allow_run, complain=complain)
    if how is None:
        return exits.OK
    complain(f"the MCP server {how}")
    return exits.GONE


def _address(text: str) -> tuple[str, int]:
    """HOST:PORT, or PORT on this machine alone."""
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or not port.isascii() or int(port) > 65535:
        raise UsageError(f"--http {text}: that is no address; write e.g. 8321 or {LOCAL}:8321.")
    return host.strip("[]") or LOCAL, int(port)
