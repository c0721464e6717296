"""The connections of uvicorn, bounded: how many there are, and how long one may take to say what it wants."""

from __future__ import annotations

import socket
from contextlib import suppress

from uvicorn.protocols.http.h11_impl import H11Protocol

from spillover.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import TimerHandle, Transport
    from typing import Any

    from spillover.serving.door import Bounds

#: Seconds after which the kernel asks a silent client whether it is there, and between two such questions.
ALIVE = 60
FULL = b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain\r\nconnection: close\r\nretry-after: 5\r\n\r\nToo many connections are open; try again soon.\n"


def bounded(bounds: Bounds) -> type[H11Protocol]:
    """Return the protocol for uvicorn to use."""
    waiting: dict[Connection, TimerHandle] = {}  # those that have not said what they want, oldest first

    class Connection(H11Protocol):
        """One client's connection."""

        def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as uvicorn has it
            super().connection_made(transport)
            _keep_alive(transport.get_extra_info("socket"))
            if len(self.connections) > bounds.sockets and not self._make_room():
                transport.write(FULL)
                transport.close()
                return
            self._wait()

        def _make_room(self) -> bool:
            """Close the connection that has waited longest, so that slow ones keep nobody out but each other."""
            oldest = next(iter(waiting), None)
            if oldest is not None:
                oldest._give_up()  # noqa: SLF001  one of us
            return oldest is not None

        def _wait(self) -> None:
            if self not in waiting and not self.transport.is_closing():
                waiting[self] = self.loop.call_later(bounds.header_seconds, self._give_up)

        def _stop_waiting(self) -> None:
            timer = waiting.pop(self, None)
            if timer is not None:
                timer.cancel()

        def _give_up(self) -> None:
            self._stop_waiting()
            self.transport.abort()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            # The time for the headers of a request begins with its first byte, and no further byte prolongs it.
            if self.cycle is None or self.cycle.response_complete:
                self._wait()
            else:
                self._stop_waiting()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

    return Connection


def listen(host: str, port: int, option: str = "--http HOST:PORT") -> socket.socket:
    """Return a socket that clients can connect to from now on; UsageError says why there is none, and which option helps."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    opened = socket.socket(family)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((host, port))
        opened.listen()
    except OSError as error:
        opened.close()
        nearby = option.replace("HOST", _quote(host)).replace("PORT", str(port + 1))
        other = nearby if port < 65_535 else "another port"
        raise UsageError(f"cannot listen on {_quote(host)}:{port}: {error.strerror}. Try {other}.") from error
    return opened


def url_host(host: str) -> str:
    """Return what a client writes into a URL for this address; for one that means every address, one of ours."""
    if host not in ("0.0.0.0", "::"):  # noqa: S104  compared, not listened on
        return _quote(host)
    family, elsewhere = (socket.AF_INET6, "2001:db8::1") if ":" in host else (socket.AF_INET, "192.0.2.1")
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as asked:
        asked.connect((elsewhere, 9))  # nothing is sent: the kernel says which address it would send from
        return _quote(asked.getsockname()[0])
    return "[::1]" if ":" in host else "127.0.0.1"


def _quote(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _keep_alive(connection: Any) -> None:
    """Have the kernel detect clients that vanished without closing."""
    with suppress(OSError, AttributeError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, ALIVE)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, ALIVE // 4)
