"""The runs a store remembers: one small file each, written once, bounded, and never a reason to fail."""

import os
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from spillover.store import directory
from spillover.store.directory import DirStore
from spillover.store.memory import MemoryStore
from spillover.store.named import NamedStore
from spillover.store.record import RunRecord, decode_run, encode_run
from spillover.store.retention import Retention

RUN = RunRecord(scope="/home/me", tool="make", created=1_000.5, outcome="whole", bytes=3, lines=1, data=b"hi\n")
TEXTS = st.none() | st.text()


@pytest.fixture(params=["folder", "memory", "named"])
def store(request, tmp_path):
    if request.param == "memory":
        return MemoryStore()
    if request.param == "named":
        return NamedStore(tmp_path / "theirs", names=lambda record: f"{record.tool}.txt")
    return DirStore(tmp_path / "store")


def test_runs_come_back_as_they_were_noted_newest_first(store):
    full = replace(
        RUN, created=2_000.0, exit_code=-9, seconds=0.25, command="make\n-j8", call_id="c", cwd="/home/me/\udcff", outcome="stored",
        ref="make-" + "0" * 16, data=None,
    )  # fmt: skip
    for run in (RUN, full):
        store.remember(run)
    assert list(store.runs()) == [full, RUN]
    assert list(store.list()) == []


@given(TEXTS, TEXTS, TEXTS, st.none() | st.binary(), st.integers(-300, 300))
def test_any_words_and_bytes_come_back(command, cwd, reason, data, code):
    run = replace(RUN, command=command, cwd=cwd, reason=reason, data=data, exit_code=code)
    assert decode_run(encode_run(run)) == run


def test_a_run_that_was_cut_short_is_skipped_at_every_byte():
    whole = encode_run(RUN)
    for size in range(len(whole)):
        with pytest.raises(ValueError):
            decode_run(whole[:size])
    with pytest.raises(ValueError, match="cut short"):
        decode_run(whole + b"x")


def test_files_of_others_and_links_among_the_runs_are_skipped(tmp_path):
    store = DirStore(tmp_path / "store")
    store.remember(RUN)
    folder = tmp_path / "store" / ".runs"
    (folder / "notes.txt").write_text("mine")
    os.symlink("/etc/passwd", folder / f"{9 * 10**18:020d}-00000000")
    os.mkfifo(folder / f"{8 * 10**18:020d}-00000000")
    assert list(store.runs()) == [RUN]


def test_nobody_else_reads_a_run(tmp_path):
    DirStore(tmp_path / "store").remember(RUN)
    folder = tmp_path / "store" / ".runs"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}


def test_runs_are_bounded_by_number_and_by_age(tmp_path, monkeypatch):
    monkeypatch.setattr(directory, "PRUNE_ONE_IN", 1)
    store = DirStore(tmp_path / "store", Retention(runs=5, age_seconds=100))
    for number in range(20):
        store.remember(replace(RUN, created=1_000.0 + number))
    assert [run.created for run in store.runs()] == [1_019.0, 1_018.0, 1_017.0, 1_016.0, 1_015.0]
    store.remember(replace(RUN, created=1_117.0))
    assert [run.created for run in store.runs()] == [1_117.0, 1_019.0, 1_018.0, 1_017.0]
    store.sweep(now=5_000.0)
    assert list(store.runs()) == []


def test_with_no_runs_to_remember_the_disk_is_not_touched(tmp_path):
    store = DirStore(tmp_path / "store", Retention(runs=0))
    store.remember(RUN)
    assert list(store.runs()) == []
    assert not (tmp_path / "store").exists()


def test_a_full_memory_store_remembers_the_run_and_not_its_bytes():
    store = MemoryStore(max_bytes=10)
    store.remember(RUN)
    (run,) = store.runs()
    assert (run.data, run.reason) == (None, "the store has no room for it")
