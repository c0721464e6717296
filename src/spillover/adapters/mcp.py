"""MCP: a server with our tools, and a proxy that clips what other servers answer. Over pipes this needs no package."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
from contextlib import suppress

from spillover.adapters.mcp_relay import Relay
from spillover.adapters.mcp_stdio import Child, client
from spillover.data import dataclass, field
from spillover.errors import MissingExtraError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from spillover.adapters.mcp_ask import ServerLink
    from spillover.clipper import Clipper

#: What a host's file of servers calls them; the second is VS Code's.
KEYS = ("mcpServers", "servers")
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server to stand in front of: a command, or a URL."""

    name: str
    argv: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def link(self) -> ServerLink:
        if self.url is None:
            return Child(self.name, self.argv, self.env, self.cwd)
        link: ServerLink = http().HttpServer(self.name, self.url, self.headers)
        return link


def http() -> Any:
    """What speaks HTTP, and needs the official SDK for it."""
    try:
        from spillover.adapters import mcp_http
    except ImportError as error:
        raise MissingExtraError("MCP over HTTP needs the official SDK: pip install 'spillover[mcp]'") from error
    return mcp_http


def servers_in(path: str, environ: Mapping[str, str] = os.environ) -> list[Server]:
    """The servers of a file as hosts have it: {"mcpServers": {NAME: {"command": …} or {"url": …}}}."""
    try:
        with open(path, encoding="utf-8") as file:
            said = json.load(file)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read as a file of MCP servers: {error}.") from error
    found = next((said[key] for key in KEYS if isinstance(said, dict) and isinstance(said.get(key), dict)), None)
    if not found:
        raise UsageError(f'{path} names no servers; it should have {{"mcpServers": {{"NAME": {{"command": "…"}}}}}}.')
    return [_server(path, name, _filled(entry, environ)) for name, entry in found.items()]


def _server(path: str, name: str, entry: Any) -> Server:
    if isinstance(entry, dict) and isinstance(entry.get("url"), str):
        return Server(name=name, url=entry["url"], headers=entry.get("headers") or {})
    if not isinstance(entry, dict) or not isinstance(entry.get("command"), str):
        raise UsageError(f'{path}: the server {name!r} has neither a "command" nor a "url".')
    argv = [entry["command"], *map(str, entry.get("args") or ())]
    return Server(name=name, argv=argv, env=entry.get("env") or {}, cwd=entry.get("cwd"))


def _filled(value: Any, environ: Mapping[str, str]) -> Any:
    """${NAME} and ${NAME:-otherwise}, wherever they stand."""
    if isinstance(value, str):
        return _VARIABLE.sub(lambda found: environ.get(found[1], found[2] or ""), value)
    if isinstance(value, list):
        return [_filled(each, environ) for each in value]
    if isinstance(value, dict):
        return {key: _filled(each, environ) for key, each in value.items()}
    return value


def serve(
    clipper: Clipper,
    servers: Sequence[Server] = (),
    *,
    at: tuple[str, int] | None = None,
    allow_run: bool = False,
    complain: Callable[[str], None] = lambda _: None,
) -> str | None:
    """Serve until the client has gone, or over HTTP until ended; how the servers ended, where that came first."""
    if any(server.url for server in servers):
        http()  # better to hear of it before anything is started

    async def session(client: Any) -> str | None:
        links: dict[str, ServerLink] = {}
        try:
            for server in servers:
                try:
                    link = server.link()
                    await link.start()
                    links[server.name] = link
                except UsageError as error:
                    if len(servers) == 1:
                        raise
                    complain(str(error))  # the others will do without
            return await Relay(client, links, clipper, allow_run=allow_run, complain=complain).run()
        finally:
            await asyncio.gather(*(link.close() for link in links.values()), return_exceptions=True)

    if at is not None:
        return asyncio.run(http().serve(session, at, complain))  # type: ignore[no-any-return]  # loaded by its name
    return asyncio.run(_over_pipes(session))


async def _over_pipes(session: Callable[[Any], Any]) -> str | None:
    """One client, on our stdin and stdout; a signal ends us as the client's leaving does."""
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    pipes = await client()
    with suppress(asyncio.CancelledError, ConnectionError):
        how = await session(pipes)
        await pipes.flush()
        return how  # type: ignore[no-any-return]  # what `session` gives, which is of any shape of link
    return None
