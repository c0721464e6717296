"""The files of the opencode profile: their names, their age, whose they are, and what happens where they cannot be."""

import os
import re
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from spillover import DirStore
from spillover.profiles import opencode

DAY = 24 * 60 * 60
NAME = re.compile(r"tool_[0-9a-f]{12}[0-9A-Za-z]{14}")
FLOOD = "x\n" * 3_000


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "tool-output"


def place(path, days):
    path.parent.mkdir(exist_ok=True)
    path.write_text("an output")
    os.utime(path, (time.time() - days * DAY,) * 2)


def test_files_are_where_opencode_has_them(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    path = Path(opencode.clipper().clip(FLOOD).path)
    assert path.parent == tmp_path / "data" / "opencode" / "tool-output"
    assert NAME.fullmatch(path.name)


def test_a_store_that_is_given_has_them_under_its_own_names(tmp_path):
    store = DirStore(tmp_path / "store")
    clip = opencode.clipper(store=store).clip(FLOOD)
    assert Path(clip.path).parent == tmp_path / "store"
    assert store.get(clip.ref).bytes == len(FLOOD)


def test_nobody_else_can_read_them(folder):
    path = opencode.clipper(folder=str(folder)).clip(FLOOD).path
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_a_name_says_when_and_what(folder):
    clipper = opencode.clipper(folder=str(folder))
    before = int(time.time() * 1_000)
    first, again, other = (Path(clipper.clip(text).path).name for text in (FLOOD, FLOOD, FLOOD + "y"))
    assert all(map(NAME.fullmatch, (first, again, other)))
    assert first < again < other
    assert first[17:] == again[17:] != other[17:], "the end is of the content's hash"
    age = (int(other[5:17], 16) // 4_096 - before) % 2**36
    assert age < 60_000, "the time is in 4,096ths of a millisecond"


def test_two_hundred_threads_give_two_hundred_names_in_order(folder):
    clipper = opencode.clipper(folder=str(folder))
    texts = [f"{number}\n" * 3_000 for number in range(200)]
    with ThreadPoolExecutor(200) as threads:
        clips = list(threads.map(clipper.clip, texts))
    assert len({clip.path for clip in clips}) == 200
    assert [Path(clip.path).read_text() for clip in clips] == texts
    assert all(clip.path in clip.text for clip in clips)


def test_the_same_output_twice_has_two_names_and_is_kept_once(folder):
    clipper = opencode.clipper(folder=str(folder))
    first, second = clipper.clip(FLOOD), clipper.clip(FLOOD)
    assert first.path < second.path
    assert first.ref == second.ref
    assert os.path.samefile(first.path, second.path)


def test_the_same_output_again_is_as_young_as_its_last_call(folder):
    clipper = opencode.clipper(folder=str(folder))
    first = clipper.clip(FLOOD).path
    os.utime(first, (time.time() - 6.9 * DAY,) * 2)
    second = clipper.clip(FLOOD).path
    assert clipper.settings.store.sweep_names(time.time() + DAY) == 0
    assert Path(second).read_text() == FLOOD


#: name, days old, whether it is still there: only what looks like an output, and only by the age of the file.
FOUND = [
    ("tool_0000000000000000000000000a", 8, False),
    ("tool_ffffffffffff0000000000000a", 8, False),
    ("tool_0000000000000000000000000b", 6, True),
    ("tool_old", 8, False),
    ("tool_notes.txt", 800, True),
    ("notes", 800, True),
    ("mytool_1", 800, True),
    (".tool_1", 800, True),
]


def test_only_outputs_that_are_a_week_old_go_before_the_first_is_saved(folder):
    for name, days, _ in FOUND:
        place(folder / name, days)
    (folder / "tool_folder").mkdir()
    (folder / "tool_link").symlink_to(folder / "notes")
    os.utime(folder / "tool_link", (0, 0), follow_symlinks=False)
    new = Path(opencode.clipper(folder=str(folder)).clip(FLOOD).path).name
    left = {"tool_folder", "tool_link", ".spillover", new, *(name for name, _, stays in FOUND if stays)}
    assert set(os.listdir(folder)) == left


def test_that_is_done_once_per_process(folder):
    clipper = opencode.clipper(folder=str(folder))
    clipper.clip(FLOOD)
    place(folder / "tool_old", 8)
    clipper.clip(FLOOD)
    assert (folder / "tool_old").exists()
    code = f"from spillover.profiles import opencode; opencode.clipper(folder={str(folder)!r}).clip('y\\n' * 3_000)"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert not (folder / "tool_old").exists()


def test_what_fits_neither_sweeps_nor_makes_a_folder(folder):
    opencode.clipper(folder=str(folder)).clip("short")
    assert not folder.exists()


def not_kept(clipper):
    """Return the text of an output that could not be stored, after checking that it names no path."""
    result = opencode.result(clipper.clip(FLOOD))
    assert result["truncated"] is True
    assert "outputPath" not in result
    assert result["content"].startswith("x\nx\n")
    assert "saved to" not in result["content"]
    assert "/" not in result["content"]
    return result["content"]


def saved_as_theirs(folder):
    """What they do: make the folder, write the file; whatever that raises fails the call."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tool_1").write_text(FLOOD)


def test_a_folder_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OSError, match="Not a directory"):
        saved_as_theirs(tmp_path / "file" / "tool-output")
    text = not_kept(opencode.clipper(folder=str(tmp_path / "file" / "tool-output")))
    assert "Full output not kept: " in text
    assert (tmp_path / "file").read_text() == "in the way"


@pytest.mark.skipif(os.geteuid() == 0, reason="whoever may do everything may write everywhere")
def test_a_folder_that_cannot_be_written_is_said(folder):
    folder.mkdir(mode=0o500)
    assert "this user may not read or write tool-output; change" in not_kept(opencode.clipper(folder=str(folder)))


@pytest.mark.parametrize("name", ["tool-output", "a folder/with blanks", "é; rm -r"])
def test_no_path_is_named_where_nothing_was_written(tmp_path, name):
    file = name.partition("/")[0]
    (tmp_path / file).write_text("in the way")
    why = f"Full output not kept: {file} is a file where the store needs a folder; move it or name another store."
    assert why in not_kept(opencode.clipper(folder=str(tmp_path / name / "outputs")))


def test_a_symlink_in_the_place_of_the_folder_is_not_followed(folder, tmp_path):
    """They follow it, and write wherever it leads."""
    (tmp_path / "elsewhere").mkdir()
    folder.symlink_to(tmp_path / "elsewhere")
    saved_as_theirs(folder)
    (tmp_path / "elsewhere" / "tool_1").unlink()
    not_kept(opencode.clipper(folder=str(folder)))
    assert os.listdir(tmp_path / "elsewhere") == []


def test_a_real_limit_on_files_costs_the_file_and_not_the_call(folder):
    code = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "from spillover.profiles import opencode\n"
        f"print(opencode.clipper(folder={str(folder)!r}).clip('x' * 999 + '\\n' for _ in range(1_000)).text[-200:])\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "...949001 bytes truncated..." in said
    assert "Full output not kept: " in said
    assert list(folder.glob("tool_*")) == []


def test_a_gigabyte_is_bounded_in_memory(folder):
    code = (
        "from spillover.profiles import opencode\n"
        "from spillover.testing import peak_memory\n"
        f"clipper = opencode.clipper(folder={str(folder)!r}, cap=1 << 20)\n"
        "clipper.clip('warm up\\n' * 100_000)\n"
        "before, chunk = peak_memory(), bytes(1 << 20)\n"
        "clip = clipper.clip(chunk for _ in range(1_024))\n"
        "print(clip.total.bytes, peak_memory() - before)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    size, grown = map(int, ended.stdout.split())
    assert size == 1 << 30
    assert grown < 30 << 20
