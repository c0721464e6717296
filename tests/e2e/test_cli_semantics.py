"""`spill run -- COMMAND` behaves like COMMAND: same exit code, stdin, streams and environment. Uses the installed command."""

import hashlib
import os
import signal
import subprocess
import sys

import pytest

from spillover.testing import content

pytestmark = pytest.mark.usefixtures("store")


def bare(argv, **options):
    """Run a command without `spill`; return its exit code as a shell reports it, stdout and stderr."""
    ran = subprocess.run(argv, capture_output=True, check=False, **options)
    return (128 - ran.returncode if ran.returncode < 0 else ran.returncode), ran.stdout, ran.stderr


@pytest.fixture
def same(spill):
    """Run a command with and without `spill`, check that the results are equal, and return them."""

    def compare(*argv, **options):
        without = bare(argv, **options)
        assert bare([spill, "run", "--", *argv], **options) == without
        return without

    return compare


@pytest.mark.parametrize("code", [0, 1, 2, 7, 124, 126, 127, 128, 255])
def test_the_exit_code_is_the_commands(same, code):
    assert same("sh", "-c", f"exit {code}")[0] == code


@pytest.mark.parametrize("name", ["TERM", "KILL", "SEGV", "INT", "HUP", "QUIT", "ABRT", "PIPE", "USR1", "ALRM"])
def test_death_by_a_signal_is_128_and_its_number(same, name):
    assert same("sh", "-c", f"ulimit -c 0; kill -{name} $$")[0] == 128 + signal.Signals[f"SIG{name}"]


