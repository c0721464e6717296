"""Real children: how they end, what they are given, what they print."""

import hashlib
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from spillover.errors import StoreError, UsageError
from spillover.source import process, terminal
from spillover.source.intake import Intake
from spillover.source.process import Command, Ended
from spillover.store.directory import DirStore
from spillover.store.memory import MemoryStore

# How it ends.


@pytest.mark.parametrize("code", [0, 1, 2, 7, 126, 127, 128, 130, 255])
def test_the_exit_code_is_the_commands_own(sh, code):
    assert sh(f"exit {code}")[0] == Ended(code)


@pytest.mark.parametrize("name", ["TERM", "KILL", "SEGV", "INT", "HUP", "QUIT", "ABRT", "PIPE", "USR1"])
def test_death_by_a_signal_is_128_and_its_number(sh, name):
    ended, printed, _ = sh(f"ulimit -c 0; echo before; kill -{name} $$; echo after")
    assert ended == Ended(128 + signal.Signals[f"SIG{name}"])
    assert printed == b"before\n"


def not_runnable(folder):
    (folder / "not executable").write_text("#!/bin/sh\n")
    (folder / "not a program").write_text("no first line that says what runs it\n")
    (folder / "not a program").chmod(0o700)
    (folder / "a folder").mkdir()


@pytest.mark.parametrize(
    ("name", "code", "why"),
    [
        ("not here", 127, "command not found"),
        ("no folder/not here", 127, "command not found"),
        ("not executable", 126, "Permission denied"),
        ("a folder", 126, "Permission denied"),
        ("not a program", 126, "Exec format error"),
    ],
)
def test_what_cannot_be_started_is_126_or_127_as_in_a_shell(run, tmp_path, name, code, why):
    not_runnable(tmp_path)
    path = str(tmp_path / name)
    ended, printed, intake = run(path)
    assert ended == Ended(code)
    assert printed.decode() == f"{path}: {why}\n"
    assert intake.segments == [("stderr", len(printed))]


def test_a_name_that_is_nowhere_in_the_path_is_127(run):
    assert run("no-such-command-anywhere")[:2] == (Ended(127), b"no-such-command-anywhere: command not found\n")


def test_a_name_in_the_path_that_cannot_be_run_is_126(run, tmp_path):
    (tmp_path / "plain").write_text("#!/bin/sh\n")
    found = run("plain", env={"PATH": str(tmp_path)})
    assert found[:2] == (Ended(126), b"plain: Permission denied\n")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may enter any folder")
def test_a_folder_of_the_path_that_may_not_be_entered_is_passed_over(run, tmp_path):
    (tmp_path / "locked").mkdir(mode=0)
    path = f"{tmp_path}/locked:{os.environ['PATH']}"
    assert run("no-such-command-anywhere", env={"PATH": path})[0] == Ended(127)


def test_an_argument_list_that_is_too_long_is_126(run):
    ended, printed, _ = run(sys.executable, *["x" * 100_000] * 100)
    assert (ended, printed.decode()) == (Ended(126), f"{sys.executable}: Argument list too long\n")


# Wrong use, said before anything runs.


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"argv": []}, "a list of words"),
        ({"argv": "ls -l"}, 'use \\["sh", "-c", line\\]'),
        ({"argv": b"ls"}, "a list of words"),
        ({"argv": ["ls", 7]}, "a list of words: .*not int"),
        ({"argv": ["true"], "timeout": 0}, "leaves no time"),
        ({"argv": ["true"], "timeout": -1}, "leaves no time"),
        ({"argv": ["true"], "timeout": float("nan")}, "leaves no time"),
        ({"argv": ["true"], "cwd": "/no such folder"}, "is not a directory"),
    ],
)
def test_a_wrong_command_is_said_when_it_is_made(options, why):
    with pytest.raises(UsageError, match=why):
        Command(**options)


@pytest.mark.parametrize("options", [{"argv": ["true", "a\0b"]}, {"argv": ["true"], "env": {"A": 7}}])
def test_what_no_system_can_run_is_wrong_use(options):
    with pytest.raises(UsageError, match="'true' cannot be run"):
        process.run(Command(**options), Intake(1_000, MemoryStore().writer))


