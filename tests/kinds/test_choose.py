"""What is chosen fits its room, fills small holes, and names each kind before more of the same."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spillover.kinds import pack
from spillover.kinds.log.choose import HOLE, choose_ends, choose_lines, max_width
from spillover.kinds.log.classes import NAMES
from spillover.kinds.log.lines import Lines, inside_runs


def lines_of(costs, template=None, family=None, exact=None, subject=None):
    """Lines of these costs, all different unless told otherwise."""
    count = len(costs)
    numbers = np.arange(count)
    return Lines(
        first=numbers * 10,
        last=numbers * 10 + 10,
        tokens=np.array(costs, dtype=float),
        classes=np.zeros((count, len(NAMES)), dtype=bool),
        template=np.array(template if template is not None else numbers, dtype=np.uint64),
        prefix=numbers,
        exact=np.array(exact if exact is not None else numbers),
        subject=np.array(subject if subject is not None else numbers, dtype=np.uint64),
        indent=np.zeros(count, dtype=np.int64),
        width=np.full(count, 9),
        number=numbers + 1,
        family=np.array(family if family is not None else np.zeros(count), dtype=np.int64),
    )


@given(st.lists(st.tuples(st.integers(1, 400), st.floats(-5, 5)), min_size=1, max_size=60), st.integers(1, 3_000))
def test_what_is_chosen_fits_its_room_whether_something_failed_or_not(rows, room):
    costs = np.array([cost for cost, _ in rows], dtype=float)
    lines, points = lines_of(costs), np.array([point for _, point in rows])
    cut = np.minimum(costs, max_width(room))
    for keep in (choose_lines(lines, points, room), choose_ends(lines, [np.arange(len(rows))[:3]], 0.2, room)):
        assert pack.price(keep, cut) <= room
        assert keep.all() or cut.sum() > room


@given(st.lists(st.booleans(), min_size=1, max_size=40), st.data())
def test_a_line_more_never_costs_less(keep, data):
    """The packer tells by halving how many lines of an order fit."""
    keep = np.array(keep)
    cost = np.array(data.draw(st.lists(st.integers(1, 40), min_size=len(keep), max_size=len(keep))), dtype=float)
    more = keep.copy()
    more[data.draw(st.integers(0, len(keep) - 1))] = True
    price = [pack.price(pack.fill_holes(some, cost, HOLE * pack.MARKER), cost) for some in (keep, more)]
    assert price[0] <= price[1]


def test_a_strong_line_is_shown_with_what_is_around_it_and_so_is_how_it_ended():
    points = np.full(200, -1.0)
    points[100] = 4.0
    kept = np.flatnonzero(choose_lines(lines_of([10] * 200), points, 300))
    assert {99, 100, 101, 199} <= set(kept.tolist())


def test_a_hole_that_costs_less_than_two_markers_is_filled():
    points = np.full(60, -4.0)
    points[[20, 22]] = 5.0
    assert choose_lines(lines_of([16] * 60), points, 120)[20:23].all()


def test_the_middle_of_a_run_of_equal_lines_or_blocks_stays_hidden_although_there_is_room():
    assert np.flatnonzero(~inside_runs(np.array([0] * 10 + [1, 2, 3] * 10))).tolist() == [0, 9, 10, 11, 12, 37, 38, 39]
    keep = choose_lines(lines_of([10] * 60, exact=[0] * 60), np.zeros(60), 5_000)
    assert np.flatnonzero(keep).tolist() == [0, 59]


def test_failures_of_one_family_leave_the_room_to_what_explains_them():
    points = np.zeros(300)
    points[100:300] = 5.0
    points[40] = 2.5
    family = np.zeros(300)
    family[100:300] = 7
    keep = choose_lines(lines_of([10] * 300, family=family), points, 900)
    assert keep[40]
    assert keep[100]


def test_the_first_line_of_what_a_command_printed_is_shown():
    lines, points = lines_of([10] * 400), np.arange(400) / 100
    assert choose_lines(lines, points, 1_000, opening=True)[0]
    assert not choose_lines(lines, points, 1_000)[0]


def test_what_leads_comes_before_all_others_and_leaves_them_the_rest():
    points, first = np.full(100, 2.0), np.zeros(100, dtype=bool)
    points[60:70], first[60:70] = -3.0, True
    keep = choose_lines(lines_of([10] * 100), points, 200, first=first)
    assert keep[60:70].all()
    assert keep.sum() > 12


def test_where_nothing_failed_one_line_of_each_subject_is_shown_if_all_fit():
    subject = np.repeat(np.arange(1, 11), 20)
    keep = choose_ends(lines_of([10] * 200, subject=subject), [], 0.2, 400)
    assert keep[::20].all()
    assert keep[-1]
