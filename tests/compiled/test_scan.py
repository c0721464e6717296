"""The loops of the scan find what Python finds, in any block, and read nothing outside of it."""

import random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from twins import without

from spillover import compiled
from spillover.select import words as words_module
from spillover.select.beginnings import MOST_BEGINNINGS, PLACES, Beginnings
from spillover.select.words import CELL, GROUPS, WORDS, Words

BLOCK = 1 << 20
SOUP = [b"unit", b"of", b"the", b"done\n", b"12", b"0x7f3a", b"12:00:01 ", b"\n", "größer ✓ 日".encode(), b"\xff\x80"]


def text(dice, size, share=0.02):
    """Words of which some are looked for, some nearly, and some across each other."""
    parts, count = [], 0
    while count < size:
        part = dice.choice(WORDS if dice.random() < share else SOUP)
        if dice.random() < share:
            part = dice.choice(WORDS)[: dice.randrange(1, 14)]
        parts.append(part + b" " * (dice.random() < 0.7))
        count += len(parts[-1])
    return b"".join(parts)[:size]


def odd_blocks():
    dice = random.Random(11)
    yield from (b"", b"\n", b"e", b"x" * BLOCK, b"\n" * BLOCK, bytes(BLOCK), b"\xff" * 99_999, b"a\n" * (BLOCK // 2))
    yield from (word * (3 * CELL // len(word)) for word in WORDS)
    yield from (word[:-1] * (2 * CELL // len(word)) for word in WORDS)
    yield b"\n".join(WORDS) * 300
    yield dice.randbytes(BLOCK)
    yield bytes(dice.choices(b"eErRoOfaAiIlL:[<-* \n", k=300_000))
    yield from (text(dice, size) for size in (CELL - 1, CELL, CELL + 1, 8 * CELL + 7, BLOCK))
    yield text(dice, BLOCK, 0.00005)
    yield text(dice, BLOCK, 0.5)


def ways(loops):
    """A table for each way that this processor has."""
    tables = []
    while (table := loops.table_of_words(WORDS, GROUPS, len(tables))) is not None:
        tables.append(table)
    return tables


def mark(loops, table, data, cell=CELL):
    found = np.zeros((-(-len(data) // cell), len(WORDS)), dtype=bool)
    loops.mark_words(table, data, cell, found)
    return found


def one_by_one(data, cell=CELL):
    cells = [data[at : at + cell] for at in range(0, len(data), cell)]
    return np.array([[word in part for word in WORDS] for part in cells], dtype=bool).reshape(-1, len(WORDS))


def counted(blocks, skip):
    part, at = Beginnings(skip), 0
    for data in blocks:
        part.add(data, at)
        at += len(data)
    return part.lines, part.counts.tobytes(), part.first.tobytes()


def test_the_words_of_odd_blocks_are_the_same(loops):
    python = Words()
    for data in odd_blocks():
        expected = np.zeros((-(-len(data) // CELL), len(WORDS)), dtype=bool)
        without(python.mark, data, BLOCK, expected.reshape(-1))
        assert (expected == one_by_one(data)).all()
        for table in ways(loops):
            assert (mark(loops, table, data) == expected).all()


@settings(max_examples=300)
@given(
    st.lists(st.one_of(st.sampled_from(WORDS), st.sampled_from(SOUP), st.binary(max_size=20)), max_size=60).map(
        b"".join
    ),
    st.integers(1, 200),
)
@example(b"error", 4)
@example(b"error", 5)
@example(b"error:", 5)
def test_the_words_of_small_cells_are_those_inside_of_them(data, cell):
    library = compiled.loops()
    for table in ways(library) if library else ():
        assert (mark(library, table, data, cell) == one_by_one(data, cell)).all()


@pytest.mark.parametrize("word", [b"panic", b"out of memory", b"\xc3\x97", b"fail"])
def test_a_word_is_found_up_to_each_edge_and_never_across(loops, word):
    for table in ways(loops):
        for size in (2 * CELL, CELL + 3, CELL + 40, CELL + 100):
            for at in [*range(CELL - 90, CELL + 3), *range(size - 90, size - 1)]:
                data = bytearray(size)
                data[at : at + len(word)] = word
                del data[size:]
                assert (mark(loops, table, bytes(data)) == one_by_one(bytes(data))).all(), (size, at)


def test_every_short_block_has_the_same_words(loops):
    dice = random.Random(3)
    for size in range(41):
        for _ in range(30):
            data = text(dice, size, 0.5)
            for table in ways(loops):
                assert (mark(loops, table, data) == one_by_one(data)).all()


def test_any_groups_give_the_same(loops):
    data = text(random.Random(4), 5 * CELL)
    for groups in (bytes(len(WORDS)), bytes(number % 8 for number in range(len(WORDS)))):
        assert (mark(loops, loops.table_of_words(WORDS, groups, 0), data) == one_by_one(data)).all()


def test_without_a_quick_way_python_goes_on(loops, monkeypatch):
    monkeypatch.setattr(words_module, "_tables", [loops.table_of_words(WORDS, GROUPS, 99)])
    assert words_module._tables == [None]
    data = text(random.Random(5), 3 * CELL)
    found = np.zeros((3, len(WORDS)), dtype=bool)
    Words().mark(data, 0, found.reshape(-1))
    assert (found == one_by_one(data)).all()


@pytest.mark.parametrize("skip", [0, 1, 20, 40])
def test_lines_of_odd_blocks_begin_the_same(loops, skip):
    blocks = list(odd_blocks())
    assert counted(blocks, skip) == without(counted, blocks, skip)


@pytest.mark.parametrize("skip", [0, 3, 40])
def test_lines_of_every_short_block_begin_the_same(loops, skip):
    dice = random.Random(skip)
    blocks = [bytes(dice.choices(b"\n\nab09:?\xff", k=size)) for size in range(130) for _ in range(8)]
    assert counted(blocks, skip) == without(counted, blocks, skip)


@settings(max_examples=300)
@given(st.lists(st.binary(max_size=150), max_size=5), st.integers(0, 30))
def test_lines_of_any_blocks_begin_the_same(blocks, skip):
    with pytest.MonkeyPatch.context() as patch:
        found = counted(blocks, skip)
        patch.setattr(compiled, "_found", [None])
        assert counted(blocks, skip) == found


def test_more_lines_than_are_wanted_are_not_counted(loops):
    counts, first = np.zeros(PLACES, np.int64), np.zeros(PLACES, np.int64)
    for most, lines in ((-1, 0), (0, 0), (1, 1), (70, 70), (MOST_BEGINNINGS, 484)):
        assert loops.add_beginnings(b"\n" * 500, 0, 0, most, counts, first) == lines - (lines == 484)


def test_wrong_arguments_are_refused(loops):
    counts, first = np.zeros(8, np.int64), np.zeros(8, np.int64)
    good = (b"\nthe beginning of a line", 0, 0, 9, counts, first)
    assert loops.add_beginnings(*good) == 1
    table, found = loops.table_of_words(WORDS, GROUPS, 0), np.zeros(2 * len(WORDS), bool)
    cases = [
        (loops.add_beginnings, good, 0, ("text", np.zeros(9, np.int64), None)),
        (loops.add_beginnings, good, 1, (1 << 64, "0", None)),
        (loops.add_beginnings, good, 2, (-1, 1 << 64, None)),
        (loops.add_beginnings, good, 3, (1 << 64, None)),
        (loops.add_beginnings, good, 4, (np.zeros(4, np.int64), np.zeros(8, np.int32), np.zeros(16, np.int64)[::2], b"12345678")),
        (loops.add_beginnings, (*good[:4], counts[:6], first), 5, (first[:6], first[:5])),
        (loops.add_beginnings, (*good[:4], counts[:0], first), 5, (first[:0],)),
        (loops.table_of_words, (WORDS, GROUPS, 0), 0, (list(WORDS), WORDS[1:], WORDS * 2, (*WORDS[1:], "text"))),
        (loops.table_of_words, (WORDS, GROUPS, 0), 0, ((*WORDS[1:], b"x"), (*WORDS[1:], b"x" * 17), (*WORDS[1:], b""))),
        (loops.table_of_words, (WORDS, GROUPS, 0), 1, (GROUPS[1:], b"\x08" * len(WORDS), None)),
        (loops.table_of_words, (WORDS, GROUPS, 0), 2, ("0", 1 << 64)),
    ]  # fmt: skip
    if table:
        fine = (table, bytes(CELL + 1), CELL, found)
        assert loops.mark_words(*fine) is None
        cases += [
            (loops.mark_words, fine, 0, (None, b"", found)),
            (loops.mark_words, fine, 1, ("text", bytes(CELL), bytes(2 * CELL + 1), b"")),
            (loops.mark_words, fine, 2, (0, -1, CELL + 1, 1, 1 << 64, "1")),
            (loops.mark_words, fine, 3, (found[1:], found[::2], bytes(2 * len(WORDS)), found.astype(np.int16))),
        ]
    for function, arguments, place, wrong in cases:
        for value in wrong:
            with pytest.raises((TypeError, ValueError, OverflowError, BufferError)):
                function(*arguments[:place], value, *arguments[place + 1 :])
    for function in (loops.add_beginnings, loops.table_of_words, loops.mark_words):
        with pytest.raises(TypeError):
            function()
