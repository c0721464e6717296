"""Weights say what they were made of: a feature that changes without a new fit is noticed, and has to be declared."""

import json
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

pytest.importorskip("lightgbm", reason="the recipe needs the extra `fit`")

sys.path.append(str(Path(__file__).parent.parent.parent))  # for the package `scripts`

from scripts.fit import fingerprint, recipe, trees

from spillover.select import classes, score


@pytest.fixture(scope="module")
def now():
    return fingerprint.of_features()


@pytest.fixture(scope="module")
def made_of():
    return json.loads(Path(score.WEIGHTS).read_text(encoding="utf-8"))["made of"]


def test_features_are_those_of_the_fit_or_are_declared(now, made_of):
    changed = fingerprint.compare(made_of["features"], now)
    assert changed == sorted(fingerprint.CHANGED), (
        "weights.json was fitted with other features than these: run `make fit CORPUS=FOLDER`. Without the logs, name what "
        "changed in CHANGED (scripts/fit/fingerprint.py) with the reason, and say what bench/recall.py lost. After a fit, CHANGED is empty."
    )


def test_features_stand_in_the_order_of_the_fit(now, made_of):
    """Moving one changed every tree: a fit takes the first of equal splits, and draws some features by their number."""
    kept = [name for name in now if name in made_of["features"]]
    assert kept == [name for name in made_of["features"] if name in now], (
        "put them back, or run `make fit CORPUS=FOLDER`"
    )


def test_settings_are_those_of_the_fit(made_of):
    assert made_of["settings"] == fingerprint.of_settings(recipe.settings()), "run `make fit CORPUS=FOLDER`"


def test_every_feature_that_the_trees_ask_for_exists(now):
    weights = json.loads(Path(score.WEIGHTS).read_text(encoding="utf-8"))

    def asked(tree):
        return {tree[0], *asked(tree[2]), *asked(tree[3])} if isinstance(tree, list) else set()

    names = set().union(*(asked(tree) for table in ("own", "context") for tree in weights[table]))
    assert names <= now.keys()


def test_a_narrower_pattern_changes_its_class_and_nothing_that_is_not_made_of_it(now, monkeypatch):
    link = classes.CLASSES["link"]
    monkeypatch.setitem(classes.CLASSES, "link", replace(link, pattern="https://"))
    assert fingerprint.compare(now, fingerprint.of_features()) == ["link"]


def test_a_class_that_is_added_or_gone_is_named(now):
    assert fingerprint.compare(now, {**now, "quux": "0"}) == ["quux"]
    assert fingerprint.compare({**now, "quux": "0"}, now) == ["quux"]


def test_another_setting_is_another_fit(monkeypatch):
    before = fingerprint.of_settings(recipe.settings())
    monkeypatch.setitem(trees.SETTINGS, "num_leaves", 3)
    assert fingerprint.of_settings(recipe.settings()) != before
