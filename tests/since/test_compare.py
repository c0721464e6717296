"""What is new, what differs in numbers only, what is the same, what is gone; and what a line says whatever its numbers."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover.document.document import Document, Section
from spillover.errors import SpilloverError
from spillover.since import compare as module
from spillover.since.compare import NEW, NUMBERS, PIECE_BYTES, SAME, KeySet, compare, make_keys
from spillover.source.blob import BothEnds, MemoryBlob, Meter


def document(data: bytes, blob=None) -> Document:
    meter = Meter()
    meter.feed(data)
    return Document(blob or MemoryBlob(data), meter.index, meter.lines, meter.newlines, (Section(0, len(data)),))


BEFORE = b"one\ntwo 3\nthree\n\nfour 12s\n"
AFTER = b"four 3s\none\ntwo 4\nfive\n\nsix"


def test_each_line_is_the_same_or_new_or_has_other_numbers_or_is_gone():
    after, before = document(AFTER), document(BEFORE)
    found = compare(after, before)
    assert (found.new.ranges, found.numbers.ranges, found.removals.ranges) == (((4, 4), (6, 6)), ((3, 3),), ((3, 3),))
    assert (found.new.lines, found.numbers.lines, found.same_lines, found.removals.lines) == (2, 1, 3, 1)
    assert found.mark(after, 0, after.size)[0].tolist() == [SAME, SAME, NUMBERS, NEW, SAME, NEW]
    assert not found.unchanged


def test_two_runs_that_say_the_same_in_another_order_are_unchanged():
    lines = [f"{number:02d}:00:00 [{number}/40] ran test_{number} in {number}.{number}s" for number in range(40)]
    other = [f"{9 + number % 9}:59:59 [{40 - number}/40] ran test_{number} in 0.1s" for number in range(40)]
    random.Random(3).shuffle(other)
    assert compare(document("\n".join(lines).encode()), document("\n".join(other).encode())).unchanged


def test_nothing_is_new_or_gone_of_nothing():
    assert compare(document(b""), document(b"")).unchanged
    assert compare(document(b"a\n"), document(b"")).new.lines == 1
    assert compare(document(b""), document(b"a\nb\n")).removals.ranges == ((1, 2),)


def test_a_line_longer_than_a_block_is_one_line():
    long = b"word " * (module.BLOCK_BYTES // 4)
    found = compare(document(b"q\n" + long + b"\nb\n"), document(long + b"\nc"))
    assert (found.new.ranges, found.removals.ranges, found.same_lines) == (((1, 1), (3, 3)), ((2, 2),), 1)


def test_where_new_lines_are_many_is_known_by_cells():
    same = b"the same line\n" * 5_000
    found = compare(document(same + b"new\n"), document(same))
    assert found.new.cells[-1] == 1
    assert sum(found.new.cells) == 1


def test_of_an_output_whose_middle_is_gone_both_ends_are_compared():
    data = b"".join(b"line of words\n" for _ in range(1_000))
    held = BothEnds(MemoryBlob(data[:1_400]), data[-1_400:], len(data))
    found = compare(document(data, held), document(b"line of words\n"))
    assert found.unchanged
    assert found.lines == 200


def test_more_ranges_than_are_named_are_counted(monkeypatch):
    monkeypatch.setattr(module, "MAX_RANGES", 3)
    found = compare(document(b"".join(b"same\nnew %c\n" % letter for letter in b"abcdefgh")), document(b"same\n"))
    assert found.new.lines == 8
    assert found.new.ranges == ((2, 2), (4, 4), (6, 6))


def test_the_size_of_a_block_makes_no_difference(monkeypatch):
    one, other = (
        document(b"".join(b"%x is a line of words\n" % (n * step) for n in range(3_000))) for step in (70_001, 140_002)
    )
    results = set()
    for size in (64, 4_096, 1 << 20):
        monkeypatch.setattr(module, "BLOCK_BYTES", size)
        compared = compare(one, other)
        results.add((compared.new, compared.numbers, compared.removals, compared.lines, compared.lines_before))
    assert len(results) == 1
    assert results.pop()[2].lines > 0


def test_more_different_lines_than_can_be_compared_are_refused_with_a_sentence(monkeypatch):
    monkeypatch.setattr(module, "MAX_KEYS", 1_000)
    few = document(b"".join(b"line %s\n" % word.encode() for word in words(1_000)))
    many = document(b"".join(b"line %s\n" % word.encode() for word in words(1_001)))
    assert compare(few, few).unchanged
    for one, other in ((few, many), (many, few)):
        with pytest.raises(SpilloverError, match="too many different lines to compare"):
            compare(one, other)


def words(count):
    return ["".join("abcdefghij"[int(digit)] for digit in str(number)) for number in range(count)]


LINES = st.lists(
    st.sampled_from([b"a", b"b 1", b"b 2", b"c 3s", b"", b"\x1b[31mred\x1b[0m", b"\xff\xfe", b"d\re", b"f" * 40])
)


@given(LINES, LINES, st.booleans())
def test_counts_add_up_and_a_line_that_was_there_is_the_same(after, before, ended):
    tail = b"\n" * ended
    one, other = document(b"\n".join(after) + tail), document(b"\n".join(before) + tail)
    whole = compare(one, other)
    assert whole.new.lines + whole.numbers.lines + whole.same_lines == one.lines
    marks = whole.mark(one, 0, one.size)[0].tolist()
    assert len(marks) == one.lines
    assert [marks.count(kind) for kind in (NEW, NUMBERS, SAME)] == [
        whole.new.lines,
        whole.numbers.lines,
        whole.same_lines,
    ]
    assert compare(one, one).unchanged
    known = {line for line in before if line}
    assert all(mark == SAME for mark, line in zip(marks, after, strict=False) if line in known)


@given(st.lists(st.lists(st.integers(0, 40), max_size=30), max_size=12))
def test_a_set_of_keys_contains_what_was_added_in_any_pieces_and_nothing_else(pieces):
    keys, model = KeySet(), set()
    for piece in pieces:
        keys.add(np.array(piece, dtype=np.uint64))
        model |= set(piece)
        assert keys.contain(np.arange(42, dtype=np.uint64)).tolist() == [number in model for number in range(42)]


SAYS_THE_SAME = """
2024-01-02T03:04:05.678Z start      | 2025-11-12T13:24:35.1Z start
2024-01-02 03:04:05,678 INFO start  | 2025-11-12 13:24:35,001 INFO start
Jan  2 03:04:05 host sshd: bye      | Nov 12 13:24:35 host sshd: bye
ok  pkg/a 0.012s                    | ok pkg/a 1.5s
12 passed in 0.52s                  | 12 passed in 1.04s
took 12 seconds                     | took 3 seconds
Time elapsed: 0.036 s               | Time elapsed: 1.2 s
Total time:  02:10 min              | Total time:  03:11 min
Tue Nov 17 10:00:00 UTC 2026 up      | Wed Dec  2 11:00:01 UTC 2026 up
built in 1m30s                      | built in 45s
Downloaded 1.2 MB                   | Downloaded 340 MB
<object at 0x7ffee1>                | <object at 0x12abc>
commit 3f2a9bc done                 | commit 0a1b2c3 done
550e8400-e29b-41d4-a716-446655440000| 123e4567-e89b-12d3-a456-426614174000
/tmp/tmpabcdefg/a.txt missing       | /tmp/tmp.zzzxxyQ/a.txt missing
/tmp/pytest-of-me/pytest-12/x.log   | /tmp/pytest-of-me/pytest-9/x.log
[ 45%] PASSED                       | [  5%] PASSED
[3/10] Compiling a                  | [10/10] Compiling a
sshd[123]: hi                       | sshd[12]: hi
worker 3 done, pid 812              | worker 11 done, pid 9
listening on localhost:8080         | listening on localhost:9090
http://127.0.0.1:8080/x             | http://127.0.0.1:9091/x
bound to port 54321                 | bound to port 8080
#12 DONE 0.1s                       | #7 DONE 2.0s
[gw3] PASSED a                      | [gw0] PASSED a
"""
OTHER_NUMBERS = """
14 failed                           | 13 failed
exit code 1                         | exit code 0
a.py:12:34: error                   | a.py:13:35: error
foo-1.2.3.jar                       | foo-1.2.4.jar
expected 5, got 6                   | expected 5, got 7
coverage 81%                        | coverage 79%
"""
SAYS_ANOTHER_THING = """
test_12 FAILED                      | test_13 FAILED
a b                                 | b a
FAILED test_a                       | PASSED test_a
12                                  | twelve
tests/tmp_a.py                      | tests/tmp_b.py
"""


def pairs(table):
    return [tuple(side.strip() for side in line.split("|")) for line in table.strip().splitlines()]


def same_keys(one, other):
    content, wording = make_keys(f"{one}\n{other}\n".encode())
    return bool(content[0] == content[1]), bool(wording[0] == wording[1])


@pytest.mark.parametrize(("one", "other"), pairs(SAYS_THE_SAME))
def test_what_differs_from_run_to_run_is_seen_through(one, other):
    assert same_keys(one, other) == (True, True)


@pytest.mark.parametrize(("one", "other"), pairs(OTHER_NUMBERS))
def test_other_numbers_say_something(one, other):
    assert same_keys(one, other) == (False, True)


@pytest.mark.parametrize(("one", "other"), pairs(SAYS_ANOTHER_THING))
def test_other_words_are_another_line(one, other):
    assert same_keys(one, other) == (False, False)


def test_a_blank_line_has_the_key_0_and_padding_makes_no_difference():
    content, wording = make_keys(b"\n \t\na  b\na b \n")
    assert content[:2].tolist() == wording[:2].tolist() == [0, 0]
    assert content[2] == content[3] != 0


def test_a_key_does_not_depend_on_what_stands_around_the_line():
    lines = [
        side for table in (SAYS_THE_SAME, OTHER_NUMBERS, SAYS_ANOTHER_THING) for pair in pairs(table) for side in pair
    ]
    lines += ["12", "seconds to go", "pid", "99 things", "/tmp/", "x", "[", "3/10]"]
    alone = [tuple(int(key[0]) for key in make_keys(f"{line}\n".encode())) for line in lines]
    together = make_keys("".join(f"{line}\n" for line in lines).encode())
    assert list(zip(*(each.tolist() for each in together), strict=True)) == alone


def test_a_line_longer_than_a_stretch_has_one_key():
    long = b"x1 " * PIECE_BYTES
    content, _ = make_keys(long + b"\nshort\n" + long + b"y\n" + long + b"\n")
    assert len(content) == 4
    assert content[0] == content[3] != content[2]
