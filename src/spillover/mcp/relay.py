"""Between one MCP client and the server behind us, or none: messages pass unchanged, results within the limits.

A message is read only as far as needed, and unknown methods pass, so that new methods need nothing new from us. Our own
tools stand beside the tools of the server.
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

from spillover import __version__
from spillover.api import Clipper
from spillover.errors import SpilloverError, UsageError
from spillover.events import record_retrieval, record_schemas
from spillover.hosts.hook import query_from_arguments
from spillover.kinds.fit import trim
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
    to_json,
)
from spillover.mcp.results import (
    LISTED_CHARS,
    NAME_CHARS,
    add_tools_capability,
    bound_answer,
    bound_error,
    bound_message,
    bound_strings,
    client_of,
    cover_line,
    finish_and_record,
    finish_or_refuse,
    is_small,
    passes_unread,
    record_answer,
)
from spillover.mcp.stdio import Pipes
from spillover.notice.hints import TOOLS, Hint
from spillover.notice.wording import one_line
from spillover.retrieve.tools import ERROR_CHARS, about, check_arguments, operation_of, schema, tools
from spillover.settings.limits import SMALLEST, Limits
from spillover.settings.settings import Call


class ServerLink(Protocol):
    """A server, started by a command or at a URL; a line is a message."""

    name: str
    modern: bool  # whether messages of the stateless protocol are sent to it unchanged

    def __aiter__(self) -> AsyncIterator[bytes]: ...
    async def send(self, line: bytes) -> None: ...
    async def start(self) -> None: ...
    async def close(self) -> str: ...


#: Once the server has gone, its client waits this long for answers of our own; a longer time delays our end.
PATIENCE_SECONDS = 2.0
#: Between two looks at what is still to be answered; a longer time delays our end by as much.
TICK_SECONDS = 0.01
#: Once the client has closed its side, answers may still come this long: on a busy machine a large one takes time.
LAST_ANSWERS_SECONDS = 30.0
#: Pages of a list of tools that are read; with more, a broken server whose list never ends holds its client longer.
MAX_TOOL_PAGES = 1_000
#: Characters of a line that is no message, or of an error, that are shown; more would fill the log of the client.
GARBAGE_CHARS = 200
#: Bytes of a result up to which it is clipped in the event loop, where others wait for it; a larger one, in a thread.
SMALL_BYTES = 1 << 13
#: The results that a model reads; lists and the rest of the protocol are the host's own business.
RECORDED_METHODS = ("tools/call", "resources/read", "prompts/get")
#: Versions of the protocol with a handshake, oldest first; and the stateless one, spoken with no server behind us.
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS = "2026-07-28"
#: method → the key of what it lists
LISTS = {
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
#: The names of our tools, with PREFIX before each if the server has a tool of such a name.
TOOL_NAMES = ("read_output", "grep_output", "outline_output", "list_outputs")
PREFIX = "spill_"
#: The most characters of an answer of our tools, whatever the limits are: a host whose own hook bounds it at 49,500
#: leaves it alone.
ANSWER_CHARS = 48_000
#: Tools and methods whose policy is remembered; a server that makes up names takes more memory with more.
MAX_REMEMBERED = 2_000
#: The key by which a server says how much of a tool's result may stand in a conversation.
MAX_CHARS_KEY = "anthropic/maxResultSizeChars"


# Tools


class OwnTool(Struct, frozen=True):
    """A tool of ours: how it is listed, and what is called."""

    listing: dict[str, Any]
    function: Callable[..., Any]


class ToolError(Exception):
    """What is wrong with a call of our tools, in words for the model."""


def lower_to_chars(call: Call, chars: Any) -> Call:
    """Return the call with the size that a tool declares for itself as an upper bound."""
    if not isinstance(chars, int) or isinstance(chars, bool) or chars < 1:
        return call
    return call.lower(Limits(chars=max(chars, SMALLEST["chars"])))


def own_tools(clipper: Clipper, prefix: str = "") -> dict[str, OwnTool]:
    """Return our tools by their names."""

    def fail(words: str) -> str:
        raise ToolError(words)

    call = lower_to_chars(clipper.call().for_retrieval(), ANSWER_CHARS)
    tools_by_name = {}
    for function in tools(call, own_hint(prefix), fail):
        name = prefix + function.__name__
        listing = {
            "name": name,
            "description": about(function),
            "inputSchema": schema(function),
            "annotations": {"readOnlyHint": True},
        }
        tools_by_name[name] = OwnTool(listing, function)
    return tools_by_name


def own_hint(prefix: str) -> Hint:
    """Return the hint of a notice that names our tools."""
    steps = {name: getattr(TOOLS, name) for name in ("search", "lines", "bytes", "columns", "grep", "outline")}
    return replace(TOOLS, **{name: prefix + step for name, step in steps.items()})


async def call_own_tool(tool: OwnTool, arguments: Any, clipper: Clipper) -> dict[str, Any]:
    """Return the result of a call: text that fits, or as an error what is wrong with it."""
    name = tool.listing["name"]
    try:
        if not isinstance(arguments, dict | None):
            raise UsageError('the arguments are not an object; send one such as {"ref": "last"}.')
        checked = check_arguments(tool.listing["inputSchema"], arguments or {}, name)
        text = await asyncio.to_thread(tool.function, **checked)
    except ToolError as error:
        return _tool_result(str(error), is_error=True)
    except SpilloverError as error:
        words = trim(f"[{one_line(str(error), ERROR_CHARS)}]", clipper.call().for_retrieval())
        record_retrieval(clipper.call(), operation_of(name), words)
        return _tool_result(words, is_error=True)
    return _tool_result(text)


def _tool_result(text: str, *, is_error: bool = False) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


class Policy(Struct, frozen=True):
    """How the results of a tool, or of a method, are clipped."""

    call: Call
    is_left_alone: bool


class Catalog:
    """The tools of the server and our own; `page` is the answer to tools/list, None while it is not known."""

    def __init__(self, clipper: Clipper, *, offer: bool = True) -> None:
        self.clipper = clipper
        self.offer = offer
        self.page: dict[str, Any] | None = None
        self.server_tools: dict[str, dict[str, Any]] = {}
        self.own: dict[str, OwnTool] = {}
        self._hint = TOOLS
        self._policies: dict[str, Policy] = {}

    def read(self, page: dict[str, Any], *, modern: bool = False) -> dict[str, Any]:
        """Return the server's list, in its order, with ours at the end; an empty page if there is no such list."""
        # No host would take a longer name.
        self.server_tools = {
            str(tool.get("name")): tool
            for tool in page.get("tools", ())
            if isinstance(tool, dict) and len(str(tool.get("name"))) <= NAME_CHARS
        }
        prefix = ""
        while any(prefix + name in self.server_tools for name in TOOL_NAMES):
            prefix += PREFIX
        self.own = own_tools(self.clipper, prefix) if self.offer else {}
        self._hint = own_hint(prefix)
        self._policies = {}
        if modern and not page:
            page = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        listings = [self._listing(name) for name in self.server_tools]
        self.page = {**page, "tools": [*listings, *(tool.listing for tool in self.own.values())]}
        return self.page

    def _listing(self, name: str) -> dict[str, Any]:
        """Return a tool as its server has it, without its schema for data: data that does not fit becomes text."""
        listing = self.server_tools[name]
        if self.clipper.settings.leaves_alone(name):
            return listing
        return {key: value for key, value in listing.items() if key != "outputSchema"}

    def policy(self, name: str) -> Policy:
        """Return the policy for the results of a tool, or of a method."""
        if name not in self._policies:
            if len(self._policies) >= MAX_REMEMBERED:
                self._policies.clear()
            call = self.clipper.call(name)
            if self.page is not None and TOOLS in call.settings.hints:
                hints = [self._hint if hint == TOOLS else hint for hint in call.settings.hints]
                call = call.with_settings(hints=hints)
            meta = self.server_tools.get(name, {}).get("_meta")
            call = lower_to_chars(call, meta.get(MAX_CHARS_KEY) if isinstance(meta, dict) else None)
            self._policies[name] = Policy(call, self.clipper.settings.leaves_alone(name))
        return self._policies[name]


