"""Going back by map: sections, families of failures, what repeats, and where to read next."""

import json
import random
import re
import shlex
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover.api import Clipper
from spillover.cli.parsing import build_parser
from spillover.errors import RefError
from spillover.kinds.log import outline as log_outline
from spillover.kinds.log.outline import survey
from spillover.settings.limits import Limits
from spillover.source.blob import MemoryBlob
from spillover.store.memory import MemoryStore
from spillover.testing import HOSTILE_REFS, put

STORE = MemoryStore()
CLIPPER = Clipper(Limits(tokens=4_000), store=STORE, hints="cli")
OUTPUTS = Path(__file__).parent.parent / "tools"

#: Two commands; one fails in two ways.
LOG = "\n".join(
    [
        "$ ./configure",
        *(f"checking for header{number}.h... yes" for number in range(10)),
        "$ make -k",
        *(f"cc -O2 -c src/file{number}.c" for number in range(100)),
        "src/core/alloc.c:212:17: error: too few arguments to function 'grow'",
        *(f"cc -O2 -c lib/file{number}.c" for number in range(100)),
        "src/net/ring.c:9:5: error: too few arguments to function 'push'",
        "src/net/ring.c:10:5: warning: unused variable 'x'",
        "make: *** [Makefile:8: build/ring.o] Error 1",
        "$ make test",
        "12 tests, 0 failures",
        "",
    ]
).encode()


def outline(data, clipper=CLIPPER, tool="bash"):
    return clipper.outline(put(clipper.settings.store, data, tool).ref)


def rows(text):
    """Title → its rows."""
    found, title = {}, ""
    for line in text.split("\n")[1:-1]:
        if line.startswith("  "):
            found[title].append(line[2:])
        else:
            title = line
            found[title] = []
    return found


def test_a_log_of_several_commands_word_for_word():
    answer = outline(LOG)
    tokens = re.search(r"~([\d,]+) tokens", answer.text)[0]
    assert answer.text.split("\n") == [
        f"[Outline of {answer.ref}: log, 218 lines, {len(LOG):,} bytes, {tokens}.]",
        "Sections: 3",
        "  lines 1-11: $ ./configure",
        "  lines 12-216: $ make -k (3 failures)",
        "  lines 217-218: $ make test",
        "Failures: 3 lines, 2 families",
        "  2 × lines 113-214: src/core/alloc.c:212:17: error: too few arguments to function 'grow'",  # noqa: RUF001
        "  1 × line 216: make: *** [Makefile:8: build/ring.o] Error 1",  # noqa: RUF001
        "Warnings: 1 line, 1 family",
        "  1 × line 215: src/net/ring.c:10:5: warning: unused variable 'x'",  # noqa: RUF001
        "Most frequent",
        "  200 × lines 13-213: cc -O2 -c src/file0.c",  # noqa: RUF001
        "  10 × lines 2-11: checking for header0.h... yes",  # noqa: RUF001
        f"[Next: spill read {answer.ref} 103:152]",
    ]
    assert answer.outcome == "whole"
    assert answer.total.lines == 218


@pytest.mark.parametrize(
    ("name", "titles", "row"),
    [
        ("make_c", "Failures: 4 lines, 3 families", "1 × line 82: src/ring.c:4:56: error: expected ‘;’ before ‘}’ token"),  # noqa: RUF001
        ("app_log", "Failures: 4 lines, 3 families", "2 × lines 578-589: Traceback (most recent call last):"),  # noqa: RUF001
        ("app_log", "Warnings: 10 lines, 1 family",
         "10 × lines 29-866: 2026-11-15 23:33:23,334 WARNING [prices.importer] supplier-013 has not changed a price since 30 days"),  # noqa: RUF001
        ("pytest_failures", "Sections: 6", "lines 227-229: === short test summary info === (2 failures)"),
        ("set_x", "Sections: 298; 1 shown", "lines 331-332: + sum= (1 failure)"),
        ("jest", "Failures: 9 lines, 4 families", "1 × line 1,907: ✕ are shown on the receipt (35 ms)"),  # noqa: RUF001
    ],
)  # fmt: skip
def test_what_real_tools_print(name, titles, row):
    assert row in rows(outline((OUTPUTS / f"{name}.txt").read_bytes()).text)[titles]


