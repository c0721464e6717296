"""Loops in C, where a compiler was there when spillover was installed; `loops()` is None elsewhere.

Each loop stands in for steps of numpy or Python that remain beside it and give the same result, bit for bit: tests/compiled
compares them. So nothing depends on this, and whoever changes one side changes the other.

    loops.h       what all of them share: arrays taken from Python, and checked
    texts.h       texts numbered in the order in which they are first seen
    tally.c       newlines and characters (intake/meter.py)
    beginnings.c  how lines begin (select/beginnings.py)
    words.c       which words each cell has (select/words.py); filter.h finds where one may begin
    trees.c       decision trees for many lines (select/trees.py)
    take.c        how many lines fit, and how far strength reaches (select/take.py)
    features.c    how often values recur, and what stands around a line (select/arrays.py, features.py)
    distinct.c    lines that say the same but for digits (select/lines.py)
    shapes.c      what distinct lines look like and what they cost (select/shapes.py)
    matches.c     matches marked line by line (select/classes.py)
    spread.c      classes of distinct messages, told of each line (select/distinct.py)
    order.c       equal values brought together, and numbers sorted (select/arrays.py)
    families.c    lines without what tells them apart (select/families.py)
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: "0" turns the loops off, to compare or to rule them out.
VARIABLE = "SPILLOVER_COMPILED"
NAME = "_loops.abi3.so"
_found: list[Any] = []  # the library, or None, once it was looked for
_missing: list[str] = []  # why there is none, "" where it was not built


def loops() -> Any:
    """Return the compiled loops, or None where there are none."""
    if not _found:
        _found.append(_load())
    return _found[0]


def why_not() -> str | None:
    """Return why the loops are not used: "" if they were not built, None if they are used."""
    return None if loops() else _missing[0] if _missing else ""


def _load() -> Any:
    if os.environ.get(VARIABLE) == "0":
        _missing.append(f"{VARIABLE}=0")
        return None
    folder = os.path.dirname(os.path.abspath(__file__))
    if not os.path.lexists(os.path.join(folder, NAME)):
        return None
    try:
        library = _import(os.path.join(folder, NAME))
        sources = fingerprint(folder)
    except (ImportError, OSError) as error:
        _missing.append(str(error))
        return None
    if sources and getattr(library, "SOURCES", "") != sources:  # a wheel has no sources to compare with
        _missing.append("it was built from other sources; in a clone, run `python hatch_build.py`")
        return None
    return library


def _import(path: str) -> Any:
    from importlib import import_module

    if not _is_whole(path):
        raise ImportError(f"{NAME} is cut off")
    return import_module("._loops", __name__)


def fingerprint(folder: str | os.PathLike[str]) -> str:
    """Return a hash of the C files in a folder; "" if it has none."""
    import hashlib

    names = sorted(name for name in os.listdir(folder) if name.endswith((".c", ".h")) and not name.startswith("."))
    whole = hashlib.sha256()
    for name in names:
        with open(os.path.join(folder, name), "rb") as file:
            data = file.read()
        whole.update(b"%s %d\n%s" % (name.encode(), len(data), data))
    return whole.hexdigest()[:16] if names else ""


def _is_whole(path: str) -> bool:
    """Return whether an ELF file is as long as it says: half of one would not fail to load, but end the process."""
    with open(path, "rb") as file:
        head = file.read(64)
        size = os.fstat(file.fileno()).st_size
    if head[:6] != b"\x7fELF\2\1":  # 64 bits, little-endian; others are left to the loader
        return True
    sections = int.from_bytes(head[40:48], "little")
    return len(head) == 64 and size >= sections + int.from_bytes(head[58:60], "little") * int.from_bytes(
        head[60:62], "little"
    )
