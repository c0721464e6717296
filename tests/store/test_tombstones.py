"""A ref never names another output, even after its own output was removed."""

import os
import time

import pytest

from spillover import Clipper, Limits
from spillover.errors import RefError, StoreError
from spillover.store import tombstones
from spillover.store.directory import DirStore
from spillover.store.memory import MemoryStore
from spillover.store.retention import Retention
from spillover.testing import content, put, record_of

DAY = 86_400
OLD = "7f3a9c2e41d0" + "0" * 52
NEW = "7f3a9c2e41d0" + "1" * 52


@pytest.fixture
def root(tmp_path):
    return tmp_path / "store"


def other_of(record):
    """Return another hash with the same prefix."""
    return record.sha256[:16] + "0" * 48


def test_no_other_output_gets_the_ref_of_a_swept_one(root):
    store = DirStore(root, Retention())
    gone = put(store, b"old")
    store.sweep(now=time.time() + 8 * DAY)
    with pytest.raises(StoreError, match=f"another output is, or was, stored as {gone.ref}"):
        put(store, b"new", sha256=other_of(gone))
    assert put(store, b"old").ref == gone.ref


def test_no_other_output_gets_the_ref_of_one_removed_to_make_room(root):
    for store in (DirStore(root, Retention(count=1, grace_seconds=0)), MemoryStore(max_bytes=5)):
        gone = put(store, b"old")
        put(store, b"other")
        with pytest.raises(RefError):
            store.get(gone.ref)
        with pytest.raises(StoreError, match="one ref never names two"):
            put(store, b"new", sha256=other_of(gone))


def test_a_ref_that_is_taken_is_a_lost_output_that_says_why(root, monkeypatch):
    store = DirStore(root)
    clipper = Clipper(Limits(tokens=200), store=store)
    text = "text\n" * 5_000
    ref = clipper.clip(text).ref
    path = root / f"{ref}.json"
    record = path.read_text()
    store.delete(ref)
    (root / ".gone" / ref).write_text(ref.rpartition("-")[2] + "0" * 48 + "\n")
    clip = clipper.clip(text)
    assert clip.outcome == "lost"
    assert f"another output is, or was, stored as {ref}" in clip.text
    assert record
    assert list(store.list()) == []


def legacy(store, root, data, sha256):
    """Store an output as an earlier version did: under a ref of twelve digits."""
    record = put(store, data, sha256=sha256)
    short = record.ref[: -len("0000")]
    for ending in (".txt", ".json"):
        os.rename(root / (record.ref + ending), root / (short + ending))
    return short


def test_refs_of_twelve_digits_can_be_read_and_deleted(root):
    store = DirStore(root)
    ref = legacy(store, root, b"old\n", OLD)
    assert ref == "bash-7f3a9c2e41d0"
    assert content(store, ref) == content(store, "7f3a9c2e41d0") == b"old\n"
    assert store.get(ref).ref == ref
    store.delete(ref)
    with pytest.raises(RefError):
        store.get(ref)


def test_an_old_short_ref_that_is_gone_is_not_taken_for_the_start_of_a_new_one(root):
    store = DirStore(root)
    short = legacy(store, root, b"old\n", OLD)
    new = put(store, b"new\n", sha256=NEW).ref
    assert content(store, short) == b"old\n", "a whole ref wins"
    with pytest.raises(RefError, match="is ambiguous: 2"):
        store.get("7f3a9c2e41d0")
    store.delete(short)
    for ask in (store.get, store.open, store.delete, store.pin):
        with pytest.raises(RefError, match="No output is stored under bash-7f3a9c2e41d0"):
            ask(short)
        with pytest.raises(RefError, match="No output is stored under bash-7f3a9c2e41d0"):
            Clipper(store=store).read(short)
    assert content(store, new) == b"new\n"
    put(store, b"old\n", sha256=OLD)
    with pytest.raises(RefError):
        store.get(short)


def test_the_same_output_under_its_longer_ref_answers_to_the_old_short_one(root):
    store = DirStore(root)
    short = legacy(store, root, b"old\n", OLD)
    store.delete(short)
    ref = put(store, b"old\n", sha256=OLD).ref
    assert store.get(short).ref == ref
    assert "1: old" in Clipper(store=store).read(short).text


def test_tombstones_are_bounded_in_age_and_in_number_and_are_no_outputs(root, monkeypatch):
    store = DirStore(root, Retention(count=3))
    records = [put(store, b"%d" % number) for number in range(3)]
    for number, record in enumerate(records):
        store.delete(record.ref)
        then = time.time() - (31 * DAY if number == 0 else 10 - number)
        os.utime(root / ".gone" / record.ref, (then, then))
    assert list(store.list()) == []
    put(store, b"x"), put(store, b"y"), put(store, b"z")
    store.sweep()
    assert sorted(os.listdir(root / ".gone")) == sorted(record.ref for record in records[1:])
    monkeypatch.setattr(tombstones, "MOST", 1)
    store.sweep()
    assert os.listdir(root / ".gone") == [records[2].ref]
    put_again = put(DirStore(root, None), b"0", sha256=other_of(records[0]))
    assert put_again.ref == records[0].ref, "after a month the ref is free"


@pytest.mark.parametrize("odd", [b"", b"x", b"\0" * 65, b"G" * 64 + b"\n"])
def test_a_tombstone_that_is_damaged_says_nothing(root, odd):
    store = DirStore(root)
    record = put(store, b"x")
    store.delete(record.ref)
    (root / ".gone" / record.ref).write_bytes(odd)
    assert put(store, b"x").ref == record.ref


def test_a_folder_that_cannot_take_a_tombstone_can_be_cleaned_up(root):
    store = DirStore(root)
    ref = put(store, b"x").ref
    (root / ".gone").write_text("a file is in the way")
    store.delete(ref)
    assert list(store.list()) == []


def test_a_memory_store_keeps_a_bounded_number_of_tombstones(monkeypatch):
    monkeypatch.setattr("spillover.store.memory.GONE", 2)
    store = MemoryStore()
    records = [put(store, b"%d" % number) for number in range(3)]
    for record in records:
        store.delete(record.ref)
    assert put(store, b"new", sha256=other_of(records[0])).ref == records[0].ref
    with pytest.raises(StoreError):
        put(store, b"new", sha256=other_of(records[1]))
    assert record_of(b"2").sha256 == records[2].sha256
