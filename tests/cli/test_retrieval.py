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
        (["-5"], range(4_996, 5_001)),
        (["120-125"], range(120, 126)),
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
    assert spill("read", ref, "--bytes", "1:3").stdout.startswith("one\n[Bytes 1-3 of 10,011, line 1. Next: ")
    assert "\n[Byte 2 of 10,011, line 1. Next: " in spill("read", ref, "--bytes", "2").stdout
    assert spill("read", ref, "--bytes", "-6:").stdout.startswith("three")


def test_any_unique_prefix_works(spill, ref):
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


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        (["-n", "^17:"], ["17: 17: the quick brown fox"]),
        (["-E", "^(17|18):", "-m", "1"], ["17: 17: the quick brown fox"]),
        (["-A1", "^17:"], ["17: 17: the quick brown fox", "18- 18: the quick brown fox"]),
        (["-B", "1", "^17:"], ["16- 16: the quick brown fox", "17: 17: the quick brown fox"]),
        (["-in", "^17: THE"], ["17: 17: the quick brown fox"]),
        (["-v", "-m2", "^[1-9]: "], ["10: 10: the quick brown fox", "11: 11: the quick brown fox"]),
        (["-o", "-m", "2", "[0-9]+|f[a-z]x"], ["1: 1", "1: fox", "2: 2", "2: fox"]),
        (["-oi", "^17: THE"], ["17: 17: the"]),
        (["-c", "^1[0-9]: "], ["10"]),
        (["-vc", "^1[0-9]: "], ["4990"]),
        (["-c", "fox", "--from", "4,001"], ["1000"]),
        (["-F", "17: the", "-m", "1"], ["17: 17: the quick brown fox"]),
        (["-e", "^17:"], ["17: 17: the quick brown fox"]),
    ],
    ids=" ".join,
)
def test_grep_takes_what_fingers_type(spill, ref, words, rows):
    for order in ([ref, *words], [*words, ref]):
        said = spill("grep", *order)
        assert (said.returncode, said.stderr) == (0, "")
        found = said.stdout.splitlines()
        assert found == rows if "c" in words[0] else found[:-1] == rows


def test_counting_nothing_prints_0_and_exits_1(spill, ref):
    said = spill("grep", "-c", "elephant", ref)
    assert (said.returncode, said.stdout, said.stderr) == (1, "0\n", "")


def test_counting_in_last_leaves_the_number_alone_on_stdout(spill):
    spill("run", "--", "seq", "30")
    said = spill("grep", "-c", "last", "3")
    assert (said.returncode, said.stdout) == (0, "4\n")
    assert said.stderr == "spill: last is seq-4becb4afc4bbb070: seq 30, exit code 0, just now.\n"


def test_going_on_keeps_the_options_of_grep(spill, ref):
    said = spill("grep", ref, "fox", "-m", "3", "-A", "1", "-v", "-i")
    assert "Every line matches fox in 5,000 lines" in said.stdout
    said = spill("grep", ref, "^1:", "-m", "3", "-B", "1", "-v")
    step = said.stdout.rsplit("Next: ", 1)[1].rstrip("]\n")
    assert step == f"spill grep {ref} '^1:' -v -B 1 -m 3 --from 5"
    assert numbers(spill(*step.replace("'", "").split()[1:]).stdout) == [5, 6, 7]


@pytest.mark.parametrize("pattern", ["quick", "the", "b", "^17: "])
def test_pattern_and_ref_may_come_in_either_order(spill, ref, pattern):
    for named in (ref, f"/anywhere/{ref}.txt", *[ref[:6]] * (pattern != "b")):
        assert spill("grep", pattern, named).stdout == spill("grep", ref, pattern).stdout


