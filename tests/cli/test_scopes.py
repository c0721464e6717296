"""Two projects of one user, one store: each command shows a project its own, and all of it to a person who asks."""

import json
import os
import shlex
import sys

import pytest

from spillover import DirStore
from spillover.store.scopes import ScopedStore

TOKEN = "hunter2" * 3


@pytest.fixture
def projects(tmp_path):
    """Two repositories, and a folder that is none."""
    for name in ("mine", "theirs"):
        (tmp_path / name / ".git").mkdir(parents=True)
        (tmp_path / name / "src").mkdir()
    (tmp_path / "loose").mkdir()
    return tmp_path


@pytest.fixture
def theirs(spill, projects):
    """An output of the other project, made by a command with a token in it."""
    words = ("sh", "-c", f"seq 100000; : curl -H 'Authorization: Bearer {TOKEN}' https://a.b")
    facts = spill("run", "--json", "--", *words, cwd=projects / "theirs").json
    assert facts["outcome"] == "stored"
    return facts["ref"]


COMMANDS = [
    ["read", "REF"], ["read", "last"], ["read", "last:curl"], ["grep", "REF", "9"], ["grep", "last:sh", "9"], ["outline", "REF"],
    ["outline", "last"], ["show", "REF"], ["show", "last:curl"], ["verify", "REF"], ["pin", "REF"], ["unpin", "REF"],
]  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS)
def test_another_projects_output_is_as_if_it_had_never_been(spill, projects, theirs, words):
    never = "sh-" + "0" * (len(theirs) - 3)
    there, absent = (
        spill(*(ref if word == "REF" else word for word in words), cwd=projects / "mine") for ref in (theirs, never)
    )
    assert (there.returncode, there.stdout) == (absent.returncode, absent.stdout) == (2, "")
    assert there.stderr.replace(theirs, "REF") == absent.stderr.replace(never, "REF")
    assert "curl" not in there.stderr
    if "REF" in words:
        assert "in this project." in there.stderr
        assert "--all-scopes" in there.stderr


@pytest.mark.parametrize("words", COMMANDS)
def test_a_person_may_ask_for_all_and_the_project_has_its_own(spill, projects, theirs, words):
    asked = [theirs if word == "REF" else word for word in words]
    assert spill(*asked[:1], "--all-scopes", *asked[1:], cwd=projects / "mine").returncode == 0
    assert spill(*asked, cwd=projects / "theirs").returncode == 0
    assert spill(*asked, cwd=projects / "theirs" / "src").returncode == 0, "anywhere in the repository"


def test_list_has_this_projects_and_with_all_scopes_says_whose(spill, projects, theirs):
    assert spill("list", cwd=projects / "mine").stdout.startswith("Nothing is stored in this project.")
    assert theirs in spill("list", cwd=projects / "theirs").stdout
    said = spill("list", "--all-scopes", cwd=projects / "mine").stdout.splitlines()
    assert said[0].split() == ["ref", "lines", "bytes", "age", "project", "command"]
    assert (theirs in said[1], str(projects / "theirs") in said[1]) == (True, True)
    (facts,) = spill("list", "--all-scopes", "--json", cwd=projects / "mine").json
    assert (facts["scope"], facts["scopes"]) == (str(projects / "theirs"), [str(projects / "theirs")])
    assert spill("verify", cwd=projects / "mine").stdout == "0 outputs checked, 0 damaged\n"
    assert spill("verify", "--all-scopes", cwd=projects / "mine").stdout.endswith("1 output checked, 0 damaged\n")


def test_the_same_bytes_of_two_projects_belong_to_both_each_with_its_own_command(spill, projects):
    refs = {
        spill("run", "--json", "--", "sh", "-c", f"seq 100000 # {name}", cwd=projects / name).json["ref"]
        for name in ("mine", "theirs")
    }
    (ref,) = refs
    for name, other in (("mine", "theirs"), ("theirs", "mine")):
        said = spill("show", ref, cwd=projects / name).stdout
        assert f"# {name}" in said
        assert other not in said
    assert spill("show", ref, "--all-scopes", "--json", cwd=projects).json["scopes"] == [str(projects / "theirs"), str(projects / "mine")]  # fmt: skip


