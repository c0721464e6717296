"""Between one MCP client and the server behind us, or none: messages pass as they came, results pass within the limits.

A message is read only as far as needed, and unknown methods pass. So new methods need nothing new from us.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from spillover.api import Clipper
from spillover.errors import SpilloverError
from spillover.events import record_schemas
from spillover.hosts.hook import query_from_arguments
from spillover.mcp.answer import (
    NOTED,
    asking,
    client_of,
    completed,
    finish_and_note,
    finished,
    is_modern,
    note_answer,
    readable,
    survived,
    with_tools,
    within,
)
from spillover.mcp.message import (
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
    request,
    written,
)
from spillover.mcp.result import LISTED_CHARS, NAME_CHARS, bound_strings, is_small, surely_fits
from spillover.mcp.result import error as error_within
from spillover.mcp.stdio import Pipes
from spillover.mcp.tools import Catalog, Offered, Tool, called
from spillover.notice.wording import one_line
from spillover.settings.settings import Call


class ServerLink(Protocol):
    """A server, started by a command or at a URL; a line is a message."""

    name: str
    modern: bool  # whether it is to have messages of the stateless protocol as they are

    def __aiter__(self) -> AsyncIterator[bytes]: ...
    async def send(self, line: bytes) -> None: ...
    async def start(self) -> None: ...
    async def close(self) -> str: ...


#: Once the client has gone, how long answers may still come.
PATIENCE, TICK = 2.0, 0.01
#: Seconds for answers to what a client asked before it closed its side: on a busy machine a large one takes longer than the rest.
LAST_ANSWERS = 30.0
#: A server whose list of tools never ends is asked for this many pages.
MAX_TOOL_PAGES = 1_000
#: How much of a line that is no message is told.
GARBAGE = 200
#: A result up to this size is clipped where it is; a larger one in a thread, so that nobody waits for it.
SMALL = 1 << 13
#: How much is told of why an answer could not be finished.
FAILED_CHARS = 200
#: Versions of the protocol with a handshake, oldest first; and the stateless one we speak where nobody is behind us.
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS = "2026-07-28"
#: method → what is listed
LISTS = {
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}


class Request(Struct):
    """A request of the client that the server has."""

    method: str
    tool: str = ""
    query: str = ""  # what it asks for, by its arguments


class Relay:
    """One client, the server behind us or none, and our own tools between them."""

    def __init__(
        self,
        client: Pipes,
        server: ServerLink | None,
        clipper: Clipper,
        *,
        offer: bool = True,
        complain: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.client, self.server, self.clipper, self.complain = client, server, clipper, complain
        self.catalog = Catalog(clipper, offer=offer)
        self.calls: dict[Any, Request] = {}  # requests of the client that the server has
        self.asked: dict[str, asyncio.Future[Message]] = {}  # requests of our own
        self.mark = f"spill-{os.urandom(4).hex()}"  # our ids are like nobody else's, not even another proxy's behind us
        self.numbers = 0
        self.working: dict[Any, asyncio.Task[None]] = {}  # requests of the client that we answer ourselves
        self.tasks: set[asyncio.Task[None]] = set()
        self.gone = ""  # how the server ended
        self.has_tools = True  # until the server says that it has none
        self.host = ""  # what the client calls itself

    async def run(self) -> str | None:
        """Run until the client or the server has gone; return in words how the server ended."""
        reading = asyncio.ensure_future(self._read())
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self.server is not None:
            ended = asyncio.ensure_future(self._serve(self.server))
        try:
            await asyncio.wait([reading, ended], return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                return f"{self.server.name} {self.gone}" if self.server and self.gone else None
            await self._wait_until_settled()
            return None
        finally:
            # What a server still has to say is read until it has ended; it could wait for that.
            if self.server is not None:
                await asyncio.gather(self.server.close(), return_exceptions=True)
            for task in (reading, ended, *self.tasks):
                task.cancel()
            await asyncio.gather(reading, ended, *self.tasks, return_exceptions=True)

    async def _wait_until_settled(self) -> None:
        """Wait, but not for ever, until every request of a client that still reads has been answered."""
        for _ in range(int(LAST_ANSWERS / TICK)):
            if not self.client.reads or not (self.calls or self.tasks):
                return
            await asyncio.sleep(TICK)

    # From the client

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
                await self._send(refusal(None, PARSE_ERROR, "This line is not a JSON-RPC message."))

    async def _refuse(self, message: Message, error: Exception) -> None:
        """Answer a request with what is wrong with it."""
        code = CONNECTION_CLOSED if isinstance(error, ConnectionError) else INTERNAL_ERROR
        words = str(error) if isinstance(error, (ConnectionError, SpilloverError)) else repr(error)
        if message.is_request:
            with suppress(ConnectionError):
                await self._send(refusal(message.id, code, one_line(words, GARBAGE)))

    async def _from_client(self, message: Message) -> None:
        if message.method == "initialize":
            self.host = client_of(message)
        if message.method is None:
            await self._tell_server(message)
        elif not message.is_request:
            await self._notify(message)
        elif message.method == "tools/list":
            self._work(message, self._list_tools(message))
        elif message.method == "tools/call":
            await self._call(message)
        elif self.server is None or (message.method == "server/discover" and not self.server.modern):
            await self._send(self._answer_alone(message))
        else:
            await self._forward(message)

    def _answer_alone(self, message: Message) -> bytes:
        """Return the answer to a request that no server behind us can have."""
        method = message.method or ""
        if method == "server/discover" and self.server is not None:  # to a URL we speak the protocol with a handshake
            return refusal(message.id, METHOD_NOT_FOUND, "Method not found: server/discover")
        if method == "initialize":
            return answer(message.id, _initialize(str(message.params.get("protocolVersion"))))
        if method == "server/discover":
            return answer(message.id, _discover())
        if method == "ping":
            return answer(message.id, {})
        if method in LISTS:
            return answer(message.id, {LISTS[method]: []})
        return refusal(message.id, METHOD_NOT_FOUND, f"Nobody here knows {one_line(method, 80)}.")

    async def _forward(self, message: Message, *, tool: str = "", query: str = "") -> None:
        """Send a request to the server, unchanged."""
        assert self.server is not None
        if self.gone:
            how = f"The MCP server {self.server.name} {self.gone}."
            await self._send(refusal(message.id, CONNECTION_CLOSED, how))
            return
        self.calls[message.id] = Request(message.method or "", tool, query)
        await self.server.send(message.line)

    async def _notify(self, message: Message) -> None:
        if message.method == "notifications/cancelled":
            id_ = message.params.get("requestId")
            if id_ in self.working:
                self.working[id_].cancel()
                return
            if self.calls.pop(id_, None) is None:
                return
        with suppress(ConnectionError):
            await self._tell_server(message)

    async def _tell_server(self, message: Message) -> None:
        if self.server is not None and not self.gone:
            await self.server.send(message.line)

    async def _send(self, line: bytes, call: Call | None = None) -> None:
        """Send a message to the client. This is the only way there, and secrets are covered on it."""
        settings = self.clipper.settings if call is None else call.settings
        if settings.redact != "off":  # a short one, such as a refusal, needs no thread, which may not be had
            line = readable(line, settings) if len(line) <= SMALL else await asyncio.to_thread(readable, line, settings)
        await self.client.send(line)

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
        """Hold a task until it is done; what is left of them ends with us."""
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    # Tools

    async def _list_tools(self, message: Message) -> None:
        """Answer with the tools of the server, and ours."""
        page = await self._read_catalog(message)
        tool = self.catalog.tool("tools/list")
        if isinstance(page, Message):
            told = await asyncio.to_thread(error_within, page.error, tool.call)
            await self._send(dumps({"jsonrpc": "2.0", "id": message.id, "error": told}))
            return
        if not tool.left_alone:
            page = await asyncio.to_thread(bound_strings, page, tool.call, free=LISTED_CHARS)
        await self._send(answer(message.id, page))
        ours = [offered.listed for offered in self.catalog.ours.values()]
        if ours:
            await asyncio.to_thread(record_schemas, self.clipper.settings, written(ours), host=self.host or None)

    async def _read_catalog(self, message: Message) -> Any:
        """Return what tools there are: the answer to tools/list, or the error of the server as it came."""
        page: Any = {}
        if self.server is not None and not self.gone and self.has_tools:
            page = await self._all_pages(message)
            if isinstance(page, Message):
                if page.error and page.error.get("code") != METHOD_NOT_FOUND:
                    return page
                page = {}
        return self.catalog.read(page, modern=is_modern(message))

    async def _all_pages(self, message: Message) -> dict[str, Any] | Message:
        """Return the server's list of tools, page after page, as one page; the message where the server refuses."""
        params = asking(message)
        whole: dict[str, Any] = {}
        seen: set[Any] = set()
        for _ in range(MAX_TOOL_PAGES):
            said = await self._ask("tools/list", params)
            page = said.result
            if not isinstance(page, dict):
                return said
            entries = page.get("tools")
            whole = {**page, "tools": [*whole.get("tools", ()), *(entries if isinstance(entries, list) else ())]}
            cursor = whole.pop("nextCursor", None)
            if not isinstance(cursor, str) or cursor in seen:
                return whole
            seen.add(cursor)
            params = {**params, "cursor": cursor}
        return whole

    async def _ask(self, method: str, params: dict[str, Any]) -> Message:
        """Return the server's answer to a request of our own; ConnectionError when it has gone."""
        assert self.server is not None
        self.numbers += 1
        id_ = f"{self.mark}-{self.numbers}"
        future: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self.asked[id_] = future
        try:
            await self.server.send(request(id_, method, params))
            return await future
        finally:
            del self.asked[id_]

    async def _call(self, message: Message) -> None:
        """Pass a call on to the server, or answer it ourselves."""
        if self.catalog.page is None:
            self._work(message, self._call_unlisted(message))
            return
        params = message.params
        name = params.get("name")
        ours = self.catalog.ours.get(name) if isinstance(name, str) else None
        if ours is not None:
            self._work(message, self._call_ours(message, ours, params.get("arguments")))
        elif self.server is None:
            words = f"Unknown tool: {one_line(str(name), 80)}"
            await self._send(refusal(message.id, INVALID_PARAMS, words))
        else:
            await self._forward(message, tool=str(name), query=query_from_arguments(params.get("arguments")))

    async def _call_unlisted(self, message: Message) -> None:
        await self._read_catalog(message)
        if self.catalog.page is None:  # the server would not say
            self.catalog.read({}, modern=is_modern(message))
        await self._call(message)

    async def _call_ours(self, message: Message, tool: Offered, arguments: Any) -> None:
        result = await called(tool, arguments, self.clipper)
        await self._send(answer(message.id, completed(result, message)))

    # From the server

    async def _serve(self, server: ServerLink) -> None:
        """Pass the server's messages to the client; when it ends, answer calls that wait for it with an error."""
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
                await self._answer_garbled(line)
        self.gone = await server.close()
        for id_ in [*self.calls]:
            del self.calls[id_]
            words = f"The MCP server {server.name} {self.gone} during this call."
            await self._send(refusal(id_, CONNECTION_CLOSED, words))
        for future in self.asked.values():
            if not future.done():
                future.set_exception(ConnectionResetError(f"The MCP server {server.name} {self.gone}."))
        if self.working:
            await asyncio.wait(self.working.values(), timeout=PATIENCE)

    async def _answer_garbled(self, line: bytes) -> None:
        """Answer the call whose answer cannot be read, for example because it is nested too deeply."""
        ends = line[:GARBAGE] + b" " + line[-GARBAGE:]
        if not line.startswith(b"{") or not (b'"result"' in ends or b'"error"' in ends):
            return
        plain = ends.replace(b" ", b"")
        for id_, waiting in [*self.calls.items()]:
            named = b'"id":' + dumps(id_)
            if named + b"," in plain or named + b"}" in plain:
                del self.calls[id_]
                kept = await self.clipper.aclip(line, tool=waiting.tool or waiting.method)
                where = f" Full output: {kept.ref}" if kept.ref else ""
                await self._send(refusal(id_, INTERNAL_ERROR, f"The server's answer cannot be read as JSON.{where}"))
                return

    async def _survive(self, server: ServerLink, message: Message, error: Exception) -> None:
        """Tell whoever waits for a server's message that we failed to process it."""
        words = one_line(f"A message of {server.name} could not be passed on: {error!r}", GARBAGE)
        self.complain(words)
        if message.method is None:
            await self._send(refusal(message.id, INTERNAL_ERROR, words))
        elif message.is_request:
            with suppress(ConnectionError):
                await server.send(refusal(message.id, INTERNAL_ERROR, words))

    async def _from_server(self, server: ServerLink, message: Message) -> None:
        if message.method is None:
            await self._take(message)
            return
        if max(len(message.method), len(str(message.id))) > NAME_CHARS:
            self.complain(f"{server.name} sent a message with a name of more than {NAME_CHARS:,} characters")
            return
        if message.method == "notifications/tools/list_changed":
            self.catalog.page = None
        tool = self.catalog.tool(message.method)
        if not tool.left_alone and not is_small(message.line, tool.call):
            message = await asyncio.to_thread(within, message, tool.call)
        await self._send(message.line)

    async def _take(self, message: Message) -> None:
        """Send an answer on to the client; a large one is finished in a thread."""
        if isinstance(message.id, str) and (future := self.asked.get(message.id)) is not None:
            if not future.done():
                future.set_result(message)
            return
        request = self.calls.pop(message.id, None)
        if request is None:  # cancelled, or never asked: nobody waits for it
            return
        tool = self.catalog.tool(request.tool or request.method)
        finish = self._finisher(request, tool, message)
        noted = request.method in NOTED
        if finish is None:
            await self._send(message.line, tool.call)
            if noted and not tool.left_alone:
                note_answer(message, message.line, tool.call, self.host)
            return
        work = partial(survived, finish, message, tool.call)
        if noted:
            work = partial(finish_and_note, work, message, tool.call, self.host)
        if len(message.line) <= SMALL:
            await self._send(work(), tool.call)
        else:
            self._beside(asyncio.ensure_future(self._finish_beside(message, work, tool.call)))

    def _finisher(self, request: Request, tool: Tool, message: Message) -> Callable[[], bytes] | None:
        """Return what is to be done with an answer before the client has it; None: nothing."""
        if request.method in ("initialize", "server/discover"):
            can = message.result.get("capabilities") if isinstance(message.result, dict) else None
            self.has_tools = not isinstance(can, dict) or "tools" in can
            return partial(with_tools, message, tool.call)
        if tool.left_alone or surely_fits(message.line, tool.call):
            return None
        return partial(finished, request.method, message, replace(tool.call, query=request.query))

    async def _finish_beside(self, message: Message, finish: Callable[[], bytes], call: Call) -> None:
        try:
            await self._send(await asyncio.to_thread(finish), call)
        except ConnectionError:
            pass
        except Exception as error:  # noqa: BLE001  no thread could be had, for one; the client waits all the same
            words = one_line(f"The result could not be read: {error!r}", FAILED_CHARS)
            with suppress(ConnectionError):
                await self._send(refusal(message.id, INTERNAL_ERROR, words), call)


def _initialize(version: str) -> dict[str, Any]:
    """Return the answer to the handshake where nobody is behind us."""
    from spillover import __version__

    return {
        "protocolVersion": version if version in VERSIONS else VERSIONS[-1],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "spillover", "version": __version__},
    }


def _discover() -> dict[str, Any]:
    """Return what a client of the stateless protocol asks first."""
    from spillover import __version__

    return {
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "spillover", "version": __version__}},
        "resultType": "complete",
        "supportedVersions": [*VERSIONS, STATELESS],
        "capabilities": {"tools": {}},
        "ttlMs": 0,
        "cacheScope": "private",
    }
