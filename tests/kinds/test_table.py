"""Tables: header, first, last and outlying rows, each with all its columns."""

import csv
import io
import random
from itertools import pairwise

import pytest
from chosen_by import CALL, clipped_by
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover.document.document import Document, Section
from spillover.kinds import table
from spillover.kinds.selection import Room
from spillover.source.blob import MemoryBlob, Meter


def written(rows, separator=",", ends="\n"):
    """The text of a table as Python's own csv writes it, and where each row begins and ends in its bytes."""
    text, edges = "", [0]
    for row in rows:
        one = io.StringIO(newline="")
        csv.writer(one, delimiter=separator, lineterminator=ends).writerow(row)
        text += one.getvalue()
        edges.append(len(text.encode()))
    return text, edges


clipped = clipped_by(table.select)


def measured(count=4_000, **changed):
    """Requests, all of them well, but for the rows that are given."""
    luck = random.Random(7)
    yield ["id", "at", "host", "status", "ms", "note"]
    for number in range(count):
        row = [number, f"12:{number // 60 % 60:02}:{number % 60:02}", f"web-{number % 4}", "ok"]
        row += [f"{luck.gauss(100, 10):.1f}", luck.choice("abc")]
        yield changed.get(f"row{number}", row)


ODD = {
    "row1777": [1777, "12:29:37", "web-1", "failed", "99.0", "a"],
    "row2500": [2500, "12:41:40", "web-0", "ok", "98123.5", "b"],
    "row3001": [3001, "12:50:01", "web-1", "ok"],
    "row3100": [3100, "12:51:40", "web-0", "ok", "-512.0", "b"],
}


