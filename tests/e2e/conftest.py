"""The installed `spill` command, and families of processes whose end can be waited for."""

import os
import select
import shutil
import sys
import time
from pathlib import Path

import pytest

from spillover import DirStore

PATIENCE = 30  # only guards against hanging


@pytest.fixture(scope="session")
def spill():
    """The command as it was installed beside the interpreter that runs these tests."""
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
    """Processes that hold a FIFO open, by `exec 9>alive; echo up >&9` in the first of them."""

    def __init__(self, path):
        os.mkfifo(path)
        self.fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self._said = b""

    def up(self):
        """Wait until the first of them says so."""
        end = time.monotonic() + PATIENCE
        while not self._said.endswith(b"up\n"):
            assert time.monotonic() < end, "it never came up"
            self._read()

    def all_gone(self):
        """Whether they were there, and the last of them ends."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self._read() == b"":
                return self._said.startswith(b"up\n")
        return False

    def _read(self):
        select.select([self.fd], [], [], 0.05)
        try:
            part = os.read(self.fd, 100)
        except BlockingIOError:  # somebody holds it, and says nothing
            return None
        if not part:
            time.sleep(0.01)  # nobody holds it, or nobody does yet
        self._said += part
        return part


@pytest.fixture
def family(tmp_path):
    family = Family(tmp_path / "alive")
    yield family
    os.close(family.fd)
