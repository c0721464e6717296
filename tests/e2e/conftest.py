"""Fixtures: the installed `spill` command, and process families whose end can be awaited."""

import os
import select
import shutil
import sys
import time
from pathlib import Path

import pytest

from spillover import DirStore

PATIENCE = 30  # seconds; only guards against hanging


@pytest.fixture(scope="session")
def spill():
    """Return the command installed next to the interpreter that runs these tests."""
    beside = Path(sys.executable).with_name("spill")
    found = str(beside) if beside.exists() else shutil.which("spill")
    assert found, "install the package first"
    return found


@pytest.fixture
def store(tmp_path, monkeypatch):
    store = DirStore(tmp_path / "a store")
    monkeypatch.setenv("SPILLOVER_STORE", str(store.root))
    monkeypatch.chdir(tmp_path)
    return store


class Family:
    """Processes that hold a FIFO open; the first of them opens it with `exec 9>alive; echo up >&9`."""

    def __init__(self, path):
        os.mkfifo(path)
        self.fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self._said = b""

    def up(self):
        """Wait until the first process reports that it is up."""
        end = time.monotonic() + PATIENCE
        while not self._said.endswith(b"up\n"):
            assert time.monotonic() < end, "the process never came up"
            self._read()

    def all_gone(self):
        """Wait for the last process to end; return whether that happened and whether they had been up."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self._read() == b"":
                return self._said.startswith(b"up\n")
        return False

    def _read(self):
        select.select([self.fd], [], [], 0.05)
        try:
            part = os.read(self.fd, 100)
        except BlockingIOError:  # a process holds it and has written nothing
            return None
        if not part:
            time.sleep(0.01)  # no process holds it, or none does yet
        self._said += part
        return part


@pytest.fixture
def family(tmp_path):
    family = Family(tmp_path / "alive")
    yield family
    os.close(family.fd)
