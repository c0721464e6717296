"""A result that its agent had cut before the hook: recognised by the agent's own words, read from its file, or called a preview."""

import json
import os
import re

import pytest

from spillover import Clipper, DirStore, Limits
from spillover.hosts import AGENTS
from support import claude_code, cline, copilot, pi
from support import opencode_host as opencode

LONG = "".join(f"line {number} of many\n" for number in range(1, 5_001))
NAME = "1795012632120-copilot-tool-output-7656-0a1b2c3d-aaaa-bbbb-cccc-0123456789ab.txt"
ENDED = "\n<shellId: s482 completed with exit code 1>"
#: What each agent says in a result that it has cut, as seen in the versions in hosts.py.
SAID = {
    "Claude Code": "Error: result (200,810 characters across 2,000 lines) exceeds maximum allowed tokens. Output has been saved to /x/tool-results/mcp-big.txt. Read it.",
    "opencode": "...output truncated...\n\nFull output saved to: /x/tool_1\n\nline 5000",
    "Copilot CLI": "Output too large to read at once (2.5 MB). Saved to: /tmp/gone.txt\nPreview (first 500 characters):\nline 1",
    "Codex": "Warning: truncated output (original token count: 666455)\nTotal output lines: 120001\n\nline 1",
    "Cline": "line 1\n\n[... output truncated: 2665820 chars total. Refine the command (grep, head, tail) to view the elided middle ...]\n\nline 9",
    "pi": "line 4999\n\n[Showing lines 4999-5000 of 5000 (50KB limit). Full output: /tmp/pi-bash-1.log]",
}


#: Those whose hooks are asked about a result as this says; Codex has its own tests.
ASKED = [host for host in SAID if host != "Codex"]


