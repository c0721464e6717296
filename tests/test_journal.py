"""The journal: appended to by many, rotated, private, and read in bounded memory however large or damaged it is."""

import os
import resource
import signal
import stat
import subprocess
import sys

import pytest

from spillover import Clipper, DirStore, Limits, MemoryStore, events, journal
from spillover.errors import StoreError
from spillover.journal import MAX_COUNT, MAX_TEXT_BYTES, Entry, decode, encode
from spillover.stats import add_up

LONG = "".join(f"line {number} of a build\n" for number in range(3_000))


def entry(number=0, **more):
    return Entry(
        operation="clip", outcome="stored", when=1_763_000_000 + number, scope="/app", tool=f"t{number}", **more
    )


@pytest.fixture
def place(tmp_path):
    return str(tmp_path / "store")


def clip(place, **choices):
    return Clipper(Limits(tokens=300), store=DirStore(place), scope="app", **choices).clip(LONG)


def ledger(place, *names):
    return os.path.join(place, ".ledger", *names)


def test_lines_are_read_back_in_both_directions_for_any_size_of_block(place):
    entries = [entry(number, command="x" * number) for number in range(100)]
    for one in entries:
        journal.append(place, one, file_bytes=3_000)
    assert len(os.listdir(ledger(place))) > 3
    for block in (64, 333, 5_000, 1 << 20):
        assert [*journal.read(place, block=block)] == entries
        assert [*journal.read(place, newest=True, block=block)] == entries[::-1]
    assert [*journal.read(place, since=entries[90].when)] == entries[90:]
    assert [*journal.read(place, scope="/other")] == []
    assert journal.size(place) == sum(len(encode(one)) for one in entries)


def test_it_is_bounded_and_the_oldest_lines_go(place):
    line = len(encode(entry()))
    for number in range(2_000):
        journal.append(place, entry(number), file_bytes=10 * line, journal_bytes=50 * line)
    kept = [*journal.read(place)]
    assert kept[-1] == entry(1_999)
    assert [one.tool for one in kept] == [f"t{number}" for number in range(2_000 - len(kept), 2_000)]
    assert journal.size(place) < 80 * line


WRITER = """
import sys
from spillover import journal
from spillover.journal import Entry, encode
place, name, count, file_bytes = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
for number in range(count):
    entry = Entry(operation="clip", outcome="stored", when=1, scope="/a", tool=name, command="c" * (number % 700), produced=number)
    journal.append(place, entry, file_bytes=file_bytes, journal_bytes=1 << 30)
"""


def test_lines_of_200_writers_are_all_there_and_none_is_torn_while_it_is_rotated(place):
    forking = (
        "import os\nfrom spillover import journal\nfor _ in range(199):\n    if os.fork() == 0:\n        break\n"
        + WRITER
    )
    code = forking.replace("sys.argv[2]", "str(os.getpid())") + (
        "\ntry:\n    while True:\n        assert os.wait()[1] == 0\nexcept ChildProcessError:\n    pass\n"
    )
    assert (
        subprocess.run([sys.executable, "-c", code, place, "", "10", "20000"], timeout=120, check=False).returncode == 0
    )
    assert len(os.listdir(ledger(place))) > 3, "it was rotated"
    found = [(one.tool, one.produced) for one in journal.read(place)]
    assert len(found) == len(set(found)) == 200 * 10
    assert add_up(journal.read_all(place)).damaged == 0


def test_a_writer_that_is_killed_leaves_whole_lines(place):
    for _ in range(5):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, place, "w", "1000000", "20000"])
        while not os.path.exists(ledger(place, "journal")) or journal.size(place) < 20_000:
            assert writer.poll() is None
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        before = len([*journal.read(place)])
        journal.append(place, entry(1))
        assert len([*journal.read(place)]) == before + 1
        assert add_up(journal.read_all(place)).damaged == 0
        for name in os.listdir(ledger(place)):
            os.unlink(ledger(place, name))


def test_half_a_line_that_a_full_disk_left_ends_where_the_next_begins(place):
    journal.append(place, entry(1))
    with open(ledger(place, "journal"), "ab") as file:
        file.write(encode(entry(2))[:50])
    journal.append(place, entry(3))
    assert [one.tool for one in journal.read(place)] == ["t1", "t3"]
    assert add_up(journal.read_all(place)).damaged == 1


