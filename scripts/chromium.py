"""Find Chromium for the tests of the page; install Debian's package where there is none and we may."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
#: Named here, one of your own is used.
VARIABLE = "SPILL_CHROMIUM"
#: Why there is none, for the tests that are skipped then.
REASON = Path(sys.prefix) / "no-chromium"
SECONDS = 600
#: Without these, Chromium asks for hosts that nobody wanted, and needs rights that root in a container does not have.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)


def find() -> str | None:
    """Return the path of a Chromium."""
    named = os.environ.get(VARIABLE)
    return named or next(filter(None, map(shutil.which, NAMES)), None)


def why_not() -> str:
    """Return why there is none."""
    said = REASON.read_text(encoding="utf-8").strip() if REASON.exists() else "it was not looked for; run `make lint`"
    return f"no Chromium: {said}. Install one, or name it in {VARIABLE}"


def install() -> str:
    """Install Debian's package; return why it could not be."""
    if shutil.which("apt-get") is None:
        return "this system has no apt-get"
    if os.geteuid() != 0:
        return "only root can install packages (apt-get install chromium)"
    command = ["apt-get", "install", "--yes", "--quiet", "--no-install-recommends", "chromium"]
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for step in (command, ["apt-get", "update", "--quiet"], command):  # lists may be old, or not there at all
        try:
            done = subprocess.run(step, env=env, check=False, capture_output=True, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return f"`{' '.join(step[:2])}` took more than {SECONDS} s"
        if done.returncode == 0 and find():
            return ""
    return f"apt-get failed: {(done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]}"


def main() -> int:
    """Find or install it, and say why where that cannot be. The tests that need it are skipped then, so this never fails."""
    REASON.unlink(missing_ok=True)
    if find() is None and (why := install()):
        REASON.write_text(why + "\n", encoding="utf-8")
        print(why_not())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
