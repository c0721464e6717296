"""DirStore: the contract, and everything a filesystem, an attacker or a kill -9 can do to it."""

import copy
import errno
import os
import pickle
import random
import signal
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import pytest
from msgspec.structs import replace

from spillover.errors import SENTENCES, RefError, StoreError, UsageError, describe_error
from spillover.store import verify
from spillover.store.directory import DirStore
from spillover.store.folder import MARKER, Folder
from spillover.store.record import mint
from spillover.store.retention import Retention
from spillover.testing import HOSTILE_REFS, StoreContract, content, put, record_of

ROOT = os.geteuid() == 0


class TestContract(StoreContract):
    @pytest.fixture
    def store(self, tmp_path):
        return DirStore(tmp_path / "store")


class TestContractWithoutHardLinks(StoreContract):
    @pytest.fixture
    def store(self, tmp_path, monkeypatch):
        def link(*_, **__):
            raise OSError(errno.EPERM, "Operation not permitted")

        monkeypatch.setattr(os, "link", link)
        return DirStore(tmp_path / "store")


class TestContractWithoutLocks(StoreContract):
    @pytest.fixture
    def store(self, tmp_path, monkeypatch):
        def flock(*_):
            raise OSError(errno.ENOLCK, "No locks available")

        monkeypatch.setattr("fcntl.flock", flock)
        return DirStore(tmp_path / "store")


@pytest.fixture
def root(tmp_path):
    return tmp_path / "store"


@pytest.fixture
def store(root):
    return DirStore(root)


def names(folder):
    return sorted(os.listdir(folder))


