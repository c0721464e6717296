"""Serve one client over pipes: our tools, and what the servers behind us have."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress

from spillover.adapters.mcp.relay import Relay
from spillover.adapters.mcp.servers import needing_sdk
from spillover.adapters.mcp.stdio import client
from spillover.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from spillover.adapters.mcp.ask import ServerLink
    from spillover.adapters.mcp.servers import Server
    from spillover.clipper import Clipper


def serve(
    clipper: Clipper,
    servers: Sequence[Server] = (),
    *,
    offer: bool = True,
    complain: Callable[[str], None] = lambda _: None,
) -> str | None:
    """Serve until the client has gone; return how the servers ended if they ended first.

    `offer`: whether our own tools are listed.
    """
    if any(server.url for server in servers):
        needing_sdk("url")  # better to hear of it before anything is started
    return asyncio.run(_serve(clipper, servers, offer=offer, complain=complain))


async def _serve(
    clipper: Clipper, servers: Sequence[Server], *, offer: bool, complain: Callable[[str], None]
) -> str | None:
    """Serve one client on stdin and stdout; a signal ends us as if the client had left."""
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    pipes = await client()
    behind: dict[str, ServerLink] = {}
    with suppress(asyncio.CancelledError, ConnectionError):
        try:
            for server in servers:
                try:
                    link = server.link()
                    await link.start()
                    behind[server.name] = link
                except UsageError as error:
                    if len(servers) == 1:
                        raise
                    complain(str(error))  # the others will do without
            how = await Relay(pipes, behind, clipper, offer=offer, complain=complain).run()
        finally:
            await asyncio.gather(*(link.close() for link in behind.values()), return_exceptions=True)
        await pipes.flush()
        if pipes.failed is not None:
            raise pipes.failed
        return how
    return None
