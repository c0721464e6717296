"""`spill hook` as a host runs it: a process per tool call that answers in JSON, or says nothing, and always exits with 0."""

import json
import os
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spillover.cli.doctor import sample_event
from spillover.hosts import AGENTS, find

LONG = "".join(f"line {number} of many\n" for number in range(1, 5_001))


def question(stdout=LONG, tool="Bash", command="make", **more):
    response = {"stdout": stdout, "stderr": "", "interrupted": False, "isImage": False, **more}
    return {
        "session_id": "abc",
        "cwd": os.getcwd(),
        "permission_mode": "default",
        "hook_event_name": "PostToolUse",
        "tool_name": tool,
        "tool_input": {"command": command, "description": "x"},
        "tool_response": response,
        "tool_use_id": "toolu_1",
        "duration_ms": 90,
    }


@pytest.fixture
def ask(spill):
    """Ask, as the host would; its answer, or None where it said nothing."""

    def call(asked, host="claude-code", **options):
        given = asked if isinstance(asked, bytes) else json.dumps(asked).encode()
        said = spill("hook", host, given=given, **options)
        assert said.returncode == 0
        return json.loads(said.stdout) if said.stdout else None

    return call


def test_a_small_output_is_not_answered_at_all(ask, store):
    assert ask(question("all is well\n")) is None
    assert list(store.list()) == []