def test_words_may_be_paths_and_bytes(run, tmp_path):
    file = tmp_path / "a file"
    file.write_bytes(b"hello")
    assert run("cat", file, os.fsencode(file))[1] == b"hellohello"


# What it gets.


@pytest.mark.parametrize("given", [None, b"", b"x", b"12345\n" * 500_000], ids=["nothing", "empty", "x", "3 MB"])
def test_it_reads_what_it_is_given_and_then_the_end(python, given):
    ended, printed, _ = python("import sys; sys.stdout.write(str(len(sys.stdin.buffer.read())))", input=given)
    assert (ended, printed) == (Ended(0), str(len(given or b"")).encode())


def test_a_child_that_does_not_want_to_read_is_not_forced(sh):
    given = b"x" * 5_000_000
    assert sh("exit 3", input=given)[0] == Ended(3)
    assert sh("exec <&-; sleep 0.2; echo done", input=given)[:2] == (Ended(0), b"done\n")
    assert sh("head -c 3", input=given)[1] == b"xxx"


def test_it_reads_and_prints_at_the_same_time(run):
    given = os.urandom(3_000_000)
    assert hashlib.sha256(run("cat", input=given)[1]).digest() == hashlib.sha256(given).digest()


def test_folder_and_environment_are_its_own(run, tmp_path):
    folder = tmp_path / "a folder"
    folder.mkdir()
    code = "import os; print(os.getcwd(), os.environ['A'], os.environ.get('HOME'))"
    ended, printed, _ = run(sys.executable, "-c", code, cwd=folder, env={"A": "ä b"})
    assert (ended, printed.decode()) == (Ended(0), f"{folder.resolve()} ä b None\n")


def test_a_closed_pipe_kills_it_as_it_would_in_a_shell(sh):
    assert sh("yes | head -1")[1] == b"y\n"
    assert sh("kill -PIPE $$; echo Python ignores this signal, and its children would too")[1] == b""


def test_it_has_a_group_of_its_own_and_no_descriptor_of_ours(python):
    code = "import os; print(os.getpgrp() == os.getpid(), sorted(int(fd) for fd in os.listdir('/dev/fd'))[:4])"
    printed = python(code)[1].decode()
    assert printed.startswith("True [0, 1, 2, 3]"), "3 is the listing itself"


# What it prints.


#: Prints its arguments to stdout and stderr in turn, each after the one before has been taken out of the pipe.
IN_TURN = """
import fcntl, os, sys, termios, time
for number, word in enumerate(sys.argv[1:]):
    fd = 1 + number % 2
    os.write(fd, word.encode() + b"\\n")
    while any(fcntl.ioctl(fd, termios.FIONREAD, bytes(4))):
        time.sleep(0.001)
"""


def test_the_two_streams_are_told_apart_and_stay_in_order(python):
    _, printed, intake = python(IN_TURN, "one", "two", "three", "four")
    assert printed == b"one\ntwo\nthree\nfour\n"
    assert intake.segments == [("stdout", 4), ("stderr", 4), ("stdout", 6), ("stderr", 5)]


def test_two_hundred_switches_between_streams_lose_nothing(python, tmp_path):
    _, printed, intake = python(IN_TURN, *["o" * 100, "e" * 100] * 100, store=DirStore(tmp_path / "store"))
    assert intake.segments == [("stdout", 101), ("stderr", 101)] * 100
    assert printed == (b"o" * 100 + b"\n" + b"e" * 100 + b"\n") * 100


def test_streams_that_come_at_once_lose_nothing(python, tmp_path):
    code = "import os\nfor _ in range(100): os.write(1, b'o' * 100 + b'\\n'); os.write(2, b'e' * 100 + b'\\n')"
    _, printed, intake = python(code, store=DirStore(tmp_path / "store"))
    assert sorted(printed.split()) == [b"e" * 100] * 100 + [b"o" * 100] * 100
    for stream, letter in (("stdout", b"o"), ("stderr", b"e")):
        assert sum(count for name, count in intake.segments if name == stream) == 10_100
        at = 0
        for name, count in intake.segments:
            if name == stream:
                assert set(printed[at : at + count].split()) == {letter * 100}
            at += count


@pytest.mark.parametrize("data", [b"", b"\0", bytes(range(256)) * 40, b"\xff\xfe\n\r\n" * 900, b"no newline"])
def test_bytes_are_bytes(run, data, tmp_path):
    path = tmp_path / "data"
    path.write_bytes(data)
    assert run("cat", path, store=DirStore(tmp_path / "store"))[1] == data


