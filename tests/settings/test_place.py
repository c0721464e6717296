"""Where outputs are kept: a path, a URL, or a store; anything else is refused when the Clipper is made."""

import sys
from pathlib import Path

import pytest

from spillover import Clipper, DirStore, Limits, MemoryStore, ObjectStore, UsageError, clip
from spillover.errors import MissingExtraError
from spillover.settings.settings import STORE_METHODS
from spillover.store import Store
from spillover.testing import FailingStore

LOG = "".join(f"{number} compiled\n" for number in range(9_000))


@pytest.mark.parametrize("kind", [str, Path, lambda path: f"file://{path}", lambda path: f"file://localhost{path}"])
def test_a_path_and_a_url_of_one_are_a_folder(tmp_path, kind):
    clipper = Clipper(Limits(tokens=300), store=kind(tmp_path / "outputs"))
    assert clipper.settings.store == DirStore(tmp_path / "outputs")
    assert clipper.clip(LOG).outcome == "stored"
    assert Path(clipper.clip(LOG).path).read_text() == LOG


def test_a_url_may_spell_its_characters_out(tmp_path):
    assert Clipper(store=f"file://{tmp_path}/two%20words").settings.store == DirStore(tmp_path / "two words")


def test_a_path_may_begin_at_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Clipper(store="~/outputs").settings.store == DirStore(tmp_path / "outputs")


def test_memory_is_a_store_of_its_own_each_time():
    one, other = Clipper(store="memory://"), Clipper(store="memory://")
    assert isinstance(one.settings.store, MemoryStore)
    assert one.settings.store is not other.settings.store


def test_clip_and_rules_take_a_path_as_well(tmp_path):
    assert clip(LOG, Limits(tokens=300), store=str(tmp_path / "one")).path.startswith(str(tmp_path / "one"))
    clipper = Clipper(Limits(tokens=300), store="memory://", rules={"bash": {"store": tmp_path / "two"}})
    assert clipper.clip(LOG, tool="bash").path.startswith(str(tmp_path / "two"))


@pytest.mark.parametrize("url", ["s3://bucket/outputs", "gs://bucket", "az://container/x"])
def test_a_url_of_a_bucket_is_an_object_store_and_asks_for_nothing_yet(url):
    assert Clipper(store=url).settings.store == ObjectStore(url)


def test_an_object_store_says_which_extra_it_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'spillover\[s3\]'"):
        Clipper(store="s3://bucket")


def test_the_variable_may_name_a_bucket(monkeypatch):
    monkeypatch.setenv("SPILLOVER_STORE", "s3://bucket/outputs")
    assert Clipper().settings.store == ObjectStore("s3://bucket/outputs")
    monkeypatch.setenv("SPILLOVER_DEADLINE", "2s")
    assert Clipper.configured().settings.store == ObjectStore("s3://bucket/outputs", deadline_seconds=2)


def test_a_store_is_itself():
    for store in (MemoryStore(), FailingStore(MemoryStore())):
        assert Clipper(store=store).settings.store is store


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("s3://", "store='s3://' names no bucket; use e.g. s3://BUCKET/PREFIX."),
        ("gs:///", "names no bucket"),
        (
            "ftp://host/x",
            "is not a known kind of store; use the path of a folder, or file://, memory://, s3://, gs://, az://.",
        ),
        ("memory://x", "is not a known kind of store"),
        ("s3:/bucket/x", "is not a URL; use s3://bucket/x, or ./s3:/bucket/x for a folder of that name."),
        ("file://host/x", "does not name a folder of this machine; use file:///absolute/path."),
        ("file://", "does not name a folder"),
        ("", "names no folder"),
        ("a\0b", "names no folder"),
        (None, "store=None is not a store (it has no writer, get, open, list, delete, pin, where)"),
        (5, "store=5 is not a store"),
        (object(), "is not a store"),
        ("s3:/bucket", "store='s3:/bucket' is not a URL; use s3://bucket, or ./s3:/bucket for a folder of that name."),
        ("file:", "is not a URL"),
        ({}, "it has no writer, open, list, delete, pin, where"),
        (MemoryStore, "store=MemoryStore is a class; use an object of it, e.g. MemoryStore()."),
    ],
)
def test_anything_else_is_refused_when_the_clipper_is_made(wrong, said):
    with pytest.raises(UsageError) as caught:
        Clipper(store=wrong)
    assert said in str(caught.value)


def test_the_methods_asked_for_are_those_of_the_protocol():
    assert set(STORE_METHODS) == {name for name in vars(Store) if not name.startswith("_")}
