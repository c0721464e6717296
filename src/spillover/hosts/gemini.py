"""Gemini CLI: its AfterTool hook replaces a result by a call of `read_file` on a file with the same within the limits.

No field of the reply replaces a result, but such a tail call does, failing results included (seen in 0.61): the model
gets what `read_file` returns as the result of the tool it called. The hook is called for the tail call too, and removes
the file.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import Any

from spillover.hosts.edits import Edit, JsonEntries, read_jsonc
from spillover.hosts.host import (
    CLIPPED,
    COMMAND_CHARS,
    LONG_TEXT,
    Bounder,
    Event,
    Hook,
    Host,
    Place,
    ToolCall,
    get_number,
    get_text,
)
from spillover.hosts.install import hook_entry, instructions, server_entry
from spillover.settings.limits import Limits

NAME = "gemini"
EVENT = "AfterTool"
SHELL = "run_shell_command"
READER = "read_file"
#: The names of `read_file` in a list of tools.
READER_NAMES = (READER, "ReadFileTool")
EXACT = frozenset(
    {READER, "read_many_files", "write_file", "replace", "activate_skill", "ask_user", "write_todos", "save_memory"}
)
#: What Gemini CLI writes around the output of a tool, and below that of a command.
OPENING = re.compile(r"<untrusted_context>\n")
CLOSING = re.compile(
    r"(?:\nExit Code: \d+)?(?:\nSignal: \w+)?(?:\nBackground PIDs: [\d, ]+)?(?:\nProcess Group PGID: \d+)?"
    r"\n</untrusted_context>$"
)
EXIT_CODE = re.compile(r"\A\nExit Code: (\d{1,9})\n")
CLOSING_CHARS = 500
#: The same between the blocks of an MCP result. In an output, Gemini CLI escapes it.
BETWEEN = "\n</untrusted_context>\n<untrusted_context>\n"
OUTPUT = "Output: "
#: How the text of an MCP result that is an error begins, and where its JSON does.
MCP_ERROR = re.compile(r"MCP tool '[^'\n]{0,200}' reported tool error")
MCP_RESPONSE = " with response: "
#: A line that may be longer than the 2,000 units of UTF-16 behind which `read_file` cuts, or a control character.
UNSAFE_LINE = re.compile(r"(?m)^[^\n]{1001}|[\x00-\x08\x0b-\x1f\x7f]")
PREFIX = "spillover-"
#: A file that is still there after this was not read: something keeps `read_file` from it, and no result is replaced
#: until it is stale, and removed. More seconds of the first lose more results before that, of the second more after.
UNREAD_SECONDS = 10
STALE_SECONDS = 3_600
TIMEOUT_SECONDS = 30


def read(event: Event) -> ToolCall | None:
    """Take the text of a result out of an event; remove the file of a tail call of ours."""
    tool = get_text(event, "tool_name") or ""
    arguments = event.get("tool_input")
    if event.get("hook_event_name") != EVENT:
        return None
    folder = find_folder(event)
    # Our own tail call, or somebody else's: never one after the other.
    if event.get("original_request_name") is not None:
        remove_read(get_text(arguments, "file_path"), folder)
        return None
    text = read_text(event.get("tool_response"))
    if tool in EXACT or not text or folder is None or not can_read(folder, get_text(event, "cwd") or ""):
        return None
    return ToolCall(
        tool=tool,
        result=text,
        event=event,
        command=get_text(arguments, "command", COMMAND_CHARS),
        arguments=arguments,
        cwd=get_text(event, "cwd"),
        exit_code=get_number(EXIT_CODE.search(split_frame(text, tool)[2])),
    )


def bound(call: ToolCall, within: Bounder) -> str | None:
    """Bound the output inside of what Gemini CLI writes around it."""
    head, output, tail = split_frame(call.result, call.tool)
    new = within.text(output)
    if new is None:
        if tail or output == call.result or within.fits(call.result):
            return None
        new = output  # the error of an MCP server fits without the JSON around it
    return head + (new.removesuffix("\n") + tail if tail else new)


def reply(call: ToolCall, text: str) -> dict[str, Any]:
    """Answer with a call of `read_file` on a file with this text."""
    request = {"name": READER, "args": {"file_path": write_file(find_folder(call.event) or "", text)}}
    return {"hookSpecificOutput": {"hookEventName": EVENT, "tailToolCallRequest": request}}


def read_text(response: object) -> str | None:
    """Return the text that the model would read; None if there is more than text."""
    content = response.get("llmContent") if isinstance(response, dict) else None
    if not isinstance(content, list):
        return content if isinstance(content, str) else None
    texts = [part if isinstance(part, str) else get_text(part, "text") for part in content]
    return "\n".join(text for text in texts if text is not None) if None not in texts else None


def split_frame(text: str, tool: str) -> tuple[str, str, str]:
    """Return an output without the frame of Gemini CLI: the text before it, the output, the text behind it."""
    if error := MCP_ERROR.match(text):
        output = read_error(text)
        return ("", text, "") if output is None else (f"{error[0]}:\n", output, "")
    opening = OPENING.match(text)
    closing = CLOSING.search(text, max(0, len(text) - CLOSING_CHARS)) if opening else None
    if not opening or not closing:
        return "", text, ""
    head = opening[0]
    output = text[opening.end() : closing.start()].replace(BETWEEN, "\n")
    if tool == SHELL and output.startswith(OUTPUT):
        head = f"{head}{OUTPUT.strip()}\n"
        output = output.removeprefix(OUTPUT)
    return head, output, closing[0]


def read_error(text: str) -> str | None:
    """Return the texts in the JSON of an MCP result that is an error; None if it has another shape."""
    try:
        parts = json.loads(text.partition(MCP_RESPONSE)[2])
        return "\n".join(block["text"] for block in parts[0]["functionResponse"]["response"]["content"])
    except (ValueError, TypeError, KeyError, IndexError, RecursionError):
        return None


def find_folder(event: Event) -> str | None:
    """Return the folder of this project's tool outputs, which `read_file` may read besides the workspace."""
    project, chats, _ = (get_text(event, "transcript_path") or "").rpartition("/chats/")
    return (
        os.path.join(project, "tool-outputs") if chats and os.path.isabs(project) and os.path.isdir(project) else None
    )


