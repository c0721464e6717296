"""The tools for going back as schemas and called by name: for people with a loop of their own."""

import inspect
import json

import pytest

from spillover.clipper import Clipper
from spillover.errors import UsageError
from spillover.limits import Limits
from spillover.store.memory import MemoryStore

LINES = "".join(f"line {number}\n" for number in range(1, 1_001))
LIMITS = Limits(bytes=500)
NAMES = ["read_output", "grep_output", "outline_output", "list_outputs"]


@pytest.fixture
def clipper():
    return Clipper(LIMITS, store=MemoryStore(), hints="tools")


@pytest.fixture
def ref(clipper):
    return clipper.clip(LINES).ref


#: Where each API wants to have the name, the description and the schema.
PLACES = {
    "openai": lambda spec: (spec["function"]["name"], spec["function"]["description"], spec["function"]["parameters"]),
    "openai-responses": lambda spec: (spec["name"], spec["description"], spec["parameters"]),
    "anthropic": lambda spec: (spec["name"], spec["description"], spec["input_schema"]),
}


@pytest.mark.parametrize("style", PLACES)
def test_each_tool_is_listed_with_what_it_does_and_its_arguments(clipper, style):
    specs = [PLACES[style](spec) for spec in clipper.tool_specs(style)]
    assert [name for name, _, _ in specs] == NAMES
    for (_, about, schema), tool in zip(specs, clipper.tools(), strict=True):
        parameters = inspect.signature(tool).parameters
        assert about == tool.__doc__.split("\n")[0]
        assert list(schema["properties"]) == list(parameters)
        assert schema["required"] == [name for name, one in parameters.items() if one.default is one.empty]
        assert all(one["description"] in tool.__doc__ for one in schema["properties"].values())
    assert {spec.get("type") for spec in clipper.tool_specs(style)} == {None if style == "anthropic" else "function"}


def test_all_of_them_are_a_small_part_of_a_request(clipper):
    assert len(json.dumps(clipper.tool_specs())) < 3_000


def test_a_style_that_is_none_is_said_so(clipper):
    with pytest.raises(UsageError, match="use openai, openai-responses, anthropic"):
        clipper.tool_specs("gemini")


@pytest.mark.parametrize("arguments", [dict, json.dumps, lambda given: json.dumps(given).encode()])
def test_a_call_is_answered_as_the_tool_answers(clipper, ref, arguments):
    read, grep, *_ = clipper.tools()
    assert clipper.dispatch("read_output", arguments({"ref": ref, "lines": "7:9"})) == read(ref, lines="7:9")
    assert clipper.dispatch("grep_output", arguments({"ref": ref, "pattern": "77"})) == grep(ref, "77")


@pytest.mark.parametrize("nothing", [None, "", "{}", {}, "null", {"tool": None}])
def test_what_is_not_given_may_be_nothing_at_all(clipper, ref, nothing):
    assert ref in clipper.dispatch("list_outputs", nothing)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"lines": 7}, {"lines": "7"}),
        ({"lines": "7", "columns": None}, {"lines": "7"}),
    ],
)
def test_a_number_for_a_text_is_what_was_meant(clipper, ref, given, meant):
    assert clipper.dispatch("read_output", {"ref": ref, **given}) == clipper.dispatch(
        "read_output", {"ref": ref, **meant}
    )


@pytest.mark.parametrize("context", ["1", 1.0])
def test_a_text_for_a_number_is_what_was_meant(clipper, ref, context):
    answer = clipper.dispatch("grep_output", {"ref": ref, "pattern": "line 777", "context": context})
    assert answer.startswith("776- line 776\n777: line 777\n778- line 778\n")


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("write_output", {}, "there is no tool 'write_output'; there are read_output, grep_output"),
        ("x\n" * 5_000, {}, "there is no tool"),
        (None, {}, "there is no tool 'None'"),
        ("read_output", {}, "the argument ref is missing"),
        ("read_output", {"ref": None}, "the argument ref is missing"),
        ("read_output", {"ref": "last", "line": 1}, "there is no argument 'line'; there are ref, lines"),
        ("read_output", {"ref": "last", 5: 1}, "there is no argument '5'"),
        ("read_output", {"ref": ["last"]}, "the argument ref is no string"),
        ("read_output", {"ref": True}, "the argument ref is no string"),
        ("grep_output", {"ref": "last", "pattern": "x", "context": "many"}, "the argument context is no integer"),
        ("grep_output", {"ref": "last", "pattern": "x", "context": 1.5}, "the argument context is no integer"),
        ("grep_output", {"ref": "last", "pattern": "x", "context": float("inf")}, "the argument context is no integer"),
        ("grep_output", {"ref": "last", "pattern": "x", "fixed": "yes"}, "the argument fixed is no boolean"),
        ("read_output", "{", "the arguments are no JSON"),
        ("read_output", "[" * 100_000, "failed"),
        ("read_output", "[1]", "the arguments are no object"),
        ("read_output", 5, "the arguments are no object"),
        ("read_output", b"\xff", "the arguments are no JSON"),
        ("read_output", {"ref": "../../etc/passwd"}, "is not a ref"),
    ],
)
def test_what_is_wrong_with_a_call_is_said_in_words_that_fit(clipper, name, arguments, told):
    answer = clipper.dispatch(name, arguments)
    assert told in answer
    assert (answer[0], answer[-1]) == ("[", "]")
    assert "\n" not in answer
    assert Limits(bytes=250).hold(answer, clipper.count, byte_bound=True)


def test_a_store_that_breaks_ends_no_loop():
    class Broken(MemoryStore):
        def list(self):
            raise RuntimeError("x" * 5_000)

    answer = Clipper(LIMITS, store=Broken()).dispatch("list_outputs")
    assert answer.startswith("[list_outputs failed: RuntimeError: xxx")
    assert len(answer) < 200


def test_answers_fit_whatever_is_asked_for(clipper, ref):
    assert LIMITS.hold(clipper.dispatch("read_output", {"ref": ref}), clipper.count, byte_bound=True)
