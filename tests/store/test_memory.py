"""MemoryStore: the contract, and what happens when it is full."""

import pytest

from spillover.errors import RefError, StoreError, UsageError
from spillover.store.memory import MemoryStore
from spillover.testing import StoreContract, content, put


class TestContract(StoreContract):
    @pytest.fixture
    def store(self):
        return MemoryStore()


class TestContractWithACap(StoreContract):
    @pytest.fixture
    def store(self):
        return MemoryStore(max_bytes=1 << 20)


def test_two_stores_are_two_and_can_be_keys():
    assert len({MemoryStore(), MemoryStore()}) == 2


def test_there_is_no_path_and_no_descriptor():
    store = MemoryStore()
    assert store.where(put(store, b"x").ref) is None
    assert store.writer().fileno() is None


def test_the_oldest_that_is_not_pinned_makes_room():
    store = MemoryStore(max_bytes=10)
    dear, old, young = (put(store, data).ref for data in (b"dear", b"old", b"you"))
    store.pin(dear)
    new = put(store, b"new!").ref
    with pytest.raises(RefError):
        store.get(old)
    with pytest.raises(RefError):
        store.get(young)
    assert {record.ref for record in store.list()} == {dear, new}


def test_an_output_put_again_is_young_again():
    store = MemoryStore(max_bytes=6)
    first, second = put(store, b"one").ref, put(store, b"two").ref
    put(store, b"one")
    put(store, b"new")
    assert content(store, first) == b"one"
    with pytest.raises(RefError):
        store.get(second)


def test_an_output_above_the_cap_fails_while_it_is_written_and_costs_nobody_else():
    store = MemoryStore(max_bytes=10)
    ref = put(store, b"12345").ref
    writer = store.writer()
    writer.write(b"x" * 10)
    with pytest.raises(StoreError, match="at most 10 bytes"):
        writer.write(b"x")
    blob = writer.blob()
    assert blob.size == 10
    assert content(store, ref) == b"12345"


def test_what_is_pinned_is_not_pushed_out():
    store = MemoryStore(max_bytes=10)
    put(store, b"1234567", pinned=True)
    put(store, b"12")
    with pytest.raises(StoreError, match="what is pinned"):
        put(store, b"1234")
    assert len(list(store.list())) == 2


def test_a_cap_of_nothing_is_refused():
    with pytest.raises(UsageError, match="max_bytes=0"):
        MemoryStore(max_bytes=0)
