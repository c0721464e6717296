"""daycare's own cases (its .spec.ts files, commit 08c020b1) and the vectors of its algorithm, run against the profile."""

import json
import re
import sys

import pytest

from spillover import MemoryStore
from spillover.profiles import daycare

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def text(value):
    return {"type": "text", "text": value}


@pytest.fixture
def by():
    return daycare.clipper(store=MemoryStore())


TO_THE_LETTER = [
    # source, helper, text, arguments, result
    ("vector tail: a..z,5", daycare.tail, LETTERS, (5, "output"), "... (21 chars truncated from output)\nvwxyz"),
    ("vector tail: hello,5", daycare.tail, "hello", (5,), "hello"),
    ("stringTruncateTail.spec: hello,10", daycare.tail, "hello", (10,), "hello"),
    ("vector tail: abcdefghij,3,stderr", daycare.tail, "abcdefghij", (3, "stderr"), "... (7 chars truncated from stderr)\nhij"),
    ("vector tail: max 0", daycare.tail, "abc", (0, "output"), "... (3 chars truncated from output)\n"),
    ("plan, task 1: no source", daycare.tail, LETTERS, (5,), "... (21 chars truncated)\nvwxyz"),
    ("plan, task 1: no source, both ends", daycare.head_tail, LETTERS, (6,), "abc\n\n... (20 chars truncated) ...\n\nxyz"),
    ("plan, task 1: thousands", daycare.tail, "x" * 12_350, (5,), "... (12,345 chars truncated)\nxxxxx"),
    ("vector headTail: a..z,6", daycare.head_tail, LETTERS, (6, "output"), "abc\n\n... (20 chars truncated from output) ...\n\nxyz"),
    ("vector headTail: a..z,7 (odd)", daycare.head_tail, LETTERS, (7, "output"), "abcd\n\n... (19 chars truncated from output) ...\n\nxyz"),
    ("vector headTail: max 1", daycare.head_tail, "abc", (1, "output"), "a\n\n... (2 chars truncated from output) ...\n\n"),
    ("vector headTail: max 0", daycare.head_tail, "abc", (0, "output"), "\n\n... (3 chars truncated from output) ...\n\n"),
    ("stringTruncateHeadTail.spec: short", daycare.head_tail, "hello", (5,), "hello"),
    ("stringTruncateHeadTail.spec: label", daycare.head_tail, LETTERS, (6, "stdout"),
     "abc\n\n... (20 chars truncated from stdout) ...\n\nxyz"),
    ("stringTruncate.spec", daycare.head, "hello world", (5,), "hello..."),
    ("stringTruncate.spec: short", daycare.head, "hello", (5,), "hello"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "helper", "value", "arguments", "result"), TO_THE_LETTER, ids=[r[0] for r in TO_THE_LETTER]
)
def test_string_helpers_to_the_letter(source, helper, value, arguments, result):
    assert helper(value, *arguments) == result


# toolResultTruncate.spec


def test_tool_result_keeps_the_last_8000(by):
    assert daycare.tool_result([text("a" * 10 + "b" * 9_000)], by=by)[0]["text"].endswith("\n" + "b" * 8_000)


def test_tool_result_gives_the_same_object_when_nothing_is_cut(by):
    content = [text("ok")]
    assert daycare.tool_result(content, by=by) is content


def test_tool_result_several_blocks(by):
    image = {"type": "image", "data": "AA==", "mimeType": "image/png"}
    content = [text("header"), image, text("x" * 5 + "y" * 9_000)]
    out = daycare.tool_result(content, by=by)
    assert out[:2] == content[:2]
    assert "chars truncated from output block" in out[2]["text"]
    assert out[2]["text"].endswith("\n" + "y" * 8_000)


# plugins/shell/tool.spec

LONG = "a" * 100 + "z" * 9_000


