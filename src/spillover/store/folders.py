"""Where a user's folders are, by the XDG rules, and the folder we work in."""

from __future__ import annotations

import os
from collections.abc import Mapping


def user_folder(environ: Mapping[str, str], variable: str, otherwise: str) -> str:
    """Return our folder inside the one that an XDG variable names, or inside `otherwise` in the user's home."""
    base = environ.get(variable, "")  # the XDG rules say to ignore a relative path
    base = base if os.path.isabs(base) else expand(f"~/{otherwise}", environ)
    if base.startswith("~"):  # a user without a home, as in many containers
        return temp_folder(f"spillover-{os.getuid()}")
    return os.path.join(base, "spillover")


def temp_folder(name: str) -> str:
    """Return the path of a folder among the temporary files. Whoever writes there checks that it is private."""
    base = os.environ.get("TMPDIR", "")
    return os.path.join(base if os.path.isabs(base) else "/tmp", name)  # noqa: S108  checked by whoever writes there


def expand(path: str, environ: Mapping[str, str]) -> str:
    """Replace a leading `~` by the home folder."""
    home = environ.get("HOME") if path == "~" or path.startswith("~/") else None
    return home + path[1:] if home else os.path.expanduser(path)


def working_folder() -> str | None:
    """Return the folder this process works in; None if it has been removed."""
    try:
        return os.getcwd()
    except OSError:
        return None
