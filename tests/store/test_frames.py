"""Compressed outputs: any size, range or damage, and a folder that others read, write, sweep or kill meanwhile."""

import errno
import json
import os
import random
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover.api import Clipper
from spillover.errors import MissingExtraError, StoreError
from spillover.settings.limits import Limits
from spillover.source.blob import MemoryBlob
from spillover.store import verify
from spillover.store.directory import DirStore
from spillover.store.folder import Folder
from spillover.store.frames import (
    CACHED_FRAMES,
    FRAME_BYTES,
    MIN_SAVED_BYTES,
    Compressed,
    CompressedFile,
    FrameWriter,
    encode_table,
    load_zstd,
)
from spillover.store.retention import Retention
from spillover.testing import StoreContract, content, put

LINES = b"".join(b"%d: the quick brown fox\n" % number for number in range(1, 90_001))


def packed(data):
    writer = FrameWriter(MemoryBlob(data))
    return b"".join(writer.write()) + encode_table(writer.table())


def table_of(whole):
    (size,) = struct.unpack("<I", whole[-4:])
    return json.loads(whole[-4 - size : -4])


@pytest.mark.parametrize("size", [FRAME_BYTES - 1, FRAME_BYTES, FRAME_BYTES + 1, 3 * FRAME_BYTES])
def test_any_size_comes_back_as_it_was_by_us_and_by_zstd_itself(size):
    data = (LINES * 2)[:size]
    whole = packed(data)
    blob = CompressedFile(MemoryBlob(whole), "x")
    assert (blob.size, blob.read(0, size + 5)) == (size, data)
    assert load_zstd().decompress(whole) == data


PLAIN = MemoryBlob(LINES)
PACKED = MemoryBlob(packed(LINES))
places = st.integers(-5, len(LINES) + 5)


@given(st.lists(st.tuples(places, places | places.map(lambda at: at % 300)), max_size=8))
def test_any_ranges_in_any_order_are_those_of_the_plain_output(ranges):
    blob = CompressedFile(PACKED, "x")
    for start, end in [*ranges, *((start, start + length) for start, length in ranges)]:
        assert blob.read(start, end) == PLAIN.read(start, end)


def test_reading_a_range_decompresses_only_its_frames_and_few_are_held_in_memory():
    asked = []

    class Watched(MemoryBlob):
        def read(self, start, end):
            asked.append((start, end))
            return super().read(start, end)

    blob = CompressedFile(Watched(packed(LINES * 6)), "x")
    table = len(asked)
    assert blob.read(FRAME_BYTES - 2, FRAME_BYTES + 2) == (LINES * 6)[FRAME_BYTES - 2 : FRAME_BYTES + 2]
    blob.read(FRAME_BYTES, FRAME_BYTES + 9)
    assert len(asked) == table + 1, "frames that were just read are at hand"
    blob.read(0, blob.size)
    assert len(blob._cache) == CACHED_FRAMES


@pytest.mark.parametrize(
    "damage",
    [
        lambda whole: b"",
        lambda whole: whole[:5],
        lambda whole: whole[:-1],
        lambda whole: whole[1:],
        lambda whole: whole + b"\0",
        lambda whole: whole[:-4] + struct.pack("<I", 0xFFFFFFFF),
        lambda whole: whole[:-4] + struct.pack("<I", 2),
        lambda whole: whole.replace(b'"bytes":2', b'"bytes":9'),
        lambda whole: whole.replace(b'"form":"zstd"', b'"form":"lzma"'),
        lambda whole: LINES,
        lambda whole: b"\0" * len(whole),
    ],
)
def test_a_malformed_file_is_reported_as_damaged(damage):
    with pytest.raises(StoreError, match=r"bash-1\.txt\.zst is damaged: it does not end with a table of its frames"):
        CompressedFile(MemoryBlob(damage(packed(LINES))), "bash-1.txt.zst")


@pytest.mark.parametrize("at", [0, 5, 1_000])
def test_a_damaged_frame_is_reported_and_the_others_can_be_read(at):
    whole = bytearray(packed(LINES))
    whole[table_of(whole)["sizes"][0] + at] ^= 0x55
    blob = CompressedFile(MemoryBlob(bytes(whole)), "bash-1.txt.zst")
    assert blob.read(0, FRAME_BYTES) == LINES[:FRAME_BYTES]
    with pytest.raises(StoreError, match=r"Bytes 524,289-1,048,576 of bash-1\.txt\.zst are not the ones that were"):
        blob.read(FRAME_BYTES, FRAME_BYTES + 1)
    assert blob.read(2 * FRAME_BYTES, 1 << 30) == LINES[2 * FRAME_BYTES :]


