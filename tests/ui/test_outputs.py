"""An output clipped again is the clip that was given, or the one that would be given with other settings; nothing is stored."""

import json

import pytest
from msgspec.structs import replace

from spillover import Clipper, DirStore, Hint, Limits, journal
from spillover.errors import ConfigError, SpilloverError, UsageError
from spillover.kinds.selection import Span
from spillover.ui.library import Library
from spillover.ui.outputs import Outputs, replay, try_settings

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


def open_output(clipper, ref):
    library = Library(clipper.settings.outputs)
    library.refresh()
    return Outputs(clipper.call(), library).get(ref)


@each
def test_what_was_given_is_what_is_shown_and_is_proved(clipper, name):
    given = clipper.clip(OUTPUTS[name], tool="bash")
    seen = replay(clipper, open_output(clipper, given.ref))
    assert (seen["text"], seen["match"]) == (given.text, "words")
    assert seen["received"] == clipper.settings.count(given.text)


@pytest.mark.parametrize("name", ["log", "json", "controls"])
@pytest.mark.parametrize(
    "other", [{"tokens": 600}, {"lines": 40}, {"keep": "tail", "tokens": 900}, {"bytes": 3_000, "keep": "head"}, {"query": "item 77"}, {"worth": 0.0, "tokens": 2_000}], ids=str
)  # fmt: skip
def test_the_clip_that_is_tried_is_the_clip_with_these_settings(clipper, tmp_path, name, other):
    output = open_output(clipper, clipper.clip(OUTPUTS[name], tool="bash").ref)
    tried = try_settings(clipper, output, {key: str(value) for key, value in other.items()})
    configured = Clipper.configured(
        **{key: value for key, value in other.items() if key != "query"}, hints=["cli", "path"]
    )
    real = Clipper(configured.settings.limits, keep=configured.settings.keep, worth=configured.settings.worth, hints=("cli", "path"), store=clipper.settings.store, scope="acme")  # fmt: skip
    given = real.clip(OUTPUTS[name], tool="bash", query=other.get("query"))
    assert tried["text"] == given.text
    assert tried["ranges"] == given.ranges
    assert real.settings.limits.hold(tried["text"], real.settings.count)


CALLS = {
    "limits": ({"limits": Limits(tokens=300)}, {}),
    "lines": ({"limits": Limits(lines=30, tokens=900), "keep": "ends"}, {}),
    "keep": ({"limits": Limits(tokens=700), "keep": "tail"}, {}),
    "query": ({"limits": Limits(tokens=700)}, {"query": "step 1234"}),
    "worth": ({"limits": Limits(tokens=6_000), "worth": 0.0}, {}),
    "hints": ({"hints": [Hint(search="look for {pattern} in {ref}"), "cli"]}, {}),
    "no hints": ({"hints": "none"}, {}),
    "tokenizer": ({"tokenizer": "o200k_base", "limits": Limits(tokens=900)}, {}),
}


@pytest.mark.parametrize("name", ["log", "one long line"])
@pytest.mark.parametrize("call", CALLS)
def test_a_clip_with_choices_of_its_own_is_made_again_from_its_record(clipper, name, call):
    choices, arguments = CALLS[call]
    given = Clipper(**{"store": clipper.settings.store, "scope": "acme", **choices}).clip(
        OUTPUTS[name], tool="bash", **arguments
    )
    seen = replay(clipper, open_output(clipper, given.ref))
    assert (seen["text"], seen["match"]) == (given.text, "words")


def test_an_output_that_was_clipped_again_shows_the_newer_clip(clipper):
    library = Library(clipper.settings.outputs)
    outputs = Outputs(clipper.call(), library)
    for tokens in (900, 400):
        clip = clipper.but(Limits(tokens=tokens)).clip(OUTPUTS["log"], tool="bash")
        library.update()
        assert replay(clipper, outputs.get(clip.ref))["text"] == clip.text
        assert outputs.get(clip.ref) is outputs.get(clip.ref), "it stays open"