def test_a_pattern_that_is_the_start_of_a_ref_is_still_a_pattern(spill, ref):
    """`spill grep error last` searched for "last" in the output of a tool called error."""
    for pattern in ("bash", "b", ref.rpartition("-")[2][:2]):
        for named in ("last", "last:bash", ref):
            assert spill("grep", pattern, named, "-c").stdout == spill("grep", ref, pattern, "-c").stdout
    assert spill("grep", "last", ref, "-c").stdout == "0\n"


@pytest.mark.parametrize("command", ["read", "outline", "show", "path", "pin", "unpin", "verify", "rm"])
@pytest.mark.parametrize("kind", ["path", "file", "last", "prefix"])
def test_every_command_takes_every_kind_of_ref(spill, store, ref, command, kind):
    named = {"path": store.where(ref), "file": f"{ref}.txt", "last": "last:bash", "prefix": ref[:9]}[kind]
    said = spill(command, named)
    assert (said.returncode, said.stderr) == (0, "")
    assert said.stdout


def test_an_answer_ends_with_a_newline_and_what_fits_passes_as_it_came(spill, ref):
    assert spill("read", ref, "7").stdout.endswith("]\n")
    assert spill("grep", ref, "^7:").stdout.endswith("]\n")
    assert spill("outline", ref).stdout.endswith("\n")
    assert spill("run", "--", "printf", "no newline").stdout == "no newline"
    assert spill(given="no newline").stdout == "no newline"
    long = "\n".join(map(str, range(5_000)))
    assert spill("--lines", "10", given=long).stdout.endswith("\n4999\n")
    assert spill("run", "--lines", "10", "--", "printf", long).stdout.endswith("\n4999\n")


@pytest.mark.parametrize("name", ["opencode", "t15", "klaude", "daycare", "vtcode"])
def test_what_a_profile_cuts_ends_with_a_newline_too(spill, name):
    long = "\n".join(map(str, range(60_000)))
    for said in (spill("--profile", name, given=long), spill("run", "--profile", name, "--", "seq", "60000")):
        assert said.stdout.endswith("\n")
        assert len(said.stdout) < len(long)


@pytest.mark.parametrize("words", [("x",), ("last",)])
def test_grep_with_one_word_says_that_it_needs_two(spill, words):
    said = spill("grep", *words)
    assert (said.returncode, said.stdout) == (2, "")
    assert "a REF and a PATTERN are needed, e.g. `spill grep last 'FAILED|Error'`." in said.stderr


def test_a_wrong_pattern_is_answered_with_what_to_write_instead(spill, ref):
    assert (
        "is not a valid pattern (Missing close parenthesis for group started at index 1); correct it, or search for it as plain text: -F.\n"
        in (spill("grep", ref, "a(b").stderr)
    )


def test_a_file_is_for_cat_and_lines_begin_at_1(spill, ref):
    for name in ("Makefile", "/tmp"):
        assert spill("read", name).stderr.endswith("`spill list` shows what is stored. To read a file, use cat.\n")
    assert spill("read", ref, "0").stderr == "spill: Lines are counted from 1: write 1, or 1:100.\n"


def test_what_was_removed_by_hand_is_not_said_to_have_been_swept(spill, ref):
    spill("rm", ref)
    said = spill("read", ref).stderr
    assert said == (
        f"spill: No output is stored under {ref} in this project. `spill list` shows what is stored here, `spill list --all-scopes` "
        "what is stored anywhere. If it is in neither, it was removed or never stored: run the tool again.\n"
    )
    named = spill("read", ref, "--scope", "acme").stderr
    assert f"{ref} in scope acme. If `spill list` does not show it, it was removed" in named
    assert "--all-scopes" not in named
    assert "age" not in said


def test_past_the_end_of_a_partly_stored_output_it_is_said(spill):
    spill("run", "--bytes", "2000", "--", "seq", "5000", env={"SPILLOVER_CAP": "10 kB"})
    said = spill("read", "last", "4000").stdout
    assert "No line 4,000: seq-" in said
    assert "The stored part ends here: the first 10,000 of 23,893 bytes; the cap on one output was reached." in said