def test_a_frame_that_holds_more_than_the_table_says_is_damaged():
    data = b"0" * 5_000
    writer = FrameWriter(MemoryBlob(data))
    frames = b"".join(writer.write())
    table = encode_table(writer.table()).replace(b'"bytes":5000', b'"bytes":4000')
    blob = CompressedFile(MemoryBlob(frames + table), "x")
    with pytest.raises(StoreError, match="Bytes 1-4,000"):
        blob.read(0, 1)


DAY = 86_400


@pytest.fixture
def root(tmp_path):
    return tmp_path / "store"


@pytest.fixture
def store(root):
    return DirStore(root)


@pytest.fixture
def ref(store):
    """Store an output, compress it, and return its ref."""
    ref = put(store, LINES, command="make").ref
    assert store.compress().outputs == 1
    return ref


def names(folder):
    return sorted(name for name in os.listdir(folder) if not name.startswith("."))


def python(code, *args):
    """Run code in another process, where `store` is the store in the given folder."""
    start = "import os, sys\nfrom spillover.store.directory import DirStore\nfrom spillover.testing import *\nstore = DirStore(sys.argv[1])\n"
    return subprocess.Popen([sys.executable, "-c", start + code, *map(str, args)], stdout=subprocess.PIPE, text=True)


def done(child):
    out, _ = child.communicate(timeout=60)
    assert child.returncode == 0
    return out


# ── the store


class CompressingStore(DirStore):
    """A store that compresses everything before each read."""

    def get(self, ref):
        self.compress()
        return super().get(ref)

    def open(self, ref):
        self.compress()
        return super().open(ref)

    def list(self):
        self.compress()
        return super().list()


class TestContractWhileEverythingIsCompressed(StoreContract):
    @pytest.fixture
    def store(self, tmp_path, monkeypatch):
        monkeypatch.setattr("spillover.store.frames.MIN_SAVED_BYTES", -(1 << 20))  # compress even if nothing is saved
        monkeypatch.setattr("spillover.store.frames.MAX_COMPRESSED_SHARE", 1 << 20)
        return CompressingStore(tmp_path / "store")


def test_what_is_compressed_is_smaller_and_read_as_before(store, root, ref):
    assert names(root) == [f"{ref}.json", f"{ref}.txt.zst"]
    assert os.listdir(root / ".tmp") == []
    assert (root / f"{ref}.txt.zst").stat().st_size < len(LINES) / 4
    assert (root / f"{ref}.txt.zst").stat().st_mode & 0o777 == 0o600
    assert content(store, ref) == LINES
    assert verify(store, ref) is None
    assert [record.command for record in store.list()] == ["make"]
    assert store.get(ref[:8]).ref == ref
    assert store.where(ref) is store.where(ref[:8]) is None, "there is no plain file"


def test_the_result_counts_and_a_dry_run_touches_nothing(store, root):
    first, second = put(store, LINES).ref, put(store, LINES, "make").ref
    before = names(root)
    assert store.compress(dry_run=True) == Compressed(2, 2 * len(LINES), None)
    assert names(root) == before
    done = store.compress()
    sizes = [(root / f"{ref}.txt.zst").stat().st_size for ref in (first, second)]
    assert done == Compressed(2, 2 * len(LINES), sum(sizes))
    assert store.compress() == Compressed()


def test_what_gains_nothing_stays_plain(store):
    small, noise = b"x" * MIN_SAVED_BYTES, random.Random(5).randbytes(100_000)
    refs = [put(store, data).ref for data in (small, noise)]
    assert store.compress() == Compressed()
    assert all(store.where(ref) for ref in refs)


def test_only_what_is_old_is_compressed_and_what_is_about_to_end_is_not(store, root):
    now = time.time()
    refs = [put(store, LINES, f"t{days}").ref for days in (0, 2, 8, 9)]
    for ref, days in zip(refs, (0, 2, 8, 9), strict=True):
        for ending in (".txt", ".json"):
            os.utime(root / (ref + ending), (now - days * DAY,) * 2)
    store.pin(refs[3])
    os.utime(root / f"{refs[3]}.json", (now - 9 * DAY,) * 2)
    assert store.compress(older_than_seconds=DAY).outputs == 2
    assert [store.where(ref) is None for ref in refs] == [False, True, False, True]
    assert store.sweep().outputs == 1, "compression does not change the age"


