"""Listing in ranges: every key once, whatever the keys are, and few requests where hashes are spread evenly."""

import hashlib
from contextlib import nullcontext

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover import ObjectStore, StoreError
from spillover.store.object import bucket as buckets
from spillover.store.object import listing
from spillover.store.object.keys import is_record
from spillover.store.object.listing import PAGE, list_all, list_records


class Keys:
    """A bucket of these keys, as a listing sees it."""

    deadline = 60.0
    explain = staticmethod(nullcontext)

    def __init__(self, keys, page=PAGE, url="s3://bucket/x"):
        self.keys, self.url, self.size, self.requests, self.brought = sorted(keys), url, page, 0, 0

    def page(self, folder, after):
        self.requests += 1
        return self.list(folder, after=after)[: self.size]

    def list(self, folder, *, after=None):
        below = f"{folder}/" if folder else ""
        found = [key for key in self.keys if key.startswith(below) and (after is None or key > after)]
        self.brought += min(len(found), self.size)
        return [(key, 300, None) for key in found]


def listed(bucket, prefix=""):
    return [key for key, _, _ in list_all(bucket, prefix)]


def records(bucket, place="", begin="", *, alone=False):
    found = [key for key, _, _ in list_records(bucket, place, begin, alone=alone) if is_record(key)]
    return sorted(key for key in found if key.rpartition("/")[2].startswith(begin))


def key_of(number, scope="acme", tool="bash", end=".json"):
    return f"{scope}/~o/{tool}-{hashlib.sha256(b'%d' % number).hexdigest()[:16]}{end}"


def keys_of(number, scope="acme"):
    """The record and the bytes of an output."""
    record = key_of(number, scope)
    return record, record.replace("~o", "~s").replace(".json", f".{number:016x}.zst")


@pytest.fixture
def small_pages(monkeypatch):
    monkeypatch.setattr(listing, "PAGE", 10)
    monkeypatch.setattr(buckets, "PAGE", 10)


digits = st.one_of(
    st.integers(0, 16**12 - 1).map("{:012x}".format),
    st.integers(0, 300).map("{:016x}".format),
    st.integers(0, 40).map(lambda number: hashlib.sha256(bytes([number])).hexdigest()),
)
ours = st.builds(
    "{}/{}/{}-{}{}".format,
    st.sampled_from(["a", "b", "b/a", "b-a"]),
    st.sampled_from(["~o", "~s"]),
    st.sampled_from("xyz"),
    digits,
    st.sampled_from([".json", ".read", ".0123456789abcdef.zst"]),
)
keys = st.sets(st.one_of(ours, st.text("ab/~o-0fgz.", min_size=1, max_size=20)), max_size=150)


@settings(max_examples=100, deadline=None)
@given(keys=keys, page=st.integers(2, 12))
def test_every_key_is_listed_once(keys, page):
    bucket = Keys(keys, page)
    before, listing.PAGE = listing.PAGE, page
    try:
        assert sorted(listed(bucket)) == bucket.keys
        assert sorted(listed(bucket, "a")) == [key for key in bucket.keys if key.startswith("a/")]
    finally:
        listing.PAGE = before


@settings(max_examples=200, deadline=None)
@given(
    keys=keys, page=st.integers(2, 12), place=st.sampled_from(["", "a", "b"]), begin=st.sampled_from(["", "x-0", "y-"])
)
def test_every_record_is_listed_once_whatever_stands_between(keys, page, place, begin):
    bucket = Keys(keys, page)
    before, listing.PAGE = listing.PAGE, page
    try:
        for alone in (False, True):
            below = f"{place}/~o/" if alone else f"{place}/" if place else ""
            ours = [key for key in bucket.keys if key.startswith(below) and is_record(key)]
            ours = [key for key in ours if key.rpartition("/")[2].startswith(begin)]
            assert records(bucket, place, begin, alone=alone) == ours
    finally:
        listing.PAGE = before


def test_hashes_that_are_spread_evenly_are_listed_in_few_requests_that_wait_for_none():
    count = 40_000
    bucket = Keys(key_of(number) for number in range(count))
    assert sorted(listed(bucket)) == bucket.keys
    assert count / PAGE <= bucket.requests <= 1.5 * count / PAGE


def test_hashes_that_are_not_spread_evenly_cost_some_requests_more():
    bucket = Keys(f"acme/~o/bash-{number:016x}.json" for number in range(20_000))
    assert sorted(listed(bucket)) == bucket.keys
    assert bucket.requests <= 20 + listing.AT_ONCE * listing.TIMES + 1


