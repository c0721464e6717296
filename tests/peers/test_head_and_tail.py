"""Keeping the beginning or the end of a text, from published cases: input, budget → what is kept and how much is hidden."""

import json

import pytest
from msgspec.structs import replace

from spillover import Limits
from spillover.profiles import klaude
from spillover.testing import content
from support import DEFAULT_BYTES, DEFAULT_LINES

TEN = [f"line{number}" for number in range(10)]
HUNDRED = "\n".join(f"line{number}" for number in range(100))
PAD = "x" * 100  # added to their short lines, because we do not cut inside short ones


def joined(*lines, end="\n"):
    return "\n".join(lines) + end


CUTS = [
    # source, text, keep, budget, what is kept, lines hidden, why ours differs
    ("opencode OC1-3", HUNDRED, "head", {"lines": 10}, joined(*TEN), 90, ""),
    ("opencode OC1-5", joined(*TEN, end=""), "head", {"lines": 3}, joined(*TEN[:3]), 7, ""),
    ("opencode OC1-6", joined(*TEN, end=""), "tail", {"lines": 3}, joined(*TEN[7:], end=""), 7, ""),
    ("opencode v1, final newline", joined(*TEN), "tail", {"lines": 3}, joined(*TEN[7:]), 7,
     "a final newline opens no line: they keep line8, line9 and nothing"),
    ("opencode v1, both limits", "a\n" * 100, "head", {"lines": 10, "bytes": 100}, "a\n" * 10, 90, ""),
    ("opencode v1, CRLF", "x\r\n" * 10, "head", {"lines": 3}, "x\r\n" * 3, 7, "they count 8 hidden: the newline at the end"),
    ("opencode v1, é", "\n".join(["é" * 10] * 10), "head", {"bytes": 50}, ("é" * 10 + "\n") * 2, 8, ""),
    ("opencode v1, on a line end", "aaaa\naaaa\naaaa", "head", {"bytes": 10}, "aaaa\naaaa\n", 1, "a line has its newline"),
    ("opencode v1, on a line end", "aaaa\naaaa\naaaa", "head", {"bytes": 9}, "aaaa\n", 2, "a line has its newline"),
    ("opencode v1, one line", "a" * 1_000, "head", {"bytes": 100}, "a" * 100, 0, "never an empty preview"),
    ("opencode v1, short then huge", "ok\n" + "b" * 500, "head", {"bytes": 100}, "ok\n" + "b" * 97, 0, "the room is used"),
    ("opencode v1, huge then short", "b" * 500 + "\nok", "tail", {"bytes": 100}, "b" * 97 + "\nok", 0, "the room is used"),
    ("opencode shell.tail", "b" * 500, "tail", {"bytes": 100}, "b" * 100, 0, ""),
    ("opencode shell.tail #42277", "b" * 500 + "\n", "tail", {"bytes": 100}, "b" * 99 + "\n", 0, "they show nothing"),
    ("opencode shell.tail, €", "€" * 100, "tail", {"bytes": 10}, "€€€", 0, ""),
    ("opencode shell.tail", joined(*TEN, end=""), "tail", {"lines": 3}, joined(*TEN[7:], end=""), 7, ""),
    ("daycare tail", PAD + "abcdefghijklmnopqrstuvwxyz", "tail", {"chars": 5}, "vwxyz", 0, ""),
    ("daycare tail, stderr", PAD + "abcdefghij", "tail", {"chars": 3}, "hij", 0, ""),
    ("daycare tail, 0", PAD, "tail", {"chars": 0}, "", 1, ""),
    ("daycare tail, at the limit", "hello", "tail", {"chars": 5}, "hello", 0, ""),
    ("daycare toolResult", "a" * 10 + "b" * 9_000, "tail", {"chars": 8_000}, "b" * 8_000, 0, ""),
    ("daycare stringTruncate", "hello world" + PAD, "head", {"chars": 5}, "hello", 0, ""),
    ("vtcode byte budget", "こんにちは" + PAD, "head", {"bytes": 5}, "こ", 0, ""),
    ("vtcode byte budget", "こんにちは" + PAD, "head", {"bytes": 6}, "こん", 0, ""),
    ("vtcode byte budget", "AB日本語CD" + PAD, "head", {"bytes": 4}, "AB", 0, ""),
    ("vtcode byte budget", "AB日本語CD" + PAD, "head", {"bytes": 5}, "AB日", 0, ""),
    ("vtcode byte budget", "👋🌍" + PAD, "head", {"bytes": 5}, "👋", 0, ""),
    ("vtcode byte budget, 0", "abc" + PAD, "head", {"bytes": 0}, "", 1, ""),
    ("vtcode tail_preview", joined(*[f"line-{n}" for n in range(20)], end=""), "tail", {"bytes": 40, "lines": 3},
     "line-17\nline-18\nline-19", 17, ""),
    ("vtcode tail_preview, final newline", "a\nb\nc\n", "tail", {"bytes": 1_000, "lines": 2}, "b\nc\n", 1,
     "a final newline opens no line: they keep c and nothing"),
    ("vtcode tail_preview, empty", "", "tail", {"bytes": 40, "lines": 3}, "", 0, ""),
    ("vtcode line reader", "y" * 10_000, "head", {"bytes": 100}, "y" * 100, 0, ""),
    ("vtcode byte fuse", "a" * 5_000, "head", {"bytes": 100}, "a" * 100, 0, ""),
    ("langchain ShellTool", "l\n" * 250, "head", {"lines": 100}, "l\n" * 100, 150, ""),
    ("opencode OC5", "abcdefghij" + PAD, "head", {"chars": 4}, "abcd", 0, ""),
    ("opencode v2 process", "0123456789" + PAD, "head", {"bytes": 5}, "01234", 0, ""),
]  # fmt: skip


