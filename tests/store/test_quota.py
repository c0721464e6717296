"""A store's limits hold at every moment: old outputs are removed to make room, or the new output is refused."""

import fcntl
import os
import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover import Clipper, Limits
from spillover.errors import StoreError
from spillover.store import folder as folder_module
from spillover.store.directory import DirStore
from spillover.store.folder import LOCK, Folder
from spillover.store.retention import Amount, Retention, count, hold_tally
from spillover.testing import content, put, record_of

HOUR = 3_600


@pytest.fixture
def root(tmp_path):
    return tmp_path / "store"


def held(root):
    with Folder(str(root)) as folder:
        return count(folder)


def noted(root):
    with Folder(str(root)) as folder, hold_tally(folder) as tally:
        return tally.read()


def age(root, ref, seconds=2 * HOUR):
    for ending in (".txt", ".json"):
        then = time.time() - seconds
        os.utime(root / (ref + ending), (then, then))


def refs(store):
    return {record.ref for record in store.list()}


def test_one_megabyte_and_three_outputs_are_never_exceeded(root):
    store = DirStore(root, Retention(bytes=1_000_000, count=3))
    stored, said = 0, set()
    for number in range(10):
        try:
            put(store, b"%d" % number * 400_000)
            stored += 1
        except StoreError as error:
            said.add(str(error))
        assert held(root).bytes <= 1_000_000
        assert held(root).outputs <= 3
    assert stored == 2
    assert all(
        "the store is full" in words and "retention.bytes" in words and "retention.grace" in words for words in said
    )
    put(store, b"third")
    for number in range(10):
        with pytest.raises(StoreError, match=r"3 of 3 outputs.*retention\.count"):
            put(store, b"%d" % number)
    assert held(root).outputs == 3


def test_what_is_refused_is_a_clip_that_says_so(root):
    clipper = Clipper(Limits(tokens=200), store=DirStore(root, Retention(count=1)))
    assert clipper.clip("first\n" * 2_000).outcome == "stored"
    clip = clipper.clip("second\n" * 2_000)
    assert clip.outcome == "lost"
    assert "Full output not kept: the store is full (1 of 1 outputs)" in clip.text
    assert "retention.count" in clip.reason


def test_what_is_past_its_grace_makes_room_at_once_the_oldest_first(root):
    store = DirStore(root, Retention(count=3))
    old = [put(store, b"%d" % number).ref for number in range(3)]
    for number, ref in enumerate(old):
        age(root, ref, 5 * HOUR - number)
    new = put(store, b"new").ref
    assert refs(store) == {*old[1:], new}
    newer = put(store, b"newer").ref
    assert refs(store) == {old[2], new, newer}


def test_the_grace_is_what_retention_says(root):
    store = DirStore(root, Retention(count=1, grace_seconds=0))
    put(store, b"one")
    two = put(store, b"two").ref
    assert refs(store) == {two}
    strict = DirStore(root, Retention(count=1, grace_seconds=HOUR))
    with pytest.raises(StoreError, match="the store is full"):
        put(strict, b"three")


def test_nothing_is_removed_for_an_output_that_would_not_fit_anyway(root):
    store = DirStore(root, Retention(bytes=10_000))
    old, young = put(store, b"o" * 3_000).ref, put(store, b"y" * 3_000).ref
    age(root, old)
    with pytest.raises(StoreError, match="the store is full"):
        put(store, b"n" * 8_000)
    assert refs(store) == {old, young}


def test_pinned_outputs_count_and_are_never_removed(root):
    store = DirStore(root, Retention(count=2))
    dear = put(store, b"dear", pinned=True).ref
    old = put(store, b"old").ref
    for ref in (dear, old):
        age(root, ref, 99 * HOUR)
    new = put(store, b"new").ref
    assert refs(store) == {dear, new}
    store.pin(new)
    with pytest.raises(StoreError, match="pinned or too young"):
        put(store, b"another")
    assert refs(store) == {dear, new}


def test_the_same_output_again_needs_no_room(root):
    store = DirStore(root, Retention(count=1))
    first = put(store, b"same", created=1.0, command="make")
    assert put(store, b"same", created=2.0, command="make").ref == first.ref
    assert noted(root).outputs == held(root).outputs == 1


def test_a_store_that_was_over_its_limits_before_comes_back_under_them(root):
    roomy = DirStore(root, None)
    for number in range(10):
        age(root, put(roomy, b"%d" % number).ref, 9 * HOUR - number)
    new = put(DirStore(root, Retention(count=4)), b"new").ref
    assert new in refs(roomy)
    assert held(root).outputs == 4


def test_an_output_that_is_larger_than_the_store_may_be_is_refused_while_it_is_written(root):
    store = DirStore(root, Retention(bytes=100_000))
    writer = store.writer()
    writer.write(b"x" * 60_000)
    os.write(writer.fileno(), b"y" * 30_000)
    with pytest.raises(StoreError, match=r"larger than the whole store may be \(100,000 bytes\)"):
        writer.write(b"z" * 10_001)
    blob = writer.blob()
    assert blob.size == 90_000
    blob.close()
    writer.abandon()


