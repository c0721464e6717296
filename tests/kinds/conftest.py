"""A document of any bytes, and what a selector makes of it through the public door."""

import sys
from pathlib import Path

import pytest

from spillover import Clipper, Limits, MemoryStore
from spillover.document.document import Document, Section
from spillover.source.blob import MemoryBlob, Meter

sys.path.append(str(Path(__file__).parent))  # for chosen_by.py; see tests/laws/conftest.py


@pytest.fixture
def document():
    def made(data):
        data = data.encode() if isinstance(data, str) else data
        meter = Meter()
        meter.feed(data, hashing=False)
        return Document(MemoryBlob(data), meter.index, meter.lines, meter.newlines, (Section(0, len(data)),))

    return made


@pytest.fixture
def shown():
    """The clip of an output at so many tokens."""

    def made(output, tokens=1_000, keep="auto", **choices):
        return Clipper(Limits(tokens=tokens), keep=keep, store=MemoryStore(), **choices).clip(output)

    return made
