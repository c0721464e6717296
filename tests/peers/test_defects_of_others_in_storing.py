"""Bugs of other systems in storing output and reading it back. Each test would have caught one."""

import os
import resource
import stat
import subprocess
import sys
import time

import pytest

from spillover import Clipper, DirStore, Limits, MemoryStore, Retention, verify
from spillover.testing import FailingStore, content, put

LINES = "".join(f"line {number}\n" for number in range(1, 2_102))  # more than 2000 lines, less than 50 KB
DAY = 86_400


@pytest.fixture
def root(tmp_path):
    return tmp_path / "store"


@pytest.fixture
def clipper(root):
    return Clipper(Limits(lines=20), store=DirStore(root), hints=["path", "cli"])


# nothing is lost


@pytest.mark.parametrize(
    "limits", [Limits(lines=2_000), Limits(bytes=10_000), Limits(tokens=2_000), Limits(chars=9_000)]
)
def test_there_is_no_band_where_something_is_cut_and_not_kept(root, limits):
    """pi#2852: above 2000 lines and below 50 KB, output was cut and the notice said "Full output: undefined"."""
    clip = Clipper(limits, store=DirStore(root)).clip(LINES)
    assert clip.outcome == "stored"
    assert clip.path in clip.text
    with open(clip.path, "rb") as file:
        assert file.read() == LINES.encode()


@pytest.mark.parametrize(
    "raw",
    [
        b"\x1b[31mred\x1b[0m\r\n" * 50,  # klaude removed the colours before saving
        b"password=supersecretvalue\n" * 50,  # vtcode redacted what it called the full output
        b"a\r\nb\n\rc\n" * 50,  # klaude's text mode translates line ends on some systems
        bytes(range(256)) * 10,  # and bytes that are not UTF-8 came back as U+FFFD
        b"\xf0\x9f\x98" * 400,
        b"no end" * 100,
    ],
)
def test_what_is_stored_is_what_came_in_byte_for_byte(root, raw):
    """klaude, vtcode: the file was cleaned or redacted; vtcode's other spooler added a 5-line header."""
    clipper = Clipper(Limits(bytes=300), store=DirStore(root))
    clip = clipper.clip(raw)
    with open(clip.path, "rb") as file:
        assert file.read() == raw
    assert verify(clipper.settings.store, clip.ref) is None


def test_a_second_layer_stores_what_the_first_one_produced_and_not_what_it_showed(root):
    """OpenHands: one layer clipped 208,890 characters to 30,000, and the next saved those as "the complete output"."""
    text = "".join(f"{number:08d}\n" for number in range(23_210))
    inner = Clipper(Limits(chars=30_000), store=DirStore(root))
    outer = Clipper(Limits(chars=5_000), store=DirStore(root))
    clip = inner.clip(text)
    assert content(inner.settings.store, clip.ref).decode() == text
    assert outer.wrap(lambda: clip, tool="t")() == clip.text, "one that was bounded is not bounded again"


def test_a_part_is_never_called_the_whole(root):
    """opencode v2 bash: output was capped at 1 MiB before storing, but the notice said "full"; openclaude#1392."""
    clip = Clipper(Limits(lines=20), store=DirStore(root), cap=1_000).clip(LINES)
    assert "Full output" not in clip.text
    assert "Stored in part: first 1,000 bytes" in clip.text
    assert os.path.getsize(clip.path) == 1_000


def test_one_output_cannot_fill_the_disk(root):
    """Spill files were unbounded. opencode#29694: files of 9 GB, 63 GB in all; claude-code#26911: 537 GB."""
    clip = Clipper(Limits(lines=20), store=DirStore(root), cap=100_000).clip(b"x" * 1_000 + b"\n" for _ in range(5_000))
    assert clip.total.bytes == 5_005_000
    assert sum(path.stat().st_size for path in root.rglob("*") if path.is_file()) < 150_000


# storing fails


def test_a_failing_store_does_not_fail_the_call_and_no_path_is_named(root):
    """opencode v1, v2: a full disk made a successful call fail; prime-agent#2037: the notice named a path never written."""
    for on in ("writer", "write", "publish"):
        clip = Clipper(Limits(lines=20), store=FailingStore(DirStore(root), on=on), hints=["path", "cli"]).clip(LINES)
        assert clip.outcome == "lost"
        assert (clip.ref, clip.path) == (None, None)
        assert str(root) not in clip.text
        assert "spill read" not in clip.text
        assert "not kept: No space left on device" in clip.text


def test_a_store_whose_path_is_a_file_is_an_outcome(tmp_path):
    """opencode v2 OC6-6: the folder's path is a regular file."""
    (tmp_path / "store").write_text("I was here first")
    clip = Clipper(Limits(lines=20), store=DirStore(tmp_path / "store")).clip(LINES)
    assert clip.outcome == "lost"
    assert (tmp_path / "store").read_text() == "I was here first"


def test_a_disk_that_fills_up_during_a_stream_is_reported_and_nothing_is_left(root):
    """opencode: the write stream had no listener for ENOSPC. Here the kernel really refuses to write more."""
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))\n"
        "from spillover import Clipper, DirStore, Limits\n"
        f"clip = Clipper(Limits(lines=20), store=DirStore({str(root)!r})).clip(f'line {{n}}\\n' for n in range(200_000))\n"
        "print(clip.outcome, clip.total.lines, clip.text.rstrip()[-11:], clip.reason, sep='|')"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout
    assert out.strip() == "lost|200000|line 199999|File too large"
    assert [path for path in root.rglob("*") if path.is_file() and path.stat().st_size > 1_000] == []
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 200_000, "only that process was limited"


