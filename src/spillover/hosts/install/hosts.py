"""Where each host keeps its configuration, what we put there, and which entries there offer our tools."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from typing import Any

from spillover import hosts
from spillover.errors import UsageError
from spillover.hosts import claude_code, codex, gemini
from spillover.hosts.install.edits import Edit, JsonEntry, OwnFile, Several, TextBlock, TomlTable
from spillover.hosts.install.files import Target
from spillover.hosts.jsonc import read_jsonc

HOSTS = (*(host.id for host in hosts.HOSTS), "shell")
#: Any host that has a file of MCP servers: `spill init mcp-json FILE`.
FILE_HOST = "mcp-json"
SCOPES = ("user", "project")
COMMAND = "spill"
SERVER = {"command": COMMAND, "args": ["mcp"]}
NAME = "spillover"
#: For AGENTS.md and its like. Every command in it is one that `spill` understands; a test holds it.
LINES = """\
## Commands that print a lot

- Run them as `spill run -- COMMAND`, with a pipe or a redirection as
  `spill sh 'COMMAND'`. You see what fits, the exit code is the command's own,
  and all of it is stored. The exit code of a pipe is that of its last part; a
  note names a part before it that failed.
- When something was left out, the first line says so and names a ref, such as
  `make-7f3a9c2e41d05b86`. Do not run the command again to see the rest; look
  at what is stored:
  - `spill grep REF 'FAILED|Error' -C 2` finds lines, `spill read REF 120:180`
    reads them, `spill outline REF` shows a map.
  - `spill list` shows what is stored. Instead of a REF, `last` is the newest
    run, and `last:make` the newest run of `make`.
