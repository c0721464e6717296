"""Codex's hook: which lines come back inside `spill sh`, and which stay because a rule names their program."""

import json
import os
import subprocess
import sys

import pytest

from spillover.adapters import codex

pytest.importorskip("tree_sitter_bash", reason="needs the extra shell")

FORBIDDEN = 'prefix_rule(pattern = ["rm", ["-r", "-rf"]], decision = "forbidden")  # for safety\n'


def never():
    raise AssertionError("nothing is clipped here")


@pytest.fixture
def world(tmp_path, monkeypatch):
    (tmp_path / "home" / "rules").mkdir(parents=True)
    (tmp_path / "app" / "src").mkdir(parents=True)
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(codex, "MACHINE", str(tmp_path / "etc"))
    monkeypatch.setattr(codex, "_find_ourselves", lambda: "spill")
    return tmp_path


def ask(line, cwd, **more):
    event = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": line}, "cwd": str(cwd)}
    return codex.reply({**event, **more}, never)


def test_a_line_comes_back_with_the_only_decision_that_codex_takes_it_with(world):
    assert ask("make | tail -3", world / "app") == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow",
            "updatedInput": {"command": "spill sh 'make | tail -3'"},
        }
    }


@pytest.mark.parametrize(
    "event",
    [
        None, [], {}, {"tool_name": "apply_patch"}, {"hook_event_name": "PostToolUse"}, {"tool_input": None}, {"tool_input": {"command": 7}},
    ],
)  # fmt: skip
def test_any_other_event_changes_nothing(world, event):
    assert (
        codex.reply(event, never) if not isinstance(event, dict) or not event else ask("make", world, **event)
    ) is None


PLACES = {
    "the user": "home/rules/default.rules",
    "the project": "app/.codex/rules/mine.rules",
    "the machine": "etc/rules/all.rules",
    "the machine's requirements": "etc/requirements.toml",
}


@pytest.mark.parametrize("place", PLACES)
def test_a_line_with_a_program_that_a_rule_names_stays_for_codex_to_judge(world, place):
    path = world / PLACES[place]
    path.parent.mkdir(parents=True, exist_ok=True)
    toml = '[rules]\nprefix_rules = [{ pattern = [{ token = "rm" }], decision = "forbidden" }]\n'
    path.write_text(toml if path.suffix == ".toml" else FORBIDDEN)
    for line in ("make && rm -rf x", "make; /bin/rm x", "timeout 5 rm x | tail", "find . -exec rm {} +"):
        assert ask(line, world / "app" / "src") is None
    assert ask("make | tail", world / "app" / "src") is not None


@pytest.mark.parametrize(
    "text", ['prefix_rule(pattern = ["r" + "m"], decision = "forbidden")', 'x = "%s" % y', "def f(): pass", b"\xff"]
)
def test_rules_that_cannot_be_read_for_certain_keep_every_line_as_it_came(world, text):
    data = text if isinstance(text, bytes) else text.encode()
    (world / "home" / "rules" / "odd.rules").write_bytes(data)
    assert ask("make | tail", world / "app") is None


def test_comments_are_no_rules(world):
    (world / "home" / "rules" / "a.rules").write_text("# for make + others, don't\n" + FORBIDDEN)
    assert ask("make | tail", world / "app") is not None


def test_a_login_shell_is_given_our_path_where_it_might_not_find_us(tmp_path):
    # With `spill` alone, every command failed with 127 where the profile sets another PATH.
    spill = tmp_path / "my bin" / "spill"
    spill.parent.mkdir()
    # As pip writes a script whose Python is in a folder with a space.
    begin = f"#!/bin/sh\n'''exec' \"{sys.executable}\" \"$0\" \"$@\"\n' '''\n"
    spill.write_text(f"{begin}import sys\nfrom spillover.cli import main\nsys.exit(main())\n")
    spill.chmod(0o755)
    event = {
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "make"},
        "cwd": str(tmp_path),
    }
    env = {**os.environ, "HOME": str(tmp_path), "CODEX_HOME": str(tmp_path)}
    ran = subprocess.run([spill, "hook", "codex"], input=json.dumps(event), env=env, capture_output=True, text=True, check=True)  # fmt: skip
    new = json.loads(ran.stdout)["hookSpecificOutput"]["updatedInput"]["command"]
    assert new == f"'{spill}' sh make"