def test_compressing_does_not_prolong_a_life(store, root):
    ref = put(store, LINES).ref
    then = time.time() - 6.5 * DAY
    for ending in (".txt", ".json"):
        os.utime(root / (ref + ending), (then, then))
    store.compress()
    assert abs(os.stat(root / f"{ref}.txt.zst").st_mtime - then) < 1
    assert store.sweep().outputs == 0
    swept = store.sweep(now=time.time() + DAY)
    assert (swept.outputs, swept.bytes < len(LINES) / 4) == (1, True)
    assert names(root) == []


def test_the_same_output_again_is_one_output_and_plain_for_its_path_is_told_again(store, root, ref):
    os.utime(root / f"{ref}.txt.zst", (1, 1))
    again = put(store, LINES, command="make again")
    assert again.ref == ref
    assert names(root) == [f"{ref}.json", f"{ref}.txt"]
    assert Path(store.where(ref)).read_bytes() == LINES
    assert time.time() - os.stat(store.where(ref)).st_mtime < 60


def test_the_same_output_again_gives_the_same_text_also_after_it_was_compressed(store):
    clipper = Clipper(Limits(tokens=300), store=store, hints="path")
    first = clipper.clip(LINES)
    assert store.compress().outputs == 1
    again = clipper.clip(LINES)
    assert (again.text, again.path, again.ref) == (first.text, first.path, first.ref)
    assert Path(again.path).read_bytes() == LINES


def test_what_is_damaged_is_counted_and_left_as_it_is(store, root):
    good, bad, unknown = (put(store, LINES, tool).ref for tool in ("good", "bad", "unknown"))
    with open(store.where(bad), "r+b") as file:
        file.write(b"X")
    (root / f"{unknown}.json").write_bytes(b"{")
    done = store.compress()
    assert (done.outputs, done.damaged) == (1, 2)
    assert names(root) == sorted(
        [f"{good}.json", f"{good}.txt.zst", f"{bad}.json", f"{bad}.txt", f"{unknown}.json", f"{unknown}.txt"]
    )
    assert os.listdir(root / ".tmp") == []


def test_damage_is_found_by_verify_and_healed_by_the_next_run(store, root, ref):
    path = root / f"{ref}.txt.zst"
    whole = bytearray(path.read_bytes())
    whole[1_000] ^= 1
    path.write_bytes(whole)
    assert "Bytes 1-524,288 of" in verify(store, ref)
    path.write_bytes(b"")
    assert "is damaged" in verify(store, ref)
    put(store, LINES)
    assert verify(store, ref) is None


@pytest.mark.parametrize("name", ["backports", "backports.zstd"])
def test_without_the_extra_nothing_changes_and_the_error_says_what_to_install(store, root, ref, monkeypatch, name):
    if sys.version_info >= (3, 14):
        pytest.skip("Python has it")
    other = put(store, LINES, "other").ref
    before = names(root)
    import backports  # here, because Python 3.14 does not need it

    monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delattr(backports, "zstd")
    for ask in (store.compress, lambda: store.compress(dry_run=True), lambda: store.open(ref)):
        with pytest.raises(MissingExtraError, match=r"pip install 'spillover\[zstd\]'"):
            ask()
    assert names(root) == before
    assert {record.ref for record in store.list()} == {ref, other}, "the record can be read without the extra"
    assert content(store, put(store, LINES).ref) == LINES, "storing still works"


def test_reading_a_piece_of_a_big_output_takes_memory_for_some_frames_only(root):
    code = """
line = b"%s the quick brown fox\\n" * 1_000
put(store, (line % tuple(b"%d" % (n * 1_000 + m) for m in range(1_000)) for n in range(2_400)))
assert store.compress().outputs == 1
"""
    done(python(code, root))
    code = """
(record,) = store.list()
assert record.bytes > 64_000_000, record.bytes
before = peak_memory()
blob = store.open(record.ref)
for at in (record.bytes - 9, 30_000_000, 0, *range(0, record.bytes, 1 << 20)):
    assert len(blob.read(at, at + 9)) == 9
print(peak_memory() - before)
"""
    assert int(done(python(code, root))) < 16 << 20


@pytest.mark.parametrize("step", ["link", "fsync", "utime", "rename"])
def test_whatever_step_fails_the_output_is_there(store, root, monkeypatch, step):
    ref = put(store, LINES).ref

    def fail(*_, **__):
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, step, fail)
        if step == "link":  # there is a fallback
            store.compress()
        else:
            with pytest.raises(StoreError, match="Input/output error"):
                store.compress()
    assert content(store, ref) == LINES
    assert os.listdir(root / ".tmp") == []
    assert store.compress(now=time.time() + 120).outputs == (step != "link"), "and the next one does it"
    assert names(root) == [f"{ref}.json", f"{ref}.txt.zst"]


