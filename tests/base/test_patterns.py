"""Patterns that are compiled at their first use."""

import copy
import pickle
import re

import pytest

from spillover.base import patterns


def test_a_pattern_is_compiled_when_it_is_first_asked(monkeypatch):
    compiled = []
    monkeypatch.setattr(re, "compile", lambda *given, real=re.compile: compiled.append(given) or real(*given))
    digits = patterns.compile(r"\d+")
    assert digits.pattern == r"\d+"
    assert compiled == []
    assert digits.search("a12")[0] == "12"
    assert digits.findall("1 23") == ["1", "23"]
    assert compiled == [(r"\d+", 0)]


@pytest.mark.parametrize("name", [name for name in dir(re.Pattern) if not name.startswith("_")])
def test_it_has_all_that_a_compiled_pattern_has(name):
    late, at_once = patterns.compile(rb"(?P<a>b)c*", re.DOTALL), re.compile(rb"(?P<a>b)c*", re.DOTALL)
    one, other = getattr(late, name), getattr(at_once, name)
    assert one == other or one.__name__ == other.__name__


def test_a_pattern_can_be_copied_pickled_and_printed():
    given = patterns.compile("a+b", re.IGNORECASE)
    for other in (copy.copy(given), copy.deepcopy(given), pickle.loads(pickle.dumps(given))):
        assert other.fullmatch("AAB")
    assert repr(given) == "patterns.compile('a+b')"
