"""Noting calls: every way in leaves a run, whatever became of its output, and none fails for it."""

import asyncio
import json

import pytest

from spillover.api import Clipper
from spillover.settings.limits import Limits
from spillover.store.memory import MemoryStore
from support import claude_code
from support import opencode_host as opencode

BIG = "".join(f"line {number}\n" for number in range(1, 1_001))


@pytest.fixture
def clipper():
    return Clipper(Limits(bytes=600), store=MemoryStore(), keep="tail")


def test_a_wrapped_tool_that_says_little_is_the_last_run(clipper):
    said = iter([BIG, "all good", BIG])
    tool = clipper.wrap(lambda: next(said), tool="mytest")
    assert "line 1000" in tool()
    assert "1 of 1 match" in clipper.grep("last:mytest", "line 1000").text
    assert tool() == "all good"
    assert "\n1: all good\n" in clipper.read("last:mytest").text
    assert "No match" in clipper.grep("last", "line 1000").text
    tool()
    assert "1 of 1 match" in clipper.grep("last:mytest", "line 1000").text


@pytest.mark.parametrize("result", ["short", b"short", {"a": [1, 2]}, [{"type": "text", "text": "short"}]])
def test_results_of_every_shape_are_noted(clipper, result):
    assert clipper.wrap(lambda: result, tool="mytest")() in (result, "short")
    assert clipper.read("last:mytest").ref.startswith("mytest-")


def test_an_async_tool_is_noted(clipper):
    async def mytest():
        return "short"

    assert asyncio.run(clipper.wrap(mytest)()) == "short"
    assert "\n1: short\n" in clipper.read("last:mytest").text


def bash(stdout):
    response = {"stdout": stdout, "stderr": "", "interrupted": False}
    event = {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "t1", "cwd": "/home/me"}
    return {**event, "tool_input": {"command": "make test"}, "tool_response": response}


def test_a_hook_notes_what_it_leaves_as_it_is(clipper):
    assert claude_code.reply(bash(BIG), lambda: clipper) is not None
    assert claude_code.reply(bash("all good"), lambda: clipper) is None
    answer = clipper.read("last:make test").text
    assert answer.splitlines()[1] == "1: all good"
    newest, older = clipper.settings.store.runs()
    assert (newest.outcome, newest.command, newest.call_id, newest.cwd) == ("whole", "make test", "t1", "/home/me")
    assert (older.outcome, older.data, older.lines) == ("stored", None, 1_000)
    assert older.ref


def test_the_plugin_of_opencode_notes_too(clipper):
    event = {"tool": "bash", "args": {"command": "make"}, "callID": "c1", "output": "fine"}
    assert opencode.reply(event, lambda: clipper) is None
    assert "\n1: fine\n" in clipper.read("last:make").text


def test_a_store_that_raises_whatever_it_likes_changes_nothing():
    class Odd(MemoryStore):
        def note(self, run):
            raise RuntimeError("odd")

    clipper = Clipper(Limits(bytes=600), store=Odd())
    assert clipper.wrap(lambda: "short")() == "short"
    assert clipper.run(["echo", "short"]).clip.text == "short\n"
    assert claude_code.reply(bash("short"), lambda: clipper) is None


def test_a_store_that_knows_no_runs_is_asked_for_its_outputs():
    class Plain:
        def __init__(self):
            inner = MemoryStore()
            for name in ("writer", "get", "open", "list", "delete", "pin", "where"):
                setattr(self, name, getattr(inner, name))

    clipper = Clipper(Limits(bytes=600), store=Plain())
    big = clipper.run(["seq", "1000"]).clip
    clipper.run(["echo", "short"])
    assert clipper.read("last").ref == big.ref
    assert json.dumps(clipper.read("last").text)
