"""What was asked for, as words and their rarity."""

import pytest
from chosen_by import call_with

from spillover.kinds.query import MAX_CHARS, MAX_WORDS, Query, file_suffix, promised_kind

LINES = [
    b"def parse_header(line):",
    b"    header = line.strip()",
    b"    return Header(header)",
    b"class Footer:",
    b"x = 1",
]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Find the content_hash", ["content_hash", "hash"]),
        (r"\bSaveContext\{ *.go", ["savecontext", "save", "context"]),
        ("where is the error handled?", ["error", "handled"]),
        ("ls -la | head", []),
        ("", []),
    ],
)
def test_words_are_what_is_left_without_escapes_and_words_that_ask_for_nothing(text, words):
    found = [word.decode() for word, _ in Query.read(text).words]
    assert [word for word in words if word not in found] == []
    assert not {"the", "is", "ls", "head", "bsavecontext"} & set(found)


def test_a_query_without_words_is_false_and_scores_nothing():
    assert not Query.read("the of")
    assert Query.read("the of").score(LINES).tolist() == [0.0] * len(LINES)


def test_the_line_that_holds_most_of_the_rare_words_scores_most():
    points = Query.read("parse_header line").score(LINES)
    assert points.argmax() == 0
    assert points[4] == 0.0
    assert points.max() <= 1.0


def test_a_word_of_every_line_is_worth_next_to_nothing():
    lines = [b"src/app.py:%d: value" % number for number in range(50)] + [b"src/app.py:99: needle"]
    points = Query.read("src/app.py needle").score(lines)
    assert points[-1] > 0.9
    assert points[:-1].max() < 0.1


def test_a_word_inside_a_longer_one_counts_less_than_the_word_itself():
    whole, inside, _ = Query.read("hash").score([b"the hash is", b"rehashed it", b"nothing"])
    assert whole > inside > 0


def test_the_command_is_part_of_the_query_and_its_name_is_not():
    asked = Query.of(call_with(query="who calls it", command="grep -rn load_config lib", tool="Bash"))
    assert [word for word, _ in asked.words][:2] == [b"calls", b"load_config"]


def test_of_a_long_query_so_much_is_read():
    assert len(Query.read(" ".join(f"word{number}" for number in range(5_000))).words) == MAX_WORDS
    assert not Query.read("a " * MAX_CHARS + "needle")


def test_pieces_in_one_block_score_as_they_do_by_themselves():
    import numpy as np

    data = b"\n".join(LINES)
    starts = np.cumsum([0, *(len(line) + 1 for line in LINES[:-1])])
    asked = Query.read("Header footer")
    assert asked.score_in(data, starts).tolist() == asked.score(LINES).tolist()
    assert asked.score([]).tolist() == []


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (call_with(tool="Grep"), "search"),
        (call_with(tool="mcp__files__read_file"), "source"),
        (call_with(tool="Bash", command="cd app && rg -n load src | head -50"), "search"),
        (call_with(tool="Bash", command="sed -n '1,80p' src/a.py"), "source"),
        (call_with(tool="Bash", command="git grep load"), "search"),
        (call_with(tool="Bash", command="git show HEAD:src/a.py"), "source"),
        (call_with(tool="Bash", command="find . -name '*.py' | xargs cat"), ""),
        (call_with(tool="Bash", command="make test"), ""),
        (call_with(), ""),
    ],
)
def test_a_call_says_what_it_returns(call, kind):
    assert promised_kind(call) == kind


@pytest.mark.parametrize(
    ("query", "suffix"),
    [("src/app.tsx 345 120", "tsx"), ("/a/b.py", "py"), ("a.py b.go", ""), ("what is it?", ""), ("see v1.2", "")],
)
def test_the_end_of_a_name_says_the_language(query, suffix):
    assert file_suffix(call_with(query=query)) == suffix
