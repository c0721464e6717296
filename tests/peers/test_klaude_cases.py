"""The five tests that klaude's document names, under those names (seed 002, "Unit Tests Needed")."""

import os

import msgspec
import pytest

from spillover import MemoryStore
from spillover.profiles import klaude
from spillover.testing import FailingStore

HEAD, TAIL = "H" * 10_000, "T" * 10_000
TEXT = HEAD + "x" * 30_001 + TAIL
#: The document's example of a file's name.
CALL, MOMENT, NAME = "call_abc123", 1_732_521_600, "Bash-call_abc123-1732521600.txt"


@pytest.fixture
def strategy(tmp_path):
    return klaude.SmartTruncationStrategy(folder=str(tmp_path / "klaude"), clock=lambda: MOMENT)


@pytest.mark.parametrize("length", [0, 1, 39_999, 40_000])
def test_smart_truncation_no_truncate(strategy, tmp_path, length):
    result = strategy.truncate("a" * length, "Bash", CALL)
    assert result == klaude.TruncationResult("a" * length, was_truncated=False, original_length=length)
    assert not (tmp_path / "klaude").exists()


def test_smart_truncation_creates_file(strategy, tmp_path):
    result = strategy.truncate(TEXT, "Bash", CALL)
    assert result.saved_file_path == str(tmp_path / "klaude" / NAME)
    assert (tmp_path / "klaude" / NAME).read_text() == TEXT


def test_smart_truncation_output_format(strategy, tmp_path):
    result = strategy.truncate(TEXT, "Bash", CALL)
    assert result.output == (
        f"[Output truncated: 30001 chars hidden, full output saved to {tmp_path}/klaude/{NAME}. "
        "Use Read tool or rg to get details. Showing first 10000 and last 10000 chars below.]\n\n"
        f"{HEAD}\n\n... (30001 characters truncated) ...\n\n[Last 10000 chars below]\n{TAIL}"
    )


@pytest.mark.parametrize("on", ["writer", "write", "publish"])
def test_smart_truncation_file_write_failure(on):
    result = klaude.SmartTruncationStrategy(store=FailingStore(MemoryStore(), on=on)).truncate(TEXT, "Bash", CALL)
    assert (result.was_truncated, result.saved_file_path) == (True, None)
    assert result.output.startswith(TEXT[:20_000])
    assert "T" not in result.output.removeprefix(TEXT[:20_000])
    assert "saved to" not in result.output


def test_tool_runner_with_truncation(strategy, tmp_path):
    """The flow of the document: the runner, the strategy, `ui_extra`, the event, the renderer."""
    events = []

    def run_tool(tool, call_id, *arguments):
        result = klaude.truncate_tool_output(tool(*arguments), tool.__name__, call_id, strategy=strategy)
        extra = klaude.ui_extra(result)
        events.append({"call_id": call_id, "output": result.output, "ui_extra": extra and msgspec.json.encode(extra)})
        return result.output

    def cat(length):
        return "a" * length

    assert run_tool(cat, "c1", 40_000) == "a" * 40_000
    assert "Showing first 10000 and last 10000 chars below." in run_tool(cat, "c2", 45_000)
    short, long = events
    assert short["ui_extra"] is None
    extra = msgspec.json.decode(long["ui_extra"], type=klaude.ToolResultUIExtra)
    path = str(tmp_path / "klaude" / f"cat-c2-{MOMENT}.txt")
    assert extra.type is klaude.ToolResultUIExtraType.TRUNCATION
    assert extra.truncation == klaude.TruncationUIExtra(path, 45_000, 25_000)
    assert str(klaude.renderable(extra)) == (
        f"✂ Output truncated: 45,000 characters, 20,000 shown to the model, 25,000 hidden\n  Full output: {path}"
    )
    assert os.path.getsize(path) == 45_000
