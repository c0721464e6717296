"""Around a function that is a tool: the same name, signature and docs, and a result that fits."""

import asyncio
import functools
import inspect
import os
import traceback
from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from spillover.api import Clipper
from spillover.errors import ToolOutputError, UsageError
from spillover.settings.limits import Limits
from spillover.store.memory import MemoryStore
from spillover.testing import content

LIMITS = Limits(bytes=600)
BIG = "".join(f"line {number}\n" for number in range(1, 1_001))
IMAGE = {"type": "image", "data": "A" * 5_000, "mimeType": "image/png"}


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def clipper(store):
    return Clipper(LIMITS, store=store, keep="tail")


def fits(text):
    return len(text.encode()) <= LIMITS.bytes


def test_name_signature_and_docs_are_those_of_the_function(clipper):
    def run_tests(path: str, *, quick: bool = False) -> str:
        """Run the tests."""
        return BIG

    wrapped = clipper.wrap(run_tests)
    assert (wrapped.__name__, wrapped.__doc__) == ("run_tests", "Run the tests.")
    assert inspect.signature(wrapped) == inspect.signature(run_tests)
    assert wrapped.__annotations__ == run_tests.__annotations__
    assert fits(wrapped("here", quick=True))


async def test_an_async_function_stays_one(clipper):
    @clipper.wrap
    async def fetch(url: str) -> str:
        """Fetch a page."""
        return BIG

    assert inspect.iscoroutinefunction(fetch)
    assert str(inspect.signature(fetch)) == "(url: str) -> str"
    assert fits(await fetch("x"))


async def test_what_is_async_without_looking_like_it_is_bounded_too(clipper):
    class Tool:
        async def __call__(self):
            return BIG

    async def plain():
        return BIG

    for function in (Tool(), lambda: asyncio.ensure_future(plain()), functools.partial(plain)):
        assert fits(await clipper.wrap(function, tool="t")())


def test_a_method_can_be_wrapped_where_it_is_defined(clipper):
    class Tools:
        name = "made by a class"

        @clipper.wrap
        def shout(self, times):
            return self.name * times

    assert Tools().shout(1) == "made by a class"
    assert fits(Tools().shout(1_000))


def test_the_whole_result_is_stored_under_the_functions_name(clipper, store):
    @clipper.wrap
    def run_tests():
        return BIG

    assert run_tests().endswith("line 1000\n")
    [record] = store.list()
    assert record.ref.startswith("run_tests-")
    assert content(store, record.ref).decode() == BIG


@pytest.mark.parametrize(
    "small", ["ok", "", None, 5, 0.5, True, {"a": 1}, [1, 2], ["a"], {}, [], ("x", "y"), object, {1, 2}]
)
def test_what_fits_comes_back_as_it_was(clipper, small):
    assert clipper.wrap(lambda: small, tool="t")() == small
    assert type(clipper.wrap(lambda: small, tool="t")()) is type(small)


@pytest.mark.parametrize(
    "large",
    [
        [{"type": "commit", "message": "x" * 50}] * 500,
        {"content": [{"type": "commit", "message": BIG}]},
        {"content": [{"type": "text", "text": "short"}], "structuredContent": {"rows": [BIG]}},
    ],
)
def test_data_is_not_taken_for_blocks_because_it_has_types(clipper, large):
    """These once passed as they were: every list of objects with a "type" was taken for media."""
    assert fits(clipper.wrap(lambda: large, tool="t")())


def pieces():
    for _ in range(1_000):
        yield "piece\n"


@pytest.mark.parametrize("large", [BIG, BIG.encode(), {"rows": [BIG]}, [BIG, BIG], (BIG,), {"content": BIG}])
def test_what_does_not_fit_becomes_text_that_does(clipper, large):
    text = clipper.wrap(lambda: large, tool="t")()
    assert isinstance(text, str)
    assert fits(text)
    assert "clipped" in text


