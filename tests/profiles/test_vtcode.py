"""vtcode: half of the tokens from either end, by whole lines; a budget per call; the window's budget manager."""

import re

import pytest

from spillover import Budget, Limits, MemoryStore, profiles
from spillover.profiles import vtcode
from spillover.testing import FailingStore
from spillover.types import Span
from support import vtcode_tokens as by_median

LINES = [f"line-{number} of a log that is not short" for number in range(1, 521)]
LOG = "\n".join(LINES)


def clipped(text, **choices):
    return vtcode.clipper(store=MemoryStore(), **choices).clip(text)


def test_the_default_is_25_000_tokens():
    assert vtcode.clipper(store=MemoryStore()).settings.limits == Limits(tokens=25_000)


def test_200_kilobytes_are_when_to_spool_and_no_limit():
    sparse = " " * 303_000  # about 5,000 tokens
    clip = vtcode.clipper(store=MemoryStore()).clip(sparse)
    assert (clip.text, clip.outcome) == (sparse, "whole")
    assert clip.total.tokens < 6_000


def test_an_output_too_large_to_count_at_once_is_not_called_truncated_where_all_of_it_is_shown():
    sparse = "\r\n" * 300  # 600 bytes, above 16 for a token
    clipper = vtcode.clipper(store=MemoryStore(), max_tokens=20, tokenizer=lambda text: len(text.strip()))
    clip = clipper.clip(sparse)
    assert clip.text == sparse
    assert vtcode.metadata(clip, clipper)["truncated"] is False


def test_first_and_last_line_survive_and_the_count_stands_between():
    text = clipped(LOG, max_tokens=200, banner=False).text
    head, marker, tail = re.split(r"\n(\[\.\.\. \d+ lines truncated \.\.\.\])\n", text)
    shown = head.split("\n") + tail.split("\n")
    assert (shown[0], shown[-1]) == (LINES[0], LINES[-1])
    assert [line for line in shown if line not in LINES] == []
    assert marker == f"[... {len(LINES) - len(shown)} lines truncated ...]"


def test_both_halves_are_about_as_large():
    head, _, tail = clipped(LOG, max_tokens=400, banner=False).text.partition("\n[... ")
    assert 0.7 < len(head) / len(tail) < 1.4


def test_the_banner_says_how_large_it_is_and_where(tmp_path):
    clip = vtcode.clipper(folder=str(tmp_path / ".vtcode/tool-output")).clip("x y z\n" * 60_000, tool="cargo test")
    first = clip.text.partition("\n")[0]
    assert first == f"[OUTPUT] Output too large (352KB, 60000 lines), spooled to: {clip.path}"
    assert re.fullmatch(r"cargo_test_\d{16}\.txt", clip.path.rpartition("/")[2])


