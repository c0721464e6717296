"""Data cut to fit is still valid JSON and satisfies its schema; and which schemas allow that at all."""

import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover.adapters.mcp.schema import always_cut, cut, is_of

TEXT = {"type": "string"}
ROW = {"type": "object", "properties": {"n": {"type": "integer"}, "words": TEXT}, "required": ["n"]}
NODE = {
    "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
    "$ref": "#/$defs/node",
}
LIST = {
    "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "required": ["next"]}},
    "$ref": "#/$defs/node",
}


def with_key(schema, *, required=True):
    return {"type": "object", "properties": {"k": schema}, "required": ["k"] if required else []}


#: schema → whether every value of it can be cut
SCHEMAS = [
    (True, True),
    ({}, True),
    (TEXT, True),
    ({"type": "string", "enum": ["a", "b"]}, True),
    ({"const": "a"}, True),
    ({"type": "string", "minLength": 10}, True),
    ({"type": "string", "minLength": 5_000}, False),
    ({"type": "string", "pattern": "^a+$"}, False),
    ({"type": "string", "pattern": "^a+$", "maxLength": 40}, True),
    ({"type": "string", "format": "date-time"}, True),
    ({"type": "string", "format": "uri"}, False),
    ({"type": "array", "items": ROW}, True),
    ({"type": "array", "items": {"type": "string", "format": "uri"}}, True),  # an empty array is valid too
    ({"type": "array", "items": {"type": "string", "format": "uri"}, "minItems": 1}, False),
    ({"type": "array", "minItems": 5_000}, False),
    ({"type": "array", "contains": {"const": 1}}, False),
    (with_key(TEXT), True),
    (with_key({"type": "string", "pattern": "^a+$"}), False),
    (with_key({"type": "string", "pattern": "^a+$"}, required=False), True),
    ({"type": "object", "minProperties": 3}, False),
    ({"type": "object", "additionalProperties": False, "properties": {"a": TEXT}, "required": ["a"]}, True),
    ({"type": "object", "patternProperties": {"^a": TEXT}}, True),
    ({"type": "object", "patternProperties": {"^a": TEXT}, "required": ["ab"]}, False),
    ({"anyOf": [TEXT, {"type": "null"}]}, True),
    ({"anyOf": [TEXT, {"type": "string", "pattern": "a"}]}, False),
    ({"oneOf": [TEXT, {"type": "integer"}]}, True),
    ({"oneOf": [TEXT, {"type": "string", "minLength": 3}]}, False),
    ({"not": TEXT}, False),
    ({"allOf": [TEXT, {"minLength": 2}]}, False),
    ({"if": TEXT, "then": {"minLength": 2}}, False),
    (NODE, True),
    (LIST, False),
    ({"$ref": "https://example.com/schema"}, False),
]


@pytest.mark.parametrize(("schema", "expected"), SCHEMAS, ids=lambda value: json.dumps(value)[:60])
def test_a_schema_is_promised_only_where_every_value_can_be_cut_to_it(schema, expected):
    assert always_cut(schema) is expected


#: value, schema, and what remains of it in 200 characters
LONG = "x" * 10_000
CUTS = [
    ({"a": 1}, True, {"a": 1}),
    (["y"] * 10_000, True, ["y"] * 40),
    ({"k": LONG}, with_key(TEXT), None),
    ({"k": LONG, "extra": 1}, with_key(TEXT), None),
    ([{"n": n, "words": LONG} for n in range(1_000)], {"type": "array", "items": ROW}, None),
    ({"k": "a" * 150, "big": LONG}, with_key({"type": "string", "pattern": "^a+$"}), None),
    ({"k": [[LONG]] * 50}, with_key({"type": "array", "minItems": 2, "items": {"type": "array"}}), None),
    ({str(n): LONG for n in range(1_000)}, {"type": "object", "additionalProperties": TEXT}, None),
    ({"k": LONG}, with_key({"type": "string", "maxLength": 20_000, "minLength": 30}), None),
    ({"k": LONG}, with_key({"anyOf": [{"type": "null"}, TEXT]}), None),
    (
        {"kind": "b", "text": LONG},
        {"anyOf": [with_key(TEXT), {"properties": {"kind": {"const": "b"}}, "required": ["kind", "text"]}]},
        None,
    ),
    (["a" * 60, "b" * 60, "c" * 60, "d" * 60], {"type": "array", "uniqueItems": True}, ["a" * 60, "b" * 60, "c" * 60]),
]


