"""Configuration files: finding them, reading them safely, and recording the user's trust in them.

A small file may have been put there by somebody else: reading it never hangs, and reports who can have written it.
Trust is recorded in a folder of the user's own, in a small file for each trusted file: named after the path, it holds
the SHA-256 of the content and the path. So two processes can record trust at once, and checking a file opens one other.
"""

from __future__ import annotations

import errno
import os
import shlex
import stat
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from spillover.errors import ConfigError
from spillover.notice.wording import one_line
from spillover.store.folder import expand, user_folder
from spillover.store.scopes import find_repository

State = Literal["trusted", "changed", "untrusted"]

#: The names of a configuration file, and of the file that can contain a configuration.
FILE = "spillover.toml"
PYPROJECT = "pyproject.toml"
#: The environment variable that names another file, or "none".
CONFIG_VARIABLE = "SPILLOVER_CONFIG"
CHANGED = "it has changed since you trusted it; read it again, then run `spill trust`"
#: Dots in a line: it may be a key with as many parts, which take the parser quadratic time.
MAX_DOTS = 100
#: Characters of a parser's message that ours quotes; more make it longer.
QUOTED_CHARS = 160

#: Bytes of a configuration file; a larger one is refused, since every tool call reads it.
MAX_BYTES = 1 << 16
#: A FIFO would wait for a writer, a lease for its holder, a terminal would become ours.
_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_DIGITS = 64  # of a SHA-256
_AGAIN = "nothing in it counts; remove it, then run `spill trust` where you need it"


class Ignored(Struct, frozen=True):
    """A key of a file that is ignored, or the whole file if the key is empty; and the reason."""

    path: str
    key: str
    why: str
    complaint: str = ""  # for the author of a file that counts, with the line
    stops: bool = False  # whether a file that counts is refused for it


class ConfigFile(Struct, frozen=True):
    """A parsed file, with our `table` in it. A file that is not `trusted` can only narrow (`load.narrow`)."""

    path: str
    table: dict[str, Any]
    text: str
    trusted: bool = True

    def refuse(self, key: str, words: str, name: str | None = None) -> Ignored:
        """Return the error of a key as a reason to refuse the file; `name` is the word to find its line by."""
        line = line_of(self.text, key if name is None else name)
        return Ignored(self.path, key, words.rstrip("."), f"{self.path}{line}: {words}", stops=True)

    def refuse_table(self, key: str, name: str, value: object) -> Ignored:
        """Return the error of a value that should be a table as a reason to refuse the file."""
        return self.refuse(
            key, f"{one_line(f'{name} = {value!r}', QUOTED_CHARS // 2)}: expected a table of keys.", name
        )

    def without_path(self, words: str) -> str:
        """Return an error about this file without its path and its full stop."""
        return words.removeprefix(self.path).removeprefix(":").strip().rstrip(".")


def parse(path: str, data: bytes, *, trusted: bool = True) -> ConfigFile | None:
    """Return our configuration in a file; None if it has none (`has_our_name` is a quick check)."""
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.count(b".") > MAX_DOTS:
            raise ConfigError(f"{path}:{number}: more than {MAX_DOTS} dots in one line; break it up.")
    import tomllib  # 10 ms with its parser, and most projects have no file

    try:
        text = data.decode()
        table: Any = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not TOML: {one_line(str(error), QUOTED_CHARS)}.") from error
    file = ConfigFile(path, table, text, trusted)
    if os.path.basename(path) != PYPROJECT:
        return file
    tool = table.get("tool")
    spillover = tool.get("spillover") if isinstance(tool, dict) else None
    if spillover is None:
        return None
    if not isinstance(spillover, dict):
        raise ConfigError(file.refuse_table("spillover", "spillover", spillover).complaint)
    return replace(file, table=spillover)


def line_of(text: str, key: str) -> str:
    """Return the number of the line that sets a key, as ":12"; "" if there is not exactly one."""
    key = "".join(key.split())
    lines = [number for number, line in enumerate(text.split("\n"), 1) if key and _sets("".join(line.split()), key)]
    return f":{lines[0]}" if len(lines) == 1 else ""


