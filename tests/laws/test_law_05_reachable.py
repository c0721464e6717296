"""Law 5: everything hidden can be reached by line, byte, column or pattern, in answers that fit and say how to continue."""

import json
import re
from itertools import groupby
from operator import itemgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from law_given import choices, law, law_for_processes, law_in_short, outputs
from law_going_back import WAYS_BACK, follow, next_call
from law_naive import Lines, over

from spillover import Limits, MemoryStore
from spillover.testing import put
from support import FORGERY_MARK as MARK
from support import ToolClipper, clean, look
from support import exact_view as exact

#: Reading an entire output takes one answer per screenful, so these outputs have no huge middle.
some = outputs.filter(lambda data: len(data) < 12_000)
back = st.sampled_from(WAYS_BACK)

ROW = re.compile(r"(\d+): (.*)", re.DOTALL)
COLUMNS = re.compile(r"\[Line ([\d,]+), columns ([\d,]+)-([\d,]+) of ([\d,]+)\.")
FRAMES = re.compile(r"([\d,]+) overwritten frames? left out: ")
BYTES = re.compile(r"\[Bytes? ([\d,]+)(?:-([\d,]+))? of ([\d,]+), lines? ([\d,]+)(?:-([\d,]+))?\.")


def stored(chosen, data, way):
    store = MemoryStore()
    ref = put(store, bytes(data), chosen["tool"]).ref
    return ToolClipper(**{**chosen, "hints": way}, store=store), ref


def number(text):
    return int(text.replace(",", ""))


def grouped(body):
    """Return the lines of an answer by number; a line shown as several rows repeats its number before each row."""
    rows = [ROW.fullmatch(row).groups() for row in body.split("\n")] if body else []
    for line, group in groupby(rows, key=itemgetter(0)):
        yield int(line), "\n".join(text for _, text in group)


def split(answer):
    """Split an answer into the output's text and the last line, which is ours."""
    body, _, footer = answer.rpartition("\n")
    return body, footer


@law
@given(chosen=choices, data=some, way=back)
def test_reading_on_from_line_1_gives_every_line_once(chosen, data, way):
    clipper, ref = stored(chosen, data, way)
    read_on(clipper, ref, Lines(data))


@law_for_processes
@given(chosen=choices, data=some, way=back)
def test_reading_on_inside_a_string_of_json_gives_every_line_of_it_once(chosen, data, way):
    text = data.decode("utf-8", "replace")
    clipper, ref = stored(chosen, json.dumps({"exit_code": 2, "s/x": text}).encode(), way)
    read_on(clipper, f"{ref}#/s~1x", Lines(text.encode()))


def read_on(clipper, ref, lines):
    """Read an output to its end, and check every answer on the way."""
    seen = []
    partly = 0  # columns seen so far of a line that is read in parts
    for _, answer in follow(lambda **asked: clipper.read(ref, **asked)):
        assert not over([answer], clipper.settings.limits, clipper.settings.count)
        body, footer = split(answer)
        columns = COLUMNS.match(footer)
        if columns:
            line, first, last, width = map(number, columns.groups())
            raw = lines.all[line - 1].removesuffix(b"\n")
            assert (line, first, width) == (len(seen) + 1, partly + 1, len(raw))
            assert body == f"{line}: {exact(raw[first - 1 : last])}"
            partly = last
            if last == width:
                seen.append(line)
                partly = 0
            continue
        left_out = 0
        for line, rows in grouped(body):
            text, frames = look(lines.all[line - 1].removesuffix(b"\n"))
            assert rows == text
            left_out += frames
            seen.append(line)
        said = FRAMES.search(footer)
        assert (number(said[1]) if said else 0) == left_out
    assert seen == [*range(1, len(lines) + 1)]


@law_in_short
@given(chosen=choices, data=some, way=back)
def test_reading_on_from_byte_1_gives_every_byte_once(chosen, data, way):
    clipper, ref = stored(chosen, data, way)
    lines, at = Lines(data), 0
    for _, answer in follow(lambda **asked: clipper.read(ref, **asked), bytes="1:"):
        assert not over([answer], clipper.settings.limits, clipper.settings.count)
        body, footer = split(answer)
        if not data:
            assert footer.startswith("[No byte 1")
            break
        first, last, total, first_line, last_line = (text and number(text) for text in BYTES.match(footer).groups())
        last = last or first
        assert (first, total) == (at + 1, len(data))
        assert body.replace(MARK, "") == exact(data[first - 1 : last])
        assert (first_line, last_line or first_line) == (lines.number(first - 1), lines.number(last - 1))
        at = last
    assert at == len(data)


@law_in_short
@given(chosen=choices, data=some, way=back, places=st.lists(st.integers(0, 12_000), min_size=1, max_size=9))
def test_a_needle_is_found_wherever_it_is(chosen, data, way, places):
    needle = b"N33dle"
    data = bytes(data)
    for place in places:
        at = place % (len(data) + 1)
        data = data[:at] + needle + data[at:]
    clipper, ref = stored(chosen, data, way)
    lines = Lines(data)
    expected = [n for n, line in enumerate(lines.all, 1) if needle in line or needle.decode() in clean(line)]
    seen = []
    for _, answer in follow(lambda **asked: clipper.grep(ref, needle.decode(), **{"fixed": True, **asked})):
        assert not over([answer], clipper.settings.limits, clipper.settings.count)
        body, footer = split(answer)
        assert f" of {len(expected):,} match" in footer
        for line, text in grouped(body):
            assert needle.decode() in text, "a match is shown even inside a frame that was left out"
            seen.append(line)
    assert seen == expected


@pytest.mark.parametrize("way", WAYS_BACK)
@pytest.mark.parametrize("place", [0, 1, 70_000, 2**20 - 3, 2**20, 1_500_000, 1_999_999])
def test_inside_one_line_of_megabytes_a_match_is_found_and_shown_with_its_neighbours(way, place):
    data = bytearray(b"." * 2_000_000)
    data[place : place + 6] = b"NEEDLE"
    clipper, ref = stored({"limits": Limits(tokens=200), "tool": "bash"}, data, way)
    answer = clipper.grep(ref, "NEED[L]E").text
    assert "NEEDLE" in answer
    assert f"columns {place + 1:,}-{place + 6:,}" in answer
    columns = clipper.read(ref, lines=1, columns=f"{place + 1}:+6").text
    assert columns.startswith("1: NEEDLE\n")
    assert clipper.read(ref, bytes=f"{place + 1}:+6").text.startswith("NEEDLE\n")


def test_the_calls_are_understood_as_they_are_written():
    """Check `next_call` with examples that a person can verify."""
    assert next_call('[Lines 1-4 of 9. Next: read_output("bash-7f3a9c2e41d0", lines="5:9")]') == {"lines": "5:9"}
    assert next_call("[Lines 1-4 of 9. Next: spill read bash-7f3a9c2e41d0 5:9]") == {"lines": "5:9"}
    assert next_call("x\n[Bytes. Next: spill read bash-7f3a9c2e41d0 --bytes 5:9]") == {"bytes": "5:9"}
    assert next_call("[Next: spill read t-7f3a9c2e41d0 7 --columns 5:9]") == {"lines": "7", "columns": "5:9"}
    assert next_call("[Next: line 7, columns 5:9]") == {"lines": "7", "columns": "5:9"}
    assert next_call("[Next: spill grep t-7f3a9c2e41d0 'a b' -F --from 7]") == {"start": "7"}
    assert next_call("[Lines 5-9 of 9. The end.]") is None
