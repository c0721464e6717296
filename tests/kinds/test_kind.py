"""What an output is, by samples of it and by its name, and the search that is likely next."""

import base64
import csv
import difflib
import gzip
import io
import json
import random
import time

import pytest
from chosen_by import CALL
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover import Clipper, Limits, MemoryStore
from spillover.document.document import Document, Section
from spillover.kinds.kind import KINDS, describe, likely_search, recognise, select
from spillover.kinds.sample import read_hint
from spillover.kinds.selection import Room
from spillover.source.blob import BothEnds, MemoryBlob, Meter


def document(data, sections=None, held=None):
    data = data if isinstance(data, bytes) else data.encode()
    meter = Meter()
    meter.feed(data)
    sections = sections or (Section(0, len(data)),)
    return Document(held or MemoryBlob(data), meter.index, meter.lines, meter.newlines, sections)


def guess(output, hint=""):
    """Return the names of what an output may be, the likeliest first."""
    return tuple(name for name, _ in recognise(output, hint))


def written(rows, separator=","):
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=separator, lineterminator="\n").writerows(rows)
    return out.getvalue()


def a_diff(count=40):
    before = [f"line {number}\n" for number in range(count * 10)]
    after = [line if number % 10 else f"changed {number}\n" for number, line in enumerate(before)]
    return "".join(difflib.unified_diff(before, after, "a/x.py", "b/x.py"))


ROWS = [["id", "name", "status", "ms"], *([n, f"host-{n}", "ok", n * 7 % 100] for n in range(6_000))]
OBJECTS = [{"id": number, "name": f"n {number}", "tags": [1, None, "é\n"]} for number in range(4_000)]
LOG = "".join(
    f"2026-11-15 12:00:{n % 60:02},{n % 999:03} INFO worker {n} did things, slowly, and well\n" for n in range(3_000)
)
HTML = "<!DOCTYPE html>\n<html><body>" + "<p>Some words in it.</p>\n" * 3_000 + "</body></html>\n"
XML = "<?xml version='1.0'?>\n<suites>\n" + "  <case name='a' time='1'/>\n" * 5_000 + "</suites>\n"
GIT = "diff --git a/x.py b/x.py\nindex 1..2 100644\n" + a_diff()
NOISE = random.Random(3).randbytes(90_000)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("json", json.dumps(OBJECTS)),
        ("json", json.dumps(OBJECTS, indent=2)),
        ("json", "\n  " + json.dumps({"all": OBJECTS, "n": -1.5e9, "e": {}, "l": []}, indent=4) + "\n"),
        ("json", json.dumps({"a": [1, 2, 3]})),
        ("json", json.dumps(["x" * 200_000])),
        ("ndjson", "".join(json.dumps(one) + "\n" for one in OBJECTS)),
        ("ndjson", '{"level":"info","msg":"a"}\n' * 9_000),
        ("csv", written(ROWS)),
        ("csv", written(ROWS, ";")),
        ("csv", written(ROWS, "|")),
        ("tsv", written(ROWS, "\t")),
        ("csv", written([[n, n * 2, n * n] for n in range(9_000)])),
        ("csv", written([["who", "what"], *([f"p{n}", f'said, "{n}"\nand left'] for n in range(900))] + [["p", "q"]] * 200)),
        ("csv", written([["id", "body"], *([n, "word, " * 3_000] for n in range(50))])),
        ("diff", a_diff()),
        ("diff", GIT),
        ("diff", GIT * 90),
        ("diff", "commit 0123456789abcdef\nAuthor: A <a@b>\nDate:   now\n\n    what it is\n\n" + GIT),
        ("html", HTML),
        ("html", HTML.replace("\n", "")),
        ("xml", XML),
        ("xml", XML.replace("\n", "")),
        ("xml", "<suites>" + "<case/>" * 20_000 + "</suites>"),
        ("search", "".join(f"-rw-r--r-- 1 root root {n} Nov 15 12:00 file{n}.txt\n" for n in range(2_000))),
        ("search", "".join(f"src/app/part_{n % 9}.py:{n}:    value = load({n})\n" for n in range(2_000))),
        ("search", "".join(f"./lib/pkg_{n % 40}/module_{n}.py\n" for n in range(2_000))),
        ("search", "".join(f"src/part_{n}.py\n{n}:def load():\n{n + 7}:    load()\n\n" for n in range(900))),
        ("source", "import os, sys\n\ndef f(a, b):\n    return [a, b, (1, 2)]\n" * 900),
        ("source", "".join(f"{n:6}\u2192 some words of line {n}\n" for n in range(1, 3_000))),
        ("source", "".join(f"{n}\twhatever {n * n} it says\n" for n in range(120, 3_000))),
        ("blob", NOISE),
        ("blob", gzip.compress(NOISE, mtime=0)),
        ("blob", base64.b64encode(NOISE)),
        ("blob", base64.encodebytes(NOISE)),
        ("blob", NOISE.hex()),
        ("repr", str({"a": [1, None, "b"] * 9_000})),
        ("blob", "!function(e,t){var n=e.t;return n(t)||{a:1,b:[2,3]};" * 3_000),
    ],
)  # fmt: skip
def test_each_kind_is_known_without_a_name(kind, text):
    assert guess(document(text)) == (kind, "log")
    assert describe(document(text)) == kind


