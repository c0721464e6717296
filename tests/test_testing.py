"""The helpers that users' tests stand on."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover import testing
from spillover.errors import RefError, StoreError, UsageError
from spillover.store.directory import DirStore
from spillover.store.memory import MemoryStore
from spillover.testing import FailingStore, StoreContract, byte_by_byte, chunked, content, put, record_of


class TestAStoreThatFailsNowhereKeepsTheContract(StoreContract):
    @pytest.fixture
    def store(self):
        return FailingStore(MemoryStore(), after_bytes=1 << 30)


class TestAStoreOnDiskThatFailsNowhereKeepsTheContract(StoreContract):
    @pytest.fixture
    def store(self, tmp_path):
        return FailingStore(DirStore(tmp_path / "store"), after_bytes=1 << 30)


def test_the_helpers_need_no_pytest():
    code = "import sys; sys.modules['pytest'] = None; import spillover.testing as t; print(*t.__all__)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == testing.__all__


def test_every_name_is_there():
    assert all(hasattr(testing, name) for name in testing.__all__)


@given(st.binary(max_size=50), st.lists(st.integers(0, 9)))
def test_pieces_add_up_to_the_whole(data, sizes):
    assert b"".join(byte_by_byte(data)) == data
    assert all(len(piece) == 1 for piece in byte_by_byte(data))
    assert b"".join(chunked(data, sizes)) == data
    store = MemoryStore()
    assert content(store, put(store, chunked(data, sizes)).ref) == data


def test_a_full_disk_comes_after_so_many_bytes_and_nothing_of_that_write_is_kept():
    writer = FailingStore(MemoryStore(), after_bytes=10).writer()
    writer.write(b"0123456")
    with pytest.raises(StoreError, match=r"^No space left on device$"):
        writer.write(b"789ab")
    blob = writer.blob()
    assert blob.read(0, 99) == b"0123456"
    assert writer.fileno() is None, "or bytes could get past us"


def test_a_store_that_takes_no_output_says_why():
    with pytest.raises(StoreError, match=r"^Read-only file system$"):
        FailingStore(MemoryStore(), on="writer", reason="Read-only file system").writer()


def test_a_store_that_cannot_publish_keeps_nothing(tmp_path):
    inner = DirStore(tmp_path / "store")
    store = FailingStore(inner, on="publish")
    with pytest.raises(StoreError, match="No space left"):
        put(store, b"x")
    assert list(inner.list()) == []
    assert not any((tmp_path / "store" / ".tmp").iterdir())


def test_what_was_stored_before_can_still_be_read():
    inner = MemoryStore()
    ref = put(inner, b"before").ref
    assert content(FailingStore(inner), ref) == b"before"
    with pytest.raises(RefError):
        FailingStore(inner).get("bash-000000000000")


def test_a_place_to_fail_at_must_be_one():
    with pytest.raises(UsageError, match="is unknown; use"):
        FailingStore(MemoryStore(), on="read")


def test_a_record_can_be_made_of_bytes_alone():
    record = record_of(b"a\nb", "grep", call_id="7")
    assert (record.tool, record.bytes, record.lines, record.call_id, record.ref) == ("grep", 3, 2, "7", "")


def break_get(store):
    store.get = lambda ref: next(store.list())


def break_delete(store):
    store.delete = lambda ref: None


@pytest.mark.parametrize("spoil", [break_get, break_delete])
def test_the_contract_catches_a_store_that_breaks_it(spoil):
    class Broken(MemoryStore):
        __slots__ = ("__dict__",)

    broken = []
    for name in dir(StoreContract):
        if name.startswith("test_"):
            store = Broken()
            spoil(store)
            try:
                getattr(StoreContract(), name)(store)
            except (AssertionError, LookupError, StopIteration):
                broken.append(name)
    assert broken


def test_the_peak_is_of_this_process_and_not_of_the_one_that_started_it():
    """A worker of pytest had 300 MB, and every child it forked seemed to have had them too."""
    held = bytearray(b"x" * (300 << 20))
    code = "from spillover.testing import peak_memory; a = peak_memory(); b = bytearray(b'x' * (100 << 20)); print(a, peak_memory())"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    before, after = map(int, run.stdout.split())
    assert before < 100 << 20 < after < len(held)