@pytest.mark.parametrize(("stdout", "stderr"), [(LONG, ""), ("", LONG), (LONG, LONG)], ids=["stdout", "stderr", "both"])
def test_exec_each_stream_is_cut_and_labelled(by, stdout, stderr):
    said = json.loads(daycare.exec_output(stdout, stderr, as_json=True, by=by).text)
    for name, stream in (("stdout", stdout), ("stderr", stderr)):
        assert said[name].endswith("z" * 8_000) if stream else said[name] == ""
        assert (f"truncated from {name})" in said[name]) == bool(stream)


# rlmResultTextBuild.spec, rlmToolResultBuild.spec


def test_rlm_small_has_its_sections(by):
    said = daycare.rlm_result(["one", "two"], "done", tool_calls=2, by=by).text
    assert said == "Python execution completed.\n\nTool calls: 2\n\nPrint output:\none\ntwo\n\nOutput:\ndone"


def test_rlm_both_parts_are_cut(by):
    said = daycare.rlm_result(["p" * 9_100], "o" * 9_100, by=by).text
    assert "chars truncated from print output" in said
    assert "chars truncated from output" in said


def test_rlm_together_they_are_cut_again(by):
    assert "chars truncated from python result" in daycare.rlm_result(["p" * 8_000], "o" * 8_000, by=by).text


def test_rlm_tool_result_summary_is_the_text(by):
    result = daycare.rlm_tool_result("r" * 20_000, by=by)
    assert result.typed_result["summary"] == result.tool_message("c")["content"][0]["text"]
    assert len(result.text) == 16_000 + len("\n\n... (4,000 chars truncated from python result) ...\n\n")


# Differences: what theirs does, and ours.


def utf16(value, start=None, end=None):
    """A slice by UTF-16 units, as JavaScript makes it."""
    data = value.encode("utf-16-le", "surrogatepass")
    units = [data[at : at + 2] for at in range(0, len(data), 2)]
    return b"".join(units[start:end]).decode("utf-16-le", "surrogatepass")


def test_difference_half_an_emoji_is_never_shown():
    value = "😀" * 4
    theirs = f"{utf16(value, 0, 2)}\n\n... (5 chars truncated from output) ...\n\n{utf16(value, -1)}"
    assert theirs == "😀\n\n... (5 chars truncated from output) ...\n\n\ude00"
    assert daycare.head_tail(value, 3, "output") == "😀😀\n\n... (1 chars truncated from output) ...\n\n😀"


def test_difference_both_streams_survive_the_net(by):
    """Vector daycare.exec+toolResultTruncate: 9050 characters of stdout and of stderr."""
    cut = daycare.exec_output("o" * 9_050, "e" * 9_050, as_json=True, by=by).text
    assert len(cut) == 16_116
    theirs = daycare.tail(cut, 8_000, f"output ({len(cut):,} chars total)")
    assert len(theirs) == 8_061
    assert theirs.startswith("... (8,116 chars truncated from output (16,116 chars total))\n")
    assert "o" * 100 not in theirs
    with pytest.raises(ValueError):
        json.loads(theirs)
    ours = json.loads(daycare.tool_result([text(cut)], by=by, tool="exec")[0]["text"])
    assert ours["stdout"].endswith("o" * 8_000)
    assert ours["stderr"].endswith("e" * 8_000)


def test_difference_the_head_of_a_python_result_survives_the_net(by):
    """Vector daycare.rlm+toolResultTruncate: 8000 p and 8000 o, in tool mode."""
    result = daycare.rlm_result(["p" * 8_000], "o" * 8_000, by=by)
    assert len(result.text) == 16_051
    theirs = daycare.tail(result.text, 8_000, f"output ({len(result.text):,} chars total)")
    assert len(theirs) == 8_061
    assert "Python execution completed." not in theirs
    net = daycare.tool_result([text(result.text)], by=by, tool="run_python")
    assert net[0]["text"].startswith("Python execution completed.")