LOGS = {
    "empty": "",
    "a log": LOG,
    "two commas": "".join(f"step {n}, which takes long, is done\n" for n in range(3_000)),
    "two commas without space": "".join(f"copied a/{n}.txt,renamed it,went on to the next\n" for n in range(3_000)),
    "a log with milliseconds": "".join(f"12:00:{n % 60:02},{n % 999:03} worker started job {n}\n" for n in range(3_000)),
    "it begins with a brace": "{ building everything }\n" + LOG + "}\n",
    "a JSON object and then a log": json.dumps(OBJECTS[0], indent=2) + "\n" + LOG,
    "a log and then a JSON object": LOG + json.dumps(OBJECTS[0], indent=2) + "\n",
    "some lines of JSON": "".join(f"{json.dumps(OBJECTS[n])}\nplain line {n}\n" for n in range(1_000)),
    "a shell with one diff in it": "$ git status\nOn branch main\n$ git diff\n" + GIT + "$ make\n" + LOG,
    "a diff and then a shell": GIT + "$ make test\nall good\n",
    "a diff in a long log": GIT + LOG * 5,
    "errors of a compiler": "<stdin>:1:2: error: what is this <int>\n" * 3_000,
    "a tag and then a log": "<configuration>\n" + LOG,
    "markdown": "# Title\n\n- one\n- two\n\n--- \n+++ text\n" * 900,
    "yaml": "".join(f"key{n}:\n  - a: {n}\n    b: [1, 2]\n" for n in range(2_000)),
    "tables of a tool": "".join(f"| name{n} | {n} |\n|---|---|\n\nsome text here\n" for n in range(900)),
    "tabs": "".join(f"ok  \texample.com/pkg{n}\t0.0{n}s\n" if n % 3 else f"?   \texample.com/p{n}\n" for n in range(2_000)),
    "long lines": ("word " * 900 + "\n") * 40,
    "russian": "Привет, мир, и всё такое\n" * 3_000,
    "colours": "\x1b[32mok\x1b[0m a, b, c\r\n" * 3_000,
    "nul bytes in a log": LOG + "\0" * 20 + LOG,
}  # fmt: skip


def test_files_with_a_number_each_are_what_a_search_found():
    assert guess(document("".join(f"/usr/lib/thing{n}/__init__.py:{n}\n" for n in range(3_000)))) == ("search", "log")


@pytest.mark.parametrize("name", LOGS)
def test_what_is_not_surely_something_else_is_a_log(name):
    assert guess(document(LOGS[name])) == ("log",)


@pytest.mark.parametrize("name", LOGS)
@pytest.mark.parametrize("said", ["x.json", "x.ndjson", "git diff HEAD", "x.xml", "x.html", "index.html"])
def test_a_name_is_not_enough_where_the_content_says_otherwise(name, said):
    assert guess(document(LOGS[name]), read_hint(said)) == ("log",)


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("data.csv", "a,b\n1,2\n3,4\n", "csv"),
        ("data.tsv", "a\tb\nc\td\ne\tf\n", "tsv"),
        ("DATA.CSV", written([["x", "y z"], ["free text", "more, of it"], ["and so", "on"]]), "csv"),
        ("page.htm", "<article><p>words</p></article>", "html"),
        ("data.csv", LOG, "log"),
        ("data.csv", "one\ntwo\nthree\n", "log"),
        ("git diff", "nothing to compare\n", "log"),
    ],
)
def test_a_name_makes_up_for_little_evidence(name, text, kind):
    assert describe(document(text), read_hint(name)) == kind


@pytest.mark.parametrize(
    ("told", "text", "kind"),
    [
        ("search", "".join(f"part_{n % 9}.py:    value = load({n})\n" for n in range(90)), "search"),
        ("search", LOG, "log"),
        ("source", "key: 1\nother:\n  - a\n  - b: {\n" * 40, "source"),
        ("source", LOG, "log"),
        ("", "".join(f"part_{n % 9}.py:    value = load({n})\n" for n in range(90)), "log"),
    ],
)
def test_what_a_call_says_of_itself_makes_up_for_little_evidence(told, text, kind):
    assert guess(document(text), told)[0] == kind


