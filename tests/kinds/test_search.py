"""Searches and listings that are cut: each file by its name and count, definitions before uses."""

import pytest

from spillover import Clipper, Limits, MemoryStore
from spillover.kinds.search import (
    AROUND,
    FIND,
    NAME,
    OTHER,
    common_folder,
    is_same_file,
    is_search,
    read_rows,
)


@pytest.mark.parametrize(
    ("text", "kind", "file", "number"),
    [
        (b"src/a.py:12:def f():\n", FIND, b"src/a.py", 12),
        (b"D:\\src\\a.py:12:def f():\n", FIND, b"D:\\src\\a.py", 12),
        (b"src/a.py:def f():\n", FIND, b"src/a.py", 0),
        (b"12:def f():\n", FIND, b"", 12),
        (b"12-    x\n", AROUND, b"", 12),
        (b"./src/2026-01-21-notes.md\n", FIND, b"./src/2026-01-21-notes.md", 0),
        (b" M src/a.py\n", FIND, b"src/a.py", 0),
        (b"--\n", OTHER, b"", 0),
        (b"Found 3 files\n", OTHER, b"", 0),
    ],
)
def test_each_form_of_a_row_is_read(text, kind, file, number):
    (row,) = read_rows(text)
    assert (row.kind, row.file, row.number) == (kind, file, number)


def test_lines_around_a_find_belong_to_its_file_whatever_its_name_holds():
    found = read_rows(b"a-1-b.go:7:x\na-1-b.go-8-y-9-z\n--\n")
    assert [(row.kind, row.file, row.number) for row in found[:2]] == [(FIND, b"a-1-b.go", 7), (AROUND, b"a-1-b.go", 8)]


def test_finds_below_a_name_are_of_that_file_and_entries_of_a_folder_in_it():
    heading = read_rows(b"src/a.py\n3:def f():\n9:f()\n")
    assert [(row.kind, row.file) for row in heading] == [(NAME, b"src/a.py"), (FIND, b"src/a.py"), (FIND, b"src/a.py")]
    listed = read_rows(b"./src:\na.py\nb.py\n\n./lib:\nc.py\n")
    assert [row.file for row in listed if row.kind == FIND] == [b"./src/a.py", b"./src/b.py", b"./lib/c.py"]


def test_what_a_compiler_says_is_no_search():
    assert not is_search([b"src/a%d.c:%d:9: warning: unused variable" % (n, n) for n in range(50)], hinted=False)
    assert is_search([b"src/a%d.c:%d:    int x = 1;" % (n, n) for n in range(50)], hinted=False)


@pytest.mark.parametrize(
    "step", [b"CC part_%d.o", b"AR lib_%d.a", b"LD build/part_%d.o", b"CC build/part_%d.o", b"HOSTCC scripts/part_%d.o"]
)
def test_the_steps_of_a_build_are_no_search(step):
    """`CC` and `AR` are letters of `git status --short`, but no two that it prints together."""
    lines = [step % number for number in range(2_000)]
    assert not is_search(lines, hinted=False)
    lines[1_000] = b"part_1000.c:7:3: error: expected expression"
    made = clip(b"\n".join(lines))
    assert (made.kind, "expected expression" in made.text) == ("log", True)


@pytest.mark.parametrize(
    "status", ["M ", " M", "MM", "AM", "A ", "D ", " D", "R ", "RM", "C ", "T ", "UU", "AA", "DU", "UD", "??", "!!"]
)
def test_every_status_that_git_prints_is_read(status):
    (row,) = read_rows(f"{status} src/a.py\n".encode())
    assert (row.kind, row.file) == (FIND, b"src/a.py")


def test_folders_in_common_are_found_where_some_names_leave_them_out():
    assert common_folder([b"/srv/app/src/a.py", b"/srv/app/src/lib/b.py"]) == b"/srv/app/src/"
    assert common_folder([b"/srv/app/src/a.py", b"src/a.py"]) == b"/srv/app/"
    assert is_same_file(b"/srv/app/src/a.py", b"src/a.py")
    assert not is_same_file(b"/srv/app/src/aa.py", b"a.py")


