"""Retention: the plan as a table, and sweeps on real folders."""

import contextlib
import fcntl
import os
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover.errors import RefError, StoreError, UsageError
from spillover.store import retention as module
from spillover.store.directory import DirStore
from spillover.store.retention import Retention, StoredFile, Swept, plan
from spillover.testing import content, put, record_of

NOW = 1_000_000.0
DAY = 86_400
OURS = (".sweep", ".lock")
ROOMY = Retention(age_seconds=None, bytes=None, count=None)


def entry(ref, age=0.0, size=10, pinned=False):
    return StoredFile(ref, size, NOW - age, pinned)


# ── the plan


@pytest.mark.parametrize(
    ("entries", "limits", "doomed"),
    [
        ([], {}, ""),
        ([entry("a", 6 * DAY), entry("b", 8 * DAY)], {}, "b"),
        ([entry("a", 7 * DAY)], {}, ""),
        ([entry("a", 7 * DAY + 1)], {}, "a"),
        # the oldest first, and only as many as necessary
        ([entry("a", 2 * DAY), entry("b", 3 * DAY), entry("c", 4 * DAY)], {"count": 1}, "cb"),
        ([entry("a", 2 * DAY), entry("b", 3 * DAY), entry("c", 4 * DAY)], {"bytes": 25}, "c"),
        ([entry("a", 2 * DAY), entry("b", 3 * DAY), entry("c", 4 * DAY)], {"bytes": 30}, ""),
        ([entry("a", 2 * DAY, size=100), entry("b", 3 * DAY), entry("c", 4 * DAY)], {"bytes": 99}, "cba"),
        # outputs removed by age no longer count
        ([entry("a", 2 * DAY), entry("b", 9 * DAY)], {"count": 1}, "b"),
        # recent outputs stay, whatever the limits
        ([entry("a", 10), entry("b", 20)], {"count": 0, "bytes": 0, "age_seconds": 0}, ""),
        ([entry("a", 10), entry("b", 3_600)], {"count": 0}, "b"),
        ([entry("a", 10), entry("b", 20)], {"count": 0, "grace_seconds": 15}, "b"),
        ([entry("a", -500), entry("b", -DAY)], {"count": 0, "grace_seconds": 0}, ""),  # from the future
        # pinned outputs stay, and do not count
        ([entry("a", 99 * DAY, pinned=True)], {}, ""),
        ([entry("a", 5 * DAY, size=1_000, pinned=True), entry("b", 2 * DAY)], {"bytes": 10, "count": 1}, ""),
        # no limit
        ([entry("a", 9_999 * DAY)], {"age_seconds": None}, ""),
        ([entry("a", 2 * DAY, size=1 << 60)], {"bytes": None}, ""),
        ([entry(chr(97 + n), 2 * DAY) for n in range(9)], {"count": None}, ""),
        # with equal times, order by name, so that every process decides the same
        ([entry("b", DAY), entry("a", DAY), entry("c", DAY)], {"count": 1}, "ab"),
    ],
)
def test_the_plan(entries, limits, doomed):
    assert "".join(plan(entries, Retention(**limits), NOW)) == doomed
    assert "".join(plan(reversed(entries), Retention(**limits), NOW)) == doomed


entries_of_any_kind = st.lists(
    st.builds(
        StoredFile,
        st.uuids().map(str),
        st.integers(0, 100),
        st.floats(0, 2 * NOW),
        st.booleans(),
    ),
    max_size=30,
)
limits_of_any_kind = st.builds(
    Retention,
    age_seconds=st.none() | st.integers(0, 10**6),
    bytes=st.none() | st.integers(0, 1_000),
    count=st.none() | st.integers(0, 30),
    grace_seconds=st.integers(0, 10**6),
)


