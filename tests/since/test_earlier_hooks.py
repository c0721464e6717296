"""A hook whose tool is told against its last run: results of one text, of two streams, and of blocks."""

import json
import subprocess
import sys

import pytest

from spillover.api import Clipper
from spillover.hosts.hook import Clipping
from spillover.settings.limits import Limits
from spillover.store.directory import DirStore

SPILL = "import sys; from spillover.cli import main; sys.exit(main())"
IMAGE = {"type": "image", "source": {"data": "AAAA"}}


def log(*, second, error=""):
    rows = [f"10:{n % 60:02d}:{second:02d} compiled part_{chr(97 + n % 26)}{n} in {second}.{n}s" for n in range(900)]
    return "\n".join([*rows, *([error] if error else [])]) + "\n"


SHAPES = {
    "text": lambda call, text: call.text(text),
    "streams": lambda call, text: "".join(call.streams(stdout=text, stderr="warning: slow\n").values()),
    "blocks": lambda call, text: "".join(
        block.get("text", "") for block in call.blocks([{"type": "text", "text": text}, IMAGE])
    ),
}


@pytest.fixture
def clipper(tmp_path):
    return Clipper(Limits(tokens=600), store=DirStore(tmp_path / "store"), since="last", hints="tools")


@pytest.mark.parametrize("shape", SHAPES)
def test_a_result_is_told_against_the_last_one_of_the_same_command_in_the_same_folder(clipper, tmp_path, shape):
    def ask(text, command="make", cwd=str(tmp_path / "a")):
        said = SHAPES[shape](Clipping(clipper.call("Bash", command=command, cwd=cwd)), text)
        assert clipper.settings.count(said) <= clipper.settings.limits.tokens
        return said

    assert "Not compared with the last run" in ask(log(second=1))
    assert "Unchanged since " in ask(log(second=2))
    changed = ask(log(second=3, error="part q is broken"))
    assert ": 1 line new, 0 with changed numbers, " in changed
    assert "part q is broken" in changed
    assert "Not compared with the last run" in ask(log(second=4), command="make check")
    assert "Not compared with the last run" in ask(log(second=5), cwd=str(tmp_path / "b"))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_result_that_fits_is_shown_again_unless_it_is_unchanged(clipper, shape):
    roomy = Clipping(clipper.but(Limits(tokens=50_000)).call("Bash", command="make"))

    def ask(text):
        if shape == "blocks":
            return roomy.blocks([{"type": "text", "text": text}, IMAGE])
        return roomy.text(text) if shape == "text" else roomy.streams(stdout=text, stderr="")

    ask(log(second=1))
    assert "Unchanged since " in str(ask(log(second=2)))
    changed = ask(log(second=3, error="part q is broken"))
    assert changed is None or "part q is broken" in str(changed)
    assert "Unchanged since " not in str(changed)


def test_the_installed_hook_follows_the_rule_of_the_configuration(tmp_path, monkeypatch):
    monkeypatch.setenv("SPILLOVER_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "spillover").mkdir()
    (tmp_path / "spillover" / "spillover.toml").write_text('[tools.Bash]\nsince = "last"\ntokens = 600\n')
    said = []
    for second in (1, 2):
        event = {
            "hook_event_name": "PostToolUse",
            "tool_name": "Bash",
            "cwd": str(tmp_path),
            "tool_input": {"command": "make"},
            "tool_response": {"stdout": log(second=second), "stderr": "", "interrupted": False, "isImage": False},
        }
        ran = subprocess.run(
            [sys.executable, "-c", SPILL, "hook", "claude-code"],
            input=json.dumps(event).encode(),
            capture_output=True,
            check=True,
            cwd=tmp_path,
        )
        said.append(json.loads(ran.stdout)["hookSpecificOutput"]["updatedToolOutput"]["stdout"])
    assert "Not compared with the last run" in said[0]
    assert "Unchanged since " in said[1]
    assert len(said[1]) < 1_000
