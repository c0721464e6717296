"""Whose an output is: what a scope may look like, which scopes see which, and the one that holds when nobody says.

A scope is a text. One that starts with "/" is a folder, a project on this machine, and sees only itself. Any other is a
name of segments, "tenant/project/session", and sees itself and everything below it. Where nobody says, it is
SPILLOVER_SCOPE, or else the root of the repository the process works in, or else the working folder.
"""

from __future__ import annotations

import os

from spillover.errors import ConfigError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

#: Sees every scope, and also what belongs to none. For a person who asks for all; never from a file or a variable.
EVERY = "*"
VARIABLE = "SPILLOVER_SCOPE"
#: How long a scope may be, in bytes. A name becomes part of a key in stores that have keys of at most 1,024.
NAME_BYTES, FOLDER_BYTES = 512, 4_096
#: A repository is looked for in so many folders, upward.
LEVELS = 100
REPOSITORY = ".git"
#: The working folder of a process whose working folder is gone, where the system does not say which it was.
GONE = "/(deleted)"

_found: str | None = None  # the default, found at first need, so that a later chdir changes nothing


def covers(own: str, other: str | None) -> bool:
    """Return whether whoever has the scope `own` may see an output of the scope `other`; None belongs to nobody."""
    if own == EVERY:
        return True
    if other is None or not own:
        return False
    return own == other or (own[0] != "/" and other.startswith(own + "/"))


def check_scope(text: str) -> str:
    """Return the scope, if it can be one; UsageError says what is wrong with it."""
    if not isinstance(text, str):
        raise UsageError(f"scope={text!r:.80} is not a text; use a name such as 'acme/web', or None for the project.")
    if text == EVERY:
        return text
    folder = text.startswith("/")
    most = FOLDER_BYTES if folder else NAME_BYTES
    if not text or len(text.encode("utf-8", "surrogatepass")) > most:
        raise UsageError(f"scope={text[:80]!r} has {len(text):,} characters; use 1 to {most:,} bytes.")
    if not text.isprintable():
        raise UsageError(f"scope={text[:80]!r} has characters that cannot be seen; use letters, digits and '-_.@'.")
    for segment in text[1:].split("/") if folder and text != "/" else [] if folder else text.split("/"):
        if segment in ("", ".", "..", EVERY) or (segment != segment.strip() and not folder):
            raise UsageError(
                f"scope={text[:80]!r} has the segment {segment[:80]!r}; use 'tenant/project/session' "
                "or the absolute path of a folder, without empty segments, '.', '..' or '*'."
            )
    return text


def default_scope(environ: Mapping[str, str] | None = None) -> str:
    """Return the scope of this process where nobody says: SPILLOVER_SCOPE, or its project. Found at first need, then kept."""
    said = (os.environ if environ is None else environ).get(VARIABLE)
    if said:
        try:
            return from_outside(said)
        except UsageError as error:
            raise ConfigError(f"{VARIABLE}: {error}") from error
    global _found  # noqa: PLW0603  a cache of one
    if _found is None:
        _found = folder_scope()
    return _found


def from_outside(text: str) -> str:
    """Return a scope from a variable, a file or a record: any but the one that sees everything."""
    if text == EVERY:
        raise UsageError("it means every project. Leave it out, or use --all-scopes where the command has that option.")
    return check_scope(text)


def folder_scope(cwd: str | os.PathLike[str] | None = None) -> str:
    """Return the project that a folder (without one: the working folder) is in: its repository's root, or itself."""
    try:
        here = _working_folder() if cwd is None else os.path.realpath(cwd)
    except (OSError, ValueError):  # what is no path
        here = GONE
    return _as_text(_root(here))


def _working_folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # somebody removed it
        try:
            return os.readlink("/proc/self/cwd").removesuffix(" (deleted)")
        except OSError:
            return GONE


def _root(here: str) -> str:
    """Return the nearest folder upward with a repository in it. Nothing is opened and no link is followed: names are looked at.

    Not beyond the filesystem it starts in, and not in the home folder or above unless it starts there: a repository for
    the dotfiles in a home would make one project of all that is below. One that belongs to somebody else than the
    folder we start in, us, or root does not count: or anybody could make one project of all of /tmp.
    """
    home = os.path.realpath(os.path.expanduser("~"))
    try:
        start = os.lstat(here)
    except OSError:
        start = None
    folder = here
    for _ in range(LEVELS):
        if folder == home and folder != here:
            return here
        try:
            if start and folder != here and os.lstat(folder).st_dev != start.st_dev:
                return here
            owner = os.lstat(os.path.join(folder, REPOSITORY)).st_uid
        except OSError:
            owner = None
        if owner is not None and owner in (0, os.geteuid(), start.st_uid if start else 0):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return here
        folder = above
    return here


def _as_text(path: str) -> str:
    """Return a path as a scope: what cannot be seen in it is written as %XX, and one that is too long as its hash."""
    path = "/" + path.strip("/")
    if not path.isprintable() or "%" in path:
        path = "".join(char if char.isprintable() and char != "%" else _escape(char) for char in path)
    if len(path.encode()) > FOLDER_BYTES:
        import hashlib  # no path that a program made by hand is so long

        return "/sha256/" + hashlib.sha256(path.encode()).hexdigest()
    return path


def _escape(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))
