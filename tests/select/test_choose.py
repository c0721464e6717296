"""What is chosen fits its room, fills holes, and folds runs only where that pays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from spillover.select.choose import candidates, choose, widest
from spillover.select.classes import NAMES
from spillover.select.fold import runs
from spillover.select.lines import Lines
from spillover.select.take import HOLE, MARKER


def made(costs, points=None, template=None, family=None, **classes):
    """Lines of these costs, all different unless told otherwise."""
    count = len(costs)
    table = np.zeros((count, len(NAMES)), dtype=bool)
    for name, those in classes.items():
        table[list(those), NAMES.index(name.replace("_", " "))] = True
    numbers = np.arange(count)
    lines = Lines(
        first=numbers * 10, last=numbers * 10 + 10, tokens=np.array(costs, dtype=float), classes=table,
        template=np.array(template if template is not None else numbers), prefix=numbers, exact=numbers, subject=numbers,
        indent=np.zeros(count, dtype=np.int64), width=np.full(count, 9), number=numbers + 1,
        family=np.array(family if family is not None else np.zeros(count), dtype=np.int64),
    )  # fmt: skip
    points = np.array(points if points is not None else np.zeros(count), dtype=float)
    return lines, points


def price(keep, costs, room):
    gaps = int((keep[:-1] & ~keep[1:]).sum()) + int(not keep[0])
    return np.minimum(costs, widest(room))[keep].sum() + MARKER * gaps


@given(
    st.lists(st.tuples(st.integers(1, 400), st.floats(-5, 5)), min_size=1, max_size=60),
    st.integers(1, 3_000),
)
def test_what_is_chosen_fits_its_room(rows, room):
    costs, points = np.array([cost for cost, _ in rows], dtype=float), [point for _, point in rows]
    lines, points = made(costs, points)
    keep = choose(candidates(lines, points, points), room)
    assert not keep.any() or price(keep, costs, room) <= room
    if room >= sum(min(cost, widest(room)) for cost in costs):
        assert keep.all()


def test_a_strong_line_is_shown_with_what_is_around_it():
    points = np.full(200, -1.0)
    points[100] = 4.0
    lines, points = made([10] * 200, points)
    kept = np.flatnonzero(choose(candidates(lines, points, points), 300))
    assert {99, 100, 101} <= set(kept.tolist())
    assert kept[-1] == 199  # and how it ended


def test_the_last_line_that_says_how_it_ended_is_pinned():
    lines, points = made([10] * 300, exit=[40, 120])
    assert choose(candidates(lines, points, points), 100)[120]


@pytest.mark.parametrize("count", [1, 3, 4])
def test_evidence_of_a_kind_that_few_lines_have_is_kept_whatever_its_points(count):
    points = np.linspace(1, 2, 400)
    points[50 : 50 + count * 20 : 20] = -3.0
    lines, points = made([10] * 400, points, error_says=range(50, 50 + count * 20, 20))
    keep = choose(candidates(lines, points, points), 1_000)
    assert keep[50 : 50 + count * 20 : 20].all()


def test_a_hole_that_costs_less_than_a_marker_is_filled():
    points = np.full(60, -4.0)
    points[[20, 22]] = 5.0
    lines, points = made([HOLE - 2] * 60, points)
    keep = choose(candidates(lines, points, points), 120)
    assert keep[20:23].all()


def test_the_middle_of_a_run_is_folded_when_it_would_take_much_of_the_room():
    template = [0] * 10 + [1] * 50 + [2] * 10
    inside = [*range(1, 9), *range(11, 59), *range(61, 69)]
    assert np.flatnonzero(runs(made([10] * 70, template=template)[0])).tolist() == inside
    lines, points = made([10] * 70, [0] * 10 + [3] * 50 + [0] * 10, template)
    small, large = (choose(candidates(lines, points, points), room) for room in (250, 4_000))
    assert small[10]
    assert small[59]
    assert not small[20:50].any()
    assert large.all()


def test_runs_of_blocks_are_runs_too():
    lines, _ = made([10] * 60, template=[number % 3 for number in range(60)])
    assert (runs(lines)[3:57] > 0).all()
    assert runs(lines)[:3].tolist() == [0, 0, 0]
    assert runs(lines)[57:].tolist() == [0, 0, 0]


def test_frames_of_a_stack_that_differ_in_the_number_of_a_line_are_no_run():
    """Of a recursion of scan (184), scan (149), visit (676), visit (677), two of the four places were folded away."""
    count = range(60)
    frames, _ = made([10] * 60, template=[0] * 60, frame=count, place=count)
    assert not runs(frames).any()
    steps, _ = made([10] * 60, template=[0] * 60, frame=count)  # `#12 copying`, which only looks like a frame
    warnings, _ = made([10] * 60, template=[0] * 60, frame=count, place=count, warning=count)
    assert (runs(steps)[1:59] > 0).all()
    assert (runs(warnings)[1:59] > 0).all()


def test_frames_that_begin_like_a_verdict_do_not_take_the_room_of_the_block_around_one():
    """A logger writes `ERROR pool: at f (pool.go:7)` for each frame; these were taken for as many verdicts to name."""
    points = np.full(400, -1.0)
    frames = range(10, 290, 14)
    points[list(frames)] = 2.0
    points[300], points[301:310] = 4.0, 1.5
    said, seen = (made([10] * 400, points, verdict=frames, frame=some)[0] for some in ((), frames))
    many, few = (choose(candidates(lines, points, points), 250) for lines in (said, seen))
    assert many[list(frames)].sum() > 2 * few[list(frames)].sum()
    assert few[300:310].all()
    assert not many[300:310].all()


def test_the_line_that_a_strong_one_is_indented_under_is_shown():
    """A linter names a file once, above all that it found in it."""
    points = np.full(300, -2.0)
    points[150] = 4.0
    lines, _ = made([10] * 300, points)
    indent = np.full(300, 2)
    indent[[100, 200]] = 0
    keep = choose(candidates(replace(lines, indent=indent), points, points), 500)
    assert (keep[100], keep[99], keep[101]) == (True, False, False)


def test_every_family_of_failures_is_named_before_a_block_gets_the_room():
    points = np.full(400, -3.0)
    points[10:60] = 4.0  # a block that would take all of it
    family = np.zeros(400, dtype=np.int64)
    family[[200, 210, 220]], family[[300]] = 7, 8
    lines, points = made([12] * 400, points, family=family, error_says=[200, 210, 220, 300])
    keep = choose(candidates(lines, points, points), 600)
    assert keep[[200, 210, 220]].any()
    assert keep[300]


def test_of_a_large_family_the_first_member_is_shown_with_what_stands_above_it():
    points = np.zeros(600)
    family = np.zeros(600, dtype=np.int64)
    family[50::20] = 7
    lines, points = made([10] * 600, points, family=family, error_says=range(50, 600, 20))
    keep = choose(candidates(lines, points, points), 900)
    assert keep[44:54].all()


def test_lines_that_differ_in_numbers_only_wait_when_they_are_very_many():
    points = np.full(300, -1.0)
    points[0:200:2] = 3.0
    template = np.arange(300)
    template[0:200:2] = 1_000
    lines, points = made([10] * 300, points, template=template)
    keep = choose(candidates(lines, points, points), 900)
    assert keep[0:200:2].sum() < 40


def test_the_first_line_of_what_a_command_printed_is_shown():
    lines, points = made([10] * 400, points=np.arange(400) / 100)
    assert choose(candidates(lines, points, points, of_command=True), 1_000)[0]
    assert not choose(candidates(lines, points, points), 1_000)[0]


def test_rare_lines_take_no_more_of_a_large_room_than_of_a_usual_one():
    lines, points = made([10] * 4_000, points=np.where(np.arange(4_000) < 3_000, -3.0, 3.0))
    rare = (np.arange(0, 3_000, 30) * 10).tolist()
    kept = [int(choose(candidates(lines, points, points, rare), room)[:3_000].sum()) for room in (2_000, 8_000)]
    assert 0 < kept[1] <= kept[0] + 4
