"""Searching, held against Python's `re` line by line, at chunk sizes small enough that every edge is met."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spillover.document.clean import clean
from spillover.errors import PatternError
from spillover.retrieve.scan import MAX_PATTERN_CHARS, SIZES, Count, Hit, Sizes, compile_pattern, count, scan
from spillover.source.blob import LineIndex, MemoryBlob

TINY = Sizes(chunk=16, giant=10, overlap=6)
SMALL = Sizes(chunk=48, giant=20, overlap=16)
HUGE_LINES = Sizes(chunk=16, giant=0, overlap=6)  # every line is giant
ALL_SIZES = [TINY, SMALL, HUGE_LINES, SIZES]


def hits(data, text, *, start=0, first_line=1, sizes=SIZES, index=None, **choices):
    pattern = compile_pattern(text, **choices)
    found = list(scan(MemoryBlob(data), pattern, start=start, first_line=first_line, sizes=sizes, index=index))
    assert count(MemoryBlob(data), pattern, start=start, sizes=sizes) == Count(len(found))
    return found


def lines_of(data, text, **choices):
    return [hit.line for hit in hits(data, text, **choices)]


def texts_of(data, text, **choices):
    return [data[hit.start : hit.end] for hit in hits(data, text, **choices)]


def expected(data, text, *, start):
    """The first match of each line by Python's `re`, as long as it can be."""
    pattern, found, line_start = re.compile(text.encode()), [], 0
    for number, line in enumerate(data.split(b"\n"), 1):
        stop = line_start + len(line)
        ended = line.endswith(b"\r") and stop < len(data)
        body, pos = line[: len(line) - ended], max(0, start - line_start)
        if stop >= start and (match := pattern.search(body, pos)):
            end = max(end for end in range(match.start() + 1, len(body) + 1) if ends(text, body, match.start(), end))
            found.append((number, line_start, line_start + match.start(), line_start + end))
        line_start = stop + 1
    return found


def ends(text, body, start, end):
    """Whether a match that begins at `start` can end at `end`."""
    return re.compile(b"(?:%s)(?=.{%d}\\Z)" % (text.encode(), len(body) - end)).match(body, start) is not None


# ── what matches ──


@pytest.mark.parametrize(
    ("text", "data", "found"),
    [
        ("foo", b"foo", [b"foo"]),
        ("foo", b"a foo foo\nfoo", [b"foo", b"foo"]),  # the first of each line
        ("foo", b"", []),
        ("foo", b"\n\n\n", []),
        ("o", b"o\n", [b"o"]),
        ("^b", b"ab\nb\n", [b"b"]),
        ("b$", b"ba\nab\n", [b"b"]),
        ("foo$", b"foo\r\nfoo x\r\n", [b"foo"]),
        ("^foo$", b"foo\r\n", [b"foo"]),
        ("foo.$", b"foo\r\nfool\r\n", [b"fool"]),  # the CR of a line end is no character of the line
        ("a.b", b"a\nb a-b\n", [b"a-b"]),
        (r"a\s+b", b"a \n b\na  b\n", [b"a  b"]),
        ("[^x]+", b"ab\ncd", [b"ab", b"cd"]),
        (r"[^\n]+", b"ab\ncd", [b"ab", b"cd"]),
        (r"(?s)a.b", b"a\nb\na.b", [b"a.b"]),
        (r"(?i)error", b"ERROR\nError\nerr", [b"ERROR", b"Error"]),
        (r"\bfoo\b", b"foobar\nfoo bar\n", [b"foo"]),
        ("é", "caf\u00e9\n".encode(), ["é".encode()]),
        ("caf.!", "café!\n".encode(), ["café!".encode()]),  # a dot is a character, not a byte
        (r"\p{Greek}+", "a αβγ b\n".encode(), ["αβγ".encode()]),
        ("a|ab", b"ab", [b"ab"]),  # as long as possible, as in grep
        ("ab|a", b"ab", [b"ab"]),
        ("(foo|bar)baz", b"foobaz\nbarbaz\nbaz\n", [b"foobaz", b"barbaz"]),
        ("[Ee]rror", b"error\nError\nrror", [b"error", b"Error"]),
        ("x{2,3}", b"x\nxx\nxxxx", [b"xx", b"xxx"]),
        ("a{,2}", b"a{,2}\naa", [b"a{,2}"]),  # no repetition, though one in Python
        ("[[:digit:]]]", b"7\n7]\n]", [b"7]"]),  # another class in Python
        (r"\x41b", b"Ab\nx41b", [b"Ab"]),
        ("(?i:a)bc", b"Abc\nabC", [b"Abc"]),
        ("error: .* undefined", b"error: x is undefined\nerror: x\nundefined", [b"error: x is undefined"]),
        (r"line \d+", b"line \nline 12\n", [b"line 12"]),
        ("--v", b"-v\n--v\n", [b"--v"]),
    ],
)
def test_a_pattern_matches_what_grep_would_match_with_lines_ended_by_lf_or_crlf(text, data, found):
    assert texts_of(data, text) == found


