"""Thousands of hostile refs, and refs of another scope: each is refused, or names an output of the caller's own scope."""

import os
import random
import string
import tempfile
import time

from spillover import Clipper, DirStore, Limits, RefError, UsageError
from spillover.testing import HOSTILE_REFS

PIECES = (
    "..", "/", "\\", "\0", "\n", "%2e", "~", "$HOME", "*", "?", "[a-z]", "bash-", "tool-", "-", "last", "last:", ":", " ",
    ".json", ".txt", ".tmp", "é", "\u202e", "\x1b[2J", "0" * 12, "f" * 16, "a" * 64, "A" * 16, "spill://", "#L1-2",
)  # fmt: skip


def refs(seconds, seed, count=None):
    """Try refs for a number of seconds or times. All figures except `refs` and `named` must be 0."""
    with tempfile.TemporaryDirectory() as folder:
        return tried(os.path.join(folder, "store"), seconds, seed, count)


def tried(root, seconds, seed, count):
    dice = random.Random(seed)
    clipper = Clipper(Limits(tokens=100), store=DirStore(root), scope="acme/web")
    known = [clipper.clip(f"{n} of mine\n" * 400, tool="bash").ref for n in range(5)]
    theirs = [
        Clipper(Limits(tokens=100), store=DirStore(root), scope=scope)
        .clip(f"{scope} has this\n" * 400, tool="bash")
        .ref
        for scope in ("acme", "acme/webs", "acme/db", "other/web")
    ]
    before = listing(root)
    figures = dict.fromkeys(("refs", "named", "raised", "wrong_scope", "touched"), 0)
    until = time.monotonic() + seconds
    while time.monotonic() < until if count is None else figures["refs"] < count:
        figures["refs"] += 1
        ref = some_ref(dice, known, theirs)
        way = dice.choice((clipper.read, clipper.outline, lambda ref: clipper.grep(ref, "mine|has")))
        try:
            found = way(ref)
        except (RefError, UsageError) as error:
            figures["wrong_scope"] += "has this" in str(error)
            continue
        except Exception:  # noqa: BLE001  a hostile ref must not get this far
            figures["raised"] += 1
            continue
        figures["named"] += 1
        figures["wrong_scope"] += found.ref not in known or "has this" in found.text
    figures["touched"] += listing(root) != before
    return figures


def some_ref(dice, known, theirs):
    way = dice.random()
    if way < 0.1:
        return dice.choice(HOSTILE_REFS)
    if way < 0.2:  # of somebody else, whole or in part
        return dice.choice(theirs)[: dice.randint(6, 40)]
    if way < 0.5:
        return "".join(dice.choice(PIECES) for _ in range(dice.randint(1, 5)))
    if way < 0.8:  # a valid ref with something changed
        ref = list(dice.choice((*known, *theirs)))
        ref[dice.randrange(len(ref))] = dice.choice(string.printable)
        return "".join(ref)[: dice.randint(1, 40)]
    return "".join(dice.choice(string.printable) for _ in range(dice.randint(0, 90)))


def listing(root):
    """Return every file and its size; all but the journal, to which each answer adds a line."""
    return {
        (folder, name, os.path.getsize(os.path.join(folder, name)))
        for folder, _, names in os.walk(os.path.dirname(root))
        if os.path.basename(folder) != ".ledger"
        for name in names
        if not name.startswith(".")
    }
