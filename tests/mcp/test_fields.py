"""Law 1 for the entire schema: flood each string that a server can send, and check what reaches the client.

The messages are generated from the schemas of the official SDK, for every version of the protocol, so a field of a new
version is tested as soon as the SDK has it.
"""

import json
from types import UnionType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_types.methods import SERVER_NOTIFICATIONS, SERVER_REQUESTS, SERVER_RESULTS
from pydantic import TypeAdapter

from spillover import Clipper, Limits, MemoryStore
from spillover.mcp.results import (
    BESIDE_CHARS,
    LISTED_CHARS,
    NAME_CHARS,
    bound_data,
    bound_error,
    bound_strings,
    prompt_result,
    resource_result,
    tool_result,
)
from spillover.testing import FailingStore
from spillover.testing import content as stored

CHARS = 4_000
BIG = 250_000
#: A flood as text, as an address, and as a name.
HUGE = {"words": "the quick brown fox\n" * (BIG // 20), "name": "x" * BIG}
DEEPEST = 12

#: Strings that are passed on unchanged, by the end of their path; docs/adapters/mcp.md has the same list.
EXACT = {
    ("image", "data"): "media",
    ("audio", "data"): "media",
    ("blob",): "media",
    ("nextCursor",): "opaque, for the server alone",
    ("requestState",): "opaque, for the server alone",
}
#: Strings whose message, or part of it, is left out instead.
DROPPED = {
    ("tools/list", "name"): "no host takes such a name",
    ("tools/list", "nextCursor"): "the proxy asks for all pages itself",
}
# From lists of tools, output schemas are left out as a whole.


def variants(schema, defs, depth=0):
    """Return values of a schema that have all properties and together cover every branch of every union."""
    if depth > DEEPEST or schema in (True, {}):
        return ["any"]
    if "$ref" in schema:
        return variants(defs[schema["$ref"].rpartition("/")[2]], defs, depth + 1)
    if "const" in schema:
        return [schema["const"]]
    if "enum" in schema:
        return [schema["enum"][0]]
    branches = schema.get("anyOf") or schema.get("oneOf")
    if branches:
        found = [value for branch in branches for value in variants(branch, defs, depth + 1) if value is not None]
        return found or [None]
    kind = schema.get("type")
    if kind == "array":
        return [variants(schema.get("items", {}), defs, depth + 1)]
    if kind == "object" or "properties" in schema:
        return objects(schema, defs, depth)
    return {
        "string": ["a"],
        "integer": [1],
        "number": [1.5],
        "boolean": [True],
        "null": [None],
    }.get(kind, ["any"])


def objects(schema, defs, depth):
    choices = {key: variants(part, defs, depth + 1) for key, part in schema.get("properties", {}).items()}
    more = schema.get("additionalProperties")
    if more not in (None, False):
        choices["more"] = variants(more, defs, depth + 1)
    base = {key: values[0] for key, values in choices.items()}
    return [base, *({**base, key: value} for key, values in choices.items() for value in values[1:])]


def examples(model):
    schema = TypeAdapter(model).json_schema(by_alias=True)
    made = variants(schema, schema.get("$defs", {}))
    for example in made:
        for number, tool in enumerate(example.get("tools", []) if isinstance(example, dict) else []):
            tool["name"] = f"t{number}"
    return made


def positions(value, path=()):
    """Yield the paths to all strings."""
    if isinstance(value, str):
        yield path
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from positions(item, (*path, number))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from positions(item, (*path, key))


def put(value, path, new):
    value = json.loads(json.dumps(value))  # so that no object occurs twice
    at(value, path[:-1])[path[-1]] = new
    return value


def is_exact(example, path):
    if not path or not isinstance(path[-1], str):
        return False
    parent = at(example, path[:-1])
    if path[-1] == "blob" and not isinstance(parent.get("uri"), str):
        return False
    return (path[-1],) in EXACT or (str(parent.get("type")), path[-1]) in EXACT


def cases():
    found = {}
    for kind, table in (
        ("result", SERVER_RESULTS),
        ("request", SERVER_REQUESTS),
        ("notification", SERVER_NOTIFICATIONS),
    ):
        for (method, version), model in table.items():
            name = str(model) if isinstance(model, UnionType) else f"{model.__module__}.{model.__name__}"
            found.setdefault((kind, method, name), (kind, method, version, model))
    return {f"{kind} {method} {version}": (kind, method, model) for kind, method, version, model in found.values()}


CASES = cases()


async def sent_for(memory, kind, method, value, store):
    if kind == "result":
        return await memory.passed(store, answers={method: {"result": value}}, asked=method)
    id_ = {"id": 1} if kind == "request" else {}
    return await memory.passed(store, [{**value, **id_}])


@pytest.mark.parametrize("case", CASES)
async def test_a_flood_in_any_string_is_within_the_limits_or_listed(memory, case):
    kind, method, model = CASES[case]
    tried = set()
    for example in examples(model):
        for path in positions(example):
            names = tuple(step for step in path if isinstance(step, str))
            if kind != "result" and names[0] in ("jsonrpc", "id", "method"):
                continue
            if path in tried:  # tried in another variant
                continue
            tried.add(path)
            huge = HUGE["name" if len(tried) % 2 else "words"]
            store = MemoryStore()
            whole = json.dumps(example)
            sent = b"".join(await sent_for(memory, kind, method, put(example, path, huge), store)).decode()
            assert sent, path
            if is_exact(example, path) and (method, path[-1]) != (
                "tools/list",
                "nextCursor",
            ):  # the relay asks for all pages
                assert len(sent) > BIG
                continue
            extra = 4_000 if method == "tools/list" else 0  # our own tools
            assert len(sent) <= len(whole) + 2 * CHARS + BESIDE_CHARS + extra, path
            if (method, path[-1]) in DROPPED or (method == "tools/list" and "outputSchema" in names):
                assert huge[:100] not in sent
                continue
            refs = [record.ref for record in store.list()]
            assert any(ref in sent for ref in refs), (path, sent[:500])
            assert any(huge[: BIG // 2] in text(store, ref) for ref in refs), path
    assert tried or kind != "result" or method == "ping" or "EmptyResult" in str(model)


def text(store, ref):
    """Return what is stored, as text or from inside its JSON."""
    data = stored(store, ref).decode()
    return data + data.replace("\\n", "\n")


async def test_a_flood_in_any_part_of_an_error_is_stored_and_reported(memory):
    """error.data used to be deleted without being stored or mentioned."""
    base = {"code": -1, "message": "it failed", "data": {"trace": ["a"], "more": "b"}, "extra": "c"}
    for method in ("tools/call", "resources/read", "prompts/get", "resources/list", "tools/list", "initialize", "x/y"):
        for path in positions(base):
            for huge in HUGE.values():
                store = MemoryStore()
                [sent] = await memory.passed(store, answers={method: {"error": put(base, path, huge)}}, asked=method)
                assert len(sent) <= 2 * CHARS + BESIDE_CHARS, (method, path)
                [record] = store.list()
                said = json.loads(sent)["error"]
                assert record.ref in said["message"]
                assert said["code"] == -1
                assert huge[: BIG // 2] in text(store, record.ref)


def test_an_error_that_fits_is_as_it_came_and_small_data_stays_beside_a_long_message():
    clipper = Clipper(Limits(chars=CHARS), store=MemoryStore())
    small = {"code": 1, "message": "no", "data": {"a": [1]}, "extra": 2}
    assert bound_error(small, clipper.call()) == small
    long = bound_error({**small, "message": HUGE["words"][:CHARS]}, clipper.call())
    assert {key: long[key] for key in ("code", "data", "extra")} == {"code": 1, "data": {"a": [1]}, "extra": 2}
    assert len(json.dumps(long)) <= CHARS


@pytest.mark.parametrize("key", ["jsonrpc", "extra"])
async def test_nothing_passes_beside_the_result(memory, key):
    for asked in ("tools/call", "resources/list", "initialize", "ping"):
        answers = {asked: {"result": {"content": [], "resources": []}, key: HUGE["name"]}}
        [sent] = await memory.passed(MemoryStore(), answers=answers, asked=asked)
        assert len(sent) < BESIDE_CHARS


@pytest.mark.parametrize("message", [{"method": HUGE["name"]}, {"method": "ping", "id": HUGE["name"]}])
async def test_a_message_with_a_huge_name_is_not_passed_on(memory, message):
    [sent] = await memory.passed(MemoryStore(), [message, {"method": "notifications/x"}])
    assert json.loads(sent)["method"] == "notifications/x"


def test_a_description_within_reason_passes_byte_for_byte_in_a_list():
    clipper = Clipper(Limits(chars=300), store=MemoryStore())
    listed = {"tools": [{"name": "t", "description": "x" * LISTED_CHARS, "inputSchema": {"enum": ["y" * 9_000]}}]}
    assert bound_strings(listed, clipper.call(), free=LISTED_CHARS) == listed
    longer = bound_strings({"tools": [{"description": "x" * (LISTED_CHARS + 1)}]}, clipper.call(), free=LISTED_CHARS)
    assert len(longer["tools"][0]["description"]) <= 300


def test_many_strings_that_fit_one_by_one_are_bounded_together_where_a_model_reads_them():
    clipper = Clipper(Limits(chars=CHARS), store=MemoryStore(), hints="tools")
    data = {"level": "info", "data": ["x" * 1_000] * 1_000}
    new = bound_data(data, clipper.call())
    assert len(json.dumps(new)) <= CHARS
    [record] = clipper.settings.store.list()
    assert record.ref in new["spillover"]
    assert json.loads(stored(clipper.settings.store, record.ref)) == data


@pytest.mark.parametrize(
    "value", [{"k" * 5_000: 1}, {"a": {"k" * 500_000: "v"}}, json.loads("[" * 200 + '"x"' + "]" * 200)]
)
def test_long_keys_and_deep_nests_are_bounded_too(value):
    clipper = Clipper(Limits(chars=CHARS), store=MemoryStore())
    assert len(json.dumps(bound_strings(value, clipper.call()))) <= CHARS + NAME_CHARS


def test_many_addresses_that_are_long_together_become_text():
    clipper = Clipper(Limits(chars=CHARS), store=MemoryStore())
    inside = [
        {"type": "resource", "resource": {"uri": f"file:///{at}/" + "x" * 900, "text": "t", "_meta": {"a": 1}}}
        for at in range(1_000)
    ]
    noted = [{"type": "text", "text": "t", "annotations": {"audience": ["x" * 900]}} for _ in range(1_000)]
    for content in (inside, noted):
        new = tool_result({"content": content}, clipper.call())
        assert len(json.dumps(new)) <= CHARS * 2 + 300 * sum(block["type"] == "resource" for block in new["content"])
        assert "Output clipped" in json.dumps(new)


async def test_when_the_store_fails_it_still_fits_and_says_so(memory):
    for method, result in {
        "tools/call": {"content": [{"type": "resource", "resource": {"uri": HUGE["name"], "text": "t"}}]},
        "prompts/get": {"description": HUGE["words"], "messages": []},
        "resources/list": {"resources": [{"uri": "a:b", "name": "n", "description": HUGE["words"]}]},
    }.items():
        [sent] = await memory.passed(FailingStore(MemoryStore()), answers={method: {"result": result}}, asked=method)
        assert len(sent) <= 2 * CHARS + BESIDE_CHARS
        assert b"not kept" in sent


#: Keywords of the protocol in unexpected places.
WORDS = st.sampled_from([
    "type", "text", "data", "blob", "uri", "resource", "content", "contents", "messages", "role", "image", "audio", "src",
    "description", "systemPrompt", "isError", "_meta", "structuredContent", "resultType", "task", "icons", "nextCursor",
    "code", "message", "resource_link", "tool_result", "x",
])  # fmt: skip
LEAVES = st.one_of(WORDS, st.integers(), st.none(), st.just("ä" * 3_000), st.just("data:image/png"))
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(WORDS, inner, max_size=5)),
    max_leaves=15,
)
KINDS = st.one_of(st.sampled_from(["text", "image", "audio", "resource", "resource_link", "tool_result"]), VALUES)
INSIDE = st.fixed_dictionaries({}, optional={"uri": VALUES, "text": VALUES, "blob": VALUES, "mimeType": VALUES})
BLOCKS = st.fixed_dictionaries(
    {"type": KINDS}, optional={"text": VALUES, "data": VALUES, "resource": INSIDE, "mimeType": VALUES, "_meta": VALUES}
)
LISTS = st.one_of(st.lists(BLOCKS, max_size=3), VALUES)
MESSAGES = st.lists(st.fixed_dictionaries({"role": VALUES, "content": st.one_of(BLOCKS, LISTS)}), max_size=3)
RESULTS = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("structuredContent", "_meta", "description", "systemPrompt", "code", "message"), VALUES),
        "content": LISTS,
        "contents": st.one_of(st.lists(INSIDE, max_size=3), VALUES),
        "messages": st.one_of(MESSAGES, VALUES),
    },
)


@settings(max_examples=75, deadline=None)
@given(st.one_of(RESULTS, VALUES))
def test_nothing_a_server_can_say_fails_and_each_string_fits(value):
    """A schema with a property called "type" was mistaken for an image, which raised TypeError and lost the tool list."""
    clipper = Clipper(Limits(chars=500), store=MemoryStore())
    ways = {
        "tool": lambda: tool_result(value, clipper.call()),
        "resource": lambda: resource_result(value, clipper.call()),
        "prompt": lambda: prompt_result(value, clipper.call()),
        "error": lambda: bound_error(value, clipper.call()),
        "data": lambda: bound_data(value, clipper.call()),
        "strings": lambda: bound_strings(value, clipper.call()),
    }
    for name, way in ways.items():
        new = way()
        for path in positions(new):
            drawn = name == "resource" and "ui://" in json.dumps(value)
            assert len(at(new, path)) <= BESIDE_CHARS or is_exact(new, path) or drawn, (name, path)


def at(value, path):
    for step in path:
        value = value[step]
    return value