def test_it_is_private(place):
    old = os.umask(0)
    try:
        clip(place)
    finally:
        os.umask(old)
    assert stat.S_IMODE(os.stat(ledger(place)).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(ledger(place, "journal")).st_mode) == 0o600


@pytest.mark.parametrize("what", ["folder", "file"])
def test_no_link_is_followed_and_the_clip_is_the_same(place, tmp_path, what):
    expected = clip(str(tmp_path / "other")).text
    target = tmp_path / "target"
    os.makedirs(place, mode=0o700)
    (tmp_path / "store" / ".spillover").touch()
    if what == "folder":
        target.mkdir()
        os.symlink(target, ledger(place))
    else:
        target.touch()
        os.mkdir(ledger(place), 0o700)
        os.symlink(target, ledger(place, "journal"))
    made = clip(place)
    assert made.outcome == "stored"
    assert made.text.replace(place, "") == expected.replace(str(tmp_path / "other"), "")
    assert not any(target.iterdir()) if what == "folder" else not target.read_bytes()
    with pytest.raises((StoreError, OSError)):
        journal.append(place, entry())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("what", [(), ("journal",)])
def test_what_belongs_to_somebody_else_is_neither_written_nor_read(place, what):
    clip(place)
    os.chown(ledger(place, *what), 12_345, -1)
    before = os.stat(ledger(place, "journal")).st_size
    assert clip(place).outcome == "stored"
    assert os.stat(ledger(place, "journal")).st_size == before
    try:
        assert [*journal.read(place)] == []
    except StoreError as error:
        assert "another user" in str(error)  # noqa: PT017  either is an answer


def test_a_fifo_in_its_place_hangs_nobody(place):
    clip(place)
    os.unlink(ledger(place, "journal"))
    os.mkfifo(ledger(place, "journal"))
    assert clip(place).outcome == "stored"
    assert [*journal.read(place)] == []


def test_a_full_disk_costs_a_line_and_nothing_else(place):
    clip(place)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    limit = os.stat(ledger(place, "journal")).st_size + 10
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        journal.append(place, entry(1))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    journal.append(place, entry(2))
    assert [one.tool for one in journal.read(place)] == ["tool", "t2"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ValueError("odd"), MemoryError()])
