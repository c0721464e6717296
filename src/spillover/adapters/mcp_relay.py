"""Between one MCP client and the servers behind us: messages pass as they came, results pass within the limits.

A message is read only as far as it must be; what nobody here knows passes. So new methods need nothing new from us.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial

from spillover.adapters import mcp_result
from spillover.adapters.mcp_answer import completed, finished, is_modern, survived, with_tools
from spillover.adapters.mcp_ask import Ask, Call
from spillover.adapters.mcp_catalog import Catalog
from spillover.adapters.mcp_many import Many
from spillover.adapters.mcp_message import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    Message,
    answer,
    dumps,
    messages,
    refusal,
)
from spillover.adapters.mcp_tools import called
from spillover.notice import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping
    from typing import Any

    from spillover.adapters.mcp_ask import Link, ServerLink
    from spillover.clipper import Clipper


#: Once the client has gone, how long answers may still come.
PATIENCE, TICK = 2.0, 0.01
#: A result up to this size is clipped where it is; a larger one in a thread, so that nobody waits for it.
SMALL = 1 << 16
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
        complain: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.client, self.servers, self.clipper, self.complain = client, dict(servers), clipper, complain
        self.only = next(iter(servers)) if len(servers) == 1 else None
        self.catalog = Catalog(clipper, [*servers], allow_run=allow_run)
        self.calls: dict[Any, Call] = {}
        self.ask = Ask(self.servers)
        self.many = Many(self)
        self.questions: dict[str, tuple[str, Any]] = {}  # requests of servers, where there are several
        self.working: dict[Any, asyncio.Task[None]] = {}  # requests of the client that we answer ourselves
        self.tasks: set[asyncio.Task[None]] = set()
        self.gone: dict[str, str] = {}

    async def run(self) -> str | None:
        """Until the client has gone, or the servers have: then how they ended, in words."""
        pumps = [asyncio.ensure_future(self._serve(server)) for server in self.servers.values()]
        reading = asyncio.ensure_future(self._read())
        over = asyncio.ensure_future(asyncio.wait(pumps)) if pumps else asyncio.get_running_loop().create_future()
        try:
            await asyncio.wait([reading, over], return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                return "; ".join(f"{name} {how}" for name, how in self.gone.items()) or None
            await self._settled()
            return None
        finally:
            # What a server still has to say is read until it has ended; it could wait for that.
            await asyncio.gather(*(server.close() for server in self.servers.values()), return_exceptions=True)
            for task in (reading, over, *pumps, *self.tasks):
                task.cancel()
            await asyncio.gather(reading, *pumps, *self.tasks, return_exceptions=True)

    async def _settled(self) -> None:
        """Until everything the client has asked for is answered, while it may still read that, and not for long."""
        for _ in range(int(PATIENCE / TICK)):
            if not self.client.reads or not (self.calls or self.tasks):
                return
            await asyncio.sleep(TICK)

    async def _read(self) -> None:
        """The client's messages, to where they belong."""
        async for line in self.client:
            found = False
            for message in messages(line):
                found = True
                try:
                    await self._from_client(message)
                except ConnectionError:
                    pass  # a server that has gone is told of where its end is seen
                except Exception as error:  # noqa: BLE001  an odd message is not the last one
                    await self._refuse(message, error)
            if not found and line.strip():
                await self.client.send(refusal(None, PARSE_ERROR, "This line is no JSON-RPC message."))

    async def _serve(self, server: ServerLink) -> None:
        """A server's messages, to the client; at its end, an error for whoever waits for it."""
        async for line in server:
            found = False
            for message in messages(line):
                found = True
                await self._from_server(server, message)
            if not found and line.strip():
                said = one_line(line[: 4 * GARBAGE].decode("utf-8", "replace"), GARBAGE)
                self.complain(f"{server.name} printed {len(line):,} bytes that are no message: {said}")
        how = self.gone[server.name] = await server.close()
        for id_ in [id_ for id_, call in self.calls.items() if call.server == server.name]:
            del self.calls[id_]
            await self.client.send(
                refusal(id_, CONNECTION_CLOSED, f"The MCP server {server.name} {how} during this call.")
            )
        self.ask.gone(server.name, how)
        if self.working:
            await asyncio.wait(self.working.values(), timeout=PATIENCE)

    async def _refuse(self, message: Message, error: Exception) -> None:
        """Whatever is wrong, a request is answered."""
        code = CONNECTION_CLOSED if isinstance(error, ConnectionError) else INTERNAL_ERROR
        words = str(error) if isinstance(error, ConnectionError) else repr(error)
        if message.is_request:
            with suppress(ConnectionError):
                await self.client.send(refusal(message.id, code, one_line(words, GARBAGE)))

    # From the client

    async def _from_client(self, message: Message) -> None:
        if message.method is None:
            await self._reply(message)
        elif not message.is_request:
            await self._notify(message)
        elif message.method == "tools/list":
            self._work(message, self._list_tools(message))
        elif message.method == "tools/call":
            await self._call_tool(message)
        elif self.only is None or (message.method == "server/discover" and not self.servers[self.only].modern):
            self._work(message, self.many.answer(message))
        else:
            await self.forward(self.only, message)

    async def forward(self, server: str, message: Message, *, line: bytes | None = None, tool: str = "") -> None:
        """A request to a server, as it came unless said otherwise."""
        if server in self.gone:
            how = f"The MCP server {server} {self.gone[server]}."
            await self.client.send(refusal(message.id, CONNECTION_CLOSED, how))
            return
        self.calls[message.id] = Call(message.method or "", server, tool)
        await self.servers[server].send(message.line if line is None else line)

    async def _reply(self, message: Message) -> None:
        """What the client answers to a question of a server's."""
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
            await self.client.send(dumps({"jsonrpc": "2.0", "id": message.id, "error": page.error}))
            return
        await self.client.send(answer(message.id, page))

    async def catalog_for(self, message: Message, *, anew: bool = False) -> Any:
        """What tools there are: the answer to tools/list; or, as it came, the error of the only server."""
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
        await self.forward(server, message, line=line, tool=str(name))

    async def _call_unlisted(self, message: Message) -> None:
        await self.catalog_for(message)
        if self.catalog.page is None:  # the server would not say
            self.catalog.read({}, modern=is_modern(message))
        await self._call_tool(message)

    async def _call_ours(self, message: Message, tool: Any, arguments: Any) -> None:
        result = await called(tool, arguments, self.clipper)
        await self.client.send(answer(message.id, completed(result, message)))

    # From a server

    async def _from_server(self, server: ServerLink, message: Message) -> None:
        if message.method is None:
            await self._answered(message)
            return
        if message.method == "notifications/tools/list_changed":
            self.catalog.page = None
        line = message.line if self.only else self.many.question(server.name, message)
        await self.client.send(line)

    async def _answered(self, message: Message) -> None:
        if self.ask.answered(message):
            return
        call = self.calls.pop(message.id, None)
        if call is None:  # cancelled, or never asked: nobody waits for it
            return
        finish = self._finisher(call, message)
        if finish is None:
            await self.client.send(message.line)
        elif len(message.line) <= SMALL:
            await self.client.send(survived(finish, message))
        else:
            self._beside(asyncio.ensure_future(self._finish_beside(partial(survived, finish, message))))

    def finished(self, method: str, message: Message, id_: Any) -> bytes:
        """An answer to a request of our own as the answer to the client's."""
        finish = self._finisher(Call(method, ""), message)
        whole = message if finish is None else next(messages(finish()), message)
        return whole.with_id(id_)

    async def _finish_beside(self, finish: Callable[[], bytes]) -> None:
        with suppress(ConnectionError):
            await self.client.send(await asyncio.to_thread(finish))

    def _finisher(self, call: Call, message: Message) -> Callable[[], bytes] | None:
        """What is to be done with an answer before the client has it; None: nothing."""
        if call.method in ("initialize", "server/discover"):
            self.many.heard(call.server, message)
            return partial(with_tools, message)
        tool = self.catalog.tool(call.tool or call.method)
        if tool.left_alone or mcp_result.surely_fits(message.line, tool.choices):
            return None
        return partial(finished, call.method, message, tool)