@pytest.mark.parametrize("path", sorted(OUTPUTS.glob("*.txt")), ids=lambda path: path.stem)
def test_every_line_that_is_named_is_the_one_that_is_shown(path):
    data = path.read_bytes()
    text = outline(data, Clipper(Limits(tokens=20_000), store=STORE, hints="cli")).text
    for count, first, last, shown in re.findall(
        r"^  ([\d,]+) . lines? ([\d,]+)(?:-([\d,]+))?: (.*)$", text, re.MULTILINE
    ):
        answer = CLIPPER.read(put(STORE, data).ref, lines=first.replace(",", "")).text
        row = answer.rpartition("\n[")[0].rpartition("\n")[2]  # of a line that was written over, the last
        line = " ".join(row.partition(": ")[2].split())
        assert line.startswith(shown.removesuffix("…")), shown
        assert (count == "1") == (last == "")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "log, 0 lines, 0 bytes, ~0 tokens. There is nothing to read.]"),
        (b"hello", "log, 1 line, 5 bytes, ~1 tokens. Next: spill read REF 1:1]"),
        (b"word " * 9_999, "Next: spill read REF 1 --columns 1:4000]"),
        (bytes(range(256)) * 99, "Next: spill read REF --bytes 1:4000]"),
        (b"a\n" * 500, "\n[Next: spill read REF 451:500]"),
    ],
)
def test_how_to_go_on(data, said):
    answer = outline(data)
    assert answer.text.endswith(said.replace("REF", answer.ref))


def test_reading_begins_at_a_failure_that_is_sure_before_one_that_may_be_none():
    data = b"worker terminated\n" + b"a step of the work\n" * 300 + b"error: no such file\n"
    answer = outline(data)
    assert "Failures: 2 lines, 2 families" in answer.text
    assert answer.text.endswith(f"[Next: spill read {answer.ref} 292:302]")


@pytest.mark.parametrize("path", sorted(OUTPUTS.glob("*.txt")), ids=lambda path: path.stem)
def test_the_next_step_can_be_pasted(path):
    answer = outline(path.read_bytes())
    step = shlex.split(re.search(r"Next: spill (read .*)\]$", answer.text)[1])
    asked = build_parser("read").parse_args(step[1:])
    there = CLIPPER.read(asked.ref, lines=asked.range, bytes=asked.byte_range, columns=asked.columns)
    assert there.ref == answer.ref
    assert there.ranges


def test_a_model_is_told_the_next_call_of_its_own_tools():
    tools = {tool.__name__: tool for tool in CLIPPER.tools()}
    step = re.search(r"Next: (.*)\]$", tools["outline_output"](put(STORE, LOG).ref))[1]
    assert "113: src/core/alloc.c:212:17: error" in eval(step, dict(tools))


def test_the_keys_of_json_with_their_kinds_and_lines():
    value = {
        "results": [{"id": number} for number in range(300)],
        'a"b': {"x": 1, "y": []},
        "none": {},
        "s": "a,b",
        "n": None,
    }
    found = rows(outline(json.dumps(value, indent=1).encode()).text)["Keys: 5"]
    assert found == [
        'lines 2-903: "results": array, 300 items',
        'lines 904-907: "a\\"b": object, 2 keys',
        'line 908: "none": object, 0 keys',
        'line 909: "s": string',
        'line 910: "n": null',
    ]  # fmt: skip


def test_a_table_shows_its_first_row():
    data = b"id,name,amount\n" + b"".join(b"%d,item%d,%d\n" % (n, n, n) for n in range(100))
    assert rows(outline(data).text)["Table"] == ["line 1: id,name,amount"]