def search(files=40, uses=9):
    lines = [f"src/app/part_{n}.py:{k + 1}:    value = load({k}, {n})\n" for n in range(files) for k in range(uses)]
    return "".join(
        [*lines[: len(lines) // 2], "src/app/loader.py:3:def load(number, part):\n", *lines[len(lines) // 2 :]]
    )


def clip(text, tokens=700, **given):
    return Clipper(Limits(tokens=tokens), store=MemoryStore()).clip(text, **given)


def test_a_definition_comes_before_its_uses_and_every_file_is_named_or_counted():
    made = clip(search())
    assert made.kind == "search"
    assert "src/app/loader.py:3:def load(number, part):" in made.text
    assert "361 matches in 41 files, each named once" in made.text
    assert " other file" in made.text or " in " in made.text


def test_the_name_of_a_file_is_shown_once():
    text = clip(search(files=3, uses=90), tokens=900).text
    assert text.count("src/app/part_0.py:") == 1
    assert "\n2:    value = load(1, 0)\n" in text


def test_rows_keep_their_order_and_ranges_are_of_lines():
    made = clip(search())
    shown = [number for first, last in made.ranges for number in range(first, last + 1)]
    assert shown == sorted(shown)
    assert sum(last - first + 1 for first, last in (*made.ranges, *made.hidden)) == made.total.lines


def test_a_query_raises_what_answers_it_and_why_says_so():
    text = "".join(f"lib/part_{n}.txt:1:words about topic {n * 7 % 100}\n" for n in range(300))
    without, asked = clip(text), clip(text, query="lanterns or topic 91?")
    assert any(reason.why == "answers the query" for reason in asked.why)
    assert not any(reason.why == "answers the query" for reason in without.why)


def test_names_are_counted_by_their_folders():
    text = "".join(f"/srv/project/checkout/src/pkg_{n // 50}/module_{n}.py\n" for n in range(500))
    made = clip(text)
    assert "500 names in 10 folders, paths relative to /srv/project/checkout/src/" in made.text
    assert "pkg_9/" in made.text


def test_what_hundreds_of_files_say_alike_is_shown_three_times_and_counted():
    rows = [f"src/part_{n}.py:{n + 3}:    rates = load_rates(order)" for n in range(300)]
    rows[200:200] = ["src/rates.py:1:def load_rates(order):"]
    clipper = Clipper(Limits(tokens=1_000), store=MemoryStore())
    clip = clipper.clip("\n".join(rows))
    assert clip.text.count("rates = load_rates(order)") == 3
    assert "def load_rates" in clip.text
    assert "301 matches in 301 files" in clip.text
    assert clipper.clip("\n".join(rows)).shown.tokens * 3 < clipper.but(worth=0).clip("\n".join(rows)).shown.tokens


def test_headings_leave_out_the_folder_all_have_and_files_above_the_first_find_are_named():
    names = [f"/srv/build/workspace/shop/src/part_{n}.py" for n in range(60)]
    parts = [
        f"{name}\n{n + 1}:import retry\n{n + 9}:{'def retry(call):' if n == 40 else 'retry(call)'}\n"
        for n, name in enumerate(names)
    ]
    text = Clipper(Limits(tokens=300), store=MemoryStore()).clip("\n".join(parts)).text
    assert text.count("/srv/build/workspace/shop/src/") == 1
    assert "part_40.py\n" in text


def test_of_counts_the_largest_is_shown():
    rows = [f"src/part_{n}.py:{412 if n == 170 else n % 4 + 1}" for n in range(300)]
    clip = Clipper(Limits(tokens=400), store=MemoryStore()).clip("\n".join(rows))
    assert clip.kind == "search"
    assert "src/part_170.py:412" in clip.text


def test_where_every_row_is_shown_the_room_that_is_left_brings_back_what_was_left_out_of_it():
    folder = "/srv/project/packages/service/source/handlers"
    text = "".join(f"{folder}/module_{number}.py:{number}:def handle():\n" for number in range(60))
    clipper = Clipper(Limits(tokens=1_000), tokenizer="o200k_base", store=MemoryStore(), worth=0)
    out = clipper.clip(text)
    assert out.outcome == "stored"
    assert [f"module_{number}.py:{number}:" in out.text for number in range(60)] == [True] * 60
    assert out.text.count(folder) > 10  # not only where all are said to be


def test_what_is_vendored_or_generated_waits_for_the_program_itself():
    rows = [f"vendor/lib/part_{n}.py:{n + 1}:    total = load({n})" for n in range(120)]
    rows += [f"src/app/part_{n}.py:{n + 1}:    total = load({n}, now)" for n in range(60)]
    text = clip("\n".join(rows), tokens=900).text
    assert text.count(", now)") > 20
    assert "vendor/lib/part_" not in text
