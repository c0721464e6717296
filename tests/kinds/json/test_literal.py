"""A Python repr is data: cut like JSON, and still a repr."""

import ast
import json

import pytest

from spillover import Clipper, Limits, MemoryStore
from spillover.kinds.json.strings import spell_repr

ROWS = [{"id": number, "name": f"o'neil {number}", "note": None, "ok": True, "pair": (1,)} for number in range(2_000)]
ROWS[1_333]["note"] = "FAILED: disk on fire"


def clipped(value):
    clipper = Clipper(Limits(tokens=700), store=MemoryStore(), hints="cli", scope="test")
    clip = clipper.clip(repr(value))
    assert clipper.settings.count(clip.text) <= 700
    return clip, clip.text.partition("]\n")[2], clipper


@pytest.mark.parametrize(
    "value", [ROWS, tuple(ROWS), {"rows": ROWS}, [(number, "x\x1b'\"", b"y") for number in range(3_000)]]
)
def test_a_repr_stays_a_repr(value):
    clip, body, _ = clipped(value)
    assert clip.kind == "repr"
    shown = ast.literal_eval(body)
    assert type(shown) is type(value)
    assert ("on fire" in body) == ("on fire" in repr(value))


@pytest.mark.parametrize("item", ["datetime.date(2026, 1, 2)", "b'bytes'", "None", "Decimal(15)"])
def test_a_repr_may_begin_with_a_call_bytes_or_a_word(item):
    clipper = Clipper(Limits(tokens=300), store=MemoryStore(), scope="test")
    assert clipper.clip(f"[{', '.join([item] * 2_000)}]").kind == "repr"


def test_a_log_in_a_repr_keeps_its_error_and_can_be_read_by_its_pointer():
    log = "all good\n" * 2_000 + "ERROR: it's broken\n" + "all good\n" * 2_000
    clip, body, clipper = clipped({"stdout": log, "code": 2})
    assert "ERROR: it's broken\n" in ast.literal_eval(body)["stdout"]
    assert "2001: ERROR: it's broken" in clipper.read(f"{clip.ref}#/stdout", lines="2001").text


@pytest.mark.parametrize(
    "text", ["[see 'above'] and so on ", "{'a', 'b'} ", "(defun x (y) 'z) ", "[1, 2 'x'] ", "['unclosed, ", "{x: 'y'} "]
)
def test_what_only_looks_like_one_is_none(text):
    clipper = Clipper(Limits(tokens=300), store=MemoryStore(), scope="test")
    assert clipper.clip(text * 2_000).kind != "repr"


@pytest.mark.parametrize(
    "value",
    [
        ROWS[:2],
        [(1,), (), "\\", "a\"b'c", b"'", -1.5, 1e300, {"k": None}],
        [True, False],
        ["'", '"', "\\'"],
        {"k": ["\x07\n\\", "é"]},
    ],
)
def test_it_is_spelled_as_json_of_the_same_length(value):
    data = repr(value).encode()
    spelled = spell_repr(data)
    assert len(spelled) == len(data)
    json.loads(spelled)
