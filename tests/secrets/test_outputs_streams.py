"""Secrets in several streams: in one stream whatever came between, in the order of all, and the order stays as it came."""

import random
import sys

import pytest

from spillover import Clipper, Limits, MemoryStore
from spillover.secrets.outputs import DELAY_BYTES, PIECE_BYTES, cover
from spillover.secrets.outputs import CoveredStreams as Streams
from spillover.testing import chunked, content

TOKEN = b"ghp_" + b"aB3dE6gH9" * 4
KEY = (
    b"-----BEGIN RSA PRIVATE KEY-----\n"
    + b"MIIEpAIBAAKCAQEA0123456789abcdefghij\n" * 5
    + b"-----END RSA PRIVATE KEY-----\n"
)


def pass_through(pieces):
    """Return what leaves, as one, and whose each byte is."""
    streams, out, owners, given_bytes = Streams(), [], [], 0
    for name, data in pieces:
        given_bytes += len(data)
        for whose, piece in streams.pieces(data, name):
            out.append(piece)
            owners.append((whose, len(piece)))
        assert sum(map(len, out)) + streams.waiting == given_bytes
    for whose, piece in streams.finish():
        out.append(piece)
        owners.append((whose, len(piece)))
    assert streams.waiting == 0
    return b"".join(out), join(owners), streams.count


def join(owners):
    """Return runs of bytes of one stream."""
    runs = []
    for name, size in owners:
        if runs and runs[-1][0] == name:
            runs[-1] = (name, runs[-1][1] + size)
        elif size:
            runs.append((name, size))
    return runs


@pytest.mark.parametrize("size", [1, 3, 7])
def test_a_secret_of_one_stream_is_covered_although_another_prints_between_its_parts(size):
    secret = b"token: " + TOKEN + b"\n"
    pieces = []
    for at in range(0, len(secret), size):
        pieces += [("stdout", secret[at : at + size]), ("stderr", b".")]
    out, _, count = pass_through(pieces)
    stdout = b"".join(out[at : at + size] for at in range(0, len(out), size + 1))
    assert count == 1
    assert stdout.startswith(b"token: [redacted: github token")
    assert TOKEN[4:7] not in out.replace(b".", b"")


def test_a_secret_that_is_one_only_in_the_order_of_both_streams_is_covered():
    out, owners, count = pass_through([("stdout", b"see " + TOKEN[:20]), ("stderr", TOKEN[20:] + b"\nmore\n")])
    assert out == cover(b"see " + TOKEN + b"\nmore\n")[0]
    assert (owners, count) == ([("stdout", 24), ("stderr", len(TOKEN) - 20 + 6)], 1)


def test_a_private_key_is_covered_between_the_lines_of_another_stream():
    pieces = [each for line in KEY.splitlines(keepends=True) for each in (("stdout", line), ("stderr", b"warning\n"))]
    out, _, _ = pass_through(pieces)
    assert b"MIIE" not in out
    assert out.count(b"\n") == 2 * KEY.count(b"\n")


@pytest.mark.parametrize("far", [DELAY_BYTES // 2, DELAY_BYTES - 100])
def test_parts_of_a_secret_are_covered_however_much_another_stream_prints_between_them(far):
    for back in (0, 1_000, PIECE_BYTES - far // 2):
        before, between = b"x" * back + b"\n", (b"a line of the other stream\n" * far)[: far - 1] + b"\n"
        pieces = [
            ("stdout", before + TOKEN[:8]),
            ("stderr", between),
            ("stdout", TOKEN[8:] + b"\n"),
            ("stderr", between),
        ]
        out, owners, count = pass_through(pieces)
        assert count == 1
        assert out.startswith(before + b"[redacte")
        assert TOKEN[8:] not in out
        assert owners == [(name, len(data)) for name, data in pieces]


def test_of_parts_that_are_farther_apart_the_second_is_covered_and_no_more_is_held():
    line = b"a line of the other stream\n"
    streams, most = Streams(), 0
    left = b"".join(piece for _, piece in streams.pieces(TOKEN[:8], "stdout"))
    for _ in range(4 * DELAY_BYTES // len(line)):
        left += b"".join(piece for _, piece in streams.pieces(line, "stderr"))
        most = max(most, streams.waiting)
    assert DELAY_BYTES < most < DELAY_BYTES + PIECE_BYTES
    left += b"".join(piece for _, piece in [*streams.pieces(TOKEN[8:] + b"\n", "stdout"), *streams.finish()])
    assert left.startswith(TOKEN[:8] + line)  # as docs/operations.md says
    assert TOKEN[8:] not in left


def test_where_parts_of_a_secret_are_too_far_apart_does_not_depend_on_the_pieces():
    line = b"a line of the other stream\n" * 900
    for far in range(DELAY_BYTES - 60, DELAY_BYTES + 20, 10):
        between = (line * (far // len(line) + 1))[: far - 1] + b"\n"
        pieces = [("stdout", b"x " + TOKEN[:8]), ("stderr", between), ("stdout", TOKEN[8:] + b"\n"), ("stderr", line)]
        pieces = [("stderr", line * (PIECE_BYTES // len(line))), *pieces, *pieces]
        dice = random.Random(far)
        finer = [(n, part) for n, d in pieces for part in chunked(d, [dice.randint(1, 9_000) for _ in range(99)])]
        assert pass_through(finer) == pass_through(pieces)


def test_what_a_command_prints_to_both_streams_is_stored_in_that_order_without_its_secrets():
    script = (
        "import os, time\n"
        f"secret = {b'token: ' + TOKEN!r}\n"
        "for at in range(0, len(secret), 8):\n"
        "    os.write(1, secret[at:at + 8])\n"
        "    time.sleep(0.002)\n"
        "    os.write(2, b'<err>')\n"
        "    time.sleep(0.002)\n"
        "os.write(1, b'\\n' + b'line of the log\\n' * 4000)\n"
    )
    store = MemoryStore()
    clip = Clipper(Limits(tokens=500), store=store, redact="stored").run([sys.executable, "-c", script]).clip
    stored, record = content(store, clip.ref), store.get(clip.ref)
    assert TOKEN[4:12] not in stored.replace(b"<err>", b"")
    assert record.redacted == 1
    at, streams = 0, {"stdout": b"", "stderr": b""}
    for name, size in record.segments:
        streams[name] += stored[at : at + size]
        at += size
    assert streams["stderr"] == b"<err>" * 6
    assert streams["stdout"].startswith(b"token: [redacted: github token")


def test_a_process_that_is_left_behind_is_not_waited_for_when_the_last_line_is_open(tmp_path):
    """What waited to be looked at was taken for not read yet, and the pipe's end was waited for."""
    until = tmp_path / "until"
    line = f"(for n in $(seq 200); do [ -e {until} ] || sleep 0.1; done) & printf 'no end of line'"
    try:
        run = Clipper(Limits(tokens=500), store=MemoryStore(), redact="stored").run(["sh", "-c", line])
    finally:
        until.touch()
    assert (run.clip.text, run.still_open) == ("no end of line", ("stdout", "stderr"))
