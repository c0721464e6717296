"""Lines before they run: what is put into `spill sh`, what stays, and what a rule of the user holds back."""

import json
import subprocess
import sys

import pytest

from spillover import Clipper, Limits, MemoryStore
from spillover.adapters import claude_code, copilot, gemini, pi
from spillover.adapters.permissions import may_speak_of, rules_in
from spillover.adapters.rewrite import MOST_CHARS, rewrite_line
from spillover.shell.tree import read

pytest.importorskip("tree_sitter_bash", reason="needs the extra shell")

LONG = "".join(f"line {number} of many\n" for number in range(1, 5_001))


def never():
    raise AssertionError("nothing is clipped here")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("make -j8", "spill sh 'make -j8'"),
        ("pytest 2>&1 | tail -20", "spill sh 'pytest 2>&1 | tail -20'"),
        ("cd app && make | tail", "cd app && spill sh 'make | tail'"),
        ("cd 'my app' && make", "cd 'my app' && spill sh make"),
        ("grep -rn 'a b' src", "spill sh \"grep -rn 'a b' src\""),
        ("make\nmake test", "spill sh 'make\nmake test'"),
    ],
)
def test_a_line_is_put_into_spill_sh_as_a_person_can_read_it(line, expected):
    assert rewrite_line(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        "", "  ", "cd app", "cd app && cd b && make", "make; cd b", "export A=1; make", "source venv/bin/activate && pytest", "make &", "vim x",
        "sudo make", "ssh host ls", "spill run -- make", "cd a && spill sh 'x'", "echo hi", "mkdir -p a && touch a/b", "make | | x", "echo 'open",
        "x" * (MOST_CHARS + 1), "make \x1b[31m", "read x; make",
    ],
)  # fmt: skip
def test_what_would_mean_something_else_stays(line):
    assert rewrite_line(line) is None


@pytest.mark.parametrize(
    ("rules", "line", "spoken_of"),
    [
        (["Bash(rm:*)"], "rm -rf x", True),
        (["Bash(rm:*)"], "make && rm -rf x | tail", True),
        (["Bash(rm:*)"], "timeout 5 rm x", True),
        (["Bash(rm:*)"], "make rmdir", False),
        (["Bash(git push *)"], "git push --force", True),
        (["Bash(git push:*)"], "git pull", False),
        (["Bash(curl * | sh)", "Bash(npm publish)"], "npm publish", True),
        (["Bash"], "make", True),
        (["Bash(*)"], "make", True),
        ([], "make", False),
    ],
)
def test_whether_a_rule_may_speak_of_a_line(rules, line, spoken_of):
    commands = [raw.words for stages in read(line) for raw in stages]
    assert may_speak_of(rules, commands) == spoken_of


def ask(line, **more):
    return claude_code.reply({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": line, "description": "d", **more}}, never)  # fmt: skip


def test_claude_code_gets_the_line_back_and_decides_itself(monkeypatch, tmp_path):
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(tmp_path))
    said = ask("make | tail -3")["hookSpecificOutput"]
    assert said == {
        "hookEventName": "PreToolUse",
        "updatedInput": {"command": "spill sh 'make | tail -3'", "description": "d"},
    }
    assert ask("make", run_in_background=True) is None
    assert ask("cd x") is None


@pytest.mark.parametrize("kind", ["deny", "ask"])
@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
def test_a_line_that_a_rule_speaks_of_stays_for_claude_code_to_judge(monkeypatch, tmp_path, kind, name):
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(tmp_path))
    (tmp_path / ".claude").mkdir()
    settings = tmp_path / ".claude" / name
    settings.write_text('{ // mine\n "permissions": {"KIND": ["Bash(make:*)", "Read(x)"],}}'.replace("KIND", kind))
    assert ask("make | tail -3") is None
    assert ask("pytest | tail -3") is not None
    settings.write_text("{ broken")
    assert ask("pytest | tail -3") is None
    assert rules_in([str(settings)]) is None


def test_gemini_gets_the_line_back():
    asked = {
        "hook_event_name": "BeforeTool",
        "tool_name": "run_shell_command",
        "tool_input": {"command": "make", "dir": "x"},
    }
    said = gemini.reply(asked, never)["hookSpecificOutput"]
    assert said["tool_input"] == {"command": "spill sh make", "dir": "x"}
    assert gemini.reply({**asked, "tool_name": "read_file"}, never) is None
    assert gemini.reply({**asked, "hook_event_name": "AfterTool"}, never) is None


@pytest.fixture
def clipper():
    return Clipper(Limits(tokens=1_000), store=MemoryStore(), hints="cli")


def test_copilot_gets_lines_and_results_back(clipper):
    asked = {"toolName": "bash", "toolArgs": json.dumps({"command": "make", "mode": "sync"}), "cwd": "/"}
    assert copilot.reply(asked, never) == {"modifiedArgs": {"command": "spill sh make", "mode": "sync"}}
    result = {"resultType": "failure", "textResultForLlm": LONG}
    said = copilot.reply({**asked, "toolResult": result}, lambda: clipper)["modifiedResult"]
    assert said["resultType"] == "failure"
    assert said["textResultForLlm"].startswith("[Output clipped: ")
    assert copilot.reply({**asked, "toolResult": {"textResultForLlm": "short"}}, lambda: clipper) is None
    for odd in (
        5,
        {},
        {"toolName": 5, "toolArgs": "{"},
        {"toolName": "bash", "toolResult": []},
        {**asked, "toolArgs": "[1]"},
    ):
        assert copilot.reply(odd, lambda: clipper) is None