"""
#: By these a user names the folder of a host; it is never removed.
FOLDERS = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "XDG_CONFIG_HOME")
#: What hosts call their MCP servers: most of them, VS Code, Zed, Codex.
SERVER_KEYS = ("mcpServers", "servers", "context_servers", "mcp_servers")
#: Seconds that a host waits for a hook of ours, where our entry says it (`hosts.HOOK_SECONDS`).
HOOK_TIMEOUT = 30
#: No host's file is larger.
MAX_BYTES = 8 << 20


def targets(host: str, scope: str, environ: Mapping[str, str], folder: str, *, file: str | None = None) -> list[Target]:
    """Return the files of a host, and what we put into each."""
    if host == FILE_HOST:
        if file is None:
            raise UsageError("name the host's file of MCP servers: spill init mcp-json FILE.")
        return [Target(os.path.abspath(os.path.expanduser(file)), _server_in(file))]
    home = environ.get("HOME") or os.path.expanduser("~")

    def at(variable: str, otherwise: str, here: str, *rest: str) -> str:
        if scope == "project":
            return os.path.join(folder, here, *rest)
        return os.path.join(environ.get(variable) or os.path.join(home, otherwise), *rest)

    files: dict[str, Edit]
    match host:
        case "claude-code":
            files = {
                at("CLAUDE_CONFIG_DIR", ".claude", ".claude", "settings.json"): _hook(
                    "claude-code", claude_code.EVENT, claude_code.MATCHER
                ),
                at("CLAUDE_CONFIG_DIR", ".claude", "", "CLAUDE.md"): _markdown(),
            }
        case "opencode":
            base = environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
            above = os.path.join(folder, ".opencode") if scope == "project" else os.path.join(base, "opencode")
            files = {os.path.join(above, "plugins", f"{NAME}.js"): OwnFile(script("opencode_plugin.js"))}
        case "codex":
            files = {
                at("CODEX_HOME", ".codex", ".codex", "config.toml"): _toml(),
                at("CODEX_HOME", ".codex", ".codex", "hooks.json"): _hook(
                    "codex", codex.EVENT, codex.MATCHER, timeout=HOOK_TIMEOUT
                ),
                at("CODEX_HOME", ".codex", "", "AGENTS.md"): _markdown(),
            }
        case "gemini":
            files = {
                at("", ".gemini", ".gemini", "settings.json"): Several(
                    (_server(), _hook("gemini", gemini.EVENT, ".*", timeout=HOOK_TIMEOUT * 1_000))  # milliseconds
                ),
                at("", ".gemini", "", "GEMINI.md"): _markdown(),
            }
        case "copilot":
            above = (
                os.path.join(folder, ".github")
                if scope == "project"
                else environ.get("COPILOT_HOME") or os.path.join(home, ".copilot")
            )
            files = {os.path.join(above, "hooks", f"{NAME}.json"): OwnFile(_copilot(), key=COPILOT_KEY)}
        case "cline":
            above = os.path.join(folder if scope == "project" else home, ".cline")
            files = {os.path.join(above, "plugins", f"{NAME}.js"): OwnFile(script("cline_plugin.js"))}
        case "pi":
            above = os.path.join(folder, ".pi") if scope == "project" else os.path.join(home, ".pi", "agent")
            files = {os.path.join(above, "extensions", f"{NAME}.js"): OwnFile(script("pi_extension.js"))}
        case _:
            if scope != "project":
                raise UsageError(
                    "shell has no file for all your work; use --scope project, or no --scope to print the lines."
                )
            files = {os.path.join(folder, name): _markdown() for name in _read_here(folder)}
    if scope == "project":
        return [Target(path, edit, folder, folder) for path, edit in files.items()]
    named = [value for name in FOLDERS if (value := environ.get(name)) and os.path.isdir(value)]
    bases = [next((base for base in named if path.startswith(os.path.join(base, ""))), home) for path in files]
    return [Target(path, edit, None, base) for (path, edit), base in zip(files.items(), bases, strict=True)]


def _read_here(folder: str) -> list[str]:
    """AGENTS.md, and a CLAUDE.md that is a file of its own."""
    agents, claude = (os.path.join(folder, name) for name in ("AGENTS.md", "CLAUDE.md"))
    own = os.path.isfile(claude) and os.path.realpath(claude) != os.path.realpath(agents)
    return ["AGENTS.md", *["CLAUDE.md"] * own]


def _hook(host: str, event: str, matcher: str, **more: int) -> JsonEntry:
    def is_ours(group: Any) -> bool:
        hooks = group.get("hooks") if isinstance(group, dict) else None
        return isinstance(hooks, list) and bool(hooks) and all(is_our_hook(hook, host) for hook in hooks)

    hook = {"type": "command", "command": f"{COMMAND} hook {host}", **more}
    return JsonEntry(
        ("hooks", event, "[]"),
        {"matcher": matcher, "hooks": [hook]},
        is_ours,
        inner=("hooks", "[]"),
        ours_inside=lambda hook: is_our_hook(hook, host),
    )


#: By this we know our file of Copilot's hooks again; JSON has no place for a comment.
COPILOT_KEY = '"spillover": "written by `spill init copilot`"'


def _copilot() -> str:
    hook = {
        "type": "command",
        "bash": f"{COMMAND} hook copilot",
        "powershell": f"{COMMAND} hook copilot",
        "timeoutSec": 60,
    }
    settings = {"version": 1, "hooks": {"postToolUse": [hook]}}
    return "{\n  " + COPILOT_KEY + ",\n" + json.dumps(settings, indent=2)[2:] + "\n"


def _server_in(path: str) -> JsonEntry:
    """Return the entry for a host's own file of servers: VS Code's file calls them otherwise."""
    vs_code = os.path.basename(os.path.dirname(os.path.abspath(path))) == ".vscode"
    zed = os.path.basename(os.path.dirname(os.path.abspath(path))) in (".zed", "zed")
    key = "servers" if vs_code else "context_servers" if zed else "mcpServers"
    return JsonEntry((key, NAME), {"type": "stdio", **SERVER} if vs_code else SERVER, is_our_server)


def is_our_hook(hook: Any, host: str) -> bool:
    """Return whether a hook runs `spill hook HOST`, from wherever."""
    words = hook.get("command", "") if isinstance(hook, dict) else ""
    words = words.split() if isinstance(words, str) else []
    return words[1:] == ["hook", host] and _is_spill(words[0])


def _is_spill(word: str) -> bool:
    """Return whether a word of a command is ours, with whatever folder, of whatever system, and quotes around it."""
    name = word.strip("\"'").replace("\\", "/").rpartition("/")[2]
    return name in (COMMAND, f"{COMMAND}.exe")


def _server() -> JsonEntry:
    return JsonEntry(("mcpServers", NAME), SERVER, is_our_server)


def is_our_server(server: Any) -> bool:
    """Return whether an entry starts `spill mcp`, with whatever else."""
    if not isinstance(server, dict) or not isinstance(server.get("args"), list):
        return False
    return _is_spill(str(server.get("command"))) and server["args"][:1] == ["mcp"]


#: The line of a script that stands for what all of them have in common. A host reads one file, so it is put in there.
SHARED = "// ask.js\n"


def script(name: str) -> str:
    """Return a script as it is installed, with what all of them share in it."""

    def read(name: str) -> str:
        with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
            return file.read()

    return read(name).replace(SHARED, read("ask.js"), 1)


def _toml() -> TomlTable:
    first, last = f"# >>> {NAME}: written by `spill init codex`", f"# <<< {NAME}"
    # Codex starts servers without its own variables; by this one ours knows how much Codex shows of an answer.
    lines = f'command = "{COMMAND}"\nargs = ["mcp"]\nenv = {{ {hosts.CODEX.variable} = "mcp" }}'
    return TomlTable(f"mcp_servers.{NAME}", lines, first, last, is_our_server)


def _markdown() -> TextBlock:
    return TextBlock(f"<!-- {NAME}: written by `spill init` -->", LINES, f"<!-- /{NAME} -->")


def find_offering(path: str) -> list[str]:
    """Return the names of the entries in a file that offer our tools; first those with nothing but them."""
    data = _read(path)
    found = [
        (_stands_in_front(options), str(name))
        for key in SERVER_KEYS
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


def warn_duplicate_tools(path: str) -> str:
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
            text = file.read(MAX_BYTES).decode()
        if path.endswith(".toml"):
            return tomllib.loads(text)
        data = read_jsonc(text)
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
