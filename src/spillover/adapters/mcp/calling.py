"""What a client wants of tools: the list of them, and calls."""

from __future__ import annotations

import asyncio

from spillover.adapters.asked import query_of
from spillover.adapters.mcp.answer import completed, is_modern
from spillover.adapters.mcp.fields import LISTED_CHARS, bound_strings
from spillover.adapters.mcp.message import (
    METHOD_NOT_FOUND,
    Message,
    answer,
    dumps,
    refusal,
    written,
)
from spillover.adapters.mcp.result import error as error_within
from spillover.adapters.mcp.tools import called
from spillover.ledger.note import note_schemas
from spillover.notice.words import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any, Protocol

    from spillover.adapters.mcp.ask import Ask, Link, ServerLink
    from spillover.adapters.mcp.catalog import Catalog
    from spillover.adapters.mcp.many import Many
    from spillover.clipper import Clipper

    class Between(Protocol):
        """Who stands between the client and the servers."""

        client: Link
        servers: dict[str, ServerLink]
        only: str | None
        gone: dict[str, str]
        host: str
        clipper: Clipper
        catalog: Catalog
        ask: Ask
        many: Many

        def work(self, message: Message, work: Coroutine[Any, Any, None]) -> None: ...
        async def forward(
            self,
            server: str,
            message: Message,
            *,
            line: bytes | None = None,
            tool: str = "",
            query: str = "",
        ) -> None: ...


class Calling:
    """The tools of all servers and ours, as the client sees them."""

    def __init__(self, relay: Between) -> None:
        self.relay = relay

    async def list_tools(self, message: Message) -> None:
        """Answer with the tools of all servers, and ours."""
        page = await self.catalog_for(message, anew=True)
        if isinstance(page, Message):
            told = await asyncio.to_thread(error_within, page.error, self.relay.catalog.tool("tools/list").choices)
            await self.relay.client.send(dumps({"jsonrpc": "2.0", "id": message.id, "error": told}))
            return
        await self.relay.client.send(answer(message.id, await self.listed("tools/list", page)))
        ours = [tool.listed for tool in self.relay.catalog.ours.values()]
        if ours:
            await asyncio.to_thread(note_schemas, self.relay.clipper, written(ours), host=self.relay.host or None)

    async def listed(self, method: str, page: Any) -> Any:
        """Return a list, or what is said of all servers, without strings that no host could want."""
        tool = self.relay.catalog.tool(method)
        if tool.left_alone:
            return page
        return await asyncio.to_thread(bound_strings, page, tool.choices, free=LISTED_CHARS)

    async def catalog_for(self, message: Message, *, anew: bool = False) -> Any:
        """Return what tools there are: the answer to tools/list; or, as it came, the error of the only server."""
        if self.relay.catalog.page is not None and not anew:
            return self.relay.catalog.page
        pages = {}
        for name in self.relay.servers:
            if name in self.relay.gone or self.relay.many.lacks(name, "tools"):
                continue
            listed = await self.relay.ask.all_pages(name, "tools/list", "tools", message)
            if not isinstance(listed, Message):
                pages[name] = listed
            elif self.relay.only and listed.error and listed.error.get("code") != METHOD_NOT_FOUND:
                return listed
        return self.relay.catalog.read(pages, modern=is_modern(message))

    async def call(self, message: Message) -> None:
        """Pass a call on to the server that has the tool, or answer it ourselves."""
        if self.relay.catalog.page is None:
            self.relay.work(message, self._call_unlisted(message))
            return
        params = message.params
        name = params.get("name")
        ours = self.relay.catalog.ours.get(name) if isinstance(name, str) else None
        if ours is not None:
            self.relay.work(message, self._call_ours(message, ours, params.get("arguments")))
            return
        entry = self.relay.catalog.entries.get(name) if isinstance(name, str) else None
        server = entry.server if entry else self.relay.only
        if server is None:
            await self.relay.client.send(refusal(message.id, -32602, f"Unknown tool: {one_line(str(name), 80)}"))
            return
        line = message.with_params({**params, "name": entry.name}) if entry and entry.name != name else None
        await self.relay.forward(server, message, line=line, tool=str(name), query=query_of(params.get("arguments")))

    async def _call_unlisted(self, message: Message) -> None:
        await self.catalog_for(message)
        if self.relay.catalog.page is None:  # the server would not say
            self.relay.catalog.read({}, modern=is_modern(message))
        await self.call(message)

    async def _call_ours(self, message: Message, tool: Any, arguments: Any) -> None:
        result = await called(tool, arguments, self.relay.clipper)
        await self.relay.client.send(answer(message.id, completed(result, message)))
