"""What is new, what differs in numbers only, what is the same, what is gone."""

import random

from hypothesis import given
from hypothesis import strategies as st

from spillover.intake.blob import Ends, Held
from spillover.intake.meter import Meter
from spillover.since import compare as module
from spillover.since.compare import NEW, NUMBERS, SAME, compare
from spillover.view.document import Document, Section


def document(data: bytes, blob=None) -> Document:
    meter = Meter()
    meter.feed(data)
    return Document(blob or Held(data), meter.index, meter.lines, meter.newlines, (Section(0, len(data)),))


BEFORE = b"one\ntwo 3\nthree\n\nfour 12s\n"
AFTER = b"four 3s\none\ntwo 4\nfive\n\nsix"


def test_each_line_is_the_same_or_new_or_has_other_numbers_or_is_gone():
    after, before = document(AFTER), document(BEFORE)
    found = compare(after, before)
    assert (found.new.ranges, found.numbers.ranges, found.gone.ranges) == (((4, 4), (6, 6)), ((3, 3),), ((3, 3),))
    assert (found.new.lines, found.numbers.lines, found.same, found.gone.lines) == (2, 1, 3, 1)
    assert found.look(after, 0, after.size)[0].tolist() == [SAME, SAME, NUMBERS, NEW, SAME, NEW]
    assert found.mark_before(before, 0, before.size).tolist() == [SAME, NUMBERS, NEW, SAME, SAME]
    assert not found.unchanged


def test_two_runs_that_say_the_same_in_another_order_are_unchanged():
    lines = [f"{number:02d}:00:00 [{number}/40] ran test_{number} in {number}.{number}s" for number in range(40)]
    other = [f"{9 + number % 9}:59:59 [{40 - number}/40] ran test_{number} in 0.1s" for number in range(40)]
    random.Random(3).shuffle(other)
    assert compare(document("\n".join(lines).encode()), document("\n".join(other).encode())).unchanged


def test_nothing_is_new_or_gone_of_nothing():
    assert compare(document(b""), document(b"")).unchanged
    assert compare(document(b"a\n"), document(b"")).new.lines == 1
    assert compare(document(b""), document(b"a\nb\n")).gone.ranges == ((1, 2),)


def test_a_line_longer_than_a_block_is_one_line():
    long = b"word " * (module.BLOCK // 4)
    found = compare(document(b"q\n" + long + b"\nb\n"), document(long + b"\nc"))
    assert (found.new.ranges, found.gone.ranges, found.same) == (((1, 1), (3, 3)), ((2, 2),), 1)


def test_where_new_lines_are_many_is_known_by_cells():
    same = b"the same line\n" * 5_000
    found = compare(document(same + b"new\n"), document(same))
    assert found.new.cells[-1] == 1
    assert sum(found.new.cells) == 1


def test_of_an_output_whose_middle_is_gone_both_ends_are_compared():
    data = b"".join(b"line of words\n" for _ in range(1_000))
    held = Ends(Held(data[:1_400]), data[-1_400:], len(data))
    found = compare(document(data, held), document(b"line of words\n"))
    assert found.unchanged
    assert found.lines == 200


def test_more_ranges_than_are_named_are_counted(monkeypatch):
    monkeypatch.setattr(module, "MOST_RANGES", 3)
    found = compare(document(b"".join(b"same\nnew %c\n" % letter for letter in b"abcdefgh")), document(b"same\n"))
    assert found.new.lines == 8
    assert found.new.ranges == ((2, 2), (4, 4), (6, 6))


def test_how_much_is_held_for_the_last_pass_makes_no_difference(monkeypatch):
    one, other = (
        document(b"".join(b"%x is a line of words\n" % (n * step) for n in range(3_000))) for step in (70_001, 140_002)
    )
    monkeypatch.setattr(module, "BLOCK", 4_096)
    found = set()
    for held in (0, 1, 500, 1 << 20):
        monkeypatch.setattr(module, "HELD_LINES", held)
        told = compare(one, other)
        found.add((told.new, told.numbers, told.gone, told.lines, told.lines_before))
    assert len(found) == 1
    assert found.pop()[2].lines > 0


LINES = st.lists(
    st.sampled_from([b"a", b"b 1", b"b 2", b"c 3s", b"", b"\x1b[31mred\x1b[0m", b"\xff\xfe", b"d\re", b"f" * 40])
)


@given(LINES, LINES, st.booleans())
def test_counts_add_up_and_a_line_that_was_there_is_the_same(after, before, ended):
    tail = b"\n" * ended
    one, other = document(b"\n".join(after) + tail), document(b"\n".join(before) + tail)
    whole = compare(one, other)
    assert whole.new.lines + whole.numbers.lines + whole.same == one.lines
    marks = whole.look(one, 0, one.size)[0].tolist()
    assert len(marks) == one.lines
    assert [marks.count(kind) for kind in (NEW, NUMBERS, SAME)] == [whole.new.lines, whole.numbers.lines, whole.same]
    assert compare(one, one).unchanged
    known = {line for line in before if line}
    assert all(mark == SAME for mark, line in zip(marks, after, strict=False) if line in known)
