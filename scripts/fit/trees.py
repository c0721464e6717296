"""LightGBM in, trees as plain lists out: a number, or [feature, threshold, tree up to it, tree above it]."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Array = Any  # of numpy; its own types say little about what is in one
    Tree = Any

#: Same rows, same trees: one thread, a fixed seed, and sums in an order that does not depend on the machine's cores.
SETTINGS = {
    "objective": "binary",
    "num_leaves": 6,
    "learning_rate": 0.1,
    "feature_fraction": 0.5,
    "min_data_in_leaf": 50,
    "min_sum_hessian_in_leaf": 1.0,
    "lambda_l2": 1.0,
    "max_bin": 127,
    "seed": 10,
    "deterministic": True,
    "force_col_wise": True,
    "num_threads": 1,
    "verbosity": -1,
}
#: The second table has fewer trees with more leaves, each from half of the
#: rows and a third of the features: it sees more features than the first, and learns projects by heart more easily.
IN_CONTEXT = {
    "num_leaves": 8,
    "learning_rate": 0.12,
    "feature_fraction": 0.3,
    "bagging_fraction": 0.5,
    "bagging_freq": 1,
    "min_data_in_leaf": 100,
    "lambda_l2": 5.0,
    "seed": 11,
}
#: As many digits as are written: a tree is rounded before it is used for anything.
LEAF_DIGITS, THRESHOLD_DIGITS = 4, 7


def fit(
    names: Sequence[str], rows: Array, needed: Array, weight: Array, count: int, settings: Mapping[str, Any] = SETTINGS
) -> list[Tree]:
    """Return `count` trees that tell needed lines from others, and before them a number that makes 0 the middle.

    Points are the logarithm of odds; with that number, they are what they would be if needed lines weighed half of all.
    """
    import lightgbm

    data = lightgbm.Dataset(
        rows, needed.astype(np.float32), weight=weight, feature_name=[str(n) for n in range(len(names))]
    )
    booster = lightgbm.train(dict(settings), data, num_boost_round=count)
    share = float(weight[needed].sum() / weight.sum())
    middle = round(float(np.log((1 - share) / share)), LEAF_DIGITS)
    return [middle, *(_simplify(tree["tree_structure"], names) for tree in booster.dump_model()["tree_info"])]


def _simplify(node: dict[str, Any], names: Sequence[str]) -> Tree:
    if "leaf_value" in node:
        return round(float(node["leaf_value"]), LEAF_DIGITS)
    assert node["decision_type"] == "<="
    threshold = float(f"{node['threshold']:.{THRESHOLD_DIGITS}g}")
    children = [_simplify(node[side], names) for side in ("left_child", "right_child")]
    return [names[node["split_feature"]], 0.0 if abs(threshold) < 1e-30 else threshold, *children]
