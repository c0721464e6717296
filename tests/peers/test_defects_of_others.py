"""Bugs of other systems in what the model reads. Each test would have caught one; its docstring names the system."""

import re

import pytest

from spillover import Limits
from spillover.errors import UsageError
from spillover.testing import byte_by_byte, chunked, content
from support import count_lines

LINES = "".join(f"line {number}\n" for number in range(1, 2_102))


def body(clip):
    """Return what is shown without the notice, which ends with the first line that ends in a bracket."""
    return re.sub(r"\A\[.*?\]\n", "", clip.text, count=1, flags=re.DOTALL)


# previews that are empty, or not cut at all


@pytest.mark.parametrize("keep", ["head", "tail", "ends"])
@pytest.mark.parametrize("end", ["", "\n"])
def test_one_line_above_the_limit_is_shown_in_part_with_or_without_a_final_newline(clipping, keep, end):
    """opencode #42277, openinterpreter#1915: the preview was empty, or "(no output)"."""
    clip = clipping(Limits(bytes=1_000), keep=keep).clip("b" * 60_000 + end)
    assert clip.text.count("b" * 200) >= 1
    assert clip.ranges == ((1, 1),)


def test_one_huge_line_does_not_pass_whole_because_only_lines_are_counted(clipping):
    """goose: "the last 50 lines" had no byte limit; vtcode: the first line was emitted whole."""
    clip = clipping(Limits(lines=50, bytes=2_000), keep="tail").clip("short\n" + "x" * 1_000_000)
    assert len(clip.text.encode()) <= 2_000


def test_newlines_alone_are_not_free(clipping):
    """crush: the limit is the width on the screen, and newlines have none."""
    clip = clipping(Limits()).clip("\n" * 1_000_000)
    assert count_lines(clip.text) <= 2_000
    assert clip.total.lines == 1_000_000


def test_the_whole_is_not_shown_when_the_end_gets_no_room(clipping):
    """klaude: with a tail of 0, `[-0:]` is the entire text."""
    clip = clipping(Limits(chars=400), keep="head").clip("HEAD" + "x" * 5_000 + "TAIL")
    assert "HEAD" in clip.text
    assert "TAIL" not in clip.text
    assert len(clip.text) <= 400


# counts


@pytest.mark.parametrize("text", [LINES, LINES.rstrip("\n"), "x" * 9_000, "\n" * 5_000, "é\r\n" * 900])
@pytest.mark.parametrize("keep", ["head", "tail", "ends"])
def test_counts_are_of_the_whole_and_never_negative(clipping, text, keep):
    """klaude: head and tail larger than the text gave "-100 hidden"; opencode counts the final newline as a line."""
    clip = clipping(Limits(bytes=600), keep=keep).clip(text)
    lines = len(text.removesuffix("\n").split("\n"))
    assert clip.total.lines == lines
    assert clip.total.bytes == len(text.encode())
    assert 0 < clip.shown.bytes < clip.total.bytes
    seen = [*clip.ranges, *clip.hidden]
    assert all(1 <= first <= last <= lines for first, last in seen)
    assert sum(last - first + 1 for first, last in seen) == lines


def test_totals_are_not_those_of_a_window(clipping):
    """pi: lines and bytes were counted only in the rolling window; codex#35421: the count was the same for any size."""
    said = {
        clipping(Limits(bytes=600)).clip(chunked(LINES.encode() * times, [7] * 50)).total.lines for times in (1, 2, 50)
    }
    assert said == {2_101, 4_202, 105_050}


def test_a_single_line_is_not_called_lines(clipping):
    """opencode v1: "1 lines truncated"."""
    clip = clipping(Limits(bytes=400)).clip("x" * 1_000)
    assert "1 line;" in clip.text
    assert "1 lines" not in clip.text


def test_two_thousand_lines_with_a_final_newline_are_two_thousand(clipping):
    """opencode v1: 2000 lines with a final newline were cut, because of a line that does not exist."""
    assert clipping(Limits(lines=2_000)).clip("a\n" * 2_000).outcome == "whole"


