"""BaseStore: a store that has nothing but the seven methods and a writer keeps the whole contract."""

import time
from threading import Lock

import pytest
from msgspec.structs import replace

from spillover import StoreError
from spillover.source.blob import MemoryBlob
from spillover.store.record import RefTakenError, merge, name_for, newest_first, resolve
from spillover.store.scopes import ScopedStore
from spillover.testing import StoreContract, content, put
from spillover.types import BaseStore


class DictStore(BaseStore):
    """Written as CONTRIBUTING.md says."""

    def __init__(self):
        self.outputs, self.lock = {}, Lock()

    def writer(self):
        return DictWriter(self)

    def get(self, ref):
        return self.outputs[resolve(ref, list(self.outputs))][0]

    def open(self, ref):
        return MemoryBlob(self.outputs[self.get(ref).ref][1])

    def list(self):
        return iter(newest_first(record for record, _ in list(self.outputs.values())))

    def delete(self, ref):
        del self.outputs[self.get(ref).ref]

    def pin(self, ref, pinned=True):
        record, data = self.outputs[self.get(ref).ref]
        self.outputs[record.ref] = replace(record, pinned=pinned), data

    def where(self, ref):
        return None


class DictWriter:
    def __init__(self, store):
        self.store, self.data = store, bytearray()

    def write(self, data):
        if self.data is None:
            raise StoreError("This output has already been published or abandoned.")
        self.data += data

    def fileno(self):
        return None

    def blob(self):
        return MemoryBlob(bytes(self.data))

    def publish(self, record):
        self.write(b"")
        data, self.data = bytes(self.data), None
        record = record.with_created(time.time()).with_ref(name_for(record.tool, record.sha256))
        with self.store.lock:
            present = self.store.outputs.get(record.ref)
            if present and present[0].sha256 != record.sha256:
                raise RefTakenError(record.ref)
            merged = merge(present[0], record) if present else record
            self.store.outputs[record.ref] = merged, data
        return merged

    def abandon(self):
        self.data = None


class TestSevenMethods(StoreContract):
    @pytest.fixture
    def store(self):
        return DictStore()


class TestSevenMethodsInOneScope(StoreContract):
    # These need several scopes, and this is the view of one.
    test_the_same_output_of_two_scopes_belongs_to_both_each_with_its_own_call = None
    test_an_output_without_a_scope_belongs_to_the_first_scope_that_stores_it = None
    test_scopes_that_store_the_same_output_at_once_all_have_it = None

    @pytest.fixture
    def store(self):
        return ScopedStore(DictStore(), "acme/web")


def test_a_store_that_cannot_release_says_so_and_keeps_the_output():
    store = DictStore()
    ref = put(store, b"same", scope="acme/web").ref
    put(store, b"same", scope="acme/other")
    with pytest.raises(StoreError, match="delete it in all of them"):
        ScopedStore(store, "acme/web").delete(ref)
    assert content(ScopedStore(store, "acme/other"), ref) == b"same"
