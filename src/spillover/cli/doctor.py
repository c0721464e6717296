"""`spill doctor`: checks that everything is there, and says what to do where it is not."""

from __future__ import annotations

import os
import shutil
import sys
import time
from shlex import quote

from msgspec import Struct

from spillover import __version__
from spillover.cli import exits
from spillover.cli.installed import check_installed
from spillover.cli.keeping import table
from spillover.cli.output import put_json
from spillover.cli.setup import clipper
from spillover.cli.units import count_of
from spillover.errors import MissingExtraError, SpilloverError, StoreError
from spillover.notice.wording import one_line
from spillover.settings.load import load
from spillover.settings.trust import list_trusted
from spillover.store import BaseStore
from spillover.store.directory import DirStore
from spillover.store.folder import Folder
from spillover.store.object_store import ObjectStore
from spillover.store.record import Record
from spillover.store.retention import Retention, list_entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from spillover.store.scopes import ScopedStore

LOW_SPACE = 1 << 30
#: A store counts as full when this share of it cannot be removed.
FULL = 0.95


class Check(Struct, frozen=True):
    """One thing that was looked at."""

    name: str
    ok: bool
    said: str


def doctor(arguments: argparse.Namespace) -> int:
    found = checks(arguments)
    if arguments.json:
        put_json([{"check": check.name, "ok": check.ok, "said": check.said} for check in found])
    else:
        table(("", "check", ""), [("ok" if check.ok else "!!", check.name, check.said) for check in found])
    return exits.OK if all(check.ok for check in found) else exits.FOUND


def checks(arguments: argparse.Namespace) -> list[Check]:
    found = [Check("version", ok=True, said=f"spillover {__version__}, Python {sys.version.split()[0]}")]
    try:
        chosen = clipper(arguments)
        settings = load()
    except SpilloverError as error:
        return [*found, Check("configuration", ok=False, said=str(error))]
    said = ", ".join(settings.files) or "no files: defaults and environment"
    if settings.ignored:
        said += f"; {count_of(len(settings.ignored), 'setting')} ignored (`spill config` says why)"
    said += f"; {settings.complaint}" * bool(settings.complaint)
    found.append(Check("configuration", ok=not settings.complaint, said=said))
    found += [Check("trust", ok=False, said=wrong) for wrong in list_trusted(os.environ, os.geteuid())[1]]
    if isinstance(chosen.settings.store, DirStore):
        root = chosen.settings.store.path
        found += [
            _round_trip(chosen.settings.outputs),
            _space(root),
            *_look_inside(chosen.settings.store, root),
            _libraries(),
            _tokens(),
        ]
    else:
        found += [
            _round_trip(chosen.settings.outputs),
            *_look_at_spool(chosen.settings.outputs.store),
            _libraries(),
            _tokens(),
        ]
    return found + [Check(*one) for one in check_installed(os.environ, os.getcwd())]


def _round_trip(outputs: ScopedStore) -> Check:
    """Store something in the scope that tool calls use, read it back and remove it: rights may end there, and so does a listing."""
    import hashlib

    data = b"spill doctor was here\n"
    try:
        writer = outputs.writer()
        writer.write(data)
        record = Record(ref="", tool="doctor", sha256=hashlib.sha256(data).hexdigest(), bytes=len(data), lines=1)
        published = writer.publish(record)
        if published.only_here is not None:
            (outputs.store.local or outputs.store).delete(published.ref)
            raise StoreError(published.only_here)
        ref = published.ref
        blob = outputs.open(ref)
        same = blob.read(0, len(data) + 1) == data
        blob.close()
    except SpilloverError as error:
        kind = "folder" if isinstance(outputs.store, DirStore) else "store"
        said = str(error).rstrip(".").removesuffix("; name another store").removesuffix(" or name another store")
        said += f"; to use another {kind}, set `store`, SPILLOVER_STORE or --store"
        return Check("store", ok=False, said=said)
    try:
        outputs.delete(ref)
    except SpilloverError as error:  # tool calls work; `rm` and `gc` do not
        return Check("store", ok=False, said=f"an output was stored and read back, but could not be removed: {error}")
    return Check(
        "store", same, "an output was stored, read back and removed" if same else "what was stored came back different"
    )


def _look_at_spool(store: BaseStore) -> Iterator[Check]:
    """See whether there is room for what is on its way to a bucket, and whether anything has been left behind."""
    if not isinstance(store, ObjectStore):
        return
    local = store.local
    yield _space(local.path)
    left = sum(1 for _ in local.list())
    said = (
        "nothing is waiting to be uploaded"
        if not left
        else f"{count_of(left, 'output')} {'is' if left == 1 else 'are'} only on this machine; run `spill push`"
    )
    yield Check("spool", ok=not left, said=said)


