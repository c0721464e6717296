"""MCP over streamable HTTP, by the transports of the official SDK: a session is a client, a URL is a server."""

from __future__ import annotations

import asyncio
import signal
from contextlib import contextmanager, suppress
from uuid import uuid4

import httpx2
import uvicorn
from mcp.client.streamable_http import streamable_http_client
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.message import ClientMessageMetadata, ServerMessageMetadata, SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse, jsonrpc_message_adapter

from spillover.adapters.mcp_many import VERSIONS
from spillover.adapters.mcp_message import refusal
from spillover.errors import UsageError
from spillover.notice import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
    from typing import Any

    Serving = Callable[[Any], Coroutine[Any, Any, str | None]]

PATH = "/mcp"
VERSION_HEADER = "mcp-protocol-version"
SESSION_HEADER = "mcp-session-id"
#: The code for a version of the protocol that we do not speak; clients then fall back to the handshake.
UNSUPPORTED_VERSION, INVALID_REQUEST = -32022, -32600
#: A session without a request for so long is over; and one whose client broke its stream off and did not come back.
IDLE, BROKEN_OFF = 30 * 60.0, 5.0
#: How many messages may wait for whoever takes them.
AHEAD = 64
CONNECT = 30.0
#: Seconds between the last message of a session and its end.
LAST = 0.1
#: How much of an error is told.
SAID = 200
LOCAL = ("127.0.0.1", "localhost", "[::1]")


def _line(message: Any) -> bytes:
    return message.message.model_dump_json(by_alias=True, exclude_unset=True).encode()  # type: ignore[no-any-return]


