"""Where to look closely in a large output."""

import itertools
import random
from collections import Counter

import pytest
from msgspec.structs import replace

from spillover.document.document import MeteredBlob, TooMuchWork, Work
from spillover.kinds.log import scan
from spillover.kinds.log.scan import (
    BLOCK_BYTES,
    CELL_BYTES,
    CLOSE_BYTES,
    MAX_BEGINNINGS,
    MAX_LINES,
    WORDS,
    Beginnings,
    find_pieces,
)


def steady(count):
    dice = random.Random(3)
    return [f"2026-11-15 10:00:{number % 60:02} [{number:7}] compiled unit {dice.randrange(10**6)} of 900000, 0 errors" for number in range(count)]  # fmt: skip


def test_a_small_output_is_looked_at_whole(document):
    assert find_pieces(document("a\nb\n"), 0, 4).pieces == [(0, 4)]


@pytest.mark.parametrize("needle", ["link.c:3: error: undefined reference to `take'", "thread 'main' panicked at src/lib.rs:2", "region FLASH resized by board.ld"])  # fmt: skip
@pytest.mark.parametrize("place", [0.2, 0.5, 0.83])
def test_the_place_of_what_is_rare_is_among_the_pieces_whether_it_has_a_keyword_or_not(document, needle, place):
    lines = steady(30_000)
    lines.insert(int(len(lines) * place), needle)
    output = "\n".join(lines) + "\n"
    at = output.index(needle)
    seen = find_pieces(document(output), 0, len(output))
    assert any(start <= at and at + len(needle) <= end for start, end in seen.pieces)
    assert sum(end - start for start, end in seen.pieces) <= CLOSE_BYTES + 100_000
    assert seen.pieces[0][0] == 0
    assert seen.pieces[-1][1] == len(output)


def test_pieces_begin_and_end_at_line_ends_and_do_not_touch(document):
    output = "\n".join(steady(30_000)) + "\n"
    pieces = find_pieces(document(output), 0, len(output)).pieces
    for start, end in pieces:
        assert start == 0 or output[start - 1] == "\n"
        assert output[end - 1] == "\n"
    assert all(one[1] < two[0] for one, two in itertools.pairwise(pieces))


@pytest.mark.parametrize("output", ["\n" * 2_000_000, "x" * 3_000_000, "a\n" * 1_000_000, "\r" * 600_000], ids=["empty lines", "one line", "short lines", "frames"])  # fmt: skip
def test_however_short_or_long_lines_are_the_work_is_bounded(document, output):
    pieces = find_pieces(document(output), 0, len(output)).pieces
    assert sum(output[start:end].count("\n") for start, end in pieces) <= MAX_LINES + 2 * len(pieces)
    assert sum(end - start for start, end in pieces) <= CLOSE_BYTES + 100_000


def test_work_that_runs_out_ends_the_pass(document):
    large = document("a line\n" * 1_000_000)
    with pytest.raises(TooMuchWork):
        scan.scan(replace(large, blob=MeteredBlob(large.blob, Work(2_500_000))), 0, large.size)


@pytest.mark.parametrize("share", [0.0, 0.00002, 0.001, 0.2])
def test_every_word_is_found_in_every_cell_that_has_it(document, share):
    dice = random.Random(1)
    others = ["unit", "of", "the", "done\n", "12"]
    words = [word.decode("utf-8") for word in WORDS]
    data = " ".join(dice.choice(words if dice.random() < share else others) for _ in range(100_000)).encode()
    table, _ = scan.scan(document(data), 0, len(data))
    cells = [data[at : at + CELL_BYTES] for at in range(0, len(data), CELL_BYTES)]
    assert table.tolist() == [[word in cell for word in WORDS] for cell in cells]


def test_a_word_across_the_edge_of_a_cell_is_in_neither(document):
    data = b"." * (CELL_BYTES - 3) + b"panic" + b"." * CELL_BYTES
    assert not scan.scan(document(data), 0, len(data))[0].any()


def begin(data, skip):
    """The lines of a block that are looked at: where each begins, and how, with digits made equal."""
    at, out = data.find(b"\n") + 1, []
    while 0 < at < len(data) - 16 - skip and len(out) < MAX_BEGINNINGS:
        told = data[at + skip : at + skip + 14]  # the last two of sixteen never reach the hash
        out.append((at, bytes(0x30 if 0x30 <= byte < 0x40 else byte for byte in told)))
        at = data.find(b"\n", at) + 1
    return out


@pytest.mark.parametrize("skip", [0, 20])
def test_lines_that_begin_alike_are_counted_and_the_first_is_known(skip):
    dice = random.Random(1)
    starts = ["compiled unit", "linked", "tested 12 of 13", "x", "", "[0-9] done"]
    lines = [" " * skip + dice.choice(starts) + f" {dice.randrange(10**6)} and a longer rest" for _ in range(60_000)]
    lines[31_234] = " " * skip + "region FLASH resized"
    data = "\n".join(lines).encode()
    part = Beginnings(skip)
    begins = []
    for at in range(0, len(data), BLOCK_BYTES):
        part.add(data[at : at + BLOCK_BYTES], at)
        begins += [(at + where, how) for where, how in begin(data[at : at + BLOCK_BYTES], skip)]
    counts = Counter(how for _, how in begins)
    assert part.lines == len(begins)
    assert sorted(part.counts[part.counts > 0].tolist()) == sorted(counts.values())
    first = {how: where for where, how in reversed(begins)}
    assert sorted(part.first[part.counts > 0].tolist()) == sorted(first.values())
    assert data.index(b" " * skip + b"region FLASH") in part.rare_starts()


def test_of_very_short_lines_the_first_ones_of_a_block_are_looked_at():
    part = Beginnings(0)
    for number, letter in enumerate(b"abb"):
        part.add(b"%c\n" % letter * (BLOCK_BYTES // 2), number * BLOCK_BYTES)
    assert part.lines == 3 * MAX_BEGINNINGS
    assert sorted(part.counts.tolist())[-3:] == [0, MAX_BEGINNINGS, 2 * MAX_BEGINNINGS]
    assert sorted(part.first.tolist())[:2] == [2, BLOCK_BYTES + 2]