def test_a_journal_that_fails_fails_no_call(place, monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(events, "append", fail)
    clipper = Clipper(Limits(tokens=300), store=DirStore(place), stats=True)
    made = clipper.clip(LONG)
    assert made.outcome == "stored"
    assert clipper.read(made.ref, lines="1:3").text.startswith("1: line 0")
    assert clipper.wrap(lambda: "short")() == "short"
    assert clipper.tool_specs()


def test_without_a_folder_there_is_no_journal_and_no_disk_is_touched(monkeypatch):
    monkeypatch.setattr(events, "append", None)
    clipper = Clipper(Limits(tokens=300), store=MemoryStore(), stats=True)
    assert clipper.clip(LONG).outcome == "stored"
    assert journal.folder_of(MemoryStore()) is None


def test_with_a_bucket_as_store_the_journal_is_on_this_machine(tmp_path):
    from spillover import ObjectStore

    spool = tmp_path / "spool"
    assert journal.folder_of(ObjectStore("s3://bucket/outputs", spool=spool)) == str(spool)
    assert journal.folder_of(Clipper(store=DirStore(tmp_path / "here")).settings.store) == str(tmp_path / "here")


def test_what_fits_is_noted_only_where_somebody_asks_for_it(place):
    for stats, noted in ((None, 0), (False, 0), (True, 1)):
        Clipper(store=DirStore(place), stats=stats).clip("short")
        assert len([*journal.read(place)]) == noted


@pytest.mark.parametrize("way", ["choice", "variable"])
def test_it_can_be_turned_off(place, monkeypatch, way):
    if way == "variable":
        monkeypatch.setenv("SPILLOVER_STATS", "false")
    made = clip(place, stats=None if way == "variable" else False)
    assert made.outcome == "stored"
    Clipper(store=DirStore(place), scope="app", stats=None if way == "variable" else False).read(made.ref)
    assert not os.path.exists(ledger(place))


def test_no_word_of_content_and_no_secret_of_a_command_is_in_it(place):
    clipper = Clipper(Limits(tokens=300), store=DirStore(place), stats=True)
    run = clipper.run(["sh", "-c", "seq -f 'Geheimnis %g' 1 3000 # --password hunter2secret"])
    clipper.grep(run.clip.ref, "Geheimnis 77")
    with open(ledger(place, "journal"), "rb") as file:
        data = file.read()
    assert b"Geheimnis 7" not in data
    assert b"hunter2secret" not in data
    assert b"[redacted" in data
    assert data.count(b"\n") == 2


def test_a_store_that_is_removed_begins_a_new_journal(place):
    import shutil

    clip(place)
    shutil.rmtree(place)
    assert [*journal.read(place)] == []
    assert journal.size(place) == 0
    clip(place)
    assert len([*journal.read(place)]) == 1


@pytest.mark.parametrize(
    "data",
    [b"", b"\n" * 5_000, b"\0" * 3_000_000, b"x" * 3_000_000 + b"\n", os.urandom(500_000), b"\xff\t" * 100_000 + b"\n"],
)
def test_whatever_stands_in_it_the_good_lines_are_read(place, data):
    journal.append(place, entry(1))
    with open(ledger(place, "journal"), "ab") as file:
        file.write(data)
    journal.append(place, entry(2))
    for read in (journal.read(place), journal.read(place, newest=True), journal.read(place, block=100)):
        assert sorted(one.tool for one in read) == ["t1", "t2"]
    assert add_up(journal.read_all(place)).total.clips == 2


# One line: written, read, and refused when it is damaged.

FULL = Entry(
    operation="grep",
    outcome="stored",
    when=1_763_000_000.123,
    scope="/home/me/app",
    tool="Bash",
    host="Claude Code",
    command="npm test",
    kind="log",
    ref="npm-7f3a9c2e41d05b86",
    produced=50_000,
    base=9_000,
    shown=2_000,
    notice=70,
    milliseconds=12,
    lines=((120, 180), (300, 300)),
    near=3,
)


def test_an_entry_is_read_back_as_it_was_written():
    line = encode(FULL)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode(line[:-1]) == FULL


@pytest.mark.parametrize("word", ["a\tb", "a\nb", "a\r\x1b[31mb", "a\u2028b", "\x00"])
def test_what_would_break_a_line_is_made_a_space(word):
    line = encode(Entry(operation="clip", outcome="whole", when=0, scope="/", tool=word, command=word))
    entry = decode(line[:-1])
    assert entry is not None
    assert entry.tool.isprintable()
    assert line.count(b"\n") == 1


def test_the_longest_line_is_written_in_one_piece():
    long = "ü" * 5_000
    ranges = tuple((10**9 + number, 10**9 + number) for number in range(100))
    entry = Entry(
        operation="clip", outcome="lost", when=9e9, scope="/" + long, tool=long, host=long, command=long, kind=long,
        ref=long, produced=10**20, base=-5, shown=10**20, notice=10**20, milliseconds=10**20, lines=ranges, near=10**9,
    )  # fmt: skip
    line = encode(entry)
    assert len(line) < 4_096
    read = decode(line[:-1])
    assert read is not None
    assert (read.produced, read.base) == (MAX_COUNT, 0)
    assert read.scope.startswith("/sha256/")
    assert all(len(getattr(read, name).encode()) <= most for name, most in MAX_TEXT_BYTES.items())


def test_a_line_of_quotes_is_written_in_one_piece_too():
    long = '"\\' * 5_000
    entry = Entry(operation="clip", outcome="lost", when=1, scope="/" + '"' * 1_000, tool=long, command=long, ref=long)
    line = encode(entry)
    assert len(line) < 4_096
    assert decode(line[:-1]) is not None


def test_a_line_that_was_cut_short_is_no_entry():
    line = encode(FULL)
    assert [at for at in range(len(line) - 1) if decode(line[:at]) is not None] == []


def test_a_line_that_lost_its_end_and_the_next_are_no_entry():
    line = encode(FULL)
    assert decode(line[:100] + line[:-1]) is None
    for before, after in ((b"grep", b"grip"), (b"50000", b"5x000"), (b"50000", b"9" * 3_000), (b"50000", b"-1")):
        assert decode(line[:-1].replace(before, after)) is None