def test_lines_around_a_match_are_marked(spill, ref):
    rows = spill("grep", ref, "^(100|200):", "-C", "1").stdout.splitlines()
    assert [row.split(" ")[0] for row in rows[:-1]] == ["99-", "100:", "101-", "--", "199-", "200:", "201-"]


def test_a_pattern_may_begin_with_a_dash(spill, ref, store):
    other = put(store, b"a -x b\n", tool="cat").ref
    assert "1 of 1 match" in spill("grep", other, "--", "-x").stdout


def test_no_match_is_an_answer_and_exits_1_as_grep_does(spill, ref):
    said = spill("grep", ref, "elephant")
    assert (said.returncode, said.stderr) == (1, "")
    assert "No match for elephant in 5,000 lines" in said.stdout


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
        (["read", "REF", "abc"], "'abc' is not a range of lines; write 120:180"),
        (["read", "REF", "0:5"], "counted from 1"),
        (["read", "REF", "20:10"], "20:10 ends before it begins; write 10:20"),
        (["grep", "REF", "x", "-m", "0"], "-m 0 would show nothing"),
        (["grep", "REF", "x", "-v", "-o"], "use one of them"),
        (["grep", "REF", "x", "-A", "100000"], "is not between 0 and"),
        (["read", "REF", "5:+"], "is not a range"),
        (["read", "REF", "1:2:3"], "is not a range"),
        (["read", "REF", "1:2", "--columns", "1:2"], "columns need a single line: e.g. line 7, columns 4001:8000."),
        (["read", "REF", "1:2", "--bytes", "1:2"], "use bytes alone, or lines and columns together"),
        (["read", "REF", "--columns", "x"], "is not a range of columns"),
        (["read", "REF", "99999999999999999999999"], "is larger than any number of lines"),
        (["grep", "REF", "("], "Missing close parenthesis"),
        (["grep", "REF", "(?=x)"], "(?="),
        (["grep", "REF", r"(a)\1"], r"\1"),
        (["grep", "REF", "x", "--from", "abc"], "not a place to search from"),
        (["grep", "REF", "x", "-C", "100000"], "is not between 0 and"),
        (["grep", "REF"], "a REF and a PATTERN are needed"),
        (["read"], "missing REF"),
        (["read", "-50:"], "missing REF"),
    ],
)
def test_wrong_use_says_what_is_wrong(spill, ref, words, why):
    said = spill(*(ref if word == "REF" else word for word in words))
    assert (said.returncode, said.stdout) == (2, "")
    assert why in said.stderr


def test_what_was_damaged_meanwhile_is_said(spill, ref, store, tmp_path):
    (tmp_path / "a store" / f"{ref}.json").write_text("{}")
    said = spill("read", ref, "--all-scopes")
    assert said.returncode == 2
    assert f"The record of {ref} is damaged" in said.stderr
    assert f"No output is stored under {ref}" in spill("read", ref).stderr, "whose it is stood in the record"


def test_an_outline_is_a_map_and_says_where_to_read(spill, ref):
    said = spill("outline", ref)
    assert said.returncode == 0
    assert said.stdout.startswith(f"[Outline of {ref}: log, 5,000 lines, ")  # numbered, but not as a reader does it
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


@pytest.mark.parametrize("words", [["read"], ["grep", "line"], ["outline"], ["diff"]])
@pytest.mark.parametrize(
    "option", [["--tokenizer", "estimate"], ["--tokens", "300"], ["--chars", "900"], ["--lines", "9"]]
)
def test_the_commands_that_go_back_take_the_same_limits(spill, ref, words, option):
    """`spill read` refused --tokenizer, and `spill grep` took it."""
    command, *rest = words
    said = spill(command, ref, *rest, *option)
    assert "unrecognized" not in said.stderr
    assert "unknown" not in said.stderr.lower()
    assert said.returncode in (0, 1) or "No earlier run of bash is kept" in said.stderr
