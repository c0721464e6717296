"""The tools for going back as schemas and called by name: for people with a loop of their own."""

import inspect
import json

import pytest

from spillover.api import Clipper
from spillover.errors import UsageError
from spillover.settings.limits import Limits
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
        words = " ".join(tool.__doc__.split())
        assert all(one["description"] in words for one in schema["properties"].values())
    assert {spec.get("type") for spec in clipper.tool_specs(style)} == {None if style == "anthropic" else "function"}


def test_all_of_them_are_a_small_part_of_a_request(clipper):
    assert len(json.dumps(clipper.tool_specs())) < 3_000


def test_a_style_that_is_none_is_said_so(clipper):
    with pytest.raises(UsageError, match="use openai, openai-responses, anthropic"):
        clipper.tool_specs("gemini")


@pytest.mark.parametrize("arguments", [dict, json.dumps, lambda given: json.dumps(given).encode()])
def test_a_call_is_answered_as_the_tool_answers(clipper, ref, arguments):
    read, grep, *_ = clipper.tools()
    assert clipper.dispatch("read_output", arguments({"ref": ref, "lines": "7:9"})).text == read(ref, lines="7:9")
    assert clipper.dispatch("grep_output", arguments({"ref": ref, "pattern": "77"})).text == grep(ref, "77")


@pytest.mark.parametrize("nothing", [None, "", "{}", {}, "null", {"tool": None}])
def test_what_is_not_given_may_be_nothing_at_all(clipper, ref, nothing):
    assert ref in clipper.dispatch("list_outputs", nothing).text


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"lines": 7}, {"lines": "7"}),
        ({"lines": "7", "columns": None}, {"lines": "7"}),
        ({"lines": 7.0}, {"lines": "7"}),
        ({"lines": [7, 9]}, {"lines": "7:9"}),
        ({"lines": ["7", "9"]}, {"lines": "7:9"}),
        ({"lines": "[7, 9]"}, {"lines": "7:9"}),
        ({"lines": [7]}, {"lines": "7"}),
        ({"lines": [7, None]}, {"lines": "7:"}),
        ({"lines": "7-9"}, {"lines": "7:9"}),
        ({"lines": "7 - 9"}, {"lines": "7:9"}),
        ({"lines": "7–9"}, {"lines": "7:9"}),  # noqa: RUF001  what typography makes of it
        ({"lines": "7..9"}, {"lines": "7:9"}),
        ({"lines": "L7-L9"}, {"lines": "7:9"}),
        ({"lines": "#L7-L9"}, {"lines": "7:9"}),
        ({"lines": "7", "columns": "", "bytes": "", "since": ""}, {"lines": "7"}),
        ({"lines": "7", "pointer": None}, {"lines": "7"}),
        ({"lines": "lines 7-9"}, {"lines": "7:9"}),
        ({"lines": "7, 9"}, {"lines": "7:9"}),
        ({"lines": "7-"}, {"lines": "7:"}),
        ({"lines": "-3:"}, {"lines": "-3:"}),
        ({"lines": [-3, None]}, {"lines": "-3:"}),
        ({"lines": {"start": 7, "end": 9}}, {"lines": "7:9"}),
        ({"lines": {"first": 7, "last": 9}}, {"lines": "7:9"}),
        ({"lines": {"offset": 7, "limit": 3}}, {"lines": "7:+3"}),
        ({"bytes": [1, 30]}, {"bytes": "1:30"}),
        ({"lines": 7, "columns": [2, 4]}, {"lines": "7", "columns": "2:4"}),
    ],
)
def test_what_models_send_for_a_range_is_what_was_meant(clipper, ref, given, meant):
    assert not clipper.dispatch("read_output", {"ref": ref, **given}).is_error
    assert (
        clipper.dispatch("read_output", {"ref": ref, **given}).text
        == clipper.dispatch("read_output", {"ref": ref, **meant}).text
    )


@pytest.mark.parametrize("yes", [True, "true", "True", 1, "1", "yes"])
def test_what_models_send_for_yes_is_yes(clipper, ref, yes):
    answer = clipper.dispatch("grep_output", {"ref": ref, "pattern": "LINE 777", "ignore_case": yes})
    assert (answer.is_error, answer.text.startswith("777: ")) == (False, True)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("read_output", {"lines": 0}),
        ("read_output", {"lines": "1-3,7"}),
        ("read_output", {"lines": [1, 3, 7]}),
        ("read_output", {"lines": "9:1"}),
        ("read_output", {"lines": "1:2", "bytes": "1:2"}),
        ("read_output", {"offset": 3}),
        ("grep_output", {}),
        ("grep_output", {"pattern": ""}),
        ("grep_output", {"pattern": "("}),
        ("grep_output", {"pattern": "^$"}),
        ("grep_output", {"pattern": "x", "context": -1}),
        ("grep_output", {"pattern": "x", "context": "many"}),
        ("grep_output", {"pattern": "x", "start": "abc"}),
    ],
)
def test_every_refusal_shows_what_to_send(clipper, ref, name, given):
    answer = clipper.dispatch(name, {"ref": ref, **given})
    assert answer.is_error
    assert any(words in answer.text for words in (f"for example {name}(", "write ", "e.g. 1:3"))


