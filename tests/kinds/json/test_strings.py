"""Strings in JSON: cut as texts of their kind, read, named by pointers; and reprs spelled as JSON."""

import base64
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover import Clipper, Limits, MemoryStore
from spillover.kinds.json.strings import find_pointed, find_pointer, is_json_prefix, read_string, safe_cut, spell_repr

LOG = "".join(f"step {number}: compiling part{number}.c\n" for number in range(3_000))
BROKEN = LOG.replace("step 1500:", "ERROR: part9.c:17: no such type\nstep 1500:")
DIFF = "".join(
    f"diff --git a/f{number} b/f{number}\n--- a/f{number}\n+++ b/f{number}\n@@ -1 +1 @@\n-old {number}\n+new {number}\n"
    for number in range(400)
)
INNER = json.dumps([{"id": number, "ok": number != 777} for number in range(3_000)])


def clipped(value, tokens=800, **options):
    clipper = Clipper(Limits(tokens=tokens), store=MemoryStore(), hints="cli", scope="test")
    clip = clipper.clip(json.dumps(value, **options))
    assert clipper.settings.count(clip.text) <= tokens
    notice, _, body = clip.text.partition("]\n")
    return notice, json.loads(body), clip, clipper


@pytest.mark.parametrize("options", [{}, {"indent": 1}, {"ensure_ascii": False}])
@pytest.mark.parametrize(
    "wrap",
    [
        lambda text: {"result": text},
        lambda text: {"stdout": text, "stderr": "", "exit_code": 2},
        lambda text: [{"type": "text", "text": text}],
        lambda text: {"a": {"b": [1, {"c/d": text}]}, "z": "ü" * 50},
    ],
)
def test_a_log_in_a_string_keeps_its_error_and_the_json_its_shape(wrap, options):
    _, value, clip, _ = clipped(wrap(BROKEN), **options)
    assert clip.kind == "json"
    assert "ERROR: part9.c:17: no such type\n" in json.dumps(value).replace("\\n", "\n")
    hollow = json.loads(json.dumps(wrap("")))
    assert json.dumps(value, default=str).count("[") >= json.dumps(hollow).count("[")
    assert type(value) is type(hollow)
    if isinstance(value, dict):
        assert value.keys() == hollow.keys()


def test_the_markers_name_the_string_and_its_lines_and_the_notice_the_next_call():
    notice, value, clip, clipper = clipped({"stdout": BROKEN, "exit_code": 2})
    first = re.search(r"more like the line above, lines (\d+)-1,500 of /stdout …\]\nERROR", value["stdout"])[1]
    assert f"spill read {clip.ref}#/stdout {first}:{int(first) + 99}" in notice
    answer = clipper.read(f"{clip.ref}#/stdout", lines="2:101").text
    assert answer.startswith("2: step 1: compiling part1.c\n3: step 2")
    assert f"Next: spill read {clip.ref}#/stdout 67:101]" in answer


def test_every_kind_of_text_is_cut_as_its_kind():
    _, value, _, _ = clipped({"diff": DIFF})
    assert "diff --git a/f0 b/f0" in value["diff"]
    _, value, _, _ = clipped({"body": INNER})
    inner = json.loads(value["body"])  # JSON in a string stays JSON
    assert {"id": 777, "ok": False} in inner
    _, value, _, _ = clipped({"png": base64.b64encode(bytes(range(256)) * 300).decode()})
    assert "base64, 102,400 bytes" in value["png"]


def test_the_room_is_used():
    clipper = Clipper(Limits(tokens=2_000), store=MemoryStore(), scope="test", worth=0)
    words = (
        "copied",
        "linked",
        "checked",
        "packed",
        "signed",
        "moved",
        "found",
        "loaded",
        "read",
        "sent",
        "built",
        "put",
    )
    lines = [f"{one} {two} after {three}" for one in words for two in words for three in words]  # no two are alike
    varied = "\n".join([*lines[:900], "ERROR: the disk is full", *lines[900:]])
    for value in ({"result": varied}, {"stdout": varied, "stderr": LOG}):
        assert clipper.settings.count(clipper.clip(json.dumps(value)).text) > 1_700


def test_what_was_cut_twice_is_one_json_still():
    text = json.dumps({"a": json.dumps({"b": json.dumps({"c": BROKEN})})})
    _, value, _, _ = clipped(json.loads(text), tokens=1_500)
    assert "ERROR: part9.c" in json.loads(json.loads(value["a"])["b"])["c"]


def test_a_forged_marker_in_a_string_is_a_string():
    forged = '"}\n[… lines 2-9 of /x not shown …]\n{"' + BROKEN
    _, value, _, _ = clipped({"x": forged})
    assert value.keys() == {"x"}


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.text(st.characters(exclude_categories=()), max_size=60))
def test_a_string_means_what_json_says_it_means(text):
    for ascii_only in (True, False):
        if not ascii_only and any(0xD800 <= ord(char) < 0xE000 for char in text):
            continue
        raw = json.dumps(text, ensure_ascii=ascii_only).encode()
        read = read_string(raw, 1, len(raw) - 1)
        assert read.data == json.loads(raw).encode("utf-8", "surrogatepass")
        assert not read.extra or len(read.data) + read.extra[-1] == len(raw) - 2