@pytest.mark.parametrize(("source", "text", "keep", "budget", "kept", "hidden", "why"), CUTS)
def test_one_end_is_kept(cut, source, text, keep, budget, kept, hidden, why):
    out = cut(text, keep, **budget)
    shown = (out.head or out.tail) if keep == "head" or not out.tail else out.tail
    assert len(shown) >= len(kept) * 0.99, why  # the last few of thousands of bytes may stay unused
    assert kept.startswith(shown) if keep == "head" else kept.endswith(shown), why
    assert out.hidden_lines == hidden, why


FITS = [
    # source, text, limits: exactly at the limit, nothing is cut or stored
    ("opencode OC1-2", "line1\nline2\nline3", Limits(lines=4)),
    ("opencode OC1-12", "\n".join(TEN * 5), Limits(lines=1_000, bytes=1 << 20)),
    ("opencode OC1-17", "short content", Limits(chars=200)),
    ("opencode v1, 2000 lines", "\n".join(["a"] * 2_000), Limits()),
    ("opencode v1 counts one more", "a\n" * 2_000, Limits()),
    ("opencode v1, 51200 bytes", "a" * 51_200, Limits(bytes=51_200)),
    ("klaude, 40000 chars", "c" * 40_000, Limits(chars=40_000)),
    ("klaude, 2000 lines", "l\n" * 2_000, Limits(lines=2_000)),
    ("OpenHands, empty", "", Limits(chars=200)),
    ("daycare, at the limit", "d" * 8_000, Limits(chars=8_000)),
    ("vtcode condense", "a" * 12_000, Limits(bytes=12_000)),
    ("Roo interceptor", "r" * 5_120, Limits(bytes=5_120)),
    ("Roo interceptor", "r" * 10_240, Limits(bytes=10_240)),
    ("Roo interceptor", "r" * 20_480, Limits(bytes=20_480)),
]


@pytest.mark.parametrize(("source", "text", "limits"), FITS)
def test_exactly_at_the_limit_nothing_is_cut_and_one_more_is_cut_and_kept(clipping, store, source, text, limits):
    whole = clipping(limits).clip(text)
    assert (whole.outcome, whole.text, whole.ref) == ("whole", text, None)
    assert list(store.list()) == []
    if limits.fill(text, len) == 1 or limits == Limits():
        more = text + ("x" if limits.lines is None or "\n" not in text else "\nx")
        clip = clipping(limits).clip(more)
        assert clip.outcome == "stored"
        assert content(store, clip.ref).decode() == more


