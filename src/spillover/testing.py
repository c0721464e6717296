"""Helpers for your tests and ours: the store contract, a store that fails on demand, strict selectors, odd chunks.

In production, a selector that raises does not end the tool call: both ends are shown, and `Clip.why` and the notice say
so. To make it a failure of your tests, your own selectors and ours alike:

    @pytest.fixture(autouse=True)
    def _selectors_may_not_fail():
        with strict_selectors():
            yield

To check a store of your own against the contract, add a class to your tests:

    class TestMyStore(StoreContract):
        @pytest.fixture
        def store(self):
            return MyStore()       # a new, empty store each time
"""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from msgspec.structs import replace

from spillover import fallback
from spillover.errors import RefError, StoreError, UsageError, quote
from spillover.source.blob import Blob, Meter
from spillover.store import Store, WrappedStore, Writer, complete, verify
from spillover.store.record import Owner, Record, RunRecord, mint, owners
from spillover.store.scopes import default_scope

__all__ = [
    "HOSTILE_REFS",
    "FailingStore",
    "StoreContract",
    "byte_by_byte",
    "chunked",
    "content",
    "peak_memory",
    "put",
    "record_of",
    "strict_selectors",
]


#: Malformed refs that must never end up in a path, a URL or a pattern.
HOSTILE_REFS = (
    "../x", "a/b", "", ".", "..", "/etc/passwd", "\0", "bash-7f3a9c2e41d05b86\0", "bash-7f3a9c2e41d05b86/..", "bash-…",
    "bash-\u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668\u0669\u0660\u0661\u0662", "bash-7f3a9c2e41d05b86\n",
    "*", "x" * 5_000, "bash-" + "0" * 5_000,
    "bash-7F3A9C2E41D0", "~", "-", "--help", "\ud800",
)  # fmt: skip

_SAMPLES = (b"", b"\n", b"one", b"one\ntwo\r\nthree\n", bytes(range(256)) * 5, b"\xff\xfe\x00broken\xc3", b"\n" * 3_000)


@contextmanager
def strict_selectors() -> Iterator[None]:
    """Let a selector that raises end the call with its own exception, in every thread, while the block lasts."""
    survived = fallback.SURVIVED
    fallback.SURVIVED = ()
    try:
        yield
    finally:
        fallback.SURVIVED = survived


