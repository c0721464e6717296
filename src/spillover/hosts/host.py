"""The facts about a coding agent: its files, the events of its hook, and the replies that it takes."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Mapping
from functools import cache
from io import FileIO
from typing import Any, Literal, Protocol

from msgspec import Struct

from spillover.hosts.edits import Edit
from spillover.settings.limits import Limits

Event = Mapping[str, Any]
Scope = Literal["user", "project"]

#: A result that no limit leaves as it is, for `Hook.sample`.
LONG_TEXT = "".join(f"line {number} of a sample\n" for number in range(1, 5_001))
#: The start of each `Host.works` of an agent with a hook; the second where the agent has cut the output before.
CLIPPED = "Tool results that are too long reach the model clipped, and each is stored in full."
CLIPPED_AS_SEEN = "Tool results that are too long reach the model clipped, and what the hook sees of each is stored."


class Place(Struct, frozen=True):
    """Where an agent is installed into: the folders of a user, or of a project."""

    scope: Scope
    config: str  # the folder of the agent's own files
    root: str  # the folder of its instructions: the project, or the same
    file: str | None = None  # a file that the user names


class ToolCall(Struct, frozen=True, kw_only=True):
    """The result of a tool, taken out of the event of a hook."""

    tool: str
    result: Any  # what the model would get, in the shape that `Hook.bound` returns
    event: Event
    command: str | None = None
    arguments: object = None
    call_id: str | None = None
    cwd: str | None = None
    exit_code: int | None = None
    ending: str = ""  # what the agent writes below the output: room is left for it
    caller: object = None  # who called the tool, if it was not the model: a program's results are not cut
    shows: Limits | None = None  # what the result must not exceed, where that differs from `Host.shows`
    cut_at: Limits | None = None  # what the agent itself shows of such a result, where that is more


class Bounder(Protocol):
    """Brings texts within the limits; `hook.Clipping` and `hook.PlainCut` do. None stands for what stays unchanged."""

    def fits(self, text: str) -> bool: ...
    def mark(self, text: str) -> str: ...  # of any size, with lines that imitate a notice marked
    def text(self, text: str) -> str | None: ...  # and the ending of the call
    def file(self, file: FileIO | None) -> str | None: ...  # closes it; None if it cannot be stored, too
    def blocks(self, blocks: list[Any]) -> list[Any] | None: ...
    def streams(self, stdout: str | FileIO, stderr: str) -> dict[str, str] | None: ...  # a file as above


class Hook(Struct, frozen=True, kw_only=True):
    """How an agent reports the result of a tool, and how the result is replaced. None of it decides what is shown."""

    read: Callable[[Event], ToolCall | None]  # None: an event without a result that we may change
    bound: Callable[[ToolCall, Bounder], Any]  # the result within the limits; None: it stays unchanged
    reply: Callable[[ToolCall, Any], dict[str, Any]]  # the answer that replaces the result
    sample: Event  # an event with a long result: `spill doctor` sends it
    deadline_seconds: float  # nothing changes after it: less than the agent, or our plugin in it, waits
    exact: frozenset[str] = frozenset()  # tools whose results the model needs word for word: reads, edits, instructions
    complaint_key: str = ""  # of the answer: for a complaint about a broken configuration


class Host(Struct, frozen=True, kw_only=True):
    """An agent, as seen in one version of it (`make hosts`). Only its own file names it."""

    name: str  # `spill init NAME`, `spill hook NAME`
    title: str = ""
    seen_in: str = ""
    variable: str = ""  # set in every shell that the agent starts
    shell_tool: str = ""  # its tool for commands
    shows: Limits | None = None  # how much of a result: a little below what it cuts
    shows_failing: Limits | None = None  # of a command with an exit code other than 0, where that is less
    cut_mark: str = ""  # what it writes in a result that it has cut before any hook; the group is the path of the whole
    mcp_client: str = ""  # what it calls itself when it connects to an MCP server
    shows_mcp: Limits | None = None  # how much of the result of such a server
    hints: tuple[str, ...] = ("cli",)  # what its model has for going back
    project_variable: str = ""  # names the folder that a session began in
    program: str = ""
    user_folders: tuple[str, ...] = ()  # the first with a variable that is set, or the last
    project_folder: str = ""
    server_file: str = ""  # in the home of a user: where it lists MCP servers, if `files` has no such file
    files: Callable[[Place], Mapping[str, Edit]]  # our part of each file
    works: str  # what `spill init` prints: what is done now, and what is left to do by hand ...
    cannot: str  # ... and what the agent does not let us do
    hook: Hook | None = None

    def find_cut(self, text: str) -> re.Match[str] | None:
        """Find where the agent says that it has cut a result. Only words depend on it: any tool can print the same."""
        return _pattern(self.cut_mark).search(text) if self.cut_mark else None


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


#: Characters of a command line that a record keeps; more would make each record larger.
COMMAND_CHARS = 1_000


def get_text(values: object, key: str, max_chars: int | None = None) -> str | None:
    """Return the text under a key; None if there is none."""
    value = values.get(key) if isinstance(values, dict) else None
    return value[:max_chars] if isinstance(value, str) else None


def get_number(match: re.Match[str] | None) -> int | None:
    """Return the number in the first group of a match."""
    return int(match[1]) if match else None


def open_file(path: object, size: object = None) -> FileIO | None:
    """Open a plain file of this user and size that an agent names. No link is followed, and nothing blocks."""
    if not isinstance(path, str) or not path or "\0" in path:
        return None
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY)
    except (OSError, ValueError):
        return None
    facts = os.fstat(fd)
    if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.getuid() or size not in (None, facts.st_size):
        os.close(fd)
        return None
    return os.fdopen(fd, "rb", buffering=0)


def open_temporary(path: str, name: re.Pattern[str]) -> FileIO | None:
    """Open a temporary file of this name. A result names it in its text, and any tool can print any path."""
    folder, base = os.path.split(path)
    temporary = next(filter(None, map(os.environ.get, ("TMPDIR", "TMP", "TEMP"))), "/tmp")  # noqa: S108  as in Node
    if os.path.realpath(folder) != os.path.realpath(temporary) or not name.fullmatch(base):
        return None
    return open_file(os.path.join(os.path.realpath(folder), base))