@pytest.mark.parametrize("text", ["a.b", "f(oo", "a*", "^", r"\1", "(?=x)", "[", "é|"])
def test_a_fixed_pattern_means_itself(text):
    assert texts_of(f"..{text}..\nafb\n".encode(), text, fixed=True) == [text.encode()]


@pytest.mark.parametrize("fixed", [True, False])
def test_case_can_be_ignored(fixed):
    assert texts_of("Straße ÉTÉ été\n".encode(), "été", fixed=fixed, ignore_case=True) == ["ÉTÉ".encode()]
    assert lines_of(b"FAILED\nfailed\nFaild\n", "failed", fixed=fixed, ignore_case=True) == [1, 2]
    assert lines_of(b"FAILED\nerror\nx\n", "failed|ERROR", ignore_case=True) == [1, 2]


def test_broken_utf8_hides_nothing_on_its_line():
    data = b"\xff\xfe error: \xe2\x82 x undefined\nab\xffcd\n"
    assert lines_of(data, "error") == [1]
    assert lines_of(data, "error: .* undefined") == [1]
    assert lines_of(data, "b.c") == [2]
    assert lines_of(data, "b[^x]c") == [2]


def test_nul_bytes_are_bytes():
    assert lines_of(b"\x00\x00foo\x00\nbar\x00\n", "foo") == [1]
    assert lines_of(b"a\x00b\n", "ab") == [1]  # as shown
    assert lines_of(b"a\x00b\n", r"a\x00b") == [1]  # as it is


# ── where it is ──


@pytest.mark.parametrize(
    ("data", "text", "hit"),
    [
        (b"foo", "foo", Hit(1, 0, 0, 3, 3)),
        (b"foo\n", "foo", Hit(1, 0, 0, 3, 3)),
        (b"\n\nxx foo yy\nz", "foo", Hit(3, 2, 5, 8, 11)),
        (b"a\r\nb foo\r\n", "foo", Hit(2, 3, 5, 8, 8)),
        (b"xfoo foo\r\n", r"\bfoo", Hit(1, 0, 5, 8, 8)),  # not the first "foo" of the line
        (b"\x1b[31merror\x1b[0m: foo\n", "error", Hit(1, 0, 5, 10, 19)),  # stands there as it is
        (b"\x1b[31merror\x1b[0m: foo\n", "error: foo", Hit(1, 0, 0, 19, 19)),  # does not: the line's bounds
        (b"x\n10%\r99%\rdone\ny", "^done", Hit(2, 2, 10, 14, 14)),
        (b"x\n10%\r99%\rdone\ny", "10%", Hit(2, 2, 2, 5, 14)),  # overwritten, and still in the bytes
        (b"\x1b[31merror\x1b[0m", r"\x1b\[31m", Hit(1, 0, 0, 5, 14)),
        (b"a\x1b[1mb\x1b[0m\r\n", "ab$", Hit(1, 0, 0, 10, 10)),
        ("é foo".encode(), "foo", Hit(1, 0, 3, 6, 6)),
    ],
)
def test_a_hit_says_its_line_and_its_bytes(data, text, hit):
    assert hits(data, text) == [hit]


def test_the_first_and_the_last_byte_are_found():
    data = b"x" + b"-" * 30 + b"\n" + b"-" * 30 + b"x"
    for sizes in ALL_SIZES:
        assert [(hit.line, hit.start) for hit in hits(data, "x", sizes=sizes)] == [(1, 0), (2, len(data) - 1)]


