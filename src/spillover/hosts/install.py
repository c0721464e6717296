"""Install into the files of an agent, and remove it again: in one step for each file, with a backup, byte for byte."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from msgspec import Struct

from spillover.errors import UsageError
from spillover.hosts.edits import Edit, JsonEntry, OwnFile, TextBlock, TomlTable, read_jsonc
from spillover.hosts.host import Host, Place, Scope

COMMAND = "spill"
NAME = "spillover"
SERVER = {"command": COMMAND, "args": ["mcp"]}
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
#: What agents call their MCP servers.
SERVER_KEYS = ("mcpServers", "servers", "context_servers", "mcp_servers")
#: Bytes of a file above which it is refused: no configuration is larger.
MAX_BYTES = 1 << 24
BACKUP = ".spillover-backup"
#: The line of a plugin that stands for the code all of them share: an agent reads one file.
SHARED_LINE = "// ask.js\n"


# Our parts


def plugin(name: str) -> OwnFile:
    """Return a plugin as it is installed, the shared code included."""

    def read_source(name: str) -> str:
        with open(os.path.join(os.path.dirname(__file__), "plugins", name), encoding="utf-8") as file:
            return file.read()

    return OwnFile(read_source(name).replace(SHARED_LINE, read_source("ask.js"), 1))


def hook_entry(host: str, event: str, matcher: str, **options: int) -> JsonEntry:
    """Return the entry that makes an agent run `spill hook HOST`."""

    def is_our_hook(hook: Any) -> bool:
        command = hook.get("command") if isinstance(hook, dict) else None
        words = command.split() if isinstance(command, str) else []
        return words[1:] == ["hook", host] and _is_spill(words[0])

    def is_ours(group: Any) -> bool:
        hooks = group.get("hooks") if isinstance(group, dict) else None
        return isinstance(hooks, list) and bool(hooks) and all(map(is_our_hook, hooks))

    hook = {"type": "command", "command": f"{COMMAND} hook {host}", **options}
    group = {"matcher": matcher, "hooks": [hook]}
    return JsonEntry(("hooks", event, "[]"), group, is_ours, inner=("hooks", "[]"), is_ours_inside=is_our_hook)


def server_entry(key: str = "mcpServers", **options: str) -> JsonEntry:
    """Return the entry that makes an agent start `spill mcp`."""
    return JsonEntry((key, NAME), {**options, **SERVER}, is_our_server)


def server_table(host: str, variable: str) -> TomlTable:
    """Return the same as a table of TOML; the variable tells our server whose it is."""
    lines = f'command = "{COMMAND}"\nargs = ["mcp"]\nenv = {{ {variable} = "mcp" }}'
    first, last = f"# >>> {NAME}: written by `spill init {host}`", f"# <<< {NAME}"
    return TomlTable(f"mcp_servers.{NAME}", lines, first, last, is_our_server)


def instructions() -> TextBlock:
    """Return the lines for the model, between marks."""
    return TextBlock(f"<!-- {NAME}: written by `spill init` -->", LINES, f"<!-- /{NAME} -->")


def is_our_server(server: Any) -> bool:
    """Return whether an entry starts `spill mcp`."""
    if not isinstance(server, dict) or not isinstance(server.get("args"), list):
        return False
    return _is_spill(str(server.get("command"))) and server["args"][:1] == ["mcp"]


def _is_spill(word: str) -> bool:
    """Return whether a word of a command is `spill`, in any folder of any system, with quotes around it or not."""
    name = word.strip("\"'").replace("\\", "/").rpartition("/")[2]
    return name in (COMMAND, f"{COMMAND}.exe")


# Files


class Target(Struct, frozen=True):
    """A file, our part of it, and the folder it must not lead out of."""

    path: str
    edit: Edit
    within: str | None = None
    base: str = ""  # a folder that was there before the agent: empty ones below it are removed


def targets(
    host: Host, scope: Scope, environ: Mapping[str, str], folder: str, *, file: str | None = None
) -> list[Target]:
    """Return the files of an agent with our part of each."""
    home = environ.get("HOME") or os.path.expanduser("~")
    user_folder, base = find_user_folder(host, environ)
    config = os.path.join(folder, host.project_folder) if scope == "project" else user_folder
    root = folder if scope == "project" else config
    files = host.files(Place(scope, config, root, file))
    if scope == "project":
        return [Target(path, edit, folder, folder) for path, edit in files.items()]
    return [Target(path, edit, None, base or home) for path, edit in files.items()]


def find_user_folder(host: Host, environ: Mapping[str, str]) -> tuple[str, str]:
    """Return the folder of an agent for a user, and the folder that the user names for it; "" without one."""
    home = environ.get("HOME") or os.path.expanduser("~")
    for path in host.user_folders:
        variable, slash, rest = path.partition("/")
        value = home if variable == "~" else environ.get(variable.removeprefix("$"))
        if value:
            base = value if variable != "~" and os.path.isdir(value) else ""
            return os.path.join(value, rest) if slash else value, base
    return home, ""


class Change(Struct, frozen=True):
    """A change of a file; None stands for no file."""

    path: str
    real: str
    before: str | None
    after: str | None
    backup: str | None = None  # which is no longer needed then
    keep: bool = True  # a backup of what was there
    base: str = ""

    @property
    def is_noop(self) -> bool:
        """Whether the file stays as it is."""
        return self.before == self.after


def plan_install(target: Target) -> Change:
    """Return the change that installs us; an empty one if we are installed already."""
    real = _resolve(target)
    before = _read(real)
    with _name_file_in_errors(target.path):
        # A file that is all ours needs no backup of an earlier version of ours.
        return Change(target.path, real, before, target.edit.insert(before), keep=not isinstance(target.edit, OwnFile))


def plan_removal(target: Target) -> Change:
    """Return the change that removes us: the exact original if nobody else changed the file, else only our part."""
    real = _resolve(target)
    before = _read(real)
    edit = target.edit
    with _name_file_in_errors(target.path):
        if before is None or not edit.contains(before):
            return Change(target.path, real, before, before)
        for backup in _backups(real):
            original = _read(backup)
            if original is not None and _is_installed_over(edit, original, before):
                return Change(target.path, real, before, original, backup, keep=False, base=target.base)
        if edit.insert(None) == before:
            return Change(target.path, real, before, None, keep=False, base=target.base)
        return Change(
            target.path, real, before, edit.remove(before), keep=not isinstance(edit, OwnFile), base=target.base
        )


def is_installed(target: Target) -> bool:
    """Return whether we are installed in the file; UsageError if that cannot be determined."""
    text = _read(_resolve(target))
    with _name_file_in_errors(target.path):
        return text is not None and target.edit.contains(text)


def apply(change: Change) -> None:
    """Apply the change atomically; keep the mode, and a backup of what was there."""
    if change.is_noop:
        return
    if _read(change.real) != change.before:
        raise UsageError(f"{change.path} was changed by somebody else just now; run this again.")
    try:
        os.makedirs(os.path.dirname(change.real), exist_ok=True)
        mode = None if change.before is None else stat.S_IMODE(os.stat(change.real).st_mode)
        if change.before is not None and change.keep:
            _keep(change.real, change.before, mode)
        if change.after is None:
            os.unlink(change.real)
            _remove_empty(os.path.dirname(change.real), os.path.realpath(change.base) if change.base else "")
            return
        temporary = os.path.join(
            os.path.dirname(change.real), f".{os.path.basename(change.real)}.spillover-{os.getpid()}"
        )
        try:
            _write(temporary, change.after, mode)
            os.replace(temporary, change.real)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
        if change.backup is not None:
            os.unlink(change.backup)
    except OSError as error:
        raise UsageError(f"{change.path} cannot be changed: {error.strerror}.") from error


def _remove_empty(folder: str, base: str) -> None:
    """Remove a folder and its parents, as long as they are empty and below the base."""
    with suppress(OSError):  # it is not empty
        while base and folder.startswith(os.path.join(base, "")):
            os.rmdir(folder)
            folder = os.path.dirname(folder)


def _is_installed_over(edit: Edit, backup: str, before: str) -> bool:
    """Return whether inserting our part into a backup gives what is there now."""
    try:
        return not edit.contains(backup) and edit.insert(backup) == before
    except UsageError:
        return False


def _resolve(target: Target) -> str:
    """Return the real path: a link is followed, but not out of the project, and not to nowhere."""
    real = os.path.realpath(target.path)
    if os.path.lexists(target.path) and not os.path.isfile(real):
        raise UsageError(f"{target.path} is not a file; nothing was changed.")
    if target.within is not None and not real.startswith(os.path.join(os.path.realpath(target.within), "")):
        raise UsageError(f"{target.path} leads out of {target.within}, to {real}; nothing was changed.")
    return real


def _read(path: str) -> str | None:
    """Return the text of a file, line ends unchanged; None where there is no file."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise UsageError(f"{path} is too large for a configuration; nothing was changed.")
        return data.decode()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8; nothing was changed.") from error


