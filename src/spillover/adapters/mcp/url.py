"""A server at a URL, by the transport of the official SDK for streamable HTTP."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from mcp.shared.message import SessionMessage

from spillover.adapters.mcp.sdk import JSONRPCResponse, connect, line_of, parse, said, with_headers
from spillover.notice.words import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from typing import Any

VERSION_HEADER = "mcp-protocol-version"
#: How many messages may wait for whoever takes them.
AHEAD = 64
CONNECT = 30.0
#: How much of an error is told.
SAID = 200


def first_of(error: BaseException) -> BaseException:
    """Return what went wrong, out of the groups that tasks put it in."""
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
        """Open and close the transport in one task, as it requires."""
        try:
            async with connect(self.url, self.headers, CONNECT) as (reading, writing):
                self.writing = writing
                self.ready.set()
                taking = asyncio.ensure_future(self._take(reading))
                ending = asyncio.ensure_future(self.over.wait())
                await asyncio.wait([taking, ending], return_when=asyncio.FIRST_COMPLETED)
                for task in (taking, ending):
                    task.cancel()
        except* Exception as errors:  # noqa: BLE001  whatever it is, the server is gone
            first = first_of(errors)
            self.how = f"is no longer there ({one_line(f'{type(first).__name__}: {first}', SAID)})"
        finally:
            self.ready.set()
            self.over.set()
            await self.lines.put(None)

    async def _take(self, reading: Any) -> None:
        async for message in reading:
            if isinstance(message, SessionMessage):
                answer = said(message)
                if self.version is None and isinstance(answer, JSONRPCResponse):
                    self.version = answer.result.get("protocolVersion")
                await self.lines.put(line_of(message))

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (line := await self.lines.get()) is not None:
            yield line

    async def send(self, line: bytes) -> None:
        if self.over.is_set():
            raise ConnectionResetError(f"The MCP server {self.name} {self.how}.")
        headers = {VERSION_HEADER: self.version} if self.version else {}
        try:
            await self.writing.send(with_headers(parse(line), headers))
        except Exception as error:
            raise ConnectionResetError(f"The MCP server {self.name} {self.how}.") from error

    async def close(self) -> str:
        self.over.set()
        while not self.lines.empty():  # whoever puts more must not wait for us
            self.lines.get_nowait()
        with suppress(asyncio.CancelledError):
            await asyncio.wait([self.task])
        return self.how