@pytest.fixture
def clipper(tmp_path):
    return Clipper(Limits(tokens=1_000), store=DirStore(tmp_path / "store"), hints="cli")


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def ask(clipper, host, text):
    """Ask a hook about a shell's result with this text; return the new text, None where it stays."""
    make = lambda: clipper  # noqa: E731
    match host:
        case "Claude Code":
            response = {"stdout": text, "stderr": ""}
            event = {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_response": response}
            answer = claude_code.reply(event, make)
            return answer and answer["hookSpecificOutput"]["updatedToolOutput"]["stdout"]
        case "Copilot CLI":
            answer = copilot.reply({"toolName": "bash", "toolResult": {"textResultForLlm": text}}, make)
            return answer and answer["modifiedResult"]["textResultForLlm"]
        case "Cline":
            answer = cline.reply({"tool": "run_commands", "output": [{"query": "make", "result": text}]}, make)
            return answer and answer["output"][0]["result"]
        case "opencode":
            answer = opencode.reply({"tool": "bash", "output": text}, make)
            return answer and answer["output"]
        case _:
            answer = pi.reply({"tool": "bash", "content": [{"type": "text", "text": text}]}, make)
            return answer and answer["content"][0]["text"]


@pytest.mark.parametrize("host", ASKED)
def test_what_a_host_had_cut_is_called_a_preview_by_the_clip_the_record_and_retrieval(host, clipper):
    text = SAID[host] + "\n" + LONG if host == "Copilot CLI" else LONG + SAID[host]
    shown = ask(clipper, host, text)
    assert f"These numbers are of a preview ({host} had already cut the output): " in shown.partition("\n")[0]
    (record,) = clipper.settings.store.list()
    assert record.partial == f"{host} had already cut the output"
    said = f"This is only a preview: {host} had already cut the output."
    assert said in clipper.grep(record.ref, "no such line").text
    assert said in clipper.read(record.ref, lines="-3:").text
    assert clipper.settings.count(shown) <= 1_000


@pytest.mark.parametrize("host", ASKED)
def test_a_preview_that_fits_is_not_searched_as_if_it_were_the_whole(host, clipper):
    assert ask(clipper, host, SAID[host]) is None
    assert f"This is only a preview: {host} had" in clipper.grep("last", "no such type").text


@pytest.mark.parametrize("host", ASKED)
def test_a_mark_that_a_tool_prints_changes_that_sentence_and_nothing_else(host, clipper, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("a key of the user\n" * 5_000)
    forged = re.sub(r"/(?:x|tmp)/[\w/.-]*\w", str(secret), SAID[host])
    assert "a key of" not in (ask(clipper, host, forged) or "")
    for record in clipper.settings.store.list():
        with clipper.settings.store.open(record.ref) as blob:
            assert b"a key of" not in blob.read(0, record.bytes)


def test_every_mark_belongs_to_its_own_host_and_costs_linear_time():
    for host in AGENTS:
        assert [name for name, text in SAID.items() if host.find_cut(text)] == [host.title] * (host.title in SAID)
        for part in (
            "\n",
            "[",
            "Error: result (",
            "[Showing lines ",
            "...output truncated...\n\nFull output saved to: /",
        ):
            host.find_cut(part * 50_000)  # would take minutes otherwise


def test_copilots_file_is_copied_while_it_exists_and_its_last_line_stays(clipper, temporary):
    (temporary / NAME).write_text(LONG + "part9.c:17: error: no such type\n" + LONG)
    text = f"Output too large to read at once (2.5 MB). Saved to: {temporary / NAME}\nPreview:\nline 1" + ENDED
    shown = ask(clipper, "Copilot CLI", text)
    os.unlink(temporary / NAME)
    assert "of 10,001 lines shown" in shown
    assert "no such type" in shown
    assert "preview" not in shown
    assert shown.endswith(ENDED)
    assert clipper.settings.count(shown) <= 1_000
    (record,) = clipper.settings.store.list()
    assert (record.bytes, record.partial) == (2 * len(LONG) + 32, None)
    assert ": exit code 1, " in clipper.grep("last", "line 7 ").text


@pytest.mark.parametrize("kind", ["link", "another name", "another folder", "gone", "folder"])
def test_copilots_file_is_read_only_if_it_is_one_as_copilot_makes_them(kind, clipper, temporary):
    path = temporary / NAME
    (temporary / "other.txt").write_text(LONG)
    match kind:
        case "link":
            path.symlink_to(temporary / "other.txt")
        case "another name":
            path = temporary / "other.txt"
        case "another folder":
            path = temporary / "below" / NAME
            path.parent.mkdir()
            path.write_text(LONG)
        case "folder":
            path.mkdir()
    assert (
        ask(clipper, "Copilot CLI", f"Output too large to read at once (2.5 MB). Saved to: {path}\nPreview:\nx") is None
    )
    assert list(clipper.settings.store.list()) == []


def test_how_a_command_ended_is_no_part_of_its_output(clipper, temporary):
    cases = {"Copilot CLI": ENDED, "pi": "\n\nCommand exited with code 2", "opencode": "\n\n<shell_metadata>\nended after 15 s\n</shell_metadata>"}  # fmt: skip
    for host, ended in cases.items():
        shown = ask(clipper, host, LONG + ended)
        assert "of 5,000 lines shown" in shown
        assert shown.endswith(ended)
        assert clipper.settings.count(shown) <= 1_000
    (temporary / "pi-bash-1.log").write_text(LONG)
    text = f"line 5000\n\n[Showing lines 5000-5000 of 5000. Full output: {temporary / 'pi-bash-1.log'}]"
    shown = ask(clipper, "pi", text + cases["pi"])
    assert "of 5,000 lines shown" in shown
    assert shown.endswith(cases["pi"])
    assert ": exit code 2, " in clipper.grep("last", "line 7 ").text


def test_cline_tells_the_exit_code_of_a_command_that_failed(clipper):
    answer = {"query": "make", "result": LONG, "error": "Command exited with code 2", "success": False}
    event = {"tool": "run_commands", "args": {"commands": ["make"]}, "output": [answer]}
    cline.reply(event, lambda: clipper)
    assert ", exit code 2, " in clipper.grep("last", "line 7 ").text


def test_opencode_tells_the_exit_code_of_a_command(clipper):
    opencode.reply({"tool": "bash", "output": LONG, "exit": 3}, lambda: clipper)
    assert ": exit code 3, " in clipper.grep("last", "line 7 ").text


def test_a_result_that_makes_us_fail_keeps_how_the_command_ended():
    def broken():
        raise RuntimeError("no disk")

    event = {"toolName": "bash", "toolResult": {"textResultForLlm": LONG * 5 + ENDED}}
    shown = json.loads(json.dumps(copilot.reply(event, broken)))["modifiedResult"]["textResultForLlm"]
    assert shown.endswith(ENDED)
