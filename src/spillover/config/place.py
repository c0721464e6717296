"""What holds when nobody says: the folders of the user and of a project, and the context window that the environment names."""

from __future__ import annotations

import os

from spillover.base.folders import expand, user_folder
from spillover.errors import ConfigError, UsageError
from spillover.store.directory import DirStore
from spillover.store.retention import Retention

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from spillover.store.base import Store

#: What a configuration is called, by itself and as a part of another file.
FILE, PYPROJECT = "spillover.toml", "pyproject.toml"
#: How large the context window is that a `Budget` shares out.
CONTEXT_TOKENS = "SPILLOVER_CONTEXT_TOKENS"
#: What every store has: the methods of the Protocol.
STORE_METHODS = ("writer", "get", "open", "list", "delete", "pin", "where")
#: The schemes of object stores.
OBJECT_STORES = ("s3", "gs", "az")
SCHEMES = ("file", "memory", *OBJECT_STORES)
#: How long a call waits for an object store that shows no progress.
DEADLINE_SECONDS = 5


def default_root(environ: Mapping[str, str]) -> str:
    """Return where outputs are kept by default: SPILLOVER_STORE, else the user's state directory."""
    given = environ.get("SPILLOVER_STORE")
    if given and is_url(given):
        return given
    return os.path.abspath(expand(given, environ)) if given else user_folder(environ, "XDG_STATE_HOME", ".local/state")


def default_store() -> Store:
    return open_store(default_root(os.environ))


def is_url(where: str) -> bool:
    """Return whether this names a store by its scheme, or is meant to, and not a folder by its path."""
    scheme, separator, rest = where.partition(":")
    return bool(separator) and (scheme.lower() in SCHEMES or (scheme.isalnum() and rest.startswith("//")))


def open_store(where: object, retention: Retention | None = None, **options: Any) -> Store:
    """Return the store that is meant: a path is a folder, a URL the store of its scheme, and a store is itself.

    The only place that decides this. `options` are for object stores.
    """
    kept = Retention() if retention is None else retention
    if isinstance(where, (str, os.PathLike)):
        path = os.fspath(where)
        if not isinstance(path, str) or not is_url(path):
            return DirStore(expand(path, os.environ) if isinstance(path, str) else path, kept)
        scheme, separator, rest = path.partition("://")
        if not separator:  # s3:/bucket would be a folder called s3:
            scheme, _, rest = path.partition(":")
            meant = f"{scheme}://{rest.lstrip('/')}"
            raise UsageError(f"store={path!r} is not a URL; use {meant}, or ./{path} for a folder of that name.")
        return _by_scheme(path, scheme.lower(), rest, kept, options)
    if isinstance(where, type):
        raise UsageError(f"store={where.__name__} is a class; use an object of it, e.g. MemoryStore().")
    missing = [name for name in STORE_METHODS if not callable(getattr(where, name, None))]
    if missing:
        raise UsageError(
            f"store={where!r:.80} is not a store (it has no {', '.join(missing)}); use the path of a folder, file://, memory://, s3://, "
            "a DirStore, a MemoryStore, an ObjectStore, or an object with the methods of spillover.Store."
        )
    return where  # type: ignore[return-value]  # it has all of the methods


def _by_scheme(url: str, scheme: str, rest: str, retention: Retention, options: dict[str, Any]) -> Store:
    if scheme == "memory" and not rest:
        from spillover.store.memory import MemoryStore  # for tests, and for processes that end soon

        return MemoryStore()
    if scheme == "file":
        from urllib.parse import unquote  # few write a path like this

        host, slash, path = rest.partition("/")
        if slash and host in ("", "localhost"):
            return DirStore(unquote("/" + path), retention)
        raise UsageError(f"store={url!r} does not name a folder of this machine; use file:///absolute/path.")
    if scheme in OBJECT_STORES:
        from spillover.store.object_store import ObjectStore  # whoever keeps outputs in a folder needs none of it

        return ObjectStore(url, retention, **options)
    known = ", ".join(f"{name}://" for name in SCHEMES)
    raise UsageError(f"store={url!r} is not a known kind of store; use the path of a folder, or {known}.")


def data_folder(name: str) -> str:
    """Return another program's folder in the user's data directory."""
    base = os.environ.get("XDG_DATA_HOME", "")
    return os.path.join(base if os.path.isabs(base) else expand("~/.local/share", os.environ), name)


def context_tokens(variables: Sequence[str], environ: Mapping[str, str] | None = None) -> int | None:
    """Return the context window from the first of these environment variables that is set."""
    environ = os.environ if environ is None else environ
    said = next(((name, environ[name].strip()) for name in variables if environ.get(name, "").strip()), None)
    if said is None:
        return None
    try:
        tokens = int(said[1])
    except ValueError:
        tokens = 0
    if tokens < 1:
        raise ConfigError(f"{said[0]}={said[1][:80]!r} is not a number of tokens; use one such as 128000.")
    return tokens


def topmost(folder: str, environ: Mapping[str, str]) -> str:
    """Return the topmost folder to search for a project's file: the repository's root, else home, else this folder."""
    home = os.path.realpath(expand("~", environ))
    at = folder
    while not os.path.lexists(os.path.join(at, ".git")):
        above = os.path.dirname(at)
        if at == home and at != above:  # a home that is "/" is none
            return home
        if at == above:
            return folder
        at = above
    return at
