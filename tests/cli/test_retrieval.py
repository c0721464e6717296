"""`spill read`, `spill grep` and `spill outline`: every way to write a range, and what an answer looks like."""

import re

import pytest

from spillover.testing import put

SHAPE = {"outcome", "ref", "path", "reason", "total", "shown", "ranges", "text"}


def numbers(text):
    """The numbers of the lines in an answer."""
    return [int(found[1]) for found in re.finditer(r"^(\d+): ", text, re.MULTILINE)]


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (["120:125"], range(120, 126)),
        (["120:+5"], range(120, 125)),
        (["120"], [120]),
        (["-5:"], range(4_996, 5_001)),
        (["-5:-3"], range(4_996, 4_999)),
        (["-5:+2"], [4_996, 4_997]),
        (["-1"], [5_000]),
        (["4,999:"], [4_999, 5_000]),
        (["4_999:9_999"], [4_999, 5_000]),
        ([":3"], [1, 2, 3]),
        (["--json", "-2:"], [4_999, 5_000]),
        (["-2:", "--json"], [4_999, 5_000]),
    ],
)
def test_every_way_to_write_a_range(spill, ref, words, lines):
    said = spill("read", ref, *words)
    text = said.json["text"] if "--json" in words else said.stdout
    assert said.returncode == 0
    assert numbers(text) == list(lines)


def test_the_option_may_stand_before_the_ref(spill, ref):
    assert numbers(spill("read", "--tokens", "1000", ref, "-2:").stdout) == [4_999, 5_000]


def test_without_a_range_it_begins_at_the_start_and_says_how_to_go_on(spill, ref):
    said = spill("read", ref)
    shown = numbers(said.stdout)
    assert shown[0] == 1
    assert f"Next: spill read {ref} {len(shown) + 1}:" in said.stdout


def test_columns_and_bytes(spill, store):
    ref = put(store, b"one\n" + b"0123456789" * 1_000 + b"\nthree\n", tool="cat").ref
    assert spill("read", ref, "2", "--columns", "5:8").stdout.startswith("2: 4567\n")
    assert spill("read", ref, "2", "--columns", "-3:").stdout.startswith("2: 789\n")
    assert spill("read", ref, "--bytes", "1:3").stdout.startswith("one\n")
    assert spill("read", ref, "--bytes", "-6:").stdout.startswith("three")


def test_a_start_that_only_one_output_has_will_do(spill, ref):
    assert numbers(spill("read", ref[:8], "7").stdout) == [7]
    assert numbers(spill("read", ref.split("-")[1][:4], "7").stdout) == [7]


def test_an_answer_fits(spill, ref):
    text = spill("read", ref, "1:5000", "--tokens", "200").stdout
    assert len(text) <= 200 * 16
    assert "Next: spill read" in text


@pytest.mark.parametrize("command", ["read", "grep"])
def test_json_has_the_facts(spill, ref, store, command):
    facts = spill(command, ref, {"read": "7", "grep": "^7:"}[command], "--json").json
    assert facts.keys() == SHAPE
    assert (facts["ref"], facts["path"], facts["ranges"]) == (ref, store.where(ref), [[7, 7]])
    assert facts["total"]["lines"] == 5_000


def test_grep_shows_lines_with_their_numbers_and_how_many_there_are(spill, ref):
    said = spill("grep", ref, "^(17|18): ")
    assert said.stdout.splitlines()[:2] == ["17: 17: the quick brown fox", "18: 18: the quick brown fox"]
    assert "2 of 2 matches shown" in said.stdout


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (["^100:", "-C", "1"], [100]),
        (["^100:", "--context", "1"], [100]),
        (["-C", "1", "^100:"], [100]),
        (["-F", "100: the", "--from", "101"], [1_100, 2_100, 3_100, 4_100]),
        (["-i", "^3: THE QUICK"], [3]),
        (["-F", "3: the quick", "--from", "4,990"], [4_993]),
        (["--from", "4999", "fox"], [4_999, 5_000]),
    ],
)
def test_the_options_of_grep(spill, ref, words, lines):
    said = spill("grep", ref, *words)
    assert said.returncode == 0
    assert numbers(said.stdout) == lines


