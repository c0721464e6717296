"""No server or several behind us: one handshake for all, one list of all, each request to the one it concerns."""

from __future__ import annotations

import asyncio

from spillover.adapters.mcp.catalog import BETWEEN, Entry, named
from spillover.adapters.mcp.message import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    Message,
    answer,
    dumps,
    notification,
    refusal,
)
from spillover.notice.words import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Protocol

    from spillover.adapters.mcp.ask import Ask, Link, ServerLink

    class Between(Protocol):
        """Who stands between the client and the servers."""

        client: Link
        servers: dict[str, ServerLink]
        gone: dict[str, str]
        ask: Ask
        questions: dict[str, tuple[str, Any]]
        complain: Callable[[str], None]

        async def forward(self, server: str, message: Message, *, line: bytes | None = None) -> None: ...
        async def finished(self, method: str, message: Message, id_: Any) -> bytes: ...
        async def listed(self, method: str, page: Any) -> Any: ...


#: Versions of the protocol with a handshake, oldest first; and the stateless one we speak where nobody is behind us.
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS = "2026-07-28"
#: method → (what is listed, what an entry is known by)
LISTS = {
    "resources/list": ("resources", "uri"),
    "resources/templates/list": ("resourceTemplates", "uriTemplate"),
    "prompts/list": ("prompts", "name"),
}
#: A server that lists none of what a method is about is not asked.
NEEDS = {
    "resources": "resources",
    "prompts": "prompts",
    "tools": "tools",
    "completion": "completions",
    "logging": "logging",
}


class Many:
    """The servers as one."""

    def __init__(self, relay: Between) -> None:
        self.relay = relay
        self.said: dict[str, dict[str, Any]] = {}  # what each server said of itself
        self.prompts: dict[str, Entry] = {}

    def heard(self, server: str, message: Message) -> None:
        """Remember what a server says about itself."""
        if isinstance(said := message.result, dict):
            self.said[server] = said

    def lacks(self, server: str, what: str) -> bool:
        """Return whether a server has said that it has none of these."""
        can = self.said.get(server, {}).get("capabilities")
        return isinstance(can, dict) and what not in can

    async def answer(self, message: Message) -> None:
        """Answer a request that concerns all servers, or one that has to be found first."""
        method = message.method or ""
        client = self.relay.client
        if method == "initialize":
            await client.send(answer(message.id, await self.relay.listed(method, await self._initialize(message))))
        elif method == "server/discover":  # in front of others we speak the protocol with a handshake
            refused = refusal(message.id, METHOD_NOT_FOUND, "Method not found: server/discover")
            await client.send(refused if self.relay.servers else answer(message.id, _discover()))
        elif method == "ping":
            await client.send(answer(message.id, {}))
        elif method in LISTS:
            await client.send(answer(message.id, await self.relay.listed(method, await self._list(message, method))))
        elif method == "logging/setLevel" and self._find_servers(method):
            await asyncio.gather(*(self.relay.ask(name, method, message.params) for name in self._find_servers(method)))
            await client.send(answer(message.id, {}))
        else:
            await self._find(message, method)

    def _find_servers(self, method: str) -> list[str]:
        need = NEEDS.get(method.partition("/")[0], "")
        return [name for name in self.relay.servers if name not in self.relay.gone and not self.lacks(name, need)]

    async def _initialize(self, message: Message) -> dict[str, Any]:
        names = [name for name in self.relay.servers if name not in self.relay.gone]
        replies = await asyncio.gather(
            *(self.relay.ask(name, "initialize", message.params) for name in names), return_exceptions=True
        )
        for name, reply in zip(names, replies, strict=True):
            said = reply.result if isinstance(reply, Message) else None
            self.said[name] = said if isinstance(said, dict) else {"capabilities": {}}
            if not isinstance(said, dict):
                self.relay.complain(
                    f"{name} could not be initialized: {one_line(str(getattr(reply, 'error', reply)), 200)}"
                )
        return _merge(self.said, str(message.params.get("protocolVersion")))

    async def _list(self, message: Message, method: str) -> dict[str, Any]:
        key, known_by = LISTS[method]
        pages = [
            (name, await self.relay.ask.all_pages(name, method, key, message)) for name in self._find_servers(method)
        ]
        entries = [
            Entry(name, str(entry.get(known_by)), entry)
            for name, page in pages
            if not isinstance(page, Message)
            for entry in page[key]
            if isinstance(entry, dict)
        ]
        if key != "prompts":
            return {key: [entry.listed for entry in entries]}
        self.prompts = named(entries)
        return {key: [{**entry.listed, "name": name} for name, entry in self.prompts.items()]}

    async def _find(self, message: Message, method: str) -> None:
        """Forward a request to the server that lists its name; if none does, to each until one does not refuse."""
        params = message.params
        reference = params.get("ref") if method == "completion/complete" else params
        name = reference.get("name") if isinstance(reference, dict) else None
        if method in ("prompts/get", "completion/complete") and isinstance(name, str):
            if not self.prompts:
                await self._list(message, "prompts/list")
            entry = self.prompts.get(name)
            if entry is None:
                await self.relay.client.send(
                    refusal(message.id, INVALID_PARAMS, f"Unknown prompt: {one_line(name, 80)}")
                )
                return
            own = {**reference, "name": entry.name}  # type: ignore[dict-item]  # a dict, as the name came from it
            line = message.with_params(own if method == "prompts/get" else {**params, "ref": own})
            await self.relay.forward(entry.server, message, line=line)
            return
        asked = self._find_servers(method)
        said = None
        for server in asked:
            said = await self.relay.ask(server, method, params)
            if said.error is None:
                break
        if said is None:
            await self.relay.client.send(
                refusal(message.id, METHOD_NOT_FOUND, f"Nobody here knows {one_line(method, 80)}.")
            )
            return
        await self.relay.client.send(await self.relay.finished(method, said, message.id))

    def question(self, server: str, message: Message) -> bytes:
        """Return a message of one of several servers: its requests get an id that only one of them has."""
        if message.method == "notifications/cancelled":
            params = message.params
            return notification(
                message.method, {**params, "requestId": f"{server}{BETWEEN}{dumps(params.get('requestId')).decode()}"}
            )
        if not message.is_request:
            return message.line
        id_ = f"{server}{BETWEEN}{dumps(message.id).decode()}"
        self.relay.questions[id_] = server, message.id
        return message.with_id(id_)


def _merge(said: dict[str, dict[str, Any]], asked: str) -> dict[str, Any]:
    """Return what all of them can do; the oldest version any of them speaks; the instructions of each under its name."""
    from spillover import __version__

    can: dict[str, Any] = {"tools": {}}
    for reply in said.values():
        for what, how in _dicts([reply.get("capabilities")]):
            can[what] = {**can.get(what, {}), **how} if isinstance(how, dict) else how
    versions = [reply.get("protocolVersion") for reply in said.values()]
    known = [version for version in versions if version in VERSIONS]
    version = min(known, key=VERSIONS.index) if known else asked if asked in VERSIONS else VERSIONS[-1]
    words = [f"{name}: {reply['instructions']}" for name, reply in said.items() if reply.get("instructions")]
    return {
        "protocolVersion": version,
        "capabilities": can,
        "serverInfo": {"name": "spillover", "version": __version__},
        **({"instructions": "\n\n".join(words)} if words else {}),
    }


def _dicts(values: Iterable[Any]) -> Iterable[tuple[str, Any]]:
    return (pair for value in values if isinstance(value, dict) for pair in value.items())


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
