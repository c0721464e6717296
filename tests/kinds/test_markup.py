"""HTML and XML: whole tags, text, and what failed."""

import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from chosen_by import clipped_by
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover.kinds import markup

clipped = clipped_by(markup.select)


def junit(tests, failing, *, pretty=True, suites=1, trace=5):
    """A report as test runners write it."""
    root = ET.Element("testsuites")
    for suite in range(suites):
        inside = ET.SubElement(root, "testsuite", name=f"suite-{suite}", tests=str(tests), failures=str(len(failing)))
        for number in range(tests):
            case = ET.SubElement(inside, "testcase", classname="tests.things", name=f"test_{number}", time="0.01")
            if number in failing:
                failure = ET.SubElement(case, "failure", message=f"assert {number} > 0")
                failure.text = "Traceback:\n" + "  in a <file>\n" * trace + f"AssertionError: {number}\n"
    if pretty:
        ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True)


def whole_tags(text, spans):
    """No tag, comment or CDATA section has an edge of a span inside it."""
    edges = {edge for span in spans for edge in (span.start, span.end)}
    tokens = re.finditer(rb"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<[^<>]*>", text.encode(), re.DOTALL)
    return not [edge for token in tokens for edge in edges if token.start() < edge < token.end()]


@pytest.mark.parametrize("pretty", [True, False])
def test_the_failing_tests_among_thousands_are_there_with_their_suite(pretty):
    text = junit(5_000, {1_234, 4_000}, pretty=pretty)
    clip, spans, full = clipped(text, tokens=500)
    for number in (1_234, 4_000):
        assert f'<testcase classname="tests.things" name="test_{number}" time="0.01">' in clip.text
        assert f"AssertionError: {number}" in clip.text
    assert '<testsuite name="suite-0" tests="5000" failures="2">' in clip.text
    assert 'name="test_0"' in clip.text
    assert 'name="test_4999"' in clip.text
    assert clip.text.rstrip().endswith("</testsuites>")
    assert whole_tags(text, spans)
    assert full <= 1


def test_what_failed_says_so():
    _, spans, _ = clipped(junit(3_000, {1_234}), tokens=500)
    assert "testcase failed" in [span.why for span in spans]


def test_when_failures_do_not_fit_all_of_them_are_named_at_least():
    text = junit(3_000, set(range(100, 2_900, 200)), trace=300)
    clip, spans, _ = clipped(text, tokens=1_500)
    for number in range(100, 2_900, 200):
        assert f'name="test_{number}"' in clip.text
    assert whole_tags(text, spans)


def test_in_a_report_too_long_to_be_read_as_a_whole_failures_are_found_with_their_suite():
    text = junit(2_500, {2_100}, suites=40)
    assert len(text) > markup.MAX_BYTES
    text = text.replace(
        '<testcase classname="tests.things" name="test_9"',
        '<!-- <failure> that is none --><testcase classname="tests.things" name="test_9"',
    )
    clip, spans, _ = clipped(text, tokens=6_000)
    for suite in range(markup.MAX_FAILURES):  # in as many as are looked at
        assert f'<testsuite name="suite-{suite}"' in clip.text
    assert clip.text.count("AssertionError: 2100") >= markup.MAX_FAILURES
    assert whole_tags(text, spans)


PAGE = (
    "<!DOCTYPE html>\n<html><head><title>The page</title><style>" + "body > p { color: red }\n" * 400 + "</style>\n"
    "<script>" + "if (a < b) { go('<p>') }\n" * 600 + "</script></head>\n<body><h1>What it is</h1>\n"
    + "".join(f"<p>Paragraph {number} has <b>bold</b> text.<br></p>\n" for number in range(12))
    + "<table>" + "".join(f"<tr><td>{number}<td>{number**2}</tr>\n" for number in range(3_000)) + "</table>\n"
    "<h2>At last</h2><ul>" + "".join(f"<li>item {number}\n" for number in range(500)) + "</ul>\n"
    "<svg>" + "<path d='M 0 0 L 9 9'/>" * 900 + "</svg></body></html>\n"
)  # fmt: skip


def test_of_a_page_headings_and_text_are_shown_and_scripts_are_not():
    clip, spans, full = clipped(PAGE, tokens=900)
    for words in (
        "<title>The page</title>",
        "<h1>What it is</h1>",
        "<h2>At last</h2>",
        "<td>2999",
        "item 499",
        "</html>",
    ):
        assert words in clip.text
    for number in range(2):
        assert f"Paragraph {number} has" in clip.text
    assert "color: red" not in clip.text
    assert "if (a < b)" not in clip.text
    assert "<path" not in clip.text
    assert full <= 1
    assert spans[0].start == 0


