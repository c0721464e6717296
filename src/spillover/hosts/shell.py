"""Agents without a hook of ours: any with a shell, by lines for AGENTS.md, and any with a file of MCP servers."""

from __future__ import annotations

import os

from spillover.errors import UsageError
from spillover.hosts.edits import Edit
from spillover.hosts.host import Host, Place
from spillover.hosts.install import instructions, server_entry


def instruction_files(place: Place) -> dict[str, Edit]:
    """Return our part of AGENTS.md, and of a CLAUDE.md that is a file of its own."""
    if place.scope != "project":
        raise UsageError("shell has no file for all your work; use --scope project, or no --scope to print the lines.")
    agents, claude = (os.path.join(place.root, name) for name in ("AGENTS.md", "CLAUDE.md"))
    is_own = os.path.isfile(claude) and os.path.realpath(claude) != os.path.realpath(agents)
    return {path: instructions() for path in ([agents, claude] if is_own else [agents])}


def server_file(place: Place) -> dict[str, Edit]:
    """Return our part of the file of MCP servers that the user names; VS Code and Zed call them otherwise."""
    if place.file is None:
        raise UsageError("name the host's file of MCP servers: spill init mcp-json FILE.")
    path = os.path.abspath(os.path.expanduser(place.file))
    match os.path.basename(os.path.dirname(path)):
        case ".vscode":
            return {path: server_entry("servers", type="stdio")}
        case ".zed" | "zed":
            return {path: server_entry("context_servers")}
        case _:
            return {path: server_entry()}


SHELL = Host(
    name="shell",
    files=instruction_files,
    works="Agents that read these files know about `spill run` and `spill sh`.",
    cannot="A model may forget to use them.",
)
MCP_JSON = Host(
    name="mcp-json",
    files=server_file,
    works="The model can read stored outputs through `spill mcp`. Restart the host to use it.",
    cannot="Results of other servers are clipped only behind the proxy: `spill mcp -- COMMAND`.",
)