@pytest.mark.parametrize("separator", [",", "\t", ";", "|"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_the_header_both_ends_and_the_rows_that_stand_out_are_there(separator, ends):
    text, _ = written(measured(**ODD), separator, ends)
    clip, spans, full = clipped(text, tokens=700)
    shown = clip.text.splitlines()
    for row in (["id", "at", "host", "status", "ms", "note"], *ODD.values()):
        assert separator.join(map(str, row)) in shown
    assert any(line.startswith(f"0{separator}") for line in shown)
    assert any(line.startswith(f"3999{separator}") for line in shown)
    assert full <= 1
    assert all(span.then is None for span in spans)


def test_every_outlying_row_says_why():
    _, spans, _ = clipped(written(measured(**ODD))[0], tokens=700)
    whys = [span.why for span in spans if span.why]
    assert whys == [
        "status=failed is rare, 1 of 4,000 rows",
        "ms=98123.5 is far outside",
        "4 cells, not 6",
        "ms=-512.0 is far outside",
    ]


def test_a_word_of_failure_in_few_rows_makes_them_stand_out():
    rows = [[number, f"message number {number} of them"] for number in range(3_000)]
    rows[1_234][1] = "disk error on /dev/sda"
    clip, spans, _ = clipped(written([["id", "text"], *rows])[0], tokens=400)
    assert "1234,disk error on /dev/sda" in clip.text
    assert [span.why for span in spans if span.why] == ["“error” is in 1 of 3,000 rows"]


def test_a_word_that_many_rows_have_is_no_reason():
    rows = [[number, f"error {number % 999}"] for number in range(3_000)]
    _, spans, _ = clipped(written([["id", "text"], *rows])[0], tokens=400)
    assert [span.why for span in spans if span.why] == []


@pytest.mark.parametrize("count", [100, 30_000])
def test_a_column_that_counts_upwards_has_no_outliers(count):
    text, _ = written([["id", "at"], *([number, 1_700_000_000 + number] for number in range(count))])
    _, spans, _ = clipped(text, tokens=300)
    assert spans
    assert [span.why for span in spans if span.why] == []


def test_more_rows_stand_out_than_there_is_room_and_the_ends_are_there_all_the_same():
    odd = {f"row{number}": [number, "now", "web-9", f"code {number}", "100.0", "a"] for number in range(100, 3_900, 7)}
    clip, _, full = clipped(written(measured(**odd))[0], tokens=400)
    lines = clip.text.splitlines()
    assert any(line.startswith("0,") for line in lines)
    assert any(line.startswith("3999,") for line in lines)
    assert full <= 1


def test_a_quoted_newline_never_ends_a_row():
    rows = [[number, f'he said "{number},\n\nhello"\nand left', number % 3] for number in range(2_000)]
    text, edges = written([["id", "what", "n"], *rows])
    _, spans, _ = clipped(text, tokens=600)
    assert len(spans) >= 2
    assert {edge for span in spans for edge in (span.start, span.end)} <= set(edges)


def test_a_quote_inside_a_cell_quotes_nothing():
    lines = ["id,size,what", *(f'{number},{number % 7}" pipe,thing' for number in range(3_000))]
    _, spans, _ = clipped("\n".join(lines), tokens=400)
    assert spans[0].start == 0
    assert spans[-1].end == len("\n".join(lines))


@pytest.mark.parametrize("separator", [",", ";"])
def test_an_enormous_cell_is_shortened_and_column_three_is_column_three(separator):
    rows = [[number, f'"{"word, " * 3_000}"', f"end {number}"] for number in range(50)]
    text, _ = written([["id", "body", "last"], *rows], separator)
    clip, spans, full = clipped(text, tokens=600)
    assert full <= 1
    assert any(span.then for span in spans)
    data = text.encode()
    pieces = [data[span.start : span.end].decode() + ("…" if span.then else "") for span in spans]
    parsed = list(csv.reader(io.StringIO("".join(pieces), newline=""), delimiter=separator))
    assert parsed[0] == ["id", "body", "last"]
    assert len(parsed) >= 3
    assert all(len(row) == 3 and row[2] == f"end {row[0]}" for row in parsed[1:])
    assert "end 49" in clip.text


@pytest.mark.parametrize("text", ["é" * 2_000, '""' * 2_000, "\U0001f600" * 1_000])
def test_a_cell_is_cut_neither_inside_a_character_nor_inside_a_doubled_quote(text):
    data = "id,body\n" + "".join(f'{number},"{"x" * number}{text}"\n' for number in range(12))
    _, spans, _ = clipped(data, tokens=400)
    pieces = [data.encode()[span.start : span.end].decode() + ("…" if span.then else "") for span in spans]
    parsed = list(csv.reader(io.StringIO("".join(pieces), newline=""), strict=True))
    assert len(parsed) > 3
    assert {len(row) for row in parsed} == {2}


def test_a_cell_without_quotes_is_not_cut_as_a_marker_has_commas():
    data = "id,body\n" + "".join(f"{number},{'x' * 600}\n" for number in range(40))
    _, spans, _ = clipped(data, tokens=1_500)
    assert spans
    assert not [span for span in spans if span.then]


def test_what_is_no_table_is_left_to_others():
    for text in ("one line\n" * 9_000, "", "a,b\n" * 2, "word " * 9_000, "x,y\n1,2,3\n4\n5,6,7,8\n" * 900):
        assert not clipped(text, tokens=200)[1]


def test_a_quote_that_is_never_closed_is_no_table():
    assert not clipped("a,b\n" + "1,2\n" * 5_000 + '3,"4\n' + "1,2\n" * 5_000, tokens=200)[1]


def document(data, sections=None, blob=None):
    meter = Meter()
    meter.feed(data)
    blob = blob or MemoryBlob(data)
    return Document(blob, meter.index, meter.lines, meter.newlines, sections or (Section(0, len(data)),))


TABLE = b"a,b\n" + b"1,2\n" * 5_000


def test_no_room_for_header_first_and_last_is_no_room_for_a_table():
    room = Room(lambda spans: sum(span.end - span.start for span in spans) / 9)
    assert not table.select(document(TABLE), room, CALL)


CELL = st.text(st.sampled_from('ab1,;"\n é'), max_size=12) | st.integers(-10, 10**6).map(str) | st.just("x" * 300)


@settings(max_examples=150)
@given(st.data(), st.integers(2, 5), st.sampled_from(",;\t"), st.integers(300, 3_000))
def test_whatever_the_table_and_the_limits_rows_are_whole_and_it_fits(data, width, separator, limit):
    rows = data.draw(st.lists(st.lists(CELL, min_size=width, max_size=width), min_size=4, max_size=60))
    rows += [["1"] * width] * data.draw(st.integers(0, 400))
    text, edges = written(rows, separator)
    clip, spans, full = clipped(text, bytes=limit)
    assert len(clip.text.encode()) <= limit
    if not spans:
        return
    raw = text.encode()
    assert full <= 1
    at = -1
    for span in spans:
        assert at < span.start < span.end <= len(raw)
        at = span.end
        raw[span.start : span.end].decode()  # no half character
    cuts = [span for span in spans if span.then]
    beyond = {edge for span in spans for edge in (span.start, span.end)} - set(edges)
    assert bool(beyond) == bool(cuts)
    shown = "".join(raw[span.start : span.end].decode() + ("…" if span.then else "") for span in spans)
    assert {len(row) for row in csv.reader(io.StringIO(shown, newline=""), delimiter=separator)} <= {width, 0}


def reasons(text):
    """The first cell of each row that stands out, and why it does."""
    data = text.encode()
    scan = table.Scan(document(data), table.shape_of(data, whole=True))
    assert scan.run()
    return [(data[start:end].decode().split(",")[0], why) for (start, end), why in scan.outliers()]


@pytest.mark.parametrize(
    ("numbers", "far"),
    [
        (["1", "2", "3", "4"] * 10 + ["500"], ["500"]),
        (["1", "2", "3", "4"] * 10 + ["-500"], ["-500"]),
        (["10.5", "11.25", "9.125", "12"] * 10 + ["100.5", "0.001"], ["100.5"]),
        (["100", "200", "300"] * 10 + ["99999999999.5"], ["99999999999.5"]),
        (["100", "200", "300"] * 10 + ["310", "290"], []),
        (["100", "200", "300"] * 10 + ["-7"], ["-7"]),  # the only one below zero
        (["100", "200", "-300"] * 10 + ["-7"], []),
        (["-5", "-6", "-7"] * 10 + ["-900", "-1"], ["-900"]),
        (['"1"', '"2"', '"3"'] * 10 + ['"1000"'], ['"1000"']),
        (["1", "", "3", "2"] * 10 + ["777"], ["777"]),
        (["one", "two", "three"] * 10 + ["9999"], []),
    ],
)
def test_a_number_far_from_the_others_stands_out(numbers, far):
    data = "n,x\n" + "".join(f"{number},{place}\n" for place, number in enumerate(numbers))
    assert [cell for cell, why in reasons(data) if "far outside" in why] == far


@pytest.mark.parametrize(
    ("values", "rare"),
    [
        (["ok"] * 50 + ["failed"], ["failed"]),
        (["ok", "skipped"] * 50 + ["failed"] * 2, ["failed", "failed"]),
        (
            ["a value of the one kind", "a value of the two kind"] * 50 + ["a value of the six kind"],
            ["a value of the six kind"],
        ),
        (["a", "b", "c"] * 30, []),
        ([str(number) for number in range(500)], []),
        (["0"] * 99 + ["137"], ["137"]),
    ],
)
def test_a_rare_value_of_a_column_that_has_few_stands_out(values, rare):
    data = "v,x\n" + "".join(f"{value},{place}\n" for place, value in enumerate(values))
    assert [cell for cell, why in reasons(data) if "is rare" in why] == rare


def test_rare_values_of_every_block_are_counted_as_one():
    body = "ok,1\n" * 400_000
    data = f"s,n\n{body}bad,1\n{body}bad,1\n{body}"
    assert [why for _, why in reasons(data)] == ["s=bad is rare, 2 of 1,200,002 rows"] * 2


def test_each_reason_has_its_turn_and_the_number_of_outliers_is_bounded():
    lines = [f"{number % 3},x\n" for number in range(5_000)]
    for place in range(100, 4_900, 50):
        lines[place] = "1,2,3\n"
    lines[4_950] = "7,fatal\n"
    found = reasons("a,b\n" + "".join(lines))
    assert len(found) == table.MAX_OUTLIERS
    assert "3 cells, not 2" in found[0][1]
    assert any("fatal" in why or "a=7" in why for _, why in found)


@settings(max_examples=100)
@given(
    st.lists(
        st.lists(st.text(st.sampled_from('a1,"\n'), max_size=9), min_size=3, max_size=3), min_size=4, max_size=200
    ),
    st.integers(1, 300),
)
def test_rows_end_where_the_csv_of_python_ends_them_whatever_the_blocks(rows, block):
    text, edges = written([["h", "i", "j"], *rows])
    before = table.BLOCK_BYTES, table.FIRST_BLOCK_BYTES
    table.BLOCK_BYTES = table.FIRST_BLOCK_BYTES = block
    try:
        scan = table.Scan(document(text.encode()), table.Shape(b",", 3, edges[1], 1.0))
        assert scan.run()
    finally:
        table.BLOCK_BYTES, table.FIRST_BLOCK_BYTES = before
    assert scan.rows == len(rows)
    assert scan.last_rows() == list(pairwise(edges[1:]))


@pytest.mark.parametrize("data", ["a,b\n" + "1,2\n" * 9 + '3,"2\n3,4\n', "a,b\n1\n2\n3\n4,5\n"])
def test_rows_that_are_none_are_left_to_others(data):
    assert not table.select(document(data.encode()), Room(lambda spans: 0.0), CALL)
