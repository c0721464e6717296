"""Law 8 as a table: every kind of output, every `keep`, and every way a store can fail."""

import subprocess
import sys

import pytest
from law_faults import failures, wrong
from law_kinds import kinds
from law_tables import KEEPS

from spillover import Clipper, Limits, MemoryStore
from support import STORED_BYTES_CAP as CAP

#: A cut reads 64 KiB of each end. The first size has no missing middle but exceeds one index block; the second has a middle.
SIZES = (70_000, 150_000)
OUTPUTS = {(name, size): data for size in SIZES for name, data in kinds(size).items()}
CHUNK = 4_099


@pytest.mark.parametrize("others", [False, True])
@pytest.mark.parametrize("kind", kinds(1_000))
def test_no_kind_of_output_makes_a_call_fail_when_its_store_does(tmp_path, kind, others):
    """Every kind meets every failure, by the default keep and by another; those, sizes and exceptions take turns."""
    found, turn = {}, [*kinds(1_000)].index(kind) + others
    rest = [keep for keep in KEEPS if keep != "auto"]
    for number, (how, (make, cap)) in enumerate(failures(tmp_path / "store", turn).items()):
        size = SIZES[(number + turn) % len(SIZES)]
        data, store = OUTPUTS[kind, size], make()
        keep = rest[(number + turn) % len(rest)] if others else "auto"
        clipper = Clipper(Limits(tokens=400), keep=keep, store=store, cap=cap or CAP)
        clip = clipper.clip(data[at : at + CHUNK] for at in range(0, len(data), CHUNK))
        found[how, size] = wrong(clip, data, store, clipper, cap)
    assert {how: said for how, said in found.items() if said} == {}


@pytest.mark.parametrize("kind", kinds(1_000))
def test_a_cap_that_was_reached_keeps_what_was_stored_whatever_it_is(kind):
    for size in SIZES:
        data = OUTPUTS[kind, size]
        for cap in (10_000, 65_536):
            store = MemoryStore()
            clipper = Clipper(Limits(tokens=400), store=store, cap=cap)
            clip = clipper.clip(data)
            assert clip.outcome == "stored"
            assert wrong(clip, data, store, clipper, cap) == []


@pytest.mark.parametrize("kind", ["NDJSON", "long NDJSON", "JSON", "CSV", "diff", "HTML", "log"])
def test_a_command_whose_store_fails_keeps_its_exit_code_and_is_shown(kind, tmp_path):
    path = tmp_path / "output"
    path.write_bytes(OUTPUTS[kind, SIZES[0]])
    spill = "import sys; from spillover.cli import main; sys.exit(main())"
    words = ["run", "--store", "/proc/nope/x", "--", "sh", "-c", 'cat "$0"; exit 7', path]
    ended = subprocess.run([sys.executable, "-c", spill, *words], capture_output=True, text=True, check=False)
    assert ended.returncode == 7
    assert "Full output not kept: " in ended.stdout
    assert len(ended.stdout) > 1_000
