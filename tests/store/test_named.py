"""Outputs under another system's file names: a store like any other, whose names are removed with their outputs."""

import errno
import os
import time

import pytest

from spillover import Clipper, Limits, Retention, StoreError
from spillover.store.directory import DirStore
from spillover.store.named import NamedStore
from spillover.testing import StoreContract, content, put

OLD = 7_200


def name(record):
    return f"tool_{record.sha256[:16]}"


@pytest.fixture
def named(tmp_path):
    return NamedStore(tmp_path / "other", names=name, shape=r"tool_\w+")


def names(store):
    return sorted({*os.listdir(store.root)} - {".spillover"})


def without_links(monkeypatch):
    def link(*_, **__):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr("spillover.store.named.os.link", link)


class TestNamedStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path):
        return NamedStore(tmp_path / "named", names=name, shape=r"tool_\w+")

    def test_the_path_of_an_output_holds_its_bytes(self, store):
        """Unlike in the contract, the path is not known in advance: a name is given when its output is published."""
        path = store.where(put(store, b"as a file").ref)
        assert os.path.dirname(path) == store.root
        with open(path, "rb") as file:
            assert file.read() == b"as a file"


def test_a_name_ends_with_its_output(named):
    ended, kept = put(named, b"one\n"), put(named, b"two\n")
    DirStore(named.path).delete(ended.ref)  # as `spill gc` does, which does not know about names
    assert len(names(named)) == 2
    assert named.sweep_names(time.time() + OLD) == 1
    assert names(named) == [name(kept)]
    assert content(named, kept.ref) == b"two\n"


def test_what_was_named_just_now_is_left_alone(named):
    DirStore(named.path).delete(put(named, b"one\n").ref)
    assert named.sweep_names() == 0
    assert len(names(named)) == 1


def test_in_a_folder_of_others_only_age_ends_a_name(tmp_path):
    store = NamedStore(tmp_path / "theirs", names=name, shape=r"tool_\w+")
    put(store, b"one\n")
    (tmp_path / "theirs" / "tool_theirs").write_text("of another program")
    assert store.sweep_names(time.time() + OLD) == 0
    assert store.sweep_names(time.time() + 8 * 86_400) == 2


def test_without_hard_links_a_name_is_a_copy_and_stays(named, monkeypatch):
    without_links(monkeypatch)
    record = put(named, b"one\n")
    assert named.sweep_names(time.time() + OLD) == 0
    path = os.path.join(named.root, name(record))
    with open(path, "rb") as file:
        assert file.read() == b"one\n"


@pytest.mark.parametrize("links", [True, False], ids=["links", "copies"])
def test_deleting_an_output_takes_its_names(named, monkeypatch, links):
    if not links:  # its copy was left, and so was the secret in it
        without_links(monkeypatch)
    record = put(named, b"one\n")
    path = os.path.join(named.root, name(record))
    assert named.find_ref(path) == record.ref
    named.delete(record.ref)
    assert names(named) == []
    assert named.find_ref(path) is None


def test_a_name_that_cannot_be_removed_was_said_to_be_removed(named, monkeypatch):
    record = put(named, b"one\n")
    unlink = os.unlink

    def refuse(path, *arguments, **options):
        if os.fspath(path).endswith(name(record)):
            raise PermissionError(errno.EACCES, "Permission denied")
        unlink(path, *arguments, **options)

    monkeypatch.setattr(os, "unlink", refuse)
    with pytest.raises(StoreError, match="may not read or write"):
        named.delete(record.ref)
    assert content(named, record.ref) == b"one\n"


def test_a_folder_that_others_can_write_to_was_refused_and_written_to(tmp_path):
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    clipper = Clipper(Limits(lines=10), store=NamedStore(folder, names=name, shape=r"tool_\w+"), stats=True)
    for clip in (clipper.clip("line\n" * 99), clipper.run(["seq", "1", "99"]).clip):
        assert clip.outcome == "lost"
        assert "other users can write to" in clip.reason
    assert clipper.run(["echo", "short"]).clip.outcome == "whole"
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("wrong", [lambda _: "../../etc/passwd", lambda _: "other", lambda _: 1 / 0, lambda _: None])
def test_a_name_that_cannot_be_created_costs_only_the_name(tmp_path, wrong):
    store = NamedStore(tmp_path / "named", names=wrong, shape=r"tool_\w+")
    clip = Clipper(Limits(lines=10), store=store).clip("line\n" * 99)
    assert clip.outcome == "stored"
    assert clip.path in clip.text
    assert os.path.exists(clip.path)
    assert names(store) == []


def test_a_quota_ends_the_oldest_names(tmp_path):
    kept = Retention(bytes=10_000, grace_seconds=0)
    store = NamedStore(tmp_path / "named", names=name, shape=r"tool_\w+", retention=kept)
    for number in range(4):
        record = put(store, bytes([65 + number]) * 4_000)
        os.utime(os.path.join(store.root, name(record)), (number, number))
    assert store.sweep_names(100) == 2
