"""The folder of these tests is on the path, so that `twins` can be imported by each."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from spillover import compiled


@pytest.fixture
def loops():
    """The compiled loops; without them there is nothing to compare."""
    found = compiled.loops()
    if found is None:
        pytest.skip("no compiled loops: spillover was installed where there is no C compiler")
    return found
