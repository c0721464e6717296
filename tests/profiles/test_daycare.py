"""daycare: its words to the letter, blocks one by one and together, and both streams alive behind the safety net."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover import Clipper, DirStore, MemoryStore, Span, UsageError
from spillover.profiles import daycare
from spillover.profiles.daycare import LEAST, MOST_CUT, WORDS_CHARS
from spillover.testing import FailingStore
from support import DAYCARE_MAX_CHARS as MAX_CHARS
from support import DAYCARE_PASSES as PASSES
from support import DAYCARE_TOTAL_CHARS as TOTAL_CHARS
from support import EXEC_CHARS, replace

IMAGE = {"type": "image", "data": "iVBORw0K", "mimeType": "image/png"}


def text(value):
    return {"type": "text", "text": value}


@pytest.fixture
def by():
    return daycare.clipper(store=MemoryStore(), place=False)


def stored(clipper, ref):
    blob = clipper.store.open(ref)
    return blob.read(0, blob.size).decode("utf-8", "surrogatepass")


# The Clipper.


def test_the_clipper_keeps_the_end_and_counts_what_is_missing(by):
    clip = by.clip("a" * 345 + "b" * 12_000)
    assert clip.text == "... (4,345 chars truncated from output (12,345 chars total))\n" + "b" * 8_000
    assert stored(by, clip.ref) == "a" * 345 + "b" * 12_000


def test_up_to_the_limit_nothing_happens(by):
    assert by.clip("é" * 8_000).outcome == "whole"


def test_the_model_is_told_where_the_whole_is(tmp_path):
    clip = daycare.clipper(store=DirStore(tmp_path / "store")).clip("a" * 9_000)
    assert clip.text.startswith(
        f"... (1,000 chars truncated from output (9,000 chars total); full output: {clip.path})\n"
    )


def test_when_nothing_could_be_kept_the_words_say_so(by):
    full = FailingStore(MemoryStore(), on="publish")
    lost = daycare.clipper(store=full).clip("a" * 9_000)
    assert (lost.outcome, lost.reason) == ("lost", "No space left on device")
    said = "; Full output not kept: No space left on device.)"
    assert lost.text.partition("\n")[0] == f"... (1,000 chars truncated from output (9,000 chars total){said}"
    assert daycare.clipper(store=full, place=False).clip("a" * 9_000).text == by.clip("a" * 9_000).text


def test_any_part_can_be_kept(by):
    clipper = daycare.clipper(keep="ends", store=by.store, source="stdout", place=False)
    assert clipper.clip("a" * 9_000).text == daycare.head_tail("a" * 9_000, 8_000, "stdout")


def in_three_places(document, fill):
    return [Span(100, 200), Span(1_000, 1_100), Span(5_000, 5_100)]


@pytest.mark.parametrize(
    ("keep", "words"),
    [
        ("tail", ["... (1,000 chars truncated from output (9,000 chars total))"]),
        ("head", ["... (1,000 chars truncated from output (9,000 chars total))"]),
        ("ends", ["... (1,000 chars truncated from output (9,000 chars total)) ..."]),
        (
            in_three_places,
            [
                "... (8,700 chars truncated from output (9,000 chars total), in all)",
                "... (100 chars truncated) ...",
                "... (800 chars truncated) ...",
                "... (3,900 chars truncated) ...",
                "... (3,900 chars truncated) ...",
            ],
        ),
    ],
    ids=["tail", "head", "ends", "selector"],
)
def test_every_gap_counts_its_own_characters_whatever_is_kept(by, keep, words):
    clip = replace(by, keep=keep).clip("a" * 9_000)
    assert [line for line in clip.text.split("\n") if "truncated" in line] == words


def test_of_two_streams_every_gap_counts_its_own_characters(by):
    clip = by.clip_streams(stdout="a" * 9_000 + "\n", stderr="b" * 9_000)
    inside = [int(found.replace(",", "")) for found in re.findall(r"\(([\d,]+) chars truncated\)", clip.text)]
    assert sum(inside) == clip.total.chars - clip.shown.chars


@pytest.mark.parametrize("helper", [daycare.tail, daycare.head_tail, daycare.head])
def test_a_limit_below_nothing_is_refused(helper):
    with pytest.raises(UsageError, match="0 or more"):
        helper("abc", -1)


@given(st.text(max_size=80), st.integers(0, 100))
def test_the_helpers_show_as_much_as_they_may_and_count_the_rest(value, limit):
    hidden = max(0, len(value) - limit)
    for said in (daycare.tail(value, limit), daycare.head_tail(value, limit)):
        if hidden:
            assert f"... ({hidden:,} chars truncated)" in said
        else:
            assert said == value


# The blocks of a result.


def test_one_block_has_the_label_of_the_whole(by):
    out = daycare.tool_result([text("a" * 10 + "b" * 9_000)], by=by)
    assert out == [text("... (1,010 chars truncated from output (9,010 chars total))\n" + "b" * 8_000)]
    assert stored(by, out.refs[0]) == "a" * 10 + "b" * 9_000


def test_of_several_blocks_each_has_its_size_and_that_of_all(by):
    out = daycare.tool_result([text("header"), IMAGE, text("x" * 5 + "y" * 9_000)], by=by)
    assert out[0] == text("header")
    assert out[1] is IMAGE
    assert out[2]["text"] == "... (1,005 chars truncated from output block (9,005/9,011))\n" + "y" * 8_000


@pytest.mark.parametrize(
    "blocks",
    [
        [],
        [IMAGE],
        [text("ok")],
        [text("a" * 8_000)],
        [text("a" * 8_000), IMAGE, text("b" * 8_000)],
        ["plain"],
        [text("")],
    ],
)
def test_what_fits_is_the_same_object(blocks, by):
    assert daycare.tool_result(blocks, by=by) is blocks


def test_difference_all_blocks_together_are_bounded_too(by):
    blocks = [text(str(number) * 7_000) for number in range(10)]
    alone = [daycare.tail(block["text"], 8_000) for block in blocks]
    assert sum(map(len, alone)) == 70_000, "one by one none of them is too long"
    out = daycare.tool_result(blocks, by=by)
    assert [len(re.sub(r"^.*\n", "", block["text"])) for block in out] == [1_600] * 10
    assert [stored(by, ref) for ref in out.refs] == [block["text"] for block in blocks]


def test_small_blocks_stay_whole_beside_large_ones(by):
    blocks = [text("small"), text("a" * 20_000), text("b" * 20_000), text("c" * 20_000)]
    out = daycare.tool_result(blocks, by=by)
    assert out[0] is blocks[0]
    assert all(len(block["text"]) < TOTAL_CHARS // 3 + 80 for block in out[1:])


@pytest.mark.parametrize("size", [1, 10, 500, 9_000])
def test_ten_thousand_blocks_are_bounded_and_none_of_them_is_lost(by, size):
    blocks = [IMAGE, *(text(f"{number:05}" * (size // 5 + 1)) for number in range(1_000 if size > 100 else 10_000))]
    out = daycare.tool_result(blocks, by=by)
    said = [block["text"] for block in out if block["type"] == "text"]
    assert sum(map(len, said)) <= TOTAL_CHARS + WORDS_CHARS
    assert out[0] is IMAGE
    assert said[-1].endswith(blocks[-1]["text"][-LEAST:])
    assert len(out.clips) <= MOST_CUT + 1
    assert all(any(block["text"] in stored(by, ref) for ref in out.refs) for block in (blocks[1], blocks[500]))


@given(st.lists(st.sampled_from([0, 1, 399, 400, 401, 5_000, 8_000, 8_001, 30_000]), max_size=60))
def test_whatever_the_sizes_are_the_bound_holds(sizes):
    blocks = [text("z" * size) for size in sizes]
    out = daycare.tool_result(blocks, by=daycare.clipper(store=MemoryStore()))
    assert sum(len(block["text"]) for block in out) <= TOTAL_CHARS + WORDS_CHARS
    fits = max(sizes, default=0) <= MAX_CHARS and sum(sizes) <= TOTAL_CHARS
    assert (out is blocks) == fits


def test_a_text_alone_is_no_list_of_blocks():
    with pytest.raises(UsageError, match="list of blocks"):
        daycare.tool_result("text")


def test_blocks_that_are_not_known_are_untouched(by):
    odd = [None, 5, {"type": "text"}, {"type": "text", "text": 7}, {"type": "resource", "text": "r" * 9_000}]
    assert daycare.tool_result(odd, by=by) is odd


# What a command printed.


def test_both_streams_are_labelled(by):
    out = daycare.exec_output("a" * 100 + "z" * 9_000, "b" * 9_000, by=by)
    assert out.text == (
        "stdout:\n... (1,100 chars truncated from stdout)\n" + "z" * 8_000 + "\n\n"
        "stderr:\n... (1,000 chars truncated from stderr)\n" + "b" * 8_000
    )
    assert [stored(by, ref) for ref in out.refs] == ["a" * 100 + "z" * 9_000, "b" * 9_000]


@pytest.mark.parametrize(
    ("stdout", "stderr", "failed", "said"),
    [
        ("ok\n", "", False, "stdout:\nok\n"),
        ("", "bad\n\n", True, "stderr:\nbad\n\n"),
        ("ok", "bad\n", True, "stdout:\nok\n\nstderr:\nbad\n"),
        ("", " \n", False, "Command completed with no output."),
        ("", "", True, "Command failed with no output."),
    ],
)
def test_small_streams_are_laid_out_as_theirs(stdout, stderr, failed, said):
    assert daycare.exec_output(stdout, stderr, failed=failed).text == said


NASTY = [
    '"' * 20_000,
    "\\" * 20_000,
    "\n" * 20_000,
    "\x00" * 20_000,
    "é😀" * 10_000,
    "\ud800" * 20_000,
    "x" * 20_000 + "\0" * 8,
]


@pytest.mark.parametrize(
    "nasty", NASTY, ids=["quotes", "backslashes", "newlines", "NUL", "emoji", "surrogates", "mixed"]
)
def test_json_is_bounded_and_valid_whatever_it_has_to_escape(by, nasty):
    out = daycare.exec_output(nasty, nasty, as_json=True, by=by).text
    assert len(out) <= EXEC_CHARS
    out.encode()
    said = json.loads(out)
    for name in ("stdout", "stderr"):
        notice, _, shown = said[name].partition("\n")
        assert notice.endswith(f"from {name})")
        assert shown
        assert nasty.endswith(shown)


def test_of_several_results_of_commands_the_last_one_passes_the_net(by):
    out = daycare.exec_output("a" * 9_000, "b" * 9_000, by=by).text
    assert daycare.tool_result(blocks := [text(out)], by=by) is blocks
    three = daycare.tool_result([text(out), text(out), text(out)], by=by)
    assert three[2]["text"] == out
    assert sum(len(block["text"]) for block in three) <= TOTAL_CHARS + WORDS_CHARS + PASSES


# What a harness does to a result before the net sees it.


def as_it_was(content):
    return content


def through_json(content):
    """A harness that has written its messages to disk and read them again has only the text."""
    return json.loads(json.dumps(content))


def line_appended(content):
    return [{**block, "text": block["text"] + "\n[exit code 1]"} for block in content]


def line_prepended(content):
    return [{**block, "text": "$ make test\n" + block["text"]} for block in content]


HANDLED = pytest.mark.parametrize("handle", [as_it_was, through_json, line_appended, line_prepended])


def both(handle, size):
    out = {"stdout": "a" * size, "stderr": "b" * size}
    yield "text", handle([text(daycare.exec_output(**out, by=daycare.clipper(store=MemoryStore())).text)])
    cut = daycare.exec_output(**out, as_json=True, by=daycare.clipper(store=MemoryStore()))
    yield "json", handle([text(cut.text)])
    yield "foreign json", handle([text(json.dumps(out))])
    yield "foreign text", handle([text(f"stdout:\n{out['stdout']}\n\nstderr:\n{out['stderr']}")])


@HANDLED
@pytest.mark.parametrize("size", [8_000, 9_050, 50_000])
def test_both_streams_survive_the_net_whatever_the_harness_did(by, handle, size):
    for made, content in both(handle, size):
        out = daycare.tool_result([IMAGE, *content], by=by)[1]["text"]
        assert "a" * 7_900 in out, made
        assert "b" * 7_900 in out, made
        assert ("[exit code 1]" in out) == (handle is line_appended), made
        assert ("$ make test" in out) == (handle is line_prepended), made
        assert len(out) <= PASSES, made
        if "json" in made and handle in (as_it_was, through_json):
            assert set(json.loads(out)) == {"stdout", "stderr"}
        assert daycare.tool_result(again := [text(out)], by=by) is again, "the net changes nothing a second time"


def test_all_of_both_streams_can_be_reached_where_the_net_has_cut_them(by):
    content = [text(json.dumps({"stdout": "a" * 50_000, "stderr": "b" * 50_000}) + "\n" + "c" * 5_000)]
    out = daycare.tool_result(content, by=by)
    assert [stored(by, ref) for ref in out.refs] == ["a" * 50_000, "b" * 50_000, "\n" + "c" * 5_000]
    assert len(out[0]["text"]) <= PASSES


@HANDLED
@pytest.mark.parametrize("error", [False, True])
def test_a_python_result_keeps_its_head_through_the_net_whatever_the_harness_did(by, handle, error):
    whole = "HEAD" + "e" * 20_000 + "TAIL"
    result = (
        daycare.rlm_tool_result(whole, is_error=True, by=by) if error else daycare.rlm_result([whole], whole, by=by)
    )
    message = result.tool_message("c1")
    message["content"] = handle(message["content"])
    if handle is line_prepended and error:  # only the tool's name says what it is
        assert daycare.tool_result(message, by=by) is message
        return
    for passed in (message, message["content"]):
        assert daycare.tool_result(passed, by=by) is passed
    assert "HEAD" in message["content"][0]["text"]


def test_a_whole_message_is_bounded_and_the_rest_of_it_is_kept(by):
    message = {"role": "toolResult", "toolCallId": "c1", "toolName": "exec", "content": [text("x" * 9_000)], "more": 1}
    out = daycare.tool_result(message, by=by)
    assert out["content"][0]["text"].startswith("... (1,000 chars truncated from output (9,000 chars total))\n")
    assert {**out, "content": message["content"]} == message
    assert len(message["content"][0]["text"]) == 9_000


def test_a_long_text_of_the_python_tool_keeps_both_ends(by):
    message = {"role": "toolResult", "toolName": "run_python", "content": [text("HEAD" + "e" * 40_000 + "TAIL")]}
    said = daycare.tool_result(message, by=by)["content"][0]["text"]
    assert said == daycare.head_tail(message["content"][0]["text"], 16_000, "python result")


@pytest.mark.parametrize(
    "odd",
    [
        "{" * 100_000,
        '{"stdout": 1, "stderr": "x"}' + " " * 9_000,
        '{"stdout": ' + "[" * 100_000,
        '{"a": 1}' + " " * 9_000,
        "x" * 8_000 + "\n\n... (many chars truncated from python result) ...\n\n" + "x" * 8_000,
        "x" * 600 + "\nstdout:\n" + "x" * 9_000,
    ],
    ids=["braces", "a number", "brackets", "another object", "no number", "too late"],
)
def test_what_is_no_such_object_is_cut_as_a_text(by, odd):
    assert daycare.tool_result([text(odd)], by=by)[0]["text"] == daycare.tail(
        odd, 8_000, f"output ({len(odd):,} chars total)"
    )


def test_without_a_store_given_it_is_the_one_of_every_clipper():
    assert daycare.clipper().store == Clipper().store
