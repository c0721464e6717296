"""When descriptors, threads or single system calls cannot be had: the command's output and its exit code are there all the same."""

import errno
import hashlib
import os
import subprocess
import sys
import textwrap
import threading

import pytest

from spillover import Clipper, DirStore, Limits
from spillover.source import process
from spillover.source.intake import Intake
from spillover.source.process import Ended

OUTPUT = b"".join(b"%d\n" % number for number in range(1, 300_001))


def refuse(*_, **__):
    raise OSError(errno.EMFILE, "Too many open files")


def no_thread(*_):
    raise RuntimeError("can't start new thread")


#: A call that fails whenever we make it, by what we can do without it.
REFUSED = {
    "no descriptor for the end of the child": (os, "pidfd_open"),
    "no pipe that does not block": (os, "set_blocking"),
    "no copy of a descriptor": (os, "dup"),
    "no pipe is wider": ("fcntl", "fcntl"),
    "nobody knows what is in a pipe": ("fcntl", "ioctl"),
    "no thread": (threading.Thread, "start"),
}


@pytest.mark.parametrize("what", REFUSED)
@pytest.mark.parametrize("script", ["seq 300000;", "seq 300000; (sleep 0.1; echo late) &", "cat;"])
def test_a_call_that_fails_costs_neither_output_nor_exit_code(sh, tmp_path, monkeypatch, what, script):
    where, name = REFUSED[what]
    where = sys.modules.get(where) or __import__(where) if isinstance(where, str) else where
    if not hasattr(where, name):
        pytest.skip(f"there is no {name} here")
    given = OUTPUT if script == "cat;" else None
    expected = OUTPUT + b"late\n" * ("late" in script)
    with monkeypatch.context() as scarce:
        scarce.setattr(where, name, no_thread if name == "start" else refuse)
        intake = Intake(1_000, DirStore(tmp_path / "store").writer)
        ended = process.run(process.Command(argv=["sh", "-c", f"{script} exit 7"], input=given), intake)
        intake.finish()
    assert ended == Ended(7)
    assert not intake.failure, "it is in the store"
    assert (intake.meter.bytes, intake.meter.newlines) == (len(expected), expected.count(b"\n"))
    assert intake.meter.sha256 == hashlib.sha256(expected).hexdigest()
    intake.abandon()


def test_a_store_that_cannot_be_read_through_another_descriptor_shows_both_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "dup", refuse)
    clip = Clipper(Limits(bytes=2_000), store=DirStore(tmp_path / "store")).run(["seq", "300000"]).clip
    assert clip.total.lines == 300_000
    assert "\n1\n2\n3\n" in clip.text
    assert "\n300000\n" in clip.text


class Unclosable:
    """A sink, or a blob of it, that fails when it is closed, as a quota or a dying disk makes it."""

    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def blob(self):
        return Unclosable(self.inner.blob())

    def close(self):
        self.inner.close()
        raise OSError(errno.EIO, "Input/output error")

    def abandon(self):
        self.inner.abandon()
        raise OSError(errno.EDQUOT, "Disk quota exceeded")


@pytest.mark.parametrize("cap", [1 << 30, 10_000])
def test_what_cannot_be_closed_is_no_reason_to_lose_the_call(tmp_path, cap):
    inner = DirStore(tmp_path / "store")

    class Store:
        def writer(self):
            return Unclosable(inner.writer())

        def __getattr__(self, name):
            return getattr(inner, name)

    run = Clipper(Limits(bytes=2_000), store=Store(), cap=cap).run(["sh", "-c", "seq 5000; exit 7"])
    assert (run.exit_code, run.clip.outcome) == (7, "stored")


#: Runs a command with ever fewer descriptors and prints how each ended.
TIGHT = textwrap.dedent("""
    import os, resource, sys
    from spillover import Clipper, DirStore, Limits
    clipper = Clipper(Limits(bytes=2_000), store=DirStore(sys.argv[1]))
    clipper.run(["seq", "3000"])  # what is loaded when it is first needed is loaded
    for most in range(40, 3, -1):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, 64))
        try:
            run = clipper.run(["sh", "-c", "seq 3000; exit 7"], die_with_parent=True)
            said = (run.exit_code, run.clip.outcome, "3000\\n" in run.clip.text, run.clip.text[-60:] if run.exit_code != 7 else "")
        except Exception as error:
            said = repr(error)
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        print(most, said)
""")


def test_with_ever_fewer_descriptors_it_runs_and_shows_its_end_or_says_that_it_cannot_run(tmp_path):
    ran = subprocess.run([sys.executable, "-c", TIGHT, tmp_path / "store"], capture_output=True, text=True, check=True)
    said = {line.partition(" ")[2] for line in ran.stdout.splitlines()}
    assert len(ran.stdout.splitlines()) == 37
    assert said <= {
        "(7, 'stored', True, '')",
        "(7, 'lost', True, '')",
        "(126, 'whole', False, 'sh: Too many open files\\n')",
    }
    assert {"(7, 'stored', True, '')", "(126, 'whole', False, 'sh: Too many open files\\n')"} <= said
