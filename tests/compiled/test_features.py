import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twins import same

from spillover.select import features
from spillover.select.arrays import count_alike, sort_down

pytestmark = pytest.mark.usefixtures("loops")


seeds = st.integers(0, 1 << 32).map(np.random.default_rng)
sizes = st.integers(1, 300)


@given(seeds, sizes, st.sampled_from([1, 5, 1 << 15, 1 << 62]), st.sampled_from(["u2", "u4", "i8"]))
@settings(max_examples=200, deadline=None)
def test_values_that_recur_are_counted(rng, size, most, kind):
    values = rng.integers(0, min(most, 1 << 8 * int(kind[1]) - 2), size).astype(kind)
    if kind == "i8":
        values = np.where(rng.random(size) < 0.3, -1 - values, values)
    assert same(count_alike, values)


def test_values_made_to_fall_into_one_place_are_counted_as_quickly():
    """By how often the table is asked: with a key, no values that one can choose fall into one place."""
    back = pow(0x9E3779B97F4A7C15, -1, 1 << 64)
    hostile = np.array([(n << 32 | n) * back % (1 << 64) for n in range(200_000)], dtype=np.uint64)
    counts, index = count_alike(hostile)  # without a key, this takes a quarter of a minute
    assert (counts.max(), index.max()) == (1, 0)


@given(seeds, sizes, st.sampled_from([0, 1, 3, 17]))
@settings(max_examples=200, deadline=None)
def test_numbers_are_sorted_the_largest_first_and_equal_ones_stay(rng, size, digits):
    values = rng.normal(0, 10, size).round(digits)
    values[rng.random(size) < 0.05] = -np.inf
    values[rng.random(size) < 0.05] = -0.0
    values[rng.random(size) < 0.05] = 0.0
    values[rng.random(size) < 0.02] = 5e-324
    assert same(sort_down, values)


@given(seeds, sizes)
@settings(max_examples=200, deadline=None)
def test_what_stands_around_a_line_is_the_same(rng, size):
    points = rng.normal(-2, 3, size)
    some, others = rng.random(size) < 0.2, rng.random(size) < 0.9
    assert same(features._means, points)
    assert same(features._shares, {"some": some, "others": others, "none": some & False})
    assert same(features._stretches, points, some)
    assert same(features._stretches, points, some & others)


@given(seeds, sizes, st.sampled_from([1, 3, 20]))
@settings(max_examples=200, deadline=None)
def test_the_line_that_another_is_indented_under_is_the_same(rng, size, deepest):
    indent, blank = rng.integers(0, deepest, size), rng.random(size) < 0.2
    assert same(features.parents, indent, blank)
    assert same(features.parents, indent, blank & False)
    assert same(features.parents, indent, blank | True)


def test_every_feature_of_real_looking_lines_is_the_same():
    from scripts.samples import failing_build

    from spillover.select.lines import _measure
    from spillover.select.score import score

    view = failing_build(40_000)
    ends = np.flatnonzero(np.frombuffer(view, dtype=np.uint8) == 10) + 1
    lines = _measure(view, np.concatenate(([0], ends[:-1])), ends, np.arange(len(ends)))
    assert same(score, lines)


def test_wrong_arrays_are_refused_and_nothing_is_read(loops):
    eight, four, one, whole = np.zeros(3), np.zeros(3, np.float32), np.zeros(3, bool), np.zeros(3, np.int64)
    longer = {8: np.zeros(4), 4: np.zeros(4, np.float32), 1: np.zeros(4, bool)}
    calls = (
        (loops.count_alike, (whole, whole.copy(), whole.copy())),
        (loops.sort_down, (eight, whole)),
        (loops.mean_around, (eight, 2, eight.copy())),
        (loops.share_around, (one, 2, four)),
        (loops.stretches, (eight, one, eight.copy(), whole, whole.copy())),
        (loops.find_parents, (whole, one, 16, whole.copy())),
    )
    for call, good in calls:
        assert call(*good) is None
        with pytest.raises(TypeError):
            call(*good, None)
        for place, each in enumerate(good):
            wrong = -1 if isinstance(each, int) else longer[each.dtype.itemsize]
            with pytest.raises((TypeError, ValueError)):
                call(*good[:place], wrong, *good[place + 1 :])
            with pytest.raises((TypeError, ValueError, BufferError)):
                call(*good[:place], "text", *good[place + 1 :])
        for place, each in enumerate(good):  # as wide as it should be, and something else
            if not isinstance(each, int) and each.dtype != bool:
                other = np.zeros(len(each), object if each.dtype.itemsize == 8 else "S4")
                with pytest.raises(TypeError):
                    call(*good[:place], other, *good[place + 1 :])
    with pytest.raises(TypeError):
        loops.count_alike(one, whole, whole.copy())
    with pytest.raises(TypeError):
        loops.sort_down(np.zeros(3, ">f8"), whole)


def test_arrays_that_share_memory_are_refused(loops):
    memory = np.zeros(40, np.int64)
    with pytest.raises(ValueError, match="shares memory"):
        loops.count_alike(memory[:30], memory[5:35], np.zeros(30, np.int64))
    with pytest.raises(ValueError, match="shares memory"):
        loops.mean_around(memory.view(float), 2, memory.view(float))
    assert loops.mean_around(memory[:20].view(float), 2, memory[20:].view(float)) is None


def test_arrays_that_are_not_aligned_are_refused(loops):
    odd = np.zeros(33, np.uint8)[1:].view(np.float64)
    with pytest.raises(TypeError):
        loops.mean_around(odd, 2, np.zeros(4))
