"""Which rows of a table stand out, in one pass by blocks."""

import csv
import io
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover.document.document import Document, Section
from spillover.kinds import outliers
from spillover.source.blob import MemoryBlob, Meter


def document(data):
    meter = Meter()
    meter.feed(data)
    return Document(MemoryBlob(data), meter.index, meter.lines, meter.newlines, (Section(0, len(data)),))


def scanned(data, columns, header, separator=b","):
    scan = outliers.Scan(separator, columns, header)
    return scan, scan.run(document(data))


def written(rows):
    out, edges = b"", [0]
    for row in rows:
        one = io.StringIO(newline="")
        csv.writer(one, lineterminator="\n").writerow(row)
        out += one.getvalue().encode()
        edges.append(len(out))
    return out, edges


@settings(max_examples=150)
@given(
    st.lists(
        st.lists(st.text(st.sampled_from('a1,"\n'), max_size=9), min_size=3, max_size=3), min_size=1, max_size=200
    ),
    st.integers(1, 300),
)
def test_rows_end_where_the_csv_of_python_ends_them_whatever_the_blocks(rows, block):
    rows = [["h", "i", "j"], *rows]
    data, edges = written(rows)
    before = outliers.BLOCK, outliers.FIRST_BLOCK
    outliers.BLOCK = outliers.FIRST_BLOCK = block
    try:
        scan, good = scanned(data, 3, edges[1])
    finally:
        outliers.BLOCK, outliers.FIRST_BLOCK = before
    assert good
    assert scan.rows == len(rows) - 1
    assert scan.last.tolist() == [list(row) for row in pairwise(edges[1:])]


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
def test_numbers_far_outside_are_found(numbers, far):
    # The second column keeps the first from being one of few values, the header is not a row.
    data = "n,x\n" + "".join(f"{number},{place}\n" for place, number in enumerate(numbers))
    scan, good = scanned(data.encode(), 2, 4)
    assert good
    found = scan.standing_out(lambda row, column: data[slice(*row)].split(",")[column], ["n", "x"])
    assert [data[slice(*row)].split(",")[0] for row, why in found if "far outside" in why] == far


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
def test_rare_values_are_found(values, rare):
    data = "v,x\n" + "".join(f"{value},z\n" for value in values)
    scan, _ = scanned(data.encode(), 2, 4)
    found = scan.standing_out(lambda row, column: data[slice(*row)].split(",")[column], ["v", "x"])
    assert [data[slice(*row)].split(",")[0] for row, why in found if "is rare" in why] == rare


def test_rare_values_of_every_block_are_counted_as_one():
    body = b"ok,1\n" * 400_000
    data = b"s,n\n" + body + b"bad,1\n" + body + b"bad,1\n" + body
    scan, _ = scanned(data, 2, 4)
    assert scan.rows == 1_200_002
    found = scan.standing_out(lambda row, _: data[slice(*row)].split(b",")[0].decode(), ["s", "n"])
    assert [why for _, why in found] == ["s=bad is rare, 2 of 1,200,002 rows"] * 2


def test_each_reason_has_its_turn_and_the_number_of_rows_is_bounded():
    lines = [f"{number % 3},x\n" for number in range(5_000)]
    for place in range(100, 4_900, 50):
        lines[place] = "1,2,3\n"
    lines[4_950] = "7,fatal\n"
    data = "a,b\n" + "".join(lines)
    scan, _ = scanned(data.encode(), 2, 4)
    found = scan.standing_out(lambda row, column: data[slice(*row)].split(",")[column], ["a", "b"])
    assert len(found) == outliers.STAND_OUT
    assert "3 cells, not 2" in found[0][1]
    assert any("a=7" in why or "fatal" in why for _, why in found[:4])


@pytest.mark.parametrize("data", [b'a,b\n1,"2\n3,4\n', b"a,b\n1\n2\n3\n4,5\n"])
def test_rows_that_are_none_are_said_to_be_none(data):
    assert not scanned(data, 2, 4)[1]