def mode(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


def python(code, *args, **options):
    """Run code in another process, where `store` is the store in the given folder."""
    start = "import os, sys\nfrom spillover.store.directory import DirStore\nfrom spillover.testing import *\nstore = DirStore(sys.argv[1])\n"
    return subprocess.Popen(
        [sys.executable, "-c", start + code, *map(str, args)], stdout=subprocess.PIPE, text=True, **options
    )


def done(child):
    out, _ = child.communicate(timeout=60)
    assert child.returncode == 0
    return out


# ── the object


def test_making_the_object_touches_no_disk(tmp_path):
    DirStore(tmp_path / "a" / "b")
    assert names(tmp_path) == []


def test_stores_compare_copy_and_pickle_by_value(root, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    one = DirStore(root)
    assert (
        one == DirStore(str(root)) == DirStore("store") == DirStore("./x/../store/") == pickle.loads(pickle.dumps(one))
    )
    assert len({one, DirStore(root), copy.copy(one), copy.deepcopy(one)}) == 1
    assert replace(one, retention=None) != one
    assert one.retention == Retention()


def test_a_change_of_the_working_folder_changes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = DirStore("store")
    writer = store.writer()
    writer.write(b"x")
    os.mkdir("elsewhere")
    monkeypatch.chdir("elsewhere")
    ref = writer.publish(record_of(b"x")).ref
    assert store.where(ref) == str(tmp_path / "store" / f"{ref}.txt")
    assert content(store, ref) == b"x"


@pytest.mark.parametrize("root", ["", "a\0b", "\ud800", None, 5])
def test_a_root_that_is_not_a_path_is_refused_when_the_object_is_made(root):
    with pytest.raises(UsageError, match="root="):
        DirStore(root)


def test_a_store_that_is_not_there_is_empty_and_reading_does_not_make_it(store, tmp_path):
    assert list(store.list()) == []
    assert store.sweep().outputs == 0
    for ask in (store.get, store.open, store.delete, store.pin):
        with pytest.raises(RefError):
            ask("bash-7f3a9c2e41d0")
    assert store.where("bash-7f3a9c2e41d0") == f"{store.root}/bash-7f3a9c2e41d0.txt"
    assert names(tmp_path) == []


@pytest.mark.parametrize("ref", HOSTILE_REFS)
def test_a_hostile_ref_has_no_path(store, ref):
    with pytest.raises(RefError):
        store.where(ref)


def test_an_empty_folder_is_read_without_leaving_a_trace(store, root):
    root.mkdir()
    assert list(store.list()) == []
    store.sweep()
    assert names(root) == []
    put(store, b"x")
    assert MARKER in names(root)


# ── what is on disk


def test_an_output_is_a_plain_file_and_a_record_and_maybe_a_pin(store, root):
    ref = put(store, b"one\n").ref
    assert names(root) == [".lock", ".spillover", ".sweep", ".tmp", f"{ref}.json", f"{ref}.txt"]
    assert names(root / ".tmp") == []
    assert (root / f"{ref}.txt").read_bytes() == b"one\n"
    assert (root / MARKER).read_text().count("\n") == 1
    store.pin(ref)
    assert (root / f"{ref}.pin").read_bytes() == b""
    store.delete(ref)
    assert names(root) == [".lock", ".spillover", ".sweep", ".tmp"]


def test_the_same_output_again_makes_both_files_young(store, root):
    ref = put(store, b"one\n", created=5.0).ref
    inode = os.stat(store.where(ref)).st_ino
    for ending in (".txt", ".json"):
        os.utime(root / (ref + ending), (1, 1))
    assert put(store, b"one\n", created=9.0).created == 9.0
    assert all(time.time() - os.stat(root / (ref + ending)).st_mtime < 60 for ending in (".txt", ".json"))
    assert os.stat(store.where(ref)).st_ino == inode
    assert names(root / ".tmp") == []


def test_an_output_counts_as_young_from_its_publication(store):
    writer = store.writer()
    os.utime(writer.fileno(), (1, 1))  # a tool that was silent for a long time
    ref = writer.publish(record_of(b"")).ref
    assert time.time() - os.stat(store.where(ref)).st_mtime < 60


@pytest.mark.parametrize("umask", [0, 0o777, 0o077, 0o277])
def test_only_we_can_read_it_whatever_the_umask(tmp_path, umask):
    root = tmp_path / "store"
    done(
        python(
            "os.umask(int(sys.argv[2])); r = put(store, b'x'); store.pin(r.ref); assert content(store, r.ref) == b'x'",
            root,
            umask,
        )
    )
    assert mode(root) == mode(root / ".tmp") == 0o700
    assert {mode(path) for path in root.iterdir() if path.is_file()} == {0o600}


def test_parents_are_made_as_the_user_makes_folders(tmp_path):
    done(python("os.umask(0o022); put(store, b'x')", tmp_path / "a" / "b" / "store"))
    assert [mode(tmp_path / path) for path in ("a", "a/b", "a/b/store")] == [0o755, 0o755, 0o700]


def test_a_folder_that_was_there_keeps_its_mode_and_what_is_in_it_is_private(store, root):
    root.mkdir()
    root.chmod(0o755)
    put(store, b"x")
    assert mode(root) == 0o755
    assert {mode(path) for path in root.iterdir()} <= {0o600, 0o700}


# ── roots that are refused


def in_the_way(root):
    root.write_text("a file")


def file_as_parent(root):
    root.write_text("a file")
    return root / "store"


def symlink(root):
    (root.parent / "real").mkdir()
    root.symlink_to(root.parent / "real")


def dangling(root):
    root.symlink_to(root.parent / "nowhere")


def foreign_files(root):
    root.mkdir()
    (root / "thesis.txt").write_text("mine")
    root.chmod(0o755)


def writable_by_others(root):
    root.mkdir()
    root.chmod(0o777)


def foreign_owner(root):
    if not ROOT:
        pytest.skip("only root can give a folder away")
    root.mkdir()
    os.chown(root, 12345, 12345)


def too_long(root):
    return root.with_name("x" * 300)


def read_only(root):
    if ROOT:
        pytest.skip("a read-only folder does not stop root")
    put(DirStore(root), b"before")
    root.chmod(0o500)


def shut_parent(root):
    if ROOT:
        pytest.skip("a shut folder does not stop root")
    root.mkdir(mode=0o500)
    return root / "a" / "store"


def symlinked_temp(root):
    put(DirStore(root), b"before")
    (root / ".tmp").rmdir()
    (root.parent / "elsewhere").mkdir()
    (root / ".tmp").symlink_to(root.parent / "elsewhere")


def file_as_temp(root):
    put(DirStore(root), b"before")
    (root / ".tmp").rmdir()
    (root / ".tmp").write_text("a file")


@pytest.mark.parametrize(
    ("prepare", "words"),
    [
        (in_the_way, "/store is a file where the store needs a folder; move it or name another store"),
        (file_as_parent, "/store is a file where the store needs a folder; move it"),
        (symlink, "store is a symlink, and symlinks are not followed here; use a real folder"),
        (dangling, "is a symlink"),
        (foreign_files, "holds files that are not ours. Name a folder that is empty or not there yet"),
        (writable_by_others, "other users can write to .*; run `chmod go-w` on it, or use another folder"),
        (foreign_owner, r"belongs to another user \(uid 12345\); use a folder of your own"),
        (too_long, "File name too long: "),
        (read_only, "this user may not read or write /.*; change its permissions or name another store"),
        (shut_parent, "this user may not read or write "),
        (symlinked_temp, r"/\.tmp is a symlink"),
        (file_as_temp, r"/store/\.tmp is a file where the store needs a folder"),
    ],
)
def test_an_unusable_root_is_refused_with_a_plain_message(root, prepare, words, tmp_path):
    path = prepare(root) or root
    before = sorted((str(found), mode(found)) for found in tmp_path.rglob("*"))
    with pytest.raises(StoreError, match=words) as caught:
        put(DirStore(path), b"x")
    assert "Errno" not in str(caught.value)
    root.chmod(0o700) if prepare in (read_only, shut_parent) else None
    after = sorted((str(found), mode(found)) for found in tmp_path.rglob("*"))
    assert len(before) == len(after), "nothing was created"
    if prepare is foreign_files:
        assert before == after, "no permissions were changed"


def test_every_error_of_the_system_names_the_path_and_most_say_what_to_do(tmp_path):
    """ "Not a directory: PATH" and "File exists: PATH" said neither what is wrong nor what to do."""
    (tmp_path / "file").touch()
    path = f"{tmp_path}/file/a/store"
    for number in errno.errorcode:
        words = describe_error(OSError(number, os.strerror(number)), path)
        assert str(tmp_path / "file") in words
        assert describe_error(OSError(number, os.strerror(number))) == os.strerror(number)
        if number in SENTENCES:
            assert "; " in words
    with pytest.raises(OSError, match="Not a directory") as caught:
        os.mkdir(path)
    assert describe_error(caught.value, "/elsewhere").startswith(f"{tmp_path}/file is a file ")


def test_a_foreign_folder_is_not_read_either(root):
    foreign_files(root)
    (root / "bash-7f3a9c2e41d0.txt").write_text("x")
    (root / "bash-7f3a9c2e41d0.json").write_text("{}")
    for ask in (DirStore(root).list, DirStore(root).sweep, lambda: DirStore(root).delete("bash-7f3a9c2e41d0")):
        with pytest.raises(StoreError, match="not ours"):
            ask()
    assert len(names(root)) == 3


def test_a_store_that_lost_its_marker_says_how_to_put_it_back(store, root):
    ref = put(store, b"x").ref
    (root / MARKER).unlink()
    with pytest.raises(StoreError, match=r"put back the empty file \.spillover"):
        store.get(ref)
    (root / MARKER).touch()
    assert content(store, ref) == b"x"


def test_a_root_that_vanishes_during_a_write_is_reported(store, root):
    writer = store.writer()
    root.rename(root.with_name("moved"))
    with pytest.raises(StoreError, match="/store was removed while it was in use; run the command again"):
        writer.publish(record_of(b""))
    writer = store.writer()
    assert content(store, writer.publish(record_of(b"")).ref) == b""


# ── files that are not what they should be: links, FIFOs, damaged records


def link_to_secret(path, secret):
    path.symlink_to(secret)


def fifo(path, _):
    os.mkfifo(path)


def folder(path, _):
    path.mkdir()


def foreign_file(path, secret):
    if not ROOT:
        pytest.skip("only root can give a file away")
    path.write_bytes(b"secret")
    os.chown(path, 12345, 12345)


@pytest.mark.parametrize("ending", [".txt", ".json"])
@pytest.mark.parametrize("plant", [link_to_secret, fifo, folder, foreign_file])
def test_nothing_planted_in_the_place_of_a_file_is_followed_or_waited_for(store, root, tmp_path, plant, ending):
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret")
    whole = put(store, b"whole").ref
    ref = put(store, b"x", "other").ref
    (root / (ref + ending)).unlink()
    plant(root / (ref + ending), secret)
    for ask, typed in (
        (store.get, ref),
        (store.open, ref),
        (store.get, "other"),
        (store.open, "other"),
        (store.where, "other"),
    ):
        with pytest.raises(RefError):
            ask(typed)
    assert [record.ref for record in store.list()] == [whole]
    if plant is folder:
        with pytest.raises(StoreError, match="Is a directory"):
            put(store, b"x", "other")
    else:
        assert content(store, put(store, b"x", "other").ref) == b"x", "publishing again heals it"
    assert secret.read_bytes() == b"secret"
    assert names(root / ".tmp") == []


def test_a_link_is_not_followed_even_if_it_is_planted_after_we_looked(store, root, tmp_path):
    (tmp_path / "secret").write_bytes(b"secret")
    put(store, b"x")
    (root / "bash-7f3a9c2e41d0.txt").symlink_to(tmp_path / "secret")
    with Folder(str(root)) as folder, pytest.raises(StoreError, match="is a symlink"):
        folder.open("bash-7f3a9c2e41d0.txt")


@pytest.mark.parametrize("record", [b"", b"{", b"null", b'{"spillover": 1}', b"\xff\xfe"])
def test_a_damaged_record_is_reported_by_get_and_skipped_by_list(store, root, record):
    ref = put(store, b"x").ref
    (root / f"{ref}.json").write_bytes(record)
    assert list(store.list()) == []
    with pytest.raises(
        StoreError, match=rf"The record of {ref} is damaged: .*Its bytes may be whole: {root}/{ref}.txt"
    ):
        store.get(ref)
    assert "is damaged" in verify(store, ref)
    assert content(store, ref) == b"x"
    assert put(store, b"x").ref == ref
    assert verify(store, ref) is None


def test_a_record_under_another_name_is_not_believed(store, root):
    ref = put(store, b"x").ref
    for ending in (".txt", ".json"):
        (root / ("bash-000000000000" + ending)).write_bytes((root / (ref + ending)).read_bytes())
    assert [record.ref for record in store.list()] == [ref]
    with pytest.raises(StoreError, match="belongs to another output"):
        store.get("bash-000000000000")


@pytest.mark.parametrize("data", [b"", b"sho", b"much longer"])
def test_bytes_of_the_wrong_size_are_noticed_and_replaced(store, data):
    ref = put(store, b"right").ref
    Path(store.where(ref)).write_bytes(data)
    assert f"5 bytes were stored; {len(data)} are there." in verify(store, ref)
    assert put(store, b"right").ref == ref
    assert verify(store, ref) is None


def test_a_record_without_bytes_is_not_seen_and_is_completed_by_the_next(store, root):
    ref = put(store, b"x").ref
    (root / f"{ref}.txt").unlink()
    assert list(store.list()) == []
    for ask in (store.get, store.open, store.pin, store.delete):
        for typed in (ref, ref[:8]):
            with pytest.raises(RefError):
                ask(typed)
    assert content(store, put(store, b"x").ref) == b"x"


def test_bytes_without_a_record_are_not_seen_and_not_trusted(store, root):
    ref = put(store, b"x").ref
    (root / f"{ref}.json").unlink()
    (root / f"{ref}.txt").write_bytes(b"y")
    with pytest.raises(RefError):
        store.open(ref)
    assert put(store, b"x").ref == ref
    assert content(store, ref) == b"x"


def test_names_that_are_not_ours_are_passed_over(store, root):
    ref = put(store, b"x").ref
    for name in (
        "notes.txt",
        "bash-xyz.json",
        f"{ref}.json.bak",
        "BASH-7f3a9c2e41d0.txt",
        "bash-7f3a9c2e41d0.md",
        "é.txt",
    ):
        (root / name).write_text("{}")
    assert [record.ref for record in store.list()] == [ref]
    assert store.get("bash").ref == ref


# ── cost


def test_a_whole_ref_is_found_without_listing_the_folder(store, monkeypatch):
    ref = put(store, b"x").ref

    def scandir(*_):
        raise AssertionError("listed")

    monkeypatch.setattr(os, "scandir", scandir)
    assert content(store, ref) == b"x"
    assert store.get(ref).ref == ref
    store.pin(ref)
    assert store.where(ref)
    store.delete(ref)


def test_a_writer_holds_one_descriptor_and_all_are_given_back(store):
    put(store, b"x")
    before = len(os.listdir("/dev/fd"))
    writer = store.writer()
    assert len(os.listdir("/dev/fd")) == before + 1
    writer.write(b"y")
    writer.blob().close()
    ref = writer.publish(record_of(b"y")).ref
    store.open(ref).close()
    store.pin(ref)
    list(store.list())
    store.sweep()
    store.delete(ref)
    for bad in ("bash-000000000000", "x"):
        with pytest.raises(RefError):
            store.get(bad)
    assert len(os.listdir("/dev/fd")) == before


def test_reading_a_piece_of_a_big_output_takes_memory_for_the_piece_only(root):
    size = 1 << 30
    code = """
from msgspec.structs import replace
writer = store.writer()
os.ftruncate(writer.fileno(), 1 << 30)  # sparse
ref = writer.publish(replace(record_of(b""), bytes=1 << 30)).ref
blob = store.open(ref)
assert blob.size == 1 << 30 and blob.read(1 << 29, (1 << 29) + 5) == bytes(5)
blob.close()
print(peak_memory())
"""
    assert int(done(python(code, root))) < size // 4


# ── a disk that is full


FULL = """
import resource, signal
from spillover.errors import StoreError
put(store, b"before")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
"""


def test_a_full_disk_fails_the_write_and_keeps_what_was_written_before_it(root):
    code = FULL + (
        "w = store.writer(); w.write(b'x' * 900)\n"
        "try: w.write(b'y' * 300)\n"
        "except StoreError as error: print(error)\n"
        "blob = w.blob(); print(blob.size, blob.read(0, 2000) == b'x' * 900)\n"
        "w.write(b'z' * 100); print(w.publish(record_of(b'x' * 900 + b'z' * 100)).bytes)\n"
    )
    assert done(python(code, root, 1_000)).splitlines() == [os.strerror(errno.EFBIG), "900 True", "1000"]
    assert verify(DirStore(root), mint("bash", record_of(b"x" * 900 + b"z" * 100).sha256)) is None


def test_a_record_that_does_not_fit_on_the_disk_leaves_nothing(root):
    code = FULL + (
        "w = store.writer(); w.write(b'fits')\n"
        "try: w.publish(record_of(b'fits', command='c' * 5000))\n"
        "except StoreError as error: print(error)\n"
        "w.abandon()\n"
    )
    assert os.strerror(errno.EFBIG) in done(python(code, root, 1_000))
    store = DirStore(root)
    assert [content(store, record.ref) for record in store.list()] == [b"before"]
    assert len(names(root)) == 6
    assert names(root / ".tmp") == []


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ("link", None),  # there is a fallback
        ("rename", None),  # not used
        ("replace", "Input/output error"),
        ("utime", "Input/output error"),
        ("fchmod", "Input/output error"),
        ("urandom", "Input/output error"),
        ("fstat", "Input/output error"),
    ],
)
def test_whatever_step_of_publishing_fails_nothing_is_left(store, root, monkeypatch, step, words):
    before = put(store, b"before").ref
    writer = store.writer()
    writer.write(b"x")

    def fail(*_, **__):
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, step, fail)
        with pytest.raises(StoreError, match=words) if words else nullcontext():
            writer.publish(record_of(b"x"))
    kept = {before} if words else {before, mint("bash", record_of(b"x").sha256)}
    assert {record.ref for record in store.list()} == kept
    assert {name.partition(".")[0] for name in names(root) if not name.startswith(".")} == kept
    assert all(verify(store, ref) is None for ref in kept)
    if step != "fstat":  # without fstat the folder cannot be opened to clean up, so the next sweep does it
        assert names(root / ".tmp") == []


