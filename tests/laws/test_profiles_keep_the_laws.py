"""The laws hold for every profile. Profiles put the notice outside the limits, so for law 1 its size is bounded separately."""

import os
import re
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from law_given import cuts, law, outputs, unforged
from law_naive import line_count, over, sizes
from law_ways import SOURCES
from msgspec.structs import replace

from spillover import Budget, DirStore, Limits, MemoryStore, profiles, verify
from spillover.testing import FailingStore
from spillover.types import Span
from support import AGENTS, OUTSIDE, SMALLEST, pipeline

#: Limits that small outputs reach; klaude's trigger follows its limits.
SMALL = {
    "opencode": (Limits(lines=9, bytes=300), Limits(lines=1, bytes=20), Limits(lines=40)),
    "t15": (Limits(lines=9, bytes=300), Limits(lines=2, bytes=1), Limits(bytes=150)),
    "klaude": (Limits(chars=200), Limits(chars=1), Limits(chars=31)),
    "daycare": (Limits(chars=200), Limits(chars=1), Limits(chars=31)),
    "vtcode": (Limits(tokens=120), Limits(tokens=7), Limits(tokens=60, bytes=150)),
}


def thirds(text):
    """Count a token for three characters."""
    return len(text) // 3 + 1


KEEPS = ("head", "tail", "ends", "auto", "signal")
#: The most lines that a profile's own wording may take.
MOST_LINES = 12


def clippers(name, store):
    """Yield the profile itself, then copies of it with small limits and every `keep`."""
    made = profiles.find_profile(name).clipper(store=store)
    yield made
    for limits in SMALL[name]:
        form = made.settings.form
        form = replace(form, trigger=Limits(chars=2 * limits.chars)) if form.trigger else form
        for keep in (made.settings.keep, *KEEPS):
            yield made.but(limits, wording=form, keep=keep)


def drawn(name, store, number):
    chosen = list(clippers(name, store))
    return chosen[number % len(chosen)]


STORES = {
    "memory": MemoryStore,
    "full": lambda: FailingStore(MemoryStore(), after_bytes=90),
    "closed": lambda: FailingStore(MemoryStore(), on="writer", reason="no such place " * 40),
    "gone at last": lambda: FailingStore(MemoryStore(), on="publish"),
}
numbers = st.integers(0, 60)
every_profile = pytest.mark.parametrize("name", profiles.NAMES)
few = settings(law, max_examples=100)


@every_profile
@few
@given(st.sampled_from([*SOURCES]), st.sampled_from([*STORES]), numbers, outputs, cuts)
def test_law_1_what_is_shown_holds_the_limits_and_the_words_are_bounded(tmp_path, name, way, store, number, data, cuts):
    clipper = drawn(name, STORES[store](), number)
    if way in ("clip()", "aclip()"):
        way = "bytes"  # the others create their own Clipper, which is not a profile
    came = SOURCES[way](clipper, data, cuts, tmp_path)
    found = sizes(came.texts, clipper.settings.count)
    whole = came.clips[0].outcome == "whole" and clipper.settings.trigger
    words = {"lines": MOST_LINES, "bytes": OUTSIDE, "chars": OUTSIDE, "tokens": OUTSIDE}
    for unit, most in (clipper.settings.trigger if whole else clipper.settings.limits).given():
        # Some line ends of splitlines are not line ends for us.
        lines = line_count(came.texts[0]) if unit == "lines" else found[unit]
        assert lines <= most + words[unit] * (came.clips[0].outcome != "whole"), unit


@every_profile
@few
@given(numbers, outputs, cuts)
def test_laws_2_to_4_it_is_kept_when_it_is_cut_and_the_numbers_are_true(name, number, data, cuts):
    store = MemoryStore()
    clipper = drawn(name, store, number)
    clip = clipper.clip(bytes(data))
    stored = list(store.list())
    assert (clip.outcome == "stored") == bool(stored) == (clip.ref is not None)
    if stored:
        blob = store.open(clip.ref)
        assert blob.read(0, blob.size) == data
        assert verify(store, clip.ref) is None
    else:
        assert clip.text == data.decode("utf-8", "replace")
    assert (clip.total.lines, clip.total.bytes) == (line_count(data), len(data))
    every = sorted((*clip.ranges, *clip.hidden))
    assert [line for first, last in every for line in range(first, last + 1)] == list(range(1, clip.total.lines + 1))


@every_profile
@few
@given(numbers, outputs)
def test_law_5_everything_hidden_can_be_reached_in_answers_that_fit(name, number, data):
    store = MemoryStore()
    clipper = drawn(name, store, number)
    clip = clipper.clip(bytes(data))
    for first, last in clip.hidden[:3]:
        answer = clipper.read(clip.ref, lines=f"{first}:{last}")
        assert answer.text
        assert not over([answer.text], clipper.call().for_retrieval().limits, clipper.settings.count)
    assert len(list(store.list())) == (clip.outcome == "stored")


@every_profile
@few
@given(numbers, outputs, cuts)
def test_law_6_the_same_bytes_give_the_same_text_in_any_pieces(name, number, data, cuts):
    texts = {
        drawn(name, MemoryStore(), number).clip(source).text
        for source in (bytes(data), [data[:1], data[1:9], data[9:]], memoryview(data))
    }
    assert len(texts) == 1


