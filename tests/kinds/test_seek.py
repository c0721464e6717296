"""The search that is likely next, by kind: a name for what failed, the beginnings of parts, a word of the query."""

import pytest

from spillover import Clipper, Limits, MemoryStore
from spillover.kinds.seek import likely_search


@pytest.mark.parametrize(
    ("told", "pattern"),
    [
        ([("exception", "E   TypeError: unsupported operand")], "TypeError"),
        ([("error message", "error[E0502]: cannot borrow `x`")], "E0502"),
        ([("error message", "src/a.ts(3,1): error TS2345: no")], "TS2345"),
        ([("crash", "worker aborted"), ("crash", "Out of memory: Killed process 12 (postgres)")], "Killed process"),
        ([("verdict", "not ok 12 - adds up")], "not ok"),
        ([("verdict", "FAILED tests/test_a.py::test_b"), ("exception; near line 3", "KeyError: 1")], "KeyError"),
        ([("near line 12", "KeyError: it only stands beside one")], ""),
        ([], ""),
    ],
)
def test_of_a_log_the_most_telling_name_of_an_error(told, pattern):
    assert likely_search("log", "", told) == pattern


@pytest.mark.parametrize(
    ("kind", "shown", "pattern"),
    [
        ("source", "import os\nclass A:\n    def f(self):\n", "(class|def) "),
        ("source", "   12\tpub fn run() {\n", "fn "),
        ("source", "x = 1\n", ""),
        ("diff", "diff --git a/x b/x\n", "^diff --git"),
        ("diff", "--- a/x\n+++ b/x\n", ""),
        ("prose", "# Title\ntext\n", "^#"),
        ("csv", "a,b\n", ""),
    ],
)
def test_of_other_kinds_where_their_parts_begin(kind, shown, pattern):
    assert likely_search(kind, shown, []) == pattern


def test_a_name_in_the_query_comes_first_and_plain_words_do_not():
    shown = "rates = load_rates(order)\nerror: it broke\n"
    told = [("error message", "error: it broke")]
    assert likely_search("log", shown, told, "where does load_rates read the rates?") == "load_rates"
    assert likely_search("log", shown, told, "what are the rates?") == "error"
    assert likely_search("log", shown, told, "$(reboot)_x") == "error"


def test_the_notice_of_a_clip_names_it():
    log = "\n".join(f"step {number} done" for number in range(4_000)) + "\nValueError: bad rate\n" + "ok\n" * 3_000
    clipper = Clipper(Limits(tokens=600), hints="cli", store=MemoryStore())
    out = clipper.clip(log)
    assert f"spill outline {out.ref} · spill grep {out.ref} ValueError · spill read {out.ref} " in out.text