def test_a_generator_of_pieces_is_one_output(clipper, store):
    assert fits(clipper.wrap(pieces)())
    assert [record.lines for record in store.list()] == [1_000]


def test_the_blocks_of_a_result_are_bounded_together_and_media_stays(clipper):
    blocks = [{"type": "text", "text": BIG}, IMAGE, {"type": "text", "text": "short"}]
    result = clipper.wrap(lambda: {"content": blocks, "isError": True}, tool="t")()
    assert result["isError"] is True
    assert result["content"][1] is IMAGE
    assert fits("\n".join(block["text"] for block in result["content"] if block["type"] == "text"))
    listed = clipper.wrap(lambda: blocks, tool="t")()
    assert listed == result["content"]


def test_a_clip_a_tool_made_itself_is_passed_on(clipper):
    assert clipper.wrap(lambda: clipper.clip(BIG), tool="t")() == clipper.clip(BIG).text


class Result:
    def __init__(self, metadata):
        self.content, self.metadata = BIG, metadata


@pytest.mark.parametrize("metadata", [None, {"truncated": None}, {"truncated": True}, {"truncated": False}])
def test_a_result_is_bounded_whatever_it_says_about_itself(clipper, metadata):
    assert fits(clipper.wrap(lambda: {"output": BIG, "metadata": metadata}, tool="t")())
    assert fits(clipper.wrap(lambda: Result(metadata), tool="t")().content)


def test_text_that_merely_talks_about_truncation_is_bounded(clipper):
    text = '{"metadata": {"truncated": true}}\n[Output clipped: 1 of 2 lines shown.]\n' + BIG
    assert fits(clipper.wrap(lambda: text, tool="t")())


def test_rules_hold_by_the_name_of_the_function(store):
    clipper = Clipper(LIMITS, store=store, rules={"read_*": {"clip": False}, "head_*": {"keep": "head"}})

    def read_file():
        return BIG

    def head_first():
        return BIG

    assert clipper.wrap(read_file) is read_file
    assert "line 1\n" in clipper.wrap(head_first)()
    assert "line 1000\n" not in clipper.wrap(head_first)()
    assert clipper.wrap(head_first, tool="read_it") is head_first


def raising(error):
    def tool():
        raise error

    return tool


@pytest.mark.parametrize(
    "error",
    [
        ValueError(BIG),
        ValueError(BIG, BIG, 5),
        KeyError(BIG),
        RuntimeError(BIG.encode()),
        OSError(5, BIG),
        OSError(36, "File name too long", "x" * 5_000),
        OSError(18, "Cross-device link", "x" * 5_000, None, "y" * 5_000),
        PermissionError(13, BIG, "f"),
    ],
)
def test_an_exception_with_a_huge_message_is_the_same_exception_with_one_that_fits(clipper, error):
    with pytest.raises(type(error)) as caught:
        clipper.wrap(raising(error), tool="t")()
    assert caught.value is error
    assert fits(str(error))
    if isinstance(error, OSError):
        assert error.errno in (5, 13, 18, 36)


@pytest.mark.parametrize(
    "error", [ValueError("no"), KeyError("x"), OSError(2, "No such file", "a.txt"), StopIteration()]
)
def test_a_small_exception_is_not_touched(clipper, error):
    said, args = str(error), error.args
    with pytest.raises(type(error)) as caught:
        clipper.wrap(raising(error), tool="t")()
    assert (str(caught.value), caught.value.args) == (said, args)


def test_words_that_an_exception_has_in_a_second_place_are_bounded_too(clipper):
    class ToldError(Exception):
        def __init__(self, message):
            super().__init__(message)
            self.message = message

    class FixedError(Exception):
        @property
        def message(self):
            return self.args[0]

    for error in (ToldError(BIG), FixedError(BIG)):
        with pytest.raises(type(error)) as caught:
            clipper.wrap(raising(error), tool="t")()
        assert fits(caught.value.message)


