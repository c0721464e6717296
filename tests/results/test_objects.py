"""Results that are objects: bounded in their own shape where that is possible, as text otherwise, and left alone only on request."""

import asyncio
import dataclasses
import datetime as dt
import enum
import json
from collections import OrderedDict
from types import MappingProxyType
from typing import Any, NamedTuple, TypedDict

import msgspec
import pydantic
import pytest

from spillover import Budget, Clip, Clipper, Limits, MemoryStore, UsageError
from spillover.results.objects import to_json
from spillover.tokens import estimate

LIMITS = Limits(tokens=500)
BIG = "".join(f"line {number} of a log\n" for number in range(1, 8_000))  # 150 KB


@dataclasses.dataclass
class Ran:
    exit_code: int
    stdout: str
    stderr: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    lines: list[str]
    meta: dict[str, Any]


class FrozenStruct(msgspec.Struct, frozen=True):
    name: str
    text: str


class Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="allow")
    exit_code: int
    stdout: str = pydantic.Field(alias="out")


class Plain:
    def __init__(self, text):
        self.text, self.count = text, 3


class Slotted:
    __slots__ = ("text",)

    def __init__(self, text):
        self.text = text


class Speaking:
    def __init__(self, text):
        self.hidden = text

    def __str__(self):
        return self.hidden


class Uncopied(Plain):
    def __copy__(self):
        raise TypeError("there is only one")


class Image:
    """As FastMCP has it: no text, and bytes that are no text."""

    def __init__(self, data):
        self.data, self.format = data, "png"


class Pair(NamedTuple):
    name: str
    text: str


@pytest.fixture
def clipper():
    return Clipper(LIMITS, store=MemoryStore(), hints="tools")


def returning(value):
    return lambda: value


def tokens(value):
    """By whatever a host may write of it."""
    return max(estimate(str(value)), estimate(value if isinstance(value, str) else to_json(value)))


#: Objects that do not fit and keep their type; how to get at what is bounded, and what must stay as it was.
KEPT = {
    "dataclass": (Ran(3, BIG), lambda ran: ran.stdout, lambda ran: (ran.exit_code, ran.stderr)),
    "frozen dataclass": (Frozen([BIG, "short"], {"a": 1}), lambda one: one.lines[0], lambda one: (one.lines[1], one.meta)),
    "frozen Struct": (FrozenStruct("x", BIG), lambda one: one.text, lambda one: one.name),
    "two fields": (Ran(3, BIG, BIG), lambda ran: ran.stdout, lambda ran: ran.exit_code),
    "Pydantic model": (Model(exit_code=3, out=BIG, more=BIG), lambda one: one.stdout, lambda one: one.exit_code),
    "named tuple": (Pair("x", BIG), lambda pair: pair.text, lambda pair: pair.name),
    "object": (Plain(BIG), lambda one: one.text, lambda one: one.count),
    "object with slots": (Slotted(BIG), lambda one: one.text, lambda one: None),
    "nested": (Frozen([], {"ran": Ran(3, BIG)}), lambda one: one.meta["ran"].stdout, lambda one: one.meta["ran"].exit_code),
    "bytes": (Ran(0, BIG.encode()), lambda ran: ran.stdout.decode(), lambda ran: ran.exit_code),
}  # fmt: skip


@pytest.mark.parametrize("kind", KEPT)
def test_an_object_keeps_its_type_and_its_texts_are_clipped(clipper, kind):
    """150 KB once went through a limit of 500 tokens."""
    value, text_of, rest_of = KEPT[kind]
    bounded = clipper.wrap(returning(value), tool="t")()
    assert type(bounded) is type(value)
    assert tokens(bounded) <= 500
    assert "Output clipped" in text_of(bounded)
    assert rest_of(bounded) == rest_of(value)
    assert tokens(value) > 5_000, "the tool's own object is not touched"
    assert len(list(clipper.settings.store.list())) == 1


#: Objects that do not fit and become text.
TEXT = {
    "list of dataclasses": [Ran(number, "ok") for number in range(3_000)],
    "list of models": [Model(exit_code=number, out="ok") for number in range(3_000)],
    "dataclass of many": Frozen([str(number) for number in range(9_000)], {}),
    "dict of objects": {str(number): Plain("x") for number in range(3_000)},
    "dates": [dt.date(2026, 1, 1)] * 3_000,
    "set": set(range(9_000)),
    "frozen set": frozenset(range(9_000)),
    "tuple": tuple(range(9_000)),
    "its own text": Speaking(BIG),
    "not to be copied": Uncopied(BIG),
    "keys of other types": {(number, "x"): number for number in range(3_000)},
    "exception": ValueError(BIG),
}