def _first(error: BaseException) -> BaseException:
    """What went wrong, out of the groups that tasks put it in."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


class HttpServer:
    """A server at a URL."""

    modern = False  # its headers would have to say again what a stateless message says; the handshake will do

    def __init__(self, name: str, url: str, headers: Mapping[str, str]) -> None:
        self.name, self.url, self.headers = name, url, headers
        self.lines: asyncio.Queue[bytes | None] = asyncio.Queue(AHEAD)
        self.version: str | None = None
        self.how = "is no longer there"
        self.ready = asyncio.Event()
        self.over = asyncio.Event()

    async def start(self) -> None:
        self.task = asyncio.ensure_future(self._run())
        await self.ready.wait()

    async def _run(self) -> None:
        """The transport is entered and left in one task, as it wants to be."""
        try:
            timeout = httpx2.Timeout(CONNECT, read=None)
            async with (
                httpx2.AsyncClient(headers=dict(self.headers), timeout=timeout) as client,
                streamable_http_client(self.url, http_client=client, max_sse_event_size=None) as (reading, writing),
            ):
                self.writing = writing
                self.ready.set()
                taking = asyncio.ensure_future(self._take(reading))
                ending = asyncio.ensure_future(self.over.wait())
                await asyncio.wait([taking, ending], return_when=asyncio.FIRST_COMPLETED)
                for task in (taking, ending):
                    task.cancel()
        except* Exception as errors:  # noqa: BLE001  whatever it is, the server is gone
            first = _first(errors)
            self.how = f"is no longer there ({one_line(f'{type(first).__name__}: {first}', SAID)})"
        finally:
            self.ready.set()
            self.over.set()
            await self.lines.put(None)

    async def _take(self, reading: Any) -> None:
        async for message in reading:
            if isinstance(message, SessionMessage):
                if self.version is None and isinstance(message.message, JSONRPCResponse):
                    self.version = message.message.result.get("protocolVersion")
                await self.lines.put(_line(message))

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (line := await self.lines.get()) is not None:
            yield line

    async def send(self, line: bytes) -> None:
        if self.over.is_set():
            raise ConnectionResetError(f"The MCP server {self.name} {self.how}.")
        headers = {VERSION_HEADER: self.version} if self.version else None
        message = SessionMessage(jsonrpc_message_adapter.validate_json(line), ClientMessageMetadata(headers=headers))
        try:
            await self.writing.send(message)
        except Exception as error:
            raise ConnectionResetError(f"The MCP server {self.name} {self.how}.") from error

    async def close(self) -> str:
        self.over.set()
        while not self.lines.empty():  # whoever puts more must not wait for us
            self.lines.get_nowait()
        with suppress(asyncio.CancelledError):
            await asyncio.wait([self.task])
        return self.how


class HttpClient:
    """A client of ours: a session over HTTP."""

    name = "the client"
    reads = False  # a session that has ended is read by nobody

    def __init__(self, first: Any, reading: Any, writing: Any) -> None:
        self.first, self.reading, self.writing = first, reading, writing
        self.open: dict[Any, Any] = {}  # requests that wait for an answer, and what ends one without

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield await self._noted(self.first)
        async for message in self.reading:
            if isinstance(message, SessionMessage):
                yield await self._noted(message)

    async def _noted(self, message: SessionMessage) -> bytes:
        """What waits for an answer, and what no longer does."""
        said = message.message
        if isinstance(said, JSONRPCRequest):
            self.open[said.id] = getattr(message.metadata, "on_request_unanswered", None)
        elif isinstance(said, JSONRPCNotification) and said.method == "notifications/cancelled":
            unanswered = self.open.pop((said.params or {}).get("requestId"), None)
            if unanswered is not None:
                await unanswered()
        return _line(message)

    async def send(self, line: bytes) -> None:
        message = jsonrpc_message_adapter.validate_json(line)
        metadata = None
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self.open.pop(message.id, None)
        elif self.open:  # on the stream of a request that waits: that one is sure to be open
            metadata = ServerMessageMetadata(related_request_id=next(reversed(self.open)))
        try:
            await self.writing.send(SessionMessage(message, metadata))
        except Exception as error:
            raise ConnectionResetError("the client has gone") from error


class Session:
    """A client that has come, and how busy it is."""

    def __init__(self, transport: StreamableHTTPServerTransport) -> None:
        self.transport = transport
        self.task: asyncio.Task[None] | None = None
        self.requests = self.turn = 0


class Sessions:
    """The ASGI application: each session has a relay, and servers, of its own."""

    def __init__(self, session: Serving, hosts: Sequence[str], complain: Callable[[str], None]) -> None:
        self.session, self.complain = session, complain
        self.security = TransportSecuritySettings(
            enable_dns_rebinding_protection=bool(hosts),
            allowed_hosts=[f"{host}:*" for host in hosts],
            allowed_origins=[f"http://{host}:*" for host in hosts],
        )
        self.open: dict[str, Session] = {}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = {key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]}
        version, id_ = headers.get(VERSION_HEADER), headers.get(SESSION_HEADER)
        if scope["path"].rstrip("/") != PATH:
            await _respond(send, 404, b"")
        elif version is not None and version not in VERSIONS:
            named = {"supported": [*VERSIONS], "requested": version}
            await _respond(send, 400, refusal(None, UNSUPPORTED_VERSION, "Unsupported protocol version", named))
        elif id_ is None:
            await self._begin(scope, receive, send)
        elif id_ in self.open:
            await self._go_on(self.open[id_], scope, receive, send)
        else:
            await _respond(send, 404, refusal(None, INVALID_REQUEST, "Session not found"))

    async def _begin(self, scope: Any, receive: Any, send: Any) -> None:
        id_ = uuid4().hex
        session = self.open[id_] = Session(StreamableHTTPServerTransport(id_, security_settings=self.security))
        ready = asyncio.Event()
        session.task = asyncio.ensure_future(self._run(id_, session, ready))
        await ready.wait()
        status = 0

        async def watched(event: Any) -> None:
            nonlocal status
            status = event.get("status", status)
            await send(event)

        await self._go_on(session, scope, receive, watched)
        if not 200 <= status < 300:  # it was no handshake: there is no session
            session.task.cancel()

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
            self.complain(one_line(str(_first(error)), SAID))
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
            if session.transport.is_terminated:
                self._end(session, session.turn)
            elif not session.requests:
                # A client holds its stream open as long as it is there; one that has none is given longer.
                patience = BROKEN_OFF if scope["method"] == "GET" else IDLE
                asyncio.get_running_loop().call_later(patience, self._end, session, session.turn)

    def _end(self, session: Session, turn: int) -> None:
        if session.turn == turn and not session.requests and session.task is not None:
            session.task.cancel()

    async def close(self) -> None:
        tasks = [session.task for session in self.open.values() if session.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _respond(send: Any, status: int, body: bytes) -> None:
    kind = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": kind})
    await send({"type": "http.response.body", "body": body})


class _Server(uvicorn.Server):
    """Ends at a signal as we do, with everything closed; uvicorn would have the signal end us then."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, setattr, self, "should_exit", True)
        yield


async def serve(session: Serving, at: tuple[str, int], complain: Callable[[str], None]) -> None:
    """Serve at an address until a signal ends us."""
    host, port = at
    app = Sessions(session, LOCAL if host in (*LOCAL, "::1") else (), complain)
    config = uvicorn.Config(
        app, host=host, port=port, log_level="error", lifespan="off", timeout_graceful_shutdown=1, access_log=False
    )
    server = _Server(config)
    try:
        sockets = [config.bind_socket()]
    except SystemExit as error:
        raise UsageError(f"cannot listen at {host}:{port}; another port may be free.") from error
    sockets[0].listen()  # from now on a client may come
    name = f"[{host}]" if ":" in host else host
    complain(f"serving MCP at http://{name}:{sockets[0].getsockname()[1]}{PATH}")
    try:
        await server.serve(sockets=sockets)
    finally:
        await app.close()
