"""Where each host keeps its configuration, and what of ours belongs into it."""

from __future__ import annotations

import os

from spillover.adapters.edits import Entry, Marked, Whole
from spillover.adapters.install import Target
from spillover.adapters.lines import LINES
from spillover.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from spillover.adapters.install import Edit

HOSTS = ("claude-code", "opencode", "codex", "gemini", "shell")
SCOPES = ("user", "project")
COMMAND = "spill"
HOOK = f"{COMMAND} hook claude-code"
SERVER = {"command": COMMAND, "args": ["mcp"]}
NAME = "spillover"


def targets(host: str, scope: str, environ: Mapping[str, str], folder: str) -> list[Target]:
    """The files of a host, and what belongs into each."""
    home = environ.get("HOME") or os.path.expanduser("~")

    def at(variable: str, otherwise: str, here: str, *rest: str) -> str:
        if scope == "project":
            return os.path.join(folder, here, *rest)
        return os.path.join(environ.get(variable) or os.path.join(home, otherwise), *rest)

    files: dict[str, Edit]
    match host:
        case "claude-code":
            files = {at("CLAUDE_CONFIG_DIR", ".claude", ".claude", "settings.json"): _hook()}
        case "opencode":
            base = environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
            above = os.path.join(folder, ".opencode") if scope == "project" else os.path.join(base, "opencode")
            files = {os.path.join(above, "plugins", f"{NAME}.js"): _plugin()}
        case "codex":
            files = {
                at("CODEX_HOME", ".codex", ".codex", "config.toml"): _toml(),
                at("CODEX_HOME", ".codex", "", "AGENTS.md"): _markdown(),
            }
        case "gemini":
            files = {
                at("", ".gemini", ".gemini", "settings.json"): _server(),
                at("", ".gemini", "", "GEMINI.md"): _markdown(),
            }
        case _:
            if scope != "project":
                raise UsageError(
                    "shell has no file for all of your work; use --scope project, or none to see the lines."
                )
            files = {os.path.join(folder, name): _markdown() for name in _read_here(folder)}
    return [Target(path, edit, folder if scope == "project" else None) for path, edit in files.items()]


def _read_here(folder: str) -> list[str]:
    """AGENTS.md, and a CLAUDE.md that is a file of its own."""
    agents, claude = (os.path.join(folder, name) for name in ("AGENTS.md", "CLAUDE.md"))
    own = os.path.isfile(claude) and os.path.realpath(claude) != os.path.realpath(agents)
    return ["AGENTS.md", *["CLAUDE.md"] * own]


def _hook() -> Entry:
    from spillover.adapters.claude_code import EVENT, MATCHER

    return Entry(
        ("hooks", EVENT, "[]"),
        {"matcher": MATCHER, "hooks": [{"type": "command", "command": HOOK}]},
        _all_ours,
        inner=("hooks", "[]"),
        ours_inside=is_our_hook,
    )


def _all_ours(group: Any) -> bool:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return isinstance(hooks, list) and bool(hooks) and all(map(is_our_hook, hooks))


def is_our_hook(hook: Any) -> bool:
    """Whether a hook runs `spill hook claude-code`, from wherever."""
    words = hook.get("command", "") if isinstance(hook, dict) else ""
    words = words.split() if isinstance(words, str) else []
    return words[1:] == HOOK.split()[1:] and os.path.basename(words[0].strip("\"'")) == COMMAND


def _server() -> Entry:
    return Entry(("mcpServers", NAME), SERVER, is_our_server)


def is_our_server(server: Any) -> bool:
    """Whether an entry starts `spill mcp`, with whatever else."""
    if not isinstance(server, dict) or not isinstance(server.get("args"), list):
        return False
    return os.path.basename(str(server.get("command"))) == COMMAND and server["args"][:1] == ["mcp"]


def _plugin() -> Whole:
    with open(os.path.join(os.path.dirname(__file__), "opencode_plugin.js"), encoding="utf-8") as file:
        return Whole(file.read())


def _toml() -> Marked:
    lines = f'[mcp_servers.{NAME}]\ncommand = "{COMMAND}"\nargs = ["mcp"]'
    return Marked(f"# >>> {NAME}: written by `spill init codex`", lines, f"# <<< {NAME}", _check_toml)


def _check_toml(text: str) -> None:
    import tomllib

    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"this would not be, or is not, valid TOML ({error}); add this by hand:\n{_toml().lines}"
        ) from error
    servers = table.get("mcp_servers", {})
    there = servers.get(NAME, SERVER) if isinstance(servers, dict) else SERVER
    if not is_our_server(there):
        raise UsageError(f"there is another [mcp_servers.{NAME}]; give that one another name first.")


def _markdown() -> Marked:
    return Marked(f"<!-- {NAME}: written by `spill init` -->", LINES, f"<!-- /{NAME} -->")
