"""Install the coding agents from npm and run tests/agents with them: real hosts, a scripted model, nothing else from the network.

Words are passed to pytest: `python -m scripts.hosts -k codex`. The last lines are a table: host, version, case, result.
"""

from __future__ import annotations

import os
import subprocess
import sys

from scripts.install import node, npm

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, ".venv", "hosts")
#: The newest of each; what was seen with which version stands in docs/adapters.
AGENTS = (
    "@anthropic-ai/claude-code",
    "@openai/codex",
    "@google/gemini-cli",
    "@github/copilot",
    "opencode-ai",
    "@earendil-works/pi-coding-agent@0.87.1",  # later ones need packages that are not published
    "cline",
)


def _folder(name: str) -> list[str]:
    """Return where npm puts a package, below its node_modules."""
    bare, at, _ = name.rpartition("@")
    return (bare if at and bare else name).split("/")


def main() -> int:
    """Install what is missing, then run the tests; return pytest's exit code."""
    # Node from PyPI: on an older one npm picks an older agent, without a word.
    path = f"{os.path.dirname(node()[0])}{os.pathsep}{os.environ.get('PATH', '')}"
    os.makedirs(FOLDER, exist_ok=True)
    if not all(os.path.isdir(os.path.join(FOLDER, "node_modules", *_folder(name))) for name in AGENTS):
        print("Installing the agents from npm (once; some minutes)", flush=True)
        install = [*npm(), "install", "--no-fund", "--no-audit", "--loglevel=error", "--prefix", FOLDER, *AGENTS]
        subprocess.run(install, env={**os.environ, "PATH": path}, check=True)
    tests = [sys.executable, "-m", "pytest", "tests/agents", "-q", "-rs", "-p", "no:cacheprovider", *sys.argv[1:]]
    return subprocess.run(
        tests, cwd=ROOT, env={**os.environ, "PATH": path, "SPILLOVER_HOSTS": FOLDER}, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
