"""The laws for an output that is told against an earlier one: any two outputs, any choices, every kind, every failing store."""

import time
from functools import cache

import pytest
from hypothesis import given, settings
from law_faults import Faulty, failures
from law_given import choices, cuts, law, outputs
from law_kinds import kinds

from spillover import Clipper, DirStore, Limits, MemoryStore
from spillover.testing import chunked, content
from support import RunRecord, ToolClipper

TINY = Limits(bytes=400)
#: Each example stores two outputs and compares them twice.
few = settings(law, max_examples=25)
kinds_of = cache(kinds)  # all of them are made at once


def keep(store, data):
    """Store an output and return its ref; a short one is made longer, so that it is stored."""
    return Clipper(TINY, store=store).clip(data + b"\nanother line\n" * 60).ref


def fits(clipper, text):
    return clipper.settings.limits.fill(text, clipper.settings.count) <= 1


@few
@given(chosen=choices, data=outputs, before=outputs, cuts=cuts)
def test_it_fits_it_is_kept_and_chunks_make_no_difference(chosen, data, before, cuts):
    texts = set()
    for source in (data, chunked(data, cuts)):
        store = MemoryStore()
        clipper = ToolClipper(**chosen, store=store)
        clip = clipper.clip(source, since=keep(store, before))
        assert fits(clipper, clip.text) or (clipper.settings.trigger is not None and clip.outcome == "whole")
        assert clip.total.bytes == len(data)
        shown = [line for first, last in clip.ranges for line in range(first, last + 1)]
        hidden = [line for first, last in clip.hidden for line in range(first, last + 1)]
        assert sorted(shown + hidden) == [*range(1, clip.total.lines + 1)]
        if clip.outcome == "stored":
            assert content(store, clip.ref) == data
        texts.add(clip.text)
    assert len(texts) == 1


@pytest.mark.parametrize("since", ["last", "good"])
def test_the_age_of_the_earlier_run_is_no_clock_in_the_text(since):
    """ "(exit code 0, 12 minutes ago)" changed from call to call, and no prompt cache stayed valid."""
    texts = set()
    for age in (0, 61, 7_200, 900_000):
        store = MemoryStore()
        ref = keep(store, b"a line\n")
        clipper = Clipper(Limits(tokens=400), store=store)
        run = {"tool": "again", "created": time.time() - age, "exit_code": 0, "outcome": "stored", "ref": ref}
        store.remember(RunRecord(scope=clipper.settings.outputs.scope, bytes=0, lines=0, **run))
        text = clipper.clip(b"another line\n" * 1_000, tool="again", since=since).text
        assert f"ince {ref}" in text
        texts.add(text)
    assert len(texts) == 1


@few
@given(chosen=choices, data=outputs, before=outputs)
def test_a_diff_of_any_two_outputs_fits_and_is_the_same_again(chosen, data, before):
    store = MemoryStore()
    clipper = ToolClipper(**chosen, store=store)
    old, new = keep(store, before), keep(store, data)
    answer = clipper.diff(new, since=old)
    assert fits(clipper.call().for_retrieval(), answer.text)
    assert clipper.diff(new, since=old).text == answer.text
    assert ": unchanged since" in clipper.diff(new, since=new).text or "\n" not in answer.text.strip()


@pytest.mark.parametrize("kind", kinds_of(1_000))
def test_every_kind_is_told_against_another_of_its_kind_and_survives_a_failing_store(tmp_path, kind):
    earlier, later = kinds_of(30_000)[kind], kinds_of(70_000)[kind]
    made = [
        failing
        for make, _ in failures(tmp_path / "store", number_of(kind)).values()
        if isinstance(failing := make(), Faulty)
    ]
    for failing in made[number_of(kind) % 5 :: 5]:  # they take turns
        store = MemoryStore()
        ref = keep(store, earlier)
        failing.get, failing.open, failing.list = store.get, store.open, store.list
        clipper = Clipper(Limits(tokens=400), store=failing)
        clip = clipper.clip(later, since=ref)
        assert fits(clipper, clip.text)
        assert clip.total.bytes == len(later)


def number_of(kind):
    return [*kinds_of(1_000)].index(kind)


@pytest.mark.parametrize("damage", ["record", "bytes", "both"])
def test_an_earlier_output_that_is_damaged_fails_no_call(tmp_path, damage):
    clipper = Clipper(Limits(tokens=400), store=DirStore(tmp_path))
    first = clipper.clip(b"a line of words\n" * 900)
    files = list(tmp_path.rglob(f"{first.ref}*"))
    for path in files:
        if damage == "both" or (damage == "record") == path.name.endswith(".json"):
            path.write_bytes(path.read_bytes()[:-7])
    clip = clipper.clip(b"a line of words\n" * 900 + b"one more\n" * 900, since=first.ref)
    assert clip.outcome == "stored"
    assert fits(clipper, clip.text)
    assert f"Not compared with {first.ref}" in clip.text


def test_every_wrong_since_is_a_sentence_in_a_clip_that_fits():
    for since in ("gone-0123456789abcdef", "last", "good", "\0", "a/b.txt", "\ud800", "[Output clipped: " * 99):
        clipper = Clipper(Limits(tokens=300), store=MemoryStore(), since=since)
        clip = clipper.clip(b"a line of words\n" * 900)
        assert clip.outcome == "stored"
        assert fits(clipper, clip.text)
        assert "Not compared with" in clip.text
