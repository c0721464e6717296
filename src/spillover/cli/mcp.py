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
LOCAL = "127.0.0.1"


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
    at = _address(arguments.http) if arguments.http is not None else None
    if at is None and (arguments.token_file or arguments.allow_remote or arguments.allow_host):
        raise UsageError("--token-file, --allow-remote and --allow-host need --http.")
    if arguments.no_tools and not servers:
        raise UsageError("--no-tools leaves nothing to serve; name a server to put spill in front of.")
    chosen, wrong = make_clipper_anyway(arguments, ("tools",))
    if wrong:
        complain(wrong)
    if at is None and os.isatty(0):
        complain("waiting for an MCP client on stdin; Ctrl-C to stop")
    how = serve(
        chosen,
        servers,
        at=at,
        token_file=arguments.token_file,
        allow_remote=arguments.allow_remote,
        allow_hosts=arguments.allow_host,
        offer=not arguments.no_tools,
        complain=complain,
    )
    if how is None:
        return exits.OK
    complain(f"the MCP server {how}")
    return exits.GONE


def _address(text: str) -> tuple[str, int]:
    """Return the host and the port of HOST:PORT, or of PORT on this machine."""
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or not port.isascii() or int(port) > 65535:
        raise UsageError(f"--http {text}: not an address; write e.g. 8321 or {LOCAL}:8321.")
    return host.strip("[]") or LOCAL, int(port)
