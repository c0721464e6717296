"""What repeats word for word is folded, also where nothing failed."""

import pytest

from spillover import Limits, MemoryStore, clip
from spillover.profiles import vtcode


def shown(text, **choices):
    return clip(text, Limits(tokens=500), store=MemoryStore(), **choices)


@pytest.mark.parametrize("keep", ["signal", "auto"])
def test_three_thousand_equal_lines_are_two_and_a_count(keep):
    out = shown("compiling the same thing again\n" * 3_000, keep=keep)
    assert out.text.count("compiling the same thing again") == 2
    assert "[… the line above 2,998 more times, lines 2-2,999 …]" in out.text


def test_a_block_that_repeats_is_shown_twice():
    out = shown("connect\nread\nwrite\nclose\n" * 1_000)
    assert out.text.count("connect") == 2
    assert "[… the 4 lines above 998 more times, lines 5-3,996 …]" in out.text


def test_what_stands_between_repeats_gets_the_room():
    text = "".join(f"step {number} of many\n" + "waiting for the server\n" * 200 for number in range(8))
    out = shown(text)
    assert [f"step {number} of many" in out.text for number in range(8)] == [True] * 8


@pytest.mark.parametrize("line", ["installed package {n}", "{n:07x} Merge change {n} into the trunk"])
def test_very_uniform_lines_fill_the_room(line):
    """Of 4,000 lines of `git log --oneline`, two were shown, and a count."""
    out = shown("".join(line.format(n=number * 7_919) + "\n" for number in range(4_000)))
    assert out.shown.tokens > 350
    assert "more like the line above" in out.text


def test_where_numbers_are_what_is_said_they_are_no_repeats():
    out = shown("".join(f"{number} {number * number}\n" for number in range(3_000)))
    assert out.shown.lines > 30


def test_a_block_that_differs_in_numbers_leaves_its_room_to_the_rest():
    blocks = "".join(f"  # worker[{n}] will be created\n  + name = worker-{n}\n  + size = large\n" for n in range(500))
    out = shown("  # ledger must be replaced\n" + blocks + "Plan: 500 to add, 1 to destroy.\n")
    assert "ledger must be replaced" in out.text
    assert "Plan: 500 to add" in out.text
    assert "worker[250]" not in out.text


def test_a_little_that_repeats_changes_nothing():
    words = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf")
    plain = "".join(f"{words[n % 7]} and {words[n // 7 % 7]} and {words[n // 49 % 7]}\n" for n in range(3_000))
    out = shown(plain + "\n\n\n\n\n\n" + plain)
    assert out.shown.lines > 30


def test_each_stream_is_folded_and_both_are_there():
    out = vtcode.clipper(store=MemoryStore(), max_tokens=300, keep="auto").clip_streams(
        stdout="out again\n" * 3_000, stderr="the other stream\n" * 3_000
    )
    assert out.text.count("out again") < 10
    assert "[stderr]" in out.text


def test_vtcode_says_that_what_is_truncated_repeats_what_is_shown():
    """Seed 004, "Compression": summarize large blocks of repeated content, deduplicate log lines."""

    def text(output, keep="signal"):
        return vtcode.clipper(store=MemoryStore(), max_tokens=500, keep=keep, banner=False).clip(output).text

    assert text("the same again\n" * 3_000) == (
        "the same again\n[... 2998 lines truncated: the line above, repeated ...]\nthe same again\n"
    )
    assert "[... 3992 lines truncated: the 4 lines above, repeated ...]" in text("a\nb\nc\nd\n" * 1_000)
    assert text("the same again\n" * 3_000, keep="ends").count("the same again") > 100, "to the letter of the document"


def test_each_thing_is_named_once_before_anything_is_said_of_it_again():
    names = ["alphabet", "boundary", "calendar", "database", "elephant", "festival", "graphite", "hospital", "industry"]
    text = "".join(
        f"changed in both\n  base   {number:040x} {name}/source.go\n  our    {number + 9:040x} {name}/source.go\n"
        f"  their  {number + 99:040x} {name}/source.go\n"
        for number, name in enumerate(names)
    )
    out = clip(text, Limits(tokens=800), store=MemoryStore(), worth=0)
    assert out.outcome == "stored"
    assert [name for name in names if f"{name}/source.go" not in out.text] == []
