"""`spill run` on a real terminal, under something that does what a shell with job control does."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from spillover.source import terminal
from spillover.source.terminal import DeadManSwitch, Signals, Terminal

SPILL = [sys.executable, "-c", "import sys; from spillover.cli import main; sys.exit(main())"]
PATIENCE = 20  # only guards against hanging

#: Makes the terminal on its stdin the one it is controlled by.
ATTACH = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
#: One job, in the foreground or at first in the background. Tells when it stops or ends, and who has the terminal then;
#: a line typed while it is stopped is `fg`.
SHELL = (
    ATTACH
    + """
import signal, subprocess
tell, background, *argv = sys.argv[1:]
def handle(how):
    for name in ("SIGTTOU", "SIGTTIN", "SIGTSTP"):
        signal.signal(signal.Signals[name], how)
handle(signal.SIG_IGN)
job = subprocess.Popen(argv, process_group=0, preexec_fn=lambda: handle(signal.SIG_DFL))
if background == "no":
    os.tcsetpgrp(0, job.pid)
while True:
    _, status = os.waitpid(job.pid, os.WUNTRACED)
    owner = {job.pid: "job", os.getpgrp(): "shell"}.get(os.tcgetpgrp(0), "other")
    os.tcsetpgrp(0, os.getpgrp())
    if not os.WIFSTOPPED(status):
        os.write(int(tell), f"ended {os.waitstatus_to_exitcode(status)} {owner}\\n".encode())
        break
    os.write(int(tell), f"stopped {signal.Signals(os.WSTOPSIG(status)).name} {owner}\\n".encode())
    sys.stdin.readline()
    os.tcsetpgrp(0, job.pid)
    os.killpg(job.pid, signal.SIGCONT)
