"""Arguments of a wrong type: every tool for a model answers each of them in words, and raises nothing."""

import inspect

import pytest

from spillover import Clipper, Limits, MemoryStore
from spillover.retrieve.tools import CALLS, schema

LINES = "".join(f"line {number}\n" for number in range(1, 1_001))


class Silent:
    """An object that cannot say what it is."""

    def __str__(self):
        raise ValueError("no")

    __repr__ = __str__


def in_itself():
    value = []
    value.append(value)
    return value


ODD = [
    *(None, True, False, 0, 5, -1, 10**5_000, 1.5, 1e300, float("nan"), float("inf"), ..., 1j),
    *("", " ", "x", "5", "\0", "\ud800", "\u202e", "x" * 100_000, "[1", "{" * 2_000, b"x", b"\xff", bytearray(b"x")),
    *(
        [],
        [None],
        [5],
        ["last", 5],
        [[]],
        [1, 2, 3],
        ("last",),
        {},
        {"start": 1},
        {"start": "x"},
        {1: 2},
        {5},
        range(3),
    ),
    *(object(), Silent(), [Silent()], {"start": Silent()}, in_itself(), print, int, ValueError("x"), iter("x")),
]
GIVEN = {"ref": "last", "pattern": "line"}


@pytest.fixture(scope="module")
def clipper():
    clipper = Clipper(Limits(bytes=500), store=MemoryStore(), hints="tools")
    clipper.clip(LINES)
    return clipper


TOOLS = {tool.__name__: tool for tool in Clipper(store=MemoryStore()).tools()}
ARGUMENTS = [(name, argument) for name, tool in TOOLS.items() for argument in inspect.signature(tool).parameters]


def given(name, argument, value):
    return {key: value for key, value in GIVEN.items() if key in inspect.signature(TOOLS[name]).parameters} | {
        argument: value
    }


def is_answer(answer, clipper):
    """Return whether a model can act on an answer: it fits, and is no exception of Python."""
    fits = isinstance(answer, str) and answer != "" and clipper.settings.limits.hold(answer, clipper.settings.count)
    return fits and "failed: " not in answer


@pytest.mark.parametrize(("name", "argument"), ARGUMENTS)
def test_an_argument_of_a_wrong_type_is_answered_in_words_that_fit(clipper, name, argument):
    tool = next(tool for tool in clipper.tools() if tool.__name__ == name)
    for number, value in enumerate(ODD):
        arguments = given(name, argument, value)
        for how, answer in (("called", tool(**arguments)), ("sent", clipper.dispatch(name, arguments).text)):
            assert is_answer(answer, clipper), (how, number, answer)


@pytest.mark.parametrize(("name", "argument"), ARGUMENTS)
def test_the_answer_to_a_wrong_type_names_the_argument_or_shows_a_call_that_works(clipper, name, argument):
    tool = next(tool for tool in clipper.tools() if tool.__name__ == name)
    answer = tool(**given(name, argument, object()))
    assert argument in answer or CALLS[name] in answer
    assert "e.g." in answer or "for example" in answer or "write " in answer


def test_a_pattern_that_is_a_number_is_searched_for_as_text(clipper):
    """grep_output(pattern=5) raised a TypeError."""
    grep = next(tool for tool in clipper.tools() if tool.__name__ == "grep_output")
    assert grep("last", 5) == grep("last", "5")
    assert "5: line 5" in grep("last", 5)


def test_every_tool_and_argument_is_tried():
    assert {name for name, _ in ARGUMENTS} == set(CALLS)
    assert len(ARGUMENTS) == sum(len(schema(tool)["properties"]) for tool in TOOLS.values())
