"""What is left of text that backspaces went back over."""

import pytest

from spillover.document.clean import apply_backspaces

WRITTEN = [
    # as written, as shown, in how many places something else stood there
    ("N\bNA\bAM\bM\bME\bE", "NAME", 0),
    ("_\bu_\bl", "ul", 0),
    ("u\b_l\b_", "ul", 0),
    ("+\bo item", "o item", 0),
    ("abc\b\bXY", "aXY", 1),
    ("abc\b\bX", "aXc", 1),
    ("abc\b\b", "abc", 0),
    ("fatal\b\b\b\b\bfine ", "fine ", 1),
    ("a\b \bb", "b", 1),
    ("|\b/\b-\b\\\b|\bdone", "done", 5),
    ("   \b\b\bxyz", "xyz", 0),
    ("\b\bx", "x", 0),
    ("one\n\b\btwo", "one\ntwo", 0),
    ("é\bé漢\b漢", "é漢", 0),
]


@pytest.mark.parametrize(("written", "shown", "erased"), WRITTEN)
def test_what_is_written_over_is_counted_unless_it_is_bold_or_underlined(written, shown, erased):
    assert apply_backspaces(written) == (shown, erased)
