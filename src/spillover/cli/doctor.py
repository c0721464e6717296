"""Whether everything `spill` needs is there, and what to do where it is not."""

from __future__ import annotations

import os
import shutil
import sys

from spillover import __version__
from spillover.cli.installed import installed
from spillover.cli.setup import clipper
from spillover.config.settings import load
from spillover.data import dataclass
from spillover.errors import MissingExtraError, SpilloverError
from spillover.store.base import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from spillover.store.base import Store

LOW_SPACE = 1 << 30


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    ok: bool
    said: str


def checks(arguments: argparse.Namespace) -> list[Check]:
    found = [Check("version", ok=True, said=f"spillover {__version__}, Python {sys.version.split()[0]}")]
    try:
        chosen = clipper(arguments)
        files = load().files
    except SpilloverError as error:
        return [*found, Check("configuration", ok=False, said=str(error))]
    found.append(Check("configuration", ok=True, said=", ".join(files) or "no files; the defaults and the environment"))
    root = os.fspath(chosen.store.root)  # type: ignore[attr-defined]  # the configured store is a folder
    found += [_round_trip(chosen.store), _space(root), _private(root), _tokens()]
    return found + [Check(*one) for one in installed(os.environ, os.getcwd())]


def _round_trip(store: Store) -> Check:
    """Something is really stored, read back and removed."""
    import hashlib

    data = b"spill doctor was here\n"
    try:
        writer = store.writer()
        writer.write(data)
        record = Record(ref="", tool="doctor", sha256=hashlib.sha256(data).hexdigest(), bytes=len(data), lines=1)
        ref = writer.publish(record).ref
        blob = store.open(ref)
        same = blob.read(0, len(data) + 1) == data
        blob.close()
        store.delete(ref)
    except SpilloverError as error:
        return Check("store", ok=False, said=str(error))
    return Check(
        "store", same, "an output was stored, read back and removed" if same else "what was stored came back different"
    )


def _space(root: str) -> Check:
    try:
        free = shutil.disk_usage(root).free
    except OSError as error:
        return Check("space", ok=False, said=str(error))
    return Check("space", free > LOW_SPACE, f"{free >> 20:,} MiB free at {root}")


def _private(root: str) -> Check:
    mode = os.stat(root).st_mode & 0o777
    return Check("private", mode & 0o077 == 0, f"{root} has mode {mode:o}")


def _tokens() -> Check:
    from spillover.tokens import exact

    try:
        exact("o200k_base")
    except MissingExtraError as error:
        return Check("tokens", ok=True, said=f"estimated; {error}")
    return Check("tokens", ok=True, said="exact counts are available (tokenizer = o200k_base)")