# access by others


def test_nobody_else_can_read_it_whatever_the_umask_is(root):
    """klaude, pi#7521, claude-code#26362: files were 0644 in a folder open to everybody."""
    before = os.umask(0)
    try:
        clip = Clipper(Limits(lines=20), store=DirStore(root)).clip(LINES)
    finally:
        os.umask(before)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in root.rglob("*") if path.is_file()}
    assert modes == {0o600}
    assert stat.S_IMODE(os.stat(os.path.dirname(clip.path)).st_mode) == 0o700


def test_no_symlink_is_followed_when_storing(root, tmp_path):
    """hermes#85511: anybody who could guess the name could have any file overwritten."""
    clipper = Clipper(Limits(lines=20), store=DirStore(root))
    first = clipper.clip(LINES)
    precious = tmp_path / "precious"
    precious.write_text("mine")
    clipper.settings.store.delete(first.ref)
    for ending in (".txt", ".json"):
        os.symlink(precious, first.path.removesuffix(".txt") + ending)
    second = clipper.clip(LINES)
    assert precious.read_text() == "mine"
    if second.outcome == "stored":
        assert content(clipper.settings.store, second.ref).decode() == LINES


def test_a_store_that_is_a_symlink_is_refused(root, tmp_path):
    """hermes#85511, pydantic: the root was a link to somewhere else."""
    (tmp_path / "elsewhere").mkdir()
    os.symlink(tmp_path / "elsewhere", root)
    clip = Clipper(Limits(lines=20), store=DirStore(root)).clip(LINES)
    assert clip.outcome == "lost"
    assert "symlink" in clip.text
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("call_id", ["c" * 1_500, "../../../etc/passwd", "a/b\0c", "\n]", "\ud83d"])
def test_an_id_of_any_length_and_shape_is_only_remembered(clipper, root, call_id):
    """deepagents#5560: a 1.5 KB id made the file name too long, so nothing was stored; agentic-harness#564: traversal."""
    clip = clipper.clip(LINES, call_id=call_id, tool=call_id)
    assert clip.outcome == "stored"
    assert os.path.dirname(clip.path) == str(root)
    assert len(os.path.basename(clip.path)) < 60


# retention


def test_age_is_the_age_of_the_file_and_not_of_its_name(root):
    """opencode#40987: the time in an id wraps after 795 days, so new files were deleted as old."""
    store = DirStore(root, Retention(age_seconds=7 * DAY, grace_seconds=60))
    old, recent, fresh = (put(store, text).ref for text in (b"old", b"recent", b"fresh"))
    now = time.time()
    for ref, days in ((old, 10), (recent, 3)):
        for ending in (".txt", ".json"):
            os.utime(root / f"{ref}{ending}", (now - days * DAY,) * 2)
    (root / "keep.txt").write_text("not ours")
    os.utime(root / "keep.txt", (now - 10 * DAY,) * 2)
    store.sweep(now)
    assert {record.ref for record in store.list()} == {recent, fresh}
    assert (root / "keep.txt").exists(), "opencode OC6-10: what is not ours stays"
    store.sweep(now + 800 * DAY)
    assert list(store.list()) == []
    again = put(store, b"fresh again").ref
    assert [record.ref for record in store.list()] == [again]


def test_outputs_do_not_pile_up_forever(root):
    """klaude, deepagents#2055, claude-code#31914: never cleaned up; vtcode: only by count, every 50 spools."""
    store = DirStore(root, Retention(count=5, grace_seconds=0))
    now = time.time()
    for number in range(20):
        ref = put(store, b"%d" % number).ref
        for ending in (".txt", ".json"):
            os.utime(root / f"{ref}{ending}", (now - 1_000 + number,) * 2)
    store.sweep(now)
    assert sorted(content(store, record.ref) for record in store.list()) == [b"15", b"16", b"17", b"18", b"19"]


# reading back


def test_reading_what_is_stored_stores_nothing_again(clipper):
    """VTCode#726, claude-code#31686, deepagentsjs#82: reading a spilled output spilled again, and so on."""
    ref = clipper.clip(LINES).ref
    for _ in range(3):
        answer = clipper.read(ref, lines="1:2000")
        clipper.grep(ref, "line")
        assert clipper.wrap(lambda answer=answer: answer, tool="read_output")() == answer.text
    assert [record.ref for record in clipper.settings.store.list()] == [ref]


def test_everything_in_one_huge_line_can_be_reached():
    """opencode: the preview is empty, Read shows 2000 characters of a line, and Grep fails on records above 64 KiB."""
    clipper = Clipper(Limits(bytes=2_000), store=MemoryStore(), hints="cli")
    data = "".join(f'{{"id":{number},"v":"{"x" * 40}"}},' for number in range(20_000))
    ref = clipper.clip(data).ref
    found = clipper.grep(ref, r'"id":13579,').text
    assert '"id":13579,' in found
    column = found.partition("(columns ")[2].partition("-")[0].replace(",", "")
    assert clipper.read(ref, lines=1, columns=f"{column}:+20").text.startswith('1: "id":13579,')


def test_the_match_is_shown_and_not_the_beginning_of_its_line():
    """opencode#13149: each line was clipped to its first 2000 characters, and the match came after them."""
    clipper = Clipper(store=MemoryStore())
    ref = put(clipper.settings.store, b"y" * 30_000 + b"NEEDLE" + b"y" * 30_000).ref
    assert "NEEDLE" in clipper.grep(ref, "NEEDLE").text
