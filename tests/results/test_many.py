"""The results of a turn share one budget, and each has the name and the rules of its tool."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover.api import Clipper
from spillover.errors import UsageError
from spillover.settings.limits import Limits, count_lines
from spillover.store.memory import MemoryStore
from spillover.testing import content
from spillover.tokens import estimate

LINES = "".join(f"line {number}\n" for number in range(1, 1_001))
LOUD = "".join(f"line {number} of a tool that says too much\n" for number in range(4_000))


def test_small_results_stay_whole_and_large_ones_share_the_rest(clipper):
    clips = clipper.clip_many({"a": "tiny", "b": LINES, "c": LINES + "more", "d": "small\n"})
    assert list(clips) == ["a", "b", "c", "d"]
    assert (clips["a"].text, clips["d"].text) == ("tiny", "small\n")
    assert clips["b"].outcome == clips["c"].outcome == "stored"
    assert len(clips["b"].text) == pytest.approx(len(clips["c"].text), abs=20)
    assert sum(len(clip.text) for clip in clips.values()) <= 1_000


def test_one_result_has_the_whole_budget(clipper):
    assert clipper.clip_many({"only": LINES})["only"].text == clipper.clip(LINES).text
    assert clipper.clip_many({}) == {}


def test_too_many_for_too_little_are_kept_and_named_even_where_no_word_fits(clipper, store):
    clips = clipper.clip_many({number: LINES + str(number) for number in range(50)})
    assert sum(len(clip.text) for clip in clips.values()) <= 1_000
    assert all(content(store, clip.ref).decode() == LINES + str(key) for key, clip in clips.items())


@settings(max_examples=100)
@given(st.lists(st.integers(0, 3_000), max_size=8))
def test_together_they_fit_whatever_their_sizes_are(sizes):
    clipper = Clipper(Limits(bytes=1_500, lines=60), store=MemoryStore())
    outputs = {number: ("x" * 9 + "\n") * (size // 10) for number, size in enumerate(sizes)}
    clips = clipper.clip_many(outputs)
    assert sum(len(clip.text.encode()) for clip in clips.values()) <= 1_500
    assert sum(count_lines(clip.text) for clip in clips.values()) <= 60
    if sum(map(len, outputs.values())) <= 600:
        assert all(clip.outcome == "whole" for clip in clips.values())


def test_a_result_with_folded_frames_takes_its_notice_from_its_own_share():
    """It counted as whole, and its notice came on top of the limits that all of them share."""
    clipper = Clipper(Limits(chars=900), store=MemoryStore())
    bar = "".join(f"\rfetching {n}%" for n in range(0, 101, 5)) + "\n"
    clips = clipper.clip_many({"a": bar, "b": "x" * 500 + "\n", "c": bar})
    assert sum(len(clip.text) for clip in clips.values()) <= 900
    assert "left out" in clips["a"].text


def test_the_outputs_of_a_turn_have_the_names_of_their_tools():
    clipper = Clipper(Limits(tokens=900), store=MemoryStore(), rules={"web": {"keep": "head", "tokens": 200}})
    clips = clipper.clip_many({1: LOUD, 2: LOUD + "x", 3: "ok"}, tools={1: "bash", 2: "web"})
    assert [clip.ref and clip.ref.partition("-")[0] for clip in clips.values()] == ["bash", "web", None]
    assert sum(estimate(clip.text) for clip in clips.values()) <= 900
    assert estimate(clips[2].text) <= 200
    assert clips[2].ranges[-1][1] < 100, "the rule for its tool holds"


def test_one_name_may_stand_for_all():
    clips = Clipper(Limits(tokens=900), store=MemoryStore()).clip_many({"a": LOUD, "b": LOUD + "x"}, tools="bash")
    assert {clip.ref.partition("-")[0] for clip in clips.values()} == {"bash"}


def test_a_name_without_an_output_is_a_mistake():
    with pytest.raises(UsageError, match="tools names 'c', and there is no such output"):
        Clipper(store=MemoryStore()).clip_many({"a": LOUD}, tools={"c": "bash"})


@pytest.mark.parametrize(("count", "most"), [(10, 10), (11, 10), (40, 10)])
def test_where_not_all_have_room_for_a_notice_as_many_as_fit_have_one(count, most):
    """With one output too many, all of them were empty."""
    clipper = Clipper(Limits(tokens=1_000), store=MemoryStore())
    clips = clipper.clip_many({number: f"{number}\n" + LINES for number in range(count)})
    assert sum("Output clipped" in clip.text for clip in clips.values()) == most
    assert sum(clipper.settings.count(clip.text) for clip in clips.values() if clip.text) <= 1_000
    assert all(clip.outcome == "stored" and clip.ref for clip in clips.values())


def test_small_results_stay_whole_before_a_large_one_is_told():
    clipper = Clipper(Limits(tokens=1_000), store=MemoryStore())
    clips = clipper.clip_many({"large": LINES} | {number: f"short answer {number}\n" for number in range(300)})
    assert sum(clip.outcome == "whole" for clip in clips.values()) > 150
    assert sum(clipper.settings.count(clip.text) for clip in clips.values() if clip.text) <= 1_000