def test_difference_what_json_escapes_does_not_pass_the_limit(by):
    value = "\0" * 9_000
    theirs = json.dumps({name: daycare.tail(value, 8_000, name) for name in ("stdout", "stderr")}, indent=2)
    assert len(theirs) > 96_000, "each of these is written as six characters"
    assert len(daycare.exec_output(value, value, as_json=True, by=by).text) <= 17_024


def test_difference_many_blocks_have_a_bound(by):
    blocks = [text("z" * 8_000)] * 50
    theirs = [daycare.tail(block["text"], 8_000) for block in blocks]
    assert sum(map(len, theirs)) == 400_000
    assert sum(len(block["text"]) for block in daycare.tool_result(blocks, by=by)) < 20_096


def test_difference_what_is_cut_is_kept(by):
    value = "a" * 50_000
    assert value[:42_000] not in daycare.tail(value, 8_000), "in theirs it is nowhere any more"
    out = daycare.tool_result([text(value)], by=by)
    blob = by.settings.store.open(out.refs[0])
    assert blob.read(0, blob.size) == value.encode()


#: Cases of theirs that test something else.
NOT_OURS = {
    "docker capture max 3 bytes rejects 'maxBufferBytes'": "their capture ends the command above 1,000,000 bytes; ours stores it",
    "read: limit 2 says 'Use offset=3 to continue.'": "their Read tool; ours goes back by `Clipper.read`, which says how to go on",
    "read: a first line above 50 KB": "their Read tool; `Clipper.read` reads columns of one line",
    "send_agent_message above 8000 characters": "no part of the plan, and no output of a tool",
    "monty 50,000 head-only": "a limit of one plugin: `daycare.head(text, 50_000)`",
}


def test_what_does_not_apply_says_why():
    assert all(len(reason) > 20 for reason in NOT_OURS.values())


CODE = """import sys
def err(): sys.stderr.write("".join(f"err {number}\\n" for number in range(9_000))); sys.stderr.flush()
def out(): sys.stdout.write("".join(f"out {number}\\n" for number in range(9_000))); sys.stdout.flush()
import time
"""


@pytest.mark.parametrize(("order", "first", "last"), [("err, out", "err", "out"), ("out, err", "out", "err")])
def test_the_stream_that_came_first_was_gone_where_the_other_filled_the_limit(tmp_path, order, first, last):
    """0 of 9,000 lines of stderr were shown: problem 1 of the document."""
    code = f"{CODE}for write in ({order}): write(); time.sleep(0.3)"
    clip = daycare.clipper(store=str(tmp_path)).run([sys.executable, "-c", code]).clip
    stream = {"err": "stderr", "out": "stdout"}
    notice = rf"^\.\.\. \(\d\d,\d{{3}} chars truncated from {stream[first]}; full output: {clip.path}\)\n"
    assert re.match(notice, clip.text)
    assert re.search(rf"\n\n\.\.\. \([\d,]+ chars truncated from {stream[last]}\) \.\.\.\n\n", clip.text)
    shown = {name: "".join(line for line in clip.text.splitlines(keepends=True) if name in line[:4]) for name in stream}
    assert all(7_900 <= len(text) <= 8_000 for text in shown.values())
    assert f"{first} 8999\n" in clip.text
    assert clip.shown.chars == 16_000


def test_two_streams_that_fit_one_by_one_are_shown_whole(tmp_path):
    code = "import sys; print('e' * 7_000, file=sys.stderr); print('o' * 7_000)"
    clip = daycare.clipper(store=str(tmp_path)).run([sys.executable, "-c", code]).clip
    assert (clip.outcome, clip.total.chars) == ("whole", 14_002)


def test_a_long_stream_is_cut_however_short_the_other_one_is(tmp_path):
    code = "import sys; print('e', file=sys.stderr); print('o' * 9_000)"
    clip = daycare.clipper(store=str(tmp_path)).run([sys.executable, "-c", code]).clip
    assert (clip.outcome, clip.shown.chars) == ("stored", 8_002)
    assert "from stdout" in clip.text
