"""Between one MCP client and the servers behind us: messages pass as they came, results pass within the limits.

A message is read only as far as it must be; what nobody here knows passes. So new methods need nothing new from us.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from spillover.adapters.mcp.answer import within
from spillover.adapters.mcp.ask import Ask, Call
from spillover.adapters.mcp.calling import Calling
from spillover.adapters.mcp.catalog import Catalog
from spillover.adapters.mcp.fields import NAME_CHARS
from spillover.adapters.mcp.finishing import Finishing
from spillover.adapters.mcp.many import Many
from spillover.adapters.mcp.message import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    PARSE_ERROR,
    Message,
    dumps,
    messages,
    read_deep,
    refusal,
)
from spillover.adapters.mcp.noting import client_of
from spillover.adapters.mcp.result import is_small
from spillover.errors import SpilloverError
from spillover.notice.words import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping
    from typing import Any

    from spillover.adapters.mcp.ask import Link, ServerLink
    from spillover.clipper import Clipper


#: Once the client has gone, how long answers may still come.
PATIENCE, TICK = 2.0, 0.01
#: Seconds for answers to what a client asked before it closed its side: on a busy machine a large one takes longer than the rest.
LAST_ANSWERS = 30.0
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
        offer: bool = True,
        complain: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.client, self.servers, self.clipper, self.complain = client, dict(servers), clipper, complain
        self.only = next(iter(servers)) if len(servers) == 1 else None
        self.catalog = Catalog(clipper, [*servers], offer=offer)
        self.calls: dict[Any, Call] = {}
        self.ask = Ask(self.servers)
        self.many = Many(self)
        self.calling = Calling(self)
        self.finishing = Finishing(self)
        self.listed, self.finished = self.calling.listed, self.finishing.finished
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
            self.work(message, self.calling.list_tools(message))
        elif message.method == "tools/call":
            await self.calling.call(message)
        else:
            await self._pass_on(message)

    async def _pass_on(self, message: Message) -> None:
        if self.only is None or (message.method == "server/discover" and not self.servers[self.only].modern):
            self.work(message, self.many.answer(message))
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
    ) -> None:
        """Send a request to a server, unchanged unless told otherwise."""
        if server in self.gone:
            how = f"The MCP server {server} {self.gone[server]}."
            await self.client.send(refusal(message.id, CONNECTION_CLOSED, how))
            return
        self.calls[message.id] = Call(message.method or "", server, tool, query)
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

    def work(self, message: Message, work: Coroutine[Any, Any, None]) -> None:
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
        self.beside(task)

    def beside(self, task: asyncio.Task[None]) -> None:
        """Hold a task until it is done; what is left of them ends with us."""
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    # From a server

    async def _from_server(self, server: ServerLink, message: Message) -> None:
        if message.method is None:
            await self.finishing.take(message)
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
