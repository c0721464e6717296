"""Where ours is not what vtcode's document describes: each difference of docs/profiles/differences.md, both ways."""

from math import ceil

import pytest

from spillover import MemoryStore
from spillover.profiles import vtcode, vtcode_display, vtcode_estimate
from spillover.tokens import exact

SPOOL = 200_000


def as_described(text, limit):
    """The document's cut: lines cost their characters / 3.5, the first is always taken, half of the budget each way."""
    lines, half = text.split("\n"), limit // 2

    def taken(those):
        out, used = [], 0
        for line in those:
            cost = ceil(len(line) / 3.5)
            if out and used + cost > half:
                break
            out.append(line)
            used += cost
        return out

    head = taken(lines)
    tail = taken(reversed(lines[len(head) :]))[::-1]
    missing = len(lines) - len(head) - len(tail)
    return "\n".join([*head, f"[... {missing} lines truncated ...]", *tail])


def ours(text, limit, **choices):
    return vtcode.clipper(store=MemoryStore(), max_tokens=limit, banner=False, **choices).clip(text)


def test_where_nothing_is_different_the_text_is_the_same():
    # lines of 20 characters: six tokens each by characters, and the estimate agrees that all of it fits
    log = "\n".join(f"line {number:03} and words" for number in range(100))
    by_chars = {"tokens": vtcode_estimate.by_chars}
    assert ours(log, 120, **by_chars).text == as_described(log, 120)


def test_a_line_longer_than_the_budget():
    log = "y" * 9_000 + "\nthe end"
    assert as_described(log, 100).startswith("y" * 9_000)
    clip = ours(log, 100)
    assert clip.shown.tokens <= 100
    assert clip.text.startswith("y")
    assert clip.text.endswith("\nthe end")


def test_lines_that_cost_more_than_their_characters_say():
    dense = "\n".join(f"0x{number * 7919:08x} {number * 104729:012d}" for number in range(3_000))
    count = exact("o200k_base")
    assert count(as_described(dense, 1_000)) > 1_200
    assert ours(dense, 1_000, tokens="o200k_base").shown.tokens <= 1_000


def test_what_is_cut_but_not_large():
    log = "\n".join(f"line {number}" for number in range(2_000))
    assert len(log) < SPOOL  # the document spools nothing of this, and shows a part of it
    clip = ours(log, 200)
    assert clip.outcome == "stored"
    assert clip.ref is not None


def test_the_model_is_told_where_the_file_is(tmp_path):
    log = "\n".join(f"line {number}" for number in range(2_000))
    assert "/" not in as_described(log, 200)
    clip = vtcode.clipper(folder=str(tmp_path), max_tokens=200).clip(log)
    assert clip.path in clip.text.partition("\n")[0]


@pytest.mark.parametrize("left", [0, 90, 5_000])
def test_a_window_with_less_left_than_the_tightest_limit(left):
    described = 15_000  # above 80 %, however little there is
    budget = vtcode.budget(128_000)
    budget.add("user", 128_000 - left)
    given = budget.clipper(vtcode.clipper(store=MemoryStore())).limits.tokens
    assert given == max(100, left) < described


def test_a_long_line_on_the_screen_has_its_dots_inside_the_150():
    shown = vtcode_display.shortened("x" * 400)
    assert len("x" * 150 + "...") == 153
    assert len(shown) == 150