def test_pi_gets_all_that_a_command_printed_and_how_it_ended(clipper, tmp_path):
    whole = tmp_path / "pi-bash-1.log"
    whole.write_text(LONG)
    text = f"line 4999\nline 5000\n\n[Showing lines 4999-5000. Full output: {whole}]\n\nCommand exited with code 2"
    asked = {"tool": "bash", "callID": "c", "args": {"command": "make"}, "content": [{"type": "text", "text": text}]}
    (block,) = pi.reply(asked, lambda: clipper)["content"]
    assert "of 5,003 lines shown" in block["text"]
    assert block["text"].endswith("Command exited with code 2")
    assert pi.reply({**asked, "content": [{"type": "text", "text": "short"}]}, lambda: clipper) is None
    (block,) = pi.reply({**asked, "content": [{"type": "text", "text": LONG}]}, lambda: clipper)["content"]
    assert "of 5,000 lines shown" in block["text"]
    for odd in (None, {}, {"content": 5}, {"tool": 5, "content": []}):
        assert pi.reply(odd, lambda: clipper) is None


def test_what_claude_code_saved_of_an_mcp_result_is_read_from_its_own_files_only(clipper, tmp_path, monkeypatch):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    saved = tmp_path / "claude/projects/p/s/tool-results/mcp-1.txt"
    saved.parent.mkdir(parents=True)
    saved.write_text(LONG)
    secret = tmp_path / "secret.txt"
    secret.write_text("secret\n" * 9_000)

    def shown(path):
        text = f"Error: result (1,600,000 characters) exceeds maximum allowed tokens. Output has been saved to {path}\nFormat: text"
        asked = {
            "hook_event_name": "PostToolUse",
            "tool_name": "mcp__a__b",
            "tool_response": [{"type": "text", "text": text}],
        }
        said = claude_code.reply(asked, lambda: clipper)
        return "" if said is None else said["hookSpecificOutput"]["updatedToolOutput"][0]["text"]

    assert "of 5,000 lines shown" in shown(saved)
    assert "secret" not in shown(secret).replace(str(secret), "")
    assert shown(tmp_path / "claude/projects/p/s/tool-results/gone.txt") == ""


@pytest.mark.parametrize("word", ["--deny-tool", "--deny-tool=shell(rm)"])
def test_copilot_started_with_a_rule_that_denies_keeps_its_lines(word, tmp_path):
    # `--deny-tool 'shell(seq)'` did not stop `spill sh 'seq 3'`: Copilot CLI matches its rules on the new line.
    code = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[2:]).returncode)"
    ask = "from spillover.adapters.copilot import has_deny_rules; print(has_deny_rules())"
    for first, told in ((word, "True"), ("--allow-all-tools", "False")):
        words = [sys.executable, "-c", code, first, sys.executable, "-c", ask]
        assert subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip() == told


DENY = '[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = ["make", "npm run"]\ndecision = "deny"\n'
#: name → (its file, what is in it, whether `make` stays, whether `pytest` does)
POLICIES = {
    "the user's": ("home/.gemini/policies/a.toml", DENY, True, False),
    "the project's": (".gemini/policies/a.toml", DENY, True, False),
    "excluded in settings": (
        ".gemini/settings.json",
        '{"tools": {"exclude": ["run_shell_command(make -j)"]}} // mine',
        True,
        False,
    ),
    "excluded as before": ("home/.gemini/settings.json", '{"excludeTools": ["ShellTool(make)"]}', True, False),
    "allowed": (".gemini/policies/a.toml", DENY.replace("deny", "allow"), False, False),
    "another tool's": (".gemini/policies/a.toml", DENY.replace("run_shell_command", "write_file"), False, False),
    "a pattern": (".gemini/policies/a.toml", DENY.replace("commandPrefix", "commandRegex"), True, True),
    "broken": (".gemini/policies/a.toml", "[[rule", True, True),
    "broken settings": (".gemini/settings.json", "{", True, True),
}


@pytest.mark.parametrize("name", POLICIES)
def test_a_line_that_a_policy_names_stays_for_gemini_to_judge(name, tmp_path, monkeypatch):
    # A policy that denied `seq` did not stop `spill sh 'seq 3'`: Gemini CLI matches policies on the new line.
    path, text, make, pytest_ = POLICIES[name]
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text(text)
    for line, stays in (("cd x && make -j8 | tail", make), ("pytest", pytest_)):
        asked = {"hook_event_name": "BeforeTool", "tool_name": "run_shell_command", "tool_input": {"command": line}}
        assert (gemini.reply({**asked, "cwd": str(tmp_path)}, never) is None) is stays
