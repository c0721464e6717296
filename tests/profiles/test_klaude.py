"""klaude: the document's message to the letter, its result, its strategies, and what happens when nothing can be written."""

import os
import re
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover import Limits, MemoryStore, Span, UsageError
from spillover.profiles import klaude
from spillover.testing import FailingStore

HEAD, TAIL = "H" * 10_000, "T" * 10_000
TEXT = HEAD + "x" * 30_001 + TAIL


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path / "klaude")


def documented(output, filename, head=10_000, tail=10_000, max_length=40_000):
    """The document's message. Like today's klaude it would slice with [-tail:], which is everything where tail is 0."""
    if len(output) <= max_length:
        return output
    hidden = len(output) - head - tail
    return (
        f"[Output truncated: {hidden} chars hidden, full output saved to {filename}. Use Read tool or rg to get details. "
        f"Showing first {head} and last {tail} chars below.]\n\n{output[:head]}\n\n"
        f"... ({hidden} characters truncated) ...\n\n[Last {tail} chars below]\n{output[-tail:]}"
    )


def test_the_message_is_the_documents_to_the_letter(folder):
    result = klaude.SmartTruncationStrategy(folder=folder, clock=lambda: 1_732_521_600.9).truncate(
        TEXT, "Bash", "call_abc123"
    )
    assert result.saved_file_path == f"{folder}/Bash-call_abc123-1732521600.txt"
    assert result.output == documented(TEXT, result.saved_file_path)


def test_the_result_has_the_documents_fields(folder):
    result = klaude.SmartTruncationStrategy(folder=folder).truncate(TEXT, "Bash", "c")
    assert (result.was_truncated, result.original_length, result.truncated_length) == (True, 50_001, 30_001)
    assert klaude.TruncationResult("x", was_truncated=False) == klaude.TruncationResult("x", False, None, 0, 0)


@pytest.mark.parametrize("length", [0, 1, 39_999, 40_000])
def test_up_to_the_trigger_it_is_the_very_same_text_and_nothing_is_written(folder, length):
    text = "a" * length
    result = klaude.SmartTruncationStrategy(folder=folder).truncate(text, "Bash", "c")
    assert result.output is text
    assert (result.was_truncated, result.original_length, result.truncated_length) == (False, length, 0)
    assert not os.path.exists(folder)


def test_just_above_the_trigger_only_twenty_thousand_are_shown(folder):
    result = klaude.SmartTruncationStrategy(folder=folder).truncate("a" * 40_001)
    assert result.truncated_length == 20_001


def test_the_file_is_the_whole_output_and_nobody_else_reads_it(folder):
    result = klaude.SmartTruncationStrategy(folder=folder).truncate(TEXT + "é\r\n", "Bash", "c")
    with open(result.saved_file_path, "rb") as file:
        assert file.read() == (TEXT + "é\r\n").encode()
    assert [stat.S_IMODE(os.stat(path).st_mode) for path in (folder, result.saved_file_path)] == [0o700, 0o600]


def test_characters_are_code_points(folder):
    result = klaude.SmartTruncationStrategy(folder=folder).truncate("😀" * 40_001, "Bash", "c")
    assert (result.original_length, result.truncated_length) == (40_001, 20_001)
    assert result.output.count("😀") == 20_000


def test_half_a_character_does_not_end_the_tool_call(folder):
    result = klaude.SmartTruncationStrategy(folder=folder).truncate("\ud800" + TEXT + "\udc00", "Bash", "c")
    assert result.was_truncated
    result.output.encode()
    with open(result.saved_file_path, "rb") as file:
        assert file.read() == ("\ud800" + TEXT + "\udc00").encode("utf-8", "surrogatepass")


def a_file_in_its_place(folder):
    with open(folder, "w"):
        pass


def a_link_in_its_place(folder):
    os.symlink("/nowhere", folder)


@pytest.mark.parametrize("spoilt", [a_file_in_its_place, a_link_in_its_place])
def test_without_a_folder_only_the_beginning_is_shown_and_no_path_is_named(folder, spoilt):
    spoilt(folder)
    result = klaude.SmartTruncationStrategy(folder=folder).truncate(TEXT, "Bash", "c")
    assert (result.was_truncated, result.saved_file_path, result.ref) == (True, None, None)
    assert result.output.startswith(TEXT[:20_000] + "\n\n... (30001 characters truncated) ...")
    assert "T" not in result.output
    assert folder not in result.output
    assert "Full output not kept" in result.output


@pytest.mark.parametrize("on", ["writer", "write", "publish"])
def test_whenever_the_file_cannot_be_written_only_the_beginning_is_shown(on):
    strategy = klaude.SmartTruncationStrategy(store=FailingStore(MemoryStore(), on=on))
    result = strategy.truncate(TEXT, "Bash", "c")
    assert result.saved_file_path is None
    assert result.output.startswith(TEXT[:20_000])
    assert "T" not in result.output
    assert "No space left" in result.output


def test_others_can_write_a_strategy_of_their_own(folder):
    class Shout(klaude.TruncationStrategy):
        def truncate(self, output, tool_name=None, call_id=None):
            return klaude.TruncationResult(output.upper(), was_truncated=False)

    assert klaude.truncate_tool_output("hey", "Bash", "c", strategy=Shout()).output == "HEY"
    with pytest.raises(TypeError):
        klaude.TruncationStrategy()


