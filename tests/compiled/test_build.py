"""Installing where there is no compiler, or one that fails, works; the loops are then in Python."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from spillover import compiled

ROOT = Path(__file__).parent.parent.parent
FOLDER = Path("src") / "spillover" / "compiled"


@pytest.fixture
def clone(tmp_path):
    """What is needed to build the loops, in a folder with a blank in its name."""
    root = tmp_path / "a clone"
    (root / FOLDER).mkdir(parents=True)
    for path in (ROOT / FOLDER).iterdir():
        if path.suffix in (".c", ".h", ".py"):
            shutil.copy(path, root / FOLDER)
    shutil.copy(ROOT / "hatch_build.py", root)
    return root


def build(root, **environ):
    return subprocess.run(
        [sys.executable, "hatch_build.py"],
        cwd=root,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_library_is_built_without_warnings(loops, clone):
    ran = build(clone)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert (clone / FOLDER / "_loops.abi3.so").exists()


@pytest.mark.parametrize("compiler", ["no-such-compiler", "false"])
def test_without_a_compiler_nothing_is_left_and_it_says_why(clone, compiler):
    (clone / FOLDER / "_loops.abi3.so").write_bytes(b"of other code")
    ran = build(clone, CC=compiler)
    assert ran.returncode == 1
    assert compiler in ran.stdout
    assert list((clone / FOLDER).glob("*.so*")) == []


@pytest.mark.parametrize("library", [b"", b"not a library", None])
def test_a_library_that_cannot_be_used_is_as_good_as_none(clone, library):
    if library is not None:
        (clone / FOLDER / "_loops.abi3.so").write_bytes(library)
    elif not compiled.loops():
        pytest.skip("no compiled loops: spillover was installed where there is no C compiler")
    else:  # one that was built for other code
        said = (clone / FOLDER / "__init__.py").read_text()
        (clone / FOLDER / "__init__.py").write_text(said.replace(f"VERSION = {compiled.VERSION}", "VERSION = 1_000"))
        shutil.copy(ROOT / FOLDER / "_loops.abi3.so", clone / FOLDER)
    line = "from compiled import loops; print(loops())"
    env = {**os.environ, "PYTHONPATH": str(clone / FOLDER.parent)}
    ran = subprocess.run([sys.executable, "-c", line], env=env, capture_output=True, text=True, check=True)
    assert ran.stdout == "None\n"


def test_the_loops_can_be_turned_off():
    line = "from spillover.compiled import loops; print(loops())"
    env = {**os.environ, compiled.VARIABLE: "0"}
    ran = subprocess.run([sys.executable, "-c", line], env=env, capture_output=True, text=True, check=True)
    assert ran.stdout == "None\n"