@given(entries_of_any_kind, limits_of_any_kind)
def test_after_the_plan_every_limit_holds_except_for_protected_outputs(entries, limits):
    doomed = set(plan(entries, limits, NOW))
    kept = [entry for entry in entries if entry.ref not in doomed]
    gone = [entry for entry in entries if entry.ref in doomed]
    assert not any(entry.pinned or NOW - entry.mtime < limits.grace_seconds for entry in gone)
    loose = [entry for entry in kept if not entry.pinned and NOW - entry.mtime >= limits.grace_seconds]
    if loose:
        assert limits.count is None or sum(not entry.pinned for entry in kept) <= limits.count
        assert limits.bytes is None or sum(entry.bytes for entry in kept if not entry.pinned) <= limits.bytes
        assert limits.age_seconds is None or all(NOW - entry.mtime <= limits.age_seconds for entry in loose)
        assert all(entry.mtime <= min(kept.mtime for kept in loose) for entry in gone), "the oldest went first"
    assert plan(kept, limits, NOW) == [], "and once is enough"


@pytest.mark.parametrize(
    "wrong",
    [
        {"age_seconds": -1},
        {"bytes": 1.5},
        {"count": "many"},
        {"count": True},
        {"grace_seconds": None},
        {"age_seconds": float("nan")},
        {"age_seconds": float("inf")},
    ],
)
def test_a_limit_that_is_none_is_refused_when_it_is_made(wrong):
    (name,) = wrong
    with pytest.raises(UsageError, match=rf"Retention\({name}=.*0 or more"):
        Retention(**wrong)


def test_the_defaults_are_those_of_the_design():
    assert Retention() == Retention(age_seconds=7 * DAY, bytes=5 << 30, count=10_000, grace_seconds=3_600)


# ── sweeps on a real folder


@pytest.fixture
def root(tmp_path):
    return tmp_path / "store"


@pytest.fixture
def store(root):
    return DirStore(root, retention=None)


def aged(store, data, seconds, **facts):
    """Store an output and make it this old."""
    ref = put(store, data, **facts).ref
    age(store, seconds, *(ref + ending for ending in (".txt", ".json")))
    return ref


def age(store, seconds, *names):
    for name in names:
        then = time.time() - seconds
        os.utime(f"{store.root}/{name}", (then, then))


def refs(store):
    return {record.ref for record in store.list()}


def outputs_on_disk(root):
    return sorted(name for name in os.listdir(root) if not name.startswith("."))


def test_old_outputs_go_and_the_numbers_say_so(store, root):
    old, new = aged(store, b"old" * 100, 8 * DAY), put(store, b"new").ref
    size = sum(os.stat(root / (old + ending)).st_size for ending in (".txt", ".json"))
    assert store.sweep(dry_run=True) == Swept(1, size, 0)
    assert refs(store) == {old, new}, "a dry run removes nothing"
    assert store.sweep() == Swept(1, size, 0)
    assert refs(store) == {new}
    assert outputs_on_disk(root) == [f"{new}.json", f"{new}.txt"]
    assert store.sweep() == Swept()


def test_the_moment_can_be_given(store):
    put(store, b"x")
    assert store.sweep(now=time.time() + 6 * DAY).outputs == 0
    assert store.sweep(now=time.time() + 8 * DAY).outputs == 1


def test_a_pinned_output_stays_until_it_is_unpinned(store):
    ref = aged(store, b"dear", 99 * DAY)
    store.pin(ref)
    age(store, 99 * DAY, f"{ref}.json", f"{ref}.txt")
    assert store.sweep().outputs == 0
    store.pin(ref, pinned=False)
    assert store.sweep().outputs == 1


def test_an_output_pinned_after_the_plan_was_made_is_not_removed(store, monkeypatch):
    ref = aged(store, b"dear", 99 * DAY)
    planned = module.plan

    def plan_slowly(*args):
        doomed = planned(*args)
        store.pin(ref)
        return doomed

    monkeypatch.setattr(module, "plan", plan_slowly)
    assert store.sweep() == Swept()
    assert content(store, ref) == b"dear"
    assert store.get(ref).pinned


def test_an_output_stored_again_after_the_plan_was_made_is_not_removed(store, monkeypatch):
    ref = aged(store, b"again", 99 * DAY)
    planned = module.plan

    def plan_slowly(*args):
        doomed = planned(*args)
        assert put(store, b"again").ref == ref
        return doomed

    monkeypatch.setattr(module, "plan", plan_slowly)
    assert store.sweep() == Swept()
    assert content(store, ref) == b"again"


