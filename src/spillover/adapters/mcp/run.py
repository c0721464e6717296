"""Serve one client over pipes, or many over HTTP: our tools, and what the servers behind us have."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress
from socket import gethostname

from spillover.adapters.mcp.message import dumps
from spillover.adapters.mcp.relay import Relay
from spillover.adapters.mcp.servers import needing_sdk
from spillover.adapters.mcp.stdio import client
from spillover.errors import UsageError
from spillover.serving.door import Bounds, Door, is_loopback, new_token, token_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from spillover.adapters.mcp.ask import ServerLink
    from spillover.adapters.mcp.servers import Server
    from spillover.clipper import Clipper


def serve(
    clipper: Clipper,
    servers: Sequence[Server] = (),
    *,
    at: tuple[str, int] | None = None,
    token_file: str | None = None,
    allow_remote: bool = False,
    allow_hosts: Sequence[str] = (),
    offer: bool = True,
    bounds: Bounds | None = None,
    complain: Callable[[str], None] = lambda _: None,
) -> str | None:
    """Serve until the client has gone, or over HTTP until stopped; return how the servers ended if they ended first.

    `offer`: whether our own tools are listed.

    Over HTTP every request needs a bearer token: that of `token_file`, or a new one, which `complain` is told.
    """
    if any(server.url for server in servers):
        needing_sdk("url")  # better to hear of it before anything is started

    async def session(client: Any) -> str | None:
        behind: dict[str, ServerLink] = {}
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
            relay = Relay(
                client,
                behind,
                clipper,
                offer=offer,
                complain=complain,
            )
            return await relay.run()
        finally:
            await asyncio.gather(*(link.close() for link in behind.values()), return_exceptions=True)

    if at is None:
        return asyncio.run(_over_pipes(session))
    host, port = at
    if not is_loopback(host):
        _check_remote(host, complain, allow_remote=allow_remote)
        allow_hosts = [*allow_hosts, gethostname()]
    http = needing_sdk("http")
    door = Door(
        token=token_in(token_file) if token_file else new_token(),
        host=host,
        names=[name.lower() for name in allow_hosts],
    )

    def say(url: str) -> None:
        entry = {"url": url, "headers": {"Authorization": f"Bearer {door.token}"}}
        how = (
            f"the bearer token is in {token_file}"
            if token_file
            else f"for a client's configuration: {dumps(entry).decode()}"
        )
        complain(f"serving MCP at {url}; {how}")

    asyncio.run(http.serve(session, port, door, bounds or Bounds(), servers=len(servers), complain=complain, say=say))
    return None


def _check_remote(host: str, complain: Callable[[str], None], *, allow_remote: bool) -> None:
    """Refuse an address that other machines reach, or warn of it where that was asked for."""
    if not allow_remote:
        raise UsageError(
            f"--http {host}: other machines could reach that address; add --allow-remote if they should, "
            f"or leave the address out to serve this machine only."
        )
    complain(
        f"warning: anyone who reaches {host} and has the token can use every tool here; "
        "nothing is encrypted on the way, so put a TLS proxy in front of it or use a network you trust"
    )


async def _over_pipes(session: Callable[[Any], Any]) -> str | None:
    """Serve one client on stdin and stdout; a signal ends us as if the client had left."""
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    pipes = await client()
    with suppress(asyncio.CancelledError, ConnectionError):
        how: str | None = await session(pipes)
        await pipes.flush()
        if pipes.failed is not None:
            raise pipes.failed
        return how
    return None