def test_fifty_megabytes_arrive_as_they_were(tmp_path):
    line = b"2024-01-01 12:00:00 INFO a line of a log, as they are\n"
    code = "import sys\nfor _ in range(100): sys.stdout.buffer.write(sys.argv[1].encode() * 10_000)"
    count = 1_000_000
    intake = Intake(50_000, DirStore(tmp_path / "store").writer)
    process.run(Command(argv=[sys.executable, "-c", code, line.decode()]), intake)
    intake.finish()
    whole = hashlib.sha256()
    for _ in range(100):
        whole.update(line * 10_000)
    assert (intake.meter.bytes, intake.meter.lines) == (len(line) * count, count)
    assert intake.meter.sha256 == whole.hexdigest()
    stored, at = hashlib.sha256(), 0
    blob = intake.blob()
    while part := blob.read(at, at + (1 << 20)):
        stored.update(part)
        at += len(part)
    assert stored.hexdigest() == whole.hexdigest()
    intake.abandon()


@pytest.mark.parametrize(("where", "times"), [("folder", 40), ("memory", 10)])
def test_two_megabytes_written_right_before_the_end_are_all_there(python, tmp_path, where, times):
    code = "import os; os.write(1, b'x' * 1_000_000); os.write(2, b'y' * 1_000_000); os._exit(0)"
    for number in range(times):
        store = DirStore(tmp_path / str(number)) if where == "folder" else MemoryStore()
        ended, printed, _ = python(code, store=store)
        assert (ended, len(printed), printed.count(b"x")) == (Ended(0), 2_000_000, 1_000_000)


def test_fast_exits_lose_nothing(run):
    for number in range(200):
        assert run("echo", str(number))[1] == b"%d\n" % number


def test_a_child_that_closes_its_streams_early_is_waited_for(sh):
    assert sh("echo said; exec >&- 2>&-; sleep 0.3; exit 7")[:2] == (Ended(7), b"said\n")


def test_past_the_cap_the_command_goes_on_and_so_does_counting(python, tmp_path):
    code = "import sys\nfor _ in range(50): sys.stdout.write('0123456789\\n' * 10_000)\nsys.exit(5)"
    ended, _, intake = python(code, store=DirStore(tmp_path / "store"), cap=1_234_567)
    assert ended == Ended(5)
    assert (intake.failure, intake.stored_bytes) == ("the cap on one output was reached", 1_234_567)
    assert (intake.meter.bytes, intake.meter.newlines) == (5_500_000, 500_000)


def test_a_store_that_takes_nothing_changes_nothing_for_the_child(sh):
    class Nowhere:
        def writer(self):
            raise StoreError("there is none")

    ended, _, intake = sh("seq 100000; exit 5", store=Nowhere())
    assert ended == Ended(5)
    assert (intake.failure, intake.meter.newlines) == ("there is none", 100_000)


# Whom a command leaves behind, and how all of them end.

#: It ended well, and something that it started lives on with its stdout and stderr.
LEFT = Ended(0, still_open=("stdout", "stderr"))


def test_a_grandchild_that_keeps_the_pipe_open_does_not_hang_us(sh):
    assert sh("sleep 30 & echo said")[:2] == (LEFT, b"said\n")


def test_a_grandchild_that_talks_on_and_on_does_not_hang_us(sh):
    ended, printed, _ = sh("(for n in $(seq 500); do echo and; sleep 0.01; done) & echo said", window=1 << 20)
    assert ended == LEFT
    assert printed.startswith(b"said\n") or b"\nsaid\n" in printed


def test_what_a_grandchild_prints_soon_after_is_still_taken(sh, monkeypatch):
    monkeypatch.setattr(process, "LINGER_SECONDS", 10)  # so that "soon" does not depend on how busy this machine is
    assert sh("(sleep 0.05; echo late) & echo said")[:2] == (Ended(0), b"said\nlate\n")