@pytest.mark.parametrize(
    ("name", "code", "why"),
    [
        ("nowhere", 127, "command not found"),
        ("plain", 126, "Permission denied"),
        ("folder", 126, "Permission denied"),
        ("headless", 126, "Exec format error"),
    ],
)
def test_what_cannot_be_started_is_126_or_127(spill, tmp_path, name, code, why):
    (tmp_path / "plain").write_text("#!/bin/sh\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "headless").write_text("echo no line says what runs this\n")
    (tmp_path / "headless").chmod(0o700)
    assert bare([spill, "run", "--", f"./{name}"]) == (code, b"", f"./{name}: {why}\n".encode())


# stdin.

ECHO = "import sys; sys.stdout.write(str(len(sys.stdin.buffer.read())))"


@pytest.mark.parametrize("given", [b"", b"one\n", b"x" * 3_000_000], ids=["nothing", "a line", "3 MB"])
def test_it_reads_the_pipe_we_were_given(same, given):
    assert same(sys.executable, "-c", ECHO, input=given)[1] == str(len(given)).encode()


def test_it_reads_the_file_we_were_given_from_where_it_stands(spill, tmp_path):
    (tmp_path / "file").write_text("first\nsecond\nthird\n")
    with open(tmp_path / "file", "rb", buffering=0) as file:
        file.seek(len("first\n"))
        assert bare([spill, "run", "--", "cat"], stdin=file) == (0, b"second\nthird\n", b"")
        assert file.read() == b"", "it is the same open file, so it stands at its end now"


def test_it_leaves_unread_what_it_does_not_read(spill):
    script = f'(exec "{spill}" run -- sh -c "read line; echo got \\$line"); cat'
    assert bare(["sh", "-c", script], input=b"one\ntwo\n") == (0, b"got one\ntwo\n", b"")


def test_it_reads_nothing_where_there_is_nothing(same):
    assert same("cat", stdin=subprocess.DEVNULL) == (0, b"", b"")


def test_a_closed_stdin_is_closed(same):
    code, out, err = same("sh", "-c", "cat; echo $?", preexec_fn=lambda: os.close(0))
    assert (code, out) == (0, b"1\n")
    assert b"Bad file descriptor" in err


# stdout and stderr.

#: Prints its arguments to stdout and stderr in turn, each after the previous one has been read from the pipe.
IN_TURN = """
import fcntl, os, sys, termios, time
for number, word in enumerate(sys.argv[1:]):
    fd = 1 + number % 2
    os.write(fd, word.encode() + b"\\n")
    while any(fcntl.ioctl(fd, termios.FIONREAD, bytes(4))):
        time.sleep(0.001)
"""


def test_each_stream_goes_where_it_would_go_without_us(same):
    assert same("sh", "-c", "echo out; echo err >&2; exit 3") == (3, b"out\n", b"err\n")


def test_with_both_in_one_place_they_stay_in_order(spill):
    words = [str(number) for number in range(200)]
    ran = subprocess.run(
        [spill, "run", "--", sys.executable, "-c", IN_TURN, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=True,
    )
    assert ran.stdout.decode().split() == words


def test_what_was_cut_shows_them_in_order_too(spill, store):
    words = [f"{number:0100}" for number in range(200)]
    code, out, err = bare([spill, "run", "--bytes", "2000", "--", sys.executable, "-c", IN_TURN, *words])
    (record,) = store.list()
    assert (code, err) == (0, b"")
    assert out.count(b"\n") < 30
    assert record.segments == (("stdout", 101), ("stderr", 101)) * 100
    assert content(store, record.ref).decode().split() == words


def test_fifty_megabytes_are_the_same_bytes_in_the_store(spill, store):
    line = "2024-01-01 12:00:00 INFO a line of a log as they are\n"
    code = "import sys\nfor _ in range(100): sys.stdout.write(sys.argv[1] * 10_000)"
    assert bare([spill, "run", "--", sys.executable, "-c", code, line])[0] == 0
    (record,) = store.list()
    whole, stored = hashlib.sha256(), hashlib.sha256()
    for _ in range(100):
        whole.update(line.encode() * 10_000)
    with open(store.where(record.ref), "rb") as file:
        while part := file.read(1 << 20):
            stored.update(part)
    assert stored.hexdigest() == record.sha256 == whole.hexdigest()


def test_what_is_written_right_before_the_end_is_there(spill, store):
    code = "import os; os.write(1, b'x' * 2_000_000); os._exit(0)"
    for _ in range(3):
        bare([spill, "run", "--tool", "x", "--", sys.executable, "-c", code])
    assert [record.bytes for record in store.list()] == [2_000_000]


def test_fast_commands_one_after_the_other_lose_nothing(spill):
    script = f'for n in 1 2 3 4 5; do "{spill}" run -- echo $n; done'
    assert bare(["sh", "-c", script]) == (0, b"".join(b"%d\n" % number for number in range(1, 6)), b"")


# Folder, environment, arguments and signals.


def test_folder_environment_and_words_are_its_own(same, tmp_path):
    folder = tmp_path / "a folder"
    folder.mkdir()
    code = "import os, sys; print(os.getcwd(), os.environ['A'], os.fsencode(sys.argv[1]))"
    assert (
        b"\\xff --json"
        in same(sys.executable, "-c", code, b"\xff --json", cwd=folder, env={**os.environ, "A": "ä b"})[1]
    )


@pytest.mark.parametrize("name", ["PIPE", "XFSZ", "INT", "TERM", "CHLD"])
def test_signals_do_to_it_what_they_would_do_without_us(same, name):
    same("sh", "-c", f"ulimit -c 0; kill -{name} $$; echo lives on")


def test_what_was_ignored_stays_ignored(same):
    def ignoring():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    assert same("sh", "-c", "kill -HUP $$; echo lives on", preexec_fn=ignoring)[1] == b"lives on\n"


# Our own stdout and stderr.


@pytest.mark.parametrize("closed", [[1], [2], [1, 2], [0, 1, 2]], ids=str)
@pytest.mark.parametrize("script", ["echo out; echo err >&2; exit 3", "seq 50000; exit 3"], ids=["fits", "cut"])
def test_closed_descriptors_do_not_change_how_it_ends(spill, closed, script):
    def close():
        for fd in closed:
            os.close(fd)

    ran = subprocess.run([spill, "run", "--", "sh", "-c", script], capture_output=True, check=False, preexec_fn=close)
    assert (ran.returncode, b"Traceback" in ran.stderr) == (3, False)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_disk_behind_stdout_does_not_change_how_it_ends(spill):
    with open("/dev/full", "wb") as full:
        ran = subprocess.run(
            [spill, "run", "--", "sh", "-c", "echo out; exit 3"], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert ran.returncode == 3
    assert ran.stderr == b"spill: what it printed could not be written: No space left on device\n"


@pytest.mark.parametrize("script", ["echo out; exit 3", "seq 50000; exit 3", "echo err >&2; exit 3"])
def test_a_reader_that_has_left_does_not_change_how_it_ends(spill, script):
    read, write = os.pipe()
    os.close(read)
    ran = subprocess.run([spill, "run", "--", "sh", "-c", script], stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert ran.returncode == 3
    assert ran.stderr in (b"", b"err\n")
