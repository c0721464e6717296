"""Points: what the trees say, and that they, the classes and the features are all named in one place."""

import json
from pathlib import Path

import numpy as np
import pytest

from spillover.select.classes import CLASSES, EVIDENCE, NAMES, REASONS
from spillover.select.features import in_context, own
from spillover.select.lines import lines_of
from spillover.select.score import WEIGHTS, add_up, score

TABLES = json.loads(Path(WEIGHTS).read_text())


def splits(tree):
    """Every feature a tree asks about."""
    if isinstance(tree, list):
        yield tree[0]
        yield from splits(tree[2])
        yield from splits(tree[3])


@pytest.fixture
def lines(document):
    data = b"compiling\n\nsrc/main.c:3:5: error: no such name\nexited with code 1\n"
    return lines_of(document(data), [(0, len(data))])


def test_the_trees_ask_only_for_features_that_there_are(lines):
    alone = own(lines)
    both = in_context(lines, alone, np.zeros(len(lines)))
    assert {name for tree in TABLES["own"] for name in splits(tree)} <= set(alone)
    assert {name for tree in TABLES["context"] for name in splits(tree)} <= set(both)


def test_every_class_is_a_feature_and_a_class_and_a_feature_never_share_a_name(lines):
    assert tuple(own(lines))[: len(NAMES)] == NAMES
    assert len(own(lines)) > len(NAMES)
    assert not set(NAMES) & (set(in_context(lines, own(lines), np.zeros(len(lines)))) - set(own(lines)))


def test_reasons_begin_with_the_evidence_so_that_the_strongest_is_named():
    assert tuple(REASONS)[: len(EVIDENCE)] == EVIDENCE
    assert all(CLASSES[name].why for name in EVIDENCE)


def test_a_tree_is_a_number_or_a_question():
    columns = {"width": np.array([1.0, 5.0])}
    assert add_up([["width", 3.0, -1.0, ["width", 5.0, 2.0, 9.0]], 0.5], columns).tolist() == [-0.5, 2.5]


def test_an_error_has_more_points_than_what_is_around_it(lines):
    alone, both = score(lines)
    assert alone.argmax() in (2, 3)
    assert both.argmax() in (2, 3)


def test_no_lines_have_no_points(document):
    lines = lines_of(document(b"x\n"), [(0, 2)])
    nothing = type(lines)(*(np.asarray(getattr(lines, name))[:0] for name in lines.__slots__))
    assert [len(each) for each in score(nothing)] == [0, 0]