@pytest.mark.parametrize("stream", [1, 2])
def test_what_comes_after_a_silence_is_taken_within_the_second_that_is_promised(sh, stream, monkeypatch):
    """A tenth of a second of silence was the end: a shell whose stdout is a process of its own lost everything."""
    assert process.LINGER_SECONDS == 1, "as documented"
    monkeypatch.setattr(process, "LINGER_SECONDS", 30)  # on a busy machine, 0.3 seconds may take longer than one
    assert sh(f"(sleep 0.3; echo late >&{stream}) & echo said")[:2] == (Ended(0), b"said\nlate\n")


def test_a_filter_on_the_shells_own_stdout_is_waited_for(run, monkeypatch):
    monkeypatch.setattr(process, "LINGER_SECONDS", 30)  # as above
    assert run("bash", "-c", "exec > >(sleep .15; cat); echo FAILED; exit 3")[:2] == (Ended(3), b"FAILED\n")


def test_the_second_after_the_end_is_no_part_of_the_timeout(sh, monkeypatch):
    monkeypatch.setattr(process, "LINGER_SECONDS", 3.1)
    assert sh("sleep 30 & exit 3", timeout=3)[0] == replace(LEFT, exit_code=3)


@pytest.mark.parametrize(
    ("script", "still_open"),
    [
        ("sleep 30 2>/dev/null & true", ("stdout",)),
        ("sleep 30 >/dev/null & true", ("stderr",)),
        ("sleep 30 >/dev/null 2>&1 & true", ()),
    ],
)
def test_which_streams_are_still_open_is_said(sh, script, still_open):
    assert sh(script)[0] == Ended(0, still_open=still_open)


def test_a_stream_that_is_closed_in_time_is_not_open(sh, monkeypatch):
    monkeypatch.setattr(process, "LINGER_SECONDS", 30)
    assert sh("sleep 0.2 & true")[0] == Ended(0)


@pytest.mark.parametrize("streams", ["", "2>/dev/null", ">&2"])
def test_whoever_still_writes_when_we_go_does_not_die_of_it(sh, tmp_path, streams, monkeypatch):
    """The pipe that nobody read any more killed a daemon that had inherited it, at its next line."""
    monkeypatch.setattr(process, "LINGER_SECONDS", 0.1)
    script = f"""(i=0; while [ $i -lt 30 ]; do i=$((i+1)); seq 1000 || exit; sleep 0.02; done; echo > "$1"){streams} & true"""
    assert sh(script, tmp_path / "lived", window=1 << 24)[0].still_open
    until = time.monotonic() + 30  # only guards against hanging
    while not (tmp_path / "lived").exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert (tmp_path / "lived").exists()


def test_nobody_is_left_to_wait_for_when_a_pipe_is_handed_on(sh, monkeypatch):
    monkeypatch.setattr(process, "LINGER_SECONDS", 0.1)
    before = _children()  # of other tests, such as a server that several of them share
    assert sh("sleep 1 & true")[0].still_open
    assert _children() <= before


