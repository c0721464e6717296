"""Bugs of other systems in reading output from commands and from producers that push. Each test would have caught one."""

import sys

import pytest

from spillover import Clipper, DirStore, Limits, MemoryStore
from spillover.testing import content


@pytest.fixture
def clipper(tmp_path):
    return Clipper(store=DirStore(tmp_path / "store"), keep="tail")


def python(clipper, code, **options):
    return clipper.run([sys.executable, "-c", code], timeout=60, **options)


@pytest.mark.parametrize("size", [65_536, 65_537, 1_000_000])
def test_every_byte_is_drained_before_the_result_is_made(clipper, size):
    """opencode#30001, #36795: the reader was not awaited. Here the child writes and exits at once."""
    code = f"import os\ndata = b'x' * {size} + b'LAST'\nwhile data: data = data[os.write(1, data):]\nos._exit(0)"
    for _ in range(3):
        run = python(clipper, code)
        assert run.clip.total.bytes == size + 4
        assert run.clip.text.rstrip("\n").endswith("LAST")


def test_no_line_is_lost_while_progress_is_shown(clipper):
    """klaude: parent and child shared a file offset, and polling overwrote 115 of 200,000 lines."""
    seen = []
    code = "import sys\nfor n in range(200_000): sys.stdout.write(f'{n}\\n')"
    run = python(clipper, code, on_progress=seen.append)
    data = content(clipper.settings.store, run.clip.ref)
    assert data == b"".join(b"%d\n" % number for number in range(200_000))
    assert all(progress.bytes <= len(data) for progress in seen)


def test_a_noisy_command_is_not_killed_for_its_noise(clipper):
    """daycare: above 1,000,000 bytes of output, the command was killed and an error returned."""
    run = python(clipper, "import sys\nfor _ in range(30_000): print('x' * 100)\nsys.exit(7)")
    assert run.exit_code == 7
    assert run.clip.total.bytes == 30_000 * 101


def test_a_cap_stops_storing_and_neither_the_command_nor_the_counting(tmp_path):
    """deepagents: put `head -c` on the pipe; claude-code 2.1.77 kills the command at 5 GB."""
    clipper = Clipper(Limits(lines=20), store=DirStore(tmp_path / "store"), cap=10_000, keep="tail")
    run = python(clipper, "for n in range(50_000): print(n)")
    assert run.exit_code == 0
    assert run.clip.total.lines == 50_000
    assert run.clip.text.endswith("49999\n")
    assert "Stored in part: first 10,000 bytes" in run.clip.text


def test_what_came_before_the_end_of_a_command_that_failed_is_kept(clipper):
    """openclaude#1392: there was no path if the exit code was not 0."""
    run = python(clipper, "import sys\nfor n in range(5_000): print(n)\nsys.exit(3)")
    assert (run.exit_code, run.clip.outcome) == (3, "stored")
    assert run.clip.path in run.clip.text


def test_the_exit_code_survives_a_store_that_does_not(tmp_path):
    """opencode v1: a full disk turned a successful call into a failed one."""
    (tmp_path / "store").write_text("a file")
    run = python(Clipper(store=DirStore(tmp_path / "store")), "for n in range(5_000): print(n)")
    assert (run.exit_code, run.clip.outcome) == (0, "lost")


def test_characters_are_not_broken_where_the_pipe_breaks_them(clipper):
    """klaude decoded each chunk separately; Roo every 64 KB. Here the child pauses inside a character and a colour code."""
    code = (
        "import os, time\n"
        "for part in (b'\\xf0\\x9f', b'\\x98\\x80 \\x1b[3', b'1mred\\x1b[', b'0m\\n'):\n"
        "    os.write(1, part); time.sleep(0.05)\n"
    )
    assert python(clipper, code).clip.text == "😀 red\n"


def test_progress_never_shows_half_a_character(clipper):
    """opencode#29291: the on-screen preview took the last 30,000 UTF-16 units."""
    seen = []
    code = "import time\nfor n in range(4): print('😀' * 300 + str(n), flush=True); time.sleep(0.15)"
    python(clipper, code, on_progress=seen.append)
    assert seen
    assert all(set(progress.last) <= set("😀0123") for progress in seen)


def test_output_after_the_limit_is_exactly_reached_is_not_dropped_silently():
    """kimi: `Hello` filled the buffer of 5, and ` world` was dropped silently."""
    clipper = Clipper(Limits(chars=500), store=MemoryStore())
    capture = clipper.capture()
    capture.write("H" * 500)
    capture.write(" world")
    assert capture.clip.outcome == "stored"
    assert "of 506 bytes shown" in capture.clip.text
    assert capture.clip.text.endswith(" world")
    assert content(clipper.settings.store, capture.clip.ref).decode() == "H" * 500 + " world"


def test_the_last_error_is_there_also_when_it_comes_late():
    """kimi: kept only the head, so the final error was lost."""
    clipper = Clipper(Limits(chars=500), store=MemoryStore())
    capture = clipper.capture()
    for number in range(1_000):
        capture.write(f"step {number}\n")
    capture.write("fatal: it failed\n", stream="stderr")
    assert capture.clip.text.endswith("fatal: it failed\n")


def test_memory_does_not_grow_with_the_output(tmp_path):
    """oh-my-pi#11351: 157 MB of output took 60 GB of memory; opencode#9699. This test uses 60 MB in a separate process."""
    code = (
        "from spillover import Clipper, DirStore, Limits\n"
        "from spillover.testing import peak_memory\n"
        f"clipper = Clipper(Limits(), store=DirStore({str(tmp_path / 'store')!r}))\n"
        "clipper.clip(b'warm up\\n' * 100_000)\n"
        "before = peak_memory()\n"
        "clip = clipper.clip((b'x' * 99 + b'\\n') * 100 for _ in range(6_000))\n"
        "print(clip.total.bytes, peak_memory() - before)\n"
    )
    run = python(Clipper(store=MemoryStore()), code)
    size, grown = map(int, run.clip.text.split())
    assert size == 60_000_000
    assert grown < 30 << 20
