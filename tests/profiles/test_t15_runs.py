"""t15 where commands are run: which part is kept by what the command is, and a warning that people and models get."""

import json
import os
import subprocess
import sys

import pytest

from spillover import Clipper, Limits
from spillover.profiles import t15
from support import claude_code

#: Prints its number of lines, whatever it is called.
SCRIPT = "#!/bin/sh\nseq 1 5000\n"


@pytest.fixture
def bin_folder(tmp_path, monkeypatch):
    """Programs of these names that print 5,000 lines."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("tsc", "mypy", "gcc-12", "find", "pytest"):
        (folder / name).write_text(SCRIPT)
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("SPILLOVER_CONFIG", "none")
    return folder


#: The command, and the line that its output begins with: the first one, or the first of the last 2,000.
RUNS = [
    (["tsc"], "1"),
    (["sh", "-c", "cd . && tsc --noEmit"], "1"),
    (["env", "A=1", "gcc-12", "-c", "x.c"], "1"),
    (["pytest"], "3002"),
    (["sh", "-c", "tsc > /dev/null; pytest"], "3002"),
]


@pytest.mark.usefixtures("bin_folder")
@pytest.mark.parametrize(("argv", "first"), RUNS)
def test_the_command_that_runs_decides_which_part_is_kept(argv, first):
    run = t15.clipper().run(argv)
    assert run.clip.outcome == "stored"
    assert run.clip.text.startswith(f"{first}\n")
    assert f"Output truncated to {'first' if first == '1' else 'last'} 2000 lines" in run.clip.text


def spill(*arguments):
    code = "from spillover.cli import main; raise SystemExit(main())"
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.usefixtures("bin_folder")
@pytest.mark.parametrize(("argv", "first"), RUNS[:2] + RUNS[3:4])
def test_it_decides_on_the_command_line_too(argv, first):
    ran = spill("run", "--profile", "t15", "--", *argv)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith(f"{first}\n")


@pytest.mark.usefixtures("bin_folder")
def test_a_part_that_somebody_asked_for_is_stronger():
    assert t15.clipper(keep="tail").run(["tsc"]).clip.text.startswith("3002\n")
    assert t15.clipper(rules={"tsc": {"keep": "tail"}}).run(["tsc"]).clip.text.startswith("3002\n")
    assert t15.clipper(directions={}).run(["tsc"]).clip.text.startswith("3002\n")
    assert t15.clipper().but(keep="ends").run(["tsc"]).clip.text.startswith("1\n")
    assert spill("run", "--profile", "t15", "--keep", "tail", "--", "tsc").stdout.startswith("3002\n")
    assert Clipper.configured(profile="t15", keep="tail").run(["tsc"]).clip.text.startswith("3002\n")
    assert Clipper.configured(profile="t15").run(["tsc"]).clip.text.startswith("1\n")


WARNING = "`find .` lists every file below a folder; narrow it down, or bound it, for example with `| head -n 200`."


@pytest.mark.usefixtures("bin_folder")
@pytest.mark.parametrize("style", list(t15.STYLES))
def test_a_warning_reaches_the_caller_and_the_model(style):
    clipper = t15.clipper(notice_style=style).but(limits=Limits(lines=100))
    run = clipper.run(["sh", "-c", "find . 2>/dev/null"])
    assert run.warning == WARNING
    assert WARNING in run.clip.text
    assert clipper.run(["pytest"]).warning is None


@pytest.mark.usefixtures("bin_folder")
def test_a_warning_reaches_the_person_before_the_command_runs(tmp_path):
    (tmp_path / "bin" / "find").write_text("#!/bin/sh\necho started >&2\nseq 1 5000\n")
    ran = spill("run", "--profile", "t15", "--", "find", ".")
    said = f"spill: {WARNING}\n"
    assert ran.stderr.startswith(said)
    assert WARNING in ran.stdout
    facts = json.loads(spill("run", "--profile", "t15", "--json", "--", "find", ".").stdout)
    assert facts["warning"] == WARNING


@pytest.mark.usefixtures("bin_folder")
def test_what_fits_needs_no_words_for_the_model(tmp_path):
    (tmp_path / "bin" / "find").write_text("#!/bin/sh\necho one\n")
    run = t15.clipper().run(["find", "."])
    assert (run.clip.text, run.warning) == ("one\n", WARNING)


def test_a_hook_knows_the_command_as_well(tmp_path):
    lines = "\n".join(map(str, range(5_000)))
    event = {
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "npx tsc; true"},
        "tool_response": {"stdout": lines, "stderr": "", "interrupted": False, "isImage": False},
    }
    made = t15.clipper(folder=str(tmp_path / "out"))
    for command, first in (("npx tsc", "0\n"), ("npm test", "300")):
        event["tool_input"] = {"command": command}
        answer = claude_code.reply(event, lambda: made)
        shown = answer["hookSpecificOutput"]["updatedToolOutput"]["stdout"]
        assert shown.startswith(first), command