def _sets(line: str, key: str) -> bool:
    """Return whether a line without spaces seems to set a key, in linear time: the line may be hostile."""
    at = line.find(key)
    while at >= 0:
        before = line[at - 1 : at]
        after = line[at + len(key) :][:2].lstrip("\"'")
        if not (before.isalnum() or before in ("_", "-")) and after[:1] in ("=", ".", "]"):
            return True
        at = line.find(key, at + 1)
    return False


def find_files(folder: str, environ: Mapping[str, str], uid: int) -> tuple[list[ConfigFile], list[Ignored]]:
    """Return the user's file and the one of the variable or the project, and the ignored files with their reasons."""
    name = environ.get(CONFIG_VARIABLE)
    if name in ("", "none"):
        return [], []
    user, user_file_id = users_file(environ, uid)
    ignored: list[Ignored] = []
    if name is None:
        project, ignored = _find_projects(folder, environ, uid, user_file_id)
    else:
        project = _read_named(os.path.join(folder, expand(name, environ)), name, user_file_id)
    return [file for file in (user, project) if file], ignored


def users_file(environ: Mapping[str, str], uid: int) -> tuple[ConfigFile | None, tuple[int, int] | None]:
    """Return the user's own file, and its device and inode. It may be a link into a repository of dotfiles."""
    path = os.path.join(user_folder(environ, "XDG_CONFIG_HOME", ".config"), FILE)
    small = read_small(path, uid=uid, links=True)
    return (None, None) if small is None else (_parse_own(path, small), small.id)


