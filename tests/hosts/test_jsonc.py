"""JSON with comments and trailing commas."""

import json

import pytest

from spillover.hosts.edits import _TOKEN, blank_comments, read_jsonc

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
