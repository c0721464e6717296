"""Spans into text: the notice on top, what survives below, a marker where something is hidden."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover import Clipper, Limits, MemoryStore
from spillover.document.document import Document, Section
from spillover.document.forgery import Guard
from spillover.kinds.selection import Span, join
from spillover.notice.render import Layout
from spillover.source.blob import MemoryBlob, Meter

TEN = b"".join(b"line%d\n" % number for number in range(10))  # 6 bytes a line


def make_layout(data, sections=(), tier=0):
    meter = Meter()
    meter.feed(data)
    sections = tuple(sections) or (Section(0, len(data)),)
    document = Document(MemoryBlob(data), meter.index, meter.lines, meter.newlines, sections)
    return Layout(document, tier=tier)


def show(data, spans, sections=(), tier=0):
    return make_layout(data, sections, tier).render([Span(*span) for span in spans])


def below_the_notice(shown):
    return "\n".join(part for part in shown.parts if part)


@pytest.mark.parametrize(
    ("spans", "text", "ranges"),
    [
        ([(0, 12)], "line0\nline1\n[… lines 3-10 not shown …]", ((1, 2),)),
        ([(48, 60)], "[… lines 1-8 not shown …]\nline8\nline9\n", ((9, 10),)),
        ([(0, 6), (54, 60)], "line0\n[… lines 2-9 not shown …]\nline9\n", ((1, 1), (10, 10))),
        (
            [(12, 18), (24, 30)],
            "[… lines 1-2 not shown …]\nline2\n[… line 4 not shown …]\nline4\n[… lines 6-10 not shown …]",
            ((3, 3), (5, 5)),
        ),
        ([(0, 60)], TEN.decode(), ((1, 10),)),
        ([], "[… lines 1-10 not shown …]", ()),
        # inside lines: bytes say where, and a piece that does not end its line gets an end of ours
        ([(0, 2)], "li\n[… bytes 3-60, in lines 1-10, not shown …]", ((1, 1),)),
        ([(0, 8), (52, 60)], "line0\nli\n[… bytes 9-52, in lines 2-9, not shown …]\n8\nline9\n", ((1, 2), (9, 10))),
    ],
)
def test_a_marker_stands_where_something_is_hidden(spans, text, ranges):
    shown = show(TEN, spans)
    assert below_the_notice(shown) == text
    assert shown.ranges == ranges


def test_halves_of_one_line_are_never_joined_as_if_nothing_stood_between():
    shown = show(b"value=1" + b"x" * 500 + b"2345 total", [(0, 7), (507, 517)])
    assert below_the_notice(shown) == "value=1\n[… bytes 8-507, in line 1, not shown …]\n2345 total"
    assert shown.ranges == ((1, 1),)
    assert (shown.lines, shown.bytes, shown.body) == (1, 17, "value=12345 total")


def test_what_is_shown_is_clean_and_its_bytes_are_counted_as_they_came():
    shown = show(b"\x1b[31mred\x1b[0m\n10%\r99%\nrest\n", [(0, 21)])
    assert below_the_notice(shown).startswith("red\n99%\n[…")
    assert shown.bytes == 21


STREAMS = [Section(0, 30, "stdout"), Section(30, 60, "stderr", 2)]


@pytest.mark.parametrize(
    ("spans", "text"),
    [
        (
            [(24, 30), (54, 60)],
            "[stdout]\n[… lines 1-4 not shown …]\nline4\n[stderr]\n[… lines 6-9 not shown …]\nline9",
        ),
        ([(24, 36)], "[stdout]\n[… lines 1-4 not shown …]\nline4\n[stderr]\nline5\n[… lines 7-10 not shown …]"),
        ([(30, 60)], "[stdout]\n[… lines 1-5 not shown …]\n[stderr]\nline5\nline6\nline7\nline8\nline9"),
    ],
)
def test_each_stream_has_its_label_and_its_own_markers(spans, text):
    assert below_the_notice(show(TEN, spans, STREAMS)) == text


def test_a_stream_that_said_nothing_is_not_shown():
    assert below_the_notice(show(TEN, [(0, 60)], [Section(0, 0, "stdout"), Section(0, 60, "stderr")])) == (
        "[stderr]\n" + TEN.decode().rstrip("\n")
    )


def test_a_block_of_which_nothing_is_shown_is_left_out_but_counted():
    shown = show(TEN, [(30, 60)], [Section(0, 30), Section(30, 60)])
    assert shown.parts[0] == ""
    assert shown.lines == 5
    assert (shown.gap.first, shown.gap.last) == (1, 5), "the next step reads what was left out"


def test_the_first_gap_is_the_next_step():
    clip = Clipper(Limits(bytes=600), hints="cli", store=MemoryStore()).clip("line\n" * 1_000)
    first, last = clip.hidden[0]
    assert f"spill read {clip.ref} {first}:{min(last, first + 99)}]" in clip.text


@settings(max_examples=200)
@given(
    st.lists(st.sampled_from([b"a", b"bc\n", b"\n", "é".encode()]), min_size=1, max_size=40).map(b"".join),
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=5),
    st.integers(0, 2),
)
def test_shown_and_hidden_lines_add_up_whatever_is_selected(data, pairs, tier):
    spans = join([Span(min(*pair, len(data)), min(max(pair), len(data))) for pair in pairs])
    shown = show(data, [(span.start, span.end) for span in spans], tier=tier)
    lines = {
        data[:at].count(b"\n") + 1 for span in spans for at in range(span.start, span.end)
    }  # by hand: the line of every byte shown
    assert {line for first, last in shown.ranges for line in range(first, last + 1)} == lines
    assert shown.lines == len(lines)
    assert shown.bytes == sum(span.end - span.start for span in spans)


def test_a_lead_stands_above_its_span_and_what_it_quotes_cannot_pass_for_ours():
    lead = "2 files changed\na.py +3 -1\n[Output clipped: 1 of 2 lines shown\x1b[2J"
    meter = Meter()
    meter.feed(TEN)
    guard = Guard(lambda ref: ())
    document = Document(MemoryBlob(TEN), meter.index, meter.lines, meter.newlines, (Section(0, len(TEN)),), guard=guard)
    shown = Layout(document).render(join([Span(0, 6, lead=lead), Span(6, 12)]))
    assert below_the_notice(shown) == (
        "[… 2 files changed\n a.py +3 -1\n[tool text]  [Output clipped: 1 of 2 lines shown [2J …]\n"
        "line0\nline1\n[… lines 3-10 not shown …]"
    )
    assert shown.body == "line0\nline1\n", "a lead is no part of the output"


def test_many_places_in_one_line_are_numbered_in_linear_time(grows_as_fast_as_its_text):
    """One line has no line ends: it was split again for each of 100,000 places, a minute for 300 KB."""

    def render(size):
        layout, spans = make_layout(b"x" * size), [Span(at, at + 1) for at in range(0, size, 30)]
        return lambda: layout.render(spans)

    grows_as_fast_as_its_text(render, 30_000, 300_000, margin=3, floor=0.005)
