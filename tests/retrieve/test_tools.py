"""Going back, as plain typed functions for a model to call."""

import inspect
import re

import pytest

from spillover.api import Clipper
from spillover.settings.limits import Limits
from spillover.store.memory import MemoryStore
from spillover.testing import HOSTILE_REFS, put

LINES = "".join(f"line {number}\n" for number in range(1, 1_001))
LIMITS = Limits(bytes=500)


@pytest.fixture
def clipper():
    return Clipper(LIMITS, store=MemoryStore(), hints="tools")


@pytest.fixture
def tools(clipper):
    return {tool.__name__: tool for tool in clipper.tools()}


def test_there_are_four_with_types_and_docs_a_framework_can_read(tools):
    assert list(tools) == ["read_output", "grep_output", "outline_output", "list_outputs"]
    for tool in tools.values():
        signature = inspect.signature(tool, eval_str=True)
        assert signature.return_annotation is str
        assert all(parameter.annotation is not inspect.Parameter.empty for parameter in signature.parameters.values())
        assert all(f"{name}:" in tool.__doc__ for name in signature.parameters)


def test_the_next_step_of_a_notice_is_a_call_of_these_tools(clipper, tools):
    clip = clipper.but(limits=Limits(bytes=700)).clip(LINES)
    searching, reading = re.search(r"Next: (.*) · (.*)\]", clip.text).groups()
    first = clip.hidden[0][0]
    assert eval(reading, dict(tools)).startswith(f"{first}: line {first}\n")
    assert eval(searching, {**tools, "PATTERN": "line 777"}).startswith("777: line 777\n")


def test_going_on_is_a_call_of_these_tools_too(clipper, tools):
    clip = clipper.clip(LINES)
    answer = tools["grep_output"](clip.ref, "l'?ine", context=1)
    step = re.search(r"Next: (.*)\]$", answer)[1]
    shown = [int(number) for number in re.findall(r"^(\d+): ", answer, re.MULTILINE)]
    assert eval(step, dict(tools)).startswith((f"{shown[-1]}- ", f"{shown[-1] + 1}: "))


def test_the_list_names_what_is_stored(clipper, tools):
    assert tools["list_outputs"]() == "[0 of 0 stored outputs.]"
    first, second = clipper.clip(LINES, tool="bash"), clipper.clip(LINES + "x", tool="web")
    assert {first.ref, second.ref} <= set(tools["list_outputs"]().split())
    assert second.ref not in tools["list_outputs"](tool="bash")


def test_a_long_list_fits_and_is_not_stored_itself(clipper, tools):
    for number in range(100):
        put(clipper.settings.store, b"%d" % number)
    said = tools["list_outputs"]()
    assert "of 100 stored outputs.]" in said
    assert LIMITS.hold(said, clipper.settings.count)
    assert len(list(clipper.settings.store.list())) == 100


@pytest.mark.parametrize("ref", [*HOSTILE_REFS, "bash-000000000000"])
def test_a_ref_that_is_none_is_answered_in_words_that_fit(tools, clipper, ref):
    for answer in (tools["read_output"](ref), tools["grep_output"](ref, "x")):
        assert answer.startswith("[")
        assert answer.endswith("]")
        assert "\n" not in answer
        assert Limits(bytes=450, tokens=150).hold(answer, clipper.settings.count)


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda tools, ref: tools["read_output"](ref, lines="x"), "is not a range"),
        (lambda tools, ref: tools["read_output"](ref, lines="0"), "counted from 1"),
        (lambda tools, ref: tools["grep_output"](ref, "("), "search for it as plain text: -F, or fixed=true"),
        (lambda tools, ref: tools["grep_output"](ref, "a(?=b)"), "no look-ahead"),
        (lambda tools, ref: tools["grep_output"](ref, "x", context=-5), "context=-5"),
        (lambda tools, ref: tools["grep_output"](ref, "x", start="never"), "not a place to search from"),
        (lambda tools, ref: tools["read_output"](ref, lines="z" * 100_000), "zzz"),
    ],
)
def test_what_is_wrong_is_said_to_the_model_and_not_raised(clipper, tools, ask, told):
    answer = ask(tools, clipper.clip(LINES).ref)
    assert told in answer
    assert len(answer) <= 250
