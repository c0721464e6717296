"""Requests that the servers behind us have: the client's, and our own."""

from __future__ import annotations

import asyncio
import os

from spillover.adapters.mcp.answer import asking
from spillover.adapters.mcp.message import Message, request
from spillover.base.data import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from typing import Any, Protocol

    class Link(Protocol):
        """One side: a line is a message."""

        name: str

        @property
        def reads(self) -> bool: ...
        def __aiter__(self) -> AsyncIterator[bytes]: ...
        async def send(self, line: bytes) -> None: ...

    class ServerLink(Protocol):
        """A server: it can be started and ended."""

        name: str
        modern: bool  # whether it is to have messages of the stateless protocol as they are

        def __aiter__(self) -> AsyncIterator[bytes]: ...
        async def send(self, line: bytes) -> None: ...
        async def start(self) -> None: ...
        async def close(self) -> str: ...


@dataclass(slots=True)
class Call:
    """A request of the client that a server has."""

    method: str
    server: str
    tool: str = ""
    query: str = ""  # what it asks for, by its arguments


class Ask:
    """What we have asked, and who waits for it. Our ids are like nobody else's, not even another proxy's behind us."""

    def __init__(self, servers: Mapping[str, ServerLink]) -> None:
        self.servers = servers
        self.waiting: dict[str, tuple[str, asyncio.Future[Message]]] = {}
        self.numbers = 0
        self.mark = f"spill-{os.urandom(4).hex()}"

    async def __call__(self, server: str, method: str, params: dict[str, Any]) -> Message:
        """Return the answer of a server; ConnectionError when it has gone."""
        self.numbers += 1
        id_ = f"{self.mark}-{self.numbers}"
        future: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self.waiting[id_] = server, future
        try:
            await self.servers[server].send(request(id_, method, params))
            return await future
        finally:
            del self.waiting[id_]

    def answered(self, message: Message) -> bool:
        """Return whether a message is an answer to us."""
        if not isinstance(message.id, str) or message.id not in self.waiting:
            return False
        future = self.waiting[message.id][1]
        if not future.done():
            future.set_result(message)
        return True

    def gone(self, server: str, how: str) -> None:
        for name, future in self.waiting.values():
            if name == server and not future.done():
                future.set_exception(ConnectionResetError(f"The MCP server {server} {how}."))

    async def all_pages(self, server: str, method: str, key: str, message: Message) -> dict[str, Any] | Message:
        """Return a list of a server, page after page, as one page; the message where the server refuses."""
        params = asking(message)
        whole: dict[str, Any] = {}
        seen: set[Any] = set()
        while True:
            said = await self(server, method, params)
            page = said.result
            if not isinstance(page, dict):
                return said
            entries = page.get(key)
            whole = {**page, key: [*whole.get(key, ()), *(entries if isinstance(entries, list) else ())]}
            cursor = whole.pop("nextCursor", None)
            if not isinstance(cursor, str) or cursor in seen:
                return whole
            seen.add(cursor)
            params = {**params, "cursor": cursor}
