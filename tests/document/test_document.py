"""Lines and bytes of an output, found through the sparse index, and the work that may be spent on it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover.document.document import BASE_WORK, WORK_PER_BYTE, Document, TooMuchWork, Work, work_for
from spillover.source.blob import BLOCK_BYTES, BothEnds, LineIndex, MemoryBlob, Meter


def document(data, **facts):
    meter = Meter()
    meter.feed(data)
    return Document(MemoryBlob(data), meter.index, meter.lines, meter.newlines, **facts)


@pytest.mark.parametrize(
    ("data", "starts"),
    [
        (b"", []),
        (b"x", [0]),
        (b"x\n", [0]),
        (b"\n", [0]),
        (b"\n\n", [0, 1]),
        (b"one\ntwo\nthree", [0, 4, 8]),
        (b"one\r\ntwo\r\n", [0, 5]),
    ],
)
def test_lines_begin_where_a_person_would_say(data, starts):
    seen = document(data)
    assert seen.lines == len(starts)
    assert [seen.start(line) for line in range(1, seen.lines + 1)] == starts
    assert seen.start(seen.lines + 1) == len(data), "past the last line is the end"
    assert seen.start(0) == seen.start(-5) == 0


def test_every_byte_knows_its_line_and_a_newline_belongs_to_the_line_it_ends():
    assert [document(b"a\nbb\n\nc").number(at) for at in range(7)] == [1, 1, 2, 2, 2, 3, 4]


@pytest.mark.parametrize("size", [BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 3 * BLOCK_BYTES + 7])
def test_lines_are_found_across_the_blocks_of_the_index(size):
    data = (b"0123456\n" * (size // 8 + 1))[:size]
    seen = document(data)
    for line in (1, 2, BLOCK_BYTES // 8 - 1, BLOCK_BYTES // 8, BLOCK_BYTES // 8 + 1, seen.lines - 1, seen.lines):
        if 1 <= line <= seen.lines:
            assert seen.start(line) == (line - 1) * 8
            assert seen.number(seen.start(line)) == line


def test_one_line_of_many_blocks_is_one_line():
    seen = document(b"x" * (2 * BLOCK_BYTES + 5) + b"\nend")
    assert (seen.lines, seen.start(2), seen.number(2 * BLOCK_BYTES)) == (2, 2 * BLOCK_BYTES + 6, 1)


@settings(max_examples=200)
@given(st.lists(st.sampled_from([b"a", b"\n", b"\r\n", b"bcd"]), max_size=60).map(b"".join), st.integers(1, 9))
def test_start_and_number_agree_with_splitting_for_every_size_of_block(data, block):
    before = tuple(data[:at].count(b"\n") for at in range(0, len(data) + 1, block))
    lines = data.count(b"\n") + (data[-1:] not in (b"", b"\n"))
    seen = Document(MemoryBlob(data), LineIndex(block, before), lines, data.count(b"\n"))
    for at in range(len(data)):
        assert seen.number(at) == data[:at].count(b"\n") + 1
    for line in range(1, lines + 1):
        assert seen.start(line) == len(b"\n".join(data.split(b"\n")[: line - 1])) + (line > 1)


def test_the_lines_behind_a_gap_are_counted_from_the_end():
    data = b"".join(b"line %d\n" % number for number in range(1, 101))
    whole = document(data)
    seen = Document(BothEnds(MemoryBlob(data[:20]), data[-20:], len(data)), whole.index, whole.lines, whole.newlines)
    assert seen.gap == (20, len(data) - 20)
    assert seen.number(0) == 1
    assert seen.number(len(data) - 1) == 100
    assert seen.number(len(data) - 10) == whole.number(len(data) - 10)


def test_a_part_is_shown_cleaned():
    seen = document(b"\x1b[1mone\x1b[0m\ntwo 10%\rtwo 90%\n")
    assert seen.text_and_frames(0, seen.start(2)) == ("one\n", 0)
    assert seen.text_and_frames(seen.start(2), seen.size) == ("two 90%\n", 1)
    assert seen.text(seen.start(2), seen.size) == "two 90%\n"


DATA = b"".join(b"line %d\n" % number for number in range(1, 40_001))


def gapped(blob, index):
    meter = Meter()
    meter.feed(DATA)
    return Document(blob, index or meter.index, meter.lines, meter.newlines)


def starts():
    at = 0
    for number, line in enumerate(DATA.split(b"\n")[:-1], 1):
        yield number, at
        at += len(line) + 1


def test_a_line_is_found_behind_the_end_of_the_index():
    meter = Meter()
    meter.feed(DATA[: BLOCK_BYTES + 5])
    for index in (LineIndex(), meter.index):
        ends = BothEnds(MemoryBlob(DATA[:200_000]), DATA[200_000:], len(DATA))
        whole = gapped(ends, index)
        for number, at in list(starts())[::997]:
            assert whole.start(number) == at, number
            assert whole.number(at) == number


@pytest.mark.parametrize("index", [None, LineIndex()])
@pytest.mark.parametrize("tail", [0, 1, 70_000])
def test_a_line_of_the_middle_that_is_gone_begins_where_there_is_something_again(index, tail):
    ends = BothEnds(MemoryBlob(DATA[:70_000]), DATA[len(DATA) - tail :], len(DATA))
    opens, closes = ends.gap
    cut = gapped(ends, index)
    for number, at in list(starts())[::97]:
        assert cut.start(number) == (at if at <= opens or at > closes else closes), number
    assert cut.start(40_001) == len(DATA)


def test_a_budget_is_spent_and_then_too_much():
    work = Work(10)
    work.spend(10)
    with pytest.raises(TooMuchWork):
        work.spend(1)
    assert work_for(1_000).left == BASE_WORK + WORK_PER_BYTE * 1_000


@pytest.mark.parametrize(
    ("data", "pieces"),
    [
        (b"one\ntwo\nthree\n", [(0, b"one\ntwo\nthree\n")]),
        (b"one\ntwo\n" * 4, [(0, b"one\ntwo\n"), (28, b"two\n")]),
        (b"x" * 40, [(0, b"x" * 10), (34, b"x" * 6)]),
    ],
)
def test_both_ends_are_whole_lines_where_there_are_lines(data, pieces):
    assert document(data).ends(10, 6) == pieces
