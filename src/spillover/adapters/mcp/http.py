"""Clients over streamable HTTP, by the transport of the official SDK: a session is a client, with servers of its own."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from itertools import chain
from uuid import uuid4

from mcp.shared.message import ServerMessageMetadata, SessionMessage

from spillover.adapters.mcp.many import VERSIONS
from spillover.adapters.mcp.message import refusal
from spillover.adapters.mcp.sdk import (
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    StreamableHTTPServerTransport,
    line_of,
    parse,
    said,
)
from spillover.adapters.mcp.url import SAID, VERSION_HEADER, first_of
from spillover.notice.words import one_line
from spillover.serving.server import make_server
from spillover.serving.sockets import listen, url_host

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
    from typing import Any

    from spillover.serving.door import Bounds, Door

    Serving = Callable[[Any], Coroutine[Any, Any, str | None]]

PATH = "/mcp"
SESSION_HEADER = "mcp-session-id"
#: The code for a version of the protocol that we do not speak; clients then fall back to the handshake.
UNSUPPORTED_VERSION, INVALID_REQUEST = -32022, -32600
#: What mcp 1.x says of a request that was cancelled.
CANCELLED = 0
#: Seconds between the last message of a session and its end.
LAST = 0.1
#: Seconds after which a client that was refused because there are too many may try again.
RETRY = 5
#: How much of what a refused client still sends is read and thrown away, and for how many seconds. A connection that is
#: closed on unread bytes is reset, and the client may lose the refusal with it.
LINGER_BYTES, LINGER_SECONDS = 1 << 20, 1.0


class HttpClient:
    """A client of ours: a session over HTTP."""

    name = "the client"
    reads = False  # a session that has ended is read by nobody

    def __init__(self, first: Any, reading: Any, writing: Any) -> None:
        self.first, self.reading, self.writing = first, reading, writing
        self.open: dict[Any, Any] = {}  # requests that wait for an answer, and what ends one without

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield await self._note(self.first)
        async for message in self.reading:
            if isinstance(message, SessionMessage):
                yield await self._note(message)

    async def _note(self, message: SessionMessage) -> bytes:
        """Return what waits for an answer, and what no longer does."""
        asked = said(message)
        if isinstance(asked, JSONRPCRequest):
            self.open[asked.id] = getattr(message.metadata, "on_request_unanswered", None)
        elif isinstance(asked, JSONRPCNotification) and asked.method == "notifications/cancelled":
            await self._end((asked.params or {}).get("requestId"))
        return line_of(message)

    async def _end(self, request_id: Any) -> None:
        """End the stream of a request that was cancelled, and that nobody will answer."""
        if request_id not in self.open:
            return
        unanswered = self.open[request_id]
        if unanswered is None:  # mcp 1.x knows no other way to end it, and answers like this itself
            await self.send(refusal(request_id, CANCELLED, "Request cancelled"))
        else:
            del self.open[request_id]
            await unanswered()

    async def send(self, line: bytes) -> None:
        message = SessionMessage(parse(line))
        answer = said(message)
        if isinstance(answer, JSONRPCResponse | JSONRPCError):
            self.open.pop(answer.id, None)
        elif self.open:  # on the stream of a request that waits: that one is sure to be open
            message.metadata = ServerMessageMetadata(related_request_id=next(reversed(self.open)))
        try:
            await self.writing.send(message)
        except Exception as error:
            raise ConnectionResetError("the client has gone") from error


class Session:
    """A client that has come, and how busy it is."""

    def __init__(self, transport: StreamableHTTPServerTransport) -> None:
        self.transport = transport
        self.task: asyncio.Task[None] | None = None
        self.requests = self.turn = 0
        self.since = 0.0  # when its last request ended


class Sessions:
    """The ASGI application: each session has a relay, and servers, of its own."""

    def __init__(
        self, session: Serving, door: Door, bounds: Bounds, servers: int, complain: Callable[[str], None]
    ) -> None:
        self.session, self.door, self.bounds, self.complain = session, door, bounds, complain
        self.most = bounds.most_sessions(servers)
        self.open: dict[str, Session] = {}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
        version, id_ = headers.get(VERSION_HEADER), headers.get(SESSION_HEADER)
        refused = self.door.refuses(headers)
        if sum(map(len, chain(*scope["headers"]))) > self.bounds.header_bytes:
            words = f"The headers are too large; the most is {self.bounds.header_bytes:,} bytes."
            await _refuse(receive, send, 431, _say(words))
        elif refused is not None:
            await _refuse(receive, send, refused.status, _say(refused.words), refused.headers)
        elif scope["path"].rstrip("/") != PATH:
            await _refuse(receive, send, 404, _say(f"There is nothing here; MCP is at {PATH}."))
        elif version is not None and version not in VERSIONS:
            named = {"supported": [*VERSIONS], "requested": one_line(version, SAID)}
            await _refuse(receive, send, 400, refusal(None, UNSUPPORTED_VERSION, "Unsupported protocol version", named))
        elif id_ is not None and id_ not in self.open:
            await _refuse(receive, send, 404, refusal(None, INVALID_REQUEST, "Session not found"))
        elif (body := await self._body(headers, receive, send)) is None:
            return
        elif id_ is None:
            await self._begin(scope, _replay(body, receive), send)
        elif id_ in self.open:
            await self._go_on(self.open[id_], scope, _replay(body, receive), send)
        else:  # it has ended meanwhile
            await _refuse(_replay(body, receive), send, 404, refusal(None, INVALID_REQUEST, "Session not found"))

    async def _body(self, headers: dict[str, str], receive: Any, send: Any) -> bytes | None:
        """Return the whole body; None where it was too large, or too slow, or its client has gone: that is answered then."""
        most = self.bounds.body_bytes
        body = bytearray()
        declared = headers.get("content-length", "0")
        too_large = declared.isdecimal() and int(declared) > most
        try:
            async with asyncio.timeout(self.bounds.body_seconds):
                more = not too_large
                while more:
                    event = await receive()
                    if event["type"] != "http.request":
                        return None
                    body += event.get("body", b"")
                    too_large = len(body) > most
                    more = event.get("more_body", False) and not too_large
        except TimeoutError:
            await _refuse(receive, send, 408, _say("The body did not arrive in time."))
            return None
        if too_large:
            await _refuse(receive, send, 413, _say(f"The message is too large; the most is {most:,} bytes."))
            return None
        return bytes(body)

    async def _begin(self, scope: Any, receive: Any, send: Any) -> None:
        if len(self.open) >= self.most:
            await self._make_room()
        if len(self.open) >= self.most:
            words = f"{len(self.open):,} sessions are open, which is the most; end one of them, or try again later."
            await _refuse(receive, send, 503, _say(words), [(b"retry-after", b"%d" % RETRY)])
            return
        id_ = uuid4().hex
        session = self.open[id_] = Session(StreamableHTTPServerTransport(id_))
        ready = asyncio.Event()
        session.task = asyncio.ensure_future(self._run(id_, session, ready))
        await ready.wait()
        status = 0

        async def watch(event: Any) -> None:
            nonlocal status
            status = event.get("status", status)
            await send(event)

        await self._go_on(session, scope, receive, watch)
        if not 200 <= status < 300:  # it was no handshake: there is no session
            session.task.cancel()

    async def _make_room(self) -> None:
        """End the session that has been idle longest, if that is long enough, and its servers with it."""
        idle = [session for session in self.open.values() if not session.requests and session.since]
        oldest = min(idle, key=lambda session: session.since, default=None)
        now = asyncio.get_running_loop().time()
        if oldest is None or oldest.task is None or now - oldest.since < self.bounds.spare_seconds:
            return
        oldest.task.cancel()
        await asyncio.wait([oldest.task])

    async def _run(self, id_: str, session: Session, ready: asyncio.Event) -> None:
        try:
            async with session.transport.connect() as (reading, writing):
                ready.set()
                first = await reading.receive()  # the transport has let it pass: now servers may be started
                how = await self.session(HttpClient(first, reading, writing))
                await asyncio.sleep(LAST)  # for what was sent at the end
            if how is not None:
                self.complain(f"the MCP server {how}")
        except Exception as error:  # noqa: BLE001  one session's trouble is not another's
            self.complain(one_line(str(first_of(error)), SAID))
        finally:
            ready.set()
            del self.open[id_]
            await session.transport.terminate()

    async def _go_on(self, session: Session, scope: Any, receive: Any, send: Any) -> None:
        session.requests += 1
        session.turn += 1
        try:
            await session.transport.handle_request(scope, receive, send)
        finally:
            session.requests -= 1
            loop = asyncio.get_running_loop()
            session.since = loop.time()
            if session.transport.is_terminated:
                self._end(session, session.turn)
            elif not session.requests:
                # A client holds its stream open as long as it is there; one that has none is given longer.
                bounds, has_stream = self.bounds, scope["method"] == "GET"
                patience = bounds.broken_off_seconds if has_stream else bounds.idle_session_seconds
                loop.call_later(patience, self._end, session, session.turn)

    def _end(self, session: Session, turn: int) -> None:
        if session.turn == turn and not session.requests and session.task is not None:
            session.task.cancel()

    async def close(self) -> None:
        tasks = [session.task for session in self.open.values() if session.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _replay(body: bytes, receive: Any) -> Any:
    """Return what was read already, and then whatever comes."""
    left = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Any:
        return left.pop() if left else await receive()

    return replay


def _say(words: str) -> bytes:
    return refusal(None, INVALID_REQUEST, words)


async def _refuse(
    receive: Any, send: Any, status: int, body: bytes, headers: Sequence[tuple[bytes, bytes]] = ()
) -> None:
    """Send an answer of our own, let the client read it, and close the connection."""
    kind = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body)), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": [*kind, *headers]})
    await send({"type": "http.response.body", "body": body, "more_body": True})
    left = LINGER_BYTES
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGER_SECONDS):
            while left > 0:
                event = await receive()
                if event["type"] != "http.request" or not event.get("more_body"):
                    break
                left -= len(event.get("body", b""))
    await send({"type": "http.response.body", "body": b""})


async def serve(
    session: Serving,
    port: int,
    door: Door,
    bounds: Bounds,
    *,
    servers: int,
    complain: Callable[[str], None],
    say: Callable[[str], None],
) -> None:
    """Serve at the door's address until a signal ends us; `say` is told the URL once a client may come."""
    host = door.host
    app = Sessions(session, door, bounds, servers, complain)
    server = make_server(app, host, bounds)
    opened = listen(host, port)  # ours, since uvicorn would print the error of the system and exit
    say(f"http://{url_host(host)}:{opened.getsockname()[1]}{PATH}")
    try:
        await server.serve(sockets=[opened])
    finally:
        await app.close()