def peak_memory() -> int:
    """Return the peak memory of this process in bytes, not counting its parent."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage includes what the parent had when it forked
        return next(int(line.split()[1]) << 10 for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak << 10


class FailingStore(WrappedStore):
    """A store that fails at a chosen point, with a chosen reason, and otherwise passes every call to `inner`."""

    def __init__(
        self,
        inner: Store,
        *,
        on: Literal["writer", "write", "publish"] = "write",
        after_bytes: int = 0,
        reason: str = "No space left on device",
    ) -> None:
        if on not in ("writer", "write", "publish"):
            raise UsageError(f'on={quote(on)} is unknown; use "writer", "write" or "publish".')
        super().__init__(inner)
        self.on = on
        self.after_bytes = after_bytes
        self.reason = reason

    def writer(self) -> Writer:
        if self.on == "writer":
            raise StoreError(self.reason)
        return _FailingWriter(self, self.inner.writer())


class _FailingWriter:
    def __init__(self, store: FailingStore, inner: Writer) -> None:
        self.store = store
        self.inner = inner
        self.bytes = 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.bytes += len(data)
        if self.store.on == "write" and self.bytes > self.store.after_bytes:
            raise StoreError(self.store.reason)
        self.inner.write(data)

    def fileno(self) -> None:
        """Return None, so that every byte passes through `write`."""

    def blob(self) -> Blob:
        return self.inner.blob()

    def publish(self, record: Record) -> Record:
        if self.store.on == "publish":
            self.inner.abandon()
            raise StoreError(self.store.reason)
        return self.inner.publish(record)

    def abandon(self) -> None:
        self.inner.abandon()


def byte_by_byte(data: bytes) -> Iterator[bytes]:
    """Yield the bytes of `data` one at a time."""
    return (data[at : at + 1] for at in range(len(data)))


def chunked(data: bytes, sizes: Iterable[int]) -> Iterator[bytes]:
    """Yield `data` in pieces of these sizes, then the rest in one."""
    at = 0
    for size in sizes:
        yield data[at : at + size]
        at += size
    if at < len(data):
        yield data[at:]


def put(store: Store, data: bytes | Iterable[bytes], tool: str = "bash", **facts: Any) -> Record:
    """Store an output as `clip` would, for this project; `facts` are more fields of its record."""
    facts.setdefault("scope", default_scope())
    writer = store.writer()
    meter = Meter()
    try:
        for chunk in (data,) if isinstance(data, bytes) else data:
            writer.write(chunk)
            meter.feed(chunk)
        return writer.publish(record_of(meter, tool, **facts))
    finally:
        writer.abandon()


def record_of(output: Meter | bytes, tool: str = "bash", **facts: Any) -> Record:
    """Return the record of an output, before a store gives it a ref; `facts` are more fields."""
    meter = output if isinstance(output, Meter) else Meter()
    if isinstance(output, bytes):
        meter.feed(output)
    measures: dict[str, Any] = {"sha256": meter.sha256, "bytes": meter.bytes, "lines": meter.lines}
    return Record(**{**measures, "ref": "", "tool": tool, "index": meter.index, **facts})


def content(store: Store, ref: str) -> bytes:
    """Return all bytes of a stored output."""
    blob = store.open(ref)
    try:
        return blob.read(0, blob.size)
    finally:
        blob.close()


@contextmanager
def _raises(kind: type[Exception], about: object = "") -> Iterator[None]:
    """Expect an exception, as pytest.raises does; this module can be imported without pytest."""
    try:
        yield
    except kind:
        return
    raise AssertionError(f"no {kind.__name__} {about!r:.100}")


class StoreContract:
    """Tests that every store must pass. Subclass it as Test…, with a fixture `store` that returns an empty store."""

    #: False for a store that refuses pins, because something else removes its outputs.
    pins = True

    def test_any_bytes_in_any_chunks_come_back_unchanged(self, store: Store) -> None:
        for data in _SAMPLES:
            refs = set()
            for chunks in ([data], byte_by_byte(data), chunked(data, [0, 7, 1, 0, 1_000])):
                record = put(store, chunks)
                refs.add(record.ref)
                assert content(store, record.ref) == data
                assert verify(store, record.ref) is None
            assert refs == {mint("bash", record.sha256)}

    def test_any_buffer_can_be_written(self, store: Store) -> None:
        writer = store.writer()
        for piece in (b"bytes ", bytearray(b"bytearray "), memoryview(b"-memoryview-")[1:-1]):
            writer.write(piece)
        record = writer.publish(record_of(b"bytes bytearray memoryview"))
        assert content(store, record.ref) == b"bytes bytearray memoryview"

    def test_nothing_can_be_seen_before_it_is_published(self, store: Store) -> None:
        writer = store.writer()
        writer.write(b"not yet")
        record = record_of(b"not yet")
        assert list(store.list()) == []
        with _raises(RefError):
            store.get(mint(record.tool, record.sha256))
        assert [writer.publish(record)] == list(store.list())

    def test_bytes_can_be_read_before_they_are_published(self, store: Store) -> None:
        writer = store.writer()
        writer.write(b"0123456789")
        blob = writer.blob()
        writer.write(b"later")
        assert (blob.size, blob.read(0, 100), blob.read(3, 5)) == (10, b"0123456789", b"34")
        writer.abandon()
        assert blob.read(0, 2) == b"01", "a blob outlives its writer"
        blob.close()

    def test_bytes_written_to_the_descriptor_are_part_of_the_output(self, store: Store) -> None:
        writer = store.writer()
        fd = writer.fileno()
        writer.write(b"by write, ")
        if fd is None:
            writer.write(b"by descriptor, ")
        else:
            os.write(fd, b"by descriptor, ")
        writer.write(b"by write")
        whole = b"by write, by descriptor, by write"
        assert content(store, writer.publish(record_of(whole)).ref) == whole

    def test_abandoning_leaves_nothing_and_may_happen_at_any_time(self, store: Store) -> None:
        writer = store.writer()
        writer.write(b"gone")
        writer.abandon()
        writer.abandon()
        assert list(store.list()) == []
        writer = store.writer()
        record = writer.publish(record_of(b""))
        writer.abandon()
        assert list(store.list()) == [record]

    def test_a_writer_that_is_done_takes_nothing_more(self, store: Store) -> None:
        for end in ("publish", "abandon"):
            writer = store.writer()
            writer.publish(record_of(b"")) if end == "publish" else writer.abandon()
            with _raises(StoreError, end):
                writer.write(b"more")
            with _raises(StoreError, end):
                writer.publish(record_of(b""))

    def test_a_record_comes_back_unchanged(self, store: Store) -> None:
        facts = {
            "created": 1_700_000_000.25, "call_id": "call_1 \ud800 é", "command": "make\n-j8",
            "partial": "the disk was full", "produced_bytes": 10**12, "produced_lines": 10**9,
            "segments": (("stdout", 3), ("stderr", 1)), "shown": ((1, 2), (9, 9)), "kind": "log",
            "why": ((1, 2, "verdict"),), "scope": "acme/web",
        }  # fmt: skip
        published = put(store, b"a\nb\n", "My Tool/é", **facts)
        assert published == replace(record_of(b"a\nb\n", "My Tool/é", **facts), ref=published.ref)
        assert store.get(published.ref) == published
        assert list(store.list()) == [published]

    def test_the_same_output_twice_is_one_output(self, store: Store) -> None:
        first = put(store, b"same", call_id="1")
        assert put(store, b"same", call_id="2").ref == first.ref
        assert [record.ref for record in store.list()] == [first.ref]
        second = put(store, b"same", "another")
        assert second.ref != first.ref
        store.delete(second.ref)
        assert content(store, first.ref) == b"same"

    def test_the_same_output_again_is_the_newest(self, store: Store) -> None:
        first = put(store, b"same", created=1.0, command="make")
        second = put(store, b"other", created=2.0)
        assert put(store, b"same", created=3.0, command="make again").command == "make again"
        assert [(record.ref, record.created) for record in store.list()] == [(first.ref, 3.0), (second.ref, 2.0)]
        put(store, b"same", created=2.5, command="late to come")
        assert store.get(first.ref).command == "make again"

    def test_the_same_output_from_a_pipe_erased_the_command_that_printed_it(self, store: Store) -> None:
        put(store, b"same", created=1.0, command="make")
        assert put(store, b"same", created=2.0).command == "make"
        put(store, b"same", created=3.0, command="make again")
        (record,) = store.list()
        assert record.command == "make again"

    def test_the_same_output_of_two_scopes_belongs_to_both_each_with_its_own_call(self, store: Store) -> None:
        put(store, b"same", scope="/home/a", created=1.0, command="make a", call_id="1")
        put(store, b"same", scope="acme/b", created=3.0, command="make b")
        late = put(store, b"same", scope="acme/c", created=2.0, command="make c")
        put(store, b"same", scope="/home/a", created=2.5, command="make a again", call_id="2")
        (record,) = store.list()
        assert store.get(late.ref) == record
        assert owners(record) == (
            Owner("acme/b", 3.0, None, "make b"),
            Owner("/home/a", 2.5, "2", "make a again"),
            Owner("acme/c", 2.0, None, "make c"),
        )

    def test_an_output_without_a_scope_belongs_to_the_first_scope_that_stores_it(self, store: Store) -> None:
        assert put(store, b"same", scope=None, created=1.0).scope is None
        assert put(store, b"same", scope="acme", created=2.0).scope == "acme"
        put(store, b"same", scope=None, created=3.0)
        (record,) = store.list()
        assert [owner.scope for owner in owners(record)] == ["acme"], "and what nobody has takes it from nobody"

    def test_scopes_that_store_the_same_output_at_once_all_have_it(self, store: Store) -> None:
        scopes = [f"tenant/{number}" for number in range(24)]
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda scope: put(store, b"at once", scope=scope), scopes))
        (record,) = store.list()
        assert sorted(owner.scope for owner in owners(record)) == sorted(scopes)

    def test_the_newest_record_of_the_same_bytes_says_whether_they_are_a_part(self, store: Store) -> None:
        part = put(store, b"same", partial="the disk was full", produced_bytes=9)
        if self.pins:
            store.pin(part.ref)
        whole = put(store, b"same")
        assert (whole.ref, whole.partial, store.get(part.ref).partial) == (part.ref, None, None)
        assert store.get(part.ref).pinned == self.pins, "a pin stays"

    def test_a_second_output_with_the_same_ref_is_refused(self, store: Store) -> None:
        first = put(store, b"first")
        forged_hash = first.sha256[:20] + "0" * 44  # a store does not hash again
        with _raises(StoreError, forged_hash):
            put(store, b"2", sha256=forged_hash)
        assert content(store, first.ref) == b"first"
        assert put(store, b"first").ref == first.ref
        assert [record.ref for record in store.list()] == [first.ref]
        assert put(store, b"2", "another", sha256=forged_hash).ref == mint("another", forged_hash), "the ref counts"

    def test_a_wrong_hash_never_becomes_a_name(self, store: Store) -> None:
        for sha256 in ("", "../../x", "A" * 64, "0" * 63, "0" * 65):
            writer = store.writer()
            with _raises(UsageError, sha256):
                writer.publish(record_of(b"", sha256=sha256))
            writer.abandon()
        assert list(store.list()) == []

    def test_hostile_refs_are_refused(self, store: Store) -> None:
        put(store, b"here")
        for ref in HOSTILE_REFS:
            for ask in (store.get, store.open, store.delete, store.pin):
                with _raises(RefError, ref):
                    ask(ref)
        assert len(list(store.list())) == 1

    def test_an_unknown_ref_is_a_ref_error(self, store: Store) -> None:
        for ask in (store.get, store.open, store.delete, store.pin):
            with _raises(RefError):
                ask("bash-7f3a9c2e41d05b86")

    def test_a_unique_prefix_names_an_output(self, store: Store) -> None:
        record = put(store, b"one", "grep")
        second = put(store, b"two", "bash")
        digits = record.ref.rpartition("-")[2]
        for start in ("grep", "grep-", record.ref[:8], record.ref[:-1], digits[:6], digits, record.ref):
            assert store.get(start) == record
            assert content(store, start) == b"one"
        if self.pins:
            store.pin("grep")
        store.delete(digits)
        assert list(store.list()) == [second]

    def test_an_ambiguous_prefix_is_refused(self, store: Store) -> None:
        records = {put(store, data).ref for data in (b"one", b"two")}
        for ask in (store.get, store.open, store.delete, store.pin):
            with _raises(RefError):
                ask("bash")
        assert {record.ref for record in store.list()} == records

    def test_the_newest_is_listed_first(self, store: Store) -> None:
        for created in (20.0, 40.0, 10.0, 30.5):
            put(store, f"at {created}".encode(), created=created)
        now = put(store, b"now")  # a record that does not say when is dated
        assert [record.created for record in store.list()] == [now.created, 40.0, 30.5, 20.0, 10.0]

    def test_a_deleted_output_is_gone_and_can_be_stored_again(self, store: Store) -> None:
        record = put(store, b"again")
        if self.pins:
            store.pin(record.ref)
        store.delete(record.ref)
        for ask in (store.get, store.open, store.delete, store.pin):
            with _raises(RefError):
                ask(record.ref)
        assert put(store, b"again", created=record.created) == record, "and not pinned any more"
        assert content(store, record.ref) == b"again"

    def test_a_blob_that_is_open_survives_its_deletion(self, store: Store) -> None:
        blob = store.open(put(store, b"still here").ref)
        store.delete("bash")
        assert blob.read(0, 5) == b"still"
        blob.close()

    def test_an_output_can_be_pinned_and_unpinned(self, store: Store) -> None:
        ref = put(store, b"dear").ref
        if not self.pins:
            with _raises(StoreError):
                store.pin(ref)
            return
        for pinned in (True, True, False, False, True):
            store.pin(ref, pinned)
            assert store.get(ref).pinned is pinned
        assert put(store, b"dear").pinned, "the same output again is still pinned"
        assert put(store, b"dear too", pinned=True).pinned
        assert [record.pinned for record in store.list()] == [True, True]

    def test_any_range_can_be_read(self, store: Store) -> None:
        data = bytes(range(256)) * 40
        blob = store.open(put(store, data).ref)
        assert blob.size == len(data)
        ends = ((0, 0), (0, 1), (5, 300), (10_239, 10_240), (10_000, 99_999), (10_240, 10_241), (99, 9), (-5, 3))
        for start, end in (*ends, (10**12, 10**13)):
            assert blob.read(start, end) == data[max(0, start) : end], (start, end)
        blob.close()
        blob.close()

    def test_the_record_and_the_bytes_are_opened_at_once(self, store: Store) -> None:
        record = put(store, b"both")
        stored_record, blob = complete(store).open_record(record.ref)
        assert (stored_record, blob.read(0, 4)) == (record, b"both")
        blob.close()
        with _raises(RefError):
            complete(store).open_record("bash-7f3a9c2e41d05b86")

    def test_the_newest_outputs_are_listed_and_all_are_counted(self, store: Store) -> None:
        for created in (1.0, 2.0, 3.0):
            put(store, f"at {created}".encode(), created=created)
        records = [*store.list()]
        newest, total = complete(store).newest(2)
        assert (len(newest), total) == (2, 3)
        assert all(record in records for record in newest)
        assert complete(store).newest() == (records, 3)

    def test_only_a_complete_ref_is_found_in_any_scope(self, store: Store) -> None:
        record = put(store, b"clipped")
        assert complete(store).get_any_scope(record.ref) in (record, None), "None: it would take a listing"
        for ref in ("bash", record.ref[:-1], "bash-7f3a9c2e41d05b86", *HOSTILE_REFS):
            assert complete(store).get_any_scope(ref) is None

    def test_an_output_is_released_by_one_scope_or_the_store_refuses(self, store: Store) -> None:
        ref = put(store, b"same", scope=default_scope()).ref
        put(store, b"same", scope="acme/other")
        try:
            complete(store).release(ref, default_scope())
        except StoreError:
            assert content(store, ref) == b"same"
        else:
            assert [owner.scope for owner in owners(store.get(ref))] == ["acme/other"]

    def test_runs_come_back_unchanged_or_not_at_all(self, store: Store) -> None:
        run = RunRecord(
            scope=default_scope(), tool="make", created=1.5, outcome="lost", bytes=2, lines=1, reason="full"
        )
        complete(store).remember(run)
        assert [*complete(store).runs()] in ([], [run])

    def test_a_new_store_has_no_damage_and_its_folder_exists(self, store: Store) -> None:
        put(store, b"whole")
        assert complete(store).damaged() == []
        folder = complete(store).folder
        assert folder is None or os.path.isdir(folder)

    def test_the_path_of_an_output_holds_its_bytes(self, store: Store) -> None:
        early = store.where(mint("bash", record_of(b"as a file").sha256))
        path = store.where(put(store, b"as a file").ref)
        assert path == early, "the path of a whole ref is known before it is published"
        if path is not None:
            assert os.path.isabs(path)
            with open(path, "rb") as file:
                assert file.read() == b"as a file"

    def test_threads_do_not_disturb_each_other(self, store: Store) -> None:
        def work(number: int) -> str:
            data = b"line\n" * (number % 5 * 1_000)  # five outputs, each by several threads at once
            record = put(store, chunked(data, [3, 700, 5]))
            assert content(store, record.ref) == data
            return record.ref

        with ThreadPoolExecutor(16) as pool:
            refs = set(pool.map(work, range(60)))
        assert len(refs) == 5
        assert {record.ref for record in store.list()} == refs
        assert [verify(store, ref) for ref in refs] == [None] * 5
