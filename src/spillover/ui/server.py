"""The server of the page: its routes, who may ask, its address and the browser that opens it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
import webbrowser
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hmac import compare_digest
from html import escape
from importlib import resources
from ipaddress import ip_address
from itertools import chain
from secrets import token_urlsafe
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from msgspec import to_builtins
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from spillover.api import Clipper
from spillover.errors import PatternError, RefError, SpilloverError, StoreError, UsageError
from spillover.ui.library import Library
from spillover.ui.outputs import (
    Output,
    Outputs,
    add_up_days,
    compare_outputs,
    describe,
    read_column,
    read_lines,
    replay,
    search,
    try_settings,
)

HOST = "127.0.0.1"
#: Connections at once; further ones are answered with 503.
MAX_CONNECTIONS = 128
#: Bytes of the headers of a request. A browser sends below 1,000.
MAX_HEADER_BYTES = 1 << 14
#: Random bytes of a token: as many as the digest of SHA-256.
TOKEN_BYTES = 32
#: Rows in one answer. With more, the list appears later; with fewer, a long list takes more requests.
MAX_ROWS = 2_000
#: Digits of a number in a query: below 2 ** 53, so that a browser knows it exactly.
MAX_DIGITS = 15
#: Only our own scripts and styles, no address but ours, no markup from text, and no frame around the page.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = {
    b"content-security-policy": POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"permissions-policy": b"camera=(), microphone=(), geolocation=()",
    b"cache-control": b"no-store",
}
MEDIA_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
#: Everything below needs the token; everything else is the same for all users.
PRIVATE = "/api/"


def serve(
    clipper: Clipper,
    *,
    port: int,
    about: Mapping[str, Any],
    announce: Callable[[str], None],
    browse: bool,
    path: str = "",
) -> None:
    """Serve the page until a signal arrives. `announce` gets its address; `browse` opens a browser at `path` of it."""
    token = token_urlsafe(TOKEN_BYTES)
    listener = _listen(port)
    # A browser keeps what is behind the # to itself: it is in no request, no log and no Referer.
    address = f"http://{HOST}:{listener.getsockname()[1]}/#token={token}" + (f"&to={path}" if path else "")
    folder = TemporaryDirectory(prefix="spill-ui-", ignore_cleanup_errors=True)  # mode 0700
    config = uvicorn.Config(
        Page(clipper, token, about=about, on_use=folder.cleanup),
        http="h11",
        ws="none",
        lifespan="off",
        # A request that Ctrl-C cuts short would be a traceback on the terminal; errors are shown on the page.
        log_level="critical",
        access_log=False,
        server_header=False,
        limit_concurrency=MAX_CONNECTIONS,
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
        timeout_graceful_shutdown=1,
    )
    try:
        announce(address)
        if browse and can_browse(os.environ, sys.platform):
            open_browser(address, folder.name)
        asyncio.run(_Server(config).serve(sockets=[listener]))
    finally:
        folder.cleanup()


class _Server(uvicorn.Server):
    """Ends at a signal with exit code 0; uvicorn would have the signal end the process."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, setattr, self, "should_exit", True)
        yield


def _listen(port: int) -> socket.socket:
    """Return a socket that browsers on this machine can connect to from now on."""
    listener = socket.socket()
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen()
    except OSError as error:
        listener.close()
        advice = f"--port {port + 1}" if port < 65_535 else "another port"
        raise UsageError(f"cannot listen on {HOST}:{port}: {error.strerror}. Try {advice}.") from error
    return listener


def open_browser(address: str, folder: str) -> None:
    """Open a browser through a private file: other users can list command lines, and would read the token there."""
    path = os.path.join(folder, "open.html")
    with open(path, "w", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(f'<!doctype html><meta http-equiv="refresh" content="0;url={escape(address)}">spill ui')
    with suppress(webbrowser.Error, OSError):
        webbrowser.open(f"file://{path}")


def can_browse(environ: Mapping[str, str], platform: str) -> bool:
    """Return whether there is a screen to open a browser on; without one, a text browser would take this terminal."""
    return platform == "darwin" or any(environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))