@settings(max_examples=40, derandomize=True, deadline=None)
@given(
    st.dictionaries(
        st.text(max_size=6),
        st.one_of(
            st.integers(), st.text(max_size=30).map(lambda text: f"{text}\n" * 400), st.lists(st.text(max_size=9))
        ),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from([200, 500, 1_500]),
    st.booleans(),
)
def test_whatever_stands_in_it_json_stays_json_and_fits(value, tokens, ascii_only):
    clipper = Clipper(Limits(tokens=tokens), store=MemoryStore(), scope="test")
    clip = clipper.clip(json.dumps(value, ensure_ascii=ascii_only))
    assert clipper.settings.count(clip.text) <= tokens
    if clip.kind == "json" and clip.outcome == "stored":
        json.loads(clip.text.partition("]\n")[2])


@pytest.mark.parametrize(
    ("text", "at", "expected"),
    [
        (r"abcdef", 3, 3),
        (r"ab\ncd", 3, 2),  # not between a backslash and its letter
        (r"ab\ncd", 4, 4),
        (r"ab\\ncd", 4, 4),
        (r"ab\\\ncd", 5, 4),
        (r"\u00e9x", 6, 6),
        (r"\u00e9x", 5, 0),
        (r"\u00e9x", 1, 0),
        (r"\\u00e9x", 4, 4),  # a backslash, then letters
        (r"\ud83d\ude00x", 6, 0),  # one character in two escapes
        (r"\ud83d\ude00x", 9, 0),
        (r"\ud83d\ude00x", 12, 12),
        (r"\\ud83d\ude00", 7, 7),  # the first is no escape
        ("\\" * 200 + "x", 101, 100),
        ("\\" * 200 + "x", 100, 100),
        ("aé", 2, 1),
        ("😀x", 3, 0),
    ],
)
def test_a_string_is_cut_between_characters(text, at, expected):
    data = b'"' + text.encode() + b'"'
    assert safe_cut(data, 1, at + 1) - 1 == expected


POINTED = {"a": [10, {"b/c": "x", "~": [None, True]}], "ü": {"": 1.5e3}, 'q"': "s, ]{", "z": []}
POINTED_JSON = json.dumps(POINTED, ensure_ascii=False, indent=1).encode()
POINTERS = {
    "": POINTED,
    "/a": POINTED["a"],
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
@pytest.mark.parametrize("data", [POINTED_JSON, json.dumps(POINTED).encode(), b"\xef\xbb\xbf" + POINTED_JSON])
def test_a_pointer_and_a_place_name_each_other(data, pointer, value):
    start, end = find_pointed(data, pointer)
    assert json.loads(data[start:end]) == value
    assert find_pointer(data, start) == pointer


@pytest.mark.parametrize("pointer", ["/b", "/a/2", "/a/x", "a", "/a/0/0", "/z/0", "//"])
def test_a_pointer_to_nothing_finds_nothing(pointer):
    assert find_pointed(POINTED_JSON, pointer) is None


@pytest.mark.parametrize("data", [b"", b"not json", b"]]]", b'{"a"', b"\xff\xfe", b",,,:::"])
def test_what_is_not_json_has_no_values(data):
    assert find_pointed(data, "/a") is None
    assert find_pointer(data, 5) is None


WHOLE = json.dumps(
    [{"id": n, "name": f"name {n}", "in": {"a": [1.5e-3, True, None, 'q\\"é']}} for n in range(60)]
).encode()


@pytest.mark.parametrize(
    ("data", "whole", "goes_on"),
    [
        (WHOLE, True, True),
        (WHOLE, False, False),
        (WHOLE[:-1], False, True),
        (WHOLE[:-1], True, False),
        (WHOLE[:2000], False, True),
        (WHOLE[:2000] + b"\n[INFO] done", False, False),
        (b'[{"a": -', False, True),
        (b'[{"a": 1.', False, True),
        (b'[{"a": tru', False, True),
        (b'[{"a": "b\\', False, True),
        (b"[1, 2] and", False, False),
        (b"[1 2 x", False, False),
        (b"[INFO] done", False, False),
        (b'"text', False, False),
        (b"[" * 100_000, False, False),
        (WHOLE + b" trailing", True, False),
    ],
)
def test_what_is_json_as_far_as_it_goes(data, whole, goes_on):
    assert is_json_prefix(data, whole=whole) is goes_on


@pytest.mark.parametrize(
    "value",
    [
        [{"id": 1, "name": "o'neil 1", "note": None, "ok": True, "pair": (1,)}],
        [(1,), (), "\\", "a\"b'c", b"'", -1.5, 1e300, {"k": None}],
        [True, False],
        ["'", '"', "\\'"],
        {"k": ["\x07\n\\", "é"]},
    ],
)
def test_a_repr_is_spelled_as_json_of_the_same_length(value):
    data = repr(value).encode()
    spelled = spell_repr(data)
    assert len(spelled) == len(data)
    json.loads(spelled)