# ── concurrency


def test_who_reads_lists_or_stores_while_others_compress_always_finds_it(root):
    store = DirStore(root, retention=None)
    data = LINES[:200_000]
    ref = put(store, data).ref
    reader = """
print("go", flush=True)
rounds = 0
while not os.path.exists(sys.argv[2]):
    assert content(store, sys.argv[3]).startswith(b"1: the quick")
    assert [record.ref for record in store.list()] == [sys.argv[3]]
    assert store.get("bash").ref == sys.argv[3]
    rounds += 1
print(rounds)
"""
    stop = root.parent / "stop"
    children = [python(reader, root, stop, ref) for _ in range(2)]
    try:
        for child in children:
            child.stdout.readline()
        compressed = 0
        for _ in range(150):
            compressed += store.compress().outputs
            put(store, data)
    finally:
        stop.touch()
    assert all(int(done(child)) > 0 for child in children)
    assert compressed > 0
    assert verify(store, ref) is None


def test_stored_again_while_it_is_compressed_it_stays_and_is_young(store, root, monkeypatch):
    ref = put(store, LINES).ref
    synced = os.fsync

    def again(fd):
        put(store, LINES)
        synced(fd)

    monkeypatch.setattr(os, "fsync", again)
    assert store.compress() == Compressed()
    assert names(root) == [f"{ref}.json", f"{ref}.txt"]
    assert content(store, ref) == LINES


def test_deleted_while_it_is_compressed_it_is_gone(store, root, monkeypatch):
    ref = put(store, LINES).ref
    synced = os.fsync

    def gone(fd):
        if (root / f"{ref}.json").exists():
            store.delete(ref)
        synced(fd)

    monkeypatch.setattr(os, "fsync", gone)
    store.compress()
    assert names(root) == []


def test_a_sweep_that_saw_only_part_of_the_folder_removes_no_complete_output(store, root, monkeypatch):
    refs = {put(store, LINES, f"t{number}").ref for number in range(6)}
    for name in names(root):
        os.utime(root / name, (time.time() - DAY,) * 2)
    (root / ".sweep").unlink()
    monkeypatch.setattr("spillover.store.retention.MAX_SWEEP_FILES", 7)
    store.writer().abandon()
    assert {record.ref for record in store.list()} == refs


# ── kill -9


def test_kill_9_at_any_moment_leaves_every_output_readable(root):
    luck = random.Random(11)
    store = DirStore(root, retention=None)
    outputs = [b"%d %d the quick brown fox\n" % (n, n) * 30_000 for n in range(6)]
    refs = [put(store, data).ref for data in outputs]
    code = """
import itertools
print("go", flush=True)
for n in itertools.count():
    store.compress(now=1e10, older_than_seconds=0)
    for k in range(6):
        put(store, b"%d %d the quick brown fox\\n" % (k, k) * 30_000)
"""
    for _ in range(12):
        child = python("store = DirStore(store.root, retention=None)\n" + code, root)
        child.stdout.readline()
        time.sleep(luck.random() / 10)
        child.send_signal(signal.SIGKILL)
        child.communicate()
        assert [content(store, ref) for ref in refs] == outputs
        assert {record.ref for record in store.list()} == set(refs)
    later = time.time() + 120
    store.compress(now=later)
    assert names(root) == sorted(name for ref in refs for name in (f"{ref}.json", f"{ref}.txt.zst"))
    store.sweep(now=later + 7_200, retention=Retention(age_seconds=None, count=None, bytes=None))
    assert os.listdir(root / ".tmp") == []
    assert [verify(store, ref) for ref in refs] == [None] * 6


def test_leftovers_of_a_killed_process_are_replaced_only_after_a_while(store, root):
    ref = put(store, LINES).ref
    (root / f"{ref}.txt.zst").write_bytes(b"left behind")
    assert content(store, ref) == LINES, "the plain file takes precedence"
    assert store.compress().outputs == 0, "another process may still be writing it"
    assert store.compress(now=time.time() + 61).outputs == 1
    assert content(store, ref) == LINES


def test_two_processes_that_compressed_one_output_at_once_lost_it(store, monkeypatch):
    ref = put(store, LINES).ref
    claim = Folder.claim

    def compress_before(folder, temp, name):
        """Let another process compress the same output just before this one publishes its file."""
        monkeypatch.setattr(Folder, "claim", claim)
        assert store.compress().outputs == 1
        claim(folder, temp, name)

    monkeypatch.setattr(Folder, "claim", compress_before)
    assert store.compress().outputs == 0
    assert content(store, ref) == LINES
