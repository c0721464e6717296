"""A server at a URL, by the transport of the official SDK for streamable HTTP, of `mcp` 1.x and 2.x alike."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import ClientMessageMetadata, SessionMessage

from spillover.notice.wording import one_line

try:
    import httpx2 as httpx
    from mcp_types import JSONRPCResponse, jsonrpc_message_adapter

    parse = jsonrpc_message_adapter.validate_json
    IS_V1 = False
except ImportError:  # mcp 1.x
    import httpx  # type: ignore[no-redef, import-not-found, unused-ignore]
    from mcp.types import JSONRPCMessage, JSONRPCResponse

    parse = JSONRPCMessage.model_validate_json  # type: ignore[attr-defined]
    IS_V1 = True

VERSION_HEADER = "mcp-protocol-version"
#: Messages that are received ahead of their reader. More costs memory.
BUFFER_MESSAGES = 64
#: Seconds to connect, and to send a message; with more, a client waits longer for a server that is not there.
CONNECT_SECONDS = 30.0
#: Characters of an error that are shown.
ERROR_CHARS = 200


class HttpServer:
    """A server at a URL."""

    modern = False  # its headers would have to say again what a stateless message says; the handshake will do

    def __init__(self, name: str, url: str, headers: Mapping[str, str] | None = None) -> None:
        self.name = name
        self.url = url
        self.headers = headers
        self.lines: asyncio.Queue[bytes | None] = asyncio.Queue(BUFFER_MESSAGES)
        self.version: str | None = None
        self.end = "is no longer there"
        self.ready = asyncio.Event()
        self.closed = asyncio.Event()

    async def start(self) -> None:
        self.task = asyncio.ensure_future(self._run())
        await self.ready.wait()

    async def _run(self) -> None:
        """Open and close the transport in one task, as it requires."""
        try:
            async with connect(self.url, self.headers) as (reading, writing):
                self.writing = writing
                self.ready.set()
                receiving = asyncio.ensure_future(self._receive(reading))
                ending = asyncio.ensure_future(self.closed.wait())
                await asyncio.wait([receiving, ending], return_when=asyncio.FIRST_COMPLETED)
                for task in (receiving, ending):
                    task.cancel()
        except* Exception as errors:  # noqa: BLE001  whatever it is, the server is gone
            first = first_error(errors)
            self.end = f"is no longer there ({one_line(f'{type(first).__name__}: {first}', ERROR_CHARS)})"
        finally:
            self.ready.set()
            self.closed.set()
            await self.lines.put(None)

    async def _receive(self, reading: Any) -> None:
        async for message in reading:
            if isinstance(message, SessionMessage):
                answer = content_of(message)
                if self.version is None and isinstance(answer, JSONRPCResponse):
                    self.version = answer.result.get("protocolVersion")
                await self.lines.put(line_of(message))

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (line := await self.lines.get()) is not None:
            yield line

    async def send(self, line: bytes) -> None:
        if self.closed.is_set():
            raise ConnectionResetError(f"The MCP server {self.name} {self.end}.")
        headers = {VERSION_HEADER: self.version} if self.version else {}
        try:
            await self.writing.send(with_headers(parse(line), headers))
        except Exception as error:
            raise ConnectionResetError(f"The MCP server {self.name} {self.end}.") from error

    async def close(self) -> str:
        self.closed.set()
        while not self.lines.empty():  # `_receive` may wait for room
            self.lines.get_nowait()
        with suppress(asyncio.CancelledError):
            await asyncio.wait([self.task])
        return self.end


def content_of(message: SessionMessage) -> Any:
    """Return the request, notification or response in a message."""
    return message.message.root if IS_V1 else message.message  # type: ignore[union-attr]


def line_of(message: Any) -> bytes:
    """Return a message as a line."""
    return message.message.model_dump_json(by_alias=True, exclude_unset=True).encode()  # type: ignore[no-any-return]


def with_headers(message: Any, headers: Mapping[str, str]) -> SessionMessage:
    """Return a message to be posted with these headers; 1.x adds the version of the protocol by itself."""
    return SessionMessage(message) if IS_V1 else SessionMessage(message, ClientMessageMetadata(headers=dict(headers)))


@asynccontextmanager
async def connect(url: str, headers: Mapping[str, str] | None) -> AsyncIterator[tuple[Any, Any]]:
    """Connect to a server at a URL, with these headers in each request; yield its two streams."""
    bounds = {} if IS_V1 else {"max_sse_event_size": None}  # before 2.x there is no bound
    async with (
        httpx.AsyncClient(headers=headers, timeout=httpx.Timeout(CONNECT_SECONDS, read=None)) as client,
        streamable_http_client(url, http_client=client, **bounds) as streams,  # type: ignore[arg-type]
    ):
        yield streams[0], streams[1]


def first_error(error: BaseException) -> BaseException:
    """Return the error inside of the groups that tasks put it in."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