def test_the_plain_functions_take_a_text_for_a_number_and_answer_in_words_where_it_is_none(clipper, ref):
    grep = clipper.tools()[1]
    assert grep(ref, "line 777", context="1").startswith("776- line 776\n777: line 777\n")
    assert grep(ref, "line 777", context="many").startswith(
        "[context='many' is not an integer; for example grep_output("
    )


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("write_output", {}, "unknown tool 'write_output'; use read_output, grep_output"),
        ("x\n" * 5_000, {}, "unknown tool"),
        (None, {}, "unknown tool 'None'"),
        ("read_output", {}, 'the argument ref is missing; for example read_output(ref="last", lines="120:180")'),
        (
            "read_output",
            {"ref": None},
            'the argument ref is missing; for example read_output(ref="last", lines="120:180")',
        ),
        ("read_output", {"ref": "last", "line": 1}, "unknown argument 'line'; read_output takes ref, lines"),
        ("read_output", {"ref": "last", 5: 1}, "unknown argument '5'"),
        ("read_output", {"ref": {"last": 1}}, "is not a string; for example read_output("),
        ("read_output", {"ref": True}, "ref='True' is not a string; for example read_output("),
        (
            "grep_output",
            {"ref": "last", "pattern": "x", "context": "many"},
            "is not an integer; for example grep_output(",
        ),
        (
            "grep_output",
            {"ref": "last", "pattern": "x", "context": 1.5},
            "is not an integer; for example grep_output(",
        ),
        (
            "grep_output",
            {"ref": "last", "pattern": "x", "context": float("inf")},
            "is not an integer; for example grep_output(",
        ),
        ("grep_output", {"ref": "last", "pattern": "x", "fixed": "perhaps"}, "fixed='perhaps' is not a boolean"),
        ("read_output", "{", "the arguments are not JSON"),
        ("read_output", "[" * 100_000, "failed"),
        ("read_output", "[1]", "the arguments are not an object; send one such as {"),
        ("read_output", 5, "the arguments are not an object; send one such as {"),
        ("read_output", b"\xff", "the arguments are not JSON"),
        ("read_output", {"ref": "../../etc/passwd"}, "is not a ref"),
    ],
)
def test_what_is_wrong_with_a_call_is_said_in_words_that_fit(clipper, name, arguments, told):
    said = clipper.dispatch(name, arguments)
    answer = said.text
    assert said.is_error
    assert str(said) == answer
    assert told in answer
    assert (answer[0], answer[-1]) == ("[", "]")
    assert "\n" not in answer
    assert Limits(bytes=400).hold(answer, clipper.settings.count)


@pytest.mark.parametrize("wrong", ["x", " ", [], [1, 2, 3], ["a", "b"], "1-x", True, {}, {"a": 1}, 1.5, "7:9:11", "[7"])
def test_a_range_that_is_none_is_refused_with_an_example(clipper, ref, wrong):
    said = clipper.dispatch("read_output", {"ref": ref, "lines": wrong})
    assert said.is_error
    assert (
        "is not a range of lines; write 120:180, 120:+50 (50 lines from 120 on), -50: (the last 50) or 120" in said.text
    )


@pytest.mark.parametrize(
    "spelled",
    ["{ref}", "/home/me/.local/state/spillover/{ref}.txt", "{ref}.txt", "`{ref}`", '"{ref}"', " {ref} ", "spill://{ref}",
     "C:\\store\\{ref}.txt", "./outputs/{ref}.json"],
)  # fmt: skip
def test_a_path_or_a_uri_stands_for_the_ref(clipper, ref, spelled):
    for name, more in (("read_output", {}), ("grep_output", {"pattern": "77"}), ("outline_output", {})):
        said = clipper.dispatch(name, {"ref": spelled.format(ref=ref), **more})
        assert (said.is_error, said.text) == (False, clipper.dispatch(name, {"ref": ref, **more}).text)


def test_the_lines_in_a_uri_are_the_lines_that_are_read(clipper, ref):
    said = clipper.dispatch("read_output", {"ref": f"spill://{ref}#L1-3"})
    assert said == clipper.dispatch("read_output", {"ref": ref, "lines": "1:3"})


def test_last_stands_for_the_ref_and_says_which_run_that_is(clipper, ref):
    said = clipper.dispatch("read_output", {"ref": "last", "lines": 7})
    first, _, rest = said.text.partition("\n")
    assert (first, said.is_error) == (f"[last is {ref}: just now.]", False)
    assert rest == clipper.dispatch("read_output", {"ref": ref, "lines": 7}).text


@pytest.mark.parametrize("asked", ["bash-000000000000", "../../etc/passwd", "last:no such command"])
def test_a_ref_that_is_none_is_refused_in_the_names_of_the_models_own_tools(clipper, ref, asked):
    said = clipper.dispatch("read_output", {"ref": asked})
    assert said.is_error
    assert 'list_outputs() shows what is stored; then e.g. read_output(ref="last")' in said.text
    assert not any(words in said.text for words in ("spill list", "--all-scopes", "another folder", "…"))


@pytest.mark.parametrize("name", NAMES)
def test_the_clipper_knows_which_calls_are_its_own(clipper, name):
    assert clipper.handles(name)
    assert name in [tool.__name__ for tool in clipper.tools()]


@pytest.mark.parametrize("name", ["run_tests", "read_outputs", "", None, 5])
def test_and_which_are_not(clipper, name):
    assert not clipper.handles(name)


async def test_a_call_can_be_awaited(clipper, ref):
    assert await clipper.adispatch("read_output", {"ref": ref}) == clipper.dispatch("read_output", {"ref": ref})
    assert (await clipper.adispatch("nothing", {})).is_error


def test_a_store_that_breaks_ends_no_loop():
    class Broken(MemoryStore):
        def list(self):
            raise RuntimeError("x" * 5_000)

    answer = Clipper(LIMITS, store=Broken()).dispatch("list_outputs").text
    assert answer.startswith("[list_outputs failed: RuntimeError: xxx")
    assert len(answer) < 450


def test_answers_fit_whatever_is_asked_for(clipper, ref):
    assert LIMITS.hold(clipper.dispatch("read_output", {"ref": ref}).text, clipper.settings.count)
