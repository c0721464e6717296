"""Compiles src/spillover/compiled when spillover is installed, if a C compiler is there; without one, it is installed as it is.

    python hatch_build.py       in a clone: compile again after a change of C

SPILLOVER_BUILD=require makes a missing compiler an error (for wheels), SPILLOVER_BUILD=skip compiles nothing.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

FOLDER = Path("src") / "spillover" / "compiled"
LIBRARY = FOLDER / "_loops.abi3.so"
#: The oldest Python that the library works with; all newer ones take it as well.
OLDEST = (3, 11)
#: No step is fused or reordered: sums have to be the same to the last bit, here and in numpy.
FLAGS = ["-std=c11", "-O3", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-fno-fast-math", "-Wall", "-Wextra"]
SECONDS = 300


def build(root: Path) -> str:
    """Compile the loops; return what stopped it, or an empty string."""
    library = root / LIBRARY
    library.unlink(missing_ok=True)  # one of other code is worse than none
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "a Python without the global lock takes no library of the stable ABI"
    version = re.search(r"^VERSION = (\d+)$", (root / FOLDER / "__init__.py").read_text(encoding="utf-8"), re.MULTILINE)
    assert version is not None
    new = library.with_name(f"{library.name}.{os.getpid()}")
    command = [
        *shlex.split(os.environ.get("CC") or "cc"),
        *FLAGS,
        f"-DPy_LIMITED_API=0x{OLDEST[0]:02x}{OLDEST[1]:02x}0000",
        f"-DLOOPS_VERSION={version[1]}",
        f"-I{sysconfig.get_paths()['include']}",
        *(["-bundle", "-undefined", "dynamic_lookup"] if sys.platform == "darwin" else ["-shared"]),
        *map(str, sorted((root / FOLDER).glob("*.c"))),
        "-o",
        str(new),
        "-lm",
    ]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if ran.returncode:
        new.unlink(missing_ok=True)
        return ran.stderr.strip() or f"{command[0]} failed with exit code {ran.returncode}"
    os.replace(new, library)
    print(ran.stderr, end="", file=sys.stderr)  # warnings
    return ""


def tag() -> str:
    """Return the tag of a wheel with the library in it."""
    return f"cp{OLDEST[0]}{OLDEST[1]}-abi3-{re.sub('[-.]', '_', sysconfig.get_platform())}"


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # called by hand
    pass
else:

    class CustomBuildHook(BuildHookInterface[Any]):
        """Adds the library to a wheel."""

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002  hatchling's own signature
            wanted = os.environ.get("SPILLOVER_BUILD", "")
            if self.target_name != "wheel" or wanted == "skip":
                return
            if wrong := build(Path(self.root)):
                if wanted == "require":
                    raise RuntimeError(f"spillover.compiled could not be built: {wrong}")
                self.app.display_warning(f"Without compiled loops, which make clips faster: {wrong}")
                return
            build_data["pure_python"] = False
            build_data["tag"] = tag()
            build_data["artifacts"].append(f"/{LIBRARY.as_posix()}")


if __name__ == "__main__":
    wrong = build(Path(__file__).parent)
    print(wrong or f"{LIBRARY} is built")
    sys.exit(bool(wrong))