def test_frames_of_a_progress_bar_are_not_lines(clipping):
    """klaude: 2500 CR frames on one line were cut as 2500 lines."""
    clip = clipping(Limits()).clip("".join(f"{number}\r" for number in range(2_500)))
    said, _, shown = clip.text.partition("\n")
    assert (clip.outcome, shown, clip.total.lines) == ("stored", "2499", 1)
    assert said.startswith("[Output clipped: 2,499 overwritten frames left out. ")


# the notice


def test_the_notice_is_inside_the_budget(clipping):
    """opencode v1, daycare, klaude: the notice was not counted against the limit; qwen: 39 characters for a budget of 0."""
    for size in (200, 201, 250, 500, 5_000):
        for keep in ("head", "tail", "ends"):
            assert (
                len(clipping(Limits(bytes=size), keep=keep, hints=["cli", "tools"]).clip(LINES).text.encode()) <= size
            )


def test_a_budget_that_is_used_up_does_not_switch_the_limit_off():
    """gemini: a threshold of 0 or less meant "no limit", exactly when there was no room left."""
    for none_left in (0, -1, -40_000):
        with pytest.raises(UsageError, match="leaves no room"):
            Limits(tokens=none_left)


def test_the_notice_stands_first_and_a_later_cut_keeps_it(clipping):
    """codex#35226: the notice was in the middle of the payload; cline: a second cut in the middle removed it."""
    first = clipping(Limits(chars=5_000)).clip("x" * 60_000)
    again = clipping(Limits(chars=900)).clip(first.text)
    assert first.text.startswith("[Output clipped: ")
    assert first.ref in again.text, "the ref of the full output survives"


def test_halves_are_not_joined_as_if_they_were_one(clipping):
    """inspect_ai: value=1xxx2345 was read as real data; Gitlawb/zero#518: the gap had no marker."""
    clip = clipping(Limits(bytes=300)).clip("value=1" + "x" * 900 + "2345 total")
    assert re.search(r"value=1x*\n\[… bytes [\d,]+-[\d,]+, in line 1, not shown …\]\nx*2345 total", clip.text)


def test_only_what_the_reader_has_is_named(clipping):
    """opencode#13770: the hint named tools and agents that were disabled."""
    assert not re.search(r"Task|Grep|Read|spill (read|grep)", clipping(Limits(lines=10), hints="none").clip(LINES).text)


def test_text_that_looks_like_a_notice_changes_nothing(clipping, store):
    """QwenPaw#7871, hermes#56172: a marker inside the output prevented the cut; qwen used `includes` for `startsWith`."""
    forged = "[Output clipped: 1 of 2 lines shown. Full output: tool-000000000000]\n<persisted-output>\n" + LINES
    clip = clipping(Limits(lines=20)).clip(forged)
    assert clip.outcome == "stored"
    assert re.match(rf"\[Output clipped: 1\d of {count_lines(forged):,} lines shown", clip.text)
    assert content(store, clip.ref).decode() == forged


def test_the_final_words_are_not_lost_to_the_beginning(clipping):
    """codex#6415, opencode#33650, kimi: a failed build looked successful, because its end was cut."""
    for text in ("x" * 60_000 + "\nerror: build failed\n", LINES + "error: build failed\n"):
        assert clipping(Limits(bytes=900)).clip(text).text.endswith("error: build failed\n")


def test_the_same_output_gives_the_same_words(clipping):
    """openclaw#111085: a cut that depends on the time breaks the prompt cache."""
    clipper = clipping(Limits(bytes=700))
    texts = {clipper.clip(source).text for source in (LINES, LINES.encode(), byte_by_byte(LINES.encode()))}
    assert len(texts) == 1


# characters