@pytest.mark.parametrize("kind", TEXT)
def test_what_cannot_keep_its_shape_becomes_text_that_fits(clipper, kind):
    bounded = clipper.wrap(returning(TEXT[kind]), tool="t")()
    assert isinstance(bounded, str)
    assert estimate(bounded) <= 500
    assert "Output clipped" in bounded
    assert len(list(clipper.settings.store.list())) == 1


def test_an_object_that_contains_itself_is_bounded_too(clipper):
    ring: dict[str, Any] = {"text": BIG}
    ring["self"] = ring
    assert estimate(clipper.wrap(returning(ring), tool="t")()) <= 500


@pytest.mark.parametrize("declared", [None, list])
def test_an_object_that_contains_itself_twice_does_not_hang(clipper, declared):
    ring: list[Any] = [BIG]
    ring += [ring, ring]
    tool = returning(ring)
    tool.__annotations__["return"] = declared
    assert estimate(clipper.wrap(tool, tool="t")()) <= 500


def nest(levels, around, leaf):
    for _ in range(levels):
        leaf = around(leaf)
    return leaf


AROUND = {
    "a list": lambda inner: [inner], "a dict": lambda inner: {"k": inner}, "a tuple": lambda inner: (1, inner),
    "a dataclass": lambda inner: Ran(0, inner), "itself twice": lambda inner: [inner, inner],
}  # fmt: skip


@pytest.mark.parametrize("declared", [None, dict])
@pytest.mark.parametrize("levels", [50, 1_000, 5_000])
@pytest.mark.parametrize("around", AROUND)
def test_an_object_too_deep_to_be_written_is_left_out_and_says_so(clipper, around, levels, declared):
    """Neither JSON nor str() can write it, and it passed as it was: 100 KB, where 500 tokens were allowed."""
    tool = returning(nest(levels, AROUND[around], BIG))
    tool.__annotations__["return"] = declared
    bounded = clipper.wrap(tool, tool="t")()
    assert estimate(bounded if isinstance(bounded, str) else to_json(bounded)) <= 500
    if levels > 50 or around == "itself twice":
        assert "nested too deeply to be written as text" in bounded
    else:
        assert [record.tool for record in clipper.settings.store.list()] == ["t"]


#: Neither JSON nor str() writes more than 4,300 digits; a host with another writer does, and a reader of one field needs none.
@pytest.mark.parametrize(
    "value", [10**5_000, {"text": BIG, "n": 10**5_000}, {10**5_000: BIG}, Ran(10**5_000, BIG)],
    ids=["alone", "beside a text", "as a key", "in a field"])  # fmt: skip
def test_an_integer_too_long_to_be_written_lets_nothing_pass(clipper, value):
    bounded = clipper.wrap(returning(value), tool="t")()
    assert estimate(bounded if isinstance(bounded, str) else to_json(bounded)) <= 500


SECRET = "sk-ant-api03-" + "abcdefghijklmnop1234567890" * 3


AWKWARD = {
    "a set": {SECRET},
    "a key": {"x": {SECRET: 1}},
    "words of its own": Speaking(SECRET),
    "read-only": MappingProxyType({"a": SECRET}),
    "cannot be copied": Uncopied(SECRET),
}


@pytest.mark.parametrize("redact", ["shown", "stored"])
@pytest.mark.parametrize("value", AWKWARD.values(), ids=AWKWARD)
def test_a_secret_where_it_cannot_be_replaced_is_covered_and_the_call_survives(value, redact):
    bounded = Clipper(LIMITS, store=MemoryStore(), redact=redact).wrap(returning(value), tool="t")()
    assert isinstance(bounded, str)
    assert SECRET not in bounded
    assert "[redacted: " in bounded


SMALL = [Ran(0, "ok"), Model(exit_code=0, out="ok"), Pair("a", "b"), Plain("x"), Slotted("x"), object(), [Ran(0, "ok")],
         {"at": dt.date(2026, 1, 1)}, Image(b"tiny"), Ran, len, 10**50, {1, 2}, range(10**9)]  # fmt: skip


@pytest.mark.parametrize("small", SMALL, ids=lambda value: type(value).__name__)
def test_what_fits_is_the_very_same_object(clipper, small):
    assert clipper.wrap(returning(small), tool="t")() is small


