"""Where ours is not what vtcode's document describes: each difference of docs/profiles/differences.md, both ways."""

import sys
from math import ceil

import pytest

from spillover import DirStore, MemoryStore, estimate
from spillover.profiles import vtcode
from support import exact_counter as exact
from support import vtcode_display, vtcode_estimate

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
    by_chars = {"tokenizer": vtcode_estimate.by_chars}
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
    assert ours(dense, 1_000, tokenizer="o200k_base").shown.tokens <= 1_000


def test_what_is_cut_but_not_large():
    log = "\n".join(f"line {number}" for number in range(2_000))
    assert len(log) < SPOOL  # the document spools nothing of this, and shows a part of it
    clip = ours(log, 200)
    assert clip.outcome == "stored"
    assert clip.ref is not None


def test_what_is_shown_whole_is_in_no_file():
    sparse = " " * (SPOOL + 100_000)  # the document spools this for its size
    clip = ours(sparse, 25_000)
    assert (clip.text, clip.outcome, clip.ref) == (sparse, "whole", None)


def test_the_end_of_the_head_the_ends_of_lines_and_the_last_newline():
    log = "a b c\r\n" + "\r\n" * 3 + "x" * 300 + "\r\n" + "the end\r\n"
    described = [line.removesuffix("\r") for line in log.removesuffix("\n").split("\n")]
    assert (
        f"{chr(10).join(described[:4]).rstrip()}\n[... 1 lines" == "a b c\n[... 1 lines"
    )  # three blank lines, uncounted
    assert ours(log, 40).text == "a b c\r\n\r\n\r\n\r\n[... 1 lines truncated ...]\nthe end\r\n"


def test_the_file_stays_plain_when_the_store_is_compressed(tmp_path):
    pytest.importorskip("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    store = DirStore(tmp_path / "store")
    log = "\n".join(f"line {number}" for number in range(2_000))
    clip = vtcode.clipper(store=store, max_tokens=200).clip(log)
    store.compress()
    with open(clip.path) as file:
        assert file.read() == log
    assert vtcode.clipper(store=store).read(clip.ref, lines=2_000).text.startswith("2000: line 1999")


def test_the_settings_of_its_file_are_arguments():
    assert vtcode.budget(100_000).window == 100_000  # max_context_tokens
    assert vtcode.clipper(store=MemoryStore(), max_tokens=9_000).limits.tokens == 9_000  # tool_response_max_tokens
    for kind, name in (("code", "code_fence_max_lines"), ("diff", "diff_max_lines")):
        assert vtcode_display.render("a\nb\nc", kind, **{name: 1}).startswith("a\n... (2 more lines truncated, ")


def test_the_model_is_told_where_the_file_is(tmp_path):
    log = "\n".join(f"line {number}" for number in range(2_000))
    assert "/" not in as_described(log, 200)
    clip = vtcode.clipper(folder=str(tmp_path), max_tokens=200).clip(log)
    assert clip.path in clip.text.partition("\n")[0]
    assert "\nFirst ~" in clip.text


@pytest.mark.parametrize("left", [0, 90, 5_000])
def test_a_window_with_less_left_than_the_tightest_limit(left):
    described = 15_000  # above 80 %, however little there is
    budget = vtcode.budget(128_000)
    budget.add("user", 128_000 - left)
    given = budget.clipper(vtcode.clipper(store=MemoryStore())).limits.tokens
    assert given == max(100, left) < described


def test_a_long_line_on_the_screen_has_its_dots_inside_the_150():
    shown = vtcode_display.shorten("x" * 400)
    assert len("x" * 150 + "...") == 153
    assert len(shown) == 150


def test_tokens_are_counted_by_our_vocabularies_and_by_our_estimate():
    text = "\n".join(f"step {number}: {number * 7919:x}" for number in range(300))
    store = MemoryStore()
    assert vtcode.clipper(store=store).count(text) == estimate(text) != vtcode_estimate.tokens(text)
    assert vtcode.clipper(store=store, model="gpt-4o").count(text) == exact("o200k_base")(text)
    own = vtcode.clipper(store=store, tokenizer=vtcode_estimate.tokens)
    assert own.count(text) == vtcode_estimate.tokens(text)


def test_the_tokens_of_each_end_are_those_that_are_shown_and_not_half_of_the_budget():
    log = "".join(f"line {number} of a log\n" for number in range(20_000))
    clipper = vtcode.clipper(store=MemoryStore(), max_tokens=9_000)
    first, _, rest = clipper.clip(log).text.partition("First ")[2].partition("\n")
    head = rest.partition("[...")[0]
    assert first == f"~{clipper.count(head) / 1_000:.1f}k tokens shown"
    assert first != "~4.5k tokens shown"