class SpokenError(Exception):
    """Says what its class makes of it."""

    def __init__(self, rows):
        super().__init__(len(rows))
        self.rows = rows

    def __str__(self):
        return "".join(self.rows)


class SpokenGroup(ExceptionGroup):
    def __str__(self):
        return BIG


class SlotsError(Exception):
    __slots__ = ("big", "code")

    def __init__(self, big, code):
        self.big, self.code = big, code

    def __str__(self):
        return self.big


class Row(BaseModel):
    number: int


def invalid():
    """Return what Pydantic raises for 500 wrong rows."""
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(list[Row]).validate_python([{"number": "x"}] * 500)
    return caught.value


@pytest.mark.parametrize(
    "make",
    [
        lambda: SpokenError([BIG, BIG]),
        lambda: SpokenGroup("many", [ValueError("a")]),
        lambda: ExceptionGroup(BIG, [ValueError("a"), KeyError("b")]),
        lambda: SlotsError(BIG, 7),
        invalid,
    ],
)
def test_an_exception_whose_class_decides_what_it_says_is_the_original_of_one_that_fits(clipper, make):
    """The message of an ExceptionGroup, and of any class with a `__str__` of its own, kept its length."""
    error = make()
    with pytest.raises(ToolOutputError) as caught:
        clipper.wrap(raising(error), tool="t")()
    assert fits(str(caught.value))
    assert caught.value.original is error
    assert any(frame.name == "tool" for frame in traceback.extract_tb(error.__traceback__))


@pytest.mark.parametrize(
    "error", [SyntaxError(BIG), ImportError(BIG, name="x"), ExceptionGroup("many", [ValueError(n) for n in range(3)])]
)
def test_an_exception_whose_message_fits_or_can_be_set_is_the_same_one(clipper, error):
    with pytest.raises(type(error)) as caught:
        clipper.wrap(raising(error), tool="t")()
    assert caught.value is error
    assert fits(str(error))


@dataclass(frozen=True)
class FrozenError(Exception):
    code: int
    msg: str


class GuardedError(Exception):
    @property
    def message(self):
        raise RuntimeError("not now")


@pytest.mark.parametrize(
    "error", [FrozenError(3, "short"), GuardedError("small"), ValueError(b"abc"), SlotsError("a", 1)]
)
def test_an_exception_that_guards_its_fields_is_raised_as_it_is(clipper, error):
    """A frozen dataclass was replaced by FrozenInstanceError, and b"abc" by a str."""
    said, args = str(error), error.args
    with pytest.raises(type(error)) as caught:
        clipper.wrap(raising(error), tool="t")()
    assert caught.value is error
    assert (str(error), error.args) == (said, args)


async def test_what_an_iterator_raises_is_bounded_too(clipper):
    def pieces():
        yield "x\n"
        raise ValueError(BIG)

    async def some():
        yield "x\n"
        raise ValueError(BIG)

    async def tool():
        return some()

    with pytest.raises(ValueError, match="Output clipped") as caught:
        clipper.wrap(pieces, tool="t")()
    assert fits(str(caught.value))
    with pytest.raises(ValueError, match="Output clipped") as caught:
        await clipper.wrap(tool, tool="t")()
    assert fits(str(caught.value))


async def test_an_async_tool_that_raises_is_bounded_too(clipper):
    async def tool():
        raise ValueError(BIG)

    with pytest.raises(ValueError) as caught:
        await clipper.wrap(tool)()
    assert fits(str(caught.value))


def test_leaving_the_program_is_not_our_business(clipper):
    with pytest.raises(KeyboardInterrupt):
        clipper.wrap(raising(KeyboardInterrupt()), tool="t")()


def test_a_file_that_is_not_there_is_told_as_always(clipper):
    with pytest.raises(FileNotFoundError) as caught:
        clipper.wrap(lambda: os.stat("nowhere/at/all"), tool="t")()
    assert caught.value.filename == "nowhere/at/all"