# Messages


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
        self.client = client
        self.server = server
        self.clipper = clipper
        self.complain = complain
        self.catalog = Catalog(clipper, offer=offer)
        self.calls: dict[Any, Request] = {}  # requests of the client that the server has
        self.own_requests: dict[str, asyncio.Future[Message]] = {}
        self.id_prefix = f"spill-{os.urandom(4).hex()}"  # nobody else's, not even another proxy's behind us
        self.last_number = 0
        self.own_answers: dict[Any, asyncio.Task[None]] = {}  # requests of the client that we answer ourselves
        self.tasks: set[asyncio.Task[None]] = set()
        self.end = ""  # how the server ended
        self.has_tools = True  # until the server says that it has none
        self.host = ""  # the client, by its own name

    async def run(self) -> str | None:
        """Run until the client or the server has gone; return in words how the server ended."""
        reading = asyncio.ensure_future(self._read_client())
        server_end: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self.server is not None:
            server_end = asyncio.ensure_future(self._read_server(self.server))
        try:
            await asyncio.wait([reading, server_end], return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                return f"{self.server.name} {self.end}" if self.server and self.end else None
            await self._wait_for_answers()
            return None
        finally:
            # What a server still has to say is read until it has ended; it could wait for that.
            if self.server is not None:
                await asyncio.gather(self.server.close(), return_exceptions=True)
            for task in (reading, server_end, *self.tasks):
                task.cancel()
            await asyncio.gather(reading, server_end, *self.tasks, return_exceptions=True)

    async def _wait_for_answers(self) -> None:
        """Wait, within reason, until every request of a client that still reads is answered."""
        for _ in range(int(LAST_ANSWERS_SECONDS / TICK_SECONDS)):
            if not self.client.reads or not (self.calls or self.tasks):
                return
            await asyncio.sleep(TICK_SECONDS)

    # From the client

    async def _read_client(self) -> None:
        """Pass the client's messages to where they belong."""
        async for line in self.client:
            batch = [*messages(line)] or [*filter(None, [read_deep(line)])]
            for message in batch:
                try:
                    await self._from_client(message)
                except ConnectionError:
                    pass  # `_read_server` reports a server that has gone
                except Exception as error:  # noqa: BLE001  an odd message is not the last one
                    await self._refuse(message, error)
            if not batch and line.strip():
                await self._send(refusal(None, PARSE_ERROR, "This line is not a JSON-RPC message."))

    async def _refuse(self, message: Message, error: Exception) -> None:
        """Answer a request with an error."""
        code = CONNECTION_CLOSED if isinstance(error, ConnectionError) else INTERNAL_ERROR
        words = str(error) if isinstance(error, (ConnectionError, SpilloverError)) else repr(error)
        if message.is_request:
            with suppress(ConnectionError):
                await self._send(refusal(message.id, code, one_line(words, GARBAGE_CHARS)))

    async def _from_client(self, message: Message) -> None:
        """Pass a message of the client to the server, or answer it."""
        if message.method == "initialize":
            self.host = client_of(message)
        if message.method is None:
            await self._tell_server(message)
        elif not message.is_request:
            await self._notify(message)
        elif message.method == "tools/list":
            self._answer_beside(message, self._list_tools(message))
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
        if self.end:
            words = f"The MCP server {self.server.name} {self.end}."
            await self._send(refusal(message.id, CONNECTION_CLOSED, words))
            return
        self.calls[message.id] = Request(message.method or "", tool, query)
        await self.server.send(message.line)

    async def _notify(self, message: Message) -> None:
        """Pass a notification to the server, unless it cancels a request that the server does not have."""
        if message.method == "notifications/cancelled":
            id_ = message.params.get("requestId")
            if id_ in self.own_answers:
                self.own_answers[id_].cancel()
                return
            if self.calls.pop(id_, None) is None:
                return
        with suppress(ConnectionError):
            await self._tell_server(message)

    async def _tell_server(self, message: Message) -> None:
        if self.server is not None and not self.end:
            await self.server.send(message.line)

    async def _send(self, line: bytes, call: Call | None = None) -> None:
        """Send a message to the client. This is the only way there, and secrets are covered on it."""
        settings = self.clipper.settings if call is None else call.settings
        if settings.redact != "off":
            if len(line) <= SMALL_BYTES:  # a refusal, for one, must not need a thread, which may not be had
                line = cover_line(line, settings)
            else:
                line = await asyncio.to_thread(cover_line, line, settings)
        await self.client.send(line)

    def _answer_beside(self, message: Message, work: Coroutine[Any, Any, None]) -> None:
        """Answer a request ourselves, beside everything else; it can be cancelled."""
        id_ = message.id

        async def answer_or_refuse() -> None:
            try:
                await work
            except Exception as error:  # noqa: BLE001  whatever it is
                await self._refuse(message, error)

        task = asyncio.ensure_future(answer_or_refuse())
        self.own_answers[id_] = task
        task.add_done_callback(lambda _: self.own_answers.pop(id_, None))
        self._hold_task(task)

    def _hold_task(self, task: asyncio.Task[None]) -> None:
        """Hold a task until it is done; tasks that are left end with us."""
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    # Tools

    async def _list_tools(self, message: Message) -> None:
        """Answer with the tools of the server, and ours."""
        page = await self._read_catalog(message)
        policy = self.catalog.policy("tools/list")
        if isinstance(page, Message):
            error = await asyncio.to_thread(bound_error, page.error, policy.call)
            await self._send(dumps({"jsonrpc": "2.0", "id": message.id, "error": error}))
            return
        if not policy.is_left_alone:
            page = await asyncio.to_thread(bound_strings, page, policy.call, free=LISTED_CHARS)
        await self._send(answer(message.id, page))
        if listings := [tool.listing for tool in self.catalog.own.values()]:
            await asyncio.to_thread(record_schemas, self.clipper.settings, to_json(listings), host=self.host or None)

    async def _read_catalog(self, message: Message) -> Any:
        """Return the answer to tools/list, or the error of the server."""
        page: Any = {}
        if self.server is not None and not self.end and self.has_tools:
            page = await self._read_pages(message)
            if isinstance(page, Message):
                if page.error and page.error.get("code") != METHOD_NOT_FOUND:
                    return page
                page = {}
        return self.catalog.read(page, modern=message.is_modern)

    async def _read_pages(self, message: Message) -> dict[str, Any] | Message:
        """Return the server's list of tools, page after page, as one page; its message if it refuses."""
        params = message.own_params
        whole: dict[str, Any] = {}
        cursors: set[Any] = set()
        for _ in range(MAX_TOOL_PAGES):
            reply = await self._ask("tools/list", params)
            page = reply.result
            if not isinstance(page, dict):
                return reply
            entries = page.get("tools")
            whole = {**page, "tools": [*whole.get("tools", ()), *(entries if isinstance(entries, list) else ())]}
            cursor = whole.pop("nextCursor", None)
            if not isinstance(cursor, str) or cursor in cursors:
                return whole
            cursors.add(cursor)
            params = {**params, "cursor": cursor}
        return whole

    async def _ask(self, method: str, params: dict[str, Any]) -> Message:
        """Return the server's answer to a request of our own; ConnectionError if it has gone."""
        assert self.server is not None
        self.last_number += 1
        id_ = f"{self.id_prefix}-{self.last_number}"
        future: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self.own_requests[id_] = future
        try:
            await self.server.send(request(id_, method, params))
            return await future
        finally:
            del self.own_requests[id_]

    async def _call(self, message: Message) -> None:
        """Pass a call on to the server, or answer it ourselves."""
        if self.catalog.page is None:
            self._answer_beside(message, self._call_unlisted(message))
            return
        name, arguments = message.read_call()
        tool = self.catalog.own.get(name) if isinstance(name, str) else None
        if tool is not None:
            self._answer_beside(message, self._call_own(message, tool))
        elif self.server is None:
            words = f"Unknown tool: {one_line(str(name), 80)}"
            await self._send(refusal(message.id, INVALID_PARAMS, words))
        else:
            await self._forward(message, tool=str(name), query=query_from_arguments(arguments))

    async def _call_unlisted(self, message: Message) -> None:
        await self._read_catalog(message)
        if self.catalog.page is None:  # the server would not say
            self.catalog.read({}, modern=message.is_modern)
        await self._call(message)

    async def _call_own(self, message: Message, tool: OwnTool) -> None:
        result = await call_own_tool(tool, message.params.get("arguments"), self.clipper)
        await self._send(answer(message.id, {"resultType": "complete", **result} if message.is_modern else result))

    # From the server

    async def _read_server(self, server: ServerLink) -> None:
        """Pass the server's messages to the client; when it ends, answer calls that wait for it with an error."""
        async for line in server:
            is_message = False
            for message in messages(line):
                is_message = True
                try:
                    await self._from_server(server, message)
                except ConnectionError:
                    raise
                except Exception as error:  # noqa: BLE001  one odd message must not stop all that follow
                    await self._report_failure(server, message, error)
            if not is_message and line.strip():
                start = one_line(line[: 4 * GARBAGE_CHARS].decode("utf-8", "replace"), GARBAGE_CHARS)
                self.complain(f"{server.name} printed {len(line):,} bytes that are not a message: {start}")
                await self._answer_garbled(line)
        self.end = await server.close()
        for id_ in [*self.calls]:
            del self.calls[id_]
            words = f"The MCP server {server.name} {self.end} during this call."
            await self._send(refusal(id_, CONNECTION_CLOSED, words))
        for future in self.own_requests.values():
            if not future.done():
                future.set_exception(ConnectionResetError(f"The MCP server {server.name} {self.end}."))
        if self.own_answers:
            await asyncio.wait(self.own_answers.values(), timeout=PATIENCE_SECONDS)

    async def _answer_garbled(self, line: bytes) -> None:
        """Answer the call whose answer cannot be read, for example because it is nested too deeply."""
        ends = line[:GARBAGE_CHARS] + b" " + line[-GARBAGE_CHARS:]
        if not line.startswith(b"{") or not (b'"result"' in ends or b'"error"' in ends):
            return
        plain = ends.replace(b" ", b"")
        for id_, pending in [*self.calls.items()]:
            member = b'"id":' + dumps(id_)
            if member + b"," in plain or member + b"}" in plain:
                del self.calls[id_]
                clip = await self.clipper.aclip(line, tool=pending.tool or pending.method)
                ref = f" Full output: {clip.ref}" if clip.ref else ""
                await self._send(refusal(id_, INTERNAL_ERROR, f"The server's answer cannot be read as JSON.{ref}"))
                return

    async def _report_failure(self, server: ServerLink, message: Message, error: Exception) -> None:
        """Tell the side that waits for a server's message that we failed to process it."""
        words = one_line(f"A message of {server.name} could not be passed on: {error!r}", GARBAGE_CHARS)
        self.complain(words)
        if message.method is None:
            await self._send(refusal(message.id, INTERNAL_ERROR, words))
        elif message.is_request:
            with suppress(ConnectionError):
                await server.send(refusal(message.id, INTERNAL_ERROR, words))

    async def _from_server(self, server: ServerLink, message: Message) -> None:
        """Pass a message of the server to the client, within the limits."""
        if message.method is None:
            await self._take_answer(message)
            return
        if max(len(message.method), len(str(message.id))) > NAME_CHARS:
            self.complain(f"{server.name} sent a message with a name of more than {NAME_CHARS:,} characters")
            return
        if message.method == "notifications/tools/list_changed":
            self.catalog.page = None
        policy = self.catalog.policy(message.method)
        if not policy.is_left_alone and not is_small(message.line, policy.call):
            message = await asyncio.to_thread(bound_message, message, policy.call)
        await self._send(message.line)

    async def _take_answer(self, message: Message) -> None:
        """Send an answer on to the client; a large one is finished in a thread."""
        if isinstance(message.id, str) and (future := self.own_requests.get(message.id)) is not None:
            if not future.done():
                future.set_result(message)
            return
        request = self.calls.pop(message.id, None)
        if request is None:  # cancelled, or the answer to no request
            return
        policy = self.catalog.policy(request.tool or request.method)
        finish = self._finisher(request, policy, message)
        is_recorded = request.method in RECORDED_METHODS
        if finish is None:
            await self._send(message.line, policy.call)
            if is_recorded and not policy.is_left_alone:
                record_answer(message, message.line, policy.call, self.host)
            return
        work = partial(finish_or_refuse, finish, message, policy.call)
        if is_recorded:
            work = partial(finish_and_record, work, message, policy.call, self.host)
        if len(message.line) <= SMALL_BYTES:
            await self._send(work(), policy.call)
        else:
            self._hold_task(asyncio.ensure_future(self._finish_beside(message, work, policy.call)))

    def _finisher(self, request: Request, policy: Policy, message: Message) -> Callable[[], bytes] | None:
        """Return the function that prepares an answer for the client; None if it passes unread."""
        if request.method in ("initialize", "server/discover"):
            capabilities = message.result.get("capabilities") if isinstance(message.result, dict) else None
            self.has_tools = not isinstance(capabilities, dict) or "tools" in capabilities
            return partial(add_tools_capability, message, policy.call)
        if policy.is_left_alone or passes_unread(message.line, policy.call):
            return None
        return partial(bound_answer, request.method, message, replace(policy.call, query=request.query))

    async def _finish_beside(self, message: Message, finish: Callable[[], bytes], call: Call) -> None:
        """Finish an answer in a thread and send it; send an error where that fails."""
        try:
            await self._send(await asyncio.to_thread(finish), call)
        except ConnectionError:
            pass
        except Exception as error:  # noqa: BLE001  no thread could be had, for one; the client waits all the same
            words = one_line(f"The result could not be read: {error!r}", GARBAGE_CHARS)
            with suppress(ConnectionError):
                await self._send(refusal(message.id, INTERNAL_ERROR, words), call)


def _initialize(version: str) -> dict[str, Any]:
    """Return the answer to the handshake with no server behind us."""
    return {
        "protocolVersion": version if version in VERSIONS else VERSIONS[-1],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "spillover", "version": __version__},
    }


def _discover() -> dict[str, Any]:
    """Return the answer to the first request of a client of the stateless protocol."""
    return {
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "spillover", "version": __version__}},
        "resultType": "complete",
        "supportedVersions": [*VERSIONS, STATELESS],
        "capabilities": {"tools": {}},
        "ttlMs": 0,
        "cacheScope": "private",
    }
