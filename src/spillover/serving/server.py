"""A uvicorn server of ours: bounded, silent, and ended by a signal with everything closed."""

from __future__ import annotations

import asyncio
import signal
from contextlib import contextmanager

import uvicorn

from spillover.serving.sockets import bounded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from socket import socket
    from typing import Any

    from spillover.serving.door import Bounds


class Server(uvicorn.Server):
    """Ends at a signal as we do, with everything closed; uvicorn would have the signal end us then."""

    #: Ends answers that have no end of their own, before connections are closed on them.
    before_end: Callable[[], Awaitable[None]] | None = None

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        if self.before_end is not None:
            await self.before_end()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, setattr, self, "should_exit", True)
        yield


def make_server(app: Any, host: str, bounds: Bounds, *, log_level: str = "error") -> Server:
    """Return a server for an ASGI application; the socket it listens on is ours, see `sockets.listen`."""
    config = uvicorn.Config(
        app,
        host=host,
        http=bounded(bounds),
        ws="none",
        lifespan="off",
        log_level=log_level,
        access_log=False,
        server_header=False,
        h11_max_incomplete_event_size=bounds.header_bytes,
        timeout_keep_alive=bounds.idle_socket_seconds,  # type: ignore[arg-type]  # a number of seconds for the loop
        timeout_graceful_shutdown=1,
    )
    return Server(config)
