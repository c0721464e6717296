"""Where things are when nobody says: the folders of the user."""

from __future__ import annotations

import os

from spillover.store.directory import DirStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def default_root(environ: Mapping[str, str]) -> str:
    """Where outputs are kept when nobody says: SPILLOVER_STORE, else the state directory of the user."""
    given = environ.get("SPILLOVER_STORE")
    return os.path.abspath(expanded(given, environ)) if given else own(environ, "XDG_STATE_HOME", ".local/state")


def default_store() -> DirStore:
    return DirStore(default_root(os.environ))


def own(environ: Mapping[str, str], variable: str, otherwise: str) -> str:
    """Our folder among those of the user."""
    base = environ.get(variable, "")  # the XDG rules say to ignore a relative one
    return os.path.join(base if os.path.isabs(base) else expanded(f"~/{otherwise}", environ), "spillover")


def expanded(path: str, environ: Mapping[str, str]) -> str:
    home = environ.get("HOME") if path == "~" or path.startswith("~/") else None
    return home + path[1:] if home else os.path.expanduser(path)