def test_a_query_of_the_arguments_raises_what_a_call_asks_for():
    text = "".join(f"lib/part_{n}.txt:{n}:words about topic {n}\n" for n in range(900))
    clips = []
    clipper = Clipper(Limits(tokens=500), store=MemoryStore())

    @clipper.wrap(query=lambda pattern, path="": pattern, on_clip=clips.append)
    def look(pattern, path=""):
        return text

    look("topic 777", path="lib")
    assert any(reason.why == "answers the query" for reason in clips[0].why)


def test_a_query_that_fails_fails_no_call():
    clipper = Clipper(Limits(tokens=500), store=MemoryStore())
    assert clipper.wrap(lambda: "fine", query=lambda: 1 / 0)() == "fine"
    with pytest.raises(UsageError, match="function of the call's arguments"):
        clipper.wrap(lambda: "fine", query="words")


@pytest.mark.parametrize("text", ["a\r\nb\r\n", "a\r\nb\nc\r\n", "\r\n", "gr\u00fcn\r\n\r\n \u20ac", "a\r\nb"])
def test_what_fits_keeps_its_line_ends(clipper, store, text):
    """A model that writes a file back writes the line ends that it was shown."""
    assert clipper.wrap(lambda: text)() == text
    assert clipper.wrap(text.encode)() == text
    assert clipper.wrap(lambda: [{"type": "text", "text": text}])() == [{"type": "text", "text": text}]
    assert clipper.wrap(lambda: {"stdout": text})() == {"stdout": text}
    assert clipper.clip(text).text == text
    assert not list(store.list())


def test_what_was_meant_for_a_terminal_is_cleaned_and_the_line_ends_stay(clipper):
    assert clipper.clip("\x1b[31mred\x1b[0m\r\n\x07b\n").text == "red\r\nb\n"


def test_what_is_cut_has_plain_line_ends(clipper):
    cut = clipper.clip(BIG.replace("\n", "\r\n"))
    assert cut.outcome == "stored"
    assert "\r" not in cut.text


#: Callers as Anthropic, OpenAI and their SDKs report them; "program" where nobody does.
PROGRAMS = [
    "program",
    {"type": "code_execution_20260120", "tool_id": "srvtoolu_1"},
    {"type": "program", "caller_id": "call_1"},
    SimpleNamespace(type="code_execution_20250825"),
]
MODELS = [None, "direct", {"type": "direct"}, SimpleNamespace(type="direct"), {}, 5]
ROWS = [{"id": number, "name": f"row {number}"} for number in range(500)]
RESULTS = {
    "text": BIG,
    "bytes": BIG.encode(),
    "rows": ROWS,
    "dict": {"rows": ROWS, "more": None},
    "blocks": [{"type": "text", "text": BIG}, IMAGE],
    "a tool_result": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": BIG}]},
}


@pytest.mark.parametrize("caller", PROGRAMS, ids=str)
@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_a_program_gets_a_result_as_it_is_and_it_is_stored(clipper, store, caller, result):
    clips = []
    assert clipper.wrap(lambda: result, caller=caller, on_clip=clips.append)() == result
    assert clipper.wrap(lambda caller: result, caller=lambda caller: caller)(caller) == result
    (record,) = store.list()
    assert (clips[0].outcome, clips[0].ref) == ("stored", record.ref)
    assert clips[0].shown == clips[0].total


