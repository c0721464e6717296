"""A clipper with little room, and its store."""

import pytest

from spillover.api import Clipper
from spillover.settings.limits import Limits
from spillover.store.memory import MemoryStore


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def clipper(store):
    return Clipper(Limits(bytes=1_000), store=store)
