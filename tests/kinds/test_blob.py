"""Blobs: named by kind, length and hash instead of shown."""

import base64
import gzip
import hashlib
import random
import re
import textwrap
import zlib

import pytest
from chosen_by import CALL
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover import Clipper, Limits
from spillover.document.document import Document, Section
from spillover.kinds import blob
from spillover.kinds.selection import Room
from spillover.notice.render import Layout
from spillover.source.blob import MemoryBlob, Meter
from spillover.store.memory import MemoryStore

RANDOM = random.Random(5)
NOISE = RANDOM.randbytes(6_000)
ONE_LINE = base64.b64encode(NOISE)
LINES = base64.encodebytes(NOISE)
PROSE = base64.b64encode(b"The quick brown fox jumps over the lazy dog, again and again. " * 40)
URL_SAFE = base64.urlsafe_b64encode(NOISE).rstrip(b"=")
HEX = NOISE.hex().encode()
PEM = b"-----BEGIN CERTIFICATE-----\n" + b"\n".join(
    ONE_LINE[at : at + 64] for at in range(0, 1_600, 64)
) + b"\n-----END CERTIFICATE-----\n"  # fmt: skip
XXD = b"".join(
    b"%08x: %s  %s\n"
    % (at, b" ".join(NOISE[at + two : at + two + 2].hex().encode() for two in range(0, 16, 2)), b"." * 16)
    for at in range(0, 320, 16)
)


def names(data):
    return [(run.kind, data[run.start : run.end]) for run in blob.find_runs(data)]


@pytest.mark.parametrize(
    ("before", "run", "behind", "kind"),
    [
        (b"", ONE_LINE, b"", "base64"),
        (b'{"image": "', ONE_LINE, b'", "n": 1}\n', "base64"),
        (b"token=", ONE_LINE, b" end", "base64"),
        (b"text\n", PROSE, b"\nmore text\n", "base64"),
        (b"x ", URL_SAFE, b"\n", "base64"),
        (b"key: ", HEX, b"\n", "hex"),
        (b"key: ", HEX.upper(), b"\n", "hex"),
        (b"text\n", LINES, b"Done.\n", "base64"),
        (b"text\n", LINES, b"Done\n", "base64"),
        (b"text\r\n", LINES.replace(b"\n", b"\r\n"), b"\r\nmore\r\n", "base64"),
        (
            b"text\n",
            b"\n".join(textwrap.wrap(HEX.decode(), 64)[i].encode() for i in range(20)) + b"\n",
            b"end\n",
            "hex",
        ),
        (b"src=data:image/png;base64,", ONE_LINE, b")", "image/png as base64"),
        (b"$ xxd f\n", XXD, b"$ done\n", "hex dump"),
    ],
)
def test_blobs_are_found_and_nothing_around_them(before, run, behind, kind):
    assert names(before + run + behind) == [(kind, run)]


def test_the_body_of_a_certificate_is_found_and_its_frame_is_left():
    found = names(b"cert:\n" + PEM + b"ok\n")
    assert [kind for kind, _ in found] == ["PEM CERTIFICATE"]
    assert PEM.replace(found[0][1], b"") == b"-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"


PATHS = "/usr/lib/python/site/packages/Thing/" * 40
NO_BLOBS = {
    "a rule": b"=" * 2_000 + b"\n" + b"-" * 2_000 + b"\n" + b"_" * 900,
    "rules": (b"=" * 70 + b"\n") * 30,
    "paths": PATHS.encode(),
    "a snake": b"some_long_name_of_a_thing_" * 60,
    "camels": b"SomeLongNameOfAThingThatGoesOnAndOnForEver" * 30,
    "mangled": b"_ZNSt6vectorIN5boost10shared_ptrIN3foo3barEEESaIS4_EE9push_backERKS4_" * 12,
    "constants": b"SOME_CONSTANT_2_" * 60,
    "one letter": b"A" * 5_000,
    "digits": b"0123456789" * 90,
    "zeros": b"0" * 4_000,
    "english": b"It was the best of times, it was the worst of times. " * 60,
    "words run together": b"itwasthebestoftimesitwastheworstoftimes" * 40,
    "short hashes": b"".join(hashlib.sha256(b"%d" % n).hexdigest().encode() + b"  file%d\n" % n for n in range(50)),
    "short tokens": ONE_LINE[:400] + b"\n" + ONE_LINE[:300],
    "a log": b"".join(
        b"2026-11-15T12:00:%02d INFO worker-%d did 0x%08x in %d ms\n" % (n % 60, n, n, n) for n in range(99)
    ),
    "numbers": b"".join(b"%d %d %d %d %d\n" % (n, n * 2, n * 3, n * 4, n * 5) for n in range(500)),
    "dots": b"." * 3_000,
}


@pytest.mark.parametrize("name", NO_BLOBS)
def test_what_only_looks_long_is_no_blob(name):
    assert names(NO_BLOBS[name]) == []


def document(data, sections=None, held=None):
    meter = Meter()
    meter.feed(data)
    sections = sections or (Section(0, len(data)),)
    return Document(held or MemoryBlob(data), meter.index, meter.lines, meter.newlines, sections)


def shown(data, limit=2_000):
    """What a reader would see, with words for gaps, when so many characters fit."""
    seen = document(data)
    layout = Layout(seen)
    spans = blob.select(seen, Room(lambda spans: len(layout.render(spans).text) / limit), CALL)
    return layout.render(spans).text if spans else None


