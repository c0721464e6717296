"""Installing where there is no compiler, or one that fails, works; the loops are then in Python."""

import os
import runpy
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest

from spillover import compiled
from spillover.config.settings import OTHERS

ROOT = Path(__file__).parent.parent.parent
FOLDER = Path("src") / "spillover" / "compiled"


@pytest.fixture
def clone(tmp_path):
    """A clone without a library, in a folder with a blank in its name."""
    root = tmp_path / "a clone"
    shutil.copytree(ROOT / "src", root / "src", ignore=shutil.ignore_patterns("__pycache__", "*.so*"))
    for name in ("hatch_build.py", "pyproject.toml", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, root)
    return root


def run(root, *argv, **environ):
    return subprocess.run(
        [sys.executable, *argv], cwd=root, env={**os.environ, **environ}, capture_output=True, text=True, check=False
    )


def build(root, **environ):
    return run(root, "hatch_build.py", **environ)


def build_wheel(root, **environ):
    """Build a wheel; return what was said, and which wheels there are then."""
    ran = run(root, "-m", "hatchling", "build", "-t", "wheel", "-d", str(root.parent / "dist"), **environ)
    return ran, sorted((root.parent / "dist").glob("*"))


def ask(root):
    """Ask the code of a clone why the loops are not used."""
    line = "from compiled import why_not; print(why_not())"
    ran = run(root, "-c", line, PYTHONPATH=str(root / FOLDER.parent))
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout.strip()


def compiler(folder, script):
    path = folder / "a compiler"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return f"'{path}'"


def test_a_library_is_built_without_warnings_and_used(clone):
    if not shutil.which("cc") or not Path(sysconfig.get_paths()["include"], "Python.h").exists():
        pytest.skip("no C compiler, or no headers of Python")
    ran = build(clone)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert [path.name for path in (clone / FOLDER).glob("*.so*")] == ["_loops.abi3.so"]
    assert ask(clone) == "None"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (None, "No such file or directory"),
        ("exit 7", "failed with exit code 7"),
        ("exit 0", "made no library"),
        (r"printf '\377 wrong'; exit 1", "wrong"),
        ('echo half > "$PWD/src/half"; kill -9 $$', "failed with exit code -9"),
    ],
)
def test_a_compiler_that_fails_leaves_everything_as_it_was_and_says_why(clone, script, said):
    (clone / FOLDER / "_loops.abi3.so").write_bytes(b"somebody uses this one")
    ran = build(clone, CC="no-such-compiler" if script is None else compiler(clone, script))
    assert ran.returncode == 1
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr
    assert [path.read_bytes() for path in (clone / FOLDER).glob("*.so*")] == [b"somebody uses this one"]


def test_words_that_are_no_command_are_refused(clone):
    ran = build(clone, CFLAGS="'-Dx")
    assert ran.returncode == 1
    assert "CC, CFLAGS or LDFLAGS: No closing quotation" in ran.stderr


@pytest.mark.parametrize(
    ("library", "said"),
    [
        (None, ""),
        (b"", "file too short"),
        (b"not a library, but long enough to be read as one" * 9, "invalid ELF header"),
    ],
)
def test_a_library_that_cannot_be_loaded_is_as_good_as_none(clone, library, said):
    if library is not None:
        (clone / FOLDER / "_loops.abi3.so").write_bytes(library)
    assert said in ask(clone)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.9, 0.999])
def test_a_library_that_is_cut_off_is_not_loaded_as_that_would_end_the_process(loops, clone, share):
    whole = Path(loops.__file__).read_bytes()
    (clone / FOLDER / "_loops.abi3.so").write_bytes(whole[: int(len(whole) * share)])
    assert ask(clone) == "_loops.abi3.so is cut off"


@pytest.mark.parametrize("change", ["a file more", "other words"])
def test_a_library_of_other_sources_is_not_used(loops, clone, change):
    shutil.copy(loops.__file__, clone / FOLDER)
    assert ask(clone) == "None"
    (clone / FOLDER / ".#take.c").symlink_to("an editor has this file open")
    assert ask(clone) == "None"
    path = clone / FOLDER / ("more.c" if change == "a file more" else "take.c")
    with path.open("a") as file:
        file.write("/* as after a pull */\n")
    assert ask(clone) == "it was built from other sources; in a clone, run `python hatch_build.py`"


def test_a_wheel_has_the_library_and_the_clone_is_left_alone(loops, clone):
    before = sorted(clone.rglob("*"))
    ran, wheels = build_wheel(clone)
    assert ran.returncode == 0, ran.stderr
    (wheel,) = wheels
    assert "-cp311-abi3-" in wheel.name
    with zipfile.ZipFile(wheel) as file:
        names = [name for name in file.namelist() if name.startswith("spillover/compiled/")]
        file.extractall(clone / "installed")
    assert sorted(names) == ["spillover/compiled/__init__.py", "spillover/compiled/_loops.abi3.so"]
    assert run(clone, "-c", "import spillover.compiled as c; print(c.why_not(), c.__file__)",
               PYTHONPATH=str(clone / "installed")).stdout == f"None {clone}/installed/spillover/compiled/__init__.py\n"  # fmt: skip
    shutil.rmtree(clone / "installed")
    assert [path for path in sorted(clone.rglob("*")) if "__pycache__" not in path.parts] == before


def test_without_a_compiler_a_wheel_is_for_every_machine(clone):
    (clone / FOLDER / "_loops.abi3.so").write_bytes(b"of an editable installation")
    ran, wheels = build_wheel(clone, CC="false")
    assert ran.returncode == 0, ran.stderr
    (wheel,) = wheels
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as file:
        assert not [name for name in file.namelist() if ".so" in name]


@pytest.mark.parametrize(
    ("wanted", "said"), [("require", "failed with exit code 1"), ("Require", "use require or skip, or leave it empty")]
)
def test_whoever_needs_the_library_is_told_if_there_is_none(clone, wanted, said):
    ran, wheels = build_wheel(clone, CC="false", SPILLOVER_BUILD=wanted)
    assert ran.returncode != 0
    assert said in ran.stderr
    assert wheels == []


def test_the_oldest_python_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    hook = runpy.run_path(str(ROOT / "hatch_build.py"))
    assert project["requires-python"] == ">=" + ".".join(map(str, hook["OLDEST"]))
    assert hook["NAME"] == compiled.NAME


def test_what_says_how_to_build_and_to_load_is_no_wrong_setting():
    assert {compiled.VARIABLE, "SPILLOVER_BUILD"} <= set(OTHERS)


def test_the_loops_can_be_turned_off():
    line = "from spillover.compiled import loops, why_not; print(loops(), why_not())"
    ran = run(ROOT, "-c", line, SPILLOVER_COMPILED="0")
    assert ran.stdout == "None SPILLOVER_COMPILED=0\n"
