"""Which address answers what, and who may ask: everything under /api needs the token, and everything else is the same for all."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib import resources
from itertools import chain
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from spillover.api import Clipper
from spillover.errors import PatternError, RefError, SpilloverError, StoreError, UsageError
from spillover.ui import again, figures, find, history
from spillover.ui.door import Door
from spillover.ui.library import Library
from spillover.ui.outputs import MOST_LINES, Outputs, describe, read_column, read_lines

#: No script or style but our own files, no address but ours, nothing made from text, and nobody may put a frame around it.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
    (b"cache-control", b"no-store"),
)
TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
METHODS = ("GET", "HEAD")
HEADER_BYTES = 1 << 14
#: Rows in one answer: the first has what a screen shows and more, the others follow.
ROWS = 2_000
PRIVATE = "/api/"


class Page:
    """The ASGI application, with its checks around it."""

    def __init__(self, clipper: Clipper, door: Door, *, facts: Mapping[str, Any]) -> None:
        self.clipper, self.door, self.facts = clipper, door, dict(facts)
        self.library = Library(clipper.settings.outputs)
        self.outputs = Outputs(clipper.call(), self.library)
        self.history = history.History(self.library, self.outputs)
        self.used: Callable[[], None] = lambda: None  # called at the first request that has the token
        self._files = _read_files()
        one = "/api/output/{id}"
        routes = [
            Route("/api/about", self._about),
            Route("/api/outputs", self._list),
            Route("/api/text", self._find_outputs),
            Route(one, self._output),
            Route(f"{one}/lines", self._lines),
            Route(f"{one}/line", self._line),
            Route(f"{one}/search", self._search),
            Route(f"{one}/seen", self._seen),
            Route(f"{one}/clip", self._clip),
            Route("/api/commands", self._commands),
            Route("/api/runs", self._runs),
            Route("/api/compare", self._compare),
            Route("/api/stats", self._stats),
            Route("/{path:path}", self._file),
        ]
        self._app = Starlette(routes=routes, exception_handlers={SpilloverError: _explain, Exception: _excuse})

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Check who asks, answer, and put our headers on whatever goes out."""
        headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
        private = scope["path"].startswith(PRIVATE)
        refused = self.door.refuses(headers, public=not private)

        async def send_with_headers(event: Any) -> None:
            if event["type"] == "http.response.start":
                ours = {name for name, _ in HEADERS}
                kept = [pair for pair in event["headers"] if pair[0].lower() not in ours]
                event = {**event, "headers": [*kept, *HEADERS]}
            await send(event)

        answer: Any = self._app
        if sum(map(len, chain(*scope["headers"]))) > HEADER_BYTES:
            answer = _say(f"The headers are too large; the most is {HEADER_BYTES:,} bytes.", 431)
        elif refused is not None:
            answer = _say(refused.words, refused.status)
            answer.raw_headers += [*refused.headers]
        elif scope["method"] not in METHODS:
            answer = _say("This page only answers GET. To remove an output, use `spill rm`.", 405)
        elif private:
            self.used()
        await answer(scope, receive, send_with_headers)

    async def _answer(self, make: Callable[[], Any]) -> Response:
        """Answer from a thread: reading an output may take its time, and others are served meanwhile."""

        def answer() -> bytes:
            self.library.update()
            text = json.dumps(make(), separators=(",", ":"))
            return text.encode("utf-8", "replace")  # half a character is escaped, as JSON may

        return Response(await run_in_threadpool(answer), media_type="application/json")

    async def _file(self, request: Request) -> Response:
        name = request.path_params["path"] or "index.html"
        found = self._files.get(name)
        if found is None:
            return _say("There is nothing here; the page is at /.", 404)
        kind = TYPES[name.rpartition(".")[2]]
        return Response(found, media_type=f"{kind}; charset=utf-8")

    async def _about(self, _: Request) -> Response:
        return JSONResponse({**self.facts, "problem": self.library.problem})

    async def _list(self, request: Request) -> Response:
        """Return a part of the rows or, with `since`, those that have changed since a version."""
        first, count = _number(request, "from", 0), min(_number(request, "count", ROWS), ROWS)
        since = _number(request, "since", -1)

        def rows() -> dict[str, Any]:
            if since < 0:
                return self.library.page(first, count)
            self.library.read_more()
            return self.library.changes(since)

        return await self._answer(rows)

    async def _find_outputs(self, request: Request) -> Response:
        return await self._answer(
            lambda: find.find_outputs(self.outputs, self.library, request.query_params.get("q", ""))
        )

    async def _output(self, request: Request) -> Response:
        return await self._answer(lambda: describe(self.outputs.get(request.path_params["id"]), self.library))

    async def _lines(self, request: Request) -> Response:
        first, count = _number(request, "from", 1), _number(request, "count", 200)
        raw = request.query_params.get("raw") == "1"

        def lines() -> dict[str, Any]:
            output = self.outputs.get(request.path_params["id"])
            return {"from": first, "rows": read_lines(output, first, min(count, MOST_LINES), raw=raw)}

        return await self._answer(lines)

    async def _line(self, request: Request) -> Response:
        line, column = _number(request, "line", 1), _number(request, "column", 1)
        raw = request.query_params.get("raw") == "1"
        return await self._answer(
            lambda: read_column(self.outputs.get(request.path_params["id"]), line, column, raw=raw)
        )

    async def _search(self, request: Request) -> Response:
        pattern, ignore_case = request.query_params.get("q", ""), request.query_params.get("i") == "1"

        def search() -> dict[str, Any]:
            return find.find(self.outputs.get(request.path_params["id"]), pattern, ignore_case=ignore_case)

        return await self._answer(search)

    async def _seen(self, request: Request) -> Response:
        return await self._answer(lambda: again.see(self.clipper, self.outputs.get(request.path_params["id"])))

    async def _clip(self, request: Request) -> Response:
        given = dict(request.query_params)
        return await self._answer(
            lambda: again.try_other(self.clipper, self.outputs.get(request.path_params["id"]), given)
        )

    async def _commands(self, _: Request) -> Response:
        return await self._answer(lambda: {"commands": self.history.commands()})

    async def _runs(self, request: Request) -> Response:
        asked = request.query_params
        return await self._answer(
            lambda: {"runs": self.history.runs(asked.get("command", ""), asked.get("project", ""))}
        )

    async def _compare(self, request: Request) -> Response:
        asked = request.query_params

        def compared() -> dict[str, Any]:
            new, old = (self.outputs.get(asked.get(name, "")) for name in ("new", "old"))
            return history.compare_outputs(new, old)

        return await self._answer(compared)

    async def _stats(self, request: Request) -> Response:
        days = _number(request, "days", 30)
        return await self._answer(lambda: figures.add_up_days(self.library, days))


def _read_files() -> dict[str, bytes]:
    """Return the page's files by name. They are few, and held: no request ever names a path."""
    folder = resources.files("spillover.ui") / "static"
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.name.rpartition(".")[2] in TYPES}


def _number(request: Request, name: str, default: int) -> int:
    text = request.query_params.get(name)
    if text is None:
        return default
    if not text.isascii() or not text.isdecimal() or len(text) > 15:
        raise UsageError(f"{name}={text[:40]!r} is not a whole number.")
    return int(text)


def _say(words: str, status: int) -> JSONResponse:
    return JSONResponse({"error": words}, status_code=status)


async def _explain(_: Request, error: Exception) -> Response:
    status = 404 if isinstance(error, RefError) else 503 if isinstance(error, StoreError) else 400
    return _say(str(error), 422 if isinstance(error, PatternError) else status)


async def _excuse(_: Request, error: Exception) -> Response:
    return _say(f"This is a bug in spill ui: {type(error).__name__}. Please report it.", 500)
