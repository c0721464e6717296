"""Configuration files: which are read, and whose they are."""

from __future__ import annotations

import os

from spillover.base.folders import expand, user_folder
from spillover.config.guard import take
from spillover.config.place import FILE, PYPROJECT, topmost
from spillover.errors import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from spillover.config.file import File, Ignored
    from spillover.config.guard import Taken

NAMED = "SPILLOVER_CONFIG"
CHANGED = "it has changed since you trusted it; read it again, then run `spill trust`"


def files_for(here: str, environ: Mapping[str, str], uid: int) -> tuple[list[File], list[Ignored]]:
    """Return the files to read (the user's, then the named one or the project's), and what is ignored and why."""
    named = environ.get(NAMED)
    if named in ("", "none"):
        return [], []
    user, users_id = users_file(environ, uid)
    if named is None:
        project, ignored = _project(here, environ, uid, users_id)
    else:
        project, ignored = _read_named(os.path.join(here, expand(named, environ)), named, users_id), []
    return [file for file in (user, project) if file], ignored


def users_file(environ: Mapping[str, str], uid: int) -> tuple[File | None, tuple[int, int] | None]:
    """Return the user's own file, and its path. Many keep it in a repository of dotfiles, with a link to it."""
    path = os.path.join(user_folder(environ, "XDG_CONFIG_HOME", ".config"), FILE)
    taken = take(path, uid=uid, links=True)
    return (None, None) if taken is None else (_read_own(path, taken), taken.id)


def candidates(here: str, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield where a project's configuration may be, the nearest first."""
    top = topmost(here, environ)
    while True:
        for name in (FILE, PYPROJECT):
            yield os.path.join(here, name)
        if here == top:
            return
        here = os.path.dirname(here)


def speaks_of_us(path: str, data: bytes) -> bool:
    """Return whether a file can contain our configuration; most projects have a pyproject.toml without it."""
    return os.path.basename(path) != PYPROJECT or b"tool.spillover" in data


def _read_own(path: str, taken: Taken) -> File | None:
    """Return a file of the user's own. Whatever is wrong with it is an error: skipping it would be a surprise."""
    if taken.wrong:
        raise ConfigError(f"{path} is not used: {taken.wrong}.")
    if not speaks_of_us(path, taken.data):
        return None
    from spillover.config.file import parse  # with the parser 10 ms, and most have no file

    return parse(path, taken.data)


def _read_named(path: str, named: str, users: tuple[int, int] | None) -> File | None:
    taken = take(path, uid=None, links=True)  # who names a file answers for whose it is
    if taken is None:
        raise ConfigError(f'{NAMED}: there is no configuration at {named}; name another file, or "none".')
    return None if taken.id == users else _read_own(path, taken)


def _project(
    here: str, environ: Mapping[str, str], uid: int, users: tuple[int, int] | None
) -> tuple[File | None, list[Ignored]]:
    """Return the nearest file that may be used. An untrusted one never stops a command, whatever is in it."""
    ignored: list[Ignored] = []
    for path in candidates(here, environ):
        taken = take(path, uid=uid)
        if taken is None or ((taken.data or not taken.wrong) and not speaks_of_us(path, taken.data)):
            continue
        if taken.id == users:
            return None, ignored
        from spillover.config.file import Ignored, parse
        from spillover.config.trust import state_of

        if taken.wrong:
            ignored.append(Ignored(path, "", taken.wrong))
            continue
        state, wrong = state_of(path, taken.data, environ, uid)
        if wrong:
            ignored.append(Ignored(path, "", wrong))
        try:
            file = parse(path, taken.data, trusted=state == "trusted")
        except ConfigError as error:
            if state == "trusted":
                raise
            ignored.append(Ignored(path, "", str(error).removeprefix(f"{path} ").rstrip(".")))
            return None, ignored
        if file is not None:
            if state == "changed":
                ignored.append(Ignored(path, "", CHANGED))
            return file, ignored
    return None, ignored
