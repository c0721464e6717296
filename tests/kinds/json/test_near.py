"""What is nearly JSON is shown like it: a Python repr, and a value with some words around it."""

import ast
import json

import pytest

from spillover import Clipper, Limits, MemoryStore

ROWS = [
    {
        "schema": "public",
        "name": f"table_{n}",
        "kind": "BASE TABLE",
        "owner": None,
        "logged": True,
        "comment": "none so far, as nobody wrote one",
    }
    for n in range(90)
]


def clip(text, tokens=600):
    return Clipper(Limits(tokens=tokens), store=MemoryStore()).clip(text)


def test_a_python_repr_is_known_and_its_rows_are_shown():
    clipped = clip(repr(ROWS))
    assert clipped.kind == "repr"
    assert sum(f"'table_{n}'" in clipped.text for n in range(90)) > 10
    assert "'none so far, as nobody wrote one'" not in clipped.text.partition("table_1'")[2]


def test_what_is_shown_of_a_repr_is_one_still():
    text = clip(repr([*ROWS, {"name": 'it\'s "one"', "pair": (1, 2)}])).text
    assert ast.literal_eval(text[text.index("[{") :])


def test_words_around_a_value_stay():
    clipped = clip(
        "Backend metadata:\n\n" + json.dumps({"tables": ROWS}, indent=2) + "\n\nCall get-table-schema for more.\n"
    )
    assert clipped.kind == "repr"
    assert "Backend metadata:\n\n{" in clipped.text
    assert clipped.text.rstrip().endswith("Call get-table-schema for more.")


@pytest.mark.parametrize(
    "text",
    ["[INFO] start\n" * 400, "[1/9] building it\n" * 400, "{'a': 1} and more\n" * 400, "[{'a': it's}]" + " " * 4_000],
)
def test_what_only_begins_like_a_value_is_a_log(text):
    assert clip(text, 300).kind == "log"


def test_the_head_of_a_minified_file_is_shown():
    banner = "/*! harbour v3.7.1 | (c) Harbour Lamps | harbour.example.org/license */\n"
    text = (
        banner
        + "!function(e,t){"
        + "".join(f'var a{n}=function(b,c){{return b&&c?d({n}):e["x{n}"]}};' for n in range(900))
        + "}(this);"
    )
    clipped = clip(text)
    assert clipped.kind == "blob"
    assert "harbour v3.7.1" in clipped.text
    assert "minified code" in clipped.text
