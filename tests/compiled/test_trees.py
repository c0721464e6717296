import json

import numpy as np
import pytest
from twins import without

from spillover.select.score import WEIGHTS
from spillover.select.trees import Forest


def columns_of(names, lines, rng):
    """A column for each feature: numbers on both sides of the bounds, and classes."""
    return {
        name: rng.random(lines) < 0.3 if number % 3 else rng.normal(1, 3, lines).round(1).astype(np.float32)
        for number, name in enumerate(names)
    }


def features_of(tree):
    return set() if isinstance(tree, float) else {tree[0]} | features_of(tree[2]) | features_of(tree[3])


@pytest.mark.parametrize("lines", [1, 7, 255, 256, 257, 5_000])
@pytest.mark.parametrize("table", ["own", "context"])
def test_the_shipped_trees_say_the_same_to_the_last_bit(loops, table, lines):
    with open(WEIGHTS, encoding="utf-8") as file:
        trees = json.load(file)[table]
    names = sorted(set().union(*map(features_of, trees)))
    columns = columns_of(names, lines, np.random.default_rng(lines))
    compiled, python = Forest(trees).add_up(columns), without(Forest(trees).add_up, columns)
    assert compiled.tobytes() == python.tobytes()


def test_not_a_number_is_above_every_bound(loops):
    trees = [["x", 0.5, 1.0, ["x", 2.0, 3.0, 5.0]]]
    columns = {"x": np.array([np.nan, 0.5, 0.6, 2.0, 2.5, np.inf, -np.inf], dtype=np.float32)}
    assert Forest(trees).add_up(columns).tolist() == without(Forest(trees).add_up, columns).tolist()


def test_wrong_arrays_are_refused_and_nothing_is_read(loops):
    total, values = np.zeros(3), np.zeros((1, 256))
    column, bounds = np.zeros(3, np.float32), np.zeros(1, np.float32)
    rules, right = np.zeros((1, 1), np.intp), np.zeros((1, 1), np.uint8)
    good = (total, ((column, bounds),), rules, right, values)
    assert loops.add_trees(*good) is None
    for place, wrong in (
        (0, np.zeros(4)),  # more lines than the column has
        (0, np.zeros(3, np.float32)),
        (1, ((column, bounds), None)),
        (1, [(column, bounds)]),
        (1, ()),  # no condition to ask
        (2, rules + 1),
        (2, rules - 1),
        (3, np.zeros((2, 1), np.uint8)),
        (4, np.zeros((1, 255))),
    ):
        with pytest.raises((TypeError, ValueError)):
            loops.add_trees(*good[:place], wrong, *good[place + 1 :])
    with pytest.raises(TypeError):
        loops.add_trees(total)
