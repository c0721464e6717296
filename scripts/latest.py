"""Install the newest of every framework there is an adapter for, each in an environment of its own, and say what broke."""

from __future__ import annotations

import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
#: package → the tests that run with it
ADAPTERS = {
    "langchain": ("tests/adapters/test_langchain.py",),
    "openai-agents": ("tests/adapters/test_openai_agents.py", "tests/adapters/test_openai_agents_mcp.py"),
    "pydantic-ai-slim[mcp]": ("tests/adapters/test_pydantic_ai.py",),
    "mcp": ("tests/adapters/mcp/test_http.py", "tests/adapters/mcp/test_proxy.py"),
}
DEV = ("hypothesis", "pytest", "pytest-asyncio", "jsonschema", "tree-sitter", "tree-sitter-bash")


def main() -> int:
    """Check all of them, or those that are named; return 1 where one is broken."""
    broken = 0
    for package, tests in ADAPTERS.items():
        if sys.argv[1:] and package.partition("[")[0] not in sys.argv[1:]:
            continue
        folder = os.path.join(ROOT, ".venv", "latest", package.partition("[")[0])
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = os.path.join(folder, "bin", "python")
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade"]
        subprocess.run([*pip, "--editable", ROOT, package, *DEV], check=True)
        version = f"import importlib.metadata as m; print(m.version({package.partition('[')[0]!r}))"
        said = subprocess.run([python, "-c", version], capture_output=True, text=True, check=True).stdout.strip()
        ran = subprocess.run(
            [python, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        broken += ran.returncode != 0
        last = (ran.stdout.strip().splitlines() or [""])[-1]
        print(f"{package:24}{said:12}{'works' if not ran.returncode else 'BROKEN'}  {last}", flush=True)
        if ran.returncode:
            print("\n".join(f"    {line}" for line in ran.stdout.strip().splitlines()[-12:]))
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
