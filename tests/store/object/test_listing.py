"""Listing in ranges: every key once, whatever the keys are, and few requests where hashes are spread evenly."""

import hashlib
from contextlib import nullcontext

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover import ObjectStore, StoreError
from spillover.store.object import bucket as buckets
from spillover.store.object import listing
from spillover.store.object.listing import PAGE, list_all


class Keys:
    """A bucket of these keys, as a listing sees it."""

    deadline = 60.0
    explain = staticmethod(nullcontext)

    def __init__(self, keys, page=PAGE, url="s3://bucket/x"):
        self.keys, self.url, self.size, self.requests = sorted(keys), url, page, 0

    def page(self, prefix, after):
        self.requests += 1
        found = [key for key in self.keys if key.startswith(prefix) and (after is None or key > after)]
        return [(key, 300, None) for key in found[: self.size]]

    def list(self, prefix):
        return [(key, 300, None) for key in self.keys if key.startswith(prefix)]


def listed(bucket, prefix=""):
    return [key for key, _, _ in list_all(bucket, prefix)]


def key_of(number, scope="acme", tool="bash", end=".json"):
    return f"{scope}/~o/{tool}-{hashlib.sha256(b'%d' % number).hexdigest()[:16]}{end}"


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
    "{}/~o/{}-{}{}".format, st.sampled_from("ab"), st.sampled_from("xyz"), digits, st.sampled_from([".json", ".read"])
)
keys = st.sets(st.one_of(ours, st.text("ab/~o-0fgz.", min_size=1, max_size=20)), max_size=150)


@settings(max_examples=100, deadline=None)
@given(keys=keys, page=st.integers(2, 12))
def test_every_key_is_listed_once(keys, page):
    bucket = Keys(keys, page)
    before, listing.PAGE = listing.PAGE, page
    try:
        assert sorted(listed(bucket)) == bucket.keys
        assert sorted(listed(bucket, "a")) == [key for key in bucket.keys if key.startswith("a")]
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
    assert bucket.requests <= 20 + listing.PARTS * listing.TIMES + 1


def test_one_page_is_one_request():
    bucket = Keys(key_of(number) for number in range(PAGE - 1))
    assert len(listed(bucket)) == PAGE - 1
    assert bucket.requests == 1


def test_a_server_that_always_begins_at_the_first_key_is_listed_page_by_page(monkeypatch):
    """Each of its answers would have been taken for the next page, for ever."""
    bucket = Keys(key_of(number) for number in range(3_000))
    monkeypatch.setattr(bucket, "page", lambda prefix, after: bucket.list(prefix)[:PAGE])
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


def test_an_answer_that_does_not_come_ends_the_listing_with_words(proxy, s3, small_pages):
    store = ObjectStore(s3, deadline_seconds=0.5)
    for number in range(30):
        store.bucket.put(key_of(number), b"x")
    proxy.script = [None, *["hang"] * 40]
    with pytest.raises(StoreError, match=r"gave no answer for 0.5 seconds|does not answer"):
        listed(store.bucket)