def test_an_output_of_several_sections_is_a_log():
    text = written(ROWS).encode()
    assert guess(document(text, (Section(0, 9), Section(9, len(text))))) == ("log",)


@pytest.mark.parametrize("text", [json.dumps(OBJECTS), written(ROWS), XML, GIT * 90, base64.b64encode(NOISE).decode()])
def test_several_sections_and_lost_parts_are_shown_as_a_log(text):
    data = text.encode()
    room = Room(lambda spans: sum(span.end - span.start for span in spans) / 9_000)
    assert select(document(data), room, CALL).kind != "log"
    assert select(document(data, (Section(0, 9), Section(9, len(data)))), room, CALL).kind == "log"
    assert (
        select(document(data, held=BothEnds(MemoryBlob(data[:900]), data[-900:], len(data))), room, CALL).kind == "log"
    )


def test_only_samples_are_read():
    class Watched(MemoryBlob):
        read_bytes = 0

        def read(self, start, end):
            data = MemoryBlob.read(self, start, end)
            Watched.read_bytes += len(data)
            return data

    for text in (written(ROWS * 40), LOG * 20, json.dumps(OBJECTS * 20), XML * 20, base64.b64encode(NOISE * 20)):
        data = text if isinstance(text, bytes) else text.encode()
        Watched.read_bytes = 0
        guess(document(data, held=Watched(data)))
        assert Watched.read_bytes <= 128 << 10 < len(data)


NAMES = {name for kind in KINDS for name in kind.NAMES}
PIECE = st.sampled_from([
    "{", "}", "[", "]", '"a"', ":", ",", "1", "\n", "a,b\n", "1,2\n", "<a>", "</a>", "@@ -1 +1 @@\n", "--- a\n", "+++ b\n", "word ",
    "\t", "\0", '{"a": 1}\n', "é", "A1b2C3d4" * 90, "<!--", "\r\n", '"',
])  # fmt: skip


@settings(max_examples=300)
@given(
    st.lists(PIECE, max_size=60).map("".join),
    st.sampled_from(["", "x.csv", "git diff", "x.json", "x.html"]),
    st.integers(1, 4_000),
)
def test_whatever_the_output_there_is_an_answer_and_it_is_the_same_twice(text, name, times):
    data = (text * times)[:200_000].encode()
    found = guess(document(data), name)
    assert found[-1] == "log"
    assert set(found) <= NAMES
    assert len(set(found)) == len(found)
    assert guess(document(data), name) == found


@settings(max_examples=100)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ),
    st.sampled_from([None, 2]),
)
def test_what_json_writes_is_json(value, indent):
    assert "json" in guess(document(json.dumps([value], indent=indent)))
    assert "json" in guess(document(json.dumps({"a": value}, indent=indent, ensure_ascii=False)))


def test_an_output_whose_middle_is_gone_is_looked_at_all_the_same():
    data = written(ROWS).encode()
    assert describe(document(data, held=BothEnds(MemoryBlob(data[:70_000]), data[-9_000:], len(data)))) == "csv"


@pytest.mark.parametrize("piece", ['"', "[", "{", "<a ", '<a "', "a,", '"a,', "x" * 60 + "\n", "0123 "])
def test_no_output_however_odd_takes_long(piece):
    started = time.process_time()
    guess(document(piece * 60_000))
    assert time.process_time() - started < 5  # what grows with the square of 64 KiB would take longer


@pytest.mark.parametrize(
    ("reasons", "pattern"),
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
def test_of_a_log_the_most_telling_name_of_an_error(reasons, pattern):
    assert likely_search("log", "", reasons) == pattern


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
    reasons = [("error message", "error: it broke")]
    assert likely_search("log", shown, reasons, "where does load_rates read the rates?") == "load_rates"
    assert likely_search("log", shown, reasons, "what are the rates?") == "error"
    assert likely_search("log", shown, reasons, "$(reboot)_x") == "error"


def test_the_notice_of_a_clip_names_it():
    log = "\n".join(f"step {number} done" for number in range(4_000)) + "\nValueError: bad rate\n" + "ok\n" * 3_000
    clipper = Clipper(Limits(tokens=600), hints="cli", store=MemoryStore())
    out = clipper.clip(log)
    assert f"spill outline {out.ref} · spill grep {out.ref} ValueError · spill read {out.ref} " in out.text
