"""Cleaning up, and catching up: gc, push."""

from __future__ import annotations

from spillover.cli import exits
from spillover.cli.output import put, put_json
from spillover.cli.setup import clipper
from spillover.cli.units import count_of
from spillover.errors import UsageError
from spillover.settings.load import AGE, parse_value
from spillover.store.directory import DirStore
from spillover.store.named import NamedStore
from spillover.store.object_store import LIFECYCLE_DECIDES, ObjectStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from spillover.store.frames import Compressed
    from spillover.store.retention import Swept


def gc(arguments: argparse.Namespace) -> int:
    store = clipper(arguments).settings.store
    if isinstance(store, ObjectStore):
        raise UsageError(f"{LIFECYCLE_DECIDES}; `spill gc` cleans up folders only.")
    if not isinstance(store, DirStore):
        raise UsageError("this store has no retention of its own; nothing to do.")
    after = _compress_after(arguments)
    if isinstance(store, NamedStore) and after is not None:
        raise UsageError("the files of a profile stay plain, for tools that read them; leave out --compress-after.")
    # What is made smaller first may stay.
    packed = None if after is None else store.compress(older_than_seconds=after, dry_run=arguments.dry_run)
    swept = store.sweep(dry_run=arguments.dry_run)
    _tell_swept(arguments, swept, packed)
    return exits.OK


def _tell_swept(arguments: argparse.Namespace, swept: Swept, packed: Compressed | None) -> None:
    if arguments.json:
        removed = {"outputs": swept.outputs, "bytes": swept.bytes, "leftovers": swept.leftovers}
        put_json({**removed, **_list_packed(packed), "dry_run": arguments.dry_run})
        return
    if packed:
        put(_describe_packed(packed))
    verb = "would remove" if arguments.dry_run else "removed"
    put(f"{verb} {count_of(swept.outputs, 'output')} ({swept.bytes:,} bytes) and {swept.leftovers:,} leftover files\n")


def _compress_after(arguments: argparse.Namespace) -> float | None:
    said = arguments.compress_after
    if said is None:
        return None
    try:
        return float(parse_value(AGE, int(said) if said.isdecimal() else said))
    except ValueError as error:
        raise UsageError(f"--compress-after {said!r}: expected {AGE}.") from error


def _list_packed(packed: Compressed | None) -> dict[str, object]:
    if packed is None:
        return {}
    names = ("outputs", "bytes_before", "bytes_after", "damaged")
    return {"compressed": {name: getattr(packed, name) for name in names}}


def _describe_packed(packed: Compressed) -> str:
    are = "is" if packed.damaged == 1 else "are"
    damaged = f"; {packed.damaged:,} {are} damaged (see `spill verify`)" * (packed.damaged > 0)
    if packed.bytes_after is None:
        return f"would compress {count_of(packed.outputs, 'output')} ({packed.bytes_before:,} bytes)\n"
    return f"compressed {count_of(packed.outputs, 'output')} ({packed.bytes_before:,} bytes are {packed.bytes_after:,} now){damaged}\n"


def push(arguments: argparse.Namespace) -> int:
    """Bring what is kept on this machine only to the bucket it was meant for."""
    store = clipper(arguments).settings.store
    if not isinstance(store, ObjectStore):
        raise UsageError(
            "outputs are kept in a folder on this machine; `spill push` needs a store such as s3://BUCKET/PREFIX."
        )
    pushed = store.push()
    if arguments.json:
        put_json({"outputs": pushed.outputs, "bytes": pushed.bytes, "left": pushed.left, "why": pushed.why})
    else:
        put(f"pushed {count_of(pushed.outputs, 'output')} ({pushed.bytes:,} bytes) to {store.url}\n")
        if pushed.left:
            put(
                f"{count_of(pushed.left, 'output')} still on this machine only{f': {pushed.why}' if pushed.why else ''}\n"
            )
    return exits.FOUND if pushed.left else exits.OK