@pytest.mark.parametrize(("scopes", "each"), [(1, 40_000), (20, 2_000), (40, 1_000), (57, 700)])
def test_where_records_are_wanted_large_folders_of_bytes_are_passed_by(scopes, each):
    bucket = Keys(key for scope in range(scopes) for at in range(each) for key in keys_of(at, f"acme/{scope}"))
    assert len(records(bucket, "acme")) == scopes * each
    assert bucket.requests <= 1.2 * scopes * each / PAGE + 2 * scopes + listing.AT_ONCE
    assert bucket.brought <= scopes * max(PAGE, 1.3 * each), "and not twice as many"


def test_where_scopes_are_small_passing_their_bytes_by_costs_no_more_requests_than_listing_them():
    bucket = Keys(key for scope in range(300) for at in range(100) for key in keys_of(at, f"acme/{scope}"))
    assert len(records(bucket, "acme")) == 30_000
    assert bucket.requests <= 2 * 30_000 / PAGE + 1


@pytest.mark.parametrize("alone", [True, False])
def test_a_prefix_of_a_ref_is_found_in_few_requests_however_many_outputs_there_are(alone):
    bucket = Keys(key for number in range(20_000) for key in keys_of(number))
    wanted = key_of(12_345)
    begin = wanted.partition("~o/")[2][:12]
    assert records(bucket, "acme", begin, alone=alone) == [wanted]
    assert bucket.requests <= 4


def test_a_server_that_goes_back_in_the_middle_is_not_listed_for_ever(monkeypatch):
    bucket = Keys(key for scope in range(3) for at in range(2_000) for key in keys_of(at, f"acme/{scope}"))
    page = bucket.page
    monkeypatch.setattr(
        bucket, "page", lambda folder, after: page(folder, "acme/1/~o/" if "/1/~s" in (after or "") else after)
    )
    with pytest.raises(StoreError, match="keys that stand before those it was asked for"):
        records(bucket, "acme")


def test_one_page_is_one_request():
    bucket = Keys(key_of(number) for number in range(PAGE - 1))
    assert len(listed(bucket)) == PAGE - 1
    assert bucket.requests == 1


def test_a_server_that_always_begins_at_the_first_key_is_listed_page_by_page(monkeypatch):
    """Each of its answers would have been taken for the next page, for ever."""
    bucket = Keys(key_of(number) for number in range(3_000))
    monkeypatch.setattr(bucket, "page", lambda folder, after: bucket.list(folder)[:PAGE])
    assert sorted(listed(bucket)) == bucket.keys


def test_where_ranges_are_made_by_the_library_itself_pages_follow_each_other():
    bucket = Keys((key_of(number) for number in range(3_000)), url="az://bucket/x")
    assert listed(bucket) == bucket.keys
    assert bucket.requests == 0


def test_a_server_lists_every_key_of_several_tools_and_scopes_once(s3, small_pages):
    store = ObjectStore(s3)
    keys = {
        f"{scope}/~o/{tool}-{hashlib.sha256(f'{scope}{tool}{number}'.encode()).hexdigest()[:16]}.json"
        for scope, tool, count in (
            ("acme", "bash", 70),
            ("acme", "b", 15),
            ("acme-2", "bash", 12),
            ("acme/web", "bash", 30),
            ("acme/web", "zsh", 30),
        )
        for number in range(count)
    }
    for key in keys:
        store.bucket.put(key, b"x")
    found = listed(store.bucket)
    assert sorted(found) == sorted(keys)
    assert sorted(listed(store.bucket, "acme")) == sorted(key for key in keys if key.startswith("acme/"))
    assert records(store.bucket, "acme") == sorted(key for key in keys if key.startswith("acme/"))
    for key in keys:
        store.bucket.put(key.replace("~o", "~s").replace(".json", f".{'0' * 16}.txt"), b"x")
    for place in ("", "acme", "acme/web"):
        below = sorted(key for key in keys if key.startswith(f"{place}/" if place else ""))
        assert records(store.bucket, place) == below
        assert records(store.bucket, place, "bash-7") == [key for key in below if "/bash-7" in key]


def test_an_answer_that_does_not_come_ends_the_listing_with_words(proxy, s3, small_pages):
    store = ObjectStore(s3, deadline_seconds=0.5)
    for number in range(30):
        store.bucket.put(key_of(number), b"x")
    proxy.script = [None, *["hang"] * 40]
    with pytest.raises(StoreError, match=r"gave no answer for 0.5 seconds|does not answer"):
        listed(store.bucket)