def test_too_many_open_files_is_an_outcome_like_any_other(root):
    code = """
import resource
from spillover.errors import StoreError
put(store, b"before")
used = len(os.listdir("/dev/fd"))
seen = set()
for spare in range(0, 8):
    writer = store.writer()
    writer.write(b"x")
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + spare, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    try:
        writer.publish(record_of(b"x"))
        seen.add("published")
    except StoreError as error:
        seen.add(str(error).partition(":")[0])
    finally:
        writer.abandon()
        resource.setrlimit(resource.RLIMIT_NOFILE, (1000, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
print(sorted(seen))
"""
    assert done(python(code, root)) == "['Too many open files', 'published']\n"
    assert all(verify(DirStore(root), record.ref) is None for record in DirStore(root).list())


# ── concurrency


def test_two_objects_on_one_root_are_one_store(root):
    one, two = DirStore(root), DirStore(str(root), retention=None)
    ref = put(one, b"x").ref
    assert put(two, b"x").ref == ref
    two.pin(ref)
    assert one.get(ref).pinned
    two.delete(ref)
    with pytest.raises(RefError):
        one.open(ref)


def test_two_hundred_writers_at_once_in_threads(store):
    def work(number):
        writer = store.writer()
        data = b"%d\n" % (number % 50) * 500
        writer.write(data[:100])
        writer.write(data[100:])
        return writer.publish(record_of(data)).ref

    with ThreadPoolExecutor(200) as pool:
        refs = list(pool.map(work, range(200)))
    assert len(set(refs)) == 50
    assert all(verify(store, ref) is None for ref in set(refs))
    assert names(Path(store.root) / ".tmp") == []


