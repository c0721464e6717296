"""Thousands of clips, of every kind of output, keep, limit, cap, failing store and chunking, checked against our promises."""

import random
import re
import time
from unittest.mock import patch

import kinds
import spillover.kinds.fit
from spillover import Clipper, Limits, MemoryStore
from spillover.settings.limits import SMALLEST, count_lines
from spillover.testing import FailingStore
from spillover.tokens import estimate

KEEPS = ("auto", "signal", "head", "tail", "ends")
#: Escape codes as a terminal reads them; the rest is what a person can read.
CODES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)|[ -/]*[0-~])?")

#: Control bytes that show nothing; a letter whose bytes they part is one letter.
SILENT = bytes({*range(32), 127} - {*b"\t\n\r\b"})


def clips(seconds, seed, count=None, least=0):
    """Clip for a number of seconds, and at least so often, or `count` outputs. All figures but `clips` and the outcomes must be 0."""
    figures = dict.fromkeys(("clips", "whole", "stored", "lost", "raised", "over", "torn", "other_text", "unsaid"), 0)
    examples = []
    until = time.monotonic() + seconds
    number = 0
    while number < count if count is not None else time.monotonic() < until or figures["clips"] < least:
        dice = random.Random(f"{seed}:{number}")
        with patch.object(spillover.fallback, "SURVIVED", ()):  # a selector of ours that raises is a finding
            found = one(dice, figures)
        for fault in found:
            figures[fault] += 1
            examples.append((fault, f"{seed}:{number}"))
        number += 1
    return figures | {"examples": examples[:10]}


def one(dice, figures):
    """Clip one output twice, chunked differently the second time; return the names of the promises that were broken."""
    output = kinds.output(dice)
    choices, failing = some_choices(dice, len(output)), some_failure(dice, len(output))
    faults, texts = [], []
    for size in (piece_size(dice), piece_size(dice)):
        store = MemoryStore()
        clipper = Clipper(store=FailingStore(store, **failing) if failing else store, **choices)
        figures["clips"] += 1
        try:
            made = clipper.clip(output[at : at + size] for at in range(0, len(output), size))
        except Exception:  # noqa: BLE001  any exception means the tool call failed
            return [*faults, "raised"]
        figures[made.outcome] += 1
        texts.append(made.text)
        if over(made.text, clipper):
            faults.append("over")
        if made.outcome == "stored" and not kept(store, made.ref, output):
            faults.append("torn")
        if made.outcome == "whole" and not all_said(output, made.text):
            faults.append("unsaid")
    if texts[0] != texts[1]:
        faults.append("other_text")
    return faults


def some_failure(dice, size):
    """Return the arguments of a FailingStore; none if the store is not to fail."""
    failures = ({"on": "writer"}, {"on": "publish"}, {"on": "write", "after_bytes": dice.randint(0, size + 1)})
    return dice.choice((None, None, None, *failures))


def some_choices(dice, size):
    names = [name for name in SMALLEST if dice.random() < 0.4] or [dice.choice([*SMALLEST])]
    most = {"lines": 60, "bytes": 4_000, "chars": 4_000, "tokens": 1_500}
    limits = Limits(**{name: dice.randint(SMALLEST[name], most[name]) for name in names})
    cap = {"cap": dice.randint(1, size + 10)} if dice.random() < 0.3 else {}
    return {"limits": limits, "keep": dice.choice(KEEPS), **cap}


def piece_size(dice):
    """Return a chunk size, from a single byte to the entire output."""
    return 1 if dice.random() < 0.03 else int(2 ** dice.uniform(3, 18))


def over(text, clipper):
    size = {
        "lines": count_lines(text),
        "bytes": len(text.encode("utf-8", "surrogatepass")),
        "chars": len(text),
        "tokens": estimate(text),
    }
    return any(size[name] > most for name, most in clipper.settings.limits.given())


def kept(store, ref, output):
    """Return whether the store has the output, or the part of it that the record describes."""
    record, blob = store.get(ref), store.open(ref)
    data = blob.read(0, blob.size)
    return data == output if record.partial is None else output.startswith(data) and len(data) == record.bytes


def all_said(output, text):
    """Return whether the text contains, in order, every letter and digit that would have been sent to a terminal.

    What is struck twice in one place, as man pages do for bold, is one letter to whoever reads it.
    """
    letters = iter(filter(str.isalnum, text))
    wanted = filter(str.isalnum, struck(CODES.sub(b"", output).translate(None, SILENT).decode("utf-8", "replace")))
    return all(letter in letters for letter in wanted)


def struck(text):
    """Yield the characters of a text, in order; of one struck over itself only the first."""
    if "\b" not in text:
        yield from text
        return
    for row in re.split("[\r\n]", re.sub("[\x80-\x9f]", "", text)):
        places, at = [], 0
        for char in row:
            if char == "\b":
                at = max(0, at - 1)
                continue
            places += [""] * (at == len(places))
            if {char, *places[at]} == {"o", "+"}:  # together the bullet of a man page
                places[at] = "+"
            elif char not in places[at]:
                places[at] += char
            at += 1
        yield from "".join(places)