# ── what is neither text nor data ────────────────────────────────────────────────────────────────────────────────────


def test_media_in_a_class_of_its_own_is_left_out_unless_the_caller_says_so(clipper):
    image = Image(b"\x89PNG" * 50_000)
    assert clipper.wrap(returning(image), tool="t")() == (
        "[Result left out: Image has no text and no text fields. Return text or data, or let it pass unchanged: wrap(leave=Image).]"
    )
    assert clipper.wrap(returning(image), leave=Image)() is image
    assert clipper.wrap(returning([image, "words"]), leave=(Image, Plain))() == [image, "words"]
    assert "leave=Image" in clipper.wrap(returning([image, "words"]))()


def test_texts_beside_media_that_passes_are_bounded(clipper):
    image = Image(b"\x89PNG" * 50_000)
    bounded = clipper.wrap(returning(Frozen([BIG], {"image": image})), leave=Image)()
    assert bounded.meta["image"] is image
    assert estimate(bounded.lines[0]) <= 500


@pytest.mark.parametrize("value", [BIG, BIG.encode(), {"a": BIG}, Ran(0, BIG), Speaking(BIG)])
def test_the_caller_can_leave_any_type_alone(clipper, value):
    assert clipper.wrap(returning(value), leave=type(value))() is value


@pytest.mark.parametrize("wrong", ["Image", [Image], (Image, "x"), None])
def test_leave_is_types(clipper, wrong):
    with pytest.raises(UsageError, match="leave must be a type, or a tuple of types"):
        clipper.wrap(returning(1), leave=wrong)


# ── what a function declares ─────────────────────────────────────────────────────────────────────────────────────────


class Row(TypedDict):
    out: str


def as_dict() -> dict[str, str]:
    return {"out": BIG, "status": "failed"}


def as_row() -> Row:
    return {"out": BIG, "status": "failed"}


def as_words() -> "dict[str, Any]":
    return OrderedDict(out=BIG, status="failed")


def as_many_keys() -> dict:
    return {f"key {number}": number for number in range(9_000)}


def as_strings() -> list[str]:
    return [f"file {number}.txt" for number in range(9_000)]


def as_long_strings() -> list[str]:
    return [BIG, "short", BIG]


def as_rows() -> list[dict[str, int]]:
    return [{"number": number} for number in range(9_000)]


@pytest.mark.parametrize("tool", [as_dict, as_row, as_words, as_many_keys, as_strings, as_long_strings, as_rows])
def test_a_dict_or_a_list_that_is_declared_stays_one(clipper, tool):
    bounded = clipper.wrap(tool)()
    assert type(bounded) is type(tool())
    assert estimate(to_json(bounded)) <= 500
    assert "Output clipped" in str(bounded)
    assert {record.tool for record in clipper.settings.store.list()} == {tool.__name__}
    if tool in (as_many_keys, as_strings, as_rows):
        [only] = bounded if isinstance(bounded, list) else [bounded]
        assert "…" in (only if isinstance(only, str) else only["output"])
    if isinstance(bounded, list):
        assert {type(item) for item in bounded} == {type(item) for item in tool()}
    elif "status" in tool():
        assert bounded["status"] == "failed"


def test_what_is_not_declared_becomes_json_with_its_gaps_marked(clipper):
    assert "more item" in clipper.wrap(returning(list(range(9_000))), tool="t")()


# ── the decorator ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_decorator_takes_options(clipper):
    clips: list[Clip] = []

    @clipper.wrap(tool="bash", on_clip=clips.append)
    def run(line: str) -> str:
        """Run a line."""
        return line * 5_000

    assert (run.__name__, run.__doc__) == ("run", "Run a line.")
    assert run("a word ") == clips[0].text
    assert clips[0].outcome == "stored"
    assert clips[0].ref.startswith("bash-")
    run("")
    assert [clip.outcome for clip in clips] == ["stored", "whole"]


@pytest.mark.parametrize(
    "value", [BIG, Ran(0, BIG), TEXT["list of dataclasses"], [{"type": "text", "text": BIG}], as_rows()]
)
def test_whatever_a_tool_returns_the_callback_gets_its_clip(clipper, value):
    clips = []
    clipper.wrap(returning(value), on_clip=clips.append)()
    [clip] = clips
    assert clip.outcome == "stored"
    assert clipper.settings.store.get(clip.ref).bytes == clip.total.bytes


