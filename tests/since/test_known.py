"""A set of keys in bounded memory."""

import numpy as np

from spillover.since import known
from spillover.since.known import Known


def test_nothing_is_known_at_first():
    assert Known().has(np.arange(3, dtype=np.uint64)).tolist() == [False] * 3


def test_what_was_added_in_any_pieces_is_known_and_nothing_else(monkeypatch):
    monkeypatch.setattr(known, "WAITING", 16)
    those = Known()
    keys = np.random.default_rng(1).integers(0, 1 << 63, 1_000, dtype=np.uint64)
    for part in np.array_split(keys, 37):
        those.add(part)
    assert those.exact
    assert those.has(keys).all()
    assert not those.has(keys + np.uint64(1)).any()


def test_beyond_the_bound_nothing_is_forgotten_and_few_are_taken_for_known(monkeypatch):
    monkeypatch.setattr(known, "MOST", 1_000)
    those = Known()
    keys = np.random.default_rng(2).integers(0, 1 << 63, 200_000, dtype=np.uint64)
    for part in np.array_split(keys, 7):
        those.add(part)
    assert not those.exact
    assert those.has(keys).all()
    assert those.has(keys + np.uint64(1)).sum() <= 200
