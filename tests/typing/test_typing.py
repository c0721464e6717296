"""The types of the public names: what is right passes a strict checker, and a typo does not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


@pytest.fixture(scope="module")
def complaints(tmp_path_factory):
    """The lines of each file that mypy complains of."""
    pytest.importorskip("mypy")
    cache = tmp_path_factory.mktemp("cache")
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        f"--cache-dir={cache}",
        "--no-error-summary",
        "--hide-error-context",
    ]
    files = [str(HERE / "good.py"), str(HERE / "bad.py")]
    env = {**os.environ, "MYPYPATH": str(ROOT / "src")}
    ran = subprocess.run([*command, *files], capture_output=True, text=True, cwd=HERE, env=env, check=False)
    assert not ran.stderr
    found = [line.split(":", 3) for line in ran.stdout.splitlines() if ": error:" in line]
    return [(Path(path).name, int(line), words) for path, line, _, words in found]


def test_calls_that_are_right_pass(complaints):
    assert [one for one in complaints if one[0] == "good.py"] == []


def test_each_wrong_call_is_found_and_nothing_else_is(complaints):
    lines = (HERE / "bad.py").read_text().splitlines()
    wrong = [number for number, line in enumerate(lines, 1) if line.endswith("# wrong")]
    assert sorted({line for name, line, _ in complaints if name == "bad.py"}) == wrong
    assert len(wrong) > 15
