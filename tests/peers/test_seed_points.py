"""Points of the five documents that no other file of tests/peers or tests/profiles checks, in the order of the documents."""

import inspect
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from spillover import Clipper, Limits, MemoryStore
from spillover.profiles import daycare, klaude, opencode, t15, vtcode

LINES = [f"line {number}" for number in range(1, 5_001)]
LOG = "\n".join(LINES)


@pytest.fixture
def spill(tmp_path, monkeypatch):
    """Return `spill(*arguments)`, which runs the command line in a home of its own and returns stdout."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    for name in [name for name in os.environ if name.startswith(("SPILLOVER_", "XDG_"))]:
        monkeypatch.delenv(name)

    def run(*arguments, text=None):
        code = "from spillover.cli import main; raise SystemExit(main())"
        command = [sys.executable, "-c", code, *arguments]
        return subprocess.run(
            command, input=text, cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=True, timeout=60
        ).stdout

    return run


# 000, opencode


def test_a_tool_that_names_its_own_file_keeps_it():
    given = {"title": "…", "output": LOG, "metadata": {"truncated": True, "outputPath": "/my/own/path"}}
    clipper = opencode.clipper(store=MemoryStore())
    assert opencode.settle(given, clipper) is given
    assert opencode.wrap(lambda: given, clipper)() is given
    assert list(clipper.settings.store.list()) == []


def test_a_file_that_cleanup_cannot_remove_does_not_fail_the_call(tmp_path, monkeypatch):
    old = tmp_path / "tool_0000000000000000000000000a"
    old.write_text("an output")
    os.utime(old, (time.time() - 8 * 86_400,) * 2)
    real = os.unlink

    def unlink(path, *arguments, **options):
        if os.fspath(path).endswith(old.name):
            raise PermissionError(13, "Permission denied")
        real(path, *arguments, **options)

    for name in ("unlink", "remove"):
        monkeypatch.setattr(os, name, unlink)
    assert opencode.output(LOG, opencode.clipper(folder=str(tmp_path)))["truncated"] is True
    assert old.exists()


@pytest.mark.parametrize(
    ("action", "delegates"), [("allow", True), ("ask", True), ("deny", False)], ids=["allow", "ask", "deny"]
)
def test_only_a_denial_takes_the_task_tool_out_of_the_hint(action, delegates):
    rules = [{"permission": "task", "pattern": "*", "action": action}]
    text = opencode.clipper(permission=rules, store=MemoryStore()).clip(LOG).text
    assert ("Do NOT read the full file yourself - delegate to save context." in text) is delegates


# 001, t15


def test_every_tool_of_a_registry_is_bounded_after_it_has_run_to_its_end(tmp_path):
    clipper = t15.clipper(folder=str(tmp_path / "overflow"))
    finished = []

    def listing():
        finished.append("listing")
        return LOG

    def search():
        yield from (f"{line}\n" for line in LINES)
        finished.append("search")

    registry = {tool.__name__: clipper.wrap(tool) for tool in (listing, search)}
    results = {name: tool() for name, tool in registry.items()}
    assert finished == ["listing", "search"]
    for name, result in results.items():
        text = result if isinstance(result, str) else "".join(result)
        assert text.count("\nline ") <= 2_000, name
        assert "line 5000\n" in text, name
        assert "Use the Read or Grep tool to access specific parts." in text, name
    assert len(list((tmp_path / "overflow").glob("*.txt"))) == 2


@pytest.mark.parametrize(
    ("folder", "path"),
    [
        (t15.default_folder, "/tmp/opencode-overflow"),
        (lambda: t15.default_folder("recipe"), "/tmp/agent-overflow"),
        (lambda: t15.default_folder("generic"), "/tmp/agent-overflow"),
    ],
    ids=["block", "recipe", "generic"],
)
def test_without_tmpdir_files_are_where_the_report_has_them(monkeypatch, folder, path):
    monkeypatch.delenv("TMPDIR", raising=False)
    assert folder() == path


# 002, klaude


def test_the_constants_and_signatures_are_those_of_the_document():
    assert klaude.TOOL_OUTPUT_MAX_LENGTH == 40_000
    assert klaude.TOOL_OUTPUT_DISPLAY_HEAD == klaude.TOOL_OUTPUT_DISPLAY_TAIL == 10_000
    assert klaude.TOOL_OUTPUT_TRUNCATION_DIR == "klaude"
    assert issubclass(klaude.SmartTruncationStrategy, klaude.TruncationStrategy)
    for function in (klaude.SmartTruncationStrategy().truncate, klaude.truncate_tool_output):
        parameters = list(inspect.signature(function).parameters.values())[:3]
        assert [each.name for each in parameters] == ["output", "tool_name", "call_id"]
        assert [each.default for each in parameters[1:]] == [None, None]


def test_the_first_line_names_the_file_and_the_end_is_announced_again(tmp_path):
    result = klaude.SmartTruncationStrategy(folder=str(tmp_path)).truncate(LOG, "Bash", "call_1")
    assert result.saved_file_path in result.output.partition("\n")[0]
    assert result.output.endswith(f"\n\n[Last 10000 chars below]\n{LOG[-10_000:]}")


# 003, daycare


@pytest.mark.parametrize(
    ("printed", "output"),
    [(["x" * 99] * 5_000, "done"), (["done"], "y" * 500_000), (["x" * 99] * 5_000, "y" * 500_000)],
    ids=["many prints", "a large value", "both"],
)
def test_a_python_result_is_bounded_in_both_modes(printed, output):
    result = daycare.rlm_result(printed, output, by=daycare.clipper(store=MemoryStore()))
    around = len("<python_result>\n\n</python_result>")
    message = result.message()["content"][0]["text"]
    assert len(message) - around == len(result.text) <= 16_000 + 100
    assert len(result.tool_message("call_1")["content"][0]["text"]) == len(result.text)
    assert "chars truncated from " in result.text


@pytest.mark.parametrize("as_json", [False, True])
def test_a_megabyte_of_each_stream_shows_the_end_of_both(as_json):
    clipper = daycare.clipper(store=MemoryStore())
    text = daycare.exec_output("o" * 10**6 + "OUT", "e" * 10**6 + "ERR", as_json=as_json, by=clipper).text
    assert len(text) <= 17_024
    assert "OUT" in text
    assert "ERR" in text
    for stream in ("stdout", "stderr"):
        assert f"... (992,003 chars truncated from {stream})" in text


def test_the_helper_of_monty_python_keeps_the_first_50_000():
    assert daycare.head("x" * 60_000, 50_000) == "x" * 50_000 + "..."


# 004, vtcode


def test_files_are_in_the_folder_of_the_project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    clip = vtcode.clipper(max_tokens=200).clip(LOG, tool="bash")
    assert Path(clip.path).resolve().parent == tmp_path / ".vtcode" / "tool-output"
    assert Path(clip.path).read_text() == LOG


def test_the_budget_manager_tracks_components_and_has_two_thresholds(monkeypatch):
    for name in ("VTCODE_CONTEXT_TOKEN_LIMIT", "SPILLOVER_CONTEXT_TOKENS"):
        monkeypatch.delenv(name, raising=False)
    budget = vtcode.budget()
    assert (budget.window, budget.level) == (128_000, "ok")
    for component, tokens, level in [
        ("system", 28_000, "ok"),
        ("user", 68_000, "warning"),
        ("tool_results", 13_000, "alert"),
    ]:
        budget.add(component, tokens)
        assert budget.level == level
    assert dict(budget.components) == {"system": 28_000, "user": 68_000, "assistant": 0, "tool_results": 13_000}


@pytest.mark.parametrize(
    ("block", "count", "marker"),
    [
        ("waiting for the server\n", 3_000, "[... 2998 lines truncated: the line above, repeated ...]"),
        ("connect\nread\nwrite\nclose\n", 1_000, "[... 3992 lines truncated: the 4 lines above, repeated ...]"),
    ],
    ids=["lines", "blocks"],
)
def test_repeated_lines_are_folded_where_nothing_failed(block, count, marker):
    clipper = vtcode.clipper(max_tokens=60, keep="signal", banner=False, store=MemoryStore())
    assert clipper.clip(block * count).text == f"{block}{marker}\n{block}"


def test_repeated_lines_are_folded_in_our_own_words_too():
    text = Clipper(Limits(tokens=500), store=MemoryStore()).clip("waiting for the server\n" * 3_000).text
    assert text.count("waiting for the server") == 2
    assert "the line above 2,998 more times, lines 2-2,999" in text


def test_an_error_in_the_middle_of_a_log_is_kept():
    log = LOG.replace("line 2500\n", "error: connection refused\n")
    clipper = vtcode.clipper(max_tokens=200, keep="signal", store=MemoryStore())
    assert "error: connection refused" in clipper.clip(log).text
    assert "line 2500" not in clipper.clip(LOG).text


def test_the_full_output_of_the_last_cargo_test_can_be_asked_for(spill, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "cargo").write_text("#!/bin/sh\nseq -f 'test %g ... ok' 30000\n")
    (tmp_path / "bin" / "cargo").chmod(0o755)
    assert "lines truncated" in spill("run", "--profile", "vtcode", "--tokens", "500", "--", "cargo", "test")
    assert "test 15000 ... ok" in spill("read", "last:cargo test", "15000:+1")


def test_a_compressed_output_is_smaller_and_reads_the_same(spill, tmp_path):
    pytest.importorskip("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")

    def used():
        files = {
            (s := os.stat(path)).st_ino: s.st_blocks for path in (tmp_path / ".local").rglob("*") if path.is_file()
        }
        return sum(files.values())

    spill("--tokens", "500", text=LOG * 20)
    before = used()
    spill("gc", "--compress-after", "0")
    assert used() < before / 2
    assert "line 2500" in spill("read", "last", "2500:+1")
