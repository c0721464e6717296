"""Points: one number for each feature, and classes, features and weights all named in one place."""

import numpy as np
import pytest

from spillover.kinds.log.classes import CLASSES, EVIDENCE, NAMES, REASONS
from spillover.kinds.log.lines import read_lines
from spillover.kinds.log.score import Weights, columns, score_lines, shipped


@pytest.fixture
def lines(document):
    data = b"compiling\n\nsrc/main.c:3:5: error: no such name\nexited with code 1\n"
    return read_lines(document(data), [(0, len(data))])


def test_every_feature_has_its_points_and_no_others_have(lines):
    assert sorted(shipped().points) == sorted(columns(lines))


def test_every_class_is_a_feature(lines):
    assert tuple(columns(lines))[: len(NAMES)] == NAMES


def test_the_file_is_sorted_by_points_so_that_it_can_be_read():
    points = [*shipped().points.values()]
    assert points == sorted(points, reverse=True)


def test_every_kind_of_evidence_is_a_reason():
    assert set(EVIDENCE) <= set(REASONS)
    assert all(CLASSES[name].why for name in EVIDENCE)


def test_points_are_added_up():
    weights = Weights(0.5, {"wide": 2.0, "blank": -1.0})
    assert weights.score({"wide": np.array([1.0, 3.0]), "blank": np.array([True, False])}).tolist() == [1.5, 6.5]


def test_what_is_likelier_has_more_points_and_worth_names_a_place_between():
    curve = shipped().curve
    assert [*curve] == sorted(curve)
    assert shipped().least(0.05) < shipped().least(0.2)


def test_an_error_has_more_points_than_what_is_around_it(lines):
    assert score_lines(lines).argmax() in (2, 3)


def test_no_lines_have_no_points(document):
    lines = read_lines(document(b"x\n"), [(0, 2)])
    nothing = type(lines)(*(np.asarray(getattr(lines, name))[:0] for name in lines.__slots__))
    assert len(score_lines(nothing)) == 0
