"""Weights say what they were made of: a feature that changes without a new fit is noticed, and has to be declared."""

import json
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

pytest.importorskip("zstandard", reason="the recipe needs the extra `fit`")

sys.path.append(str(Path(__file__).parent.parent.parent))  # for the package `scripts`

from scripts.fit import fingerprint

from spillover.kinds.log import classes, score


def test_features_are_those_of_the_fit_or_the_change_is_declared():
    made_of = json.loads(score.WEIGHTS.read_text(encoding="utf-8"))["made of"]
    same = made_of["features"] == fingerprint.of_features()
    assert same is not bool(fingerprint.CHANGED), (
        "weights.json was fitted with other features than these: run `make fit CORPUS=FOLDER`. Without the logs, say in CHANGED "
        "(scripts/fit/fingerprint.py) what changed and what bench/recall.py lost. After a fit, CHANGED is empty."
    )


def test_a_narrower_pattern_is_another_fingerprint(monkeypatch):
    before = fingerprint.of_features()
    monkeypatch.setitem(classes.CLASSES, "link", replace(classes.CLASSES["link"], pattern="https://"))
    assert fingerprint.of_features() != before
