"""Signals, timeouts and the end of everybody: what is sent to `spill run` reaches the whole family, and nobody stays."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

#: The first of a family, which tells when it is up, and a grandchild that holds on as long as it may.
UP = "exec 9>alive; sleep 20 & "


@pytest.fixture
def started(spill, store):
    """Start a shell script under `spill run`."""
    made = []

    def start(script, *options, **more):
        made.append(
            subprocess.Popen(
                [spill, "run", *options, "--", "sh", "-c", script],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                **more,
            )
        )
        return made[-1]

    yield start
    for process in made:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"])
def test_a_signal_reaches_the_family_and_the_exit_is_the_commands(started, family, name):
    signum = signal.Signals[name]
    # In the foreground, for whom a shell puts into the background does not hear SIGINT; and no shell, for one may miss
    # a signal between two commands.
    code = f"import os, signal, time; signal.signal({signum:d}, signal.SIG_DFL); os.write(9, b'up\\n'); time.sleep(60)"
    process = started(f'ulimit -c 0; exec 9>alive; echo said; "{sys.executable}" -c "{code}"; :')
    family.up()
    process.send_signal(signum)
    out, err = process.communicate()
    assert (process.returncode, out, err) == (128 + signum, b"said\n", b"")
    assert family.all_gone()


@pytest.mark.parametrize("name", ["INT", "TERM"])
def test_a_command_that_handles_a_signal_ends_as_it_likes(started, family, name):
    process = started(f"trap 'echo tidied; kill $!; exit 5' {name}; {UP} echo up >&9; wait")
    family.up()
    process.send_signal(signal.Signals[f"SIG{name}"])
    assert (process.communicate()[0], process.returncode) == (b"tidied\n", 5)


def test_a_command_that_goes_on_is_waited_for(started, family, tmp_path):
    process = started("exec 9>alive; trap 'echo no' TERM; echo up >&9; until [ -e go ]; do sleep 0.02; done; exit 6")
    family.up()
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGTERM)
    time.sleep(0.2)
    assert process.poll() is None
    (tmp_path / "go").touch()
    assert process.communicate()[0].replace(b"Terminated\n", b"").startswith(b"no\n")
    assert process.returncode == 6


def test_under_nohup_a_hangup_ends_nobody(started, family, tmp_path):
    process = started(
        "exec 9>alive; echo up >&9; until [ -e go ]; do sleep 0.02; done; exit 6",
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    family.up()
    process.send_signal(signal.SIGHUP)
    (tmp_path / "go").touch()
    assert process.wait() == 6


def test_what_was_printed_before_a_signal_is_clipped_and_stored(started, family, store):
    process = started(f"seq 50000; {UP} echo up >&9; wait", "--bytes", "2000")
    family.up()
    process.send_signal(signal.SIGTERM)
    out = process.communicate()[0]
    assert (process.returncode, len(out) <= 2_000) == (143, True)
    assert next(store.list()).lines == 50_000


# Time that is up.


def test_whoever_ignores_being_asked_is_ended_and_what_was_printed_is_kept(started, family):
    process = started(f"trap '' TERM; {UP} echo said; echo up >&9; wait; sleep 60", "--timeout", "1")
    out, err = process.communicate()
    assert (process.returncode, out) == (124, b"said\n")
    assert err == b"spill: sh was ended after 1 seconds\n"
    assert family.all_gone()


def test_a_timeout_is_in_the_json(started):
    process = started("seq 50000; sleep 60", "--timeout", "1", "--json")
    facts = json.loads(process.communicate()[0])
    assert (facts["exit_code"], facts["timed_out"], facts["outcome"]) == (124, True, "stored")


# Those who stay behind.


def test_a_grandchild_that_keeps_the_pipe_does_not_keep_us(started, family):
    process = started(f"{UP} echo said; echo up >&9; exit 3")
    assert (process.communicate()[0], process.returncode) == (b"said\n", 3)
    family.up()


def test_endless_output_ends_with_its_time_and_its_reader_gets_a_line(spill, store, family):
    """`head` leaves after a line; what we print to it then is no error, and `yes` is gone."""
    line = (
        f'"{spill}" run --timeout 1 --cap "1 MB" --bytes 2000 -- sh -c "exec 9>alive; echo up >&9; exec yes" | head -1'
    )
    ran = subprocess.run(["sh", "-c", line], capture_output=True, check=True)
    assert ran.stdout.startswith(b"[Output clipped: ")
    assert ran.stdout.count(b"\n") == 1
    assert b"Traceback" not in ran.stderr
    assert family.all_gone()


def test_a_reader_that_leaves_at_once_changes_nothing(spill, store, family, tmp_path):
    line = f'("{spill}" run -- sh -c "exec 9>alive; echo up >&9; seq 50000; exit 3"; echo $? > code) | true'
    ran = subprocess.run(["sh", "-c", line], capture_output=True, check=True)
    assert (ran.stderr, (tmp_path / "code").read_text()) == (b"", "3\n")
    assert family.all_gone()


# kill -9.


def test_killed_in_the_middle_we_leave_no_half_output_and_what_is_left_is_swept(started, family, store, tmp_path):
    process = started("exec 9>alive; echo up >&9; while seq 10000; do sleep 0.01; done", "--bytes", "2000")
    family.up()
    temp = tmp_path / "a store" / ".tmp"
    end = time.monotonic() + 30
    while not (temp.is_dir() and any(entry.stat().st_size for entry in temp.iterdir())):
        assert time.monotonic() < end
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert family.all_gone(), "the pipe is closed, so it ends with the next line"
    assert list(store.list()) == []
    assert len(os.listdir(temp)) == 1
    assert store.sweep().leftovers == 0, "a moment ago somebody may still have been between two steps"
    assert store.sweep(now=time.time() + 3_600).leftovers == 1
    assert os.listdir(temp) == []