def _children():
    """Return the processes that this one has to wait for, those that have ended included."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            number, _, rest = stat.read_text().partition(" (")
            found |= {int(number)} if int(rest.rpartition(")")[2].split()[1]) == os.getpid() else set()
    return found


def test_what_the_child_left_in_the_pipe_is_read_however_late_we_come_to_it(sh, tmp_path, monkeypatch):
    monkeypatch.setattr(process, "LINGER_SECONDS", 0)
    go, ready = tmp_path / "go", tmp_path / "ready"

    def tick():
        if not go.exists():
            go.touch()
            until = time.monotonic() + 20
            while not ready.exists() and time.monotonic() < until:
                time.sleep(0.01)
            time.sleep(0.2)  # until the child has ended

    script = 'sleep 5 & while ! [ -e "$1" ]; do sleep 0.01; done; head -c 60000 /dev/zero; : > "$2"'
    ended, printed, _ = sh(script, go, ready, tick=tick)
    assert (ended.exit_code, len(printed), ended.still_open) == (0, 60_000, ("stdout", "stderr"))


def test_where_there_is_no_shell_to_hand_a_pipe_to_nothing_else_changes(sh, monkeypatch):
    monkeypatch.setattr(process, "LINGER_SECONDS", 0.1)
    monkeypatch.setattr(terminal, "_SHELL", "/no such shell")
    assert sh("sleep 5 & echo said; exit 3", die_with_parent=True)[:2] == (replace(LEFT, exit_code=3), b"said\n")


# When its time is over.


def test_a_timeout_ends_the_group_and_keeps_what_was_printed(sh, family):
    script = 'exec 9>"$1"; echo up >&9; sleep 60 & echo said; sleep 60'
    ended, printed, _ = sh(script, family.path, timeout=1)
    assert (ended, printed) == (Ended(124, timed_out=True), b"said\n")
    assert family.all_gone()


def test_whoever_ignores_being_asked_is_ended_with_all_its_children(sh, family):
    script = """exec 9>"$1"; trap "" TERM; echo up >&9; (sleep 60; sleep 60) & echo said; sleep 60; sleep 60"""
    ended, printed, _ = sh(script, family.path, timeout=1, grace=0.3)
    assert (ended, printed) == (Ended(124, timed_out=True), b"said\n")
    assert family.all_gone()


def test_a_grandchild_that_ignores_being_asked_is_ended_though_the_child_went(sh, family):
    script = """exec 9>"$1"; echo up >&9; (trap "" TERM; sleep 60; sleep 60) & echo said; wait"""
    ended, printed, _ = sh(script, family.path, timeout=1, grace=0.3)
    assert (ended, printed) == (Ended(124, timed_out=True), b"said\n")
    assert family.all_gone()


def test_a_grandchild_without_our_pipes_is_ended_too(sh, family):
    script = """exec 9>"$1"; echo up >&9; (trap "" TERM; sleep 60; sleep 60) >/dev/null 2>&1 & wait"""
    assert sh(script, family.path, timeout=1, grace=0.3)[0].timed_out
    assert family.all_gone()


def test_what_is_said_while_it_ends_is_kept(sh):
    script = "exec 2>&-; trap 'echo goodbye; exit 3' TERM; echo said; while :; do sleep 0.05; done"
    ended, printed, _ = sh(script, timeout=1)
    assert ended == Ended(124, timed_out=True)
    assert printed == b"said\ngoodbye\n"


def test_a_child_that_was_stopped_can_still_be_ended(sh):
    assert sh("echo said; kill -STOP $$", timeout=1)[:2] == (Ended(124, timed_out=True), b"said\n")


@pytest.mark.parametrize("timeout", [30, 1e12, float("inf")])
def test_an_end_in_time_is_no_timeout(sh, timeout):
    assert sh("sleep 0.05; exit 3", timeout=timeout)[0] == Ended(3)


def test_cancelling_ends_the_group(sh, family):
    told, tell = os.pipe()

    def tick():
        if family.path.with_name("ready").exists():
            os.write(tell, b"x")

    script = """exec 9>"$1"; trap "" TERM; echo up >&9; sleep 60 & echo said; : > "${1%/*}/ready"; sleep 60; sleep 60"""
    ended, printed, _ = sh(script, family.path, cancel=told, tick=tick, grace=0.3)
    assert (ended, printed) == (Ended(137), b"said\n")
    assert family.all_gone()
    os.close(told)
    os.close(tell)


def test_whoever_watches_and_fails_leaves_nothing_running(sh, family):
    def tick():
        if family.path.with_name("ready").exists():
            raise RuntimeError("no more")

    script = 'exec 9>"$1"; echo up >&9; sleep 60 & : > "${1%/*}/ready"; sleep 60'
    with pytest.raises(RuntimeError, match="no more"):
        sh(script, family.path, tick=tick)
    assert family.all_gone()


# What it costs us.


def test_no_descriptor_is_left_open(run, sh, tmp_path):
    before = len(os.listdir("/dev/fd"))
    for script in ("true", "exit 3", "sleep 5 & true", "seq 100000", "kill $$"):
        sh(script, store=DirStore(tmp_path / "store"))
    run("no-such-command-anywhere")
    assert len(os.listdir("/dev/fd")) == before


def test_our_own_signal_handlers_are_as_they_were(run):
    before = {name: signal.getsignal(signal.Signals[name]) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGTSTP")}
    run("true")
    run("no-such-command-anywhere")
    run("true", interactive=True)
    assert {name: signal.getsignal(signal.Signals[name]) for name in before} == before


def test_where_the_kernel_cannot_tell_us_of_the_end_we_look(sh, monkeypatch):
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    assert sh("echo said; exec >&- 2>&-; sleep 0.2; exit 7")[:2] == (Ended(7), b"said\n")
