"""What holds when nobody says: the folders of the user, and the context window that the environment names."""

from __future__ import annotations

import os

from spillover.errors import ConfigError
from spillover.store.directory import DirStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: How large the context window is that a `Budget` shares out.
CONTEXT_TOKENS = "SPILLOVER_CONTEXT_TOKENS"


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


def data_folder(name: str) -> str:
    """Another program's folder among the user's data."""
    base = os.environ.get("XDG_DATA_HOME", "")
    return os.path.join(base if os.path.isabs(base) else expanded("~/.local/share", os.environ), name)


def temp_folder(name: str) -> str:
    """A folder of this name where temporary files are; whoever writes there sees to it that it is private."""
    base = os.environ.get("TMPDIR", "")
    return os.path.join(base if os.path.isabs(base) else "/tmp", name)  # noqa: S108  a NamedStore checks whose it is


def context_tokens(variables: Sequence[str], environ: Mapping[str, str] | None = None) -> int | None:
    """The context window that the environment names, in the first of these variables that is not empty."""
    environ = os.environ if environ is None else environ
    said = next(((name, environ[name].strip()) for name in variables if environ.get(name, "").strip()), None)
    if said is None:
        return None
    try:
        tokens = int(said[1])
    except ValueError:
        tokens = 0
    if tokens < 1:
        raise ConfigError(f"{said[0]}={said[1][:80]!r} is no number of tokens; use one such as 128000.")
    return tokens


def expanded(path: str, environ: Mapping[str, str]) -> str:
    home = environ.get("HOME") if path == "~" or path.startswith("~/") else None
    return home + path[1:] if home else os.path.expanduser(path)