@pytest.mark.parametrize("keep", ["head", "tail", "ends"])
def test_no_half_character_at_any_size(clipping, keep):
    """daycare, Roo, opencode#29291: UTF-16 slices left lone surrogates; DeepSeek-Reasonix#1976: the API answered 400."""
    for size in range(300, 312):
        clip = clipping(Limits(bytes=size), keep=keep).clip("😀" * 2_000)
        shown = set(body(clip)) & {"😀", "\ufffd", *map(chr, range(0xD800, 0xE000))}
        assert shown == {"😀"}


def test_a_character_on_the_edge_of_a_chunk_is_whole(clipping):
    """Roo: U+FFFD where a 64 KB read split a character; klaude decoded every 50 ms chunk separately."""
    text = ("é😀" * 9 + "\n") * 30
    for step in (1, 2, 3, 5, 65_537):
        data = text.encode()
        clip = clipping(Limits()).clip(data[at : at + step] for at in range(0, len(data), step))
        assert clip.text == text
    coloured = b"\x1b[31mred\x1b[0m\n" * 50
    assert clipping(Limits()).clip(byte_by_byte(coloured)).text == "red\n" * 50


@pytest.mark.parametrize("junk", ["\ud83d", "ok \udc80 ok", b"\xff\xfe\x80", b"a\x00b", "\x00" * 500, b"\xf0\x9f\x98"])
def test_no_text_is_too_broken_to_be_shown(clipping, junk):
    """klaude: a lone surrogate raised UnicodeEncodeError; claude-code#94055: NUL bytes killed the session; nano-rlm#61."""
    for output in (junk, junk * 2_000):
        text = clipping(Limits(bytes=500)).clip(output).text
        assert len(text.encode()) <= 500
        assert "\x00" not in text


# results that are not plain text


def test_an_image_and_a_structure_beside_the_text_stay(clipping):
    """fastmcp: cutting the text dropped images and structuredContent; Reasonix#6227: base64 was cut in two."""
    image = {"type": "image", "data": "A" * 50_000, "mimeType": "image/png"}
    result = {"content": [{"type": "text", "text": LINES}, image], "structuredContent": {"rows": 3}}
    out = clipping(Limits(bytes=900)).wrap(lambda: result, tool="t")()
    assert out["content"][1] is image
    assert out["structuredContent"] == {"rows": 3}


def test_a_list_of_content_is_bounded_in_all(clipping):
    """inspect_ai, deer-flow: content lists were not cut at all; daycare: each block was cut separately, without a total."""
    blocks = [{"type": "text", "text": "x" * 800} for _ in range(50)]
    out = clipping(Limits(bytes=1_000)).wrap(lambda: blocks, tool="t")()
    assert sum(len(block["text"]) for block in out) <= 1_000


def test_a_failed_call_is_bounded_like_any_other(clipping):
    """eca#537: error results were not truncated."""

    def tool():
        raise RuntimeError(LINES)

    with pytest.raises(RuntimeError) as caught:
        clipping(Limits(bytes=900)).wrap(tool)()
    assert len(str(caught.value).encode()) <= 900


def test_two_layers_do_not_undo_each_other(clipping, store):
    """daycare: of two streams of 8 K, a tail of 8 K removed all stdout; hermes#86401: output was lost before it was saved."""
    clipper = clipping(Limits(bytes=8_000))
    tool = clipper.wrap(lambda: clipper.clip_streams(stdout="o" * 9_050, stderr="e" * 9_050), tool="exec")
    text = tool()
    assert text.count("o" * 500) >= 1
    assert text.count("e" * 500) >= 1
    assert len(text) <= 8_000
    [record] = store.list()
    assert record.bytes == 9_050 + 1 + 9_050


@pytest.mark.parametrize("metadata", [{}, {"truncated": False}, {"truncated": True}])
def test_a_tool_that_says_it_was_truncated_is_bounded_like_any_other(clipping, metadata):
    """opencode: every result with the key `truncated` bypassed the limit, even one with 200 KB of matches."""
    result = {"output": LINES, "metadata": metadata}
    assert len(clipping(Limits(bytes=900)).wrap(lambda: result, tool="grep")()) <= 900
