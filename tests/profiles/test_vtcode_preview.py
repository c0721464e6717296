"""vtcode's byte previews: the vectors `vtcode.truncate_byte_budget`, `vtcode.condense`, `vtcode.tail_preview`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover.profiles.vtcode_preview import beginning, condense, ending, size, tail_preview, truncate_byte_budget

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("text", "most", "suffix", "cut"),  # vectors.json: vtcode.truncate_byte_budget; the last two from its tests
    [
        ("hello world", 5, "...", "hello..."),
        ("こんにちは", 5, "…", "こ…"),
        ("こんにちは", 6, "…", "こん…"),
        ("AB日本語CD", 4, "..", "AB.."),
        ("AB日本語CD", 5, "..", "AB日.."),
        ("👋🌍", 5, "!", "👋!"),
        ("abc", 0, "...", "..."),
        ("hi", 10, "...", "hi"),
        ("こん", 6, "…", "こん"),
    ],
)
def test_a_beginning_within_bytes_and_a_suffix(text, most, suffix, cut):
    assert truncate_byte_budget(text, most, suffix) == cut


def test_both_ends_with_how_many_bytes_are_not_there():  # vectors.json: vtcode.condense
    assert condense("a" * 7 + "é" + "b" * 8, 8, 4) == "aaaaaaa\n\n… [6 bytes omitted] …\n\nbbbb"
    assert condense("a" * 12_000) == "a" * 12_000
    condensed = condense("a" * 20_000)
    assert "… [8000 bytes omitted] …" in condensed
    assert size(condensed) == 12_032


LINES = "\n".join(f"line-{number}" for number in range(20))


@pytest.mark.parametrize(
    ("text", "most", "lines", "shown"),  # vectors.json: vtcode.tail_preview, the first three
    [
        (LINES, 40, 3, "… [126 bytes omitted] …\nline-17\nline-18\nline-19"),
        ("a\nb\nc\n", 1_000, 2, "… [4 bytes omitted] …\nc\n"),
        ("", 1_000, 2, ""),
        ("a\nb", 1_000, 2, "a\nb"),
        ("one long line", 4, 2, "… [9 bytes omitted] …\nline"),
        ("日本語", 4, 2, "… [6 bytes omitted] …\n語"),
        ("abc", 0, 2, "… [3 bytes omitted] …\n"),
        ("abc", 9, 0, "… [3 bytes omitted] …\n"),
    ],
)
def test_the_last_lines_below_how_many_bytes_are_not_there(text, most, lines, shown):
    assert tail_preview(text, most, lines) == shown


@given(ANY_TEXT, st.integers(-1, 50))
def test_no_character_is_ever_split(text, most):
    first, last = beginning(text, most), ending(text, most)
    assert text.startswith(first)
    assert text.endswith(last)
    assert size(first) <= max(0, most)
    assert size(last) <= max(0, most)
    if size(text) > most:
        assert size(text[: len(first) + 1]) > most
        assert size(text[len(text) - len(last) - 1 :]) > most


@given(ANY_TEXT, st.integers(0, 50), st.integers(0, 50))
def test_what_is_shown_and_what_is_omitted_add_up(text, head, tail):
    condensed = condense(text, head, tail)
    if condensed != text:
        omitted = int(condensed.partition("… [")[2].partition(" bytes omitted")[0]) if "… [" not in text else None
        assert omitted in (None, size(text) - size(beginning(text, head)) - size(ending(text, tail)))
