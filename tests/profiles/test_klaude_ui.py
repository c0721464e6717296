"""What a person sees of a cut, and how it travels."""

import io
import json
import sys

import msgspec
import pytest
from rich.console import Console

from spillover.errors import MissingExtraError
from spillover.profiles import klaude
from spillover.profiles.klaude import ToolResultUIExtra, ToolResultUIExtraType, TruncationUIExtra


def cut(path, original, truncated):
    return ToolResultUIExtra(ToolResultUIExtraType.TRUNCATION, TruncationUIExtra(path, original, truncated))


EXTRA = cut("/tmp/klaude/Bash-c-1.txt", 50_001, 30_001)


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
    assert "could not be saved" in printed(cut(None, 50_001, 30_001))


def test_a_path_is_never_wrapped_so_that_it_can_be_opened():
    path = "/tmp/" + "long/" * 40 + "x.txt"
    assert path in printed(cut(path, 2, 1), width=40)


@pytest.mark.parametrize("path", ["/tmp/[bold]x[/bold].txt", "/tmp/[/]"])
def test_a_path_is_shown_and_not_interpreted(path):
    assert path in printed(cut(path, 2, 1))


def test_a_path_cannot_speak_to_the_terminal():
    assert "\x1b" not in printed(cut("/tmp/\x1b]0;owned\x07.txt", 2, 1))


def test_it_says_what_the_result_says(tmp_path):
    strategy = klaude.SmartTruncationStrategy(folder=str(tmp_path / "k"))
    result = strategy.truncate("a" * 50_001, "Bash", "c")
    assert klaude.ui_extra(result) == cut(result.saved_file_path, 50_001, 30_001)
    assert klaude.ui_extra(strategy.truncate("short")) is None


def test_the_kind_and_the_field_have_the_documents_names():
    assert ToolResultUIExtraType.TRUNCATION == "truncation"
    assert isinstance(ToolResultUIExtraType.TRUNCATION, str)
    assert EXTRA.type is ToolResultUIExtraType.TRUNCATION
    assert EXTRA.truncation.original_length == 50_001
    assert ToolResultUIExtra(ToolResultUIExtraType.TRUNCATION).truncation is None


def test_its_json_is_the_documents_model():
    written = msgspec.json.encode(EXTRA)
    assert json.loads(written) == {
        "type": "truncation",
        "truncation": {
            "saved_file_path": "/tmp/klaude/Bash-c-1.txt",
            "original_length": 50_001,
            "truncated_length": 30_001,
        },
    }
    assert msgspec.json.decode(written, type=ToolResultUIExtra) == EXTRA


def test_without_rich_the_extra_to_install_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.text", None)
    with pytest.raises(MissingExtraError, match=r"spillover\[rich\]"):
        klaude.renderable(EXTRA)


def test_rich_is_loaded_only_by_those_who_look():
    import subprocess

    code = "import sys; from spillover.profiles import klaude; klaude.clipper(); print('rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
