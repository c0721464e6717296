"""What was mistyped, said in a sentence, with what may have been meant. Loaded only for a mistake."""

from __future__ import annotations

from difflib import get_close_matches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

#: What people type for a command that has another name here.
MEANT = {
    "cat": "read",
    "tail": "read",
    "head": "read",
    "search": "grep",
    "rg": "grep",
    "find": "grep",
    "ls": "list",
    "delete": "rm",
    "remove": "rm",
    "info": "show",
    "exec": "run",
    "check": "verify",
    "clean": "gc",
    "prune": "gc",
    "install": "init",
    "uninstall": "init",
    "settings": "config",
    "where": "path",
    "completions": "completion",
}
#: Hosts that `init` knows by their file of MCP servers alone.
SERVER_FILES = {
    "cursor": "~/.cursor/mcp.json",
    "vscode": ".vscode/mcp.json",
    "vs-code": ".vscode/mcp.json",
    "windsurf": "~/.codeium/windsurf/mcp_config.json",
    "zed": "~/.config/zed/settings.json",
}
#: What to type where the ref is missing.
WITH_REF = {
    "read": "spill read last 1:50",
    "outline": "spill outline last",
    "diff": "spill diff last",
    "show": "spill show last",
    "path": "spill path last",
    "pin": "spill pin last",
    "unpin": "spill unpin last",
    "rm": "spill rm bash-7f3a9c2e41d05b86",
}


def guess(word: str, known: Iterable[str]) -> str:
    """Return the known word that was most likely meant; "" where none is near."""
    known = list(known)
    if MEANT.get(word) in known:
        return MEANT[word]
    near = get_close_matches(word, known, 1)
    return near[0] if near else ""


def explain(message: str, options: Iterable[str], command: str = "", commands: Iterable[str] = ()) -> str:
    """Say in plain words what argparse has found wrong with the words of a command, or of the filter, which is none of `commands`."""
    if message.startswith("unrecognized arguments: "):
        word = message.removeprefix("unrecognized arguments: ").split(" ")[0]
        if command not in commands and word in commands:
            return f"{word} is a command, and stands before its options: `spill {word} …`."
        if not word.startswith("-"):
            return f"unexpected argument {word!r}."
        near = guess(word.partition("=")[0], options)
        return f"unknown option {word}.{f' Did you mean {near}?' if near else ''}"
    if message.startswith("the following arguments are required: "):
        names = message.removeprefix("the following arguments are required: ")
        if names == "PATTERN":  # of `grep`, which takes them in either order: who knows which one is missing
            return "a REF and a PATTERN are needed, e.g. `spill grep last 'FAILED|Error'`."
        if names == "shell":
            return "name a shell: bash, zsh, fish, tcsh or powershell."
        example = f", e.g. `{WITH_REF[command]}`" if names == "REF" and command in WITH_REF else ""
        return f"missing {' and '.join(names.split(', '))}{example}."
    name, _, what = message.removeprefix("argument ").partition(": ")
    if what == "expected one argument":
        return f"{name} needs a value."
    if what.startswith("invalid choice: "):
        word, _, choices = what.removeprefix("invalid choice: ").partition(" (choose from ")
        known = [choice.strip("' ") for choice in choices.rstrip(")").split(",")]
        near = guess(word.strip("'"), known)
        meant = f" Did you mean {near}?" if near else ""
        said = f"{name}: {word} is not valid" if name.startswith("-") else f"{word} is not a {name}"
        if name == "host" and (file := SERVER_FILES.get(word.strip("'").lower())):
            meant = f" For {word[1:-1]}: `spill init mcp-json {file}`."
        return f"{said}; use {', '.join(known)}.{meant}"
    return f"{name}: {what}." if message.startswith("argument ") else f"{message}."
