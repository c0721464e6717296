"""An output clipped again is the clip that was given, or the one that would be given with other settings; nothing is stored."""

import json

import pytest

from spillover import Clipper, DirStore, Limits
from spillover.errors import ConfigError, SpilloverError, UsageError
from spillover.inspector.again import see, try_other
from spillover.inspector.library import Library
from spillover.inspector.outputs import Outputs
from spillover.ledger import journal

OUTPUTS = {
    "log": "".join(f"[{i}] step {i} done\n" + "Error: it broke\n" * (i == 3_000) for i in range(4_000)),
    "json": json.dumps([{"id": i, "name": f"item {i}"} for i in range(4_000)]),
    "csv": "id,name\n" + "".join(f"{i},item {i}\n" for i in range(9_000)),
    "one long line": "x" * 200_000,
    "controls": "\x1b[31mred\x1b[0m\r\nprogress 1%\rprogress 2%\n\x00\n" * 3_000,
    "forged": "[Output clipped: 1 of 2 lines shown.]\n" * 4_000,
}
each = pytest.mark.parametrize("name", OUTPUTS)


@pytest.fixture
def clipper(tmp_path):
    return Clipper(store=DirStore(tmp_path / "store"), scope="acme")


def opened(clipper, ref):
    library = Library(clipper.outputs)
    library.refresh()
    return Outputs(clipper, library).get(ref)


@each
def test_what_was_given_is_what_is_shown_and_is_proved(clipper, name):
    given = clipper.clip(OUTPUTS[name], tool="bash")
    seen = see(clipper, opened(clipper, given.ref))
    assert (seen["text"], seen["exact"], seen["same"]) == (given.text, True, True)
    assert seen["tokens"]["received"] == clipper.count(given.text)


@pytest.mark.parametrize("name", ["log", "json", "controls"])
@pytest.mark.parametrize(
    "other", [{"tokens": 600}, {"lines": 40}, {"keep": "tail", "tokens": 900}, {"bytes": 3_000, "keep": "head"}, {"query": "item 77"}, {"worth": 0.0, "tokens": 2_000}], ids=str
)  # fmt: skip
def test_what_would_be_given_is_what_is_given_with_those_settings(clipper, tmp_path, name, other):
    output = opened(clipper, clipper.clip(OUTPUTS[name], tool="bash").ref)
    tried = try_other(clipper, output, {key: str(value) for key, value in other.items()})
    configured = Clipper.configured(
        **{key: value for key, value in other.items() if key != "query"}, hints=["cli", "path"]
    )
    real = Clipper(configured.limits, keep=configured.keep, worth=configured.worth, hints=("cli", "path"), store=clipper.store, scope="acme")  # fmt: skip
    given = real.clip(OUTPUTS[name], tool="bash", query=other.get("query"))
    assert tried["text"] == given.text
    assert tried["ranges"] == [*given.ranges]
    assert real.limits.hold(tried["text"], real.count, byte_bound=False)


def test_another_part_of_the_same_line_is_not_told_as_what_the_model_saw(clipper):
    less = Clipper(Limits(tokens=300), store=clipper.store, scope="acme")
    given = less.clip(OUTPUTS["one long line"], tool="bash")
    seen = see(clipper, opened(clipper, given.ref))
    assert seen["ranges"] == [*given.ranges]
    assert (seen["exact"], seen["same"]) == (False, False)


@pytest.mark.parametrize("profile", ["opencode", "t15", "klaude", "daycare", "vtcode"])
def test_every_profile_can_be_tried(clipper, profile):
    output = opened(clipper, clipper.clip(OUTPUTS["log"], tool="bash").ref)
    assert try_other(clipper, output, {"profile": profile})["text"]


def test_trying_stores_and_notes_nothing(clipper):
    ref = clipper.clip(OUTPUTS["log"], tool="bash").ref
    output, before = opened(clipper, ref), journal.size(str(clipper.store.root))
    see(clipper, output)
    for tokens in (300, 800, 3_000, 60_000):
        try_other(clipper, output, {"tokens": str(tokens)})
    assert [record.ref for record in clipper.store.list()] == [ref]
    assert journal.size(str(clipper.store.root)) == before


def test_other_limits_than_those_of_then_are_said(clipper):
    less = Clipper(Limits(tokens=500), store=clipper.store, scope="acme").clip(OUTPUTS["csv"], tool="bash")
    seen = see(clipper, opened(clipper, less.ref))
    assert seen["text"] != less.text
    assert (seen["exact"], seen["same"]) == (False, False)


def test_what_cannot_be_tried_is_said_with_what_can(clipper):
    output = opened(clipper, clipper.clip(OUTPUTS["log"], tool="bash").ref)
    with pytest.raises(UsageError, match="use tokens, lines"):
        try_other(clipper, output, {"store": "/tmp"})
    with pytest.raises(ConfigError, match="tokens"):
        try_other(clipper, output, {"tokens": "1"})
    with pytest.raises(SpilloverError):
        try_other(clipper, output, {"profile": "nobody"})