def test_a_command_that_writes_straight_into_the_store_stops_at_its_limit(root):
    clipper = Clipper(Limits(tokens=200), store=DirStore(root, Retention(bytes=3_000_000)))
    run = clipper.run(["sh", "-c", "head -c 9000000 /dev/zero; exit 7"])
    assert (run.exit_code, run.clip.outcome, run.clip.total.bytes) == (7, "lost", 9_000_000)
    assert "larger than the whole store may be (3,000,000 bytes); raise retention.bytes" in run.clip.reason
    assert held(root) == Amount()
    assert os.listdir(root / ".tmp") == []


# ── the tally


def test_publishing_does_not_look_through_the_folder_each_time(root, monkeypatch):
    store = DirStore(root, Retention())
    put(store, b"first")
    scans, scandir = [], os.scandir
    monkeypatch.setattr(os, "scandir", lambda *args: scans.append(1) or scandir(*args))
    for number in range(20):
        put(store, b"%d" % number)
    assert scans == []
    assert noted(root) == held(root)


def test_a_full_store_looks_for_room_only_now_and_then(root, monkeypatch):
    store = DirStore(root, Retention(count=64, grace_seconds=0))
    for number in range(64):
        put(store, b"%d" % number)
    scans, scandir = [], os.scandir
    monkeypatch.setattr(os, "scandir", lambda *args: scans.append(1) or scandir(*args))
    for number in range(64, 128):
        put(store, b"%d" % number)
    assert len(scans) <= 64


@pytest.mark.parametrize(
    "wrong", [None, b"", b"x", b"0" * 20, b"%020d %020d\n" % (9**9, 9**9), b"-" * 41 + b"\n", b"\0" * 42]
)
def test_a_tally_that_is_missing_or_odd_or_too_high_is_put_right(root, wrong):
    store = DirStore(root, Retention(count=2))
    put(store, b"one")
    if wrong is None:
        (root / LOCK).unlink()
    else:
        (root / LOCK).write_bytes(wrong)
    put(store, b"two")
    assert noted(root) == held(root)
    with pytest.raises(StoreError, match="2 of 2 outputs"):
        put(store, b"three")


def test_an_hourly_sweep_has_the_files_counted_again(root):
    store = DirStore(root, Retention(count=3))
    put(store, b"one")
    (root / LOCK).write_bytes(b"%020d %020d\n" % (0, 0))  # too low, as it may be after a power failure
    then = time.time() - 2 * HOUR
    os.utime(root / ".sweep", (then, then))
    put(store, b"two")
    assert noted(root) == held(root) == Amount(2, held(root).bytes)


steps = st.lists(
    st.tuples(st.sampled_from(["put", "again", "delete", "pin", "sweep", "kill"]), st.integers(0, 5)), max_size=25
)


@settings(max_examples=60)
@given(steps, st.integers(1, 4), st.integers(1_500, 6_000))
def test_whatever_happens_the_tally_is_never_too_low_and_the_limits_hold(tmp_path_factory, steps, most, size):
    root = tmp_path_factory.mktemp("quota") / "store"
    store = DirStore(root, Retention(count=most, bytes=size, grace_seconds=0, age_seconds=None))
    put(store, b"")
    for step, number in steps:
        try:
            match step:
                case "put" | "again":
                    put(store, b"%d" % number * 300)
                case "delete":
                    store.delete(random.Random(number).choice([record.ref for record in store.list()] or ["none"]))
                case "pin":
                    store.pin(random.Random(number).choice([record.ref for record in store.list()] or ["none"]))
                case "sweep":
                    store.sweep()
                case "kill":
                    with Folder(str(root)) as folder, hold_tally(folder) as tally:  # as if killed between the two steps
                        known = tally.read()
                        tally.write(known and known + Amount(1, 500))
        except (StoreError, LookupError):
            pass
        now = held(root)
        assert now.outputs <= most
        assert now.bytes <= size
        said = noted(root)
        assert said is None or (said.outputs >= now.outputs and said.bytes >= now.bytes)


def test_a_lock_held_for_too_long_is_reported_and_nothing_is_exceeded(root, monkeypatch):
    store = DirStore(root)
    put(store, b"one")
    monkeypatch.setattr(folder_module, "WAIT_SECONDS", 0.05)
    with open(root / LOCK) as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(StoreError, match=r"Another process .*\.lock"):
            put(store, b"two")
        clip = Clipper(Limits(tokens=200), store=store).clip("three\n" * 5_000)
        assert (clip.outcome, "Another process" in clip.reason) == ("lost", True)
        store.delete(put_ref := next(store.list()).ref)
        assert put_ref not in refs(store), "cleaning up still works"
    put(store, b"two")
    assert content(store, "bash") == b"two"


def test_a_tally_that_is_not_ours_is_not_followed(root, tmp_path):
    store = DirStore(root)
    put(store, b"one")
    (root / LOCK).unlink()
    outside = tmp_path / "precious"
    outside.write_text("precious")
    (root / LOCK).symlink_to(outside)
    with pytest.raises(StoreError):
        put(store, b"two")
    (root / LOCK).unlink()
    os.mkfifo(root / LOCK)
    with pytest.raises(StoreError):
        put(store, b"two")
    assert outside.read_text() == "precious"


def test_a_file_that_is_not_what_its_record_says_is_not_published(root):
    store = DirStore(root)
    writer = store.writer()
    writer.write(b"four")
    with pytest.raises(StoreError, match="expected 5 bytes, but 4 were stored"):
        writer.publish(record_of(b"fives"))
    assert refs(store) == set()
    assert os.listdir(root / ".tmp") == []
