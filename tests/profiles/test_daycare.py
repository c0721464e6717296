"""daycare: its words to the letter, blocks one by one and together, and both streams alive behind the safety net."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover import Clipper, DirStore, MemoryStore, UsageError
from spillover.profiles import daycare
from spillover.testing import FailingStore
from spillover.types import Span

MAX_CHARS, TOTAL_CHARS, WORDS_CHARS, EXEC_CHARS = 8_000, 16_000, 4_096, 17_024
#: The least that is shown of a block that is cut; how many are cut at most; what passes by the tool's name.
LEAST, MOST_CUT, PASSES = 400, 40, 18_048
IMAGE = {"type": "image", "data": "iVBORw0K", "mimeType": "image/png"}


def text(value):
    return {"type": "text", "text": value}


@pytest.fixture
def by():
    return daycare.clipper(store=MemoryStore(), place=False)


def stored(clipper, ref):
    blob = clipper.settings.store.open(ref)
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
    clipper = daycare.clipper(keep="ends", store=by.settings.store, source="stdout", place=False)
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
    clip = by.but(keep=keep).clip("a" * 9_000)
    assert [line for line in clip.text.split("\n") if "truncated" in line] == words


def test_of_two_streams_every_gap_counts_its_own_characters(by):
    clip = by.clip_streams(stdout="a" * 9_000 + "\n", stderr="b" * 9_000)
    inside = [int(found.replace(",", "")) for found in re.findall(r"\(([\d,]+) chars truncated\)", clip.text)]
    assert sum(inside) == clip.total.chars - clip.shown.chars


@pytest.mark.parametrize("helper", [daycare.tail, daycare.head_tail, daycare.head])
def test_a_limit_below_nothing_is_refused(helper):
    with pytest.raises(UsageError, match="0 or more"):
        helper("abc", -1)


# The blocks of a result.


def test_one_block_has_the_label_of_the_whole(by):
    out = daycare.tool_result([text("a" * 10 + "b" * 9_000)], by=by)
    assert out == [text("... (1,010 chars truncated from output (9,010 chars total))\n" + "b" * 8_000)]
    assert stored(by, out.refs[0]) == "a" * 10 + "b" * 9_000


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


SIZES = st.sampled_from([0, 1, 399, 400, 401, 5_000, 8_000, 8_001, 9_000, 30_000])


@given(
    st.lists(SIZES, max_size=50),
    st.tuples(SIZES, SIZES),
    st.sampled_from(["exec", "exec as JSON", "run_python", "error"]),
    st.sampled_from(["exec", "run_python", "grep", None]),
    st.integers(0, 50),
)
def test_beside_a_text_that_passes_the_bound_holds_too(sizes, streams, made, tool, at):
    """Two blocks of 9,000 and an exec_output were 32,220 characters where 16,000 and 4,096 are promised."""
    by = daycare.clipper(store=MemoryStore())
    first, second = ("y" * size for size in streams)
    passing = {
        "exec": lambda: daycare.exec_output(first, second, by=by).text,
        "exec as JSON": lambda: daycare.exec_output(first, second + '"' * len(first), as_json=True, by=by).text,
        "run_python": lambda: daycare.rlm_result([first], second, by=by).text,
        "error": lambda: daycare.rlm_tool_result(first + second, is_error=True, by=by).text,
    }[made]()
    blocks = [text("z" * size) for size in sizes]
    blocks.insert(at, text(passing))
    out = daycare.tool_result(blocks, by=by, tool=tool)
    assert sum(len(block["text"]) for block in out) <= TOTAL_CHARS + WORDS_CHARS
    last_long = max((len(block["text"]), n) for n, block in enumerate(blocks) if block["text"] is passing)[1]
    if tool in ("exec", "run_python") and not any(len(block["text"]) > MAX_CHARS for block in blocks[last_long + 1 :]):
        assert len(passing) <= MAX_CHARS or any(block["text"] == passing for block in out), "it was bounded before"


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


# What the safety net does with the text of a tool that bounds its parts.


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("added", ["", "\n[exit code 1]"])
def test_both_streams_pass_the_net_by_the_name_of_the_tool(by, as_json, added):
    out = daycare.exec_output("a" * 9_050, "b" * 9_050, as_json=as_json, by=by).text + added
    content = [IMAGE, text("header"), text(out)]
    assert daycare.tool_result(content, by=by, tool="exec") is content
    message = {"toolName": "exec", "content": content}
    assert daycare.tool_result(message, by=by) is message
    assert daycare.tool_result(content, by=by)[2]["text"].startswith("... (")


@pytest.mark.parametrize("tool", ["exec", None])
def test_what_nobody_bounded_is_cut_whatever_the_tool(by, tool):
    streams = json.dumps({"stdout": "a" * 50_000, "stderr": "b" * 50_000})
    said = daycare.tool_result([text(streams)], by=by, tool=tool)[0]["text"]
    assert said == daycare.tail(streams, 8_000, f"output ({len(streams):,} chars total)")


@pytest.mark.parametrize("error", [False, True])
def test_a_python_result_keeps_its_head_through_the_net(by, error):
    whole = "HEAD" + "e" * 20_000 + "TAIL"
    result = (
        daycare.rlm_tool_result(whole, is_error=True, by=by) if error else daycare.rlm_result([whole], whole, by=by)
    )
    message = result.tool_message("c1")
    assert daycare.tool_result(message, by=by) is message
    assert "HEAD" in message["content"][0]["text"]


def test_a_whole_message_is_bounded_and_the_rest_of_it_is_kept(by):
    message = {"role": "toolResult", "toolCallId": "c1", "toolName": "grep", "content": [text("x" * 9_000)], "more": 1}
    out = daycare.tool_result(message, by=by)
    assert out["content"][0]["text"].startswith("... (1,000 chars truncated from output (9,000 chars total))\n")
    assert {**out, "content": message["content"]} == message
    assert len(message["content"][0]["text"]) == 9_000


def test_a_long_text_of_the_python_tool_keeps_both_ends(by):
    message = {"role": "toolResult", "toolName": "run_python", "content": [text("HEAD" + "e" * 40_000 + "TAIL")]}
    said = daycare.tool_result(message, by=by)["content"][0]["text"]
    assert said == daycare.head_tail(message["content"][0]["text"], 16_000, "python result")


# A run of Python.


def test_both_modes_of_delivery_say_the_same_text(by):
    result = daycare.rlm_result(["p" * 4_000] * 3, "o" * 12_000, by=by)
    assert result.typed_result == {"summary": result.text, "isError": False}
    assert result.tool_message("c1")["content"] == [text(result.text)]
    assert result.message()["content"] == [text(f"<python_result>\n{result.text}\n</python_result>")]
    assert result.message()["role"] == "user"
    whole = [stored(by, ref) for ref in result.refs]
    assert whole[:2] == ["\n".join(["p" * 4_000] * 3), "o" * 12_000]


def test_an_error_is_bounded_as_well(by):
    result = daycare.rlm_tool_result("e" * 20_000, is_error=True, by=by)
    assert result.text == daycare.head_tail("e" * 20_000, 16_000, "python result")
    assert result.typed_result == {"summary": result.text, "isError": True}
    assert stored(by, result.refs[0]) == "e" * 20_000


def test_a_short_result_says_what_there_is():
    assert daycare.rlm_result([], "", tool_calls=3).text == (
        "Python execution completed.\n\nTool calls: 3\n\nPrint output:\n(none)\n\nOutput:\n(empty)"
    )


def test_without_a_store_given_it_is_the_one_of_every_clipper():
    assert daycare.clipper().settings.store == Clipper().settings.store
