"""Closing a file can fail: a quota or a file server may report only then that nothing was written."""

import errno
import io
import os

import pytest

from spillover import Clipper, Limits
from spillover.errors import StoreError
from spillover.store import verify
from spillover.store.directory import DirStore
from spillover.testing import content, put, record_of

FULL = OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))
TEXT = "a line of an output\n" * 4_000


class Unclosable(io.FileIO):
    """A file that is closed, but whose `close` raises."""

    def close(self):
        if not self.closed:
            super().close()
            raise FULL


@pytest.fixture
def store(tmp_path):
    store = DirStore(tmp_path / "store")
    put(store, b"before")
    return store


@pytest.fixture
def unclosable(monkeypatch):
    """Make closing fail for every file that the store opens."""
    monkeypatch.setattr(os, "fdopen", lambda fd, mode="r", **_: Unclosable(fd, mode.replace("b", "")))


@pytest.fixture
def failing_close(monkeypatch):
    """Make `os.close` fail for every descriptor."""
    close = os.close

    def fail(fd):
        close(fd)
        raise FULL

    monkeypatch.setattr(os, "close", fail)


def test_an_output_that_cannot_be_closed_is_lost_and_says_so(store, unclosable):
    clip = Clipper(Limits(tokens=200), store=store).clip(TEXT)
    assert (clip.outcome, clip.reason) == ("lost", f"Disk quota exceeded: {store.root}")
    assert "Full output not kept: Disk quota exceeded" in clip.text


def test_nothing_of_it_is_seen_and_nothing_is_left(store, unclosable, tmp_path):
    writer = store.writer()
    writer.write(b"x")
    with pytest.raises(StoreError, match="Disk quota exceeded"):
        writer.publish(record_of(b"x"))
    writer.abandon()
    assert [content(store, record.ref) for record in store.list()] == [b"before"]
    assert os.listdir(tmp_path / "store" / ".tmp") == []


def test_a_record_that_cannot_be_closed_is_not_published(store, failing_close, tmp_path):
    with pytest.raises(StoreError, match="Disk quota exceeded"):
        put(store, b"x")
    assert [verify(store, record.ref) for record in store.list()] == [None]
    assert os.listdir(tmp_path / "store" / ".tmp") == []


def test_closing_what_was_only_read_does_not_matter(store, unclosable, failing_close):
    ref = next(store.list()).ref
    assert content(store, ref) == b"before"
    assert verify(store, ref) is None
    store.pin(ref)
    assert store.get(ref).pinned
    store.sweep()
    store.delete(ref)
    assert list(store.list()) == []


def test_a_command_keeps_its_exit_code(store, unclosable):
    run = Clipper(Limits(tokens=200), store=store).run(["sh", "-c", "seq 1 5000; exit 3"])
    assert (run.exit_code, run.clip.outcome) == (3, "lost")
