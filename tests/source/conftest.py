"""Real children for the tests here: run one and look at everything it printed; know when the last of a family is gone."""

import os
import sys
import time

import pytest

from spillover.source import process
from spillover.source.intake import Intake
from spillover.source.process import Command
from spillover.store.memory import MemoryStore

PATIENCE = 20  # only guards against hanging


def _run(*argv, store=None, window=1_000, cap=1 << 30, cancel=None, tick=None, **options):
    intake = Intake(window, (store or MemoryStore()).writer, cap=cap)
    ended = process.run(Command(argv=argv, **options), intake, cancel=cancel, tick=tick)
    intake.finish()
    printed = intake.blob().read(0, intake.bytes)
    intake.abandon()
    return ended, printed, intake


@pytest.fixture
def run():
    """How a command ended, all it printed, and the intake that knows the rest."""
    return _run


@pytest.fixture
def sh():
    return lambda script, *arguments, **options: _run("sh", "-c", script, "sh", *arguments, **options)


@pytest.fixture
def python():
    return lambda code, *arguments, **options: _run(sys.executable, "-c", code, *arguments, **options)


class Family:
    """Processes that hold a FIFO open, by `exec 9>"$1"; echo up >&9` in the first of them."""

    def __init__(self, path):
        self.path = path
        os.mkfifo(path)
        self.fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def all_gone(self):
        """Whether they were there, and the last of them ends."""
        said, until = b"", time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                part = os.read(self.fd, 100)
            except BlockingIOError:  # somebody still holds it
                time.sleep(0.01)
                continue
            said += part
            if not part:
                return said.startswith(b"up")
        return False


@pytest.fixture
def family(tmp_path):
    family = Family(tmp_path / "alive")
    yield family
    os.close(family.fd)