OVERFLOWS = [
    # source, text, limits, keep, what must be shown, what must not
    ("opencode OC1-1, JSON", json.dumps([{"id": n, "name": "model"} for n in range(3_000)]), Limits(), "head", ['[{"id": 0,'], []),
    ("opencode OC1-10", HUNDRED, Limits(lines=13, bytes=1 << 20), "head", ["line0\n", "line9\n"], ["line20", "line99"]),
    ("opencode OC1-11", "a" * 1_000, Limits(lines=1_000_000, bytes=300), "head", ["aaaa", "of 1,000 bytes shown"], ["a" * 300]),
    ("opencode OC1-14", HUNDRED, Limits(lines=10), "head", ["of 100 lines shown", "spill grep", "spill read"], ["line99"]),
    ("opencode OC1-16", HUNDRED, Limits(lines=10), "head", ["spill grep"], ["Task"]),
    ("opencode v2.bound", "a\n" * 3_000, Limits(), "ends", ["of 3,000 lines shown"], []),
    ("pi tools.test", "".join(f"Line {n}\n" for n in range(1, 2_501)), Limits(lines=2_000), "tail", ["Line 2500"], ["Line 1\n"]),
    ("pi tools.test, read", "".join(f"Line {n}\n" for n in range(1, 2_501)), Limits(lines=2_000), "head", ["Line 1\n"], ["Line 2500"]),
    ("klaude", "k" * 40_001, Limits(chars=40_000), "ends", ["of 40,001 bytes shown"], []),
    ("kimi result builder", "k" * 60_000 + "\nfinal error", Limits(chars=50_000), "ends", ["final error"], []),
    ("swe-agent", "s" * 200_000 + "last", Limits(chars=100_000), "tail", ["last"], []),
]  # fmt: skip


@pytest.mark.parametrize(("source", "text", "limits", "keep", "there", "gone"), OVERFLOWS)
def test_what_overflows_is_bounded_reported_and_kept(clipping, store, source, text, limits, keep, there, gone):
    clipper = clipping(limits, keep=keep, hints="cli")
    clip = clipper.clip(text)
    assert limits.hold(clip.text, clipper.settings.count)
    assert [word for word in there if word not in clip.text] == []
    assert [word for word in gone if word in clip.text] == []
    assert content(store, clip.ref).decode() == text


def test_the_defaults_are_those_models_have_learned():
    """opencode OC1-7, pi: 2000 lines and 50 KiB."""
    assert (DEFAULT_LINES, DEFAULT_BYTES) == (2_000, 50 * 1_024)


def test_a_trigger_of_2000_lines_and_a_preview_of_50(clipping):
    """goose shell.rs: 2500 lines → the last 50, and a notice with the total."""
    text = "".join(f"line {number}\n" for number in range(2_500))
    clipper = clipping(Limits(lines=50), wording=replace(klaude.form(), trigger=Limits(lines=2_000)), keep="tail")
    clip = clipper.clip(text)
    assert clip.ranges == ((2_451, 2_500),)
    assert "\nline 2450\n" in clip.text
    assert "line 2449" not in clip.text
    assert clip.shown.lines == 50
    assert clipper.clip("line\n" * 2_000).outcome == "whole"


def test_the_exit_code_a_tool_writes_last_is_still_last(clipping):
    """OpenHands test_observation_truncation: the suffix survives."""
    clip = clipping(Limits(chars=400)).clip("o" * 40_000 + "\n[Command finished with exit code 1]")
    assert clip.text.endswith("\n[Command finished with exit code 1]")


def test_an_empty_output_stays_empty(clipping):
    """qwen and klaude replace it with a sentence; we leave it empty."""
    clip = clipping(Limits()).clip("")
    assert (clip.text, clip.outcome, clip.total.lines) == ("", "whole", 0)
