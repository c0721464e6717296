"""What a person would see of raw bytes."""

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover.document.clean import apply_backspaces, clean, clean_and_count, flatten, is_plain, show_controls
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
    # carriage returns: of a progress bar the last frame (more in test_progress.py), of everything else all rows
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
    # backspaces reach into no line before (more in WRITTEN)
    (b"a\n\b\bb", "a\nb"),
    # characters that nobody sees are spelled out (more below)
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
            "\u200b".encode(),
            "\ufe0e".encode(),
            "\u00ad".encode(),
            "\U000e0100".encode(),
            "\u20e3".encode(),
            "漢س".encode(),
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


def tags(text):
    return "".join(chr(0xE0000 + ord(char)) for char in text)


HIDDEN = [
    # attack, text, what is read
    ("trojan source", "if admin\u202e } \u2066if", "if admin<U+202E> } <U+2066>if"),
    ("marks", "a\u200eb\u200fc\u061cd", "a<U+200E>b<U+200F>c<U+061C>d"),
    ("smuggled in tags", "hi" + tags("rm"), "hi<U+E0072><U+E006D>"),
    (
        "tags behind a flag that is none",
        "🏴" + tags("gbxyz\x7f"),
        "🏴" + "".join(f"<U+E00{ord(c):02X}>" for c in "gbxyz\x7f"),
    ),
    ("split words", "FA\u200bIL\u2060ED\u2064", "FA<U+200B>IL<U+2060>ED<U+2064>"),
    ("joiners in ASCII", "a\u200db\u200cc", "a<U+200D>b<U+200C>c"),
    ("bits in joiners", "س\u200c\u200d\u200c", "س<U+200C><U+200D><U+200C>"),
    ("bytes in selectors", "😀\ufe01\ufe0f\U000e0101", "😀<U+FE01><U+FE0F><U+E0101>"),
    ("a selector behind a letter", "x\ufe0fé\ufe0f", "x<U+FE0F>é<U+FE0F>"),
    ("a byte order mark inside", "a\ufeffb", "a<U+FEFF>b"),
    ("a soft hyphen on its own", "a \u00ad b\u00ad", "a <U+00AD> b<U+00AD>"),
    ("annotations", "a\ufff9b\ufffac\ufffb", "a<U+FFF9>b<U+FFFA>c<U+FFFB>"),
    ("fillers", "a\u3164b\uffa0\u115f\u1160", "a<U+3164>b<U+FFA0><U+115F><U+1160>"),
    (
        "others",
        "a\u034f\u17b4\u180e\U0001d173\U0001bca0\U000e0fff",
        "a<U+034F><U+17B4><U+180E><U+1D173><U+1BCA0><U+E0FFF>",
    ),
]


@pytest.mark.parametrize(("attack", "text", "read"), HIDDEN, ids=[row[0] for row in HIDDEN])
def test_what_nobody_would_see_is_spelled_out(attack, text, read):
    assert clean(text.encode()) == read
    assert show_controls(text.encode()) == read


WRITING = [
    ("emoji", "👩‍👩‍👧 ❤️‍🔥 ✔️ 1️⃣ #️⃣ 🏳️‍🌈 👨🏽‍💻 🇩🇪 ☎︎ ©️"),
    ("flags with tags", "🏴" + tags("gbeng\x7f") + " 🏴" + tags("gbsct\x7f") + " 🏴" + tags("gbwls\x7f")),
    ("Persian", "می‌خواهم این کتاب‌ها را بخوانم"),  # noqa: RUF001
    ("Hindi, Sinhala, Bengali", "क्‍ष ක්‍ෂ র‍্য"),
    ("Thai with word breaks", "ไทย\u200bคำ"),
    ("variants of ideographs", "葛\U000e0100城 辻\ufe00"),
    ("Mongolian", "ᠠ\u180bᠪ"),
    ("soft hyphens", "Donau\u00addampf\u00adschiff"),
    ("byte order marks of two files", "\ufeffone\n\ufefftwo"),
    ("German and typography", "„Größe“ – »schön« … ’tis 5 % · ½"),  # noqa: RUF001
    ("CJK", "漢字、かな。中文，测试！한국어"),  # noqa: RUF001
    ("Arabic, Hebrew", "مرحبا بالعالم שלום"),
    ("line drawing", "├── a\n└── b ✓ ✗ ● ►"),
]


@pytest.mark.parametrize(("script", "text"), WRITING, ids=[row[0] for row in WRITING])
def test_what_writing_needs_stays(script, text):
    assert clean(text.encode()) == text


def test_every_default_ignorable_and_bidi_character_is_seen_by_the_quick_look():
    """The quick clean_and_count goes by the bytes of UTF-8; one it does not know would pass everywhere."""
    ignorable = [
        0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), *range(0x200B, 0x2010),
        *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0x3164, *range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0,
        *range(0xFFF0, 0xFFFC), *range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000),
    ]  # fmt: skip
    bidi = [code for code in range(0x110000) if unicodedata.bidirectional(chr(code)) in
            {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI", "BN"} and code > 0x9F]  # fmt: skip
    for code in {*ignorable, *bidi} - set(range(0xD800, 0xE000)):
        text = f"a{chr(code)} b"
        assert not is_plain(text.encode()), hex(code)
        assert clean(text.encode()) == f"a<U+{code:04X}> b", hex(code)