@every_profile
@few
@given(numbers, outputs, st.sampled_from([store for store in STORES if store != "memory"]))
def test_law_8_a_failing_store_costs_only_the_path_in_the_notice(name, number, data, store):
    clipper = drawn(name, STORES[store](), number)
    clip = clipper.clip(bytes(data))
    assert clip.outcome in ("whole", "lost", "stored")
    assert (clip.outcome == "lost") == (clip.reason is not None and clip.ref is None)
    if clip.outcome == "lost":
        assert clip.path is None
        assert "saved to" not in clip.text
        assert "spooled to" not in clip.text


@every_profile
def test_law_9_names_are_private_and_hold_the_very_bytes(tmp_path, name):
    store = DirStore(tmp_path / "store", retention=None)
    data = b"".join(b"line %d of many, none of them short\n" % number for number in range(20_000))
    clipper = profiles.find_profile(name).clipper(store=store)
    clip = clipper.clip(data, tool="../../etc/passwd", call_id="../../call")
    assert clip.outcome == "stored"
    path = Path(clip.path)
    assert path.read_bytes() == data
    assert path.is_relative_to(store.root)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert path.stat().st_uid == os.geteuid()


@every_profile
@few
@given(numbers, unforged)
def test_law_10_a_forged_notice_changes_nothing(name, number, data):
    clipper = drawn(name, MemoryStore(), number)
    clip = clipper.clip(bytes(data))
    if clip.outcome == "stored":
        again = clipper.clip(clip.text.encode() * 3 + bytes(data))
        assert again.ref != clip.ref


@every_profile
@pytest.mark.parametrize("step", [3, 20, 400])
def test_law_1_many_gaps_do_not_add_more_words_than_allowed(name, step):
    clipper = profiles.find_profile(name).clipper(store=MemoryStore())
    clipper = clipper.but(keep=lambda document, fill: [Span(at, at + 1) for at in range(0, document.size, step)])
    clip = clipper.clip("x" * 300_000)
    assert len(clip.text.encode()) <= clip.shown.bytes + OUTSIDE
    assert clip.shown.bytes


@every_profile
@pytest.mark.parametrize("keep", [None, *KEEPS])
def test_two_streams_that_are_cut_are_both_there_and_the_words_say_so(name, keep):
    clipper = profiles.find_profile(name).clipper(store=MemoryStore())
    clipper = clipper.but(keep=keep) if keep else clipper
    clip = clipper.clip_streams(stdout="out of it\n" * 20_000, stderr="in error\n" * 20_000)
    assert "[stdout]" in clip.text
    assert "[stderr]" in clip.text
    assert re.search("truncated|too large", clip.text)
    assert clip.ref in clip.text


#: Characters below klaude's limit, between it and its trigger, and above both.
KLAUDE_CHARS = (19_000, 39_000, 90_000)


@pytest.mark.parametrize("used", [None, 0, 0.9], ids=lambda used: f"budget {used}")
@pytest.mark.parametrize("host", [None, *AGENTS], ids=lambda host: host and host.name)
@pytest.mark.parametrize("size", KLAUDE_CHARS)
def test_law_1_klaude_with_a_budget_in_a_host_cuts_above_its_trigger_and_no_later(used, host, size):
    budget = None if used is None else Budget(20_000, tokenizer=thirds)
    if budget is not None:
        budget.add("user", int(used * 20_000))
    clipper = profiles.klaude.clipper(store=MemoryStore(), tokenizer=thirds).but(budget=budget)
    call = clipper.call("bash") if host is None else clipper.call("bash").lower(host.shows)
    left = None if budget is None else budget.left
    clip = pipeline.clip("a line of twenty-one.\n" * (size // 22), call)
    most = {"chars": 40_000 if clip.outcome == "whole" else 20_000 + OUTSIDE}
    if left is not None:
        most["tokens"] = max(left, SMALLEST["tokens"])
    if host is not None:
        most = {**most, **{unit: min(bound, most.get(unit, bound)) for unit, bound in host.shows.given()}}
    assert not over([clip.text], Limits(**most), thirds)
    if used is None and host is None:
        assert (clip.outcome == "whole") == (size <= 40_000)


@pytest.mark.parametrize("used", [None, 0.9])
def test_law_1_parallel_calls_of_klaude_share_its_limits_and_have_no_trigger(used):
    budget = None if used is None else Budget(20_000, tokenizer=thirds)
    if budget is not None:
        budget.add("user", int(used * 20_000))
    left = 10**9 if budget is None else budget.left
    clipper = profiles.klaude.clipper(store=MemoryStore(), tokenizer=thirds).but(budget=budget)
    clips = clipper.clip_many(dict.fromkeys(("a", "b", "c"), "a line of twenty-one.\n" * 1400))
    assert {clip.outcome for clip in clips.values()} == {"stored"}, (
        "each is below the trigger, and all of them above the limits"
    )
    assert sum(clip.shown.chars for clip in clips.values()) <= 20_000
    assert sum(thirds(clip.text) for clip in clips.values()) <= max(left, 3 * SMALLEST["tokens"])


@every_profile
@pytest.mark.parametrize("tokens", [3_000, 700])
def test_law_1_a_budget_pays_for_the_words_of_a_profile_too(name, tokens):
    clipper = (
        profiles.find_profile(name).clipper(store=MemoryStore()).but(Limits(tokens=tokens), budget=Budget(100_000))
    )
    clip = clipper.clip("".join(f"{number} compiled src/module_{number}.c\n" for number in range(9_000)))
    assert clip.outcome == "stored"
    assert tokens // 2 < clipper.settings.count(clip.text) <= tokens
