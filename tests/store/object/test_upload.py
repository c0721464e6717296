"""What an upload leaves in the bucket when it fails halfway, and what the next one makes of it."""

import os
import time

import pytest

from spillover import Clipper, Limits, ObjectStore, Retention
from spillover.store.object.keys import record_key
from spillover.store.scoped import Scoped
from spillover.testing import content, put

LOG = "".join(f"{number} compiled module_{number * 7919 % 10007}\n" for number in range(9_000))


def test_a_record_whose_answer_was_lost_keeps_its_bytes(proxy, s3, tmp_path):
    """A soak once lost an output so: the bytes were removed because the record had failed, and the record was there."""
    store = ObjectStore(s3, spool=tmp_path / "spool", deadline_seconds=60)
    proxy.script = [None, "lose", "403", "403"]  # the record arrives, nobody hears of it, and later tries are refused
    clip = Clipper(Limits(tokens=300), store=store, scope="acme").clip(LOG)
    assert clip.reason is not None
    assert store.push().left == 0
    elsewhere = ObjectStore(s3, spool=tmp_path / "elsewhere", deadline_seconds=60)
    assert content(Scoped(elsewhere, "acme"), clip.ref) == LOG.encode()


@pytest.mark.parametrize("pushed", [False, True])
def test_a_record_that_has_outlived_its_bytes_gets_those_that_are_stored_again(proxy, s3, tmp_path, pushed):
    store = ObjectStore(s3, spool=tmp_path / "spool", deadline_seconds=60)
    clipper = Clipper(Limits(tokens=300), store=store, scope="acme")
    ref = clipper.clip(LOG).ref
    store.bucket.delete([key for key, *_ in store.bucket.list("acme") if key.endswith(".zst")])
    proxy.faults = {"403": 1.0} if pushed else {}
    assert clipper.clip(LOG).ref == ref
    proxy.faults = {}
    assert store.push().outputs == pushed
    assert content(Scoped(store, "acme"), ref) == LOG.encode()


def test_a_record_is_merged_with_one_that_came_garbled_the_first_time(proxy, s3):
    store = ObjectStore(s3)
    first = put(store, LOG.encode(), scope="acme", notices=("first",))
    proxy.script = [None, None, "corrupt"]  # the bytes; the record is taken; who has it comes garbled
    put(store, LOG.encode(), scope="acme", notices=("second",))
    assert store.get(first.ref).notices == ("first", "second")
    assert len([key for key, *_ in store.bucket.list("acme") if key.endswith(".zst")]) == 1


def test_an_output_stored_again_late_in_its_life_survives_the_lifecycle_rule(s3):
    """The rule removes objects older than its age. Half of that age is left to every output that is promised again."""
    store = ObjectStore(s3, Retention(age_seconds=4))
    ref = put(store, LOG.encode(), scope="acme").ref
    begin = max(changed for _, _, changed in store.bucket.list("acme"))
    assert len([*store.bucket.list("acme")]) == 2
    put(store, LOG.encode(), scope="acme")
    assert len([*store.bucket.list("acme")]) == 2, "fresh bytes are not uploaded again"
    time.sleep(3)
    put(store, LOG.encode(), scope="acme")
    store.bucket.delete([key for key, _, changed in store.bucket.list("acme") if changed <= begin])  # as the rule does
    assert content(store, ref) == LOG.encode()


def test_a_record_that_the_bucket_removes_while_it_is_updated_is_made_again(s3, monkeypatch):
    store = ObjectStore(s3)
    first = put(store, LOG.encode(), scope="acme")
    real, calls = type(store.bucket).replace, []

    def meddle(bucket, key, data, tag):
        calls.append(key)
        if len(calls) == 1:  # a rule of the bucket is quicker
            bucket.delete([key])
        real(bucket, key, data, tag)

    monkeypatch.setattr(type(store.bucket), "replace", meddle)
    assert put(store, LOG.encode(), scope="acme", command="again").ref == first.ref
    assert calls == [record_key("acme", first.ref)]
    assert content(Scoped(store, "acme"), first.ref) == LOG.encode()


@pytest.mark.parametrize("large", [False, True], ids=["in one request", "in parts"])
def test_an_upload_that_arrives_garbled_is_never_called_stored_in_the_bucket(proxy, s3, tmp_path, large):
    store = ObjectStore(s3, spool=tmp_path / "spool", deadline_seconds=60)
    text = "".join(f"{os.urandom(60).hex()}\n" for _ in range(90_000 if large else 900))
    proxy.faults = {"corrupt_up": 1.0}
    clip = Clipper(Limits(tokens=300), store=store, scope="acme").clip(text)
    assert "what arrived differs from what was sent" in clip.reason
    proxy.faults = {}
    assert not [*store.bucket.list("")]
    assert store.push().outputs == 1
    assert content(Scoped(store, "acme"), clip.ref) == text.encode()
