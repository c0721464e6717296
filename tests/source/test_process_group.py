"""Whom a command leaves behind, and how all of them end."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from spillover.source import process, terminal
from spillover.source.process import Ended
from spillover.store.directory import DirStore

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
