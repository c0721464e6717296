"""Rules: the same words in Python as in a configuration file."""

import tomllib

import pytest

from spillover import Clipper, Limits, MemoryStore, UsageError
from spillover.notice.hints import hints

BASE = Limits(lines=2_000, bytes=51_200, tokens=10_000)

#: A rule as it stands in TOML, and what it makes of the choices.
RULES = [
    ("tokens = 500", {"limits": Limits(lines=2_000, bytes=51_200, tokens=500)}),
    ("tokens = 500\nlines = 0\nbytes = false", {"limits": Limits(tokens=500)}),
    ("chars = 900\nlines = 40", {"limits": Limits(lines=40, bytes=51_200, chars=900, tokens=10_000)}),
    ('keep = "tail"', {"keep": "tail"}),
    ('hints = ["cli", "files:Read,Grep"]', {"hints": ["cli", "files:Read,Grep"]}),
    ('tokenizer = "o200k_base"', {"tokenizer": "o200k_base"}),
    ('cap = "2 MiB"', {"cap": 2 << 20}),
    ("cap = 900", {"cap": 900}),
]


@pytest.mark.parametrize(("toml", "made"), RULES)
def test_a_rule_copied_from_a_file_works_in_python(toml, made):
    clipper = Clipper(BASE, store=MemoryStore(), rules={"bash*": tomllib.loads(toml)})
    ruled = clipper.call("bash-x").settings
    expected = {name: hints(value) if name == "hints" else value for name, value in made.items()}
    assert {name: getattr(ruled, name) for name in made} == expected


@pytest.mark.parametrize(("toml", "made"), RULES)
def test_and_means_there_what_it_means_in_the_file(toml, made, tmp_path, monkeypatch):
    (tmp_path / "mine.toml").write_text(f'[tools."bash*"]\n{toml}\n')
    monkeypatch.setenv("SPILLOVER_CONFIG", str(tmp_path / "mine.toml"))
    from_file = Clipper.configured().call("bash-x").settings
    from_python = Clipper(rules={"bash*": tomllib.loads(toml)}).call("bash-x").settings
    names = ("limits", "keep", "tokenizer", "cap", "hints")
    assert {name: getattr(from_file, name) for name in names} == {name: getattr(from_python, name) for name in names}


def test_a_rule_may_have_limits_and_change_one_of_them():
    rule = {"limits": Limits(lines=50), "tokens": 500}
    assert Clipper(BASE, store=MemoryStore(), rules={"x": rule}).call("x").limits == Limits(lines=50, tokens=500)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({"tokens": 0, "lines": 0, "bytes": 0}, "lines, bytes, chars, tokens are all 0; set one of them."),
        ({"tokens": "many"}, "Limits(tokens='many') is not a whole number"),
        ({"cap": "2 gigs"}, "cap='2 gigs' is not a size"),
        ({"token": 500}, "the rule for 'x' has 'token'; a rule may set"),
    ],
)
def test_a_wrong_rule_is_refused_when_the_clipper_is_made(rule, said):
    with pytest.raises(UsageError) as caught:
        Clipper(BASE, store=MemoryStore(), rules={"x": rule})
    assert said in str(caught.value)


def test_limits_of_a_rule_that_are_none_beside_a_size_raised_an_attribute_error():
    with pytest.raises(UsageError, match="limits=5 is not valid; use Limits"):
        Clipper(BASE, store=MemoryStore(), rules={"x": {"limits": 5, "tokens": 500}})