def test_a_giant_line_gives_every_occurrence_and_other_lines_one():
    data = b"foo foo\n" + b"foo," * 20_000 + b"\nfoo foo\n"
    found = hits(data, "foo")
    assert [hit.line for hit in found] == [1, *[2] * 20_000, 3]
    assert {hit.line_end for hit in found} == {7, 80_008, 80_016}


def test_the_end_of_a_line_longer_than_a_chunk_is_not_said():
    data = b"a\n" + b"-" * 100 + b"foo" + b"-" * 100 + b"foo\nfoo"
    assert hits(data, "foo", sizes=TINY) == [
        Hit(2, 2, 102, 105, None),
        Hit(2, 2, 205, 208, None),
        Hit(3, 209, 209, 212, 212),
    ]


def test_a_match_across_the_edge_of_a_window_is_found_once_wherever_the_edge_is():
    for before in range(60):
        data = b"-" * before + b"foobar" + b"-" * 60
        assert [(hit.start, hit.end) for hit in hits(data, "foobar", sizes=TINY)] == [(before, before + 6)]
        assert [(hit.start, hit.end) for hit in hits(data, "fo+b[a]r", sizes=TINY)] == [(before, before + 6)]


def test_in_a_giant_line_the_edge_of_a_window_is_no_start_and_no_end_of_a_line():
    data = b"a" * 100
    assert [hit.start for hit in hits(data, "^a", sizes=TINY)] == [0]
    assert [hit.start for hit in hits(data, "a$", sizes=TINY)] == [99]
    assert hits(data, r"\ba\b", sizes=TINY) == []


def test_colours_do_not_hide_an_occurrence_in_a_giant_line():
    field = b'\x1b[34m"status"\x1b[0m:\x1b[31m"failed"\x1b[0m,'
    data = b"{" + (b'"ok":1,' * 2_000 + field) * 100 + b"}"
    found = hits(data, '"status":"failed"')
    assert len(found) == 100
    assert {data[hit.start : hit.end] for hit in found} == {b'"status"\x1b[0m:\x1b[31m"failed"'}
    assert len(hits(data, r'"failed"')) == 100
    assert len(hits(data, r"\bfailed\b")) == 100


def test_one_line_of_progress_frames_gives_every_frame_that_matches():
    data = b"".join(b"%3d%% of it\r" % (n % 100) for n in range(20_000))
    assert len(hits(data, " 50%")) == 200


def test_a_hundred_thousand_hits_are_numbered():
    data = b"line of text\n" * 100_000
    for text in ("text", "te.t", "of|text"):
        assert lines_of(data, text) == list(range(1, 100_001))


def test_line_numbers_come_from_the_index_where_there_is_one():
    data = b"".join(b"%d\n" % n for n in range(1, 2_000))
    block = 64
    index = LineIndex(block, tuple(data[:at].count(b"\n") for at in range(0, len(data), block)))
    for text in ("7", "1999", "[05]0$"):
        assert hits(data, text, sizes=SMALL, index=index) == hits(data, text, sizes=SMALL)
        assert hits(data, text, sizes=SMALL, index=LineIndex(block)) == hits(data, text, sizes=SMALL)  # an empty one


class CutShort(MemoryBlob):
    """A file that was cut short after it was measured."""

    size = 500


@pytest.mark.parametrize("sizes", ALL_SIZES)
@pytest.mark.parametrize("data", [b"", b"foo", b"foo\n" * 30, b"foo-" * 30])
def test_an_output_cut_short_while_it_is_searched_gives_what_is_left_of_it(data, sizes):
    found = list(scan(CutShort(data), compile_pattern("foo"), sizes=sizes))
    assert [hit.start for hit in found] == [hit.start for hit in hits(data, "foo", sizes=sizes)]


# ── going on ──


def test_a_search_goes_on_from_the_middle_of_a_line():
    data = b"foo foo foo\nfoo\n"
    assert [(hit.line, hit.line_start, hit.start) for hit in hits(data, "foo", start=5, first_line=7)] == [
        (7, 0, 8),
        (8, 12, 12),
    ]
    assert [hit.start for hit in hits(data, "^foo", start=4)] == [12]
    assert hits(data, "foo", start=len(data)) == []
    assert hits(data, "foo", start=len(data) + 9) == []