def test_processes_that_write_read_sweep_and_delete_at_once_do_not_disturb_each_other(root):
    code = """
import random, traceback
from contextlib import suppress
from spillover.errors import RefError
from spillover.store.record import mint
from spillover.store import verify
from spillover.store.retention import Retention

def work(me):
    random.seed(me)
    for round in range(10):
        data = b"shared %d\\n" % random.randrange(4) * 300
        with suppress(RefError):  # a neighbour deleted it
            assert verify(store, put(store, data).ref) is None
        own = b"own %d %d" % (me, round)
        assert content(store, put(store, own, "own").ref) == own
        if me % 8 == 0:
            store.sweep(retention=Retention(grace_seconds=0, count=1_000))
        if me % 8 == 1:
            with suppress(RefError):
                store.delete(mint("bash", record_of(data).sha256))

children = []
for me in range(32):
    children.append(os.fork())
    if not children[-1]:
        try:
            work(me)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
print([os.waitpid(child, 0)[1] for child in children])
"""
    assert done(python(code, root)) == f"{[0] * 32}\n"
    store = DirStore(root)
    own = [record for record in store.list() if record.tool == "own"]
    assert len(own) == 32 * 10
    assert [said for record in store.list() if (said := verify(store, record.ref))] == []
    assert names(root / ".tmp") == []
    left = {name.partition(".")[0] for name in names(root) if not name.startswith(".")}
    assert left == {record.ref for record in store.list()}, "and no halves"


