import pytest

from spillover import compiled


@pytest.fixture
def loops():
    """The compiled loops; without them there is nothing to compare."""
    found = compiled.loops()
    if found is None:
        pytest.skip("no compiled loops: spillover was installed where there is no C compiler")
    return found


@pytest.fixture
def in_python(monkeypatch):
    """Calls a function without the compiled loops."""

    def call(function, *args, **kwargs):
        with monkeypatch.context() as patch:
            patch.setattr(compiled, "_found", [None])
            return function(*args, **kwargs)

    return call
