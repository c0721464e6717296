"""Try frameworks with the real packages, each in a virtual environment of its own below .venv.

    python scripts/frameworks.py [NAME ...]               the blocks of docs/adapters/frameworks.md
    python -m scripts.frameworks --latest [NAME ...]      our tests with the newest and the oldest version of each

Prints a line for each: the version, and whether it works.
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


LANGCHAIN = ("tests/frameworks/test_langchain.py",)
AGENTS = ("tests/frameworks/test_openai_agents.py", "tests/frameworks/test_openai_agents_mcp.py")
PYDANTIC = ("tests/frameworks/test_pydantic_ai.py",)
MCP = tuple(f"tests/mcp/test_{name}.py" for name in ("proxy", "server", "passing", "ends"))
#: what is installed → the tests that run with it; the oldest are those of `OLDEST_VERSIONS` and pyproject.toml
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


def check_blocks(names: list[str]) -> int:
    """Run the blocks; return 1 if one does not work."""
    found = blocks()
    preamble = found.pop("preamble")
    wrong = 0
    for name in names or found:
        good, said = check(name, f"{preamble}\n{found[name]}")
        wrong += not good
        print(f"{name:24}{'works' if good else 'FAILS'}  {said}", flush=True)
    return int(wrong > 0)


def check_versions(names: list[str]) -> int:
    """Run the tests with the newest and the oldest version of each framework; return 1 if one is broken."""
    broken = 0
    checked: dict[tuple[str, str], str] = {}
    for requirement, tests in CHECKS.items():
        if names and requirement not in names:
            continue
        package = requirement.partition("=")[0].partition("<")[0].partition("[")[0]
        python = _install(requirement)
        version = _run(python, "-c", f"import importlib.metadata as m; print(m.version({package!r}))").stdout.strip()
        if (package, version) in checked:  # today the newest below 2 is the oldest that we say works
            print(f"{requirement:32}{version:12}as {checked[package, version]}", flush=True)
            continue
        checked[package, version] = requirement
        # The tests speak mcp 2.x: with 1.x they stay where they are, and only `spill mcp` runs in the other environment.
        old = package == "mcp" and version.startswith("1.")
        runner, options = (sys.executable, ("-k", NOT_WITH_MCP_1)) if old else (python, ())
        ran = _run(runner, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, *tests, MCP_TEST_PYTHON=python)
        broken += ran.returncode != 0
        last = (ran.stdout.strip().splitlines() or [""])[-1]
        print(f"{requirement:32}{version:12}{'works' if not ran.returncode else 'BROKEN'}  {last}", flush=True)
        if ran.returncode:
            print("\n".join(f"    {line}" for line in ran.stdout.strip().splitlines()[-12:]))
    return int(broken > 0)


def _install(requirement: str) -> str:
    """Return the Python of an environment with what is requirement, the newest that fits."""
    folder = os.path.join(ROOT, ".venv", "latest", "".join(char if char.isalnum() else "-" for char in requirement))
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade"]
    subprocess.run([*pip, "--editable", ROOT, requirement, *DEV], check=True)
    return python


def _run(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **variables}
    return subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    words = sys.argv[1:]
    sys.exit(check_versions(words[1:]) if words[:1] == ["--latest"] else check_blocks(words))
