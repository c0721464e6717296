"""Signals and timeouts: what is sent to `spill run` reaches every process of the command, and none is left behind."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

#: A process that reports when it is up, with a child that runs for as long as it can.
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
    # In the foreground, because background processes of a shell ignore SIGINT; and without a shell, because one may miss
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


# Timeouts.


def test_a_command_that_ignores_sigterm_is_killed_at_its_timeout_and_its_output_is_kept(started, family):
    process = started(f"trap '' TERM; {UP} echo said; echo up >&9; wait; sleep 60", "--timeout", "1")
    out, err = process.communicate()
    assert (process.returncode, out) == (124, b"said\n")
    assert err == b"spill: sh took longer than --timeout 1s and was stopped\n"
    assert family.all_gone()


def test_a_timeout_is_in_the_json(started):
    process = started("seq 50000; sleep 60", "--timeout", "1", "--json")
    facts = json.loads(process.communicate()[0])
    assert (facts["exit_code"], facts["timed_out"], facts["outcome"]) == (124, True, "stored")


# Processes that are left behind.


def test_a_grandchild_that_keeps_the_pipe_does_not_keep_us(started, family):
    process = started(f"{UP} echo said; echo up >&9; exit 3")
    assert (process.communicate()[0], process.returncode) == (b"said\n", 3)
    family.up()


def test_endless_output_ends_at_the_timeout_and_its_reader_gets_a_line(spill, store, family):
    """`head` exits after one line. Writing to it after that is not an error, and `yes` is ended."""
    line = f'"{spill}" run --timeout 1 --bytes 2000 -- sh -c "exec 9>alive; echo up >&9; exec yes" | head -1'
    ran = subprocess.run(
        ["sh", "-c", line], capture_output=True, check=True, env={**os.environ, "SPILLOVER_CAP": "1 MB"}
    )
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
    assert store.sweep().leftovers == 0, "a recent one may belong to a process between two steps"
    assert store.sweep(now=time.time() + 3_600).leftovers == 1
    assert os.listdir(temp) == []


# When `spill` is killed and cannot pass a signal on.

#: Prints something and waits until it has been read: from then on, `spill` is certainly running and can be killed.
TAKEN = """
import fcntl, os, termios, time
os.write(1, b"said")
while any(fcntl.ioctl(1, termios.FIONREAD, bytes(4))):
    time.sleep(0.001)
"""
HEARD = f"exec 9>alive; '{sys.executable}' -c '{TAKEN}'; "


@pytest.mark.parametrize("trap", ["", "trap '' TERM; "], ids=["asked", "ignores being asked"])
def test_a_spill_that_is_killed_takes_its_command_with_it(started, family, trap):
    """Killing `spill run` with `kill -9` used to leave its command running."""
    process = started(f"{HEARD}{trap}sleep 60 & echo up >&9; sleep 60; sleep 60")
    family.up()
    process.kill()
    process.communicate()
    assert family.all_gone()


def test_a_group_that_is_killed_takes_its_command_with_it(started, family):
    """Hosts end a tool call like this: they kill everything in the group at once, including our watcher."""
    process = started(f"{HEARD}echo up >&9; sleep 60", process_group=0)
    family.up()
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert family.all_gone()


def test_a_command_that_was_stopped_ends_with_a_killed_spill_too(started, family):
    process = started(f"{HEARD}echo up >&9; kill -STOP $$; sleep 60")
    family.up()
    process.kill()
    process.communicate()
    assert family.all_gone()


def test_what_a_command_leaves_running_on_purpose_stays_when_all_goes_well(started, family, tmp_path):
    process = started('exec 9>alive; (sleep 2; echo > lived) >/dev/null 2>&1 & echo up >&9; echo "$!"')
    assert int(process.communicate()[0])
    assert family.all_gone()
    assert (tmp_path / "lived").exists()


#: Becomes the reaper of orphans (PR_SET_CHILD_SUBREAPER), runs its arguments, and prints whether a process is left.
INHERITING = """
import ctypes, os, subprocess, sys
assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0
subprocess.run(sys.argv[1:], check=True)
try:
    print(os.waitpid(-1, os.WNOHANG))
except ChildProcessError:
    print("nobody")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux lets a test inherit orphans")
def test_no_process_is_left_after_a_command_has_ended(spill, store):
    """We wait for our watcher to end, because in a container nobody else would."""
    command = [sys.executable, "-c", INHERITING, spill, "run", "--", "true"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "nobody\n"


def test_output_that_is_still_being_written_is_reported(started):
    process = started("sleep 20 & echo said; exit 3")
    out, err = process.communicate()
    assert (process.returncode, out) == (3, b"said\n")
    assert err.decode() == (
        "spill: sh has ended, but a process it started still has its stderr and stdout open; "
        "what that prints from now on is not kept\n"
    )


@pytest.mark.parametrize("streams", [subprocess.PIPE, subprocess.STDOUT], ids=["two pipes", "one pipe"])
def test_a_line_of_shell_does_not_lose_what_it_left_running_without_a_word(spill, store, streams):
    """`spill sh 'job & echo said'` dropped what the job printed later, and only `spill run` said so."""
    line = [spill, "sh", "sleep 20 & seq 20000; exit 3"]
    process = subprocess.run(line, stdout=subprocess.PIPE, stderr=streams, check=False)
    assert process.returncode == 3
    said = process.stdout if streams == subprocess.STDOUT else process.stderr
    assert b"spill: the line has ended, but a process it started still has its " in said
    assert b"20000\n" in process.stdout


def test_still_open_streams_are_in_the_json(started):
    process = started("sleep 20 2>/dev/null & echo said", "--json")
    assert json.loads(process.communicate()[0])["still_open"] == ["stdout"]