def test_lines_around_a_match_are_marked(spill, ref):
    rows = spill("grep", ref, "^(100|200):", "-C", "1").stdout.splitlines()
    assert [row.split(" ")[0] for row in rows[:-1]] == ["99-", "100:", "101-", "--", "199-", "200:", "201-"]


def test_a_pattern_may_begin_with_a_dash(spill, ref, store):
    other = put(store, b"a -x b\n", tool="cat").ref
    assert "1 of 1 match" in spill("grep", other, "--", "-x").stdout


def test_no_match_is_an_answer(spill, ref):
    said = spill("grep", ref, "elephant")
    assert (said.returncode, said.stderr) == (0, "")
    assert "No match of elephant in 5,000 lines" in said.stdout


def test_more_than_fits_says_how_to_go_on(spill, ref):
    said = spill("grep", ref, "fox", "--lines", "20")
    assert said.stdout.count("\n") <= 20
    assert "of 5,000 matches shown" in said.stdout
    start = said.stdout.rsplit("--from ", 1)[1].split("]")[0]
    assert numbers(spill("grep", ref, "fox", "--lines", "20", "--from", start).stdout)[0] == int(start)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["read", "bash-000000000000"], "No output is stored under bash-000000000000"),
        (["grep", "bash-000000000000", "x"], "No output is stored under bash-000000000000"),
        (["read", "REF", "abc"], "'abc' is no range of lines; write 120:180"),
        (["read", "REF", "0:5"], "counted from 1"),
        (["read", "REF", "5:+"], "is no range"),
        (["read", "REF", "1:2:3"], "is no range"),
        (["read", "REF", "1:2", "--columns", "1:2"], "columns are of one line"),
        (["read", "REF", "1:2", "--bytes", "1:2"], "bytes stand alone"),
        (["read", "REF", "--columns", "x"], "is no range of columns"),
        (["read", "REF", "99999999999999999999999"], "is no number"),
        (["grep", "REF", "("], "missing )"),
        (["grep", "REF", "(?=x)"], "(?="),
        (["grep", "REF", r"(a)\1"], r"\1"),
        (["grep", "REF", "x", "--from", "abc"], "no place to search from"),
        (["grep", "REF", "x", "-C", "100000"], "is not between 0 and"),
        (["grep", "REF"], "required: PATTERN"),
        (["read"], "required: REF"),
        (["read", "-50:"], "required: REF"),
    ],
)
def test_wrong_use_says_what_is_wrong(spill, ref, words, why):
    said = spill(*(ref if word == "REF" else word for word in words))
    assert (said.returncode, said.stdout) == (2, "")
    assert why in said.stderr


def test_what_was_damaged_meanwhile_is_said(spill, ref, store, tmp_path):
    (tmp_path / "a store" / f"{ref}.json").write_text("{}")
    said = spill("read", ref)
    assert said.returncode == 2
    assert f"The record of {ref} is damaged" in said.stderr


def test_an_outline_is_a_map_and_says_where_to_read(spill, ref):
    said = spill("outline", ref)
    assert said.returncode == 0
    assert said.stdout.startswith(f"[Outline of {ref}: log, 5,000 lines, ")
    assert "5,000 \N{MULTIPLICATION SIGN} lines 1-5,000: 1: the quick brown fox" in said.stdout
    assert said.stdout.rstrip().endswith(f"[Next: spill read {ref} 4951:5000]")


def test_an_outline_for_a_program_has_the_same_facts(spill, ref, store):
    facts = spill("outline", ref, "--json", "--tokens", "200").json
    assert facts.keys() == SHAPE
    assert (facts["ref"], facts["path"], facts["ranges"]) == (ref, store.where(ref), [[1, 1]])


def test_an_outline_of_nothing_that_is_stored_is_an_error(spill):
    said = spill("outline", "bash-000000000000")
    assert said.returncode != 0
    assert "No output is stored" in said.stderr
