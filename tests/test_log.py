"""The logger `spillover`: what was lost and why, what was swept, what was left alone; and not a word by default."""

import logging
import os
import subprocess
import sys
import time

import pytest

from spillover import Clipper, DirStore, Limits, MemoryStore, Retention
from spillover.testing import FailingStore
from support import claude_code
from support import opencode_host as opencode

LOG = "".join(f"{number} compiled src/module_{number}.c\n" for number in range(9_000))


@pytest.fixture
def said(caplog):
    caplog.set_level(logging.INFO, "spillover")
    return lambda: [(record.levelname, record.getMessage()) for record in caplog.records]


def clipper(store=None, **choices):
    return Clipper(Limits(tokens=300), store=store or MemoryStore(), **choices)


def test_what_was_lost_and_why(said):
    store = FailingStore(MemoryStore(), on="publish", reason="no space left")
    assert clipper(store).clip(LOG, tool="make").outcome == "lost"
    [(level, words)] = said()
    assert level == "WARNING"
    assert words == f"An output of make was cut and not kept ({len(LOG):,} bytes): no space left"


def test_what_was_stored_in_part(said):
    assert clipper(cap=5_000).clip(LOG, tool="make").reason
    assert said() == [
        (
            "WARNING",
            f"An output of make is stored in part (5,000 of {len(LOG):,} bytes): the cap on one output was reached",
        )
    ]


def test_what_was_swept(said, tmp_path):
    store = DirStore(tmp_path, Retention(age_seconds=10, grace_seconds=0))
    clip = clipper(store).clip(LOG)
    for name in os.listdir(tmp_path):
        os.utime(tmp_path / name, (time.time() - 99, time.time() - 99))
    store.sweep()
    [(level, words)] = said()
    assert level == "INFO"
    assert words.startswith("Swept 1 output of ")
    assert clip.ref not in [record.ref for record in store.list()]


def test_what_had_to_make_room(said, tmp_path):
    store = DirStore(tmp_path, Retention(count=1, grace_seconds=0))
    clipper(store).clip(LOG)
    clipper(store).clip(LOG + "more")
    assert [words.partition(" of ")[0] for _, words in said()] == ["Removed 1 outputs"]


def test_what_a_wrapped_tool_kept_for_itself(said):
    made = clipper(rules={"read_file": {"clip": False}})
    made.wrap(lambda: LOG, tool="read_file")
    made.wrap(lambda: LOG, tool="other", leave=str)()
    assert said() == [
        ("INFO", "Left the tool read_file alone: a rule says that it bounds its results itself."),
        ("INFO", "Left a result of other alone: str."),
    ]


def test_what_a_hook_left_alone(said):
    made = clipper(rules={"Bash": {"clip": False}, "bash": {"clip": False}})
    event = {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_response": {"stdout": LOG}}
    claude_code.reply(event, lambda: made)
    claude_code.reply({**event, "tool_name": "Telepathy"}, lambda: made)
    opencode.reply({"tool": "bash", "output": LOG}, lambda: made)
    opencode.reply({"tool": "edit", "output": LOG}, lambda: made)
    assert said() == [
        ("INFO", "The hook left the result of Bash alone: a rule says so."),
        ("INFO", "The hook left the result of Telepathy alone: it has another shape."),
        ("INFO", "The hook left the result of bash alone: a rule says so."),
        ("INFO", "The hook left the result of edit alone: the model needs it word for word."),
    ]


LOSING = """
from spillover import Clipper, Limits, MemoryStore
from spillover.testing import FailingStore
clip = Clipper(Limits(tokens=300), store=FailingStore(MemoryStore(), on="publish")).clip("word\\n" * 9_000)
print(clip.outcome)
"""


def test_it_is_silent_by_default():
    ran = subprocess.run([sys.executable, "-c", LOSING], capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == ("lost\n", "")