@pytest.mark.parametrize(("name", "match"), [("log", "lines"), ("one long line", "")])
def test_without_the_hash_of_its_notice_only_whole_lines_are_certain(clipper, name, match):
    output = open_output(clipper, clipper.clip(OUTPUTS[name], tool="bash").ref)
    unproven = replace(output, record=replace(output.record, notices=()))
    seen = replay(clipper, unproven)
    assert (seen["match"], bool(seen["text"])) == (match, bool(match))


def test_a_clip_compared_with_an_earlier_run_is_made_again_while_that_is_stored(clipper):
    before = clipper.clip(OUTPUTS["log"].replace("Error: it broke", "fine"), tool="bash")
    given = clipper.clip(OUTPUTS["log"], tool="bash", since=before.ref)
    assert f"Since {before.ref}" in given.text
    seen = replay(clipper, open_output(clipper, given.ref))
    assert (seen["text"], seen["match"]) == (given.text, "words")
    clipper.settings.store.delete(before.ref)
    seen = replay(clipper, open_output(clipper, given.ref))
    assert (seen["text"], seen["match"]) == ("", "")
    assert before.ref in seen["reason"]


@pytest.mark.parametrize("since", ["good", "last", "bash-0123456789abcdef"])
@pytest.mark.parametrize("tokens", [300, 1_000])
def test_a_clip_that_could_not_be_compared_is_made_again(clipper, since, tokens):
    own = Clipper(Limits(tokens=tokens), store=clipper.settings.store, scope="acme")
    given = own.clip(OUTPUTS["log"], tool="bash", since=since)
    assert "Not compared with" in given.text
    seen = replay(clipper, open_output(clipper, given.ref))
    assert (seen["text"], seen["match"]) == (given.text, "words")


@pytest.mark.parametrize(
    "made", ["", "{}", "[]", "nonsense", '{"limits": {"tokens": 1}}', '{"limits": 3, "keep": "x"}']
)
def test_another_clip_is_not_shown_as_what_the_model_saw(clipper, made):
    less = Clipper(Limits(tokens=500), store=clipper.settings.store, scope="acme").clip(OUTPUTS["csv"], tool="bash")
    output = open_output(clipper, less.ref)
    old = replace(output, record=replace(output.record, made=made))  # as an earlier version, or somebody else, wrote it
    seen = replay(clipper, old)
    assert (seen["text"], seen["match"]) == ("", "")
    assert "does not say what made that clip" in seen["reason"]


def test_a_selector_of_your_own_is_not_in_the_record(clipper):
    own = Clipper(store=clipper.settings.store, scope="acme", keep=lambda document, fill: [Span(0, 100)])
    given = own.clip(OUTPUTS["log"], tool="bash")
    assert replay(clipper, open_output(clipper, given.ref))["reason"]


def test_the_record_has_no_secret_of_a_query(clipper):
    question = "why does password=hunter2hunter2 not work"
    given = clipper.clip(OUTPUTS["log"], tool="bash", query=question)
    assert "hunter2" not in clipper.settings.store.get(given.ref).made


@pytest.mark.parametrize("profile", ["opencode", "t15", "klaude", "daycare", "vtcode"])
def test_every_profile_can_be_tried(clipper, profile):
    output = open_output(clipper, clipper.clip(OUTPUTS["log"], tool="bash").ref)
    assert try_settings(clipper, output, {"profile": profile})["text"]


def test_trying_stores_and_notes_nothing(clipper):
    ref = clipper.clip(OUTPUTS["log"], tool="bash").ref
    output, before = open_output(clipper, ref), journal.size(str(clipper.settings.store.root))
    replay(clipper, output)
    for tokens in (300, 800, 3_000, 60_000):
        try_settings(clipper, output, {"tokens": str(tokens)})
    assert [record.ref for record in clipper.settings.store.list()] == [ref]
    assert journal.size(str(clipper.settings.store.root)) == before


def test_what_cannot_be_tried_is_said_with_what_can(clipper):
    output = open_output(clipper, clipper.clip(OUTPUTS["log"], tool="bash").ref)
    with pytest.raises(UsageError, match="use tokens, lines"):
        try_settings(clipper, output, {"store": "/tmp"})
    with pytest.raises(ConfigError, match="tokens"):
        try_settings(clipper, output, {"tokens": "1"})
    with pytest.raises(SpilloverError):
        try_settings(clipper, output, {"profile": "nobody"})