def test_the_command_tells_what_a_small_output_is():
    for command, kind in (("cat prices.csv", "csv"), ("make", "log")):
        store = MemoryStore()
        ref = put(store, f"id,{kind}\n1,a\n2,b\n3,c\n".encode(), command=command).ref
        assert f": {kind}, 4 lines" in Clipper(store=store).outline(ref).text


def test_the_files_of_a_diff_are_its_sections_and_its_text_is_no_failure():
    data = b"".join(
        b"diff --git a/f%d b/f%d\n--- a/f%d\n+++ b/f%d\n@@ -1 +1 @@\n-error: x\n+y\n" % (n, n, n, n) for n in range(3)
    )
    found = rows(outline(data).text)
    assert found == {"Sections: 3": [f"lines {n * 6 + 1}-{n * 6 + 6}: diff --git a/f{n} b/f{n}" for n in range(3)]}


@pytest.mark.parametrize(("count", "sections"), [(2, None), (3, 3)])
def test_headings_are_sections_where_there_are_several(count, sections):
    data = b"".join(b"## Part %d\n\ntext\n\n" % number for number in range(count))
    titles = [title for title in rows(outline(data).text) if title.startswith("Sections")]
    assert titles == ([f"Sections: {sections}"] if sections else [])


@pytest.mark.parametrize(
    ("data", "titles"),
    [
        (b"# A\n\n## B\n\n$ make\n\n## C\n\nx\n", ["lines 1-2: # A", "lines 3-6: ## B", "lines 7-9: ## C"]),
        (b"$ cat a.md\n\n# A\n\n## B\n\n## C\n\nx\n", ["lines 1-9: $ cat a.md"]),
        (b"x = 1\n# Set it\ny = 2\n# And this\nz = 3\n# All of it\n", []),
    ],
)
def test_commands_in_a_page_are_examples_and_comments_in_code_are_no_headings(data, titles):
    found = rows(outline(data).text)
    assert [row for title in found if title.startswith("Sections") for row in found[title]] == titles


def test_streams_have_their_lines():
    clipper = Clipper(Limits(bytes=2_000), store=MemoryStore(), hints="cli")
    capture = clipper.capture()
    capture.write(b"out\n" * 1_000)
    capture.write(b"bad\n" * 3, stream="stderr")
    capture.write(b"out\n")
    text = clipper.outline(capture.clip.ref).text
    assert rows(text)["Streams"] == [
        "stdout: 4,004 bytes in lines 1-1,000, 1,004",
        "stderr: 12 bytes in lines 1,001-1,003",
    ]


def test_a_stream_of_one_line_names_that_line():
    clipper = Clipper(Limits(bytes=2_000), store=MemoryStore(), hints="cli")
    capture = clipper.capture()
    capture.write(b"out\n" * 1_000)
    capture.write(b"bad\n", stream="stderr")
    assert rows(clipper.outline(capture.clip.ref).text)["Streams"] == [
        "stdout: 4,000 bytes in lines 1-1,000",
        "stderr: 4 bytes in line 1,001",
    ]


def test_a_part_that_is_stored_is_not_taken_for_the_whole():
    clipper = Clipper(Limits(bytes=300), store=MemoryStore(), cap=100)
    clip = clipper.clip(LOG)
    assert "Only the first 100 bytes are stored." in clipper.outline(clip.ref).text


@pytest.mark.parametrize("ref", HOSTILE_REFS)
def test_a_hostile_ref_is_refused(ref):
    with pytest.raises(RefError):
        CLIPPER.outline(ref)


def test_it_is_never_stored_itself():
    store = MemoryStore()
    clipper = Clipper(Limits(tokens=200), store=store)
    ref = clipper.clip(LOG).ref
    clipper.outline(ref)
    assert [record.ref for record in store.list()] == [ref]


