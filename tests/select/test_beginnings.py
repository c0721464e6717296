"""How lines begin: counted as if each had been looked at by itself."""

import random
from collections import Counter

import pytest

from spillover.select.log.beginnings import MOST_BEGINNINGS, PIECE, Beginnings, _newlines, rare

BLOCK = 1 << 20


def begin(data, skip):
    """The lines of a block that are looked at: where each begins, and how, with digits made equal."""
    at, out = data.find(b"\n") + 1, []
    while 0 < at < len(data) - 16 - skip and len(out) < MOST_BEGINNINGS:
        told = data[at + skip : at + skip + 14]  # the last two of sixteen never reach the hash
        out.append((at, bytes(0x30 if 0x30 <= byte < 0x40 else byte for byte in told)))
        at = data.find(b"\n", at) + 1
    return out


@pytest.mark.parametrize("size", [1, 7, 8, 9, 100, BLOCK - 3, BLOCK])
@pytest.mark.parametrize("piece", [PIECE, BLOCK])
def test_newlines_are_found_wherever_they_are(size, piece):
    dice = random.Random(size)
    data = bytes(dice.choice(b"ab\n\n") if dice.random() < 0.05 else 99 for _ in range(size))
    expected = [at for at, byte in enumerate(data) if byte == 10][:MOST_BEGINNINGS]
    assert _newlines(data, piece)[:MOST_BEGINNINGS].tolist() == expected


@pytest.mark.parametrize("skip", [0, 20])
def test_lines_that_begin_alike_are_counted_and_the_first_is_known(skip):
    dice = random.Random(1)
    starts = ["compiled unit", "linked", "tested 12 of 13", "x", "", "[0-9] done"]
    lines = [" " * skip + dice.choice(starts) + f" {dice.randrange(10**6)} and a longer rest" for _ in range(60_000)]
    lines[31_234] = " " * skip + "region FLASH resized"
    data = "\n".join(lines).encode()
    part = Beginnings(skip)
    begins = []
    for at in range(0, len(data), BLOCK):
        part.add(data[at : at + BLOCK], at)
        begins += [(at + where, how) for where, how in begin(data[at : at + BLOCK], skip)]
    counts = Counter(how for _, how in begins)
    assert part.lines == len(begins)
    assert sorted(part.counts[part.counts > 0].tolist()) == sorted(counts.values())
    first = {how: where for where, how in reversed(begins)}
    assert sorted(part.first[part.counts > 0].tolist()) == sorted(first.values())
    assert data.index(b" " * skip + b"region FLASH") in rare([part])


def test_of_very_short_lines_the_first_ones_of_a_block_are_looked_at():
    part = Beginnings(0)
    for number, letter in enumerate(b"abb"):  # from the second on, newlines are looked for in pieces
        part.add(b"%c\n" % letter * (BLOCK // 2), number * BLOCK)
    assert part.lines == 3 * MOST_BEGINNINGS
    assert sorted(part.counts.tolist())[-3:] == [0, MOST_BEGINNINGS, 2 * MOST_BEGINNINGS]
    assert sorted(part.first.tolist())[:2] == [2, BLOCK + 2]


def test_what_several_have_counted_is_put_together():
    one, two = Beginnings(0), Beginnings(0)
    usual = b"\n".join([b"a usual line of some length"] * 400) + b"\n"
    one.add(usual, 10_000_000)
    two.add(usual + b"odd: never seen before, and never again\n" + usual, 0)
    assert rare([one, two]) == rare([two, one]) == [len(usual)]