def candidates(folder: str, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield the paths where a project's configuration may be, from a folder up to the repository's root or to home."""
    home = os.path.realpath(expand("~", environ))
    top = find_repository(folder, home)
    if top is None:
        top = home if home != os.sep and f"{folder}/".startswith(f"{home}/") else folder
    while True:
        for name in (FILE, PYPROJECT):
            yield os.path.join(folder, name)
        if folder == top:
            return
        folder = os.path.dirname(folder)


def has_our_name(path: str, data: bytes) -> bool:
    """Return whether a file can contain our configuration; most projects have a pyproject.toml without it."""
    return os.path.basename(path) != PYPROJECT or b"tool.spillover" in data


def _parse_own(path: str, small: SmallFile) -> ConfigFile | None:
    """Return the configuration in a file of the user's own; ConfigError, and not silence, if it cannot be used."""
    if small.problem:
        raise ConfigError(f"{path} is not used: {small.problem}.")
    return parse(path, small.data) if has_our_name(path, small.data) else None


def _read_named(path: str, name: str, users: tuple[int, int] | None) -> ConfigFile | None:
    small = read_small(path, uid=None, links=True)  # the user who names a file answers for whose it is
    if small is None:
        raise ConfigError(f'{CONFIG_VARIABLE}: there is no configuration at {name}; name another file, or "none".')
    return None if small.id == users else _parse_own(path, small)


def _find_projects(
    folder: str, environ: Mapping[str, str], uid: int, users: tuple[int, int] | None
) -> tuple[ConfigFile | None, list[Ignored]]:
    """Return the nearest file that may be used, and the ignored ones. An untrusted file never stops a command."""
    ignored: list[Ignored] = []
    for path in candidates(folder, environ):
        small = read_small(path, uid=uid)
        if small is None or ((small.data or not small.problem) and not has_our_name(path, small.data)):
            continue
        if small.id == users:
            return None, ignored
        if small.problem:
            ignored.append(Ignored(path, "", small.problem))
            continue
        state, problem = state_of(path, small.data, environ, uid)
        if problem:
            ignored.append(Ignored(path, "", problem))
        try:
            file = parse(path, small.data, trusted=state == "trusted")
        except ConfigError as error:
            if state == "trusted":
                raise
            return None, [*ignored, Ignored(path, "", str(error).removeprefix(path).strip().rstrip("."))]
        if file is not None:
            if state == "changed":
                ignored.append(Ignored(path, "", CHANGED))
            return file, ignored
    return None, ignored


class SmallFile(Struct, frozen=True):
    """The content of a file, its device and inode, and the reason not to use it ("" if there is none)."""

    data: bytes = b""
    id: tuple[int, int] = (0, 0)
    problem: str = ""


def read_small(path: str, *, uid: int | None, links: bool = False, dir_fd: int | None = None) -> SmallFile | None:
    """Read the file at this path if it is regular, small, and writable only by `uid` and root; None if there is none.

    All checks are on the open descriptor, so that swapping the file meanwhile changes nothing. Without a `uid`, anybody
    may own the file: the user has named it.
    """
    try:
        fd = os.open(path, _OPEN if links else _OPEN | os.O_NOFOLLOW, dir_fd=dir_fd)
    except FileNotFoundError:
        return None
    except OSError as error:
        return _explain_unopened(path, error, links=links, dir_fd=dir_fd)
    try:
        facts = os.fstat(fd)
        data = _read(fd) if stat.S_ISREG(facts.st_mode) else b""
    except OSError as error:
        return SmallFile(problem=f"it cannot be read: {error.strerror}")
    finally:
        os.close(fd)
    id_ = (facts.st_dev, facts.st_ino)
    if not stat.S_ISREG(facts.st_mode):
        return SmallFile(b"", id_, "it is not a regular file")
    if len(data) > MAX_BYTES:
        return SmallFile(data[:MAX_BYTES], id_, f"it is larger than {MAX_BYTES:,} bytes")
    problem = describe_writers(facts, uid, path)
    if links and not problem and uid is not None and (owner := _link_owner(path)) not in (None, uid, 0):
        problem = f"it is a symbolic link that belongs to uid {owner}, not to you (uid {uid})"
    return SmallFile(data, id_, problem)


def describe_writers(facts: os.stat_result, uid: int | None, path: str) -> str:
    """Return a sentence about who can write a file besides `uid` and root; "" if nobody can."""
    if uid is None:
        return ""
    if facts.st_uid not in (uid, 0):
        return f"it belongs to uid {facts.st_uid}, not to you (uid {uid})"
    if facts.st_mode & _OTHERS_WRITE:
        writers, mode = ("others", "go-w") if facts.st_mode & stat.S_IWOTH else ("its group", "g-w")
        return f"{writers} may write to it; run `chmod {mode} {shlex.quote(path)}`"
    return ""


def _read(fd: int) -> bytes:
    """Read at most one byte more than MAX_BYTES."""
    data = b""
    while len(data) <= MAX_BYTES and (more := os.read(fd, MAX_BYTES + 1 - len(data))):
        data += more
    return data


def _explain_unopened(path: str, error: OSError, *, links: bool, dir_fd: int | None) -> SmallFile | None:
    try:
        mode = os.stat(path, dir_fd=dir_fd, follow_symlinks=links).st_mode
    except OSError:  # also where a folder above may not be entered: nothing is known to be there
        return None
    if stat.S_ISLNK(mode):
        return SmallFile(problem="it is a symbolic link, and those are not followed here")
    if error.errno == errno.ENXIO:  # a socket
        return SmallFile(problem="it is not a regular file")
    return SmallFile(problem=f"it cannot be read: {error.strerror}")


def _link_owner(path: str) -> int | None:
    try:
        facts = os.lstat(path)
    except OSError:  # it was removed meanwhile; the open file has been checked by itself
        return None
    return facts.st_uid if stat.S_ISLNK(facts.st_mode) else None


class TrustedFile(Struct, frozen=True):
    """A trusted file, and the SHA-256 of its content at that time."""

    path: str
    sha256: str


def trust_folder(environ: Mapping[str, str]) -> str:
    """Return the folder of trust records; not the store, which may be in a folder that others can write to."""
    return user_folder(environ, "XDG_STATE_HOME", ".local/state") + "-trust"


def state_of(path: str, data: bytes, environ: Mapping[str, str], uid: int) -> tuple[State, str]:
    """Return the user's trust in a file with this content, and the error of its record, "" if there is none."""
    folder = trust_folder(environ)
    try:
        fd = _open_folder(folder, uid)
        if fd is None:
            return "untrusted", ""
        try:
            entry = _entry(fd, _name(path), uid)
        finally:
            os.close(fd)
    except ConfigError as error:
        return "untrusted", str(error)
    if entry is None:
        return "untrusted", ""
    return ("trusted" if entry.sha256 == _sha256(data) else "changed"), ""


def trust(path: str, data: bytes, environ: Mapping[str, str], uid: int) -> None:
    """Record that this file with this content is trusted."""
    folder = trust_folder(environ)
    temporary = f".{os.getpid()}-{os.urandom(8).hex()}"
    try:
        os.makedirs(folder, 0o700, exist_ok=True)
        with _TrustFolder(folder, uid) as fd:
            os.fchmod(fd, 0o700)
            try:
                with open(os.open(temporary, _NEW, 0o600, dir_fd=fd), "wb") as file:
                    file.write(f"{_sha256(data)}\n".encode() + os.fsencode(path))
                os.rename(temporary, _name(path), src_dir_fd=fd, dst_dir_fd=fd)
            except OSError:
                if temporary in os.listdir(fd):
                    os.unlink(temporary, dir_fd=fd)
                raise
    except OSError as error:
        raise ConfigError(f"{folder} cannot be written: {error.strerror}.") from error


def untrust(path: str, environ: Mapping[str, str], uid: int) -> bool:
    """Remove the trust in a file; return whether it was trusted."""
    try:
        with _TrustFolder(trust_folder(environ), uid) as fd:
            os.unlink(_name(path), dir_fd=fd)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise ConfigError(f"{trust_folder(environ)} cannot be written: {error.strerror}.") from error
    return True


def list_trusted(environ: Mapping[str, str], uid: int) -> tuple[list[TrustedFile], list[str]]:
    """Return the trusted files, sorted by path, and the errors of their records."""
    files: list[TrustedFile] = []
    problems: list[str] = []
    try:
        with _TrustFolder(trust_folder(environ), uid) as fd:
            for name in _names(fd):
                try:
                    entry = _entry(fd, name, uid)
                except ConfigError as error:
                    problems.append(str(error))
                else:
                    files += [entry] if entry else []
    except FileNotFoundError:
        pass
    except ConfigError as error:
        problems.append(str(error))
    return sorted(files, key=lambda entry: entry.path), problems


class _TrustFolder:
    """The folder of trust records, checked and open; FileNotFoundError if it does not exist."""

    def __init__(self, folder: str, uid: int) -> None:
        self.folder = folder
        self.uid = uid

    def __enter__(self) -> int:
        fd = _open_folder(self.folder, self.uid)
        if fd is None:
            raise FileNotFoundError(self.folder)
        self.fd = fd
        return fd

    def __exit__(self, *_: object) -> None:
        os.close(self.fd)


def _open_folder(folder: str, uid: int) -> int | None:
    try:
        fd = os.open(folder, _FOLDER)
    except FileNotFoundError:
        return None
    except OSError as error:  # a file, or a link to anywhere
        raise ConfigError(f"{folder} is not a folder of yours ({error.strerror}): {_AGAIN}.") from error
    if problem := describe_writers(os.fstat(fd), uid, folder):
        os.close(fd)
        raise ConfigError(f"{folder}: {problem}. Until then nothing in it counts.")
    return fd


def _entry(fd: int, name: str, uid: int) -> TrustedFile | None:
    small = read_small(name, uid=uid, dir_fd=fd)
    if small is None:
        return None
    digest, _, path = small.data.partition(b"\n")
    entry = TrustedFile(os.fsdecode(path), digest.decode("ascii", "replace"))
    as_written = len(entry.sha256) == _DIGITS and _is_hex(entry.sha256) and _name(entry.path) == name
    if small.problem or not as_written:
        why = small.problem or "it is not as `spill trust` wrote it"
        raise ConfigError(
            f"a record of trust ({name}) does not count: {why}. Run `spill trust` again where you need it."
        )
    return entry


def _names(fd: int) -> Iterator[str]:
    return (name for name in sorted(os.listdir(fd)) if len(name) == _DIGITS and _is_hex(name))


def _is_hex(text: str) -> bool:
    return not text.strip("0123456789abcdef")


def _name(path: str) -> str:
    return _sha256(os.fsencode(path))


def _sha256(data: bytes) -> str:
    return sha256(data).hexdigest()
