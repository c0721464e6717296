"""Where outputs are kept: a path, a URL or a store; and where they are kept by default."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from spillover.errors import UsageError
from spillover.store import BaseStore, complete
from spillover.store.directory import DirStore
from spillover.store.folder import expand, user_folder
from spillover.store.memory import MemoryStore
from spillover.store.object_store import ObjectStore
from spillover.store.retention import Retention

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


def default_store() -> BaseStore:
    return open_store(default_root(os.environ))


def is_url(where: str) -> bool:
    """Return whether this names a store by its scheme, or is meant to, and not a folder by its path."""
    scheme, separator, rest = where.partition(":")
    return bool(separator) and (scheme.lower() in SCHEMES or (scheme.isalnum() and rest.startswith("//")))


def open_store(where: Any, retention: Retention | None = None, **options: Any) -> BaseStore:
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
    return complete(where)


def _by_scheme(url: str, scheme: str, rest: str, retention: Retention, options: dict[str, Any]) -> BaseStore:
    if scheme == "memory" and not rest:
        return MemoryStore()
    if scheme == "file":
        host, slash, path = rest.partition("/")
        if slash and host in ("", "localhost"):
            return DirStore(unquote("/" + path), retention)
        raise UsageError(f"store={url!r} does not name a folder of this machine; use file:///absolute/path.")
    if scheme in OBJECT_STORES:
        return ObjectStore(url, retention, **options)
    known = ", ".join(f"{name}://" for name in SCHEMES)
    raise UsageError(f"store={url!r} is not a known kind of store; use the path of a folder, or {known}.")