def test_a_callback_that_fails_does_not_fail_the_tool_and_is_logged(clipper, caplog):
    def broken(clip):
        raise RuntimeError("no such table")

    assert "Output clipped" in clipper.wrap(returning(BIG), tool="bash", on_clip=broken)()
    assert caplog.messages == ["The on_clip of bash failed: RuntimeError: no such table"]
    with pytest.raises(UsageError, match="on_clip must be a function that gets the Clip of each call"):
        clipper.wrap(returning(BIG), on_clip=3)


async def test_an_async_tool_tells_its_clip_as_well(clipper):
    clips = []

    @clipper.wrap(on_clip=clips.append)
    async def tool():
        return BIG

    await tool()
    assert [clip.outcome for clip in clips] == ["stored"]


async def test_an_async_generator_yields_one_text_that_fits(clipper):
    @clipper.wrap
    async def tool():
        for _ in range(9_000):
            yield "piece\n"

    [text] = [piece async for piece in tool()]
    assert estimate(text) <= 500
    assert [record.lines for record in clipper.settings.store.list()] == [9_000]


def test_an_object_is_added_to_the_budget_once():
    budget = Budget(2_000)
    clipper = Clipper(LIMITS, store=MemoryStore(), budget=budget)
    for tool in (returning(Ran(0, BIG)), returning(TEXT["set"]), returning(Ran(0, "ok")), as_rows):
        before = budget.used
        clipper.wrap(tool, tool="t")()
        assert 0 < budget.used - before <= 500
    assert budget.promised == 0


def test_something_that_cannot_be_called_is_refused(clipper):
    with pytest.raises(UsageError, match=r"wrap takes a function: @clipper\.wrap, @clipper\.wrap\(tool="):
        clipper.wrap("bash")


def test_wrapping_in_a_thread_and_in_a_loop_gives_the_same(clipper):
    async def tool():
        return Ran(0, BIG)

    assert asyncio.run(clipper.wrap(tool, tool="t")()) == clipper.wrap(returning(Ran(0, BIG)), tool="t")()


def test_every_wrapped_call_is_noted_so_that_last_is_the_newest(clipper):
    @clipper.wrap(tool="tests")
    def run(text: str) -> str:
        return text

    run(BIG + "FAILED\n")
    run("all passed\n")
    read, grep, *_ = clipper.tools()
    assert "all passed" in read("last:tests")
    assert "No match" in grep("last:tests", "FAILED") or "0 " in grep("last:tests", "FAILED")


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ([1, 2], "1\n2\n"),
        ([{"a": 1}], '{\n "a": 1\n}\n'),
        ([None, 2.5, "text"], "null\n2.5\ntext"),
        (["one ", b"two ", bytearray(b"three")], "one two three"),
        ([300_000_000], "300000000\n"),
    ],
)
def test_an_iterator_of_anything_becomes_text(pieces, text):
    """bytes(300_000_000) made as many zero bytes of a number; a dict broke the call."""
    clipper = Clipper(Limits(tokens=300), store=MemoryStore())

    async def generate():
        for piece in pieces:
            yield piece

    async def collect():
        return [piece async for piece in clipper.wrap(generate)()]

    assert clipper.wrap(lambda: iter(pieces))() == text
    assert asyncio.run(collect()) == [text]


def test_many_objects_of_an_iterator_fit():
    clipper = Clipper(Limits(tokens=300), store=MemoryStore())
    text = clipper.wrap(lambda: ({"line": "text\n" * 900} for _ in range(30)))()
    assert text.startswith("[Output clipped: ")
    assert clipper.settings.count(text) <= 300


def test_the_text_of_an_object_keeps_its_lines():
    class Report:
        def __str__(self):
            return "".join(f"line {number}\n" for number in range(5_000))

    text = Clipper(Limits(tokens=300), store=MemoryStore()).wrap(Report)()
    assert "of 5,000 lines shown" in text
    assert "\nline 4999\n" in text


def test_a_call_that_raises_is_the_last_run():
    clipper = Clipper(Limits(tokens=300), store=MemoryStore())

    @clipper.wrap(tool="suite")
    def suite(*, fails):
        if fails:
            raise ValueError("no such table")
        return "passed\n" * 9_000

    suite(fails=False)
    with pytest.raises(ValueError, match="no such table"):
        suite(fails=True)
    assert "1: ValueError: no such table\n" in clipper.read("last:suite").text


@dataclasses.dataclass(slots=True)
class Node:
    inner: Any


def doubled(value, make=lambda inner: [inner, inner], times=50):
    for _ in range(times):
        value = make(value)
    return value


