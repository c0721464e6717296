"""Gemini CLI's hook: a result comes back through `read_file`, unless something keeps `read_file` from it."""

import json
import os
import stat
import time

import pytest

from spillover import Clipper, Limits, MemoryStore
from support import gemini

LONG = "".join(f"line {number} of many\n" for number in range(1, 5_001))


@pytest.fixture
def clipper():
    return Clipper(store=MemoryStore(), hints="cli")


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home of Gemini CLI, with the folder of a project beside it."""
    monkeypatch.setenv("GEMINI_CLI_HOME", str(tmp_path))
    monkeypatch.delenv("GEMINI_PROJECT_DIR", raising=False)
    (tmp_path / ".gemini/tmp/project").mkdir(parents=True)
    (tmp_path / "work").mkdir()
    return tmp_path


@pytest.fixture
def event(home):
    def make(content, tool="run_shell_command", **more):
        return {
            "hook_event_name": "AfterTool", "tool_name": tool, "tool_input": {"command": "make"}, "cwd": str(home / "work"),
            "transcript_path": str(home / ".gemini/tmp/project/chats/s.jsonl"), "tool_response": {"llmContent": content}, **more,
        }  # fmt: skip

    return make


def shell(output, ending="Exit Code: 2\nProcess Group PGID: 30245"):
    return f"<untrusted_context>\nOutput: {output}\n{ending}\n</untrusted_context>"


def path_in(answer):
    request = answer["hookSpecificOutput"]["tailToolCallRequest"]
    assert (answer["hookSpecificOutput"]["hookEventName"], request["name"]) == ("AfterTool", "read_file")
    return request["args"]["file_path"]


def text_in(answer):
    with open(path_in(answer), encoding="utf-8", newline="") as file:
        return file.read()


ENDINGS = [
    "Exit Code: 2\nProcess Group PGID: 30245",
    "Process Group PGID: 30245",
    "Exit Code: 137\nSignal: SIGKILL\nBackground PIDs: 1, 2\nProcess Group PGID: 30245",
]


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_exit_code_and_the_frame_of_the_host_stay(clipper, event, ending):
    text = text_in(gemini.reply(event(shell(LONG.rstrip("\n"), ending)), lambda: clipper))
    assert text.startswith("<untrusted_context>\nOutput:\n[Output clipped: ")
    assert text.endswith(f"line 5000 of many\n{ending}\n</untrusted_context>")
    [record] = clipper.settings.store.list()
    assert (record.bytes, record.lines, record.command) == (len(LONG) - 1, 5_000, "make")


def test_of_a_command_that_gemini_has_cut_the_clip_says_so(clipper, event):
    warning = "[GEMINI_CLI_WARNING: Output truncated. The buffer is limited to 16MB.]"
    text = text_in(gemini.reply(event(shell(f"{LONG}\n{warning}")), lambda: clipper))
    assert "Gemini CLI had already cut the output" in text


def test_the_file_is_private_and_is_gone_once_it_was_read(clipper, event):
    path = path_in(gemini.reply(event(shell(LONG)), lambda: clipper))
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700
    read = event(LONG, tool="read_file", original_request_name="run_shell_command", tool_input={"file_path": path})
    assert gemini.reply(read, lambda: clipper) is None
    assert not os.path.exists(path)


def test_a_tail_call_is_never_answered_with_another(clipper, event, home):
    other = home / "work/mine.txt"
    other.write_text("mine")
    for tool in ("read_file", "run_shell_command", "mcp_s_t"):
        tail = event(shell(LONG), tool=tool, original_request_name="x", tool_input={"file_path": str(other)})
        assert gemini.reply(tail, lambda: clipper) is None
    assert other.exists()


SETTINGS = {
    "excluded": {"tools": {"exclude": ["read_file"]}},
    "excluded by its class": {"tools": {"exclude": ["ReadFileTool"]}},
    "excluded in the old form": {"excludeTools": ["read_file"]},
    "not among the only ones": {"tools": {"core": ["run_shell_command"]}},
    "not among the only ones in the old form": {"coreTools": []},
    "nothing that can be read": {"tools": 5},
    "a policy elsewhere": {"policyPaths": ["POLICY"]},
}
RULES = {
    "denied": 'toolName = "read_file"\ndecision = "deny"',
    "asked for": 'toolName = ["x", "read_file"]\ndecision = "ask_user"',
    "denied with all": 'toolName = "*"\ndecision = "deny"',
    "denied in that folder": 'toolName = "read_file"\nargsPattern = "tool-outputs"\ndecision = "deny"',
    "a pattern that is none": 'toolName = "read_file"\nargsPattern = "("\ndecision = "deny"',
    "no decision": 'toolName = "read_file"',
    "no TOML": "toolName = ",
}
ALLOWED = {
    "allowed": 'toolName = "read_file"\ndecision = "allow"',
    "another tool": 'toolName = "write_file"\ndecision = "deny"',
    "a server's": 'mcpName = "s"\ntoolName = "*"\ndecision = "deny"',
    "another file": 'toolName = "read_file"\nargsPattern = "\\\\.env"\ndecision = "deny"',
}


@pytest.mark.parametrize("where", [".gemini", "work/.gemini"])
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_where_settings_exclude_read_file_nothing_changes(clipper, event, home, where, settings):
    (home / "policy.toml").write_text("[[rule]]\n" + RULES["denied"])
    (home / where).mkdir(exist_ok=True)
    text = "// mine\n" + json.dumps(settings).replace("POLICY", str(home / "policy.toml"))
    (home / where / "settings.json").write_text(text)
    assert gemini.reply(event(shell(LONG)), lambda: clipper) is None
    assert list(clipper.settings.store.list()) == []


@pytest.mark.parametrize("where", [".gemini/policies", "work/.gemini/policies", ".gemini/extensions/x/policies"])
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_where_a_policy_forbids_read_file_nothing_changes(clipper, event, home, where, rule):
    (home / where).mkdir(parents=True)
    (home / where / "mine.toml").write_text(f"[[rule]]\n{ALLOWED['allowed']}\n[[rule]]\n{rule}\n")
    assert gemini.reply(event(shell(LONG)), lambda: clipper) is None


@pytest.mark.parametrize("rule", ALLOWED.values(), ids=ALLOWED)
def test_other_policies_and_settings_do_not_matter(clipper, event, home, rule):
    (home / ".gemini/policies").mkdir()
    (home / ".gemini/policies/mine.toml").write_text(f"[[rule]]\n{rule}\n")
    (home / ".gemini/settings.json").write_text('{"tools": {"core": ["read_file"], "exclude": ["glob"]}, "theme": 1}')
    assert gemini.reply(event(shell(LONG)), lambda: clipper) is not None


def test_in_a_workspace_that_may_ignore_the_file_nothing_changes(clipper, event, home):
    assert gemini.reply({**event(shell(LONG)), "cwd": str(home)}, lambda: clipper) is None


def test_after_a_file_that_was_not_read_nothing_changes_for_an_hour(clipper, event):
    path = path_in(gemini.reply(event(shell(LONG)), lambda: clipper))
    assert gemini.reply(event(shell(LONG)), lambda: clipper) is not None  # calls may run beside each other
    os.utime(path, (time.time() - 60,) * 2)
    assert gemini.reply(event(shell(LONG)), lambda: clipper) is None
    os.utime(path, (time.time() - 7_200,) * 2)
    assert gemini.reply(event(shell(LONG)), lambda: clipper) is not None
    assert not os.path.exists(path)


def as_read(path):
    """Return what `read_file` of 0.61 makes of a file, if it is text."""
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    if path.endswith(".svg"):
        return text
    lines = text.replace("\r\n", "\n").split("\n")
    assert len(lines) <= 2_000
    assert all(len(line.encode("utf-16-le")) // 2 <= 2_000 for line in lines)
    assert not set(text) & set(map(chr, (*range(9), *range(14, 32))))
    return text


TEXTS = {
    "lines": LONG,
    "one line": "x" * 100_000,
    "wide characters": "漢字の行\n" * 9_000,
    "characters of two units": "🎉" * 50_000,
    "empty lines": "\n" * 90_000,
    "control characters": "\x01\x02\x1b[31m" * 9_000,
}


@pytest.mark.parametrize("limits", [None, Limits(chars=500_000), Limits(lines=9_000), Limits(tokens=90_000)], ids=str)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_read_file_returns_all_of_what_is_in_the_file_and_the_host_cuts_nothing_more(event, limits, text):
    chosen = Clipper(limits or Limits(), store=MemoryStore())
    for content in (shell(text), [{"text": f"<untrusted_context>\n{text}\n</untrusted_context>"}]):
        seen = as_read(path_in(gemini.reply(event(content), lambda: chosen)))
        assert len(seen) <= 40_000
        assert seen.count("</untrusted_context>") == 1


def test_when_the_configuration_fails_the_result_is_bounded_and_keeps_its_exit_code(event):
    def fail():
        raise OSError("no such thing")

    text = text_in(gemini.reply(event(shell(LONG)), fail))
    assert len(text) < 12_000
    assert text.endswith("\nExit Code: 2\nProcess Group PGID: 30245\n</untrusted_context>")


def mcp_error(text, name="probe"):
    answer = [
        {"functionResponse": {"name": name, "response": {"content": [{"type": "text", "text": text}], "isError": True}}}
    ]
    return f'MCP tool \'{name}\' reported tool error for function call: {{"name":"{name}","args":{{}}}} with response: {json.dumps(answer)}'


def test_an_mcp_result_that_is_an_error_is_clipped_by_its_lines(clipper, event):
    text = text_in(gemini.reply(event(mcp_error(LONG), tool="mcp_s_probe"), lambda: clipper))
    assert text.startswith("MCP tool 'probe' reported tool error:\n[Output clipped: ")
    [record] = clipper.settings.store.list()
    assert record.lines == 5_000
    assert gemini.reply(event(mcp_error("no such table"), tool="mcp_s_probe"), lambda: clipper) is None


def test_an_error_that_fits_only_without_its_escapes_is_bounded_too(event):
    chosen = Clipper(Limits(bytes=3_000), store=MemoryStore())
    text = '"\\"\n' * 700
    seen = text_in(gemini.reply(event(mcp_error(text), tool="mcp_s_probe"), lambda: chosen))
    assert seen == f"MCP tool 'probe' reported tool error:\n{text}"


def test_the_blocks_of_an_mcp_result_are_one_output(clipper, event):
    parts = [{"text": f"<untrusted_context>\n{text}\n</untrusted_context>"} for text in ("first", LONG, "last")]
    text = text_in(gemini.reply(event(parts, tool="mcp_s_t"), lambda: clipper))
    assert text.startswith("<untrusted_context>\n[Output clipped: ")
    assert text.endswith("\nlast\n</untrusted_context>")


STAYS = {
    "a short result": {"tool_response": {"llmContent": shell("all is well")}},
    "no result": {"tool_response": None},
    "an image": {"tool_response": {"llmContent": [{"text": LONG}, {"inlineData": {"data": "iVBO"}}]}},
    "parts that are none": {"tool_response": {"llmContent": [5, None]}},
    "another event": {"hook_event_name": "BeforeTool"},
    "a file": {"tool_name": "read_many_files"},
    "no transcript": {"transcript_path": None},
    "a transcript elsewhere": {"transcript_path": "/no/such/folder/chats/x.jsonl"},
    "a relative one": {"transcript_path": "work/chats/x.jsonl"},
}


@pytest.mark.parametrize("changes", STAYS.values(), ids=STAYS)
def test_what_is_short_or_cannot_be_replaced_stays(clipper, event, changes):
    assert gemini.reply({**event(shell(LONG)), **changes}, lambda: clipper) is None


@pytest.mark.parametrize("broken", [5, None, [], {}, "x"])
def test_an_event_that_is_none_changes_nothing(clipper, broken):
    assert gemini.reply(broken, lambda: clipper) is None