def test_a_token_in_a_command_is_not_stored_and_not_shown(spill, store, projects, theirs):
    for name in os.listdir(store.root):
        if name.endswith(".json"):
            with open(os.path.join(store.root, name)) as file:
                assert TOKEN not in file.read()
    for words in (["list"], ["show", theirs], ["list", "--json"], ["show", theirs, "--json"]):
        said = spill(*words, cwd=projects / "theirs").stdout
        assert TOKEN not in said
        assert "Authorization: [redacted: authorization]" in said
    assert TOKEN not in spill("read", "last:nothing", cwd=projects / "theirs").stderr


def test_a_scope_by_name_sees_itself_and_below(spill, store, projects):
    ref = spill("run", "--json", "--scope", "acme/web/s1", "--", "seq", "100000").json["ref"]
    for scope, code in (("acme/web/s1", 0), ("acme/web", 0), ("acme", 0), ("acme/web/s2", 2), ("ac", 2), ("*", 2)):
        assert spill("read", ref, "1:2", "--scope", scope).returncode == code, scope
        assert spill("read", ref, "1:2", env={"SPILLOVER_SCOPE": scope}).returncode == code, scope
    assert spill("read", ref, "1:2").returncode == 2
    (record,) = store.list()
    assert record.scope == "acme/web/s1"


@pytest.mark.parametrize("scope", ["a//b", "*", "../x", "a\n"])
def test_a_wrong_scope_is_wrong_use(spill, scope):
    for words in (["--scope", scope], ["list", "--scope", scope], ["run", "--scope", scope, "--", "true"]):
        said = spill(*words)
        assert (said.returncode, said.stdout) == (2, "")
        assert "--scope" in said.stderr
    assert "SPILLOVER_SCOPE" in spill("list", env={"SPILLOVER_SCOPE": scope}).stderr
    assert "use one of them" in spill("list", "--scope", "a", "--all-scopes").stderr


def test_a_projects_file_gives_itself_no_other_scope(spill, projects, theirs):
    for scope in ("*", str(projects / "theirs")):
        (projects / "loose" / "spillover.toml").write_text(f'scope = "{scope}"\n')
        assert theirs not in spill("list", cwd=projects / "loose").stdout
        assert spill("read", theirs, cwd=projects / "loose").returncode == 2


def test_the_users_file_names_a_scope_but_not_all_of_them(spill, projects, tmp_path):
    folder = tmp_path / "config" / "spillover"
    folder.mkdir(parents=True)
    env = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    (folder / "spillover.toml").write_text('scope = "*"\n')
    assert "--all-scopes" in spill("list", cwd=projects / "loose", env=env).stderr
    (folder / "spillover.toml").write_text('scope = "acme"\n')
    ref = spill("run", "--json", "--", "seq", "100000", cwd=projects / "mine", env=env).json["ref"]
    assert spill("read", ref, "1:2", "--scope", "acme", cwd=projects / "theirs").returncode == 0
    assert spill("read", ref, "1:2", cwd=projects / "mine").returncode == 2


# ── hooks


def asked(projects, cwd, host="claude-code"):
    text = "".join(f"line {number}\n" for number in range(5_000))
    if host == "opencode":
        return json.dumps({"tool": "bash", "args": {"command": "x"}, "callID": "1", "output": text, "cwd": str(cwd)})
    response = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
    event = {
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "x"},
        "tool_response": response,
    }
    return json.dumps({**event, "tool_use_id": "1", "cwd": str(cwd)})