def test_the_text_of_a_page_that_is_left_parses_to_the_same_words():
    class Words(HTMLParser):
        def __init__(self):
            super().__init__()
            self.seen = []

        def handle_data(self, data):
            self.seen += data.split()

    _, spans, _ = clipped(PAGE, tokens=900)
    words = Words()
    words.feed("".join(PAGE.encode()[span.start : span.end].decode() for span in spans))
    assert set(words.seen) <= set(re.sub(r"<[^>]*>", " ", PAGE).split())


def test_a_long_text_is_cut_between_words_or_characters_and_keeps_its_ends():
    for middle in ("word " * 9_000, "é" * 30_000, "line\n" * 9_000):
        text = f"<doc><head>short</head><body>BEGIN {middle} END</body><foot>short</foot></doc>"
        clip, spans, _ = clipped(text, bytes=2_400)
        assert "BEGIN" in clip.text
        assert "END</body>" in clip.text
        for span in spans:
            text.encode()[span.start : span.end].decode()


def test_a_comment_or_cdata_is_whole_or_not_there():
    inner = "".join(
        f"<a n='{number}'>a <![CDATA[ <b> {'x' * 90} </b> ]]></a>\n<!-- <c> {number} -->\n" for number in range(300)
    )
    text = f"<doc>\n{inner}</doc>\n"
    _, spans, _ = clipped(text, tokens=700)
    assert spans
    assert whole_tags(text, spans)


@pytest.mark.parametrize(
    "text", ["", "word\n" * 5_000, "<" * 9_000, "a <b> c\n" * 3_000, "<stdin>:1: error\n" * 0 + "x" * 9_000]
)
def test_what_is_no_markup_is_left_to_others(text):
    assert not clipped(text, tokens=200)[1]


@pytest.mark.parametrize("piece", ["<a>", "</a>", "<a b='", "<!--", "<a><b></a>", "<script>", "<li>", "<![CDATA["])
def test_no_markup_however_odd_takes_long(piece):
    assert clipped("<x>" + piece * 100_000, tokens=300)[0].text  # what grows with the square would take minutes


PIECE = st.sampled_from(["<a>", "</a>", "<b x='>'>", "</b>", "<br/>", "<!-- <a> -->", "<![CDATA[ </a> ]]>", "text ", "\n",
                         "é" * 40, "<li>", "w " * 400, "<script>a<b</script>", "<failure>no</failure>", " FAILED "])  # fmt: skip
TOKEN = re.compile(rb"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<b x='>'>|<script>|</script>|<[a-z/][^<>]*>", re.DOTALL)


@settings(max_examples=200)
@given(st.lists(PIECE, max_size=150), st.integers(200, 3_000))
def test_whatever_the_output_and_the_limits_no_tag_is_cut_and_it_fits(pieces, limit):
    text = "<doc>" + "".join(pieces) + "</doc>"
    clip, spans, full = clipped(text, bytes=limit)
    assert len(clip.text.encode()) <= limit
    data, at = text.encode(), -1
    edges = set()
    for span in spans or []:
        assert at < span.start < span.end <= len(data)
        at = span.end
        data[span.start : span.end].decode()
        edges |= {span.start, span.end}
    assert not [edge for token in TOKEN.finditer(data) for edge in edges if token.start() < edge < token.end()]
    assert full <= 1


@settings(max_examples=60)
@given(st.lists(PIECE, min_size=50, max_size=400), st.integers(300, 2_000), st.integers(30, 900))
def test_no_tag_is_cut_either_where_only_parts_are_looked_at(pieces, limit, around):
    before = markup.MAX_BYTES, markup.BLOCK_BYTES, markup.AROUND_BYTES
    markup.MAX_BYTES, markup.BLOCK_BYTES, markup.AROUND_BYTES = 10, 4 * around, around
    try:
        # No ">" inside of a tag here: only a look at the whole could tell.
        text = "<doc>" + "".join(piece for piece in pieces if "'" not in piece and "script" not in piece) + "</doc>"
        _, spans, _ = clipped(text, bytes=limit)
    finally:
        markup.MAX_BYTES, markup.BLOCK_BYTES, markup.AROUND_BYTES = before
    assert whole_tags(text, spans or [])