def said(kind, run):
    return f"{kind}, {len(run):,} bytes, sha256 {hashlib.sha256(run).hexdigest()[:12]}"


@pytest.mark.parametrize("run", [ONE_LINE, ONE_LINE * 400, LINES, base64.encodebytes(NOISE * 300)])
def test_a_blob_is_replaced_by_kind_length_and_hash_and_its_beginning_is_shown(run):
    text = shown(b"$ base64 f\n" + run)
    assert said("base64", run) in text
    assert "$ base64 f\n" + run[:40].decode() in text
    assert run[200:260].decode() not in text
    assert len(text) < 500


def test_the_text_around_blobs_survives():
    data = b"begin\n" + LINES + b"between\n" + XXD + b"again\n" + b"key " + HEX + b"\nend\n"
    text = shown(data)
    for words in ("begin\n", "between\n", "again\n", "key ", "\nend"):
        assert words in text
    for kind, run in (("base64", LINES), ("hex dump", XXD), ("hex", HEX)):
        assert said(kind, run) in text


def test_of_too_much_text_around_blobs_the_ends_survive_and_the_gap_says_that_more_is_in_it():
    text = shown(b"first\n" + b"line\n" * 900 + LINES * 3 + b"line\n" * 900 + b"last\n", 900)
    assert "last" in text
    assert "first" in text
    assert ", and more" in text


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n" + NOISE, "binary, PNG"),
        (gzip.compress(NOISE * 3, mtime=0), "binary, gzip"),
        (b"\x7fELF\x02\x01\x01" + bytes(3_000) + NOISE, "binary, ELF"),
        (b"%PDF-1.7\n%\xe2\xe3\n" + zlib.compress(NOISE), "binary, PDF"),
        (b"PK\x03\x04" + NOISE, "binary, zip"),
        (NOISE, "binary"),
        (b"!function(e,t){var n=e.t;return n(t)||{a:1,b:[2,3]};" * 200, "minified code"),
    ],
)
def test_an_output_that_is_one_blob_is_named(data, kind):
    text = shown(data, 900)
    assert said(kind, data) in text
    assert len(text) < 900


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"a line\n" * 2_000,
        "Привет, мир\n".encode() * 900,
        "Привет, мир\n".encode("koi8-r") * 900,
        "text\n".encode("utf-16") * 900,
        b"\x1b[31mred\x1b[0m\r\n" * 900,
        b'{"a":1,"b":[2,3]}' * 900,
        b"log\n" * 9_000 + LINES,
    ],
)
def test_what_is_not_mostly_a_blob_is_left_to_others(data):
    assert shown(data) is None


@pytest.mark.parametrize(
    "run", [ONE_LINE * 40, base64.encodebytes(NOISE * 40), HEX * 30, b"\n".join([ONE_LINE[:900]] * 99)]
)
@pytest.mark.parametrize("zeros", [0, 30_000])
def test_a_run_is_one_whatever_the_blocks(monkeypatch, run, zeros):
    monkeypatch.setattr(blob, "BLOCK_BYTES", 1 << 14)
    if zeros and b"\n" not in run:
        run = run[:50_000] + b"A" * zeros + run[50_000:]  # an image may be black for long
    data = b"before\n" + run + (b"" if run.endswith(b"\n") else b"\n") + b"behind\n"
    found = blob._scan(document(data))
    assert [(run.start, data[run.start : run.end].strip()) for run in found] == [(7, run.strip())]


PIECE = st.sampled_from(
    [ONE_LINE[:700], LINES[:800], b"word ", b"\n", b"\0\1\2", "é".encode() * 9, XXD, b"x" * 300, HEX[:512]]
)


@settings(max_examples=150)
@given(st.lists(PIECE, max_size=40).map(b"".join), st.integers(200, 3_000))
def test_whatever_the_output_and_the_limits_spans_are_in_order_and_it_fits(data, limit):
    calls = []

    def keep(seen, fill):
        try:
            calls.append(blob.select(seen, Room(fill), CALL))
        except Exception as error:  # a clip would survive it, a test must not
            calls.append(error)
            raise
        assert fill(calls[-1] or []) <= 1
        return calls[-1] or []

    clip = Clipper(limits=Limits(bytes=limit), keep=keep, store=MemoryStore()).clip(data)
    assert len(clip.text.encode()) <= limit
    for spans in calls:
        assert not isinstance(spans, Exception)
        at = -1
        for span in spans or []:
            assert at < span.start < span.end <= len(data)
            at = span.end


@settings(max_examples=150)
@given(
    st.binary(max_size=3_000)
    | st.text(max_size=3_000).map(str.encode)
    | st.from_regex(re.compile(rb"[\w/+=\n-]{0,3000}"))
)
def test_runs_are_in_order_inside_and_long(data):
    at = 0
    for run in blob.find_runs(data):
        assert at <= run.start < run.end <= len(data)
        assert run.kind
        assert run.end - run.start >= blob.MIN_LINES * blob.MIN_LINE_BYTES or run.kind == "hex dump"
        at = run.end


@settings(max_examples=150)
@given(
    st.lists(
        st.sampled_from(("a line of a log\n" * 9, "00000010: 0a1b 2c3d 4e5f 6071 ok\n" * 9, "aZ3/" * 200, "key="))
    ),
    st.integers(0, 2_000),
)
def test_where_none_begins_early_no_run_is_found_early(parts, upto):
    data = "".join(parts).encode()
    if not blob.may_begin_early(data, upto):
        assert all(run.start >= upto for run in blob.find_runs(data))
