"""Keeping both ends of a text, from published cases: input, budget → beginning, end, and how much is hidden."""

import pytest

from spillover import Limits

LONG = "this is an example of a long output that should be truncated"
EMOJI = "😀" * 10 + "\nsecond line with text\n"
ALPHABET = "abcdefghijklmnopqrstuvwxyz"
#: Repeat characters and multiply budgets by this, so that one-word lines are long enough for us to cut inside.
TIMES = 8

BYTES = [
    # source, text, budget in bytes, beginning kept, end kept, characters hidden, why ours differs
    ("codex truncate_tests", LONG, 30, "this is an exam", "ld be truncated", 30, ""),
    ("codex truncate_tests", "example output", 2, "e", "t", 12, "their budget of 1 has no two halves"),
    ("codex truncate_tests", LONG + "\nalso some other line", 30, "this is an", "also some other line", 51,
     "the last line fits, so it is kept whole; the rest of the room is the beginning's"),
    ("codex truncate_tests", EMOJI, 20, "😀😀", " with text\n", 20, "of a multiplied space, more than half fits"),
    ("codex truncate_tests, 8 tokens of 4 bytes", EMOJI, 32, "😀😀😀", "\nsecond line with text\n", 7,
     "they cut inside the last line, which fits"),
    ("codex truncate_tests, 0 tokens", "abcdef", 0, "", "", 6, ""),
    ("codex string/truncate split 5,5", "hello world", 10, "hello", "world", 1, ""),
    ("codex string/truncate split 5,5", "😀abc😀", 10, "😀a", "c😀", 1, ""),
    ("codex string/truncate split 1,1", "😀" * 5, 2, "", "", 5, ""),
    ("codex string/truncate overlap 4,4", "abcdef", 8, "abcdef", "", 0, "one part, since nothing is between"),
    ("inspect_ai", "abcdefghij", 6, "abc", "hij", 4, ""),
    ("inspect_ai", "abcdefghij", 5, "ab", "ij", 6, "the odd byte is halved, not given to the end"),
    ("inspect_ai", "a🌍b🌎c", 5, "a", "c", 3, ""),
    ("inspect_ai, at the limit", "abcdefghij", 10, "abcdefghij", "", 0, ""),
    ("daycare headTail", ALPHABET, 6, "abc", "xyz", 20, ""),
    ("daycare headTail, odd", ALPHABET, 7, "abc", "xyz", 20, "the odd character is halved, not given to the beginning"),
    ("daycare headTail, 0", "abc", 0, "", "", 3, ""),
]  # fmt: skip


@pytest.mark.parametrize(("source", "text", "budget", "head", "tail", "hidden", "why"), BYTES)
def test_the_middle_is_cut_out(cut, source, text, budget, head, tail, hidden, why):
    kept = cut(text, "ends", bytes=budget, times=TIMES)
    assert (kept.head, kept.tail, kept.hidden) == (head, tail, hidden), why


AS_PUBLISHED = [
    # the same without repeating: these are long enough
    (
        "klaude test_offload",
        "HEAD_START" + "x" * 100 + "TAIL_ENDXX",
        "ends",
        {"chars": 20},
        "HEAD_START",
        "TAIL_ENDXX",
        100,
    ),
    ("klaude test_offload", "a" * 100, "ends", {"chars": 20}, "a" * 10, "a" * 10, 80),
    ("klaude, head and tail larger than the text", "b" * 100, "ends", {"chars": 200}, "b" * 100, "", 0),
    ("codex split 6,6, more of it", "😀" * 50, "ends", {"bytes": 11}, "😀", "😀", 48),
    ("codex split 7,7: what one end cannot use is the other's", "😀" * 50, "ends", {"bytes": 14}, "😀😀", "😀", 47),
    ("codex split 1,1, more of it", "😀" * 50, "ends", {"bytes": 2}, "", "", 50),
    ("vtcode condense", "a" * 70 + "é" + "b" * 80, "2/3", {"bytes": 120}, "a" * 70 + "é" + "b" * 8, "b" * 40, 32),
    (
        "vtcode condense, a character at the cut",
        "a" * 79 + "é" + "b" * 80,
        "2/3",
        {"bytes": 120},
        "a" * 79,
        "b" * 41,
        40,
    ),
    ("vtcode condense, exactly full", "a" * 12_000, "2/3", {"bytes": 12_000}, "a" * 12_000, "", 0),
    ("gemini fileUtils", "h" * 300 + "t" * 700, "20/80", {"chars": 100}, "h" * 20, "t" * 80, 900),
]


