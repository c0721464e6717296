"""Law 7, second half: time is linear for any text, and selection has a work budget.

The tests compare CPU time at three sizes, allow a wide margin, and measure again before they fail. A hang is interrupted and
fails.
"""

import random
import subprocess
import sys
from pathlib import Path

import pytest

from spillover import Clipper, Limits, MemoryStore

sys.path.append(str(Path(__file__).parents[1] / "soak"))  # `make soak` runs the same code for longer

from growing import GRAMMARS, Figures, Text, grow, judge, texts

#: Texts that once hung or took more than linear time, and similar ones.
ATTACKS = {
    "rows by carriage returns, all the same": Text("log", "a\r"),
    "rows by carriage returns that open a bracket": Text("log", "[\r"),
    "two rows by carriage returns, in turn": Text("log", "a\rb\r"),
    "a hex dump of seven lines, again and again": Text("log", "000000 7f 45 4c 46 02 01 01 00 00 00 00 00 00 00 00 00  >.ELF............<\n" * 7 + "x\n"),
    "one hex dump of seven lines": Text("log", "1234\n", first="000000 7f 45 4c 46 02 01 01 00 00 00 00 00 00 00 00 00  >.ELF............<\n" * 7),
    "comments behind the end of a page": Text("html", "<p>a</p>", last="</body></html>" + "<!---->" * 40 + "x>"),
    "ever more comments behind the end of a page": Text("xml", "<!---->", first="</r>", last="x>"),
    "the name of a tag that is never closed": Text("html", "a", first="<p>a</p>" * 200 + "<"),
    "names of tags that are never closed": Text("html", "<" + "a" * 300, first="<p>a</p>" * 200),
    "declarations that are never closed": Text("html", "<!DOCTYPE["),
    "quotes of a tag that are never closed": Text("html", "<a '<b \""),
    "a value of blanks among short ones": Text(
        "ndjson", " ", first='{"a": 1, "s": "ok"}\n' * 1_500 + '{"a": 1, "s": "a', last='x"}\n' + '{"a": 1, "s": "ok"}\n' * 300
    ),
    "numbers with a letter at their end": Text("table", "1" * 3_000 + "x,2,3\n"),
    "words of failure in one row of sixty": Text("table", "1,2,3\n" * 59 + "fail,2,3\n"),
    "names of files on one line": Text("diff", "diff --git a/", last="\n@@ -1 +1 @@\n-a\n+b\n"),
    "empty lines in many hunks": Text("diff", "@@ -1,2 +1,2 @@\n" + "\n" * 400),
    "dots that might open a marker of ours": Text("notices", ".", first="x\n" * 9_000 + "[...", last="\n[Output clipped"),
    "tags that are opened and never closed": Text("xml", "<a>"),
    "quotes that open no cell": Text("table", 'x"y",2,3\n'),
    "records in records": Text("json", '{"id": "a", "k": {"id": "b", "k": [{"id": "c"}, {"id": "d"}]}}, '),
    "records of which each has another key": Text("json", '{"id": "a", "k": 1}, {"id": "b", "x": 2}, {"id": "c", "y": [{"z": "w"}]}, '),
    "quotes of a repr that are never closed": Text("repr", "'\"", last="x"),
    "names in quotes of a page": Text("page", '  - button "a'),
    "a page of rows alike": Text("page", '  - link "Next" [ref=e12]\n    - /url: /next\n'),
    "sentences in one line": Text("prose", "And so `it` is. "),
    "backquotes in one line": Text("prose", "`a/b.c:1"),
    "definitions that are never closed": Text("source", "class A{\ndef f(\n\nabc\n"),
    "names with numbers and dashes in them": Text("search", "a-1-b-2-c-3-" * 40 + "\n"),
    "one file after the other": Text("search", "a/b.py:1:x\nc/d.py:1:x\n"),
    "brackets in brackets": Text("json", '{"k": [[1], {"a": [2, 3]}]}, '),
    "backslashes in a string": Text("json", "\\\\", first='"', last='", '),
}  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_hung_once_and_what_is_like_it_takes_time_in_proportion_to_its_size(attack):
    figures = Figures()
    judge(ATTACKS[attack], figures, sizes=(1 << 16, 1 << 17, 1 << 18))
    assert figures.failed == []


def test_texts_of_every_grammar_repeated_doubled_and_cut_off_take_time_in_proportion_to_their_size(request):
    figures, some = Figures(), texts(random.Random(request.config.getoption("randomly_seed", None) or 9))
    for _ in GRAMMARS:  # one for each; `make soak` tries thousands
        judge(next(some), figures)
    assert figures.failed == []


def test_the_long_form_gives_figures():
    figures = grow(0, "test")
    assert (figures["texts"], figures["failed"], figures["examples"]) == (1, 0, [])


def test_growth_faster_than_size_is_a_finding(monkeypatch):
    """Check the judge: it must report quadratic work, and a hang."""
    import growing

    def squared(text):
        yield "auto", lambda: sum(1 for _ in range((len(text) >> 6) ** 2 // 4))

    monkeypatch.setattr(growing, "calls", squared)
    monkeypatch.setattr(growing, "FLOOR_SECONDS", 0.01)
    figures = Figures()
    judge(Text("log", "x"), figures)
    assert len(figures.failed) == 1


DUMPED = "od -A x -t x1z -v /bin/ls | head -7; seq 1 20000; exit 5"


@pytest.mark.skipif(sys.platform == "win32", reason="a limit on CPU needs POSIX")
def test_a_hex_dump_does_not_hang_the_tool_call(tmp_path):
    import resource

    ran = subprocess.run(
        [str(Path(sys.executable).with_name("spill")), "run", "--store", str(tmp_path), "--", "sh", "-c", DUMPED],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (60, 60)),
    )
    assert ran.returncode == 5
    assert "20000" in ran.stdout


def test_a_search_with_much_around_each_match_reads_what_it_shows_and_not_more(grows_as_fast_as_its_text):
    def search(lines):
        clipper = Clipper(Limits(tokens=4_000), store=MemoryStore())
        ref = clipper.clip("".join(f"line {number} matches\n" for number in range(lines))).ref
        return lambda: clipper.grep(ref, "matches", context=1_000)

    search(2_000)()
    grows_as_fast_as_its_text(search, 4_000, 16_000, margin=2, floor=0.1)


def test_the_occurrences_in_a_giant_line_are_counted_up_to_a_bound_which_is_said():
    clipper = Clipper(Limits(tokens=4_000), store=MemoryStore())
    ref = clipper.clip("x" * 2_000_000).ref
    answer = clipper.grep(ref, ".").text
    assert "of at least 5" in answer
    exact = clipper.grep(clipper.clip("ab," * 40_000).ref, "b").text
    assert "of 40,000 matches shown." in exact
