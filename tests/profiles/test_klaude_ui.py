"""What a person sees of a cut, and how it travels."""

import io
import sys

import pytest
from rich.console import Console

from spillover import MissingExtraError, UsageError
from spillover.profiles import klaude
from spillover.profiles.klaude_ui import TruncationUIExtra

EXTRA = TruncationUIExtra("/tmp/klaude/Bash-c-1.txt", 50_001, 30_001)


def printed(extra, width=80):
    out = io.StringIO()
    klaude.show(extra, Console(file=out, width=width, color_system=None))
    return out.getvalue()


def test_a_person_is_told_what_was_cut_and_where_it_is():
    assert printed(EXTRA) == (
        "✂ Output truncated: 50,001 characters, 20,000 shown to the model, 30,001 hidden\n"
        "  Full output: /tmp/klaude/Bash-c-1.txt\n"
    )


def test_a_person_is_told_that_nothing_could_be_saved():
    assert "could not be saved" in printed(TruncationUIExtra(None, 50_001, 30_001))


def test_a_path_is_never_wrapped_so_that_it_can_be_opened():
    path = "/tmp/" + "long/" * 40 + "x.txt"
    assert path in printed(TruncationUIExtra(path, 2, 1), width=40)


@pytest.mark.parametrize("path", ["/tmp/[bold]x[/bold].txt", "/tmp/[/]"])
def test_a_path_is_shown_and_not_interpreted(path):
    assert path in printed(TruncationUIExtra(path, 2, 1))


def test_a_path_cannot_speak_to_the_terminal():
    assert "\x1b" not in printed(TruncationUIExtra("/tmp/\x1b]0;owned\x07.txt", 2, 1))


def test_it_says_what_the_result_says(tmp_path):
    strategy = klaude.SmartTruncationStrategy(folder=str(tmp_path / "k"))
    cut = strategy.truncate("a" * 50_001, "Bash", "c")
    assert klaude.ui_extra(cut) == TruncationUIExtra(cut.saved_file_path, 50_001, 30_001)
    assert klaude.ui_extra(strategy.truncate("short")) is None


def test_it_comes_back_from_json_as_it_was():
    assert TruncationUIExtra.from_json(EXTRA.to_json()) == EXTRA
    fields = '{"saved_file_path": "/x", "original_length": 2, "truncated_length": 1}'
    assert TruncationUIExtra.from_json(fields) == TruncationUIExtra("/x", 2, 1)
    assert '"type": "truncation"' in EXTRA.to_json()


@pytest.mark.parametrize(
    "text",
    [
        "no json",
        "[]",
        "null",
        "{}",
        '{"truncation": null}',
        '{"saved_file_path": "/x", "original_length": 2}',
        '{"saved_file_path": "/x", "original_length": 2, "truncated_length": 1, "more": 1}',
        '{"saved_file_path": 5, "original_length": 2, "truncated_length": 1}',
        '{"saved_file_path": "", "original_length": 2, "truncated_length": 1}',
        '{"saved_file_path": "/x", "original_length": "2", "truncated_length": 1}',
        '{"saved_file_path": "/x", "original_length": true, "truncated_length": 1}',
        '{"saved_file_path": "/x", "original_length": 2, "truncated_length": -1}',
        '{"saved_file_path": "/x", "original_length": 1, "truncated_length": 2}',
    ],
)
def test_what_is_no_extra_is_refused(text):
    with pytest.raises(UsageError):
        TruncationUIExtra.from_json(text)


def test_without_rich_the_extra_to_install_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.text", None)
    with pytest.raises(MissingExtraError, match=r"spillover\[rich\]"):
        klaude.renderable(EXTRA)


def test_rich_is_loaded_only_by_those_who_look():
    import subprocess

    code = "import sys; from spillover.profiles import klaude; klaude.clipper(); print('rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
