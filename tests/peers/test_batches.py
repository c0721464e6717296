"""The results of one turn, from published cases: small ones stay whole, large ones share the rest, deterministically."""

import pytest

from spillover import Limits
from support import fair

WATER = [
    # qwen tool-response-finalizer: budget, sizes → what each gets
    ("all fit", 200, [50, 60, 70], [50, 60, 70]),
    ("exactly", 200, [50, 150], [50, 150]),
    ("one is large", 200, [10, 20, 900], [10, 20, 170]),
    ("two are large", 200, [20, 900, 900], [20, 90, 90]),
    ("all are large", 200, [900, 900, 900, 900], [50, 50, 50, 50]),
    ("a remainder", 200, [900, 900, 900], [66, 67, 67]),
    ("nothing to give", 0, [5, 5], [0, 0]),
    ("nothing wanted", 200, [0, 0, 900], [0, 0, 200]),
    ("just above the share", 200, [99, 101, 102], [66, 67, 67]),
]


@pytest.mark.parametrize(("case", "budget", "sizes", "given"), WATER, ids=[case for case, *_ in WATER])
def test_water_fills_the_small_ones_first(case, budget, sizes, given):
    assert fair(budget, sizes, [1] * len(sizes)) == given


TURNS = [
    # source, budget in bytes, sizes of the results, which of them stay whole
    ("qwen: five legal calls are too much together", 5_000, [1_500] * 5, [False] * 5),
    ("qwen: only the large ones shrink", 5_000, [100, 200, 9_000], [True, True, False]),
    ("stella#1116: four parallel calls at the limit", 4_000, [4_000] * 4, [False] * 4),
    ("one call is as if alone", 4_000, [4_000], [True]),
    ("all fit exactly", 4_000, [1_000] * 4, [True] * 4),
    ("one byte too many", 4_000, [1_000, 1_000, 1_000, 1_001], [True, True, True, False]),
    ("an empty one costs nothing", 2_000, [0, 2_000], [True, True]),
]


@pytest.mark.parametrize(("source", "budget", "sizes", "whole"), TURNS, ids=[row[0] for row in TURNS])
def test_a_turn_has_one_budget(clipping, source, budget, sizes, whole):
    outputs = {f"call {number}": f"{number}" * size for number, size in enumerate(sizes)}
    clips = clipping(Limits(bytes=budget)).clip_many(outputs)
    assert list(clips) == list(outputs), "in order"
    assert [clip.outcome == "whole" for clip in clips.values()] == whole
    assert sum(len(clip.text) for clip in clips.values()) <= budget
    assert clipping(Limits(bytes=budget)).clip_many(outputs) == clips, "the same every time"


def test_the_same_call_id_twice_does_not_mix_two_outputs(clipping, store):
    """qwen gives duplicate call ids distinct files; our names depend on the content, so nothing can collide."""
    clipper = clipping(Limits(bytes=500))
    first = clipper.clip("a" * 5_000, call_id="call-1")
    second = clipper.clip("b" * 5_000, call_id="call-1")
    assert first.ref != second.ref
    assert len(list(store.list())) == 2


def test_the_same_output_twice_is_stored_once(clipping, store):
    """OpenHands: the same content gives the same file."""
    clipper = clipping(Limits(bytes=500))
    clips = clipper.clip_many({"a": "x" * 5_000, "b": "x" * 5_000})
    assert clips["a"].ref == clips["b"].ref
    assert len(list(store.list())) == 1
