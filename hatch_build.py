"""Compiles src/spillover/compiled while spillover is installed, if there is a C compiler; if not, it is installed without.

    python hatch_build.py       in a clone, to compile again after C files have changed

SPILLOVER_BUILD=require fails without a compiler (for whoever builds wheels), SPILLOVER_BUILD=skip compiles nothing. CC, CFLAGS
and LDFLAGS are used as usual. `pip install -v` shows why nothing was compiled.
"""

from __future__ import annotations

import os
import platform
import re
import runpy
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

FOLDER = Path("src") / "spillover" / "compiled"
NAME = "_loops.abi3.so"
#: The oldest Python that the library works with; all newer ones load it as well.
OLDEST = (3, 11)
#: No steps are fused or reordered: sums must be the same to the last bit, here and in numpy.
FLAGS = ["-std=c11", "-O3", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-fno-fast-math", "-Wall", "-Wextra"]
SECONDS = 120
CHOICES = ("", "require", "skip")


class CannotBuildError(Exception):
    """Why the loops could not be compiled."""


def build(root: Path, library: Path) -> None:
    """Compile the loops into a file."""
    if sys.implementation.name != "cpython" or sys.maxsize < 1 << 32 or sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise CannotBuildError("this needs 64-bit CPython with the global interpreter lock")
    sources = runpy.run_path(str(root / FOLDER / "__init__.py"))["fingerprint"](root / FOLDER)
    try:
        command = [
            *(shlex.split(os.environ.get("CC", "")) or ["cc"]),
            *shlex.split(os.environ.get("CFLAGS", "")),
            *FLAGS,
            f"-DPy_LIMITED_API=0x{OLDEST[0]:02x}{OLDEST[1]:02x}0000",
            f'-DSOURCES="{sources}"',
            f"-I{sysconfig.get_paths()['include']}",
            *(["-bundle", "-undefined", "dynamic_lookup"] if sys.platform == "darwin" else ["-shared"]),
            *map(str, sorted((root / FOLDER).glob("[!.]*.c"))),
            "-o",
            str(library),
            "-lm",
            *shlex.split(os.environ.get("LDFLAGS", "")),
        ]
    except ValueError as error:
        raise CannotBuildError(f"CC, CFLAGS or LDFLAGS: {error}") from None
    said = _run(command)
    if not library.exists():
        raise CannotBuildError(f"{command[0]} made no library")
    print(said, end="", file=sys.stderr)  # warnings


def _run(command: list[str]) -> str:
    """Run the compiler and return what it said."""
    environ = dict(os.environ)
    if sys.platform == "darwin" and (oldest := sysconfig.get_config_var("MACOSX_DEPLOYMENT_TARGET")):
        environ.setdefault("MACOSX_DEPLOYMENT_TARGET", str(oldest))
    try:
        compiler = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=environ,
            start_new_session=True,
        )
    except OSError as error:
        raise CannotBuildError(str(error)) from None
    try:
        said, _ = compiler.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(compiler.pid, signal.SIGKILL)  # it may be a script that started another
        compiler.wait()
        raise CannotBuildError(f"{command[0]} did not end within {SECONDS} s") from None
    if compiler.returncode:
        raise CannotBuildError(said.strip() or f"{command[0]} failed with exit code {compiler.returncode}")
    return said


def build_in_place(root: Path) -> None:
    """Compile the loops next to their sources, for a clone that is used as it is."""
    library = root / FOLDER / NAME
    new = library.with_name(f"{NAME}.new-{os.getpid()}")
    try:
        with tempfile.TemporaryDirectory() as folder:
            build(root, Path(folder) / NAME)
            shutil.copyfile(Path(folder) / NAME, new)
            new.replace(library)  # whoever uses the old one keeps it
    except OSError as error:
        raise CannotBuildError(str(error)) from None
    finally:
        with suppress(OSError):
            new.unlink()


def tag() -> str:
    """Return the tag of a wheel that contains the library."""
    here = sysconfig.get_platform().replace("universal2", platform.machine())  # the compiler makes one of the two
    return f"cp{OLDEST[0]}{OLDEST[1]}-abi3-{re.sub('[-.]', '_', here)}"


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # called by hand
    pass
else:

    class CustomBuildHook(BuildHookInterface[Any]):
        """Adds the library to a wheel, or to the clone of an editable installation."""

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            wanted = os.environ.get("SPILLOVER_BUILD", "")
            if wanted not in CHOICES:
                raise ValueError(f"SPILLOVER_BUILD={wanted}: use require or skip, or leave it empty")
            if self.target_name != "wheel" or wanted == "skip":
                return
            try:
                self._add(version, build_data)
            except CannotBuildError as error:
                if wanted == "require":
                    raise
                self.app.display_warning(f"Installing without compiled loops, so clips of logs take longer: {error}")

        def _add(self, version: str, build_data: dict[str, Any]) -> None:
            root = Path(self.root)
            if version == "editable":
                build_in_place(root)
                return
            self._folder = tempfile.TemporaryDirectory()  # kept until the wheel is written
            library = Path(self._folder.name) / NAME
            build(root, library)
            build_data["force_include"][str(library)] = f"spillover/compiled/{NAME}"
            build_data["pure_python"] = False
            build_data["tag"] = tag()


if __name__ == "__main__":
    try:
        build_in_place(Path(__file__).parent)
    except CannotBuildError as wrong:
        sys.exit(str(wrong))
    print(f"{FOLDER / NAME} is built")
