"""Test cases published by other systems, adapted: inputs, budgets, what must be kept, and why ours differs if it does.

Many of their budgets are smaller than ours can be, because ours include a notice. Those cases test only the pure parts: a
document, a selector, and a budget that charges only for what is shown. `Cut` scales the result back to their sizes.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from spillover import Clipper, MemoryStore
from spillover.types import Document
from support import Held, Meter, Section, count_lines, keeping

sys.path.append(str(Path(__file__).parent))  # for *_reference.py; see tests/laws/conftest.py

SHARE = {"head": 1.0, "ends": 0.5, "tail": 0.0, "20/80": 0.2, "2/3": 2 / 3}


@dataclass(frozen=True)
class Cut:
    """The result of a pure cut: the beginning, the end, and how many characters and lines are hidden."""

    head: str
    tail: str
    hidden: int
    hidden_lines: int


def grown(text, times):
    """Repeat every character except newlines, because we never cut inside lines of only a few characters."""
    return "".join(char if char == "\n" else char * times for char in text)


def _shrunk(part, times, step):
    """Undo `grown`; a character that was cut counts if more than half of its copies are left."""
    return "\n".join(line[::step][times // 2 :: times][::step] for line in part.split("\n"))


def _cut(text, keep, *, times=1, bytes=None, chars=None, lines=None):  # noqa: A002  the names of Limits
    data = grown(text, times).encode()
    meter = Meter()
    meter.feed(data)
    document = Document(Held(data), meter.index, meter.lines, meter.newlines, (Section(0, len(data)),))

    def fill(spans):
        parts = [data[span.start : span.end] for span in spans]
        used = {
            "bytes": (sum(map(len, parts)), bytes and bytes * times),
            "chars": (sum(len(part.decode(errors="replace")) for part in parts), chars and chars * times),
            "lines": (sum(count_lines(part.decode(errors="replace")) for part in parts), lines),
        }
        return max(size / most if most else float(size) * 2 for size, most in used.values() if most is not None)

    spans = keeping(SHARE[keep])(document, fill)
    assert fill(spans) <= 1
    parts = [data[span.start : span.end].decode() for span in spans]
    assert len(parts) <= 2
    head = _shrunk(parts[0], times, 1) if parts and spans[0].start == 0 else ""
    tail = _shrunk(parts[-1], times, -1) if parts and spans[-1].end == len(data) and spans[-1].start > 0 else ""
    shown = sum(count_lines(part) for part in parts)
    return Cut(head, tail, len(text) - len(head) - len(tail), document.lines - shown)


@pytest.fixture(scope="session")
def cut():
    """Return `cut(text, keep, bytes=…)`, which runs a selector with a budget for the text alone."""
    return _cut


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def clipping(store):
    """Return `clipping(limits, …)`, which makes a Clipper with a store in memory."""

    def made(limits, **choices):
        return Clipper(limits, store=store, **choices)

    return made
