"""Where to look closely in a large output."""

import itertools
import os
import random
import threading

import pytest
from msgspec.structs import replace

from spillover.base.work import TooMuchWork, Work
from spillover.select.log import scan
from spillover.select.log.scan import CLOSE, MOST_LINES, look
from spillover.source.blob import Metered


def steady(count):
    dice = random.Random(3)
    return [f"2026-11-15 10:00:{number % 60:02} [{number:7}] compiled unit {dice.randrange(10**6)} of 900000, 0 errors" for number in range(count)]  # fmt: skip


def test_a_small_output_is_looked_at_whole(document):
    assert look(document("a\nb\n"), 0, 4).pieces == [(0, 4)]


@pytest.mark.parametrize("needle", ["link.c:3: error: undefined reference to `take'", "thread 'main' panicked at src/lib.rs:2", "region FLASH resized by board.ld"])  # fmt: skip
@pytest.mark.parametrize("place", [0.2, 0.5, 0.83])
def test_the_place_of_what_is_rare_is_among_the_pieces_whether_it_has_a_keyword_or_not(document, needle, place):
    lines = steady(30_000)
    lines.insert(int(len(lines) * place), needle)
    output = "\n".join(lines) + "\n"
    at = output.index(needle)
    seen = look(document(output), 0, len(output))
    assert any(start <= at and at + len(needle) <= end for start, end in seen.pieces)
    assert sum(end - start for start, end in seen.pieces) <= CLOSE + 100_000
    assert seen.pieces[0][0] == 0
    assert seen.pieces[-1][1] == len(output)


def test_pieces_begin_and_end_at_line_ends_and_do_not_touch(document):
    output = "\n".join(steady(30_000)) + "\n"
    pieces = look(document(output), 0, len(output)).pieces
    for start, end in pieces:
        assert start == 0 or output[start - 1] == "\n"
        assert output[end - 1] == "\n"
    assert all(one[1] < two[0] for one, two in itertools.pairwise(pieces))


@pytest.mark.parametrize("output", ["\n" * 2_000_000, "x" * 3_000_000, "a\n" * 1_000_000, "\r" * 600_000], ids=["empty lines", "one line", "short lines", "frames"])  # fmt: skip
def test_however_short_or_long_lines_are_the_work_is_bounded(document, output):
    pieces = look(document(output), 0, len(output)).pieces
    assert sum(output[start:end].count("\n") for start, end in pieces) <= MOST_LINES + 2 * len(pieces)
    assert sum(end - start for start, end in pieces) <= CLOSE + 100_000


def test_how_many_threads_look_makes_no_difference(document, monkeypatch):
    lines = steady(30_000)
    lines[12_345] = "fatal: the remote end hung up"
    output = "\n".join(lines)
    seen = []
    for threads in (1, 2, 4):
        monkeypatch.setattr(os, "cpu_count", lambda threads=threads: threads)
        seen.append(look(document(output), 0, len(output)))
    monkeypatch.setattr(threading.Thread, "start", _fail)  # no more threads here
    seen.append(look(document(output), 0, len(output)))
    assert seen[0].rare
    assert all(each == seen[0] for each in seen)


def _fail(*_):
    raise RuntimeError("can't start new thread")


def test_work_that_runs_out_in_a_thread_ends_all_of_them(document, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    large = document("a line\n" * 1_000_000)
    spent = replace(large, blob=Metered(large.blob, Work(2_500_000)))
    with pytest.raises(TooMuchWork):
        scan.scan(spent, 0, spent.size)
    assert not [thread for thread in threading.enumerate() if thread.name == "spillover-scan"]
