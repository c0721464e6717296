"""Characters nobody sees are spelled out; what writing needs stays as it is."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover.document.clean import clean, is_plain, show_controls


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


@settings(max_examples=500)
@given(
    st.text(
        alphabet=st.sampled_from(
            "ab \n1😀❤漢سک\u200b\u200c\u200d\ufe0f\ufe0e\ufeff\u00ad\u202e\U000e0041\U000e0100\u20e3"
        )
    )
)
def test_what_was_made_visible_stays_as_it_is(text):
    once = clean(text.encode())
    assert clean(once.encode()) == once
    assert once == "\n".join(clean(line.encode()) for line in text.split("\n"))
    assert "\u202e" not in once
