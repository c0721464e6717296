"""Whom a command leaves behind, and how all of them end."""

import os
import signal

import pytest

from spillover.intake import child
from spillover.intake.child import Ended
from spillover.store.directory import DirStore


def test_a_grandchild_that_keeps_the_pipe_open_does_not_hang_us(sh):
    assert sh("sleep 30 & echo said")[:2] == (Ended(0), b"said\n")


def test_a_grandchild_that_talks_for_ever_does_not_hang_us(sh):
    ended, printed, _ = sh("(while :; do echo and; sleep 0.01; done) & echo said", window=1 << 20)
    assert ended == Ended(0)
    assert printed.startswith(b"said\n") or b"\nsaid\n" in printed


def test_what_a_grandchild_prints_soon_after_is_still_taken(sh, monkeypatch):
    monkeypatch.setattr(child, "IDLE", 10)  # so that "soon" does not depend on how busy this machine is
    assert sh("(sleep 0.05; echo late) & echo said")[1] == b"said\nlate\n"


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
    monkeypatch.setattr(child, "_pidfd", lambda _: None)
    assert sh("echo said; exec >&- 2>&-; sleep 0.2; exit 7")[:2] == (Ended(7), b"said\n")