def test_a_long_output_is_answered_in_the_shape_of_bash(ask, store):
    said = ask(question())
    new = said["hookSpecificOutput"]["updatedToolOutput"]
    assert said == {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": new}}
    assert new.keys() == {"stdout", "stderr", "interrupted", "isImage"}
    (record,) = store.list()
    assert new["stdout"].startswith("[Output clipped: ")
    assert f"spill grep {record.ref} PATTERN · spill read {record.ref} " in new["stdout"]
    assert f" · Read {store.where(record.ref)} offset=" in new["stdout"]
    assert (record.tool, record.command, record.call_id) == ("Bash", "make", "toolu_1")


def test_the_same_question_has_the_same_answer(ask):
    assert ask(question()) == ask(question())


def test_a_way_back_that_the_notice_names_works_and_is_not_clipped_again(ask, spill, store):
    ask(question())
    (record,) = store.list()
    answer = spill("read", record.ref, "1000:1100")
    assert "1000: line 1000 of many" in answer.stdout
    inside = {"CLAUDECODE": "1"}
    answer = spill("read", record.ref, "1:5000", env=inside)
    assert ask(question(answer.stdout, command=f"spill read {record.ref} 1:5000"), env=inside) is None
    assert len(list(store.list())) == 1
    assert ask(question(LONG, command=f"spill read {record.ref} 1:5000")) is not None, "it is not known by its command"


def test_the_configuration_of_the_folder_the_host_is_in_holds(ask, spill, tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "spillover.toml").write_text('lines = 500\n[tools.Bash]\nlines = 12\nhints = "none"\n')
    assert spill("trust", tmp_path / "project").returncode == 0
    said = ask({**question(), "cwd": str(tmp_path / "project")})
    stdout = said["hookSpecificOutput"]["updatedToolOutput"]["stdout"]
    assert len(stdout.splitlines()) <= 12
    assert "Next:" not in stdout


def test_with_a_wrong_configuration_the_defaults_hold_and_the_person_is_told(ask, user_file):
    user_file.write_text("tokns = 5\n")
    said = ask(question())
    assert "tokns" in said["systemMessage"]
    assert said["hookSpecificOutput"]["updatedToolOutput"]["stdout"].startswith("[Output clipped: ")
    assert ask(question("short\n")) is None


def test_a_store_that_cannot_be_written_is_said_in_the_text(ask, tmp_path):
    (tmp_path / "a store").write_text("in the way")
    new = ask(question())["hookSpecificOutput"]["updatedToolOutput"]
    assert "Full output not kept: " in new["stdout"]


def test_text_that_is_no_unicode_comes_through(ask):
    new = ask(question("caf\udce9 \x1b[31mred\x1b[0m 🎉\n" * 5_000))["hookSpecificOutput"]["updatedToolOutput"]
    assert "🎉" in new["stdout"]


BROKEN = {
    "nothing": b"",
    "a space": b" ",
    "no JSON": b"{",
    "half of a question": json.dumps(question()).encode()[:-20],
    "bytes": bytes(range(256)) * 100,
    "a list": b"[]",
    "a number": b"5",
    "null": b"null",
    "an empty object": b"{}",
    "a deep one": b"[" * 100_000,
    "a number without end": b"[" + b"9" * 10_000 + b"]",
    "another event": json.dumps({**question(), "hook_event_name": "SessionStart"}).encode(),
    "wrong types": json.dumps(
        {**question(), "tool_input": 5, "tool_response": [5], "cwd": 5, "tool_use_id": {}}
    ).encode(),
    "a folder that is not there": json.dumps({**question("short"), "cwd": "/no/such/folder"}).encode(),
    "a NUL in a path": json.dumps(
        {**question("short", tool="Grep"), "cwd": "\0", "tool_input": {"path": "\0"}}
    ).encode(),
}


@pytest.mark.parametrize("asked", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("host", ["claude-code", "opencode"])
def test_whatever_comes_in_nothing_changes_and_the_exit_is_0(ask, asked, host):
    assert ask(asked, host=host) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(parts=st.dictionaries(st.sampled_from([*question("x"), "tool", "output", "content"]), JSON, max_size=4))
def test_any_json_is_answered_with_json_or_nothing(ask, parts):
    assert ask({**question("short\n"), **parts}) is None


def test_a_host_that_does_not_wait_for_the_answer_is_no_failure(spill, tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    code = "import sys; from spillover.cli import main; sys.exit(main())"
    ran = subprocess.run(
        [sys.executable, "-c", code, "hook", "claude-code"],
        input=json.dumps(question()).encode(),
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writing)
    assert ran.returncode == 0
    assert b"Traceback" not in ran.stderr


def test_stdin_that_is_closed_is_no_failure(spill):
    said = spill("hook", "claude-code", stdin=subprocess.DEVNULL)
    assert (said.returncode, said.stdout) == (0, "")


def test_a_small_output_needs_nothing_that_cuts():
    code = """
import sys
before = set(sys.modules)
from spillover.cli import agents
from spillover.hosts import find
agents.reply_to_stdin(find("claude-code"))
print(*set(sys.modules) - before)
"""
    asked = json.dumps(question("all is well\n")).encode()
    ran = subprocess.run([sys.executable, "-c", code], input=asked, capture_output=True, check=True)
    loaded = set(ran.stdout.decode().split())
    assert "spillover.hosts.claude_code" in loaded
    heavy = {
        "numpy",
        "hyperscan",
        "tomllib",
        "asyncio",
        "dataclasses",
        "pathlib",
        "subprocess",
    }
    assert not loaded & heavy
    assert not {
        name
        for name in loaded
        if name.startswith(("spillover.kinds.log", "spillover.kinds.kind", "spillover.kinds.cut", "spillover.retrieve"))
    }


#: How long each host waits for a hook, as seen or as our own file or plugin for it says.
PATIENCE_SECONDS = {"claude-code": 60, "opencode": 30, "copilot": 30, "cline": 3, "pi": 30, "codex": 30, "gemini": 30}


def test_every_hook_has_a_deadline_below_that_of_its_host():
    assert {host.name for host in AGENTS} == {*PATIENCE_SECONDS}
    assert all(0 < host.hook.deadline_seconds < PATIENCE_SECONDS[host.name] for host in AGENTS)


#: What may never come to an end: `hang` sleeps, `spin` never lets another thread of its process run.
NEVER_ENDS = {
    "a store": "spillover.store.directory.DirStore.writer = hang",
    "the configuration": "spillover.cli.setup.load = hang",
    "a loop in C": "spillover.cli.setup.load = spin",
    "the middle of the answer": "spillover.cli.agents.write = half(hang)",
    "a process that was killed in the middle of the answer": "spillover.cli.agents.write = half(die)",
}
HANGING = """
import itertools, os, signal, sys, time
import spillover.cli, spillover.cli.agents, spillover.cli.setup, spillover.store.directory
def hang(*_, **__):
    time.sleep(3_600)
def spin(*_, **__):
    sum(itertools.repeat(0))
def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
def half(end, put=spillover.cli.agents.write):
    return lambda text, fd=1: put(text) if fd == 1 else end(os.write(fd, text[:40].encode()))
answer_in_time = spillover.cli.agents.reply_in_time
spillover.cli.agents.reply_in_time = lambda host, seconds: answer_in_time(host, 0.5)
"""


@pytest.mark.parametrize("what", NEVER_ENDS)
@pytest.mark.parametrize("host", PATIENCE_SECONDS)
def test_whatever_hangs_a_hook_ends_in_time_and_changes_nothing(tmp_path, monkeypatch, host, what):
    monkeypatch.setenv("SPILLOVER_STORE", str(tmp_path / "store"))
    code = f"{HANGING}{NEVER_ENDS[what]}\nsys.exit(spillover.cli.main(['hook', sys.argv[1]]))"
    asked = json.dumps(sample_event(find(host), str(tmp_path))).encode()
    ran = subprocess.run([sys.executable, "-c", code, host], input=asked, capture_output=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout) == (0, b"")
    assert b"killed" in what.encode() or b"nothing was changed: no answer within 0.5 s" in ran.stderr


def test_a_hook_that_its_host_kills_leaves_no_process_behind(tmp_path):
    orphan = "def orphan(*_, **__):\n    os.kill(os.getppid(), signal.SIGKILL)\n    spin()\n"
    code = f"{HANGING}{orphan}spillover.cli.setup.load = orphan\nspillover.cli.main(['hook', sys.argv[1]])"
    asked = json.dumps(sample_event(find("cline"), str(tmp_path))).encode()
    # Its output ends once no process holds the pipe.
    ran = subprocess.run(
        [sys.executable, "-c", code, "cline"], input=asked, capture_output=True, timeout=60, check=False
    )
    assert ran.stdout == b""


@pytest.mark.parametrize("host", PATIENCE_SECONDS)
@pytest.mark.parametrize("kind", ["never ends", "is endless"])
def test_a_question_that_does_not_end_changes_nothing(host, kind):
    reading, writing = os.pipe()
    os.write(writing, b'{"tool": "bash", "output": "')
    code = f"{HANGING}sys.exit(spillover.cli.main(['hook', sys.argv[1]]))"
    with open("/dev/zero", "rb") as zero, os.fdopen(reading) as silent, os.fdopen(writing):
        stdin = silent if kind == "never ends" else zero
        ran = subprocess.run(
            [sys.executable, "-c", code, host], stdin=stdin, capture_output=True, timeout=60, check=False
        )
    assert (ran.returncode, ran.stdout) == (0, b"")


def test_running_a_command_loads_nothing_of_the_hook(spill):
    code = "import sys; from spillover.cli import main; main(['run', '--', 'true']); print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert "spillover.hosts.hook" not in ran.stdout.decode().split()


@pytest.mark.parametrize("tool", ["Bash", "WebFetch", "mcp__a__b"])
def test_a_small_result_with_invisible_characters_has_them_spelled_out(spill, tool):
    hidden = "ok \U000e0072\U000e0075\U000e006e \u202e"
    shapes = {
        "Bash": {"stdout": hidden, "stderr": ""},
        "WebFetch": {"result": hidden},
        "mcp__a__b": [{"type": "text", "text": hidden}],
    }
    event = {"hook_event_name": "PostToolUse", "tool_name": tool, "tool_input": {}, "tool_response": shapes[tool]}
    said = spill("hook", "claude-code", given=json.dumps(event)).stdout
    assert "ok <U+E0072><U+E0075><U+E006E> <U+202E>" in said