def test_a_search_goes_on_from_the_middle_of_a_giant_line():
    data = b"x\n" + b"foo-" * 40 + b"\nfoo"
    whole = hits(data, "foo", sizes=TINY)
    for hit in whole[:-1]:
        assert hits(data, "foo", start=hit.end, first_line=hit.line, sizes=TINY) == [
            other for other in whole if other.start > hit.start
        ]


def test_a_coloured_line_is_found_from_its_middle_on():
    data = b"\x1b[1ma\x1b[0m foo\n\x1b[1mfoo\x1b[0m\n"
    assert [(hit.line, hit.line_start, hit.start) for hit in hits(data, "foo", start=9, first_line=3)] == [
        (3, 0, 10),
        (4, 14, 18),
    ]
    assert [hit.line for hit in hits(data, "^foo", start=10, first_line=3)] == [4]


# ── laws ──

LINES = st.lists(st.text("ab. é", max_size=30).map(str.encode), max_size=12)
ASCII_LINES = st.lists(st.text("ab. ", max_size=40).map(str.encode), max_size=12)
ATOMS = st.sampled_from(
    [
        "a",
        "b",
        "ab",
        "ba",
        r"\.",
        ".",
        "[ab]",
        "[^a]",
        r"\s",
        r"\b",
        "a{1,2}",
        "(a|bb)",
        "(ab|a)",
        "b?",
        "[.b]",
        "(?:a|b a)",
    ]
)
SEQUENCES = st.lists(ATOMS, min_size=1, max_size=3).map("".join)
PATTERNS = st.tuples(
    st.sampled_from(["", "", "^"]),
    st.lists(SEQUENCES, min_size=1, max_size=3).map("|".join),
    st.sampled_from(["", "", "$"]),
).map("".join)


def compiles(text):
    try:
        return compile_pattern(text)
    except PatternError:
        return None


@settings(max_examples=600)
@given(
    lines=ASCII_LINES,
    ends=st.sampled_from([b"\n", b"\r\n"]),
    final=st.booleans(),
    text=PATTERNS.filter(compiles),
    sizes=st.sampled_from(ALL_SIZES),
    data=st.data(),
)
@example(lines=[b"a" * 16], ends=b"\n", final=False, text="a", sizes=TINY, data=None)
def test_it_finds_what_re_finds_line_by_line_from_any_line(lines, ends, final, text, sizes, data):
    output = ends.join(lines) + ends * final
    first_line = data.draw(st.integers(1, output.count(b"\n") + 1)) if data else 1
    start = len(b"".join(output.splitlines(keepends=True)[: first_line - 1]))
    found = [
        (hit.line, hit.line_start, hit.start, hit.end)
        for hit in hits(output, text, start=start, first_line=first_line, sizes=sizes)
    ]
    firsts = {number: hit for number, *hit in reversed(found)}  # a giant line has more
    wanted = expected(output, text, start=start)
    assert sorted(firsts) == [number for number, *_ in wanted]
    for number, line_start, begin, end in wanted:
        line_end = (output + b"\n").index(b"\n", begin)
        giant = line_end - line_start > sizes.giant  # a match across the edge of a window may end there
        assert firsts[number][: 2 if giant else 3] == [line_start, begin, end][: 2 if giant else 3]


CODES = st.sampled_from(
    [b"a", b"b", b"ab", b" ", b"\x1b[1m", b"\x1b[0m", b"\r", b"\b", b"\x00", b"\xff", "é".encode(), b"\n", b"\r\n"]
)


@settings(max_examples=400)
@given(
    parts=st.lists(CODES, max_size=40),
    text=PATTERNS.filter(compiles),
    sizes=st.sampled_from([Sizes(chunk=130, giant=120, overlap=8), SIZES]),
)
def test_a_line_matches_if_it_matches_as_it_was_shown_or_as_it_is(parts, text, sizes):
    data = b"".join(parts)
    pattern = re.compile(text, re.ASCII)  # as \b and \s are in Hyperscan
    lines = data.replace(b"\r\n", b"\n").split(b"\n")
    shown = {n for n, line in enumerate(lines, 1) if pattern.search(clean(line))}
    raw = {n for n, line in enumerate(lines, 1) if line.isascii() and pattern.search(line.decode())}
    broken = {n for n, line in enumerate(lines, 1) if not line.isascii()}  # re has no raw search of characters in these
    found = set(lines_of(data, text, sizes=sizes))
    assert shown | raw <= found <= shown | raw | broken
    for hit in hits(data, text, sizes=sizes):
        assert hit.line == data[: hit.line_start].count(b"\n") + 1
        assert hit.line_start <= hit.start <= hit.end <= hit.line_end