"""
)


class Screen:
    """A terminal with something on it."""

    def __init__(self, code, *argv):
        self.told, tell = os.pipe()
        self.keys, line = pty.openpty()
        command = [sys.executable, "-c", code, *(word.format(tell=tell) for word in argv)]
        self.leader = subprocess.Popen(
            command, stdin=line, stdout=line, stderr=line, start_new_session=True, pass_fds=[tell]
        )
        os.close(tell)
        os.close(line)
        self._shown = b""

    def type(self, keys):
        os.write(self.keys, keys)

    def news(self):
        """The next thing the shell tells, in words."""
        line = b""
        while not line.endswith(b"\n"):
            self._watch()
            if select.select([self.told], [], [], 0)[0]:
                line += os.read(self.told, 1)
        return line.decode().split()

    def shows(self, text):
        """Wait until this has appeared."""
        until(lambda: self._watch() or text in self._shown.replace(b"\r", b""))

    def owned_by(self, group):
        """Wait until this group has the terminal."""
        until(lambda: os.tcgetpgrp(self.keys) == group)

    def close(self):
        """Everything on it hears that it is gone, and ends."""
        os.close(self.keys)
        os.close(self.told)
        self.leader.wait(PATIENCE)

    def _watch(self):
        """Take what appears; nobody may have to wait for us to look."""
        ready, _, _ = select.select([self.told, self.keys], [], [], PATIENCE)
        assert ready, "nothing happened"
        if self.keys in ready:
            try:
                self._shown += os.read(self.keys, 4096)
            except OSError:  # everybody has left it
                time.sleep(0.01)


def until(holds):
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.005)


@pytest.fixture
def screen(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = []

    def start(*argv, background="no", code=SHELL):
        made.append(Screen(code, *(["{tell}", background] if code is SHELL else []), *argv))
        return made[-1]

    yield start
    for one in made:
        one.close()


@pytest.fixture
def started(tmp_path):
    """Wait until the command that begins with STARTED runs: its process id."""

    def wait():
        path = tmp_path / "pid"
        until(lambda: path.exists() and path.read_text().endswith("\n"))
        return int(path.read_text())

    return wait


STARTED = "echo $$ > pid; "
CAT = [*SPILL, "run", "--", "sh", "-c", STARTED + "exec cat"]


def test_a_command_that_reads_the_terminal_gets_it_and_gives_it_back(screen, started):
    terminal = screen(*CAT)
    terminal.owned_by(started())
    terminal.type(b"typed\n\x04")
    assert terminal.news() == ["ended", "0", "job"]
    terminal.shows(b"typed\ntyped\n")  # what was typed, and what cat made of it


def test_ctrl_c_ends_the_command_that_has_the_terminal(screen, started):
    terminal = screen(*CAT)
    terminal.owned_by(started())
    terminal.type(b"\x03")
    assert terminal.news() == ["ended", "130", "job"]


def test_ctrl_c_ends_a_command_that_never_asked_for_the_terminal(screen, started):
    terminal = screen(*SPILL, "run", "--", "sh", "-c", STARTED + "echo said; exec sleep 60")
    started()
    terminal.type(b"\x03")
    assert terminal.news() == ["ended", "130", "job"]
    terminal.shows(b"said\n")


def test_ctrl_backslash_is_the_commands_own_too(screen, started):
    terminal = screen(*SPILL, "run", "--", "sh", "-c", "ulimit -c 0; " + STARTED + "exec cat")
    terminal.owned_by(started())
    terminal.type(b"\x1c")
    assert terminal.news() == ["ended", "131", "job"]


def test_ctrl_z_stops_both_and_fg_goes_on_where_it_was(screen, started):
    terminal = screen(*CAT)
    command = started()
    terminal.owned_by(command)
    for _ in range(2):
        terminal.type(b"\x1a")
        assert terminal.news() == ["stopped", "SIGTSTP", "job"]
        terminal.type(b"fg\n")
        terminal.owned_by(command)
    terminal.type(b"typed\n\x04")
    assert terminal.news() == ["ended", "0", "job"]
    terminal.shows(b"typed\ntyped\n")


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="whether a process is stopped is read from /proc")
def test_ctrl_z_stops_a_command_that_never_asked_for_the_terminal(screen, started, tmp_path):
    os.mkfifo(tmp_path / "go")
    terminal = screen(*SPILL, "run", "--", "sh", "-c", STARTED + "read line < go; exit 7")
    command = started()
    terminal.type(b"\x1a")
    assert terminal.news() == ["stopped", "SIGTSTP", "job"]
    until(lambda: Path(f"/proc/{command}/stat").read_text().split()[2] == "T")
    terminal.type(b"fg\n")
    (tmp_path / "go").write_text("go on\n")
    assert terminal.news() == ["ended", "7", "job"]


def test_a_password_is_asked_for_on_the_terminal_wherever_stdin_comes_from(screen, started):
    ask = STARTED + "read answer < /dev/tty; echo got $answer"
    terminal = screen("sh", "-c", '"$@" < /dev/null', "sh", *SPILL, "run", "--", "sh", "-c", ask)
    terminal.owned_by(started())
    terminal.type(b"secret\n")
    assert terminal.news() == ["ended", "0", "job"]
    terminal.shows(b"got secret\n")


def test_a_pager_behind_us_keeps_the_terminal(screen, started, tmp_path):
    pager = "stty -echo < /dev/tty; : > set; cat; read key < /dev/tty; echo got $key"
    line = STARTED + "until [ -e set ]; do sleep 0.01; done; echo said"
    terminal = screen("sh", "-c", f"\"$@\" | sh -c '{pager}'", "sh", *SPILL, "run", "--", "sh", "-c", line)
    until((tmp_path / "set").exists)
    terminal.type(b"q\n")
    assert terminal.news() == ["ended", "0", "job"]
    terminal.shows(b"said\ngot q\n")


def test_in_the_background_a_command_that_wants_the_terminal_waits_for_fg(screen, started):
    terminal = screen(*CAT, background="yes")
    assert terminal.news() == ["stopped", "SIGTTIN", "shell"]
    terminal.type(b"fg\n")
    terminal.owned_by(started())
    terminal.type(b"typed\n\x04")
    assert terminal.news() == ["ended", "0", "job"]


def test_where_no_shell_could_say_fg_ctrl_z_stops_nothing(screen, started):
    terminal = screen(*CAT, code=ATTACH + "os.execv(sys.argv[1], sys.argv[1:])")
    terminal.owned_by(started())
    terminal.type(b"\x1a")
    terminal.type(b"typed\n\x04")
    terminal.shows(b"typed\ntyped\n")


def test_a_signal_that_comes_while_the_command_is_started_reaches_it():
    with Signals(interactive=False) as signals:
        if not signals.handled:
            pytest.skip("not in the main thread")
        os.kill(os.getpid(), signal.SIGHUP)
        assert signals.received == []
        child = subprocess.Popen(["sleep", "60"], process_group=0)
        signals.forward_to(child.pid)
        assert signals.received == [signal.SIGHUP]
        assert child.wait(PATIENCE) == -signal.SIGHUP


def test_without_a_terminal_there_is_nothing_to_lend():
    code = "from spillover.source.terminal import Terminal; print(Terminal(1, lend=True).available)"
    ran = subprocess.run(
        [sys.executable, "-c", code], start_new_session=True, capture_output=True, text=True, check=True
    )
    assert ran.stdout == "False\n"


def test_a_terminal_that_is_not_to_be_lent_is_not_even_opened():
    with Terminal(os.getpid(), lend=False) as terminal:
        assert not terminal.available
        terminal.serve()


# The small processes beside a command: what they hold, and what is left of them.

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