def _backups(real: str) -> Iterator[str]:
    """Yield the backups there are, newest first."""
    count = 0
    while os.path.isfile(_backup(real, count)):
        count += 1
    yield from (_backup(real, number) for number in reversed(range(count)))


def _backup(real: str, number: int) -> str:
    return f"{real}{BACKUP}" + (f"-{number + 1}" if number else "")


def _keep(real: str, text: str, mode: int | None) -> None:
    """Write a backup, unless there is one with the same content; older backups stay."""
    number = 0
    while os.path.lexists(_backup(real, number)):
        if _read(_backup(real, number)) == text:
            return
        number += 1
    _write(_backup(real, number), text, mode)


def _write(path: str, text: str, mode: int | None) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666 if mode is None else 0o600)
    with open(fd, "wb") as file:
        if mode is not None:
            os.fchmod(fd, mode)
        file.write(text.encode())
        file.flush()
        os.fsync(fd)


@contextmanager
def _name_file_in_errors(path: str) -> Iterator[None]:
    """Add the file's name to what an edit finds wrong."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


# Duplicates


def warn_duplicate_tools(path: str) -> str:
    """Return a warning if several entries of a file offer our tools; "" otherwise."""
    first, *duplicates = _find_offers(path) or [""]
    if not duplicates:
        return ""
    return (
        f"{first} and {', '.join(duplicates)} in {path} each offer read_output and the other tools. "
        f'Add "--no-tools" to the args of {", ".join(duplicates)}, before "--": the model then has them once.'
    )


def _find_offers(path: str) -> list[str]:
    """Return the names of the entries that offer our tools; entries with no server behind them come first."""
    names: dict[str, bool] = {}
    data = _parse_file(path)
    for key in SERVER_KEYS:
        servers = data.get(key)
        for name, server in servers.items() if isinstance(servers, dict) else ():
            if not is_our_server(server) or server.get("disabled"):
                continue
            words = [*map(str, server["args"])]
            options = words[: words.index("--") + 1] if "--" in words else words
            if "--no-tools" not in options:
                names[str(name)] = any(word == "--" or word.startswith("--url") for word in options)
    return sorted(names, key=lambda name: names[name])


def _parse_file(path: str) -> Mapping[str, Any]:
    """Return the configuration in a file; nothing if it cannot be read."""
    import tomllib

    try:
        text = _read(path) or ""
        data = tomllib.loads(text) if path.endswith(".toml") else read_jsonc(text)
    except (UsageError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
