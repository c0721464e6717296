"""A thread that measures a file while it grows."""

import os
import threading

import pytest

from spillover.errors import StoreError
from spillover.intake import follow
from spillover.intake.follow import STEP, WINDOW, Follower
from spillover.intake.meter import Meter


@pytest.fixture
def fd(tmp_path):
    fd = os.open(tmp_path / "growing", os.O_RDWR | os.O_CREAT)
    yield fd
    os.close(fd)


def measured(data):
    meter = Meter()
    meter.feed(data)
    return meter


def same(meter, data):
    whole = measured(data)
    return (meter.bytes, meter.lines, meter.chars, meter.sha256, meter.index) == (
        whole.bytes,
        whole.lines,
        whole.chars,
        whole.sha256,
        whole.index,
    )


def followers():
    return [thread for thread in threading.enumerate() if thread.name == "spillover-meter"]


#: less than wakes it, exactly that, more than one mapping, and what ends inside a page
@pytest.mark.parametrize("size", [0, 1, STEP - 1, STEP, WINDOW, WINDOW + 1, 2 * WINDOW + 4097])
def test_whatever_was_written_has_been_measured_at_the_end(fd, size):
    data = (b"one line\nand a longer one\n" * (size // 20 + 1))[:size]
    meter = Meter()
    follower = Follower(fd, meter)
    for at in range(0, size, 300_000):
        os.write(fd, data[at : at + 300_000])
        follower.upto(min(at + 300_000, size))
    follower.finish()
    assert same(meter, data)
    assert not followers()


def test_it_goes_on_where_the_meter_is(fd):
    data = b"abc\n" * 100_000
    os.write(fd, data)
    meter = Meter()
    meter.feed(data[:12_345])
    follower = Follower(fd, meter)
    follower.upto(len(data))
    follower.finish()
    assert same(meter, data)


def test_the_writer_may_close_its_descriptor_first(tmp_path):
    fd = os.open(tmp_path / "closed", os.O_RDWR | os.O_CREAT)
    data = b"x\n" * STEP
    os.write(fd, data)
    meter = Meter()
    follower = Follower(fd, meter)
    follower.upto(len(data))
    os.close(fd)
    follower.finish()
    assert same(meter, data)


def no_mapping(*_, **__):
    raise OSError(12, "Cannot allocate memory")


def test_what_cannot_be_mapped_is_read(fd, monkeypatch):
    monkeypatch.setattr(follow, "mmap", no_mapping)
    data = b"one\ntwo " * STEP
    os.write(fd, data)
    meter = Meter()
    follower = Follower(fd, meter)
    follower.upto(len(data))
    follower.finish()
    assert same(meter, data)


def test_what_cannot_be_read_back_is_a_failing_store(fd, monkeypatch):
    def no_reading(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(follow, "mmap", no_mapping)
    monkeypatch.setattr(os, "pread", no_reading)
    os.write(fd, b"x" * STEP)
    follower = Follower(fd, Meter())
    follower.upto(STEP)
    with pytest.raises(StoreError, match=r"could not be read back: .*Input/output error"):
        follower.finish()
    assert not followers()


def test_a_file_that_became_shorter_is_a_failing_store_and_nobody_waits_for_the_rest(fd):
    os.write(fd, b"x" * 10)
    follower = Follower(fd, Meter())
    follower.upto(STEP)
    with pytest.raises(StoreError, match="could not be read back"):
        follower.finish()


def test_without_a_descriptor_or_a_thread_to_spare_it_is_measured_all_the_same(fd, monkeypatch):
    def no_more(*_):
        raise OSError(24, "Too many open files")

    def no_thread(*_):
        raise RuntimeError("can't start new thread")

    data = b"one\ntwo " * STEP
    os.write(fd, data)
    for broken in ([(os, "dup", no_more)], [(threading.Thread, "start", no_thread)]):
        with monkeypatch.context() as patch:
            for where, name, fail in broken:
                patch.setattr(where, name, fail)
            meter = Meter()
            follower = Follower(fd, meter)
            follower.upto(len(data))
            follower.finish()
            follower.stop()
        assert same(meter, data)
        assert os.fstat(fd).st_size == len(data), "and the writer's own is still open"


def test_stopping_early_leaves_no_thread_and_no_descriptor(fd):
    before = len(os.listdir("/dev/fd"))
    Follower(fd, Meter()).stop()
    assert not followers()
    assert len(os.listdir("/dev/fd")) == before
