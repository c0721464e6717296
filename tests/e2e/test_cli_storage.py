"""Failing storage: the command ends as usual, and the text fits and says what happened to the rest."""

import json
import os
import subprocess

import pytest

from spillover import verify
from spillover.testing import content

COUNT = 300_000
SIZE = sum(len(str(number)) + 1 for number in range(1, COUNT + 1))
SEQ = f"seq {COUNT}; exit 7"


@pytest.fixture
def run(spill, store):
    """Run the script under `spill run`, after a line of shell; return the exit code, the text and stderr."""

    def call(script=SEQ, before=":", *, json_=False, options=""):
        form = "--json" if json_ else ""
        line = f'{before}; exec "{spill}" run {form} --bytes 2000 {options} -- sh -c "$1"'
        ran = subprocess.run(["sh", "-c", line, "sh", script], capture_output=True, check=False)
        assert b"Traceback" not in ran.stderr
        return ran.returncode, json.loads(ran.stdout) if json_ else ran.stdout.decode(), ran.stderr

    return call


def lost(said):
    """Check a clip whose output could not be stored, and return whether it says so."""
    code, text, err = said
    assert (code, err) == (7, b"")
    assert len(text.encode()) <= 2_000
    assert f"of {COUNT:,} lines shown; {SIZE:,} bytes" in text
    assert text.endswith(f"\n{COUNT}\n"), "both ends are shown"
    assert "\n1\n2\n3\n" in text
    assert "/a store/" not in text, "no path that was not written"
    return "Full output not kept: " in text


#: Blocks of 512 or 1,024 bytes: less than is held in memory, enough to stream, and enough to measure in another thread.
@pytest.mark.parametrize("blocks", [0, 1, 100, 3_000])
def test_a_full_disk_loses_the_middle_and_nothing_else(run, store, blocks):
    said = run(before=f"ulimit -f {blocks}")
    assert lost(said)
    assert "File too large" in said[1]
    assert list(store.list()) == []
    temp = os.path.join(store.root, ".tmp")
    assert not os.path.isdir(temp) or os.listdir(temp) == []


def test_a_full_disk_is_in_the_json(run):
    code, facts, _ = run(before="ulimit -f 100", json_=True)
    assert (code, facts["exit_code"], facts["outcome"]) == (7, 7, "lost")
    assert (facts["ref"], facts["path"], facts["reason"]) == (None, None, "File too large")
    assert facts["total"]["lines"] == COUNT


def test_what_fits_needs_no_store_at_all(run, store):
    code, text, error = run("seq 50; exit 7", before="ulimit -f 0")
    assert (code, text.splitlines(), error) == (7, [str(number) for number in range(1, 51)], b"")
    assert list(store.runs()) == []


def in_the_way(path):
    path.write_text("a file")


def linked(path):
    path.with_name("elsewhere").mkdir()
    path.symlink_to("elsewhere")


def somebody_elses(path):
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    path.mkdir(mode=0o700)
    os.chown(path, 12345, 12345)


def read_only(path):
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    path.mkdir(mode=0o500)


@pytest.mark.parametrize("spoil", [in_the_way, linked, somebody_elses, read_only])
def test_a_store_that_cannot_be_used_is_reported_and_changes_nothing(run, store, tmp_path, spoil):
    spoil(tmp_path / "a store")
    code, text, err = run()
    assert (code, err) == (7, b"")
    assert len(text.encode()) <= 2_000
    assert "Full output not kept: " in text
    assert text.endswith(f"\n{COUNT}\n")


@pytest.mark.parametrize("path", ["/proc/none/store", "/dev/null/store", "x" * 300])
def test_a_store_that_cannot_be_created_is_reported_and_changes_nothing(run, path):
    assert lost(run(options=f"--store '{path}'"))


def test_past_the_cap_the_first_part_is_stored_and_everything_counted(run, store):
    code, text, err = run(before="export SPILLOVER_CAP='1 MB'")
    (record,) = store.list()
    assert (code, err) == (7, b"")
    assert "Stored in part: first 1,000,000 bytes" in text
    assert f"of {COUNT:,} lines shown; {SIZE:,} bytes" in text
    assert (record.bytes, record.produced_bytes, record.produced_lines) == (1_000_000, SIZE, COUNT)
    assert content(store, record.ref) == b"".join(b"%d\n" % n for n in range(1, COUNT + 1))[:1_000_000]
    assert verify(store, record.ref) is None


def test_reading_back_says_where_the_stored_part_ends(run, spill, store):
    run(before="export SPILLOVER_CAP='1 MB'")
    (record,) = store.list()
    last = subprocess.run([spill, "read", record.ref, "-2:"], capture_output=True, text=True, check=True).stdout
    assert f"The stored part ends here: the first 1,000,000 of {SIZE:,} bytes" in last


def test_the_same_output_again_is_stored_once(run, store):
    first, second = run(json_=True)[1], run(json_=True)[1]
    assert first == second
    assert len(list(store.list())) == 1


def test_many_commands_at_once_store_what_each_printed(spill, store):
    script = f'for n in 1 2 3 4 5 6 7 8; do "{spill}" run --bytes 2000 -- seq $((n / 2)) 9000 & done; wait'
    subprocess.run(["sh", "-c", script], capture_output=True, check=True)
    stored = sorted(content(store, record.ref).split(b"\n", 1)[0] for record in store.list())
    assert stored == [b"0", b"1", b"2", b"3", b"4"]
    assert [verify(store, record.ref) for record in store.list()] == [None] * 5
