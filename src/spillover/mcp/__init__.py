"""MCP: a server with our tools, and a proxy that clips what another server answers. Over pipes this needs no package.

message    JSON-RPC messages, and little about MCP
results    what a server sends, within the limits
relay      one client, the server behind us, our tools, and what passes between them
stdio      lines over pipes, and a server that we run
url        a server at a URL (extra: mcp)
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from spillover.api import Clipper
from spillover.errors import MissingExtraError
from spillover.mcp.relay import Relay, ServerLink
from spillover.mcp.stdio import ServerProcess, connect_client
from spillover.notice.wording import one_line

#: Characters of a command, or of an address, that name a server in our messages.
NAME_CHARS = 80


def serve(
    clipper: Clipper,
    *,
    command: Sequence[str] = (),
    url: str | None = None,
    headers: Mapping[str, str] | None = None,
    offer: bool = True,
    complain: Callable[[str], None] = lambda _: None,
) -> str | None:
    """Serve until the client has gone; return how the server behind us ended if it ended first.

    `command` starts that server, or it is at `url`, which gets `headers`; without both there is none. `offer`: whether
    our own tools are listed.
    """
    server: ServerLink | None = None
    if command:
        server = ServerProcess(one_line(" ".join(command), NAME_CHARS), command)
    elif url is not None:
        try:
            from spillover.mcp.url import HttpServer
        except ImportError as error:
            raise MissingExtraError("MCP over HTTP needs the official SDK: pip install 'spillover[mcp]'") from error
        server = HttpServer(one_line(url, NAME_CHARS), url, headers)
    return asyncio.run(_serve(clipper, server, offer=offer, complain=complain))


async def _serve(
    clipper: Clipper, server: ServerLink | None, *, offer: bool, complain: Callable[[str], None]
) -> str | None:
    """Serve one client on stdin and stdout; a signal ends us as if the client had left."""
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    pipes = await connect_client()
    with suppress(asyncio.CancelledError, ConnectionError):
        if server is not None:
            await server.start()
        try:
            end = await Relay(pipes, server, clipper, offer=offer, complain=complain).run()
        finally:
            if server is not None:  # also where a second signal came while it was being closed
                await asyncio.gather(server.close(), return_exceptions=True)
        await pipes.flush()
        if pipes.failed is not None:
            raise pipes.failed
        return end
    return None
