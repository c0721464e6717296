"""A lean record: what is left of it is JSON, and the numbers of what is hidden are true."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover.select.json.alike import Alike
from spillover.select.json.lean import ITEMS, LEAST, TEXT
from spillover.select.json.parse import parse

MARK = 24
PLAIN = st.one_of(
    st.integers(), st.booleans(), st.none(), st.text(max_size=12), st.sampled_from(["the same text for all", "x" * 300, "https://x.org/the same text"])
)  # fmt: skip
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.lists(inner, max_size=20),
        st.dictionaries(st.sampled_from(["id", "name", "a b", 'q"', "é"]), inner, max_size=5),
    ),
    max_leaves=25,
)
RECORDS = st.lists(
    st.dictionaries(st.sampled_from(["id", "name", "url", "é", "k1", "k2", "k3"]), VALUES, max_size=7),
    min_size=3,
    max_size=12,
)


def leans(value, **how):
    data = json.dumps(value, **how).encode()
    tree = parse(data)
    marks = tree.members.inside(0, len(data), 1)
    if marks is None:
        return data, {}, None
    records = Alike(tree.members, marks, 1, MARK)
    records.take(dict(enumerate(tree.members.children(marks, len(marks) - 1))))
    return data, records.children, records


def mark(data, child, lean):
    """Return the bytes of a lean record, with a member or an item for each run that is hidden."""
    text, at = b"", child.start
    for number, (start, end, hidden) in enumerate(sorted(lean.hidden, key=lambda gap: gap[0])):
        words = b'"hidden-%d": %d' % (number, hidden.count) if hidden.kind == "keys" else b'"hidden %d"' % hidden.count
        text, at = text + data[at:start] + words, end
    return text + data[at : child.end]


def count(value):
    """Return how many members and items there are in a value, at the outermost level, by what it says of itself."""
    if isinstance(value, list):
        return sum(int(one.split()[1]) if str(one).startswith("hidden ") else 1 for one in value)
    return sum(much if name.startswith("hidden-") else 1 for name, much in value.items())


@pytest.mark.parametrize("how", [{}, {"indent": 2}, {"separators": (",", ":"), "ensure_ascii": False}])
@given(RECORDS)
def test_what_is_left_of_a_record_is_json_and_says_how_much_is_hidden(how, values):
    data, children, records = leans(values, **how)
    for number, child in children.items():
        lean = records.lean(number)
        assert all(end - start >= LEAST for start, end, _ in lean.hidden)
        assert all(end - start > TEXT + LEAST for start, end in lean.cut)
        saved = sum(end - start - MARK for start, end, _ in lean.hidden) + sum(
            end - start - TEXT for start, end in lean.cut
        )
        assert lean.size == child.size - saved
        assert count(json.loads(mark(data, child, lean))) == len(values[number])


def test_of_a_long_array_some_items_are_shown():
    values = [{"id": f"record {n}", "parts": [f"part {n}.{m} of this one" for m in range(40)]} for n in range(9)]
    data, children, records = leans(values)
    left = json.loads(mark(data, children[4], records.lean(4)))
    assert len(left["parts"]) <= ITEMS + 1
    assert count(left["parts"]) == 40


def test_members_that_begin_unlike_those_of_the_record_before_are_read_as_well():
    one = '{"id": 1, "name": "one of them", "note": "the very same words in each of these records"}'
    other = '{  "name" :"another one", "id":2,\n"note": "the very same words in each of these records"  }'
    _, children, records = leans([json.loads(one)] * 3)
    expected = [gap[2].count for gap in records.lean(1).hidden]
    data = f"[{one}, {other}, {one}]".encode()
    tree = parse(data)
    marks = tree.members.inside(0, len(data), 1)
    mixed = Alike(tree.members, marks, 1, MARK)
    mixed.take(dict(enumerate(tree.members.children(marks, 3))))
    assert len(children) == 3
    assert expected == [3]
    for number in range(3):
        (gap,) = mixed.lean(number).hidden
        assert data[gap[0] : gap[1]] == b'"note": "the very same words in each of these records"'
