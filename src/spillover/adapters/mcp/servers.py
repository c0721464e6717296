"""The servers to stand in front of: each a command or a URL, named in a file as hosts have it."""

from __future__ import annotations

import os
import re

from spillover.adapters.mcp.stdio import Child
from spillover.base.data import dataclass, field
from spillover.base.jsonc import read_jsonc
from spillover.errors import MissingExtraError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from spillover.adapters.mcp.ask import ServerLink

#: What a host's file of servers calls them; the second is VS Code's.
KEYS = ("mcpServers", "servers")
_VARIABLE = re.compile(r"\$\{(\w++)(?::-([^}]*+))?\}")


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
        link: ServerLink = needing_sdk("url").HttpServer(self.name, self.url, self.headers)
        return link


def needing_sdk(module: str) -> Any:
    """Return a module of this package that speaks HTTP, for which it needs the official SDK."""
    from importlib import import_module

    try:
        return import_module(f"spillover.adapters.mcp.{module}")
    except ImportError as error:
        raise MissingExtraError("MCP over HTTP needs the official SDK: pip install 'spillover[mcp]'") from error


def servers_in(path: str, environ: Mapping[str, str] = os.environ) -> list[Server]:
    """Return the servers of a file as hosts have it: {"mcpServers": {NAME: {"command": …} or {"url": …}}}."""
    try:
        with open(path, encoding="utf-8") as file:
            said = read_jsonc(file.read())
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read as a file of MCP servers: {error}.") from error
    found = next((said[key] for key in KEYS if isinstance(said, dict) and isinstance(said.get(key), dict)), None)
    if not found:
        raise UsageError(f'{path} names no servers; it should have {{"mcpServers": {{"NAME": {{"command": "…"}}}}}}.')
    used = {name: entry for name, entry in found.items() if not is_disabled(entry)}
    if not used:
        raise UsageError(f"every server in {path} is disabled.")
    return [_server(path, name, _fill_in(entry, environ)) for name, entry in used.items()]


def is_disabled(entry: Any) -> bool:
    """Return whether a host's file says that a server is not to be used, in any of the ways that hosts have for it."""
    return isinstance(entry, dict) and (entry.get("disabled") is True or entry.get("enabled") is False)


def _server(path: str, name: str, entry: Any) -> Server:
    kind = entry.get("type") or entry.get("transport") if isinstance(entry, dict) else None
    if kind == "sse" or (kind is None and isinstance(entry, dict) and _is_sse(entry.get("url"))):
        raise UsageError(
            f"{path}: the server {name!r} uses SSE, which MCP deprecated in 2025; use its address for streamable HTTP "
            '("type": "http", often …/mcp), or set "disabled": true.'
        )
    if isinstance(entry, dict) and isinstance(entry.get("url"), str):
        return Server(name=name, url=entry["url"], headers=entry.get("headers") or {})
    if not isinstance(entry, dict) or not isinstance(entry.get("command"), str):
        raise UsageError(f'{path}: the server {name!r} has neither a "command" nor a "url".')
    argv = [entry["command"], *map(str, entry.get("args") or ())]
    return Server(name=name, argv=argv, env=entry.get("env") or {}, cwd=entry.get("cwd"))


def _is_sse(url: Any) -> bool:
    return isinstance(url, str) and url.partition("?")[0].rstrip("/").endswith("/sse")


def _fill_in(value: Any, environ: Mapping[str, str]) -> Any:
    """Replace ${NAME} and ${NAME:-default}, wherever they are."""
    if isinstance(value, str):
        head, closes, rest = value.rpartition("}")  # behind the last one, each ${ would be followed to the end in vain
        return _VARIABLE.sub(lambda found: environ.get(found[1], found[2] or ""), head + closes) + rest
    if isinstance(value, list):
        return [_fill_in(each, environ) for each in value]
    if isinstance(value, dict):
        return {key: _fill_in(each, environ) for key, each in value.items()}
    return value
