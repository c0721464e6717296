"""Every example runs as it stands, with a scripted model: no key, no network, nothing left behind."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted(
    path
    for path in (Path(__file__).parent.parent / "examples").glob("*.py")
    if path.name not in ("demo.py", "fleet.py")
)

#: Runs a script in a process that can reach nobody. Pairs of sockets stay: event loops wake themselves up with them.
ALONE = """
import runpy, socket, sys

def refused(*args, **kwargs):
    raise AssertionError("an example wanted to use the network")

socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = socket.create_connection = refused
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_there_is_one_for_every_framework_and_one_without():
    assert {path.stem for path in EXAMPLES} >= {
        "langchain_agent",
        "openai_agents_agent",
        "own_loop",
        "pydantic_ai_agent",
    }


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_model_sees_what_matters_finds_the_rest_and_nobody_is_called(path, tmp_path):
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", ALONE, path],
        env={"HOME": str(tmp_path), "PATH": ""},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "[Output clipped: " in ended.stdout
    assert "\n31415: test 31415 ... FAILED: expected 4, got 5\n" in ended.stdout
    assert ended.stdout.endswith("The model says:\nTest 31415 fails: it expected 4 and got 5.\n")
    assert len(ended.stdout) < 5_000
    assert {path.name for path in tmp_path.iterdir()} <= {".cache"}