def fill(text):
    return len(text) / 200


@pytest.mark.parametrize(("value", "schema", "expected"), CUTS, ids=lambda value: json.dumps(value)[:40])
def test_the_most_that_fits_is_still_of_its_schema(value, schema, expected):
    short = cut(value, schema, fill)
    assert len(json.dumps(short, ensure_ascii=False, separators=(",", ":"))) <= 200
    jsonschema.validate(short, schema)
    assert expected is None or short == expected
    assert short, "something can always be shown here"


def test_data_that_cannot_be_cut_gives_none():
    assert cut({"k": LONG}, with_key({"type": "string", "pattern": "^x+$"}), fill) is None


def test_deeply_nested_data_does_not_fail():
    value = LONG
    for _ in range(500):
        value = [value]
    assert len(json.dumps(cut(value, True, fill))) <= 200


def test_whether_a_value_is_of_a_schema():
    assert is_of({"n": 1}, ROW)
    assert not is_of({"n": "1"}, ROW)
    assert not is_of({}, {"type": "no such type"})


def schemas():
    leaves = st.sampled_from([
        TEXT, {"type": "integer"}, {"type": "boolean"}, {"type": "null"}, True, {"enum": ["a", 1]},
        {"type": "string", "minLength": 3, "maxLength": 30}, {"type": "string", "format": "date"},
    ])  # fmt: skip

    def of(inner):
        lists = st.builds(
            lambda items, least: {"type": "array", "items": items, "minItems": least}, inner, st.integers(0, 2)
        )
        objects = st.builds(
            lambda properties, required, more: {
                "type": "object",
                "properties": properties,
                "required": [key for key in properties if key in required],
                "additionalProperties": more,
            },
            st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
            st.sets(st.sampled_from("abcd")),
            st.booleans(),
        )
        unions = st.builds(lambda one: {"anyOf": [one, {"type": "null"}]}, inner)
        return lists | objects | unions

    return st.recursive(leaves, of, max_leaves=6)


def value_of(schema, draw):
    """Return a large value that satisfies a schema."""
    if schema is True:
        return draw(st.sampled_from([LONG, [1] * 300, {"z": LONG}]))
    if "enum" in schema:
        return draw(st.sampled_from(schema["enum"]))
    if "anyOf" in schema:
        return value_of(draw(st.sampled_from(schema["anyOf"])), draw)
    kind = schema["type"]
    if kind == "string":
        return "2026-01-01" if "format" in schema else "x" * schema.get("maxLength", 3_000)
    if kind == "array":
        return [value_of(schema["items"], draw) for _ in range(draw(st.integers(schema["minItems"], 12)))]
    if kind == "object":
        keys = [key for key in schema["properties"] if key in schema["required"] or draw(st.booleans())]
        more = {"more": LONG} if schema["additionalProperties"] else {}
        return {key: value_of(schema["properties"][key], draw) for key in keys} | more
    return {"integer": 7, "boolean": True, "null": None}[kind]


@given(st.data())
def test_whatever_can_always_be_cut_is_cut_to_something_small_of_its_schema(data):
    schema = data.draw(schemas())
    value = value_of(schema, data.draw)
    jsonschema.validate(value, schema)
    assert always_cut(schema)
    short = cut(value, schema, lambda text: len(text) / 1_500)
    jsonschema.validate(short, schema)
    assert len(json.dumps(short, ensure_ascii=False, separators=(",", ":"))) <= 1_500
