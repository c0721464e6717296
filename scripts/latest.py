"""Install the newest of every framework there is an adapter for, and the oldest we say works, each in an environment of its own; say what broke.

With names, only those: `python -m scripts.latest langchain "mcp<2"`.
"""

from __future__ import annotations

import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LANGCHAIN = ("tests/frameworks/test_langchain.py",)
AGENTS = ("tests/frameworks/test_openai_agents.py", "tests/frameworks/test_openai_agents_mcp.py")
PYDANTIC = ("tests/frameworks/test_pydantic_ai.py",)
MCP = tuple(f"tests/mcp/test_{name}.py" for name in ("proxy", "server", "passing", "ends"))
#: what is installed → the tests that run with it; the oldest are those of `frameworks.parts` and pyproject.toml
CHECKS = {
    "langchain": LANGCHAIN,
    "langchain==1.2.*": LANGCHAIN,
    "langchain==1.3.*": LANGCHAIN,
    "openai-agents": AGENTS,
    "openai-agents==0.23.*": AGENTS,
    "pydantic-ai-slim[mcp]": PYDANTIC,
    "pydantic-ai-slim[mcp]==2.62.*": PYDANTIC,
    "mcp": MCP,
    "mcp<2": MCP,
    "mcp==1.30.*": MCP,
}
DEV = (
    "hypothesis",
    "pytest",
    "pytest-asyncio",
    "pytest-xdist",
    "jsonschema",
    "httpx2",
)
#: mcp 1.x drops a stream that broke without a word, so a call that waits on it fails only with the next (docs/decisions/proxy.md).
NOT_WITH_MCP_1 = "not a_server_at_a_url_that_dies"


def main() -> int:
    """Check all of them, or those that are named; return 1 where one is broken."""
    broken = 0
    checked: dict[tuple[str, str], str] = {}
    for wanted, tests in CHECKS.items():
        if sys.argv[1:] and wanted not in sys.argv[1:]:
            continue
        package = wanted.partition("=")[0].partition("<")[0].partition("[")[0]
        python = _install(wanted)
        version = _run(python, "-c", f"import importlib.metadata as m; print(m.version({package!r}))").stdout.strip()
        if (package, version) in checked:  # today the newest below 2 is the oldest that we say works
            print(f"{wanted:32}{version:12}as {checked[package, version]}", flush=True)
            continue
        checked[package, version] = wanted
        # The tests speak mcp 2.x: with 1.x they stay where they are, and only `spill mcp` runs in the other environment.
        old = package == "mcp" and version.startswith("1.")
        runner, options = (sys.executable, ("-k", NOT_WITH_MCP_1)) if old else (python, ())
        ran = _run(runner, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, *tests, MCP_TEST_PYTHON=python)
        broken += ran.returncode != 0
        last = (ran.stdout.strip().splitlines() or [""])[-1]
        print(f"{wanted:32}{version:12}{'works' if not ran.returncode else 'BROKEN'}  {last}", flush=True)
        if ran.returncode:
            print("\n".join(f"    {line}" for line in ran.stdout.strip().splitlines()[-12:]))
    return int(broken > 0)


def _install(wanted: str) -> str:
    """Return the Python of an environment with what is wanted, the newest that fits."""
    folder = os.path.join(ROOT, ".venv", "latest", "".join(char if char.isalnum() else "-" for char in wanted))
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade"]
    subprocess.run([*pip, "--editable", ROOT, wanted, *DEV], check=True)
    return python


def _run(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **variables}
    return subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    sys.exit(main())
