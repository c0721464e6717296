"""What a client wants of tools and stored outputs: the list of them, calls, and parts of an output as resources."""

from __future__ import annotations

import asyncio

from spillover.adapters.asked import query_of
from spillover.adapters.mcp.answer import completed, is_modern
from spillover.adapters.mcp.fields import LISTED_CHARS, NAME_CHARS, bound_strings
from spillover.adapters.mcp.message import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    Message,
    answer,
    dumps,
    refusal,
    written,
)
from spillover.adapters.mcp.reference import References
from spillover.adapters.mcp.result import error as error_within
from spillover.adapters.mcp.tools import called
from spillover.errors import SpilloverError
from spillover.ledger.note import note_retrieval, note_schemas
from spillover.notice.words import one_line
from spillover.retrieve.asked import SCHEME, read_ref
from spillover.retrieve.tools import ERROR_CHARS
from spillover.show.fit import trim

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence
    from typing import Any, Protocol

    from spillover.adapters.mcp.ask import Ask, Link, ServerLink
    from spillover.adapters.mcp.catalog import Catalog, Entry
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
            notes: tuple[str, ...] = (),
        ) -> None: ...


class Calling:
    """The tools of all servers and ours, as the client sees them."""

    def __init__(self, relay: Between, by_reference: Sequence[str] | None = None) -> None:
        self.relay = relay
        self.references = (
            None
            if by_reference is None
            else References(
                choices=relay.clipper.for_answers(), tools=tuple(by_reference), same_server=self._same_server
            )
        )

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
        if self.references is not None and SCHEME.encode() in message.line:
            self.relay.work(message, self._call_with_references(message, server, entry, str(name)))
            return
        await self.relay.forward(server, message, line=line, tool=str(name), query=query_of(params.get("arguments")))

    async def _call_with_references(self, message: Message, server: str, entry: Entry | None, name: str) -> None:
        """Pass on a call with what its references stand for; one that may not be passed on is refused in words."""
        assert self.references is not None
        params = message.params
        schema = entry.listed.get("inputSchema") if entry else None
        try:
            passed = await asyncio.to_thread(self.references.put_into, params.get("arguments"), name, schema)
        except SpilloverError as error:
            said = trim(f"[{one_line(str(error), ERROR_CHARS)}]", self.relay.clipper.for_answers())
            note_retrieval(self.relay.clipper, "read", said)
            result = {"content": [{"type": "text", "text": said}], "isError": True}
            await self.relay.client.send(answer(message.id, completed(result, message)))
            return
        own = {**params, "name": entry.name if entry else name, "arguments": passed.arguments}
        await self.relay.forward(server, message, line=message.with_params(own), tool=name, notes=passed.notes)

    def _same_server(self, source: str, target: str) -> bool:
        """Return whether two tools are of one server."""
        one, other = self.relay.catalog.entries.get(source), self.relay.catalog.entries.get(target)
        return one is not None and other is not None and one.server == other.server

    async def _call_unlisted(self, message: Message) -> None:
        await self.catalog_for(message)
        if self.relay.catalog.page is None:  # the server would not say
            self.relay.catalog.read({}, modern=is_modern(message))
        await self.call(message)

    async def read_resource(self, message: Message) -> None:
        """A stored output as a resource, or the part of it that its URI names; within the limits."""
        uri = str(message.params["uri"])
        try:
            clip = await asyncio.to_thread(self.relay.clipper.read, read_ref(uri))
        except SpilloverError as error:
            said = trim(one_line(str(error), ERROR_CHARS), self.relay.clipper.for_answers())
            note_retrieval(self.relay.clipper, "read", said)
            await self.relay.client.send(refusal(message.id, INVALID_PARAMS, said))
            return
        contents = [{"uri": uri[:NAME_CHARS], "mimeType": "text/plain", "text": clip.text}]
        await self.relay.client.send(answer(message.id, completed({"contents": contents}, message)))

    async def _call_ours(self, message: Message, tool: Any, arguments: Any) -> None:
        result = await called(tool, arguments, self.relay.clipper)
        await self.relay.client.send(answer(message.id, completed(result, message)))