def test_the_budget_is_said_where_a_person_looks():
    """Seed 004, "UI Experience Improvements", "After", line by line."""
    log = "".join(f"{number:06} {'x' * 62}\n" for number in range(60_000))  # 20 tokens a line, either way
    clip = clipped(log, tokenizer=lambda text: -(-len(text) * 2 // 7))
    words = [line for line in clip.text.split("\n") if line and not line.endswith("xxx")]
    assert words == [
        f"[OUTPUT] Output too large (4102KB, 60000 lines), spooled to: {clip.ref}",
        "[... content truncated by token budget ...]",
        "First ~12.5k tokens shown",
        "[... 58750 lines truncated ...]",
        "Last ~12.5k tokens shown",
    ]
    assert clip.text.split("\n")[3].startswith("000000 ")


def test_head_and_tail_cost_lines_alike():
    log = "x" * 7 + "\n" + ("\n" + "x" * 7) * 999  # two tokens, and none for an empty line
    for text in (log, log + "\n", log.replace("\n", "\r\n")):
        head, _, tail = clipped(
            text, max_tokens=40, tokenizer=lambda _: 0 if len(_) < 400 else 99, banner=False
        ).text.partition("[... ")
        assert head.count("x" * 7) == tail.count("x" * 7) == 10


# Any part


def gaps(text):
    return [
        int(lines)
        for lines in re.findall(r"^\[\.\.\. (\d+) lines truncated(?:: [^\]]*)? \.\.\.\]$", text, re.MULTILINE)
    ]


def in_three_places(document, fill):
    """Lines 11 to 20, 51 to 60 and 101 to 110 of LOG."""
    edges = [0]
    for line in LINES:
        edges.append(edges[-1] + len(line) + 1)
    return [Span(edges[first], edges[first + 10]) for first in (10, 50, 100)]


@pytest.mark.parametrize("banner", [True, False])
@pytest.mark.parametrize(
    ("keep", "counts"),
    [("head", 1), ("tail", 1), ("ends", 1), ("signal", 1), ("auto", 1), (in_three_places, 4)],
    ids=["head", "tail", "ends", "signal", "auto", "selector"],
)
def test_every_gap_counts_its_own_lines_whatever_is_kept(keep, counts, banner):
    clip = clipped(LOG, max_tokens=600, keep=keep, banner=banner)
    assert len(gaps(clip.text)) == counts
    assert gaps(clip.text) == [last - first + 1 for first, last in clip.hidden]


def test_of_two_streams_every_gap_counts_its_own_lines():
    clip = vtcode.clipper(store=MemoryStore(), max_tokens=400).clip_streams(stdout=LOG, stderr=LOG)
    assert sum(gaps(clip.text)) == 1_040 - clip.shown.lines
    assert gaps(clip.text) == [last - first + 1 for first, last in clip.hidden]


@pytest.mark.parametrize(
    ("keep", "said"),
    [
        ("head", ["First ~T tokens shown"]),
        ("tail", ["Last ~T tokens shown"]),
        (in_three_places, ["~T tokens shown"]),
    ],
    ids=["head", "tail", "selector"],
)
def test_the_tokens_are_said_of_the_part_that_is_shown(keep, said):
    text = clipped(LOG, max_tokens=600, keep=keep).text
    assert [re.sub("~[0-9]+", "~T", line) for line in text.split("\n") if line.endswith(" tokens shown")] == said


def test_a_line_longer_than_the_budget_is_cut_inside_and_the_marker_counts_bytes():
    clip = clipped("x" * 9_000, max_tokens=200)
    assert clip.shown.tokens <= 200
    assert f"[... {9_000 - clip.shown.bytes} bytes truncated ...]" in clip.text


@pytest.mark.parametrize(
    "tokens", ["estimate", by_median, "o200k_base", len], ids=["estimate", "median", "exact", "len"]
)
def test_what_is_shown_holds_the_budget_by_any_counter(tokens):
    clipper = vtcode.clipper(store=MemoryStore(), max_tokens=300, tokenizer=tokens)
    dense = "\n".join(f"0x{number * 7919:08x} 0x{number * 104729:08x}" for number in range(2_000))
    clip = clipper.clip(dense)
    assert clip.shown.tokens <= 300
    assert clip.ranges[0][0] == 1
    assert clip.ranges[-1][1] == 2_000


@pytest.mark.parametrize("model", ["claude-sonnet-4", "gpt-4o", "gemini-2.5-pro", "qwen3-coder", "nobody-knows-it"])
def test_the_tokenizer_is_that_of_the_model(model):
    clip = clipped(LOG, max_tokens=200, model=model)
    assert 100 < clip.shown.tokens <= 200


# Per call


@pytest.mark.parametrize("name", ["max_lines", "chunk_lines"])
def test_lines_are_mapped_to_tokens_with_a_warning(name):
    with pytest.warns(FutureWarning, match=f"{name} is deprecated; use max_tokens=400."):
        clipper = vtcode.clipper(store=MemoryStore(), **{name: 40})
    assert clipper.settings.limits.tokens == 400


@pytest.mark.parametrize("names", [("max_lines",), ("chunk_lines",), ("max_lines", "chunk_lines")])
def test_max_tokens_is_stronger_than_lines_which_are_deprecated_all_the_same(names):
    with pytest.warns(FutureWarning) as said:
        clipper = vtcode.clipper(store=MemoryStore(), max_tokens=500, **dict.fromkeys(names, 10))
    assert clipper.settings.limits.tokens == 500
    assert [str(each.message) for each in said] == [f"{name} is deprecated; use max_tokens=100." for name in names]


def test_the_metadata_says_which_budget_was_applied():
    clipper = vtcode.clipper(store=MemoryStore(), max_tokens=200)
    assert vtcode.metadata(clipper.clip("short"), clipper) == {"applied_max_tokens": 200, "truncated": False}
    assert vtcode.metadata(clipper.clip(LOG), clipper) == {"applied_max_tokens": 200, "truncated": True}


def test_the_metadata_says_what_a_rule_applied():
    clipper = vtcode.clipper(store=MemoryStore(), rules={"cargo*": {"limits": Limits(tokens=500)}})
    assert vtcode.metadata(clipper.clip(LOG * 9, tool="cargo test"), clipper)["applied_max_tokens"] == 500
    assert vtcode.metadata(clipper.clip("short", tool="cargo test"), clipper)["applied_max_tokens"] == 500
    assert vtcode.metadata(clipper.clip("é\x1b[1m", tool="cargo test"), clipper)["applied_max_tokens"] == 500
    assert vtcode.metadata(clipper.clip(LOG, tool="make"), clipper)["applied_max_tokens"] == 25_000


def test_the_metadata_names_the_file_where_there_is_one(tmp_path):
    clipper = vtcode.clipper(folder=str(tmp_path), max_tokens=200)
    clip = clipper.clip(LOG)
    assert vtcode.metadata(clip, clipper)["spool_path"] == clip.path


# The window


def test_the_budget_manager_takes_its_window_from_vtcodes_variable(monkeypatch):
    monkeypatch.setenv("SPILLOVER_CONTEXT_TOKENS", "90000")
    assert vtcode.budget().window == 90_000
    monkeypatch.setenv("VTCODE_CONTEXT_TOKEN_LIMIT", "100000")
    assert vtcode.budget().window == 100_000


@pytest.mark.parametrize(("used", "tokens"), [(0, 35_000), (64_000, 25_000), (102_000, 25_000), (102_401, 15_000)])
def test_limits_follow_the_pressure(used, tokens):
    budget = vtcode.budget()
    budget.add("user", used)
    clipper = vtcode.clipper(store=MemoryStore(), budget=budget)
    assert clipper.call().within_budget().limits.tokens == tokens


def test_a_full_window_bounds_most_of_all_and_the_same_call_stays_the_same():
    budget = Budget(128_000)
    clipper = vtcode.clipper(store=MemoryStore(), budget=budget)
    first = clipper.clip(LOG * 20, call_id="call-1").text
    budget.add("tool_results", 128_000)
    assert clipper.call().within_budget("call-2").limits.tokens == 100
    assert clipper.clip(LOG * 20, call_id="call-1").text == first


def test_what_the_store_cannot_take_is_said_and_no_file_is_named():
    clip = vtcode.clipper(store=FailingStore(MemoryStore(), after_bytes=100), max_tokens=200).clip(LOG)
    assert clip.outcome == "lost"
    assert clip.text.startswith("[OUTPUT] Output too large (18KB, 520 lines), Full output not kept: ")
    assert "spooled" not in clip.text


def test_one_profile_may_be_varied_like_any_clipper():
    clipper = profiles.vtcode.clipper(store=MemoryStore()).but(keep="signal", limits=Limits(tokens=300))
    assert "line-260 broke: error: no" in clipper.clip(LOG.replace(LINES[259], "line-260 broke: error: no")).text