@pytest.mark.parametrize(
    "result",
    [
        doubled(["leaf"]),
        doubled({"name": "leaf"}, lambda inner: {"left": inner, "right": inner}),
        doubled(Node("leaf"), lambda inner: Node([inner, inner])),
        [doubled(["leaf"]), BIG],
        {"content": [{"type": "text", "text": "ok"}], "more": doubled(["leaf"])},
    ],
)
def test_an_object_with_too_many_ways_down_is_left_out(result):
    clipper = Clipper(LIMITS, store=MemoryStore())
    text = clipper.wrap(lambda: result)()
    assert "nested too deeply to be written as text" in text
    assert clipper.settings.count(text) <= LIMITS.tokens
    pieces = clipper.wrap(lambda: iter([result]))()
    assert clipper.settings.count(pieces) <= LIMITS.tokens


def test_one_object_in_a_long_list_is_no_tangle():
    written = to_json([{"name": "same"}] * 300_000)
    assert written is not None
    assert written.count("same") == 300_000


@pytest.mark.parametrize("depth", [100, 20_000])
def test_what_an_iterator_gives_may_be_nested_deeply(depth):
    clipper = Clipper(LIMITS, store=MemoryStore())
    text = clipper.wrap(lambda: iter([doubled("leaf", lambda inner: [inner], depth)]))()
    assert clipper.settings.count(text) <= LIMITS.tokens


class Level(enum.Enum):
    SHORT = "short"
    LONG = BIG


@pytest.mark.parametrize("make", [lambda one: one, lambda one: {"level": one}, lambda one: [one], Node])
def test_the_value_of_an_enum_member_is_bounded(make):
    clipper = Clipper(LIMITS, store=MemoryStore())
    tool = clipper.wrap(make)
    small = make(Level.SHORT)
    assert tool(Level.SHORT) == small
    text = tool(Level.LONG)
    assert isinstance(text, str)
    assert text.startswith("[Output clipped: ")
    assert clipper.settings.count(text) <= LIMITS.tokens


FILE = {"type": "file", "name": "a.py", "path": "src/a.py", "url": "https://example.org/src/a.py"}


@pytest.mark.parametrize(
    "result",
    [
        [FILE] * 900,  # a folder, as GitHub lists it
        [{**FILE, "content": BIG}],
        [{"type": "video", "title": "one", "description": "d" * 900}] * 90,
        [{"type": "resource_link", "uri": "a://b", "name": "b"}] * 900,
        [{"type": "text", "text": "short", "annotations": {"more": BIG}}],
        [{"role": "tool", "content": "short", "more": BIG}],
        [{"role": "tool", "content": [FILE] * 900}],
        {"content": [FILE] * 900},
    ],
)
def test_data_with_the_type_of_a_block_is_bounded(result):
    clipper = Clipper(LIMITS, store=MemoryStore())
    text = clipper.wrap(lambda: result)()
    assert text.startswith("[Output clipped: ")
    assert clipper.settings.count(text) <= LIMITS.tokens


@pytest.mark.parametrize(
    "media",
    [
        {"type": "image", "data": "A" * 90_000, "mimeType": "image/png"},
        {"type": "image", "source": {"type": "base64", "data": "A" * 90_000}},
        {"type": "image_url", "image_url": {"url": "data:" + "A" * 90_000}},
        {"type": "file", "file": {"file_data": "A" * 90_000}},
        {"type": "resource", "resource": {"uri": "a://b", "blob": "A" * 90_000}},
    ],
)
def test_media_stay_beside_text_that_is_cut(media):
    blocks = Clipper(LIMITS, store=MemoryStore()).wrap(lambda: [media, {"type": "text", "text": BIG}])()
    assert blocks[0] is media
    assert blocks[1]["text"].startswith("[Output clipped: ")


@pytest.mark.parametrize("opening", ['[{"type":"tool_result","content":', '[{"role":"user","content":'])
def test_blocks_nested_too_deeply_do_not_fail_the_call(opening):
    nested = json.loads(opening * 400 + '[{"type":"text","text":"x"}]' + "}]" * 400)
    text = Clipper(Limits(tokens=300), store=MemoryStore()).wrap(lambda: nested)()
    assert len(str(text)) < 3_000


def test_a_block_that_contains_itself_does_not_fail_the_call():
    block = {"type": "tool_result", "content": []}
    block["content"].append(block)
    assert len(str(Clipper(Limits(tokens=300), store=MemoryStore()).wrap(lambda: [block])())) < 3_000
