"""Between one MCP client and the servers behind us: messages pass as they came, results pass within the limits.

A message is read only as far as it must be; what nobody here knows passes. So new methods need nothing new from us.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial

from spillover.adapters.asked import query_of
from spillover.adapters.mcp.answer import completed, finished, is_modern, survived, with_notes, with_tools, within
from spillover.adapters.mcp.ask import Ask, Call
from spillover.adapters.mcp.catalog import Catalog
from spillover.adapters.mcp.fields import LISTED_CHARS, NAME_CHARS, bound_strings
from spillover.adapters.mcp.many import Many
from spillover.adapters.mcp.message import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    Message,
    answer,
    dumps,
    messages,
    read_deep,
    refusal,
    written,
)
from spillover.adapters.mcp.noting import NOTED, client_of, finish_and_note, note_answer
from spillover.adapters.mcp.reference import References
from spillover.adapters.mcp.result import error as error_within
from spillover.adapters.mcp.result import is_small, surely_fits
from spillover.adapters.mcp.tools import called
from spillover.base.data import replace
from spillover.errors import SpilloverError
from spillover.ledger.note import note_retrieval, note_schemas
from spillover.notice.words import one_line
from spillover.retrieve.asked import SCHEME, read_ref
from spillover.retrieve.tools import ERROR_CHARS
from spillover.show.fit import trim

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence
    from typing import Any

    from spillover.adapters.mcp.ask import Link, ServerLink
    from spillover.adapters.mcp.catalog import Entry
    from spillover.clipper import Clipper


#: Once the client has gone, how long answers may still come.
PATIENCE, TICK = 2.0, 0.01
#: Seconds for answers to what a client asked before it closed its side: on a busy machine a large one takes longer than the rest.
LAST_ANSWERS = 30.0
#: A result up to this size is clipped where it is; a larger one in a thread, so that nobody waits for it.
SMALL = 1 << 13
#: What is answered for a server that has no resources, where links to ours are given.
NO_RESOURCES: dict[str, dict[str, Any]] = {
    "resources/list": {"resources": []},
    "resources/templates/list": {"resourceTemplates": []},
}
#: How much of a line that is no message is told.
GARBAGE = 200


class Relay:
    """One client, the servers behind us, and our own tools between them."""

    def __init__(
        self,
        client: Link,
        servers: Mapping[str, ServerLink],
        clipper: Clipper,
        *,
        allow_run: bool = False,
        offer: bool = True,
        links: bool = False,
        by_reference: Sequence[str] | None = None,
        complain: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.client, self.servers, self.clipper, self.complain = client, dict(servers), clipper, complain
        self.only = next(iter(servers)) if len(servers) == 1 else None
        self.catalog = Catalog(clipper, [*servers], allow_run=allow_run, offer=offer, links=links)
        self.links = links
        self.references = (
            None
            if by_reference is None
            else References(choices=clipper.for_answers(), tools=tuple(by_reference), same_server=self._same_server)
        )
        self.calls: dict[Any, Call] = {}
        self.ask = Ask(self.servers)
        self.many = Many(self)
        self.questions: dict[str, tuple[str, Any]] = {}  # requests of servers, where there are several
        self.working: dict[Any, asyncio.Task[None]] = {}  # requests of the client that we answer ourselves
        self.tasks: set[asyncio.Task[None]] = set()
        self.gone: dict[str, str] = {}
        self.host = ""  # what the client calls itself

    async def run(self) -> str | None:
        """Run until the client or the servers have gone; return in words how the servers ended."""
        pumps = [asyncio.ensure_future(self._serve(server)) for server in self.servers.values()]
        reading = asyncio.ensure_future(self._read())
        over = asyncio.ensure_future(asyncio.wait(pumps)) if pumps else asyncio.get_running_loop().create_future()
        try:
            await asyncio.wait([reading, over], return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                return "; ".join(f"{name} {how}" for name, how in self.gone.items()) or None
            await self._wait_until_settled()
            return None
        finally:
            # What a server still has to say is read until it has ended; it could wait for that.
            await asyncio.gather(*(server.close() for server in self.servers.values()), return_exceptions=True)
            for task in (reading, over, *pumps, *self.tasks):
                task.cancel()
            await asyncio.gather(reading, *pumps, *self.tasks, return_exceptions=True)

    async def _wait_until_settled(self) -> None:
        """Wait, but not for ever, until every request of a client that still reads has been answered."""
        for _ in range(int(LAST_ANSWERS / TICK)):
            if not self.client.reads or not (self.calls or self.tasks):
                return
            await asyncio.sleep(TICK)

    async def _read(self) -> None:
        """Pass the client's messages to where they belong."""
        async for line in self.client:
            found = [*messages(line)] or [*filter(None, [read_deep(line)])]
            for message in found:
                try:
                    await self._from_client(message)
                except ConnectionError:
                    pass  # a server that has gone is told of where its end is seen
                except Exception as error:  # noqa: BLE001  an odd message is not the last one
                    await self._refuse(message, error)
            if not found and line.strip():
                await self.client.send(refusal(None, PARSE_ERROR, "This line is not a JSON-RPC message."))

    async def _serve(self, server: ServerLink) -> None:
        """Pass a server's messages to the client; when it ends, answer calls that wait for it with an error."""
        async for line in server:
            found = False
            for message in messages(line):
                found = True
                try:
                    await self._from_server(server, message)
                except ConnectionError:
                    raise
                except Exception as error:  # noqa: BLE001  one odd message must not stop all that follow
                    await self._survive(server, message, error)
            if not found and line.strip():
                said = one_line(line[: 4 * GARBAGE].decode("utf-8", "replace"), GARBAGE)
                self.complain(f"{server.name} printed {len(line):,} bytes that are not a message: {said}")
                await self._answer_garbled(server, line)
        how = self.gone[server.name] = await server.close()
        for id_ in [id_ for id_, call in self.calls.items() if call.server == server.name]:
            del self.calls[id_]
            await self.client.send(
                refusal(id_, CONNECTION_CLOSED, f"The MCP server {server.name} {how} during this call.")
            )
        self.ask.gone(server.name, how)
        if self.working:
            await asyncio.wait(self.working.values(), timeout=PATIENCE)

    async def _answer_garbled(self, server: ServerLink, line: bytes) -> None:
        """Answer the call whose answer cannot be read, for example because it is nested too deeply."""
        ends = line[:GARBAGE] + b" " + line[-GARBAGE:]
        if not line.startswith(b"{") or not (b'"result"' in ends or b'"error"' in ends):
            return
        plain = ends.replace(b" ", b"")
        for id_, call in [*self.calls.items()]:
            named = b'"id":' + dumps(id_)
            if call.server == server.name and (named + b"," in plain or named + b"}" in plain):
                del self.calls[id_]
                kept = await self.clipper.aclip(line, tool=call.tool or call.method)
                where = f" Full output: {kept.ref}" if kept.ref else ""
                await self.client.send(
                    refusal(id_, INTERNAL_ERROR, f"The server's answer cannot be read as JSON.{where}")
                )
                return

    async def _survive(self, server: ServerLink, message: Message, error: Exception) -> None:
        """Tell whoever waits for a server's message that we failed to process it."""
        words = one_line(f"A message of {server.name} could not be passed on: {error!r}", GARBAGE)
        self.complain(words)
        if message.method is None:
            await self.client.send(refusal(message.id, INTERNAL_ERROR, words))
        elif message.is_request:
            with suppress(ConnectionError):
                await server.send(refusal(message.id, INTERNAL_ERROR, words))

    async def _refuse(self, message: Message, error: Exception) -> None:
        """Answer a request with what is wrong with it."""
        code = CONNECTION_CLOSED if isinstance(error, ConnectionError) else INTERNAL_ERROR
        words = str(error) if isinstance(error, (ConnectionError, SpilloverError)) else repr(error)
        if message.is_request:
            with suppress(ConnectionError):
                await self.client.send(refusal(message.id, code, one_line(words, GARBAGE)))

    # From the client

    async def _from_client(self, message: Message) -> None:
        if message.method in ("initialize", "server/discover"):
            self.catalog.meet(message.params)
        if message.method is None:
            await self._reply(message)
        elif not message.is_request:
            await self._notify(message)
        elif message.method == "initialize":
            self.host = client_of(message)
            await self._pass_on(message)
        elif message.method == "tools/list":
            self._work(message, self._list_tools(message))
        elif message.method == "tools/call":
            await self._call_tool(message)
        elif message.method == "resources/read" and str(message.params.get("uri", "")).startswith(SCHEME):
            self._work(message, self._read_resource(message))
        elif self.links and message.method in NO_RESOURCES and self.only and self.many.lacks(self.only, "resources"):
            await self.client.send(answer(message.id, completed(NO_RESOURCES[message.method], message)))
        else:
            await self._pass_on(message)

    async def _pass_on(self, message: Message) -> None:
        if self.only is None or (message.method == "server/discover" and not self.servers[self.only].modern):
            self._work(message, self.many.answer(message))
        else:
            await self.forward(self.only, message)

    async def forward(
        self,
        server: str,
        message: Message,
        *,
        line: bytes | None = None,
        tool: str = "",
        query: str = "",
        notes: tuple[str, ...] = (),
    ) -> None:
        """Send a request to a server, unchanged unless told otherwise."""
        if server in self.gone:
            how = f"The MCP server {server} {self.gone[server]}."
            await self.client.send(refusal(message.id, CONNECTION_CLOSED, how))
            return
        self.calls[message.id] = Call(message.method or "", server, tool, query, notes)
        await self.servers[server].send(message.line if line is None else line)

    async def _reply(self, message: Message) -> None:
        """Pass on the client's answer to a server's question."""
        if self.only is not None:
            await self.servers[self.only].send(message.line)
        elif (question := self.questions.pop(str(message.id), None)) is not None:
            server, id_ = question
            await self.servers[server].send(message.with_id(id_))

    async def _notify(self, message: Message) -> None:
        to = [name for name in self.servers if name not in self.gone]
        if message.method == "notifications/cancelled":
            id_ = message.params.get("requestId")
            if id_ in self.working:
                self.working[id_].cancel()
                return
            call = self.calls.pop(id_, None)
            to = [] if call is None else [call.server]
        for name in to:
            with suppress(ConnectionError):
                await self.servers[name].send(message.line)

    def _work(self, message: Message, work: Coroutine[Any, Any, None]) -> None:
        """Answer a request ourselves, beside everything else; it can be cancelled."""
        id_ = message.id

        async def answered() -> None:
            try:
                await work
            except Exception as error:  # noqa: BLE001  whatever it is
                await self._refuse(message, error)

        task = asyncio.ensure_future(answered())
        self.working[id_] = task
        task.add_done_callback(lambda _: self.working.pop(id_, None))
        self._beside(task)

    def _beside(self, task: asyncio.Task[None]) -> None:
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _list_tools(self, message: Message) -> None:
        page = await self.catalog_for(message, anew=True)
        if isinstance(page, Message):
            told = await asyncio.to_thread(error_within, page.error, self.catalog.tool("tools/list").choices)
            await self.client.send(dumps({"jsonrpc": "2.0", "id": message.id, "error": told}))
            return
        await self.client.send(answer(message.id, await self.listed("tools/list", page)))
        ours = [tool.listed for tool in self.catalog.ours.values()]
        if ours:
            await asyncio.to_thread(note_schemas, self.clipper, written(ours), host=self.host or None)

    async def listed(self, method: str, page: Any) -> Any:
        """Return a list, or what is said of all servers, without strings that no host could want."""
        tool = self.catalog.tool(method)
        if tool.left_alone:
            return page
        return await asyncio.to_thread(bound_strings, page, tool.choices, free=LISTED_CHARS)

    async def catalog_for(self, message: Message, *, anew: bool = False) -> Any:
        """Return what tools there are: the answer to tools/list; or, as it came, the error of the only server."""
        if self.catalog.page is not None and not anew:
            return self.catalog.page
        pages = {}
        for name in self.servers:
            if name in self.gone or self.many.lacks(name, "tools"):
                continue
            listed = await self.ask.all_pages(name, "tools/list", "tools", message)
            if not isinstance(listed, Message):
                pages[name] = listed
            elif self.only and listed.error and listed.error.get("code") != METHOD_NOT_FOUND:
                return listed
        return self.catalog.read(pages, modern=is_modern(message))

    async def _call_tool(self, message: Message) -> None:
        if self.catalog.page is None:
            self._work(message, self._call_unlisted(message))
            return
        params = message.params
        name = params.get("name")
        ours = self.catalog.ours.get(name) if isinstance(name, str) else None
        if ours is not None:
            self._work(message, self._call_ours(message, ours, params.get("arguments")))
            return
        entry = self.catalog.entries.get(name) if isinstance(name, str) else None
        server = entry.server if entry else self.only
        if server is None:
            await self.client.send(refusal(message.id, -32602, f"Unknown tool: {one_line(str(name), 80)}"))
            return
        line = message.with_params({**params, "name": entry.name}) if entry and entry.name != name else None
        if self.references is not None and SCHEME.encode() in message.line:
            self._work(message, self._call_with_references(message, server, entry, str(name)))
            return
        await self.forward(server, message, line=line, tool=str(name), query=query_of(params.get("arguments")))

    async def _call_with_references(self, message: Message, server: str, entry: Entry | None, name: str) -> None:
        """Pass on a call with what its references stand for; one that may not be passed on is refused in words."""
        assert self.references is not None
        params = message.params
        schema = entry.listed.get("inputSchema") if entry else None
        try:
            passed = await asyncio.to_thread(self.references.put_into, params.get("arguments"), name, schema)
        except SpilloverError as error:
            said = trim(f"[{one_line(str(error), ERROR_CHARS)}]", self.clipper.for_answers())
            note_retrieval(self.clipper, "read", said)
            result = {"content": [{"type": "text", "text": said}], "isError": True}
            await self.client.send(answer(message.id, completed(result, message)))
            return
        own = {**params, "name": entry.name if entry else name, "arguments": passed.arguments}
        await self.forward(server, message, line=message.with_params(own), tool=name, notes=passed.notes)

    def _same_server(self, source: str, target: str) -> bool:
        """Return whether two tools are of one server."""
        one, other = self.catalog.entries.get(source), self.catalog.entries.get(target)
        return one is not None and other is not None and one.server == other.server

    async def _call_unlisted(self, message: Message) -> None:
        await self.catalog_for(message)
        if self.catalog.page is None:  # the server would not say
            self.catalog.read({}, modern=is_modern(message))
        await self._call_tool(message)

    async def _read_resource(self, message: Message) -> None:
        """A stored output as a resource, or the part of it that its URI names; within the limits."""
        uri = str(message.params["uri"])
        try:
            clip = await asyncio.to_thread(self.clipper.read, read_ref(uri))
        except SpilloverError as error:
            said = trim(one_line(str(error), ERROR_CHARS), self.clipper.for_answers())
            note_retrieval(self.clipper, "read", said)
            await self.client.send(refusal(message.id, INVALID_PARAMS, said))
            return
        contents = [{"uri": uri[:NAME_CHARS], "mimeType": "text/plain", "text": clip.text}]
        await self.client.send(answer(message.id, completed({"contents": contents}, message)))

    async def _call_ours(self, message: Message, tool: Any, arguments: Any) -> None:
        result = await called(tool, arguments, self.clipper)
        await self.client.send(answer(message.id, completed(result, message)))

    # From a server

    async def _from_server(self, server: ServerLink, message: Message) -> None:
        if message.method is None:
            await self._take_answer(message)
            return
        if max(len(message.method), len(str(message.id))) > NAME_CHARS:
            self.complain(f"{server.name} sent a message with a name of more than {NAME_CHARS:,} characters")
            return
        if message.method == "notifications/tools/list_changed":
            self.catalog.page = None
        tool = self.catalog.tool(message.method)
        if not tool.left_alone and not is_small(message.line, tool.choices):
            message = await asyncio.to_thread(within, message, tool.choices)
        line = message.line if self.only else self.many.question(server.name, message)
        await self.client.send(line)

    async def _take_answer(self, message: Message) -> None:
        if self.ask.answered(message):
            return
        call = self.calls.pop(message.id, None)
        if call is None:  # cancelled, or never asked: nobody waits for it
            return
        message = with_notes(message, call.notes)
        finish = self._finisher(call, message)
        choices = self.catalog.tool(call.tool or call.method).choices
        noted = call.method in NOTED
        if finish is None:
            await self.client.send(message.line)
            if noted and not self.catalog.tool(call.tool or call.method).left_alone:
                note_answer(message, message.line, choices, self.host)
            return
        work = partial(survived, finish, message, choices)
        if noted:
            work = partial(finish_and_note, work, message, choices, self.host)
        if len(message.line) <= SMALL:
            await self.client.send(work())
        else:
            self._beside(asyncio.ensure_future(self._finish_beside(message, work)))

    async def finished(self, method: str, message: Message, id_: Any) -> bytes:
        """Return an answer to a request of our own as the answer to the client's."""
        finish = self._finisher(Call(method, ""), message)
        if finish is None:
            return message.with_id(id_)
        line = await asyncio.to_thread(survived, finish, message, self.catalog.tool(method).choices)
        return next(messages(line), message).with_id(id_)

    async def _finish_beside(self, message: Message, finish: Callable[[], bytes]) -> None:
        try:
            line = await asyncio.to_thread(finish)
        except Exception as error:  # noqa: BLE001  no thread could be had, for one; the client waits all the same
            line = refusal(message.id, INTERNAL_ERROR, one_line(f"The result could not be read: {error!r}", GARBAGE))
        with suppress(ConnectionError):
            await self.client.send(line)

    def _finisher(self, call: Call, message: Message) -> Callable[[], bytes] | None:
        """Return what is to be done with an answer before the client has it; None: nothing."""
        if call.method in ("initialize", "server/discover"):
            self.many.heard(call.server, message)
            return partial(with_tools, message, self.catalog.tool(call.method).choices, resources=self.links)
        tool = self.catalog.tool(call.tool or call.method)
        if tool.left_alone or surely_fits(message.line, tool.choices):
            return None
        return partial(finished, call.method, message, replace(tool, choices=tool.choices.asking(call.query)))