@pytest.mark.parametrize(("source", "text", "keep", "budget", "head", "tail", "hidden"), AS_PUBLISHED)
def test_the_middle_is_cut_out_of_longer_texts(cut, source, text, keep, budget, head, tail, hidden):
    kept = cut(text, keep, **budget)
    assert (kept.head, kept.tail, kept.hidden) == (head, tail, hidden)


def numbered(count, first=1):
    return [f"line {number}" for number in range(first, first + count)]


LINES = [
    # source, total lines, keep, budget in lines, first lines kept, last lines kept
    ("Roo extract-text", 25, "20/80", 10, 2, 8),
    ("opencode v2.bound, 10 lines less 4 for the marker", 20, "ends", 6, 3, 3),
    ("vtcode preview windows, 6 less the gap row", 7, "ends", 5, 2, 3),
    ("klaude lines", 2_500, "ends", 2_000, 1_000, 1_000),
    ("deepagents preview", 11, "ends", 10, 5, 5),
    ("deepagents preview", 20, "ends", 10, 5, 5),
]


@pytest.mark.parametrize(("source", "total", "keep", "budget", "first", "last"), LINES)
def test_whole_lines_are_cut_out(cut, source, total, keep, budget, first, last):
    kept = cut("".join(f"{line}\n" for line in numbered(total)), keep, lines=budget)
    head, tail = kept.head.splitlines(), kept.tail.splitlines()
    assert head + tail == numbered(len(head)) + numbered(len(tail), total - len(tail) + 1)
    assert budget * 0.99 <= len(head) + len(tail) <= budget
    assert len(head) == pytest.approx(first, rel=0.06, abs=1), "room is shared by size, not by the count of lines"
    assert len(tail) == pytest.approx(last, rel=0.06, abs=1)
    assert kept.hidden_lines == total - len(head) - len(tail)


@pytest.mark.parametrize("total", [0, 1, 5, 10])
def test_what_fits_has_no_gap(cut, total):
    """deepagents: a preview of 5 lines from each end."""
    text = "".join(f"{line}\n" for line in numbered(total))
    kept = cut(text, "ends", lines=10)
    assert (kept.head, kept.tail, kept.hidden) == (text, "", 0)


WHOLE = [
    # source, text, limits, what must be shown, what must not
    ("OpenHands test_truncate", "BEGINNING" + "x" * 900 + "ENDING", Limits(chars=250), ["BEGINNING", "ENDING"], ["x" * 200]),
    ("opencode v2.bound", "HEAD-" + "x" * 30_000 + "y" * 30_000 + "-TAIL", Limits(), ["HEAD-", "-TAIL"], []),
    ("opencode v2.bound, one line", "x" * 1_000, Limits(bytes=300), ["xxx"], ["x" * 200]),
    ("opencode v2.bound, €", "€" * 400, Limits(bytes=300), ["€"], ["\ufffd"]),
    ("opencode v2.bound, 6 lines of 60", "".join(f"{n}" * 60 + "\n" for n in range(6)), Limits(bytes=300),
     ["0" * 60 + "\n", "5" * 60 + "\n"], ["1", "4" * 10]),
    ("cline bash.test", "a" * 30_000 + "MIDDLE" + "b" * 30_000, Limits(chars=48_000), ["aaa", "bbb"], ["MIDDLE"]),
    ("smolagents", "s" * 20_000 + "e" * 20_000, Limits(chars=20_000), ["sss", "eee"], []),
]  # fmt: skip


@pytest.mark.parametrize(("source", "text", "limits", "there", "gone"), WHOLE)
def test_both_ends_are_there_and_the_notice_is_within_the_limit(clipping, source, text, limits, there, gone):
    clipper = clipping(limits, keep="ends")
    clip = clipper.clip(text)
    assert limits.hold(clip.text, clipper.settings.count)
    body = clip.text.partition("\n")[2]
    assert [word for word in there if word not in body] == []
    assert [word for word in gone if word in body.replace("not shown", "").replace(clip.ref, "")] == []
    assert "not shown …]" in clip.text, "halves are never joined without a marker"


@pytest.mark.parametrize("keep", ["head", "tail", "ends"])
def test_no_limit_is_passed_at_any_size(clipping, keep):
    """qwen truncation.test: every preview from 0 to 120 characters; ours start at the smallest size that fits a notice."""
    text = "".join(f"{number} 😀 é\n" for number in range(100))
    for chars in range(200, 321):
        clip = clipping(Limits(chars=chars), keep=keep).clip(text)
        assert len(clip.text) <= chars
        assert not any("\ud800" <= char <= "\udfff" for char in clip.text)


def test_a_thousand_characters_at_two_hundred_use_the_room_there_is(clipping):
    """OpenHands: 1000 A at a limit of 200 give exactly 200; ours give no more, and not much less."""
    assert 190 <= len(clipping(Limits(chars=200)).clip("A" * 1_000).text) <= 200