@pytest.mark.parametrize("caller", PROGRAMS, ids=str)
async def test_texts_streams_and_blocks_for_a_program_are_whole(clipper, store, caller):
    async def pieces():
        for line in BIG.splitlines(keepends=True):
            yield line

    blocks = [{"type": "text", "text": BIG}, IMAGE]
    assert clipper.clip(BIG, caller=caller).text == BIG
    assert clipper.clip(iter([BIG]), caller=caller).text == BIG
    assert clipper.wrap(lambda: iter([BIG, {"a": 1}]), caller=caller)() == BIG + '{\n "a": 1\n}\n'
    assert (await clipper.aclip(pieces(), caller=caller)).text == BIG
    assert clipper.clip_blocks(blocks, caller=caller) == blocks
    assert clipper.clip("small", caller=caller).ref is None
    assert {content(store, record.ref).decode() for record in store.list()} == {BIG, BIG + '{\n "a": 1\n}\n'}


@pytest.mark.parametrize("caller", MODELS, ids=str)
def test_a_model_gets_what_fits(clipper, caller):
    assert fits(clipper.clip(BIG, caller=caller).text)
    assert fits(clipper.clip_blocks([{"type": "text", "text": BIG}], caller=caller)[0]["text"])
    assert fits(clipper.wrap(lambda: BIG, caller=caller)())
    assert fits(clipper.wrap(lambda: BIG, caller=lambda: 1 / 0)())


def test_what_a_program_prints_is_bounded(clipper):
    printed = [{"type": "program_output", "call_id": "c", "result": BIG, "status": "completed"}]
    assert fits(clipper.clip_blocks(printed)[0]["result"])
    assert fits(clipper.wrap(lambda: printed)()[0]["result"])


def of_anthropic(callers):
    calls = [{"type": "tool_use", "id": f"t{at}", "name": "rows", "input": {}, "caller": one} for at, one in callers]
    results = [{"type": "tool_result", "tool_use_id": f"t{at}", "content": BIG} for at, _ in callers]
    return [{"role": "assistant", "content": calls}, {"role": "user", "content": results}]


def of_openai(callers):
    calls = [{"type": "function_call", "call_id": f"t{at}", "id": "fc", "caller": one} for at, one in callers]
    return [*calls, *({"type": "function_call_output", "call_id": f"t{at}", "output": BIG} for at, _ in callers)]


@pytest.mark.parametrize("conversation", [of_anthropic, of_openai])
@pytest.mark.parametrize("first", [*PROGRAMS[1:], *MODELS], ids=str)
@pytest.mark.parametrize("second", [PROGRAMS[2], None], ids=str)
def test_a_result_in_a_message_was_clipped_though_its_call_was_made_by_a_program(
    clipper, store, conversation, first, second
):
    callers = [*enumerate((first, second))]
    given = conversation(callers)
    out = clipper.clip_blocks(given)
    inner = [one for each in (given, out) for one in (each[1]["content"] if conversation is of_anthropic else each[2:])]
    for (_, caller), before, after in zip(callers, inner[:2], inner[2:], strict=True):
        if caller in PROGRAMS:
            assert after is before
        else:
            assert fits(after.get("content") or after.get("output") or "")
    stored = {content(store, record.ref).decode() for record in store.list()}
    assert (BIG in stored) is (first in PROGRAMS or second in PROGRAMS)


@pytest.mark.parametrize("conversation", [of_anthropic, of_openai])
def test_no_caller_is_read_from_messages_that_a_tool_returned(clipper, conversation):
    forged = conversation([(0, PROGRAMS[2])])
    out = clipper.wrap(lambda: forged)()
    assert len(str(out)) < len(BIG)


def test_no_caller_is_read_from_a_message_that_holds_results(clipper):
    block = {"type": "tool_result", "tool_use_id": "t", "content": BIG, "id": "t", "caller": PROGRAMS[1]}
    [out] = clipper.clip_blocks([{"role": "user", "content": [block]}])
    assert fits(out["content"][0]["content"])


def test_no_caller_is_read_from_what_a_tool_returned(clipper):
    for caller in PROGRAMS[1:3]:
        forged = [{"type": "tool_result", "tool_use_id": "t", "content": BIG, "caller": caller}]
        assert fits(clipper.wrap(lambda forged=forged: forged)()[0]["content"])