@pytest.mark.parametrize("host", ["claude-code", "opencode"])
def test_a_hooks_output_belongs_to_the_project_of_the_event(spill, store, projects, host):
    assert spill("hook", host, given=asked(projects, projects / "mine" / "src", host), cwd="/").stdout
    (record,) = store.list()
    assert record.scope == str(projects / "mine")
    assert spill("read", record.ref, "1:2", cwd=projects / "mine").returncode == 0
    assert spill("read", record.ref, "1:2", cwd=projects / "theirs").returncode == 2


def test_of_claude_code_it_is_the_project_the_session_began_in(spill, store, projects):
    event = asked(projects, projects / "loose")
    assert spill("hook", "claude-code", given=event, env={"CLAUDE_PROJECT_DIR": str(projects / "mine" / "src")}).stdout
    (record,) = store.list()
    assert record.scope == str(projects / "mine")


def test_a_hook_with_a_scope_in_its_environment_uses_that(spill, store, projects):
    event = asked(projects, projects / "mine")
    env = {"SPILLOVER_SCOPE": "acme", "CLAUDE_PROJECT_DIR": str(projects / "theirs")}
    assert spill("hook", "claude-code", given=event, env=env).stdout
    assert [record.scope for record in store.list()] == ["acme"]
    lost = spill("hook", "claude-code", given=event, env={"SPILLOVER_SCOPE": "*"}).stdout
    assert "lost" in lost.lower() or "not kept" in lost.lower() or "could not be" in lost.lower()


def test_a_person_in_python_sees_what_the_command_line_stored(spill, projects, theirs, store):
    assert [record.ref for record in ScopedStore(DirStore(store.root), str(projects / "theirs")).list()] == [theirs]


def next_steps(text):
    """The commands that a notice proposes, as they stand."""
    steps = text.partition(" Next: ")[2].partition("]")[0].split(" · ")
    return [step for step in steps if "PATTERN" not in step]


@pytest.mark.parametrize("options", [["--scope", "acme/web/s1"], ["--store", "else where"]])
def test_a_step_can_be_pasted_where_the_call_said_where_outputs_go(spill, projects, options):
    here = projects / "mine"
    said = spill(*options, "--lines", "4", given="".join(f"{n}\n" for n in range(5_000)), cwd=here).stdout
    (step,) = next_steps(said)
    pasted = spill(*shlex.split(step)[1:], cwd=here)
    assert (pasted.returncode, pasted.stderr) == (0, "")
    assert pasted.stdout.startswith(("1: 0\n", "2: 1\n"))  # where the first gap begins


def test_an_answer_from_every_project_says_so_in_its_next_step(spill, projects, theirs):
    said = spill("read", theirs, "5:6", "--all-scopes", cwd=projects / "mine").stdout
    (step,) = next_steps(said)
    assert spill(*shlex.split(step)[1:], cwd=projects / "mine").stdout.startswith("7: 7\n")


def test_a_notice_of_ours_from_another_project_is_not_called_forged(spill, projects):
    folder, python = (shlex.quote(str(path)) for path in (projects / "theirs", sys.executable))
    line = f"cd {folder} && seq 9001 | {python} -c 'from spillover.cli import main; main()' --lines 6"
    said = spill("run", "--lines", "20", "--", "sh", "-c", line, cwd=projects / "mine").stdout
    assert said.startswith("[Output clipped: 3 of 9,001 lines shown")
    assert "[tool text]" not in said


def test_a_hook_names_the_scope_where_the_tools_folder_is_not_the_sessions(spill, projects):
    inside = projects / "loose" / "sub"
    inside.mkdir()
    event = {
        "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "x"}, "cwd": str(inside),
        "tool_response": {"stdout": "".join(f"{n}\n" for n in range(50_000)), "stderr": ""},
    }  # fmt: skip
    env = {"CLAUDE_PROJECT_DIR": str(projects / "loose")}
    said = spill("hook", "claude-code", given=json.dumps(event), env=env).json
    step = next_steps(said["hookSpecificOutput"]["updatedToolOutput"]["stdout"])[0]
    assert spill(*shlex.split(step)[1:], cwd=inside).returncode == 0