def can_read(folder: str, cwd: str) -> bool:
    """Return whether `read_file` will return a file in this folder: if it does not, the result is lost."""
    project = os.environ.get("GEMINI_PROJECT_DIR") or cwd
    if os.path.realpath(folder).startswith(os.path.join(os.path.realpath(project), "")):
        return False  # the workspace says which of its files are ignored
    if any(UNREAD_SECONDS < age < STALE_SECONDS for age in our_files(folder).values()):
        return False
    home = os.path.join(os.environ.get("GEMINI_CLI_HOME") or os.path.expanduser("~"), ".gemini")
    folders = ["/etc/gemini-cli", home, os.path.join(project, ".gemini")]
    files = [os.path.join(path, name) for path in folders for name in ("settings.json", "system-defaults.json")]
    files += [os.environ.get(f"GEMINI_CLI_SYSTEM_{name}_PATH") or "" for name in ("SETTINGS", "DEFAULTS")]
    try:
        settings = [read_jsonc(text) for text in map(read_text_file, files) if text.strip()]
        return all(map(offers_reader, settings)) and not any(
            forbids_reader(read_text_file(path), folder) for path in list_policies(folders, settings)
        )
    except (OSError, ValueError, TypeError, AttributeError, RecursionError, re.error):  # they may say anything
        return False


def read_text_file(path: str) -> str:
    """Return the text of a file; "" if there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return ""


def offers_reader(settings: dict[str, Any]) -> bool:
    """Return whether settings leave `read_file` among the tools, in their present form and in the one before."""
    tools = settings.get("tools") or {}
    excluded = [*(tools.get("exclude") or ()), *(settings.get("excludeTools") or ())]
    lists = [names for names in (tools.get("core"), settings.get("coreTools")) if names is not None]
    return not any(name in excluded for name in READER_NAMES) and all(
        any(name in names for name in READER_NAMES) for names in lists
    )


def list_policies(folders: list[str], settings: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the files of policies in the folders of Gemini CLI, of its extensions, and wherever its settings say."""
    paths = [os.path.join(folder, "policies") for folder in folders]
    extensions = os.path.join(folders[1], "extensions")
    with suppress(OSError):
        paths += [os.path.join(extensions, name, "policies") for name in os.listdir(extensions)]
    for values in settings:
        paths += [*(values.get("policyPaths") or ()), *(values.get("adminPolicyPaths") or ())]
    for path in map(os.path.expanduser, paths):
        if os.path.isdir(path):
            yield from (os.path.join(path, name) for name in os.listdir(path) if name.endswith(".toml"))
        else:
            yield path


