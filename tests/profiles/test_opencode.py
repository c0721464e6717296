"""The opencode profile: its results, and tools around it. Its own cases are in tests/peers, its files in test_opencode_files."""

import asyncio
from pathlib import Path

import pytest

from spillover import Limits, MemoryStore
from spillover.errors import UsageError
from spillover.profiles import opencode
from spillover.testing import FailingStore
from support import OUTSIDE

FLOOD = "".join(f"line {number}\n" for number in range(5_000))


@pytest.fixture
def clipper(tmp_path):
    return opencode.clipper(folder=str(tmp_path / "tool-output"))


def test_the_notice_stands_outside_and_is_short(tmp_path):
    deep = tmp_path / ("d" * 200) / ("e" * 200) / ("f" * 200)
    clip = opencode.clipper(folder=str(deep)).clip(FLOOD)
    assert clip.shown.bytes <= 51_200
    assert len(clip.text.encode()) <= 51_200 + OUTSIDE


def test_a_path_that_is_too_long_for_the_notice_is_left_out_for_the_ref(tmp_path):
    deep = tmp_path.joinpath(*["d" * 200] * 5)
    clip = opencode.clipper(folder=str(deep)).clip(FLOOD)
    assert f"Full output saved to: {clip.ref}\n" in clip.text
    assert len(clip.text.encode()) <= clip.shown.bytes + OUTSIDE
    assert Path(clip.path).read_text() == FLOOD


def test_control_codes_are_shown_as_they_came(clipper):
    text = "\x1b[31mred\x1b[0m\r\n"
    assert clipper.clip(text).text == text


def test_nothing_of_the_output_is_ever_in_the_name_of_its_file(clipper):
    """Law 10: the end of a name is drawn from the hash of the content, so no content can hold its own name."""
    path = clipper.clip(FLOOD).path
    forged = FLOOD + f"Full output saved to: {path}\n"
    assert clipper.clip(forged).path != path


RESULT = {"title": "t", "output": FLOOD, "metadata": {"lines": 5_000}}


def test_a_result_is_bounded_and_marked(clipper):
    settled = opencode.settle(RESULT, clipper)
    assert settled["title"] == "t"
    assert settled["metadata"]["lines"] == 5_000
    assert settled["metadata"]["truncated"] is True
    assert Path(settled["metadata"]["outputPath"]).read_text() == FLOOD
    assert settled["metadata"]["outputPath"] in settled["output"]
    assert RESULT["output"] is FLOOD, "what the tool gave is its own"


def test_a_tool_around_which_it_is_put(clipper):
    @lambda tool: opencode.wrap(tool, clipper)
    def flood(title: str) -> dict:
        """Floods."""
        return {**RESULT, "title": title}

    assert (flood.__name__, flood.__doc__) == ("flood", "Floods.")
    assert flood("mine")["title"] == "mine"
    assert "...3001 lines truncated..." in flood("mine")["output"]


def test_the_rules_for_a_tool_hold_for_the_tool_around_which_it_is_put(tmp_path):
    rules = {"flood": {"limits": Limits(lines=3, bytes=51_200)}, "own": {"clip": False}}
    clipper = opencode.clipper(folder=str(tmp_path / "out"), rules=rules)

    def flood():
        return RESULT

    def own():
        return RESULT

    assert "...4998 lines truncated..." in opencode.wrap(flood, clipper)()["output"]
    assert opencode.wrap(own, clipper)() is RESULT


async def test_an_async_tool_around_which_it_is_put(clipper):
    async def flood():
        await asyncio.sleep(0)
        return RESULT

    assert (await opencode.wrap(flood, clipper)())["metadata"]["truncated"] is True


def test_a_tool_that_gives_a_text_gives_a_bounded_text(clipper):
    assert "...3001 lines truncated..." in opencode.wrap(lambda: FLOOD, clipper)()


def test_an_error_that_floods_is_bounded_and_does_not_say_that_the_call_succeeded(clipper):
    def fails():
        raise RuntimeError(FLOOD)

    with pytest.raises(RuntimeError) as raised:
        opencode.wrap(fails, clipper)()
    assert len(str(raised.value)) <= 51_200
    assert "succeeded" not in str(raised.value)


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ({"max_lines": 0}, "would show nothing of an output; use 1 or more"),
        ({"max_bytes": "1k"}, "not a whole number"),
        ({"lines": 5}, "it may set"),
        (False, "it may set"),
    ],
)
def test_a_wrong_config_is_refused_when_it_is_read(said, error):
    with pytest.raises(UsageError, match=error):
        opencode.limits({"tool_output": said})


#: How storing fails, and what the text says of it. Theirs: the tool call fails in all of them.
LOST = [
    ({"on": "writer"}, "Full output not kept: No space left on device."),
    ({"on": "write", "after_bytes": 10_000}, "Full output not kept: No space left on device."),
    ({"on": "publish"}, "Full output not kept: No space left on device."),
]


@pytest.mark.parametrize(("how", "said"), LOST)
@pytest.mark.parametrize("keep", ["head", "tail"])
def test_a_full_disk_costs_the_file_and_not_the_call(tmp_path, how, said, keep):
    store = FailingStore(opencode.outputs(str(tmp_path / "out")), **how)
    result = opencode.result(opencode.clipper(store=store, keep=keep).clip(FLOOD))
    assert result["truncated"] is True
    assert "outputPath" not in result
    assert f"The tool call succeeded but the output was truncated. {said}" in result["content"]
    assert "saved to" not in result["content"]
    assert "Grep" not in result["content"], "there is no file to search"
    assert ("line 0\n" in result["content"]) is (keep == "head")
    assert list(tmp_path.glob("out/tool_*")) == []


def test_what_is_stored_in_part_says_so(tmp_path):
    clip = opencode.clipper(folder=str(tmp_path / "out"), cap=10_000).clip(FLOOD)
    assert "Stored in part (the cap on one output was reached): the first 10,000 bytes, in " in clip.text
    assert Path(clip.path).stat().st_size == 10_000


def test_a_store_without_files_is_named_by_its_ref():
    clip = opencode.clipper(store=MemoryStore()).clip(FLOOD)
    assert f"Full output saved to: {clip.ref}\n" in clip.text


def test_the_whole_can_be_read_back_in_answers_that_fit(clipper):
    clip = clipper.clip(FLOOD)
    answer = clipper.read(clip.ref, lines="4000:4002")
    assert "line 3999" in answer.text
    assert answer.outcome == "whole"


def test_compaction_can_keep_where_the_whole_is(clipper):
    """Theirs keeps the first 2,000 characters, and the path stands at the end: it is gone, and with it the output."""
    result = opencode.result(clipper.clip(FLOOD))
    path = result["outputPath"]
    assert path not in opencode.compact(result["content"])
    assert opencode.compact(result["content"], path=path).endswith(f"\n[Full output saved to: {path}]")
    assert opencode.compact("short", path=path) == "short"


@pytest.mark.parametrize("options", [{"max_lines": 0}, {"max_bytes": 0}, {"max_lines": -1}])
def test_a_limit_that_would_show_nothing_is_refused_with_what_to_use(clipper, options):
    """The document's loops take 0, and show nothing; its config, as it is today, takes positive numbers only."""
    [(name, value)] = options.items()
    with pytest.raises(UsageError, match=f"^{name}={value} would show nothing of an output; use 1 or more\\.$"):
        opencode.output("a\nb", clipper, **options)
    with pytest.raises(UsageError, match=f"^{name}={value} "):
        opencode.clipper(config={"tool_output": options})
    assert opencode.output("a\nb", clipper, **{name: 1})["content"].startswith("a\n\n...")
