"""Evaluating trees quickly changes no bit of what they say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover.select.trees import STRETCH, Forest, _walk

BOUNDS = st.sampled_from([0.0, 0.5, 1.5, 2.0, 7.25])
LEAVES = st.floats(-4, 4, allow_nan=False)


def trees(depth):
    if not depth:
        return LEAVES
    inner = st.tuples(st.sampled_from("abc"), BOUNDS, trees(depth - 1), trees(depth - 1)).map(list)
    return st.one_of(LEAVES, inner)


def columns(count):
    rng = np.random.default_rng(3)
    return {name: rng.integers(-1, 9, count).astype(np.float32) for name in "abc"}


def walked(forest, given):
    total = np.zeros(len(given["a"]))
    for tree in forest:
        total += _walk(tree, given)
    return total


@settings(max_examples=150)
@given(st.lists(trees(4), max_size=6))
def test_every_forest_says_what_walking_its_trees_says(forest):
    some = columns(60)
    assert Forest(forest).add_up(some).tolist() == walked(forest, some).tolist()


@pytest.mark.parametrize("count", [1, STRETCH - 1, STRETCH, STRETCH + 1, 3 * STRETCH])
def test_lines_are_taken_some_at_a_time_and_none_is_left_out(count):
    forest = [["a", 2.0, -1.0, ["b", 0.5, ["c", 7.25, 0.25, 1.0], 3.0]], 0.125]
    some = columns(count)
    assert Forest(forest).add_up(some).tolist() == walked(forest, some).tolist()


def test_a_tree_with_more_leaves_than_bits_in_a_byte_is_walked():
    tree = -1.0
    for bound in range(12):
        tree = ["a", float(bound), float(bound) / 8, tree]
    some = columns(100)
    assert Forest([tree]).add_up(some).tolist() == walked([tree], some).tolist()
