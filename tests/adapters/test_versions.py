"""What is said when a framework is missing, or too old."""

import pytest

from spillover.adapters import parts
from spillover.adapters.parts import OLDEST, missing


def test_an_old_version_is_named_with_the_one_that_is_needed(monkeypatch):
    monkeypatch.setattr("importlib.metadata.version", lambda _: "1.1.3")
    assert str(missing("langchain")) == "this adapter needs langchain 1.2 or newer, 1.1.3 is installed"


@pytest.mark.parametrize("installed", ["1.2", "1.10.0rc1", "2.0"])
def test_a_newer_one_is_not_called_old(monkeypatch, installed):
    monkeypatch.setattr("importlib.metadata.version", lambda _: installed)
    assert "or newer" not in str(missing("langchain"))


def test_what_is_not_installed_is_installed_with_the_extra(monkeypatch):
    monkeypatch.setitem(OLDEST, "langchain", ("no-such-package", "1"))
    assert str(missing("langchain")) == "this adapter needs the extra: pip install 'spillover[langchain]'"


def test_the_oldest_versions_are_those_of_the_extras():
    from pathlib import Path

    text = Path(parts.__file__).parents[3].joinpath("pyproject.toml").read_text()
    for package, oldest in OLDEST.values():
        assert f'"{package}>={oldest}' in text
