"""The lock and the files of a store's folder: no process loses what another one has written."""

import errno
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from spillover.errors import RefError, StoreError
from spillover.store import directory, folder
from spillover.store.directory import DirStore
from spillover.store.folder import Folder
from spillover.store.record import owners
from spillover.store.scopes import ScopedStore
from spillover.testing import content, put


@pytest.fixture
def store(tmp_path):
    return DirStore(tmp_path / "store")


def test_two_writers_of_one_record_do_not_remove_each_others_scope(store, monkeypatch):
    """Without the lock, the second writer would overwrite the first one's scope, having read the record before."""
    ref = put(store, b"same", scope="first").ref
    real, inside, go_on = directory.merge, threading.Event(), threading.Event()

    def slow(held, new):
        if new.scope == "slow":
            inside.set()
            assert go_on.wait(10)
        return real(held, new)

    monkeypatch.setattr(directory, "merge", slow)
    one = threading.Thread(target=put, args=(store, b"same"), kwargs={"scope": "slow"})
    two = threading.Thread(target=put, args=(store, b"same"), kwargs={"scope": "quick"})
    one.start()
    assert inside.wait(10)
    two.start()
    two.join(0.1)
    go_on.set()
    one.join()
    two.join()
    assert {owner.scope for owner in owners(store.get(ref))} == {"first", "slow", "quick"}


WRITERS = """
import sys
from spillover import DirStore
from spillover.testing import put
for _ in range(20):
    put(DirStore(sys.argv[1]), b"the same bytes", scope=sys.argv[2])
    assert any(o.scope == sys.argv[2] for r in DirStore(sys.argv[1]).list() for o in __import__("spillover.store.record").store.record.owners(r))
"""


def test_processes_that_store_the_same_bytes_at_once_all_have_them(store, tmp_path):
    runs = [
        subprocess.Popen([sys.executable, "-c", WRITERS, str(store.root), f"t/{number}"], stderr=subprocess.PIPE)
        for number in range(5)
    ]
    assert [(run.communicate(timeout=60)[1], run.returncode) for run in runs] == [(b"", 0)] * 5
    (record,) = store.list()
    assert {owner.scope for owner in owners(record)} == {f"t/{number}" for number in range(5)}


def test_a_lock_file_that_a_killed_process_left_is_removed_when_it_is_stale(store, monkeypatch):
    def flock(*_):
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr("fcntl.flock", flock)
    put(store, b"same", scope="a")
    monkeypatch.setattr(folder, "WAIT_SECONDS", 0.05)
    Path(store.root, folder.LOCK_FILE).touch()
    with pytest.raises(StoreError, match="Another process"):
        put(store, b"same", scope="b")
    monkeypatch.setattr(folder, "STALE_SECONDS", -1)
    ref = put(store, b"same", scope="b").ref
    assert {owner.scope for owner in owners(store.get(ref))} == {"a", "b"}


def test_deleting_an_output_in_one_scope_keeps_it_in_the_other(store):
    ref = put(store, b"same", scope="a").ref
    put(store, b"same", scope="b")
    ScopedStore(store, "a").delete(ref)
    with pytest.raises(RefError):
        ScopedStore(store, "a").get(ref)
    assert content(ScopedStore(store, "b"), ref) == b"same"
    ScopedStore(store, "b").delete(ref)
    assert list(store.list()) == []
    with pytest.raises(RefError):
        store.get(ref)


def test_a_record_that_cannot_be_written_leaves_the_one_that_is_there(store, monkeypatch):
    ref = put(store, b"same", scope="a").ref

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("spillover.store.folder.Folder.move", full)
    with pytest.raises(StoreError, match="No space left"):
        put(store, b"same", scope="b")
    monkeypatch.undo()
    assert [owner.scope for owner in owners(store.get(ref))] == ["a"]
    assert content(store, ref) == b"same"


FORKS = """
import os, signal, sys, time
from spillover.store import folder
folder.WAIT_SECONDS = 1
with folder.Folder(sys.argv[1]) as root:
    with root.lock():
        child = os.fork()
        if not child:
            time.sleep(60)
            os._exit(0)
    try:
        with root.lock():
            print("free")
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
"""


def test_a_child_forked_while_the_lock_was_held_does_not_keep_it(store):
    put(store, b"one")
    forked = subprocess.run([sys.executable, "-c", FORKS, str(store.root)], capture_output=True, text=True, check=False)
    assert (forked.stdout, forked.stderr) == ("free\n", "")


def test_an_empty_record_is_one_that_another_process_is_claiming(tmp_path, store, monkeypatch):
    """Without hard links, a record is an empty file for a moment."""
    elsewhere = DirStore(tmp_path / "elsewhere")
    ref = put(elsewhere, b"same", scope="first").ref
    put(store, b"another")
    Path(store.root, f"{ref}.json").touch()

    def finish_claiming(_):
        for ending in (".json", ".txt"):
            shutil.copy(Path(elsewhere.root, ref + ending), store.root)

    monkeypatch.setattr("time.sleep", finish_claiming)
    put(store, b"same", scope="second")
    assert {owner.scope for owner in owners(store.get(ref))} == {"first", "second"}


def test_a_touch_goes_by_a_clock_that_does_not_stand_still(store, monkeypatch):
    """The kernel's own clock may stand still for milliseconds: a file would look as if nobody had touched it."""
    put(store, b"one")
    with Folder(str(store.root)) as root:
        root.make("file")
        seen = root.stat("file")
        monkeypatch.setattr("time.time_ns", lambda: seen.st_mtime_ns + 1)
        root.touch("file")
        assert root.stat("file").st_mtime_ns == seen.st_mtime_ns + 1
        assert not root.take("file", seen)
