"""Records and bytes of a store tampered with in every way: each question gets an answer that fits, or one of our errors."""

import json
import os
import random
import shutil
import tempfile
import time

from store_faults import limited

from spillover import Clipper, DirStore, Limits, SpilloverError
from spillover.store import verify

MINE = "".join(f"row {number} of mine\n" for number in range(9_000))  # three blocks of the index
THEIRS = "".join(f"row {number} of theirs\n" for number in range(3_000))
TOKENS = 200
SLOW_SECONDS = 30
VALUES = (
    None,
    True,
    0,
    -1,
    1,
    2**63,
    10**400,
    1.5,
    "",
    "x",
    "*",
    "acme/db",
    "\ud800",
    "0" * 64,
    [],
    [0],
    [[]],
    [[1, 2]],
    {},
    "[" * 50,
)


def records(seconds, seed, count=None):
    """Tamper for a number of seconds or times. All figures except `tampered`, `answers` and `refused` must be 0."""
    figures = dict.fromkeys(("tampered", "answers", "refused", "raised", "hung", "over", "wrong_scope"), 0)
    examples, until = [], time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        fresh, root = os.path.join(folder, "fresh"), os.path.join(folder, "store")
        ref, theirs = fill(fresh)
        while time.monotonic() < until if count is None else figures["tampered"] < count:
            dice = random.Random(f"{seed}:{figures['tampered']}")
            shutil.copytree(fresh, root)
            what = tamper(dice, root, ref)
            figures["tampered"] += 1
            try:
                with limited(SLOW_SECONDS):
                    found = ask_everything(root, ref, theirs, figures)
            except TimeoutError:
                found = [("hung", f"for {SLOW_SECONDS} seconds")]
            for kind, words in found:
                figures[kind] += 1
                examples.append((kind, what, words[:300]))
            shutil.rmtree(root)
    return figures | {"examples": examples[:10]}


def fill(root):
    """Store an output of ours, and one of another scope; return their refs."""
    ours, others = (
        Clipper(Limits(tokens=TOKENS), store=DirStore(root), scope=name) for name in ("acme/web", "acme/db")
    )
    return ours.clip(MINE).ref, others.clip(THEIRS).ref


def tamper(dice, root, ref):
    """Change the record or the bytes of one output; return what was done."""
    path = os.path.join(root, ref + dice.choice((".json", ".json", ".json", ".txt")))
    way = dice.choice((flip, cut, insert, replace_by_another, *(change,) * 6))
    if way is change and path.endswith(".txt"):
        way = flip
    return f"{os.path.splitext(path)[1]} {way.__name__}: {way(dice, path)}"


def flip(dice, path):
    at = dice.randrange(os.path.getsize(path))
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(bytes([dice.randrange(256)]))
    return f"byte {at}"


def cut(dice, path):
    size = dice.randrange(os.path.getsize(path))
    os.truncate(path, size)
    return f"to {size}"


def insert(dice, path):
    with open(path, "ab") as file:
        file.write(dice.randbytes(dice.randint(1, 100_000)))
    return "at the end"


def replace_by_another(dice, path):
    """Put something else there: nothing, a pipe, a folder, a link."""
    os.unlink(path)
    kind = dice.choice(("nothing", "pipe", "folder", "link", "endless", "nested"))
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        os.mkdir(path)
    elif kind in ("link", "endless"):
        os.symlink("/etc/passwd" if kind == "link" else "/dev/zero", path)
    elif kind == "nested":
        with open(path, "wb") as file:
            file.write(b"[" * 200_000)
    return kind


def change(dice, path):
    """Set one value, at any depth, to something else, with the checksum as it was, without one, or with a right one."""
    from spillover.store import record

    with open(path, "rb") as file:
        facts = json.load(file)
    at, key = facts, dice.choice(sorted(facts))
    while isinstance(at[key], (dict, list)) and at[key] and dice.random() < 0.7:
        at = at[key]
        key = dice.choice(sorted(at)) if isinstance(at, dict) else dice.randrange(len(at))
    at[key] = value = dice.choice(VALUES)
    how = dice.choice(("old", "none", "right"))
    if how != "old":
        facts.pop("check", None)
    text = json.dumps(facts).encode()
    if how == "right":  # as somebody would who can write to the store and knows how it is made
        text = text[:-1]
        text += record._CHECK + record._hash(text) + record._END
    with open(path, "wb") as file:
        file.write(text)
    return f"{key} = {value!r:.40}, checksum {how}"


def ask_everything(root, ref, theirs, figures):
    """Ask everything there is to ask, in our scope; return what went wrong."""
    store, wrong = DirStore(root), []
    clipper = Clipper(Limits(tokens=TOKENS), store=store, scope="acme/web")
    given_to_tools = ((ref,), (ref, "row"), (ref,), ())
    ways = {
        "list": lambda: " ".join(record.ref for record in store.list())[:100],
        "read": lambda: clipper.read(ref).text,
        "lines": lambda: clipper.read(ref, lines="8990:9000").text,
        "columns": lambda: clipper.read(ref, lines="4000", columns="1:9").text,
        "bytes": lambda: clipper.read(ref, bytes="100000:100040").text,
        "grep": lambda: clipper.grep(ref, "row 8765 ", context=1).text,
        "outline": lambda: clipper.outline(ref).text,
        "theirs": lambda: clipper.read(theirs).text,
        "last": lambda: clipper.read("last", lines=1).text,
        "tools": lambda: "\n".join(tool(*given) for tool, given in zip(clipper.tools(), given_to_tools, strict=True)),
        "verify": lambda: verify(store, ref) or "",
        "again": lambda: clipper.clip(MINE).text,
        "sweep": lambda: str(store.sweep())[:100],
        "delete": lambda: str(store.delete(ref))[:100],
    }  # fmt: skip
    for name, way in ways.items():
        try:
            text = way()
        except SpilloverError as error:
            figures["refused"] += 1
            text = str(error)
        except TimeoutError:
            raise
        except Exception as error:  # noqa: BLE001  any other exception reaches whoever asked
            wrong.append(("raised", f"{name}: {error!r}"))
            continue
        else:
            figures["answers"] += 1
            if name not in ("tools", "verify", "sweep", "delete") and clipper.settings.count(text) > TOKENS:
                wrong.append(("over", f"{name}: {text[:100]}"))
        if "of theirs" in text or (name == "tools" and theirs in text):
            wrong.append(("wrong_scope", f"{name}: {text[:100]}"))
    return wrong
