"""The parts of an output, as each kind lists them: sections, families of failures, keys, files, the first row."""

import json
import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover.document.document import Document
from spillover.kinds.json import value
from spillover.kinds.log import outline
from spillover.kinds.log.lines import templates
from spillover.kinds.log.outline import MAX_REMEMBERED, survey
from spillover.source.blob import MemoryBlob
from spillover.testing import peak_memory

#: Two commands; one fails in two ways.
LOG = b"""\
$ ./configure
checking for header.h... yes
$ make -k
src/core/alloc.c:212:17: error: too few arguments to function 'grow'
src/net/ring.c:9:5: error: too few arguments to function 'push'
src/net/ring.c:10:5: warning: unused variable 'x'
make: *** [Makefile:8: build/ring.o] Error 1
$ make test
12 tests, 0 failures
"""


def json_parts(data):
    """Return how many members JSON has, and the titles of the first."""
    contents = value.outline(Document.from_bytes(data))
    return (0, []) if contents is None else (contents.total, [part.title for part in contents.parts])


def test_of_a_stamped_log_the_message_is_looked_at():
    stamped = b"".join(b"2026-11-15T23:33:23.0000000Z " + line + b"\n" for line in LOG.splitlines())
    seen, plain = survey(MemoryBlob(stamped)), survey(MemoryBlob(LOG))
    assert seen.failures.lines == plain.failures.lines == 3
    places = [[(each.first, each.last) for each in found.commands.ranked()] for found in (seen, plain)]
    assert places[0] == places[1] == [(3, 7), (1, 2), (8, 9)]


def test_what_went_well_is_no_failure():
    well = b"test_timeout ... ok\ntests/test_crash.py::test_a PASSED\n0 errors, 0 failures\nDownloading abort.tar\n"
    assert survey(MemoryBlob(well)).failures.lines == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b"src/a.c:1:2: error: no x", b"lib/b.c:33:1: error: no x"),
        (b"[ 12%] Building C object src/a.c.o", b"[100%] Building C object lib/b/c.c.o"),
        (b"unused variable 'a'", b"unused variable 'other'"),
        (b"took   3 ms", b"took 12 ms"),
    ],
)
def test_lines_that_differ_in_names_places_and_numbers_are_alike(one, other):
    first, second = templates(one + b"\n" + other + b"\n")
    assert first == second


@pytest.mark.parametrize(
    ("one", "other"), [(b"took 3 ms", b"took 3 s"), (b"a 1", b"a 1 1"), (b"error: x", b"error: y")]
)
def test_lines_that_differ_in_words_are_not(one, other):
    first, second = templates(one + b"\n" + other + b"\n")
    assert first != second


def test_there_is_a_template_for_every_line_and_empty_ones_are_lines():
    assert templates(b"a\n\n\nb 1\n") == [b"a", b"", b"", b"b\x01"]
    assert templates(b"\n") == [b""]
    assert templates(b"") == []


@pytest.mark.parametrize("data", [b"{}", b"[]", b"3", b'"x"', b"{", b"}{", b'{"a": }', b"[1,2", b"]]]][[[", b""])
def test_json_without_members_and_what_is_none_has_no_keys(data):
    assert json_parts(data) == (0, [])


@given(st.dictionaries(st.text(), st.recursive(st.none() | st.text(), st.lists, max_leaves=5), min_size=1))
def test_the_keys_of_any_object_are_found(members):
    total, titles = json_parts(json.dumps(members).encode())
    assert total == len(members)
    assert [json.JSONDecoder().raw_decode(title)[0] for title in titles] == list(members)[: len(titles)]


def test_a_key_of_nothing_but_quotes_takes_no_longer_than_another():
    name = '"' * 1_000_000
    assert json_parts(json.dumps({name: 1}).encode())[0] == 1


PIECES = [
    b"$ make\n", b"+ x\n", b"=== A title ===\n", b"# Head\n", b"error: no such file\n", b"src/a.c:1:2: error: bad\n", b"\n", b"ok 1\n",
    b"warning: odd\n", b"x" * 900, "é長 ".encode(), b"\x1b[31mFAILED\x1b[0m\n", b"10%\r20%\r", b"\xff\x00", b"   \n", b"FAILED\n \n",
    b"[Next: spill read me]\n", b"2026-11-15 23:33:23,331 INFO error: x\n", b'{"a": 1}\n', b"1,2\n",
]  # fmt: skip


@settings(max_examples=60)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join), st.sampled_from([64, 300, 1_000]))
def test_blocks_make_no_difference_to_what_is_counted(data, size):
    whole = survey(MemoryBlob(data))
    before = outline.BLOCK_BYTES, outline.SAMPLE_BYTES
    outline.BLOCK_BYTES, outline.SAMPLE_BYTES = size, 1 << 30
    try:
        pieces = survey(MemoryBlob(data))
    finally:
        outline.BLOCK_BYTES, outline.SAMPLE_BYTES = before
    assert (pieces.longest_line, pieces.longest_bytes) == (whole.longest_line, whole.longest_bytes)
    if max(map(len, data.split(b"\n"))) < size and b"23:33" not in data:  # a clock is told by the lines of a block
        assert pieces.failures.ranked() == whole.failures.ranked()
        assert pieces.alike.ranked() == whole.alike.ranked()
        assert pieces.commands.ranked() == whole.commands.ranked()


def distinct(count):
    """Lines of which no two are alike."""
    made = random.Random(1)
    words = ["".join(made.choices("abcdefghij", k=6)) for _ in range(3_000)]
    return "".join(f"{' '.join(made.choices(words, k=3))}\n" for _ in range(count)).encode()


def test_a_million_lines_of_which_no_two_are_alike_are_quick_and_bounded():
    data = distinct(1_000_000) + b"error: at the end\n" + b"again and again\n" * 9
    before, began = peak_memory(), time.process_time()
    seen = survey(MemoryBlob(data))
    assert time.process_time() - began < 60  # two seconds, when nothing else runs
    assert peak_memory() - before < 200 << 20
    assert seen.alike.forgot
    assert len(seen.alike.ranked()) <= MAX_REMEMBERED
    assert seen.failures.ranked()[0].first == seen.first_failure == 1_000_001
    repeated = seen.alike.ranked()[0]
    assert (repeated.line, repeated.count, repeated.exact) == (b"again and again", 9, False)


@pytest.mark.parametrize("line", [b"+ x\n", b"error: no\n", b"\n", b"warning: a\n"])
def test_a_million_lines_of_one_kind_are_counted_each(line):
    seen = survey(MemoryBlob(line * 1_000_000))
    counted = {
        b"+ x\n": seen.commands.titled,
        b"error: no\n": seen.failures.lines,
        b"warning: a\n": seen.warnings.lines,
    }
    assert counted.get(line, 1_000_000) == 1_000_000
