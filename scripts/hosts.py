"""Install the coding agents from npm and run tests/hosts with them: real hosts, a scripted model, nothing else from the network."""

from __future__ import annotations

import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, ".venv", "hosts")
#: The newest of each; what was seen with which version stands in docs/adapters.
AGENTS = (
    "@anthropic-ai/claude-code",
    "@openai/codex",
    "@google/gemini-cli",
    "@github/copilot",
    "opencode-ai",
    "@mariozechner/pi-coding-agent",
)


def main() -> int:
    """Install what is missing, then run the tests; return pytest's exit code."""
    os.makedirs(FOLDER, exist_ok=True)
    if not os.path.isdir(os.path.join(FOLDER, "node_modules")):
        print("Installing the agents from npm (once; some minutes)", flush=True)
        subprocess.run(["npm", "install", "--no-fund", "--no-audit", "--prefix", FOLDER, *AGENTS], check=True)
    tests = [sys.executable, "-m", "pytest", "tests/hosts", "-q", "-rs", "-p", "no:cacheprovider", *sys.argv[1:]]
    return subprocess.run(tests, cwd=ROOT, env={**os.environ, "SPILLOVER_HOSTS": FOLDER}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
