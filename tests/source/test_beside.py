"""The small processes beside a command: what they hold, and what is left of them."""

import os
import sys

import pytest

from spillover.source import terminal
from spillover.source.terminal import DeadManSwitch

on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux shows what a process holds")


def held(pid):
    """What a process holds open, by descriptor, once it is a shell."""
    while os.path.basename(os.readlink(f"/proc/{pid}/exe")) == os.path.basename(os.path.realpath(sys.executable)):
        pass  # it has not become one yet
    return {int(fd): os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}


@on_linux
def test_whoever_watches_holds_no_pipe_that_a_reader_waits_for():
    """Else whoever reads from a killed spill would wait until its command has been ended."""
    ours = os.pipe()
    os.set_inheritable(ours[1], True)  # as a host leaves it to us
    with DeadManSwitch(2.0) as switch:
        holds = held(switch._shell.pid)
        pipe = os.readlink(f"/proc/self/fd/{switch._pipe}")
        assert {fd: name for fd, name in holds.items() if fd < 10} == {0: pipe, 1: "/dev/null", 2: "/dev/null"}
        assert os.readlink(f"/proc/self/fd/{ours[1]}") not in holds.values()
        assert os.getsid(switch._shell.pid) != os.getsid(0)
    for fd in ours:
        os.close(fd)


def test_nothing_is_left_of_it():
    before = len(os.listdir("/dev/fd"))
    with DeadManSwitch(2.0) as switch:
        switch.watch(os.getpid())  # would be the end of us
    assert switch._shell.returncode is not None
    assert len(os.listdir("/dev/fd")) == before


@pytest.mark.parametrize("missing", ["pipe", "shell"])
def test_where_it_cannot_be_had_nothing_is_said_and_nothing_is_left(monkeypatch, missing):
    def no_more():
        raise OSError(24, "Too many open files")

    before = len(os.listdir("/dev/fd"))
    with monkeypatch.context() as scarce:
        if missing == "pipe":
            scarce.setattr(os, "pipe", no_more)
        else:
            scarce.setattr(terminal, "_SHELL", "/no such shell")
        with DeadManSwitch(2.0) as switch:
            switch.watch(os.getpid())
    assert len(os.listdir("/dev/fd")) == before