@settings(max_examples=300)
@given(lines=LINES, needle=st.text("ab é", min_size=1, max_size=4), sizes=st.sampled_from(ALL_SIZES))
def test_a_fixed_pattern_is_found_wherever_it_stands(lines, needle, sizes):
    output = b"\n".join(lines)
    found = {hit.start for hit in hits(output, needle, fixed=True, sizes=sizes)}
    every = {match.start() for match in re.finditer(re.escape(needle.encode()), output)}
    assert found <= {at for at in range(len(output)) if output.startswith(needle.encode(), at)}
    assert {output.count(b"\n", 0, at) for at in found} == {output.count(b"\n", 0, at) for at in every}


# ── what is refused ──


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty pattern would match everywhere"),
        ("a*", "would match everywhere"),
        ("^", "would match everywhere"),
        ("$", "would match everywhere"),
        ("^$", "would match empty lines"),
        ("a|", "would match everywhere"),
        (r"\b", "would match everywhere"),
        (r"x?\b", "would match everywhere"),
        ("(", "Missing close parenthesis"),
        ("a)(b", "Unmatched parentheses"),
        ("[z-a]", "Range out of order"),
        ("*a", "Invalid repeat"),
        ("foo(?=bar)", r"linear time and has no look-ahead \(\?=.*foobar"),
        ("foo(?!bar)", "linear time and has no negative look-ahead.*pass over"),
        ("(?<=foo)bar", "linear time and has no look-behind.*foobar"),
        ("(?<!foo)bar", "linear time and has no negative look-behind"),
        (r"(a)\1", r"linear time and has no backreferences such as \\1"),
        (r"(?P<n>a)(?P=n)", "linear time and has no backreferences"),
        ("a\nb", "never crosses a line end"),
        (r"a\nb", "never crosses a line end"),
        (r"\Aa", r"\^ is the start of a line"),
        (r"a\z", r"\$ is the end of a line"),
        (r"a\Z", r"\$ is the end of a line"),
        ("(?-m)^a", "m cannot be switched off"),
        ("(?i-sm:^a)", "m cannot be switched off"),
        (r"a\Cb", "use a dot"),
        (r"\Qa.b\E", "fixed search"),
        ("x{1000}{1000}", "is not a valid pattern"),
        ("(x{1000}){1000}", "repeat less"),
        (r"\pL{1000}", "repeat less"),
        ("x" * (MAX_PATTERN_CHARS + 1), "at most 4,000 characters, not 4,001"),
        ("a\ud800", "lone surrogate"),
    ],
)
def test_a_pattern_that_cannot_be_searched_for_is_refused_with_what_to_write_instead(text, words):
    with pytest.raises(PatternError, match=words) as refused:
        compile_pattern(text)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize(
    ("text", "words"), [("", "empty"), ("a\nb", "line end"), ("x" * 4_001, "4,000"), ("\udcff", "surrogate")]
)
def test_a_fixed_pattern_is_refused_for_less(text, words):
    with pytest.raises(PatternError, match=words):
        compile_pattern(text, fixed=True)


@pytest.mark.parametrize(
    "text", [r"\(?=", "[(?=]", r"[\n]x", r"[^\n]+x", r"\\1", r"\\n", r"\101", "(?i)a", "(?s-i:a)", "[](?!]", r"\[(?:a)"]
)
def test_what_only_looks_like_a_refused_construct_is_not_refused(text):
    compile_pattern(text)


def test_the_engine_prints_nothing():
    code = (
        "from spillover.retrieve.scan import compile_pattern\n"
        "for text in ('(', 'x{1000}{1000}', r'\\pL{1000}'):\n"
        "    try: compile_pattern(text)\n"
        "    except ValueError: pass\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == ("", "")
