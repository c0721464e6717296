"""Run every block of docs/adapters/frameworks.md with the real package, each in a virtual environment of its own below .venv.

With names, only those: `python scripts/frameworks.py smolagents agno`. Prints a line for each: the version, and whether it works.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "adapters", "frameworks.md")
#: What the model must see of the 60,000 lines.
CHECK = """
said = said if isinstance(said, str) else str(said)
assert "test 31415 ... FAILED: expected 4, got 5" in said, said[:500]
assert "Output clipped" in said and len(said) < 20_000, len(said)
import importlib.metadata
print(importlib.metadata.version(NAME))
"""


def blocks() -> dict[str, str]:
    """Return the blocks of the page, by the name of the package."""
    with open(PAGE, encoding="utf-8") as file:
        return dict(re.findall(r"^```py ([\w-]+)\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL))


def check(name: str, code: str) -> tuple[bool, str]:
    """Return whether a block works with its package, and the version or what went wrong."""
    folder = os.path.join(ROOT, ".venv", "frameworks", name)
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--editable", ROOT, name]
        installed = subprocess.run(pip, capture_output=True, text=True, check=False)
        if installed.returncode:
            return False, f"cannot be installed: {installed.stderr.strip()[-200:]}"
    environment = {**os.environ, "SPILLOVER_STORE": os.path.join(folder, "store"), "SPILLOVER_CONFIG": "none"}
    script = os.path.join(folder, "block.py")  # some frameworks read the source of a tool
    with open(script, "w", encoding="utf-8") as file:
        file.write(f"NAME = {name!r}\n{code}{CHECK}")
    ran = subprocess.run(
        [python, "-W", "ignore", script],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.returncode == 0, (ran.stdout.strip().splitlines() or [""])[
        -1
    ] if not ran.returncode else ran.stderr.strip()[-300:]


def main() -> int:
    """Check all of them, or those that are named; return 1 where one does not work."""
    found = blocks()
    preamble = found.pop("preamble")
    wrong = 0
    for name in sys.argv[1:] or found:
        good, said = check(name, f"{preamble}\n{found[name]}")
        wrong += not good
        print(f"{name:24}{'works' if good else 'FAILS'}  {said}", flush=True)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
