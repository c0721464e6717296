"""JSON pointers: which one names a place, and where the value is that one names."""

import json

import pytest

from spillover.kinds.json.strings import find_pointed, find_pointer

VALUE = {"a": [10, {"b/c": "x", "~": [None, True]}], "ü": {"": 1.5e3}, 'q"': "s, ]{", "z": []}
DATA = json.dumps(VALUE, ensure_ascii=False, indent=1).encode()
POINTERS = {
    "": VALUE,
    "/a": VALUE["a"],
    "/a/0": 10,
    "/a/1/b~1c": "x",
    "/a/1/~0": [None, True],
    "/a/1/~0/1": True,
    "/ü": {"": 1.5e3},
    "/ü/": 1.5e3,
    '/q"': "s, ]{",
    "/z": [],
}


@pytest.mark.parametrize(("pointer", "value"), POINTERS.items())
@pytest.mark.parametrize("data", [DATA, json.dumps(VALUE).encode(), b"\xef\xbb\xbf" + DATA])
def test_a_pointer_and_a_place_name_each_other(data, pointer, value):
    start, end = find_pointed(data, pointer)
    assert json.loads(data[start:end]) == value
    assert find_pointer(data, start) == pointer


@pytest.mark.parametrize("pointer", ["/b", "/a/2", "/a/x", "a", "/a/0/0", "/z/0", "//"])
def test_a_pointer_to_nothing_finds_nothing(pointer):
    assert find_pointed(DATA, pointer) is None


@pytest.mark.parametrize("data", [b"", b"not json", b"]]]", b'{"a"', b"\xff\xfe", b",,,:::"])
def test_what_is_not_json_has_no_values(data):
    assert find_pointed(data, "/a") is None
    assert find_pointer(data, 5) is None