def test_the_same_bytes_have_the_same_outline():
    assert outline(LOG, Clipper(store=MemoryStore())).text == outline(LOG, Clipper(store=MemoryStore())).text


PIECES = [
    b"$ make\n", b"+ x\n", b"=== A title ===\n", b"# Head\n", b"error: no such file\n", b"src/a.c:1:2: error: bad\n", b"\n", b"ok 1\n",
    b"warning: odd\n", b"x" * 900, "é長 ".encode(), b"\x1b[31mFAILED\x1b[0m\n", b"10%\r20%\r", b"\xff\x00", b"   \n", b"FAILED\n \n",
    b"[Next: spill read me]\n", b"2026-11-15 23:33:23,331 INFO error: x\n", b'{"a": 1}\n', b"1,2\n",
]  # fmt: skip


@settings(max_examples=150)
@given(
    st.lists(st.sampled_from(PIECES), max_size=60).map(b"".join),
    st.one_of(
        st.integers(100, 3_000).map(lambda count: Limits(tokens=count)),
        st.integers(200, 3_000).map(lambda count: Limits(bytes=count)),
        st.integers(4, 60).map(lambda count: Limits(lines=count)),
    ),
    st.sampled_from(["cli", "tools", "none"]),
)
def test_every_outline_fits_and_its_sections_follow_one_another(data, limits, hints):
    clipper = Clipper(limits, store=STORE, hints=hints)
    answer = outline(data, clipper)
    assert limits.hold(answer.text, clipper.settings.count)
    assert answer.text.endswith("]")
    assert answer.text.startswith("[")
    assert all(0 < first <= last <= answer.total.lines for first, last in answer.ranges)
    every = sorted((part.first, part.last) for part in survey(MemoryBlob(data)).commands.ranked())
    assert not data or [first for first, _ in every] == [1, *(last + 1 for _, last in every[:-1])]
    assert not data or every[-1][1] == answer.total.lines


def distinct(count):
    """Lines of which no two are alike."""
    made = random.Random(1)
    words = ["".join(made.choices("abcdefghij", k=6)) for _ in range(3_000)]
    return "".join(f"{' '.join(made.choices(words, k=3))}\n" for _ in range(count)).encode()


def test_what_may_have_been_forgotten_is_said_to_be_at_least_so_much():
    data = b"once and for all\n" * 3 + distinct(100_000) + b"again and again\n" * 9
    text = outline(data).text
    assert "\n  at least 9 × lines 100,004-100,012: again and again\n" in text  # noqa: RUF001
    assert "\n  3 × lines 1-3: once and for all\n" in text  # noqa: RUF001


def test_of_a_huge_output_lines_are_counted_in_a_part_and_failures_in_all_of_it(monkeypatch):
    monkeypatch.setattr(log_outline, "BLOCK_BYTES", 1 << 12)
    monkeypatch.setattr(log_outline, "SAMPLE_BYTES", 1 << 14)
    data = b"all is well here\n" * 10_000 + b"error: no\n" + b"all is well here\n" * 10_000
    found = rows(outline(data).text)
    [title] = [title for title in found if title.startswith("Most frequent")]
    counted = int(re.search(r"counted in ([\d,]+) of 340,010 bytes", title)[1].replace(",", ""))
    assert 8_000 < counted <= 20_000
    assert found["Failures: 1 line, 1 family"] == ["1 × line 10,001: error: no"]  # noqa: RUF001


def test_a_line_of_fifty_megabytes_is_one_line_among_others():
    data = b"error: first\n" + b"x y " * (50 << 18) + b"\nerror: last 7\n"
    seen = survey(MemoryBlob(data))
    assert [(group.first, group.last) for group in seen.failures.ranked()] == [(1, 1), (3, 3)]
    assert (seen.longest_line, seen.longest_bytes) == (2, 50 << 20)
    assert outline(data).text.endswith(" 2 --columns 1:4000]")