def test_what_is_put_again_while_it_is_swept_is_there_afterwards(root):
    """One process stores an old output again while another removes everything old."""
    store = DirStore(root, retention=None)
    sweeper = python(
        "from spillover.store.retention import Retention\nprint('go', flush=True)\n"
        "while not os.path.exists(sys.argv[2]): store.sweep(retention=Retention(age_seconds=1_000, grace_seconds=500))",
        root,
        stop := root.parent / "stop",
    )
    put(store, b"again")
    sweeper.stdout.readline()
    lost = 0
    for _ in range(400):
        ref = put(store, b"again").ref
        lost += content_or_none(store, ref) != b"again"
        for ending in (".json", ".txt"):
            try:
                os.utime(root / (ref + ending), (1, 1))
            except FileNotFoundError:
                break
    stop.touch()
    done(sweeper)
    assert lost == 0


def content_or_none(store, ref):
    """Return the content. A file that is moved aside and put back is missing for microseconds, so try again."""
    for _ in range(50):
        try:
            return content(store, ref)
        except RefError:
            time.sleep(0.001)
    return None


def test_colliding_outputs_that_are_published_at_once_are_never_mixed_up(root):
    shas = ["7f3a9c2e41d0b586" + digit * 48 for digit in "0123456789abcdef"]
    store = DirStore(root, retention=None)
    said = set()

    def stored(sha256):
        try:
            return put(store, sha256.encode(), sha256=sha256)
        except StoreError as error:
            said.add("one ref never names two" in str(error))
            return None

    for _ in range(20):
        with ThreadPoolExecutor(16) as pool:
            records = [record for record in pool.map(stored, shas) if record]
        assert [record.ref for record in records] == ["bash-7f3a9c2e41d0b586"]
        assert content(store, records[0].ref) == records[0].sha256.encode()
        store.delete(records[0].ref)
    assert said == {True}


