"""The rows of a store: a record is read once, and again only when it has changed."""

import pytest

from spillover import Clipper, DirStore, MemoryStore
from spillover.store.folder import Folder
from spillover.ui import library as module
from spillover.ui.library import Library

LONG = "a line\n" * 40_000


@pytest.fixture
def clipper(tmp_path):
    return Clipper(store=DirStore(tmp_path / "store"), scope="acme")


@pytest.fixture
def reads(monkeypatch):
    read = []

    class CountedFolder(Folder):
        def read_record(self, ref):
            read.append(ref)
            return super().read_record(ref)

    monkeypatch.setattr(module, "Folder", CountedFolder)
    return read


def test_a_record_is_read_once_and_again_when_it_has_changed(clipper, reads):
    refs = [clipper.clip(f"{number}\n{LONG}", tool=f"tool{number}").ref for number in range(5)]
    library = Library(clipper.settings.outputs)
    for _ in range(3):
        library.refresh()
        assert sorted(row.id for row in library.rows()) == sorted(refs)
    assert sorted(reads) == sorted(refs)
    clipper.clip(f"3\n{LONG}", tool="tool3")  # the same output again: its record has another time
    library.refresh()
    assert reads[5:] == [refs[3]]
    clipper.settings.outputs.delete(refs[0])
    library.refresh()
    assert sorted(row.id for row in library.rows()) == sorted(refs[1:])
    assert len(reads) == 6


def test_the_newest_are_read_first_and_the_others_behind(clipper, reads):
    refs = [clipper.clip(f"{number}\n{LONG}", tool=f"tool{number}").ref for number in range(7)]
    library = Library(clipper.settings.outputs)
    library.refresh(2)
    assert [row.id for row in library.rows()] == [refs[6], refs[5]]
    assert not library.page(0, 9)["ready"]
    library.read_more(3)
    library.read_more(3)
    assert library.page(0, 9)["ready"]
    assert [row.id for row in library.rows()] == refs[::-1]
    assert len(reads) == 7


def test_what_fitted_is_a_row_too_and_what_was_run_has_its_exit_code(clipper):
    clipper.run(["sh", "-c", "echo short; exit 3"])
    clipper.run(["sh", "-c", "seq 60000; exit 4"])
    library = Library(clipper.settings.outputs)
    library.refresh()
    assert [(row.outcome, row.exit, row.lines) for row in library.rows()] == [
        ("stored", 4, 60_000),
        ("whole", 3, 1),
    ]


def test_a_damaged_record_is_no_row_and_stops_nothing(clipper):
    refs = [clipper.clip(f"{number}\n{LONG}", tool=f"tool{number}").ref for number in range(2)]
    path = f"{clipper.settings.store.root}/{refs[0]}.json"
    with open(path, "r+b") as file:
        file.write(b"garbage")
    library = Library(clipper.settings.outputs)
    library.refresh()
    assert [row.id for row in library.rows()] == [refs[1]]


def test_a_store_in_memory_has_rows_as_well():
    clipper = Clipper(store=MemoryStore(), scope="acme")
    ref = clipper.clip(LONG, tool="bash").ref
    library = Library(clipper.settings.outputs)
    library.refresh()
    assert [row.id for row in library.rows()] == [ref]


def test_only_what_has_changed_since_a_version_is_sent(clipper):
    library = Library(clipper.settings.outputs)
    first = clipper.clip(LONG, tool="first").ref
    library.update()
    version = library.page(0, 0)["version"]
    assert library.changes(version) == {"rows": [], "removed": [], "version": version, "ready": True, "problem": ""}
    second = clipper.clip(f"2\n{LONG}", tool="second").ref
    library.update()
    answer = library.changes(version)
    assert ([row.id for row in answer["rows"]], answer["removed"]) == ([second], [])
    clipper.settings.outputs.delete(first)
    library.update()
    assert library.changes(answer["version"])["removed"] == [first]
    assert [row.id for row in library.changes(0)["rows"]] == [second]