def forbids_reader(text: str, folder: str) -> bool:
    """Return whether a file of policies has a rule that does not allow `read_file` a file in this folder."""
    if not text.strip():
        return False
    import tomllib

    arguments = json.dumps({"file_path": os.path.join(folder, PREFIX)}, separators=(",", ":"))

    def forbids(rule: dict[str, Any]) -> bool:
        names = rule.get("toolName", "*")
        matches = any(fnmatchcase(READER, name) for name in ([names] if isinstance(names, str) else names))
        if not matches or rule.get("mcpName") or rule.get("decision") == "allow":
            return False
        return re.search(rule.get("argsPattern", ""), arguments) is not None

    return any(map(forbids, tomllib.loads(text).get("rule") or ()))


def our_files(folder: str) -> dict[str, float]:
    """Return the files of ours in a folder, each with its age in seconds."""
    try:
        with os.scandir(folder) as entries:
            return {
                entry.path: time.time() - entry.stat(follow_symlinks=False).st_mtime
                for entry in entries
                if entry.name.startswith(PREFIX)
            }
    except OSError:
        return {}


def write_file(folder: str, text: str) -> str:
    """Write a private file for `read_file` and return its path; remove files that were never read."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    for path, age in our_files(folder).items():
        if age >= STALE_SECONDS:
            remove_read(path, folder)
    # Of other text than .svg, `read_file` cuts long lines, and returns nothing if it takes it for binary data.
    suffix = ".svg" if UNSAFE_LINE.search(text) else ".txt"
    path = os.path.join(folder, f"{PREFIX}{os.urandom(8).hex()}{suffix}")
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with open(fd, "wb") as file:
        file.write(text.encode("utf-8", "replace"))
    return path


def remove_read(path: str | None, folder: str | None) -> None:
    """Remove a file of ours that was read."""
    if path and folder and os.path.dirname(path) == folder and os.path.basename(path).startswith(PREFIX):
        with suppress(OSError):
            os.unlink(path)


def files(place: Place) -> dict[str, Edit]:
    """Return our part of Gemini CLI's files."""
    hook = hook_entry(NAME, EVENT, ".*", timeout=TIMEOUT_SECONDS * 1_000)  # milliseconds
    return {
        os.path.join(place.config, "settings.json"): JsonEntries((server_entry(), hook)),
        os.path.join(place.root, "GEMINI.md"): instructions(),
    }


HOST = Host(
    name=NAME,
    title="Gemini CLI",
    seen_in="0.61",
    variable="GEMINI_CLI",
    shell_tool=SHELL,
    # 40,000 characters of a command's output, and 2,000 lines of the file that a hook's answer is read from.
    shows=Limits(lines=1_900, chars=40_000 - 1_000),
    cut_mark=r"^\[GEMINI_CLI_WARNING: Output truncated\. The buffer is limited to \d{1,6}MB\.\]$",
    project_variable="GEMINI_PROJECT_DIR",
    program="gemini",
    user_folders=("~/.gemini",),
    project_folder=".gemini",
    files=files,
    works=f"{CLIPPED} New sessions use it.",
    cannot="Results are replaced through the tool `read_file`. If your settings or policies exclude it, or if a result "
    "has images, nothing changes.",
    hook=Hook(
        read=read,
        bound=bound,
        reply=reply,
        deadline_seconds=25,  # of TIMEOUT_SECONDS
        exact=EXACT,
        sample={
            "hook_event_name": EVENT,
            "tool_name": SHELL,
            "tool_input": {"command": "seq 5000"},
            "tool_response": {"llmContent": LONG_TEXT},
        },
    ),
)
