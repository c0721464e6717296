"""Copilot CLI's hook: a result comes back within the limits, in its own shape."""

import json

import pytest

from spillover import Clipper, Limits, MemoryStore
from support import copilot

LONG = "".join(f"line {number} of many\n" for number in range(1, 5_001))


@pytest.fixture
def clipper():
    return Clipper(Limits(tokens=1_000), store=MemoryStore(), hints="cli")


def test_a_result_comes_back_clipped_and_keeps_its_other_fields(clipper):
    asked = {"toolName": "bash", "toolArgs": json.dumps({"command": "make", "mode": "sync"}), "cwd": "/"}
    result = {"resultType": "failure", "textResultForLlm": LONG}
    said = copilot.reply({**asked, "toolResult": result}, lambda: clipper)["modifiedResult"]
    assert said["resultType"] == "failure"
    assert said["textResultForLlm"].startswith("[Output clipped: ")


@pytest.mark.parametrize(
    "event",
    [
        5,
        {},
        {"toolName": "bash", "toolArgs": "{}"},
        {"toolName": 5, "toolArgs": "{"},
        {"toolName": "bash", "toolResult": []},
        {"toolName": "bash", "toolArgs": "[1]", "toolResult": {"textResultForLlm": "short"}},
    ],
)
def test_a_short_result_or_an_event_without_one_stays(clipper, event):
    assert copilot.reply(event, lambda: clipper) is None