def test_by_itself_it_is_kept_in_the_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    path = klaude.truncate_tool_output(TEXT, "Bash", "call_1").saved_file_path
    assert re.fullmatch(rf"{tmp_path}/klaude/Bash-call_1-\d{{10}}\.txt", path)


@pytest.mark.parametrize(("head", "tail"), [(-1, 5), (5, -1), (0, 0)])
def test_numbers_that_make_no_sense_are_refused(head, tail):
    with pytest.raises(UsageError, match="0 or more"):
        klaude.clipper(head_chars=head, tail_chars=tail)


@pytest.mark.parametrize(("head", "tail"), [(7, 13), (1, 19), (20, 1), (3, 3)])
def test_either_end_may_be_the_longer_one(folder, head, tail):
    text = "".join(chr(0x100 + number) for number in range(300))
    result = klaude.SmartTruncationStrategy(folder=folder, max_length=100, head_chars=head, tail_chars=tail).truncate(
        text
    )
    assert result.output == documented(text, result.saved_file_path, head, tail, 100)


def test_other_limits_make_other_halves(folder):
    clip = klaude.clipper(folder=folder, limits=Limits(chars=400)).clip(TEXT, tool="Bash", call_id="c")
    assert clip.text == documented(TEXT, clip.path, 200, 200)


# What differs: each shows the document's behaviour and ours.


def test_difference_no_tail_is_no_tail(folder):
    text = "0123456789" * 20
    assert documented(text, "F", head=10, tail=0, max_length=100).endswith(text), "[-0:] is everything"
    result = klaude.SmartTruncationStrategy(folder=folder, max_length=100, head_chars=10, tail_chars=0).truncate(text)
    assert result.output == documented(text, result.saved_file_path, 10, 0, 100).removesuffix(text)
    assert result.truncated_length == 190


def test_without_a_head_the_tail_is_called_the_last(folder):
    text = "0123456789" * 20
    result = klaude.SmartTruncationStrategy(folder=folder, max_length=100, head_chars=0, tail_chars=10).truncate(text)
    assert result.output == documented(text, result.saved_file_path, 0, 10, 100)


# Any part.


def in_three_places(document, fill):
    return [Span(100, 200), Span(1_000, 1_100), Span(5_000, 5_100)]


def gaps(text):
    return [int(chars) for chars in re.findall(r"^\.\.\. \((\d+) characters truncated\) \.\.\.$", text, re.MULTILINE)]


@pytest.mark.parametrize(
    ("keep", "shown", "hidden"),
    [
        ("ends", "first 200 and last 200 chars", [49_601]),
        ("head", "first 400 and last 0 chars", [49_601]),
        ("tail", "first 0 and last 400 chars", [49_601]),
        (in_three_places, "300 of 50001 chars", [100, 800, 3_900, 44_901]),
    ],
    ids=["ends", "head", "tail", "selector"],
)
@pytest.mark.parametrize("lost", [False, True])
def test_every_gap_counts_its_own_characters_whatever_is_kept(keep, shown, hidden, lost):
    store = FailingStore(MemoryStore(), on="publish") if lost else MemoryStore()
    clip = klaude.clipper(store=store, limits=Limits(chars=400), keep=keep).clip(TEXT)
    if lost:  # only the beginning then
        assert gaps(clip.text) == [49_601]
        return
    assert f"Showing {shown} below.]" in clip.text
    assert f"[Output truncated: {sum(hidden)} chars hidden, " in clip.text
    assert gaps(clip.text) == hidden


def test_of_two_streams_every_gap_counts_its_own_characters():
    clip = klaude.clipper(store=MemoryStore(), limits=Limits(chars=400)).clip_streams(stdout=f"{TEXT}\n", stderr=TEXT)
    assert len(gaps(clip.text)) > 1
    assert sum(gaps(clip.text)) == clip.total.chars - clip.shown.chars


def test_difference_what_would_be_shown_whole_is_not_called_truncated(folder):
    text = "a" * 300
    assert "[Output truncated: -100 chars hidden" in documented(text, "F", head=200, tail=200, max_length=100)
    strategy = klaude.SmartTruncationStrategy(folder=folder, max_length=100, head_chars=200, tail_chars=200)
    assert strategy.truncate(text).was_truncated is False


@given(
    text=st.text(max_size=600),
    head=st.integers(0, 60),
    tail=st.integers(0, 60),
    max_length=st.integers(120, 300),
)
def test_whatever_the_text_is_both_ends_are_there_and_the_numbers_add_up(text, head, tail, max_length):
    if not head + tail:
        return
    strategy = klaude.SmartTruncationStrategy(
        store=MemoryStore(), max_length=max_length, head_chars=head, tail_chars=tail
    )
    result = strategy.truncate(text)
    assert result.was_truncated == (len(text) > max_length)
    if result.was_truncated:
        assert text[:head] in result.output
        assert result.output.endswith(f"[Last {tail} chars below]\n{text[len(text) - tail :]}")
        assert result.truncated_length == len(text) - head - tail