def test_an_output_whose_record_is_touched_while_it_is_taken_is_put_back(store, root, monkeypatch):
    ref = aged(store, b"again", 99 * DAY)
    rename = os.rename

    def rename_late(name, *args, **options):
        if name == f"{ref}.json":
            os.utime(root / name)
        rename(name, *args, **options)

    monkeypatch.setattr(os, "rename", rename_late)
    assert store.sweep() == Swept()
    assert content(store, ref) == b"again"
    assert store.get(ref).bytes == 5
    assert os.listdir(root / ".tmp") == []


def test_touching_the_plain_file_keeps_an_output(store, root):
    ref = aged(store, b"x", 99 * DAY)
    (root / f"{ref}.txt").touch()
    assert store.sweep() == Swept()


def test_what_is_not_ours_is_not_touched(store, root, tmp_path):
    put(store, b"x")
    outside = tmp_path / "outside.txt"
    outside.write_text("precious")
    (root / "notes.txt").write_text("mine")
    (root / "bash-7f3a9c2e41d0.md").write_text("mine")
    (root / "bash-7f3a9c2e41d0").write_text("mine")
    (root / "bash-7f3a9c2e41d0.txt").mkdir()
    (root / "bash-7f3a9c2e41d1.txt").symlink_to(outside)
    (root / "bash-7f3a9c2e41d1.json").symlink_to(outside)
    (root / ".tmp" / "notes").write_text("mine")
    (root / ".tmp" / ("0" * 32)).symlink_to(outside)
    os.mkfifo(root / ".tmp" / ("1" * 32))
    if os.geteuid() == 0:
        for name in ("bash-7f3a9c2e41d2.txt", "bash-7f3a9c2e41d2.json", ".tmp/" + "2" * 32):
            (root / name).write_text("theirs")
            os.chown(root / name, 12345, 12345)
    before = sorted(path.name for path in root.rglob("*") if path.name not in OURS)
    swept = store.sweep(now=time.time() + 99 * DAY, retention=Retention(count=0, bytes=0, age_seconds=0))
    assert swept.outputs == 1
    after = sorted(path.name for path in root.rglob("*") if path.name not in OURS)
    assert len(before) - len(after) == 2
    assert outside.read_text() == "precious"


@pytest.mark.parametrize("endings", [[".txt"], [".json"], [".pin"], [".txt", ".pin"], [".json", ".pin"]])
def test_incomplete_outputs_are_removed_when_they_are_old(store, root, endings):
    whole = put(store, b"whole").ref
    names = [f"bash-7f3a9c2e41d0{ending}" for ending in endings]
    for name in names:
        (root / name).write_text("{}")
    assert store.sweep(retention=ROOMY) == Swept()
    age(store, 3_000, *names)
    assert store.sweep(retention=ROOMY) == Swept()
    age(store, 3_700, *names)
    assert store.sweep(retention=ROOMY) == Swept(leftovers=len(names))
    assert outputs_on_disk(root) == [f"{whole}.json", f"{whole}.txt"]


def test_an_output_on_its_way_is_safe_even_without_a_grace_period(store, root):
    put(store, b"whole")
    (root / "bash-7f3a9c2e41d0.json").write_text("{}")  # as if between two steps of publishing
    store.sweep(retention=Retention(grace_seconds=0, count=None))
    assert "bash-7f3a9c2e41d0.json" in outputs_on_disk(root)


def test_a_live_writer_is_distinguished_from_a_dead_one(store, root):
    live, dead = store.writer(), store.writer()
    live.write(b"alive")
    dead._file.close()  # as the kernel does when a process is killed
    assert store.sweep() == Swept(), "a recent one may still be between two steps"
    soon, late = time.time() + 61, time.time() + 99 * DAY
    assert store.sweep(now=soon, dry_run=True) == Swept(leftovers=1)
    assert store.sweep(now=soon) == Swept(leftovers=1)
    assert store.sweep(now=late) == Swept(), "a tool may be silent for days"
    assert content(store, live.publish(record_of(b"alive")).ref) == b"alive"


def test_what_is_taken_aside_just_now_is_no_leftover_however_old_it_is(store, root):
    put(store, b"x")
    aside = root / ".tmp" / ("0" * 32)
    aside.write_bytes(b"old")
    os.utime(aside, (1, 1))
    assert store.sweep() == Swept()
    assert store.sweep(now=time.time() + 61) == Swept(leftovers=1)


