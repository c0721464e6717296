"""A bucket of earlier versions, where bytes stood beside their record: still read, listed, swept and removed."""

import hashlib
import time

import pytest

from spillover import Clipper, Limits, ObjectStore, RefError, Retention
from spillover.store.base import verify
from spillover.store.object.entry import decode
from spillover.store.scoped import Scoped
from spillover.testing import content, put

DATA = b"one\ntwo\n"
SHA256 = hashlib.sha256(DATA).hexdigest()
REF = f"bash-{SHA256[:16]}"
KEY = f"acme/~o/{REF}"
#: As it was written then, to the byte.
RECORD = (
    b'{"spillover": 1, "tool": "bash", "call_id": null, "command": "make", "created": 1700000000.5, "bytes": 8, "lines": 2, '
    b'"sha256": "c3f9c8c283a2b1f2f1896f27a01cbe3cddc0c9d93f752e4639035a0f5b36f6e8", "partial": null, "produced_bytes": null, '
    b'"produced_lines": null, "segments": [], "shown": [], "kind": "", "why": [], "notices": [], "scope": "acme", "others": [], '
    b'"index": {"block": 65536, "before": [0]}, "pinned": false, '
    b'"object": {"data": "bash-c3f9c8c283a2b1f2.0123456789abcdef.txt", "form": "plain", "frame": 524288, "sizes": [8], '
    b'"sha256": ["c3f9c8c283a2b1f2f1896f27a01cbe3cddc0c9d93f752e4639035a0f5b36f6e8"], "newlines": 2}, '
    b'"check": "dcda722b37b1a319872285d589921c467812b174b16bfa3ec55dbb0294b818da"}\n'
)
BYTES = f"{KEY}.0123456789abcdef.txt"


@pytest.fixture
def store(s3):
    made = ObjectStore(s3, Retention(grace_seconds=0, age_seconds=None, count=None, bytes=None))
    made.bucket.put(BYTES, DATA)
    made.bucket.put(f"{KEY}.json", RECORD)
    return made


def keys(store):
    return sorted(key for key, *_ in store.bucket.list(""))


def test_a_record_of_then_is_written_again_as_it_was():
    assert decode(RECORD, REF).encode() == RECORD


@pytest.mark.parametrize("asked", [REF, REF[:9], SHA256[:7]])
def test_it_is_found_and_read(store, asked):
    view = Scoped(store, "acme")
    assert content(view, asked) == DATA
    assert verify(view, view.get(asked).ref) is None
    assert [record.ref for record in view.list()] == [REF]
    assert view.newest(5)[1] == 1
    assert "2: two" in Clipper(Limits(tokens=300), store=store, scope="acme").read(asked, lines=2).text
    with pytest.raises(RefError):
        Scoped(store, "other").get(asked)


def test_it_stays_where_it_is_when_it_is_pinned_and_stored_again(store):
    store.pin(REF)
    assert keys(store) == sorted([BYTES, f"{KEY}.json"])
    put(store, DATA, scope="acme", command="make again")
    assert keys(store) == sorted([BYTES, f"{KEY}.json"]), "the bytes that came for nothing are gone"
    assert content(store, REF) == DATA
    assert (store.get(REF).command, store.get(REF).pinned) == ("make again", True)


def test_storing_it_again_mends_a_record_whose_bytes_are_gone(store):
    store.bucket.delete([BYTES])
    put(store, DATA, scope="acme")
    assert content(store, REF) == DATA
    assert [key.split("/")[1] for key in keys(store)] == ["~o", "~s"]


def test_removing_it_leaves_a_tombstone_alone(store):
    store.bucket.put(f"{KEY}.read", b"")
    store.delete(REF)
    assert keys(store) == [f"{KEY}.json"]
    assert store.within("acme").ended(REF) == SHA256


def test_old_and_new_are_swept_together_by_count_bytes_and_leftovers(store):
    new = put(store, b"new\n" * 100, scope="acme")
    later = time.time() + 7_200
    store.bucket.put(f"acme/~o/{REF}.{'f' * 16}.txt", b"a try that came for nothing")
    store.bucket.put(f"acme/~o/bash-{'0' * 16}.{'f' * 16}.txt", b"left by a writer that was killed")
    store.bucket.put(f"acme/~o/bash-{'0' * 16}.read", b"")
    assert store.sweep(later).leftovers == 3
    assert content(store, REF) == DATA
    both, old = sum(size for _, size, _ in store.bucket.list("acme")), len(RECORD) + len(DATA)
    assert store.sweep(later, retention=Retention(grace_seconds=0, bytes=both)).outputs == 0
    assert store.sweep(later, retention=Retention(grace_seconds=0, bytes=both - 1), dry_run=True).bytes in (
        old,
        both - old,
    )
    assert store.sweep(later, retention=Retention(grace_seconds=0, count=0)).bytes == both
    assert keys(store) == sorted([f"{KEY}.json", f"acme/~o/{new.ref}.json"]), "of both a tombstone is left"


def test_a_read_is_noted_beside_the_bytes(s3):
    store = ObjectStore(s3, Retention(age_seconds=0, grace_seconds=0, idle_seconds=3_600))
    store.bucket.put(BYTES, DATA)
    store.bucket.put(f"{KEY}.json", RECORD)
    new = put(store, b"new\n", scope="acme")
    for ref in (REF, new.ref):
        content(store, ref)
    assert [key for key in keys(store) if key.endswith(".read")] == [f"{KEY}.read", f"acme/~s/{new.ref}.read"]
    assert store.sweep(time.time() + 60).outputs == 0
    assert store.sweep(time.time() + 7_200).outputs == 2
    assert [key.endswith(".json") for key in keys(store)] == [True, True]
