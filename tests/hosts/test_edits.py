"""Editing JSON as text: add or remove one entry and leave every other byte unchanged."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover.hosts.edits import _TOKEN, blank_comments, insert_json, read_jsonc, remove_json

KEYS = ("hooks", "After", "[]")
OURS = {"ours": True}

PUT = {
    "an empty object": ("{}", '{\n  "hooks": {\n    "After": [\n      {\n        "ours": true\n      }\n    ]\n  }\n}'),
    "one line": ('{"a": 1}', '{"a": 1, "hooks": {"After": [{"ours": true}]}}'),
    "four spaces": (
        '{\n    "hooks": {\n        "Stop": []\n    }\n}\n',
        (
            '{\n    "hooks": {\n        "Stop": [],\n        "After": [\n            {\n'
            '                "ours": true\n            }\n        ]\n    }\n}\n'
        ),
    ),
    "a list on one line": (
        '{\n  "hooks": {"After": [{"x": 1}]}\n}\n',
        '{\n  "hooks": {"After": [{"x": 1}, {"ours": true}]}\n}\n',
    ),
    "tabs and CRLF": (
        '{\r\n\t"hooks": {\r\n\t\t"After": [\r\n\t\t\t5\r\n\t\t]\r\n\t}\r\n}\r\n',
        '{\r\n\t"hooks": {\r\n\t\t"After": [\r\n\t\t\t5,\r\n\t\t\t{\r\n\t\t\t\t"ours": true\r\n\t\t\t}\r\n\t\t]\r\n\t}\r\n}\r\n',
    ),
}


@pytest.mark.parametrize(("before", "after"), PUT.values(), ids=PUT)
def test_an_entry_is_laid_out_as_what_is_there(before, after):
    assert insert_json(before, KEYS, OURS) == after


@pytest.mark.parametrize(("before", "after"), PUT.values(), ids=PUT)
def test_taking_it_out_gives_the_same_bytes_again(before, after):
    assert remove_json(after, KEYS, lambda value: value == OURS) == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"hooks": {"After": [1, {"ours": true}, 2]}}', '{"hooks": {"After": [1, 2]}}'),
        ('{"hooks": {"After": [{"ours": true}, 2]}}', '{"hooks": {"After": [2]}}'),
        ('{"hooks": {"After": [{"ours": true}, {"ours": true}]}, "b": 1}', '{"b": 1}'),
        ('{"hooks": {"After": [{"ours": true}]}}', "{}"),
        ('{"hooks": {"After": {"ours": true}}}', '{"hooks": {"After": {"ours": true}}}'),
        ('{"hooks": 5}', '{"hooks": 5}'),
        ("[]", "[]"),
        ("5", "5"),
    ],
)
def test_only_our_entry_is_removed_and_whatever_that_leaves_empty(before, after):
    assert remove_json(before, KEYS, lambda value: value == OURS) == after


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[]", "it is not an object"),
        ("5", "it is not an object"),
        ('"x"', "it is not an object"),
        ('{"hooks": []}', "hooks is not an object"),
        ('{"hooks": null}', "hooks is not an object"),
        ('{"hooks": {"After": {}}}', "hooks.After is not a list"),
    ],
)
def test_an_unexpected_value_in_the_way_is_reported(text, why):
    with pytest.raises(ValueError, match=f"^{why}$"):
        insert_json(text, KEYS, OURS)


def test_a_member_that_is_there_is_not_written_over():
    with pytest.raises(ValueError, match="servers"):
        insert_json('{"servers": {"us": 5}}', ("servers", "us"), OURS)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
FILES = st.dictionaries(st.text(max_size=4), JSON, max_size=3).map(lambda value: {**value, "other": 1}) | st.builds(
    lambda rest, hooks, after: {**rest, "hooks": {**hooks, "After": after}},
    st.dictionaries(st.text(max_size=4), JSON, max_size=2),
    st.dictionaries(st.text(max_size=4), JSON, max_size=2),
    st.lists(JSON, min_size=1, max_size=3),
)
LAYOUTS = st.sampled_from(
    [{}, {"indent": 2}, {"indent": 4}, {"indent": "\t"}, {"separators": (",", ":")}, {"indent": 0}]
)


@given(value=FILES, layout=LAYOUTS, ascii_only=st.booleans(), ends=st.sampled_from(["", "\n", " \n\n"]))
def test_whatever_is_there_stays_and_comes_back_byte_for_byte(value, layout, ascii_only, ends):
    before = json.dumps(value, ensure_ascii=ascii_only, **layout) + ends
    after = insert_json(before, KEYS, OURS)
    new = json.loads(after)
    assert new["hooks"]["After"].pop() == OURS
    if "hooks" not in value:
        assert new.pop("hooks") == {"After": []}
    elif "After" not in value["hooks"]:
        assert new["hooks"].pop("After") == []
    assert new == value
    assert remove_json(after, KEYS, lambda one: one == OURS) == before


# Comments


@pytest.mark.parametrize(
    "before",
    ['{"hooks": {/* mine */ }}', '{\n  "hooks": {\n    // mine\n  }\n}\n', '{"hooks": {"After": [ /* mine */ ]}}'],
)
def test_a_comment_in_a_place_that_was_empty_stays(before):
    after = insert_json(before, KEYS, OURS)
    assert "mine" in after
    assert read_jsonc(after) == {"hooks": {"After": [OURS]}}


TEXTS = {
    '{"a": 1}': {"a": 1},
    '// x\n{"a": 1, /* y, */ "b": [1, 2,],} // z': {"a": 1, "b": [1, 2]},
    '{"u": "http://x/*y*/", // ,\n "v": "a\\"//b",\n}': {"u": "http://x/*y*/", "v": 'a"//b'},
    "[1, // ]\n 2 /* } */ , /* last */ ]": [1, 2],
    "\ufeff{}": {},
}


@pytest.mark.parametrize(("text", "value"), TEXTS.items())
def test_comments_and_trailing_commas_are_no_matter(text, value):
    assert read_jsonc(text) == value
    assert len(blank_comments(text)) == len(text)
    assert blank_comments(text).count("\n") == text.count("\n")


@pytest.mark.parametrize("text", ["{", "[1,,2]", "/* open", '"open', "{'a': 1}", ""])
def test_what_is_no_json_even_so_is_an_error(text):
    with pytest.raises(ValueError, match=r"."):
        read_jsonc(text)


def test_plain_json_stays_as_it_is():
    text = json.dumps({"a": ["//", ",]", "/*"], "b": {"c": None}}, indent=2)
    assert blank_comments(text) == text


@pytest.mark.parametrize("unit", ['[1,\\"', '"\\', '\\"', "/*", "/**", "//", '"\\\n', "*/", ",", ", "])
def test_quotes_and_comments_that_are_never_closed_are_each_looked_at_once(unit):
    """60 KB of them cost 10 s: from each quote, the rest of the file was searched for the other one.

    What an engine looks at cannot be counted, but where nothing fails, each character belongs to one token.
    """

    def tokens(times):
        return len(list(_TOKEN.finditer('{"a":1}[' + unit * times)))

    assert tokens(4_000) <= 4 * tokens(1_000)
    for found in _TOKEN.finditer('{"a":1}[' + unit * 100):
        assert found[0] not in ('"', "/*") or found.end() == len(found.string), "it was searched for its end in vain"
