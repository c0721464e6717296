"""What a person would see of raw bytes."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover.document.clean import clean, clean_and_count, flatten, is_plain, show_controls
from spillover.testing import byte_by_byte

SEEN = [
    # escape codes
    (b"\x1b[31mred\x1b[0m", "red"),
    (b"\x1b[2K\x1b[1Gdone", "done"),
    (b"\x1b[38;5;196mx\x1b[m", "x"),
    (b"\x1b]0;a title\x07x", "x"),
    (b"\x1b]8;;https://e.x\x1b\\link\x1b]8;;\x1b\\", "link"),
    (b"\x1bPq#0\x1b\\y", "y"),
    (b"\x1b(Bplain", "plain"),
    (b"ends in \x1b", "ends in "),
    (b"ends in \x1b[", "ends in "),
    # a string that is never closed gives up its opening only, and never the next line
    (b"\x1b]0;open\nnext line", "0;open\nnext line"),
    # carriage returns: of a progress bar the last frame (more in test_frames.py), of everything else all rows
    (b"10%\r20%\r30%", "30%"),
    (b"10%\r20%\r30%\r\nnext", "30%\nnext"),
    (b"a\rb\nc\rd\ne", "a\nb\nc\nd\ne"),
    (b"FATAL: 3 failed\rok\n", "FATAL: 3 failed\nok\n"),
    (b"x\r   \ry", "x\ny"),
    # what the program erased itself is gone on every screen; but for bad news
    (b"\x1b[31mred\x1b[0m\r\x1b[Kblue", "blue"),
    (b"travis_fold:start:x\r\x1b[0K$ make\n", "$ make\n"),
    (b"travis_fold:end:x\r\x1b[0K\nnext", "\nnext"),
    (b"wait\x1b[2K\rdone", "done"),
    (b"|\x1b[1G\x1b[0K/\x1b[1G\x1b[0Kdone", "done"),
    (b"FATAL: 3 failed\r\x1b[Kok\n", "FATAL: 3 failed\nok\n"),
    (b"first\rsecond\r\x1b[Kthird\n", "first\nthird\n"),
    (b"a\x18b\r\x1b[Kc\r\x18d", "c\nd"),  # the byte that stands for it means nothing where it was in the output
    (b"one\r\ntwo\r\n", "one\ntwo\n"),
    (b"text\r", "text"),
    (b"\r\n\r\n", "\n\n"),
    (b"x\r\r\n", "x\n"),
    # backspaces, as man pages use them; none reaches into the line before
    (b"N\bNA\bAM\bM", "NAM"),
    (b"_\bu_\bl", "ul"),
    (b"\b\bx", "x"),
    (b"a\n\b\bb", "a\nb"),
    (b"abc\b\bXY", "aXY"),
    (b"abc\b\b", "abc"),  # going back erases nothing
    # characters that nobody sees are spelled out (more in test_invisible.py)
    ("a\u202eb".encode(), "a<U+202E>b"),
    (b"a\xe2\x00\x80\xaeb", "a<U+202E>b"),  # what dropping a control byte puts together, too
    # other control bytes are dropped; a tab is text
    (b"a\x00b\x07c\x7fd\x0be\x0cf", "abcdef"),
    (b"a\tb", "a\tb"),
    # UTF-8, broken UTF-8, and characters that some readers take for line ends
    ("é😀".encode(), "é😀"),
    (b"ok \xff\xfe ok", "ok \ufffd\ufffd ok"),
    (b"cut \xf0\x9f\x98", "cut \ufffd"),
    ("a\u2028b\u2029c".encode(), "a b c"),
    ("a\x85b\x9bc".encode(), "abc"),
    ("\ud83d".encode("utf-8", "surrogatepass"), "\ufffd\ufffd\ufffd"),
    (b"", ""),
]


@pytest.mark.parametrize(("raw", "seen"), SEEN)
def test_bytes_are_shown_as_a_person_would_see_them(raw, seen):
    assert clean(raw) == seen


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        (b"", True),
        (b"text\twith\ttabs\n", True),
        ("é\u2027".encode(), True),
        (b"\xff broken", True),  # decoding takes care of it; nothing is to be cleaned away
        (b"a\r\n", False),
        (b"\x1b", False),
        (b"\x00", False),
        (b"\x7f", False),
        ("\x85".encode(), False),
        ("\u2028".encode(), False),
        ("\u202e".encode(), False),
        ("\U000e0041".encode(), False),
    ],
)
def test_plain_bytes_need_no_cleaning(raw, plain):
    assert is_plain(raw) is plain


def test_who_asks_for_the_raw_bytes_sees_every_control_character():
    assert show_controls(b"a\x1b[1mb\r\n\x00\t\x7f\xff") == "a␛[1mb␍\n␀\t␡\ufffd"


FEW = settings(max_examples=200)
RAW = st.lists(
    st.sampled_from(
        [
            b"\r",
            b"\n",
            b"\r\n",
            b"\x08",
            b"\x1b",
            b"\x1b[1m",
            b"\x1b]0;",
            b"\x07",
            b"\x00",
            b"\xc3",
            b"\xa9",
            b"FATAL: 3 failed",
            b"10%",
            b"20%",
            b"took 12 ms",
            b"_\x08N",
            b"[===>    ] 3/20: foo",
            b"working",
            "\u202e".encode(),
            "\u200d".encode(),
            "️".encode(),
            "❤".encode(),
            "\U000e0041".encode(),
            "\ufeff".encode(),
        ]
    )
    | st.binary(max_size=4)
).map(b"".join)


@FEW
@given(RAW)
def test_line_n_of_the_flat_view_is_line_n_of_the_output(raw):
    assert flatten(raw).count("\n") == raw.count(b"\n")
    assert show_controls(raw).count("\n") == raw.count(b"\n")
    if b"\r" not in raw.replace(b"\r\n", b"\n"):
        assert flatten(raw) == clean(raw)


@FEW
@given(RAW)
def test_no_line_changes_what_another_looks_like(raw):
    assert clean(raw) == "\n".join(clean(line) for line in raw.split(b"\n"))
    assert clean_and_count(raw)[1] == sum(clean_and_count(line)[1] for line in raw.split(b"\n"))


@FEW
@given(RAW)
def test_nothing_is_left_that_a_terminal_would_obey(raw):
    text = clean(raw)
    assert not [
        char for char in text + show_controls(raw) if (char < " " and char not in "\t\n") or "\x7f" <= char < "\xa0"
    ]
    assert not set(text + show_controls(raw)) & set(
        "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    )
    assert len(text.splitlines()) == len(text.removesuffix("\n").split("\n")) if text else True


@FEW
@given(RAW)
def test_what_is_clean_stays_as_it_is(raw):
    text = clean(raw)
    assert clean(text.encode()) == text


@FEW
@given(st.text())
def test_text_is_its_own_view_unless_it_holds_control_characters(text):
    if is_plain(raw := text.encode()):
        assert clean(raw) == text


@FEW
@given(RAW)
def test_nothing_printed_is_gone_unless_it_is_counted(raw):
    """What `printf 'FATAL: 3 failed\\rok'` was shown as once: ok."""
    text, left_out = clean_and_count(raw)
    if not left_out:
        assert not [word for word in printed(raw) if word not in text.encode()]


def printed(raw):
    """The words in the bytes, once escape codes and overstrikes are out of the way."""
    plain = re.sub(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)|[ -/]*[0-~])?", b"", raw)
    return set(re.findall(rb"[A-Za-z0-9%]{3,}", plain.translate(None, b"\x00\x07")))


def test_cleaning_is_not_for_chunks_which_is_why_it_runs_on_stored_bytes():
    whole = b"\x1b[31mred\x1b[0m \xf0\x9f\x98\x80 10%\rred \xf0\x9f\x98\x80 20%"
    assert clean(whole) == "red 😀 20%"
    assert "".join(map(clean, byte_by_byte(whole))) != clean(whole)
