"""One line of the journal: written, read, and refused when it is damaged."""

import pytest

from spillover.ledger.entry import MAX_COUNT, MAX_TEXT_BYTES, Entry, decode, encode

FULL = Entry(
    operation="grep",
    outcome="stored",
    when=1_763_000_000.123,
    scope="/home/me/app",
    tool="Bash",
    host="Claude Code",
    command="npm test",
    kind="log",
    ref="npm-7f3a9c2e41d05b86",
    produced=50_000,
    base=9_000,
    shown=2_000,
    notice=70,
    milliseconds=12,
    lines=((120, 180), (300, 300)),
    near=3,
)


def test_an_entry_is_read_back_as_it_was_written():
    line = encode(FULL)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode(line[:-1]) == FULL


@pytest.mark.parametrize("word", ["a\tb", "a\nb", "a\r\x1b[31mb", "a\u2028b", "\x00"])
def test_what_would_break_a_line_is_made_a_space(word):
    line = encode(Entry(operation="clip", outcome="whole", when=0, scope="/", tool=word, command=word))
    entry = decode(line[:-1])
    assert entry is not None
    assert entry.tool.isprintable()
    assert line.count(b"\n") == 1


def test_the_longest_line_is_written_in_one_piece():
    long = "ü" * 5_000
    ranges = tuple((10**9 + number, 10**9 + number) for number in range(100))
    entry = Entry(
        operation="clip", outcome="lost", when=9e9, scope="/" + long, tool=long, host=long, command=long, kind=long,
        ref=long, produced=10**20, base=-5, shown=10**20, notice=10**20, milliseconds=10**20, lines=ranges, near=10**9,
    )  # fmt: skip
    line = encode(entry)
    assert len(line) < 4_096
    read = decode(line[:-1])
    assert read is not None
    assert (read.produced, read.base) == (MAX_COUNT, 0)
    assert read.scope.startswith("/sha256/")
    assert all(len(getattr(read, name).encode()) <= most for name, most in MAX_TEXT_BYTES.items())


def test_a_line_of_quotes_is_written_in_one_piece_too():
    long = '"\\' * 5_000
    entry = Entry(operation="clip", outcome="lost", when=1, scope="/" + '"' * 1_000, tool=long, command=long, ref=long)
    line = encode(entry)
    assert len(line) < 4_096
    assert decode(line[:-1]) is not None


def test_a_line_that_was_cut_short_is_no_entry():
    line = encode(FULL)
    assert [at for at in range(len(line) - 1) if decode(line[:at]) is not None] == []


def test_a_line_that_lost_its_end_and_the_next_are_no_entry():
    line = encode(FULL)
    assert decode(line[:100] + line[:-1]) is None
    for before, after in ((b"grep", b"grip"), (b"50000", b"5x000"), (b"50000", b"9" * 3_000), (b"50000", b"-1")):
        assert decode(line[:-1].replace(before, after)) is None