def _space(root: str) -> Check:
    """See how much room the disk has, at the store or where it would be made."""
    place = root
    while not os.path.isdir(place) and place != os.path.dirname(place):
        place = os.path.dirname(place)
    try:
        free = shutil.disk_usage(place).free
    except OSError as error:
        return Check("space", ok=False, said=f"cannot tell how much is free: {error.strerror}: {place}")
    low = "" if free > LOW_SPACE else "; remove something, or set `store` to another disk"
    return Check("space", free > LOW_SPACE, f"{free >> 20:,} MiB free at {place}{low}")


def _look_inside(store: DirStore, root: str) -> Iterator[Check]:
    """See who can read the store, and whether it has room; nothing of a folder that cannot be opened."""
    try:
        with Folder(root) as folder:
            mode = os.stat(root).st_mode & 0o777
            yield Check("private", mode & 0o077 == 0, f"{root} has mode {mode:04o}{_tell_mode(mode, root)}")
            yield _room(folder, store.limits or Retention())
    except FileNotFoundError:
        return  # the check of the store has said why it could not be made
    except OSError as error:
        said = str(error).rstrip(".") if isinstance(error, StoreError) else f"{error.strerror}: {root}"
        yield Check("private", ok=False, said=f"the store cannot be opened: {said}; name another folder with --store")


def _tell_mode(mode: int, root: str) -> str:
    return f"; run `chmod 700 {quote(root)}`" if mode & 0o077 else ""


def _room(folder: Folder, retention: Retention) -> Check:
    """See whether the next output finds room: what is pinned or too young to be removed may fill the store."""
    entries = [entry for entry, _ in list_entries(folder).values()]
    held = {"bytes": sum(entry.bytes for entry in entries), "count": len(entries)}
    stays = [entry for entry in entries if entry.pinned or time.time() - entry.mtime < retention.grace_seconds]
    fixed = {"bytes": sum(entry.bytes for entry in stays), "count": len(stays)}
    limits = {"bytes": retention.bytes, "count": retention.count}
    said = ", ".join(
        f"{held[name]:,} of {limit:,} {'outputs' if name == 'count' else 'bytes'}"
        for name, limit in limits.items()
        if limit is not None
    )
    for name, limit in limits.items():
        if limit is not None and fixed[name] >= limit * FULL:
            return Check(
                "room",
                ok=False,
                said=f"the store is full ({said}), and everything in it is pinned or too young to be removed: raise retention.{name}, "
                "lower retention.grace, or unpin something",
            )
    return Check("room", ok=True, said=said or "no limits are set")


#: Libraries for choosing and searching, and what is lost without each.
_LIBRARIES = {
    "numpy": "keep=auto shows both ends of logs, JSON and tables, and nothing in between",
    "hyperscan": "keep=auto shows both ends of logs, and nothing in between, and patterns cannot be searched for",
}
#: A name of each that we use: a file of the same name in somebody's folder has none.
_USED = {"numpy": "ndarray", "hyperscan": "Database"}


def _libraries() -> Check:
    """Check the libraries for choosing and searching; not every platform has wheels for all of them."""
    wrong = {name: why for name in _LIBRARIES if (why := _what_is_wrong_with(name)) is not None}
    if not wrong:
        return Check("libraries", ok=True, said="all required ones are installed")
    said = "; ".join(f"without {name}{why}, {_LIBRARIES[name]}" for name, why in wrong.items())
    install = " ".join(wrong)
    again = "--force-reinstall " if any(wrong.values()) else ""
    return Check("libraries", ok=False, said=f"{said}: pip install {again}{install}")


def _what_is_wrong_with(name: str) -> str | None:
    """Return why a library cannot be used: "" if it is missing, None if nothing is wrong."""
    from importlib.util import find_spec

    if sys.modules.get(name, ...) is None or find_spec(name) is None:
        return ""
    try:
        module = __import__(name)
    except Exception as error:  # noqa: BLE001  a wheel for another machine, half an upgrade: anything
        return f" (it is installed but cannot be loaded: {one_line(str(error), 120)})"
    if hasattr(module, _USED[name]):
        return None
    found = one_line(str(getattr(module, "__file__", None) or module), 120)
    return f" (something else has this name: {found})"


def _tokens() -> Check:
    from spillover.tokens import exact_counter

    try:
        exact_counter("o200k_base")
    except MissingExtraError as error:
        return Check("tokens", ok=True, said=f"estimated; {error}")
    return Check("tokens", ok=True, said='exact counts are available: set tokenizer = "o200k_base"')
