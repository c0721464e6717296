"""Which entries of a host's file of MCP servers offer our tools: one of them is enough for a model."""

from __future__ import annotations

from spillover.adapters.install.hosts import is_our_server
from spillover.base.jsonc import read_jsonc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

#: What hosts call their servers: most of them, VS Code, Zed, Codex.
KEYS = ("mcpServers", "servers", "context_servers", "mcp_servers")
#: No host's file is larger.
MOST_BYTES = 8 << 20


def find_offering(path: str) -> list[str]:
    """Return the names of the entries in a file that offer our tools; first those with nothing but them."""
    data = _read(path)
    found = [
        (_stands_in_front(options), str(name))
        for key in KEYS
        if isinstance(servers := data.get(key), dict)
        for name, server in servers.items()
        if is_our_server(server) and not server.get("disabled")
        if "--no-tools" not in (options := _options(server["args"]))
    ]
    return [name for _, name in sorted(found, key=lambda each: each[0])]


def _options(args: list[Any]) -> list[str]:
    """Return the words for `spill mcp`, up to the command of the server behind it."""
    words = [*map(str, args)]
    return words[: words.index("--") + 1] if "--" in words else words


def _stands_in_front(options: list[str]) -> bool:
    return any(word == "--" or word.startswith("--url") for word in options)


def tell_offering(path: str) -> str:
    """Return what to do where several entries offer our tools; nothing where it is one, or none."""
    first, *others = find_offering(path) or [""]
    if not others:
        return ""
    return (
        f"{first} and {', '.join(others)} in {path} each offer read_output and the other tools. "
        f'Add "--no-tools" to the args of {", ".join(others)}, before "--": the model then has them once.'
    )


def _read(path: str) -> Mapping[str, Any]:
    try:
        with open(path, "rb") as file:
            text = file.read(MOST_BYTES).decode()
        if path.endswith(".toml"):
            import tomllib  # only Codex has one

            return tomllib.loads(text)
        data = read_jsonc(text)
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
