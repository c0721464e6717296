"""The server of the page: its address with the token in it, the browser that opens it, and its end."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from html import escape
from tempfile import mkdtemp
from typing import Any

import uvicorn

from spillover.api import Clipper
from spillover.errors import UsageError
from spillover.ui.app import HEADER_BYTES, Page
from spillover.ui.door import Door, new_token

HOST = "127.0.0.1"
#: More connections than this at once are answered with 503.
MAX_CONNECTIONS = 128


def serve(
    clipper: Clipper, *, port: int, facts: Mapping[str, Any], say: Callable[[str], None], browse: bool, to: str = ""
) -> None:
    """Serve the page until a signal ends us; `say` is told its address, and a browser opens it with `browse`."""
    asyncio.run(_serve(clipper, port=port, facts=facts, say=say, browse=browse, to=to))


async def _serve(
    clipper: Clipper, *, port: int, facts: Mapping[str, Any], say: Callable[[str], None], browse: bool, to: str
) -> None:
    door = Door(token=new_token())
    page = Page(clipper, door, facts=facts)
    config = uvicorn.Config(
        page,
        http="h11",
        ws="none",
        lifespan="off",
        # A request that Ctrl-C cuts short would be a traceback on the terminal; errors are told on the page.
        log_level="critical",
        access_log=False,
        server_header=False,
        limit_concurrency=MAX_CONNECTIONS,
        h11_max_incomplete_event_size=HEADER_BYTES,
        timeout_graceful_shutdown=1,
    )
    server = _Server(config)
    opened = _listen(port)
    # Behind the #, a browser keeps it to itself: it is in no request, no log and no Referer.
    address = f"http://{HOST}:{opened.getsockname()[1]}/#token={door.token}" + (f"&to={to}" if to else "")
    redirect = _Redirect()
    page.used = redirect.remove
    try:
        say(address)
        if browse:
            await asyncio.to_thread(redirect.open, address)
        await server.serve(sockets=[opened])
    finally:
        redirect.remove()


class _Server(uvicorn.Server):
    """Ends at a signal with exit code 0; uvicorn would have the signal end the process."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, setattr, self, "should_exit", True)
        yield


def _listen(port: int) -> socket.socket:
    """Return a socket that browsers on this machine can connect to from now on."""
    opened = socket.socket()
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((HOST, port))
        opened.listen()
    except OSError as error:
        opened.close()
        other = f"--port {port + 1}" if port < 65_535 else "another port"
        raise UsageError(f"cannot listen on {HOST}:{port}: {error.strerror}. Try {other}.") from error
    return opened


class _Redirect:
    """A private file that leads a browser to the address: a command line, which any user may list, must not hold the token."""

    def __init__(self) -> None:
        self._folder = ""

    def open(self, address: str) -> None:
        if not can_browse(os.environ, sys.platform):
            return
        import webbrowser

        self._folder = mkdtemp(prefix="spill-ui-")  # mode 0700
        path = os.path.join(self._folder, "open.html")
        with open(path, "w", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(f'<!doctype html><meta http-equiv="refresh" content="0;url={escape(address)}">spill ui')
        with suppress(webbrowser.Error, OSError):
            webbrowser.open(f"file://{path}")

    def remove(self) -> None:
        """Remove the file: at the first request that has the token, or at the end."""
        folder, self._folder = self._folder, ""
        if folder:
            with suppress(OSError):
                os.unlink(os.path.join(folder, "open.html"))
            with suppress(OSError):
                os.rmdir(folder)


def can_browse(environ: Mapping[str, str], platform: str) -> bool:
    """Return whether there is a screen to open a browser on; without one, a text browser would take this terminal."""
    return platform == "darwin" or bool(
        environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY") or environ.get("BROWSER")
    )