def test_several_threads_can_create_the_root_at_once(tmp_path):
    for number in range(10):
        store = DirStore(tmp_path / str(number) / "deep" / "store")
        with ThreadPoolExecutor(16) as pool:
            assert len(set(pool.map(lambda n, store=store: put(store, b"%d" % n).ref, range(16)))) == 16


# ── kill -9


def test_kill_9_at_any_moment_leaves_outputs_whole_or_unseen(root):
    code = """
import itertools, random
random.seed(int(sys.argv[2]))
for n in itertools.count():
    if n == 3:
        print("go", flush=True)  # something is there by now, however busy the machine is
    put(store, chunked(b"%d %d\\n" % (int(sys.argv[2]), n) * random.randrange(1, 20_000), [1_000] * 20))
    put(store, b"shared %d" % (n % 7))
    if n % 5 == 4:
        store.delete(store.get(mint("bash", record_of(b"shared %d" % (n % 7)).sha256)).ref)
"""
    code = "from spillover.store.record import mint\n" + code
    luck = random.Random(7)
    for batch in range(2):
        children = [python(code, root, batch * 10 + number) for number in range(6)]
        for child in children:
            child.stdout.readline()
        for child in children:
            time.sleep(luck.random() / 20)
            child.send_signal(signal.SIGKILL)
        for child in children:
            child.communicate()
    store = DirStore(root)
    records = list(store.list())
    assert len(records) > 10
    assert [said for record in records if (said := verify(store, record.ref))] == []
    live = store.writer()
    store.sweep(now=time.time() + 7_200, retention=Retention(age_seconds=None, count=None, bytes=None))
    assert names(root / ".tmp") == [live._temp], "what the dead left is gone, what the living write is not"
    left = {name.partition(".")[0] for name in names(root) if not name.startswith(".")}
    assert left == {record.ref for record in records}
    live.write(b"alive")
    assert content(store, live.publish(record_of(b"alive")).ref) == b"alive"


def test_a_folder_is_closed_again_when_it_is_refused(root):
    foreign_files(root)
    before = len(os.listdir("/dev/fd"))
    for _ in range(5):
        with pytest.raises(StoreError):
            Folder(str(root))
    assert len(os.listdir("/dev/fd")) == before
