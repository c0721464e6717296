"""The short form of the fault campaign on a bucket; `make soak` runs it for minutes with 32 workers."""

from fleet import FAULTS, fleet

ATTEMPTS = ("calls", "kept", "here", "lost", "kills", "restarts", "faults", "examples")


def test_what_was_claimed_as_kept_is_there_whatever_failed():
    figures = fleet(9, "short", workers=3, faults={**FAULTS, "hang": 0})
    assert figures["calls"] > 3, "they did come to work"
    assert figures["faults"] > 0
    assert {name: count for name, count in figures.items() if name not in ATTEMPTS and count} == {}, figures.get(
        "examples"
    )
