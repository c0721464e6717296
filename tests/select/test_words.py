"""Which telling words each cell has: the same as looking for each in each."""

import random

import pytest

from spillover.select.log.words import CELL, GROUP, WORDS, Words

BLOCK = 4 * GROUP


def look(data, words=None, left=0):
    return sorted((words or Words()).look(data, left))


def one_by_one(data):
    cells = [data[at : at + CELL] for at in range(0, len(data), CELL)]
    return [cell * len(WORDS) + number for cell, part in enumerate(cells) for number, word in enumerate(WORDS) if word in part]  # fmt: skip


def text(dice, size, words=(), share=0.0):
    parts, count = [], 0
    while count < size:
        parts.append(dice.choice(words) if words and dice.random() < share else dice.choice([b"unit", b"of", b"the", b"done\n", b"12"]))  # fmt: skip
        count += len(parts[-1]) + 1
    return b" ".join(parts)[:size]


@pytest.mark.parametrize("size", [0, 1, CELL, CELL + 1, GROUP, GROUP + 7, BLOCK])
@pytest.mark.parametrize("share", [0.0, 0.00002, 0.001, 0.2])
def test_every_word_is_found_in_every_cell_that_has_it(size, share):
    dice = random.Random(size)
    data = text(dice, size, WORDS, share)
    assert look(data) == one_by_one(data)


def test_a_word_across_the_edge_of_a_cell_is_in_neither():
    data = b"." * (CELL - 3) + b"panic" + b"." * CELL
    assert look(data) == one_by_one(data) == []


def test_words_that_are_everywhere_are_found_as_before_and_so_are_all_others():
    dice, words = random.Random(5), Words()
    for number in range(12):
        common = [b"warning:", b"ERROR", b"error: it"] if number < 8 else [b"WARN"]
        data = text(dice, BLOCK, common, 0.3)
        if number % 3 == 0:
            data = data[: CELL * 3] + b" fatal: error[7] " + data[CELL * 3 :]
        assert look(data, words, left=1 << 30) == one_by_one(data)
    assert {WORDS[number] for number in words._common} == {b"arning:", b"ERROR", b"error", b"error:", b"WARN"}


def test_where_little_is_left_no_table_is_compiled():
    words = Words()
    look(b"warning: unused\n" * (BLOCK // 16), words, left=CELL)
    assert not words._common
