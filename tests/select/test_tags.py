"""Markup read in arrays is what it is when it is read tag by tag."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover.base.work import UNBOUNDED
from spillover.select import elements, markup, pieces
from spillover.select.tags import read_tags

NAMES = (
    "div",
    "p",
    "LI",
    "li",
    "td",
    "testcase",
    "failure",
    "script",
    "br",
    "input",
    "h2",
    "a-very-long-name",
    "form",
    "x",
)
ATTRIBUTES = ("", " a", " class='row'", ' status="failed"', " a='1' b=\"2\"", ' t="it\'s"', " a=/", " /")
TEXTS = ("", " ", "\n", "text ", "an Error: here", "FAILED\n", "\n  ", "a > b", "it's ", "5 < 6", "word " * 300)
OTHERS = (
    "<!-- note -->",
    "<!-- a\nb -->",
    "<![CDATA[ x ]]>",
    "<?xml version='1.0'?>",
    "<!DOCTYPE html>",
    "<!DOCTYPE a [",
    "<!-->",
    "</>",
    "<br/>",
    "<p>",
    "</div>",
)


def made_elements():
    parts = st.one_of(st.sampled_from(TEXTS), st.sampled_from(TEXTS[:7]), st.sampled_from(OTHERS[:5]))
    opened = st.tuples(st.sampled_from(NAMES), st.sampled_from(ATTRIBUTES))

    def wrap(inner):
        return st.tuples(opened, st.lists(inner, max_size=9)).map(
            lambda made: f"<{made[0][0]}{made[0][1]}>{''.join(made[1])}</{made[0][0]}>"
        )

    return st.recursive(parts, wrap, max_leaves=40)


def units(data, monkeypatch, reader):
    with monkeypatch.context() as patch:
        patch.setattr(markup, "read_pieces", reader)
        return markup._units(data, UNBOUNDED, inside=False)


@settings(max_examples=120)
@given(st.lists(st.one_of(made_elements(), made_elements(), st.sampled_from(OTHERS)), max_size=8), st.booleans())
def test_both_ways_of_reading_find_the_same(made, around):
    text = "".join(made)
    data = (f"<html>\n{text}\n</html>" if around else text).encode()
    with pytest.MonkeyPatch.context() as patch:
        assert markup._units(data, UNBOUNDED, inside=False) == units(data, patch, lambda *_: None)


@pytest.mark.parametrize("count", [5, 6, 40])
def test_what_repeats_and_what_failed_is_told_in_arrays_too(count, monkeypatch):
    cases = "".join(f"<testcase name='t{n}'><p>ok</p></testcase>\n" for n in range(count))
    failed = "<testcase><failure>expected 1, got 2</failure></testcase>\n"
    data = f"<testsuite>\n{cases}{failed}{cases}</testsuite>".encode()
    found = pieces.read_pieces(data, UNBOUNDED)
    assert found is not None
    assert markup._units(data, UNBOUNDED, inside=False) == units(data, monkeypatch, lambda *_: None)


@pytest.mark.parametrize(
    "text",
    ["<a><b></a></b>", "<a>1 > 0</a>", "<a t='>'>x</a>", "<a t=it's>x</a>", "<p>one<p>two</p></p>", "<a>", "</a>", "<a><!-- x", "text", "<3", "<script>x</script>"],
)  # fmt: skip
def test_what_is_not_written_by_the_rules_is_left_to_others(text):
    assert read_tags(text.encode(), elements.VOID, elements.RAW, elements.UNCLOSED) is None