class Page:
    """The ASGI application: checks every request before any of it is read, then answers it in a thread."""

    def __init__(self, clipper: Clipper, token: str, *, about: Mapping[str, Any], on_use: Callable[[], None]) -> None:
        self.clipper = clipper
        self.token = token
        self.about = about
        self.on_use = on_use  # called at each request with the token
        self.library = Library(clipper.settings.outputs)
        self.outputs = Outputs(clipper.call(), self.library)
        folder = resources.files("spillover.ui") / "static"
        # The files are few and held in memory: no request ever names a path.
        self.files = {file.name: file.read_bytes() for file in folder.iterdir() if _media_type(file.name)}
        answers: dict[str, Callable[[Request], Any]] = {
            "about": lambda _: {**self.about, "problem": self.library.problem},
            "outputs": self._list,
            "text": lambda request: self.outputs.find(_text(request, "q")),
            "output/{id}": lambda request: describe(self._output(request), self.library),
            "output/{id}/lines": self._lines,
            "output/{id}/line": self._line,
            "output/{id}/search": self._search,
            "output/{id}/replay": lambda request: replay(self.clipper, self._output(request)),
            "output/{id}/clip": lambda request: try_settings(self.clipper, self._output(request), request.query_params),
            "commands": lambda _: {"commands": self.library.commands()},
            "runs": self._runs,
            "compare": self._compare,
            "stats": lambda request: add_up_days(self.library, _number(request, "days", 30)),
        }
        self.app = Starlette(
            routes=[
                *(Route(PRIVATE + path, self._endpoint(answer)) for path, answer in answers.items()),
                Route("/{path:path}", self._file),
            ],
            exception_handlers={SpilloverError: _explain, Exception: _apologize},
        )

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, or refuse it, and put our headers on the answer."""

        async def send_with_headers(event: Any) -> None:
            if event["type"] == "http.response.start":
                others = [pair for pair in event["headers"] if pair[0].lower() not in HEADERS]
                event = {**event, "headers": [*others, *HEADERS.items()]}
            await send(event)

        app: Any = self._refuse(scope) or self.app
        if app is self.app and scope["path"].startswith(PRIVATE):
            self.on_use()
        await app(scope, receive, send_with_headers)

    def _refuse(self, scope: Any) -> Response | None:
        """Return the answer to a request that may not be served; None if it may be."""
        headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
        host = headers.get("host", "")
        if sum(map(len, chain(*scope["headers"]))) > MAX_HEADER_BYTES:
            return _error(f"The headers are too large; the most is {MAX_HEADER_BYTES:,} bytes.", 431)
        if not _is_loopback(host):
            return _error(
                "The Host header names another machine. "
                "This page is served on this machine only, as 127.0.0.1 or localhost.",
                421,
            )
        if headers.get("origin") not in (None, f"http://{host}", f"https://{host}"):
            return _error("The Origin header names another site.", 403)
        is_private = scope["path"].startswith(PRIVATE)
        if is_private and not compare_digest(
            headers.get("authorization", "").encode(), f"Bearer {self.token}".encode()
        ):
            return _error(
                "The token is missing or wrong. "
                "Open the address that `spill ui` printed, with everything behind the #.",
                401,
                {"www-authenticate": "Bearer"},
            )
        if scope["method"] not in ("GET", "HEAD"):
            return _error("This page only answers GET. To remove an output, use `spill rm`.", 405)
        return None

    def _endpoint(self, answer: Callable[[Request], Any]) -> Callable[[Request], Response]:
        """Return a function that answers in JSON. Starlette calls it in a thread: reading an output may take long."""

        def respond(request: Request) -> Response:
            self.library.update()
            # ASCII: a lone surrogate, such as of a path, becomes an escape.
            body = json.dumps(answer(request), separators=(",", ":"), default=to_builtins)
            return Response(body, media_type="application/json")

        return respond

    def _file(self, request: Request) -> Response:
        name = request.path_params["path"] or "index.html"
        if name not in self.files:
            return _error("There is nothing here; the page is at /.", 404)
        return Response(self.files[name], media_type=f"{_media_type(name)}; charset=utf-8")

    def _output(self, request: Request) -> Output:
        return self.outputs.get(request.path_params["id"])

    def _list(self, request: Request) -> dict[str, Any]:
        """Return a part of the rows or, with `since`, those that have changed since a version."""
        since = _number(request, "since", -1)
        if since < 0:
            return self.library.page(_number(request, "from", 0), min(_number(request, "count", MAX_ROWS), MAX_ROWS))
        self.library.read_more()
        return self.library.changes(since)

    def _lines(self, request: Request) -> dict[str, Any]:
        first = _number(request, "from", 1)
        count = _number(request, "count", 200)
        return {"rows": read_lines(self._output(request), first, count, raw=_flag(request, "raw"))}

    def _line(self, request: Request) -> dict[str, Any]:
        line = _number(request, "line", 1)
        column = _number(request, "column", 1)
        return read_column(self._output(request), line, column, raw=_flag(request, "raw"))

    def _search(self, request: Request) -> dict[str, Any]:
        return search(self._output(request), _text(request, "q"), ignore_case=_flag(request, "i"))

    def _runs(self, request: Request) -> dict[str, Any]:
        return {"runs": self.outputs.runs(_text(request, "command"), _text(request, "project"))}

    def _compare(self, request: Request) -> dict[str, Any]:
        new, old = (self.outputs.get(_text(request, name)) for name in ("new", "old"))
        return compare_outputs(new, old)


def _is_loopback(host: str) -> bool:
    """Return whether a Host header names this machine, by a name that no other machine can have."""
    try:
        parts = urlsplit(f"//{host}")
        name = parts.hostname or ""
        is_plain = parts.netloc == host and parts.username is None and parts.port != 0
        return is_plain and (name == "localhost" or ip_address(name).is_loopback)
    except ValueError:
        return False


def _media_type(name: str) -> str:
    return MEDIA_TYPES.get(name.rpartition(".")[2], "")


def _text(request: Request, name: str) -> str:
    return request.query_params.get(name, "")


def _flag(request: Request, name: str) -> bool:
    return _text(request, name) == "1"


def _number(request: Request, name: str, default: int) -> int:
    text = request.query_params.get(name)
    if text is None:
        return default
    if not text.isascii() or not text.isdecimal() or len(text) > MAX_DIGITS:
        raise UsageError(f"{name}={text[:40]!r} is not a whole number.")
    return int(text)


def _error(message: str, status: int, headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"error": message}, status_code=status, headers=headers)


async def _explain(_: Request, error: Exception) -> Response:
    statuses = {RefError: 404, StoreError: 503, PatternError: 422}
    return _error(str(error), next((status for kind, status in statuses.items() if isinstance(error, kind)), 400))


async def _apologize(_: Request, error: Exception) -> Response:
    return _error(f"This is a bug in spill ui: {type(error).__name__}. Please report it.", 500)
