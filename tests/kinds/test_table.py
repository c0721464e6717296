"""Tables: header, first, last and outlying rows, each with all its columns."""

import csv
import io
import random

import pytest
from chosen_by import clipped_by
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover.document.document import Document, Section
from spillover.kinds import table
from spillover.kinds.table import cells
from spillover.source.blob import BothEnds, MemoryBlob, Meter


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


def test_what_is_no_table_is_left_to_others():
    for text in ("one line\n" * 9_000, "", "a,b\n" * 2, "word " * 9_000, "x,y\n1,2,3\n4\n5,6,7,8\n" * 900):
        assert clipped(text, tokens=200)[1] is None


def test_a_quote_that_is_never_closed_is_no_table():
    assert clipped("a,b\n" + "1,2\n" * 5_000 + '3,"4\n' + "1,2\n" * 5_000, tokens=200)[1] is None


def document(data, sections=None, blob=None):
    meter = Meter()
    meter.feed(data)
    blob = blob or MemoryBlob(data)
    return Document(blob, meter.index, meter.lines, meter.newlines, sections or (Section(0, len(data)),))


TABLE = b"a,b\n" + b"1,2\n" * 5_000


def test_several_sections_and_outputs_with_a_hole_are_left_to_others():
    assert table.select(document(TABLE), lambda spans: 0.0)
    assert table.select(document(TABLE, (Section(0, 8), Section(8, len(TABLE)))), lambda spans: 0.0) is None
    assert (
        table.select(document(TABLE, blob=BothEnds(MemoryBlob(TABLE[:80]), TABLE[-80:], len(TABLE))), lambda spans: 0.0)
        is None
    )


def test_no_room_for_header_first_and_last_is_no_room_for_a_table():
    assert table.select(document(TABLE), lambda spans: sum(span.end - span.start for span in spans) / 9) is None


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


def test_no_more_cells_are_looked_at_than_are_asked_for():
    assert cells(b'a,"b,c",d\n', b",", 2) == [(0, 1), (2, 7)]
    assert len(cells(b"," * 9, b",")) == 10
