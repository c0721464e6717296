"""klaude's own cases (tests/tool/test_offload.py, v2.32.0) and the vectors of its algorithm, run against `klaude.offload`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover import MemoryStore
from spillover.profiles import klaude
from spillover.profiles.klaude_today import EMPTY, text_or_reminder

SMALL = {"max_length": 100, "head_chars": 10, "tail_chars": 10}
LINES = [f"line {number}" for number in range(2_500)]


def theirs(output, max_length=40_000, max_lines=2_000, head=10_000, tail=10_000, head_lines=1_000, tail_lines=1_000):
    """Their algorithm in a few lines: what is shown, how much is hidden, and in which unit."""
    lines = output.splitlines()
    if len(output) > max_length:
        return output[:head], output[-tail:], len(output) - head - tail, "chars"
    if len(lines) > max_lines:
        return (
            "\n".join(lines[:head_lines]),
            "\n".join(lines[-tail_lines:]),
            len(lines) - head_lines - tail_lines,
            "lines",
        )
    return output, "", 0, None


@pytest.fixture
def offload(tmp_path):
    def call(output, tool=None, **choices):
        return klaude.offload(output, tool, folder=str(tmp_path / "klaude"), **choices)

    return call


UNCHANGED = [
    # source, output, tool, choices
    ("test_offload: Read passes through", "a" * 100_000, "Read", {}),
    ("test_offload: entry point, Read", "line\n" * 100_000, "Read", {}),
    ("test_offload: short text", "short text", None, {"max_length": 100}),
    ("test_offload: entry point, WebFetch", "small content", "WebFetch", {}),
    ("vector: exactly 40000 chars", "a" * 40_000, "Bash", {}),
    ("vector: 2000 lines with trailing newline", "x\n" * 2_000, "Bash", {}),
    ("vector: 2000 lines", "\n".join(LINES[:2_000]), "Bash", {}),
]


@pytest.mark.parametrize(("source", "output", "tool", "choices"), UNCHANGED, ids=[row[0] for row in UNCHANGED])
def test_unchanged(offload, source, output, tool, choices):
    result = offload(output, tool, **choices)
    assert result.output is output
    assert (result.was_truncated, result.path, result.truncated_chars) == (False, None, 0)


CUT = [
    # source, output, choices, hidden, unit
    ("vector: HEAD_START+100x+TAIL_ENDXX", "HEAD_START" + "x" * 100 + "TAIL_ENDXX", SMALL, 100, "chars"),
    ("vector: 40001 chars", "a" * 40_001, {}, 20_001, "chars"),
    ("vector: 2001 lines with trailing newline", "".join(f"{line}\n" for line in LINES[:2_001]), {}, 1, "lines"),
    ("vector: 2500 CRLF lines", "".join(f"{line}\r\n" for line in LINES), {}, 500, "lines"),
    ("commit 997df020: both exceeded, chars win", "".join(f"{line * 5}\n" for line in LINES), {}, 89_450, "chars"),
    ("test_offload: Bash 100000", "a" * 100_000, {}, 80_000, "chars"),
]


@pytest.mark.parametrize(("source", "output", "choices", "hidden", "unit"), CUT, ids=[row[0] for row in CUT])
def test_cut_to_the_letter(offload, source, output, choices, hidden, unit):
    names = {"head_chars": "head", "tail_chars": "tail"}
    first, last, count, by = theirs(output, **{names.get(name, name): value for name, value in choices.items()})
    assert (count, by) == (hidden, unit), "the row says what their algorithm gives"
    result = offload(output, "Bash", **choices)
    shown = choices.get("head_chars", 10_000 if unit == "chars" else 1_000)
    total = len(output) if unit == "chars" else len(output.splitlines())
    assert result.output == (
        f"<system-reminder>Output truncated due to length. Showing first {shown} and last {shown} {unit} of {total} {unit}. "
        f"Full output saved to: {result.path} </system-reminder>\n\n{first}\n\n<...{hidden} {unit} omitted...>\n\n{last}"
    )
    with open(result.path, newline="") as file:
        assert file.read() == output


def test_offload_the_file_is_the_input_and_is_named_by_the_tool(offload, tmp_path):
    result = offload("a" * 200, "Test/Tool", **SMALL)
    assert result.path.startswith(f"{tmp_path}/klaude/klaude-test_tool-")
    assert result.path.endswith(".log")
    with open(result.path) as file:
        assert file.read() == "a" * 200


def test_offload_policy_never_cuts_and_keeps_nothing(offload, tmp_path):
    result = offload("a" * 200, "TestTool", policy="never", **SMALL)
    assert (result.was_truncated, result.path) == (True, None)
    assert not (tmp_path / "klaude").exists()


def test_offload_numbers_of_the_result(offload):
    result = offload("a" * 100, max_length=50, head_chars=10, tail_chars=10)
    assert (result.original_length, result.truncated_chars) == (100, 80)


def test_offload_defaults_of_the_result():
    assert klaude.OffloadResult("x") == klaude.OffloadResult("x", False, None, 0, 0)


@pytest.mark.parametrize(
    ("tool", "strategy"),
    [("Read", "pass"), ("WebFetch", "ends"), ("Bash", "ends"), ("unknown", "ends"), (None, "ends")],
)
def test_offload_registry(tool, strategy):
    assert klaude.strategy_for(tool) == strategy


def test_runner_empty_output_is_a_reminder():
    assert text_or_reminder("") == EMPTY == "<system-reminder>Tool ran without output or errors</system-reminder>"
    assert text_or_reminder("x") == "x"


@given(text=st.text(max_size=5_000), max_length=st.integers(100, 1_000))
def test_offload_property_unchanged_iff_short_else_both_ends(text, max_length):
    part = max_length // 4
    result = klaude.offload(text, max_length=max_length, head_chars=part, tail_chars=part, store=MemoryStore())
    assert (result.output == text) == (len(text) <= max_length)
    if len(text) > max_length:
        assert text[:part] in result.output
        assert text[-part:] in result.output


# Differences: what theirs does, and ours.


def test_difference_carriage_returns_are_no_lines(offload):
    frames = "\r".join(f"{number} %" for number in range(2_500)) + "\n"
    assert theirs(frames)[2:] == (500, "lines"), "2,500 frames of one progress bar count as lines"
    assert offload(frames, "Bash").output is frames


def test_difference_no_tail_is_no_tail(offload):
    text = "0123456789" * 20
    assert theirs(text, max_length=100, head=10, tail=0)[1] == text, "[-0:] keeps everything"
    result = offload(text, max_length=100, head_chars=10, tail_chars=0)
    assert result.output.endswith("</system-reminder>\n\n0123456789\n\n<...190 chars omitted...>\n\n")


def test_difference_what_is_shown_whole_is_not_called_truncated(offload):
    text = "a" * 300
    assert theirs(text, max_length=100, head=200, tail=200)[2] == -100
    assert offload(text, max_length=100, head_chars=200, tail_chars=200).output is text


def test_difference_cut_by_characters_the_lines_are_bounded_too(offload):
    text = "\n" * 50_000
    first, last, *_ = theirs(text)
    assert (first + last).count("\n") == 20_000
    assert offload(text).output.count("\n") <= 2_000 + 6


def test_difference_half_a_character_does_not_raise(offload):
    text = "\ud800" + "a" * 50_000
    with pytest.raises(UnicodeEncodeError):
        text.encode()  # what their write_text comes to, and only OSError is caught
    assert offload(text, "Bash").was_truncated


def test_difference_nothing_kept_is_said_with_the_reason(tmp_path):
    (tmp_path / "file").touch()
    result = klaude.offload("a" * 50_000, "Bash", folder=str(tmp_path / "file"))
    head = "<system-reminder>Output truncated due to length. Showing first 10000 and last 10000 chars of 50000 chars. "
    assert result.output.startswith(head + "Full output not kept: ")  # theirs ends with "chars."
    assert (result.path, result.was_truncated) == (None, True)


def test_difference_the_file_has_the_raw_bytes(tmp_path):
    raw = b"\x1b[31mred\x1b[0m\r\n" * 3_000
    clip = klaude.today_clipper(folder=str(tmp_path / "k")).clip(raw, tool="Bash")
    assert "\x1b" not in clip.text
    with open(clip.path, "rb") as file:
        assert file.read() == raw, "theirs is cleaned before it is saved"


#: Cases of theirs that test something else than offloading.
NOT_OURS = {
    "test_read_tool_characterization: a 2100-char line": "their Read tool; ours goes back by `Clipper.read(ref, columns=…)`",
    "test_read_tool_characterization: 5000 short lines": "their Read tool; a page of ours says how to go on",
    "test_read_tool_characterization: 4000x40 chars": "their Read tool; a page of ours is within the limits of the Clipper",
    "test_read_tool_characterization: offset 100 of 2 lines": "their Read tool; ours says how many lines there are",
    "test_attachments_files_truncation": "attachments of a chat are no output of a tool",
}


def test_what_does_not_apply_says_why():
    assert all(len(reason) > 20 for reason in NOT_OURS.values())