def without_locks(monkeypatch):
    def flock(*_):
        raise OSError("no locks here")

    monkeypatch.setattr(fcntl, "flock", flock)


def test_without_locks_only_the_grace_period_protects_a_writer(store, root, monkeypatch):
    without_locks(monkeypatch)
    store.writer()._file.close()
    assert store.sweep(now=time.time() + 3_000) == Swept()
    assert store.sweep(now=time.time() + 3_700) == Swept(leftovers=1)


def test_many_sweeps_and_deletions_at_once_each_remove_what_is_there(store, root):
    for number in range(300):
        aged(store, b"%d" % number, 8 * DAY)
    kept = put(store, b"young").ref
    code = "import sys; from spillover.store.directory import DirStore; print(DirStore(sys.argv[1]).sweep().outputs)"
    children = [subprocess.Popen([sys.executable, "-c", code, root], stdout=subprocess.PIPE) for _ in range(6)]
    for record in list(store.list())[::7]:
        if record.ref != kept:
            with contextlib.suppress(RefError):
                store.delete(record.ref)
    for child in children:
        child.communicate(timeout=30)
        assert child.returncode == 0
    store.sweep()
    assert outputs_on_disk(root) == [f"{kept}.json", f"{kept}.txt"]
    assert os.listdir(root / ".tmp") == []


# ── automatic sweeps


def test_a_store_sweeps_by_itself_at_most_once_an_hour(root):
    by_hand, store = DirStore(root, retention=None), DirStore(root)
    first = aged(by_hand, b"first", 8 * DAY)
    put(store, b"new")
    assert first not in refs(store), "the first writer sweeps"
    second = aged(by_hand, b"second", 8 * DAY)
    put(store, b"newer")
    assert second in refs(store), "the next does not"
    age(store, 3_601, ".sweep")
    put(store, b"newest")
    assert second not in refs(store), "an hour later it is due again"
    third = aged(by_hand, b"third", 8 * DAY)
    age(store, -99 * DAY, ".sweep")
    put(store, b"last")
    assert third not in refs(store), "a wrong clock does not stop sweeping forever"


def test_reading_never_sweeps_nor_does_a_store_without_retention(root):
    store = DirStore(root, retention=None)
    ref = aged(store, b"old", 99 * DAY)
    put(store, b"new")
    everyday = DirStore(root)
    everyday.get(ref)
    everyday.open(ref).close()
    assert ref in refs(everyday)
    assert not (root / ".sweep").exists()


def test_an_automatic_sweep_is_bounded(root, monkeypatch):
    monkeypatch.setattr(module, "MAX_SWEEP_REMOVALS", 3)
    by_hand, store = DirStore(root, retention=None), DirStore(root)
    for number in range(10):
        aged(by_hand, b"%d" % number, 8 * DAY)
    store.writer().abandon()
    assert len(refs(store)) == 7
    monkeypatch.setattr(module, "MAX_SWEEP_FILES", 0)
    age(store, 3_601, ".sweep")
    store.writer().abandon()
    assert len(refs(store)) == 7
    assert store.sweep().outputs == 7, "a manual sweep is not bounded"


def test_a_sweep_that_fails_does_not_disturb_the_writer(root, monkeypatch):
    def scandir(*_):
        raise OSError("the disk is on fire")

    store = DirStore(root)
    put(store, b"x")
    age(store, 3_601, ".sweep")
    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", scandir)
        ref = put(store, b"y").ref
    assert content(store, ref) == b"y"
    (root / ".sweep").unlink()
    (root / ".sweep").mkdir()
    assert content(store, put(store, b"z").ref) == b"z"


def test_what_overflows_within_the_hour_is_never_swept_by_the_next_overflow(root):
    store = DirStore(root, retention=Retention(count=2, age_seconds=0))
    kept = [put(store, b"%d" % number).ref for number in range(2)]
    for number in range(2, 5):
        age(store, 3_601, ".sweep")
        with pytest.raises(StoreError, match="the store is full"):
            put(store, b"%d" % number)
    assert refs(store) == set(kept)
