"""The server of the page: its address with the token in it, the browser that opens it, and its end."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from html import escape
from tempfile import mkdtemp

from spillover.inspector.app import Page
from spillover.serving.door import Bounds, Door, new_token
from spillover.serving.server import make_server
from spillover.serving.sockets import listen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from spillover.clipper import Clipper

HOST = "127.0.0.1"
OTHERWISE = "This page is served on this machine only, as 127.0.0.1 or localhost."
NOT_LET_IN = "The token is missing or wrong. Open the address that `spill ui` printed, with everything behind the #."


def serve(
    clipper: Clipper, *, port: int, facts: Mapping[str, Any], say: Callable[[str], None], browse: bool, to: str = ""
) -> None:
    """Serve the page until a signal ends us; `say` is told its address, and a browser opens it with `browse`."""
    asyncio.run(_serve(clipper, port=port, facts=facts, say=say, browse=browse, to=to))


async def _serve(
    clipper: Clipper, *, port: int, facts: Mapping[str, Any], say: Callable[[str], None], browse: bool, to: str
) -> None:
    door = Door(token=new_token(), called_otherwise=OTHERWISE, not_let_in=NOT_LET_IN)
    bounds = Bounds()
    page = Page(clipper, door, bounds, facts=facts)
    # A request that Ctrl-C cuts short would be a traceback on the terminal; errors are told on the page.
    server = make_server(page, HOST, bounds, log_level="critical")
    server.before_end = page.news.close
    opened = listen(HOST, port, "--port PORT")
    # Behind the #, a browser keeps it to itself: it is in no request, no log and no Referer.
    address = f"http://{HOST}:{opened.getsockname()[1]}/#token={door.token}" + (f"&to={to}" if to else "")
    page.news.start()
    door_file = _Redirect()
    page.used = door_file.remove
    try:
        say(address)
        if browse:
            await asyncio.to_thread(door_file.open, address)
        await server.serve(sockets=[opened])
    finally:
        door_file.remove()
        await page.news.close()


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
