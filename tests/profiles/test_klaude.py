"""klaude: its result, its strategies, and what happens when nothing can be written. Its document is in tests/peers."""

import os
import re
import stat

import pytest

from spillover import Limits, MemoryStore, UsageError
from spillover.profiles import klaude
from spillover.testing import FailingStore
from spillover.types import Span

HEAD, TAIL = "H" * 10_000, "T" * 10_000
TEXT = HEAD + "x" * 30_001 + TAIL


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path / "klaude")


def test_the_result_has_the_documents_fields(folder):
    result = klaude.SmartTruncationStrategy(folder=folder).truncate(TEXT, "Bash", "c")
    assert (result.was_truncated, result.original_length, result.truncated_length) == (True, 50_001, 30_001)
    assert klaude.TruncationResult("x", was_truncated=False) == klaude.TruncationResult("x", False, None, 0, 0)


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
