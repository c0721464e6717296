"""Head, tail, or both ends: spans out of an output and a budget."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover import Clipper, Limits, MemoryStore
from spillover.document.document import Document, Section
from spillover.kinds.ends import keep_ends
from spillover.source.blob import BothEnds, MemoryBlob, Meter

SHARE = {"head": 1.0, "ends": 0.5, "tail": 0.0}
LINES = b"".join(b"line%d\n" % number for number in range(10))  # 60 bytes, 6 a line


def document(data, sections=(), reach=1 << 16, blob=None):
    meter = Meter()
    meter.feed(data)
    sections = tuple(sections) or (Section(0, len(data)),)
    return Document(blob or MemoryBlob(data), meter.index, meter.lines, meter.newlines, sections, reach)


def of_bytes(budget):
    """Full when so many bytes are shown; nothing is charged for notice and markers."""
    return lambda spans: sum(span.end - span.start for span in spans) / budget


def kept(data, keep, budget, **facts):
    seen = document(data, **facts)
    return [bytes(seen.blob.read(span.start, span.end)) for span in keep_ends(SHARE[keep])(seen, of_bytes(budget))]


@pytest.mark.parametrize(
    ("keep", "budget", "expected"),
    [
        ("head", 18, [b"line0\nline1\nline2\n"]),
        ("head", 23, [b"line0\nline1\nline2\n"]),  # a line that does not fit whole is left out
        ("head", 24, [b"line0\nline1\nline2\nline3\n"]),
        ("tail", 18, [b"line7\nline8\nline9\n"]),
        ("tail", 17, [b"line8\nline9\n"]),
        ("ends", 24, [b"line0\nline1\n", b"line8\nline9\n"]),
        ("ends", 12, [b"line0\n", b"line9\n"]),
        ("ends", 11, [b"line9\n"]),  # room for one line only: the last one
        ("ends", 18, [b"line0\nline1\n", b"line9\n"]),  # what whole lines leave unused is used by one of the ends
        ("head", 5, []),
        ("head", 59, [LINES[:54]]),
        ("head", 60, [LINES]),
        ("tail", 60, [LINES]),
        ("ends", 60, [LINES]),
        ("ends", 1_000, [LINES]),
    ],
)
def test_whole_lines_survive(keep, budget, expected):
    assert kept(LINES, keep, budget) == expected


ONE = b"a" * 400 + b"m" * 200 + b"z" * 400


@pytest.mark.parametrize(
    ("data", "keep", "budget", "expected"),
    [
        (ONE, "head", 100, [b"a" * 100]),
        (ONE, "tail", 100, [b"z" * 100]),
        (ONE, "ends", 100, [b"a" * 50, b"z" * 50]),
        (ONE + b"\n", "tail", 100, [b"z" * 99 + b"\n"]),  # a final newline opens no line that could be taken instead
        (b"ok\n" + ONE, "head", 100, [b"ok\n" + b"a" * 97]),
        (ONE + b"\nok", "tail", 100, [b"z" * 97 + b"\nok"]),
        ("é".encode() * 500, "head", 101, ["é".encode() * 50]),  # never half a character
        ("é".encode() * 500, "tail", 101, ["é".encode() * 50]),
        ("😀".encode() * 100, "ends", 102, ["😀".encode() * 13, "😀".encode() * 12]),
    ],
)
def test_a_line_that_could_never_fit_is_shown_in_part(data, keep, budget, expected):
    assert kept(data, keep, budget) == expected


LAST = b"E" * 250 + b"\n"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"b" * 5_000 + b"\n" + LAST, [b"b" * 99, LAST]),
        (b"line\n" * 900 + LAST, [b"line\n" * 19, LAST]),
        (LAST + b"b" * 5_000, [LAST, b"b" * 99]),
        (LAST + b"line\n" * 900, [LAST, b"line\n" * 19]),
        (LAST + b"line\n" * 900 + LAST, [b"line\n" * 19 + LAST]),  # not both of them: the last one says more
    ],
)
def test_a_first_or_last_line_longer_than_half_the_room_is_not_lost_to_the_other_end(data, expected):
    assert kept(data, "ends", 350) == expected


@pytest.mark.parametrize("keep", ["head", "tail", "ends"])
def test_a_labelled_section_is_represented_if_only_by_a_part_of_a_line(keep):
    data = b"o" * 250 + b"\n" + b"e" * 9_000
    parts = kept(data, keep, 300, sections=[Section(0, 251, "stdout"), Section(251, len(data), "stderr", 2)])
    assert b"".join(parts).count(b"o") == pytest.approx(100, abs=2)


@pytest.mark.parametrize("keep", ["head", "tail", "ends"])
def test_no_escape_code_is_cut_in_two(keep):
    code = b"\x1b[38;5;196m"
    data = (code + b"x") * 200
    for budget in range(100, 130):
        for part in kept(data, keep, budget):
            text = part.replace(code, b"")
            assert b"\x1b" not in text
            assert b"[" not in text


def test_both_sections_are_represented_and_the_heavier_one_gets_more():
    data = b"o" * 9_000 + b"e" * 9_000
    parts = kept(data, "tail", 300, sections=[Section(0, 9_000), Section(9_000, 18_000, weight=2)])
    assert b"".join(parts).count(b"o") == pytest.approx(100, abs=2)
    assert b"".join(parts).count(b"e") == pytest.approx(200, abs=2)


def test_the_room_a_short_section_leaves_goes_to_the_other():
    data = b"o" * 9_000 + b"e" * 10
    parts = kept(data, "tail", 300, sections=[Section(0, 9_000), Section(9_000, 9_010, weight=2)])
    assert b"".join(parts).count(b"e") == 10
    assert b"".join(parts).count(b"o") == pytest.approx(290, abs=2)


@pytest.mark.parametrize("keep", ["head", "tail", "ends"])
def test_nothing_is_taken_out_of_a_gap(keep):
    data = b"".join(b"%07d\n" % number for number in range(1_000))
    seen = document(data, blob=BothEnds(MemoryBlob(data[:80]), data[-80:], len(data)))
    for span in keep_ends(SHARE[keep])(seen, of_bytes(10_000)):
        assert span.end <= 80 or span.start >= len(data) - 80


def test_looking_is_bounded_by_the_reach():
    class Watched(MemoryBlob):
        longest = 0

        def read(self, start, end):
            Watched.longest = max(Watched.longest, end - start)
            return MemoryBlob.read(self, start, end)

    data = b"x" * 1_000_000
    seen = document(data, reach=1_000, blob=Watched(data))
    keep_ends(0.5)(seen, of_bytes(500))
    assert Watched.longest <= 1_000


ALPHABET = st.sampled_from([b"a", b"\n", b"x" * 70, "é".encode(), "😀".encode() * 20, b"\r\n", b"\x1b[1m"])


@settings(max_examples=200)
@given(st.lists(ALPHABET, max_size=40).map(b"".join), st.sampled_from(sorted(SHARE)), st.integers(1, 400), st.data())
def test_what_is_selected_fits_and_is_cut_at_characters(data, keep, budget, more):
    cut = more.draw(st.integers(0, len(data)))
    seen = document(data, sections=[Section(0, cut), Section(cut, len(data))])
    spans = keep_ends(SHARE[keep])(seen, of_bytes(budget))
    assert sum(span.end - span.start for span in spans) <= budget
    edges = {0, cut, len(data)}  # a section may begin anywhere: its cuts are not ours
    for edge in {edge for span in spans for edge in (span.start, span.end)} - edges:
        assert not 0x80 <= data[edge] < 0xC0 or edge == cut


@pytest.mark.parametrize("keep", ["ends", "tail", "auto"])
@pytest.mark.parametrize("frames", [1_500, 6_000, 30_000])
def test_the_last_state_of_a_progress_bar_is_shown_however_long_its_line_is(keep, frames):
    """Past the reach of a cut its line, which folds to a few characters, was taken for one that is shown whole or not at all."""
    bar = "".join(
        f"\r{n * 100 // frames:3d}%|{'#' * (n * 30 // frames):30}| {n}/{frames}" for n in range(1, frames + 1)
    )
    clip = Clipper(Limits(tokens=400), keep=keep, store=MemoryStore()).clip(bar)
    assert clip.text.endswith(f"| {frames}/{frames}")
