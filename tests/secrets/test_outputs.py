"""Redaction: every format in many contexts, in any chunks, in any range, in every answer, and in what is stored."""

import importlib.util
import json
import random
import re
import urllib.parse
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover import Clipper, DirStore, Limits, MemoryStore, UsageError
from spillover.document.clean import clean
from spillover.hosts.hook import Clipping
from spillover.secrets import outputs
from spillover.secrets.outputs import WINDOW_BYTES, cover, find, mark
from spillover.secrets.outputs import CoveredBlob as Covered
from spillover.source.blob import BothEnds, MemoryBlob
from spillover.testing import byte_by_byte, chunked, content
from support import CoveredStream as Stream

_spec = importlib.util.spec_from_file_location("bench_redact", Path(__file__).parents[2] / "bench" / "redact.py")
bench = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(bench)

TOKEN = "ghp_" + "aB3dE6gH9" * 4
KEY = (
    "-----BEGIN RSA PRIVATE KEY-----\n"
    + "MIIEpAIBAAKCAQEA0123456789abcdefghij\n" * 20
    + "-----END RSA PRIVATE KEY-----"
)


def test_forty_kinds_of_secrets_are_found():
    assert len(bench.KINDS) == 40
    misses = bench.count_misses(25)
    assert sum(misses.values()) <= 0.01 * 25 * 40, misses


ORDINARY = b"""\
password: string                           passwd:         files systemd
token=None                                 self.token = get_token(request)
secret = os.environ["SECRET_2"]            api_key = config.get("api_key_v2")
tokens: 4096                               max_tokens=8192
key=user_12345                             "key": "value1"
commit 7f3a9c2e41d05b867f3a9c2e41d05b86    sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
https://user@example.com/path              git@github.com:org/repo.git
Authorization: required                    the bearer of this letter
sk-learn-contrib-package                   eyJust a word
-----BEGIN CERTIFICATE-----                -----BEGIN PUBLIC KEY-----
password=${DB_PASSWORD}                    PASSWORD=<your-password-1>
bash-7f3a9c2e41d05b86                      spill://bash-7f3a9c2e41d05b86#L1-20
"""


def test_ordinary_text_is_left_alone():
    assert [ORDINARY[one.start : one.end] for one in find(ORDINARY)] == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"token: {TOKEN}\n", "token: [redacted: github token****************]\n"),
        ("password=hunter2x9\n", "password=*********\n"),
        ("DB_PASSWORD='correct7horse'\n", "DB_PASSWORD='[redacted***]'\n"),
        ("postgres://app:s3cr3tpass99@db/x", "postgres://app:[redacted**]@db/x"),
    ],
)
def test_a_mark_says_what_it_covers_and_is_as_long(text, shown):
    covered, count = cover(text.encode())
    assert (covered.decode(), count) == (shown, 1)
    assert len(shown) == len(text)


def test_a_covered_header_was_covered_again_and_data_with_one_became_text():
    for kind, draw in bench.KINDS.items():
        dice = random.Random(kind)
        covered = cover(" ".join("".join(draw(dice)) for _ in range(9)).encode())[0].decode()
        for form in (covered, json.dumps({"out": covered}), repr([covered]), json.dumps(json.dumps(covered))):
            assert find(form.encode()) == [], kind
    data = {"headers": [f"Authorization: Bearer {TOKEN}"]}
    shown = Clipper(store=MemoryStore(), redact="shown").wrap(lambda: data)()
    assert shown == {"headers": [cover(data["headers"][0].encode())[0].decode()]}


def test_a_private_key_keeps_its_lines():
    covered, count = cover(f"a\n{KEY}\nb\n".encode())
    assert count == 1
    assert covered.count(b"\n") == KEY.count("\n") + 3
    assert b"MIIE" not in covered
    assert b"-----BEGIN RSA PRIVATE KEY-----" in covered
    assert mark(b"a\r\nb\n", "x") == b"*\r\n*\n"


TEXT = (
    f"start\n{TOKEN} and password=abc123XYZ!\n{'x' * 500}\n"
    + "plain line\n" * 300
    + KEY
    + "\nlast AKIA0123456789ABCDEF"
).encode()
WHOLE = cover(TEXT)[0]


@settings(max_examples=60)
@given(sizes=st.lists(st.integers(1, 9_000), max_size=12))
def test_a_secret_is_covered_whatever_pieces_it_comes_in(sizes):
    stream = Stream()
    out = b"".join([*map(stream.feed, chunked(TEXT, sizes)), stream.finish()])
    assert out == WHOLE
    assert stream.count == 4


def test_a_secret_is_covered_byte_by_byte_and_across_every_border():
    stream = Stream()
    assert b"".join([*map(stream.feed, byte_by_byte(TEXT)), stream.finish()]) == WHOLE
    far = b"line of a log\n" * 4_000 + TEXT + b"line of a log\n" * 4_000
    for border in range(56_000 - 40, 56_000 + 80, 7):
        stream = Stream()
        assert stream.feed(far[:border]) + stream.feed(far[border:]) + stream.finish() == cover(far)[0]


def test_a_line_that_does_not_end_is_looked_at_a_few_times_whatever_pieces_it_comes_in(monkeypatch):
    looked = []
    monkeypatch.setattr(outputs, "find", lambda data: looked.append(len(data)) or find(data))
    data, stream = f"token: {TOKEN} ".encode() * 2_000, Stream()
    out = b"".join([*(stream.feed(data[at : at + 48]) for at in range(0, len(data), 48)), stream.finish()])
    assert (len(out), TOKEN.encode() in out, stream.count) == (len(data), False, 2_000)
    assert sum(looked) < 5 * len(data)


@settings(max_examples=60)
@given(start=st.integers(0, len(TEXT)), size=st.integers(0, 400))
def test_any_range_is_the_same_part_of_the_same_text(start, size):
    assert Covered(MemoryBlob(TEXT)).read(start, start + size) == WHOLE[start : start + size]


def test_both_ends_of_an_output_without_its_middle_are_covered():
    ends = BothEnds(MemoryBlob(TEXT[:200]), TEXT[-300:], len(TEXT) + 1_000)
    covered = Covered(ends)
    assert covered.gap == ends.gap
    for start, end in ((0, 100), (0, 10_000), (150, 250), (1_000, ends.size), (ends.size - 10, ends.size)):
        assert len(covered.read(start, end)) == len(ends.read(start, end))
        assert TOKEN.encode()[:12] not in covered.read(start, end)
    lines = TEXT[:200].rfind(b"\n") + 1  # whole ones: the next line is cut, and may end inside a secret
    assert covered.read(0, 10_000)[:lines] == cover(TEXT[:200])[0][:lines]
    assert covered.read(lines, 10_000) == mark(TEXT[lines:200], "cut off")


CUT_KEY = "".join(f"{number:02}MIIEpAIBAAKCAQEA{number * 7919:08}abcdefghij\n" for number in range(30))
#: (what comes before, the secret)
CUT_SECRETS = {
    "token": ("using ", TOKEN),
    "databricks token": ("using ", "dapi4f8a1c9e0b7d26354f8a1c9e0b7d2635"),
    "quoted password": ('password="', "cor4rect-horse-battery"),
    "private key": ("-----BEGIN RSA PRIVATE KEY-----\n", f"{CUT_KEY}-----END RSA PRIVATE KEY-----"),
}


@pytest.mark.parametrize("kind", CUT_SECRETS)
def test_a_secret_cut_by_a_gap_or_by_a_cap_was_shown_in_part(kind):
    """The cut is at every offset in a secret: at the first byte behind a gap, and at the last byte that is there."""
    secret = "".join(CUT_SECRETS[kind])
    parts = CUT_KEY.split() if kind == "private key" else CUT_SECRETS[kind][1:]
    runs = {part[at : at + 6].encode() for part in parts for at in range(len(part) - 5)}
    before, after = b"ok\n" * 30_000, b"fine\n" * 30_000
    data = before + secret.encode() + b"\n" + after
    for offset in range(len(before) - 2, len(before) + len(secret) + 2, 1 if len(secret) < 100 else 23):
        head, tail = data[:offset], data[offset:]
        for gap in (0, 5_000, len(before)):
            blob = BothEnds(MemoryBlob(b"ok\n" * (gap // 3)), tail, len(data) + 1_000)
            whole = Covered(blob).read(blob.gap[1], blob.size)
            assert not [run for run in runs if run in whole], (offset, whole[:200])
            assert (len(whole), whole.count(b"\n")) == (len(tail), tail.count(b"\n"))
            assert whole.endswith(after[5:])
            at = blob.gap[1]
            near = Covered(blob)
            assert b"".join(near.read(at + part, at + part + 97) for part in range(0, 2_910, 97)) == whole[:2_910]
        for covered in (Covered(MemoryBlob(head), is_cut=True), Covered(BothEnds(MemoryBlob(head), b"", len(data)))):
            whole = covered.read(0, len(head))
            assert not [run for run in runs if run in whole], (offset, whole[-200:])
            assert (len(whole), whole[:-1_200]) == (len(head), head[:-1_200])
            assert whole.startswith(before[:-3])
            assert covered.read(len(head) - 20, len(head)) == whole[-20:]


def test_a_line_longer_than_any_secret_is_covered_no_farther_than_one_reaches():
    data = b"x y " * 30_000
    whole = Covered(BothEnds(MemoryBlob(data), data, 3 * len(data))).read(2 * len(data), 3 * len(data))
    assert whole[8_192:] == data[8_192:]
    assert Covered(MemoryBlob(data), is_cut=True).read(0, len(data))[:-8_192] == data[:-8_192]


def test_a_whole_certificate_behind_a_gap_is_no_rest_of_a_key():
    data = b"t of a line\n-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
    blob = BothEnds(MemoryBlob(b"start\n"), data, 1_000)
    assert Covered(blob).read(blob.gap[1], blob.size)[11:] == data[11:]


LOG = "".join(f"{number} compiled module_{number}\n" for number in range(4_000))
SECRETS = f"Error: bad token {TOKEN}\nusing password=abc123XYZ!\n"


@pytest.mark.parametrize("redact", ["shown", "stored"])
def test_no_preview_and_no_answer_holds_a_secret(redact, tmp_path):
    clipper = Clipper(Limits(tokens=800), store=DirStore(tmp_path / "s"), redact=redact)
    clip = clipper.clip(LOG + SECRETS + LOG)
    answers = [
        clip,
        clipper.clip(SECRETS),
        clipper.read(clip.ref, lines="3995:4010"),
        clipper.read(clip.ref, lines=4001, columns="1:200"),
        clipper.read(clip.ref, bytes=f"{len(LOG) + 20}:{len(LOG) + 40}"),
        clipper.grep(clip.ref, "token"),
        clipper.grep(clip.ref, "password=.*", context=2),
        clipper.outline(clip.ref),
    ]
    for answer in answers:
        assert TOKEN[4:12] not in answer.text
        assert "abc123" not in answer.text
    assert "[redacted: github token" in answers[2].text
    assert (
        "0 of" in clipper.grep(clip.ref, TOKEN[:20], fixed=True).text
        or "No match" in clipper.grep(clip.ref, TOKEN[:20], fixed=True).text
    )


def test_shown_leaves_what_is_stored_as_it_came_and_stored_does_not(tmp_path):
    text = LOG + SECRETS + LOG
    for redact in ("shown", "stored"):
        store = DirStore(tmp_path / redact)
        ref = Clipper(Limits(tokens=800), store=store, redact=redact).clip(text).ref
        (record,) = store.list()
        stored = content(store, ref)
        assert len(stored) == len(text)
        if redact == "shown":
            assert (stored, record.redacted) == (text.encode(), None)
        else:
            assert (stored, record.redacted) == (cover(text.encode())[0], 2)
            assert TOKEN.encode() not in stored
            assert json.loads((tmp_path / redact / f"{ref}.json").read_bytes())["redacted"] == 2


def test_a_command_that_prints_secrets_leaves_none_of_them_anywhere(tmp_path):
    clipper = Clipper(Limits(tokens=800), store=DirStore(tmp_path / "s"), redact="stored")
    script = f"seq 20000; echo {TOKEN}; echo password=abc123XYZ! >&2; seq 20000"
    run = clipper.run(["sh", "-c", script])
    clipper.run(["sh", "-c", f"echo {TOKEN}"])
    assert run.clip.outcome == "stored"
    for path in (tmp_path / "s").rglob("*"):
        if path.is_file():
            assert TOKEN.encode() not in path.read_bytes(), path
            assert b"abc123XYZ" not in path.read_bytes(), path


def test_an_earlier_output_is_covered_when_it_is_read_back():
    store = MemoryStore()
    ref = Clipper(Limits(tokens=800), store=store).clip(LOG + SECRETS + LOG).ref
    assert TOKEN in Clipper(store=store).read(ref, lines="4001:4002").text
    assert TOKEN[4:] not in Clipper(store=store, redact="shown").read(ref, lines="4001:4002").text


def test_the_choice_is_one_of_three_words():
    with pytest.raises(UsageError, match="use off, shown, stored"):
        Clipper(redact="all")


def test_what_fits_is_covered_too_in_every_shape():
    clipper = Clipper(Limits(tokens=800), store=MemoryStore(), redact="shown")

    @clipper.wrap
    def tool() -> dict:
        return {"rows": [{"id": 1, "auth": TOKEN}], "note": "fine"}

    assert tool() == {"rows": [{"id": 1, "auth": cover(TOKEN.encode())[0].decode()}], "note": "fine"}
    assert TOKEN[4:] not in str(clipper.clip_blocks([{"type": "text", "text": f"key {TOKEN}"}]))
    assert TOKEN[4:] not in clipper.clip_streams(stdout="ok\n", stderr=f"bad {TOKEN}\n").text
    assert TOKEN[4:] not in Clipping(clipper.call()).text(f"key {TOKEN}\n")
    assert Clipping(clipper.call()).text("nothing to hide\n") is None


def test_lines_of_two_streams_stay_in_order_where_they_are_covered():
    store = MemoryStore()
    clipper = Clipper(Limits(tokens=300), store=store, redact="stored")
    capture = clipper.capture()
    for number in range(3_000):
        capture.write(f"{number} {TOKEN if number == 77 else 'ok'}\n", "stderr" if number % 3 else "stdout")
    stored = content(store, capture.clip.ref)
    assert [int(line.split()[0]) for line in stored.splitlines()] == list(range(3_000))
    assert TOKEN.encode() not in stored


def test_a_call_beside_a_name_is_code_and_no_secret():
    assert find(b"  const privateKey = secp256k1.utils.randomPrivateKey();\n") == []
    assert find(b"  const privateKey = secp256k1.utils.randomPrivateKey7;\n") != []


IN_COLOR = "ghp_a8Zq3LmN5xTq1RwEo7Yu2PsDf9GhJk4LzXcV"


@pytest.mark.parametrize(
    "printed",
    [
        f"x=\x1b[01;31m\x1b[K{IN_COLOR}\x1b[m\x1b[K",  # as grep colors what it found
        f"\x1b[01;31m\x1b[Kx=\x1b[m\x1b[K{IN_COLOR}",
        f"x=\x1b[01;31m\x1b[K{IN_COLOR[:9]}\x1b[m\x1b[K{IN_COLOR[9:]}",
        f"\x1b]8;;https://example.org\x07{IN_COLOR[:20]}\x1b]8;;\x07{IN_COLOR[20:]}",
        "\0".join(IN_COLOR),  # UTF-16
        f"\x1b[1mpassword=\x1b[0m{IN_COLOR[4:8]}\x1b[31m{IN_COLOR[8:]}",
    ],
)
@pytest.mark.parametrize("redact", ["shown", "stored"])
def test_a_secret_with_colors_in_it_is_covered_as_it_is_seen(printed, redact):
    data = f"one\n{printed}\ntwo\n".encode()
    for covered in (cover(data)[0], b"".join(Covered(MemoryBlob(data)).read(at, at + 1) for at in range(len(data)))):
        assert len(covered) == len(data)
        assert IN_COLOR[4:12] not in clean(covered)
        assert IN_COLOR[-8:] not in clean(covered)
    clipper = Clipper(Limits(tokens=300), store=MemoryStore(), redact=redact)
    for text in (clipper.clip(data).text, clipper.clip(data + b"filler\n" * 9_000).text):
        assert IN_COLOR[-8:] not in text
        assert "one\n" in text
    ref = clipper.clip(data + b"filler\n" * 9_000).ref
    assert IN_COLOR[-8:] not in clipper.read(ref, lines="1:3").text
    assert "No match" in clipper.grep(ref, IN_COLOR[-8:]).text


def _every(text, form):
    return "".join(form % ord(char) for char in text)


def _middle(text, between):
    return text[: len(text) // 2] + between + text[len(text) // 2 :]


#: How a secret may stand in a text so that it is read as one only later, or is seen as one although its bytes are apart.
ESCAPED = {
    "json": lambda text: json.dumps({"out": f"a\n{text}\tb"}),
    "json in json in json": lambda text: json.dumps(json.dumps({"out": json.dumps({"out": f'a\n"{text}"'})})),
    "a code before it": lambda text: f"x\\u0022{text}\\u0022 y",
    "a repr": lambda text: repr({"a": f"x\n{text}", "b": "it's"}),
    "a repr of bytes": lambda text: repr(f"x\t{text}".encode()),
    "%20": lambda text: f"q=%20{text}",
    "%3D": lambda text: f"q%3D{text}",
    "an address in an address": lambda text: urllib.parse.quote(urllib.parse.quote(f"a={text}", safe=""), safe=""),
    "html": lambda text: f"&quot;{text}&#x22;".replace("=", "&#61;"),
    "behind _": lambda text: f"a_{text}",
    "behind a digit": lambda text: f"77{text}",
    "every character a code": lambda text: _every(text, "\\u%04x"),
    "every byte a code": lambda text: _every(text, "\\x%02x"),
    "one code inside": lambda text: f"{text[:5]}\\u{ord(text[5]):04x}{text[6:]}",
    "zero width inside": lambda text: _middle(text, "\u200b"),
    "joiners inside": "\u200d".join,
    "zero width inside of json": lambda text: json.dumps(_middle(text, "\u200b\u2060")),
    "a backspace inside": lambda text: _middle(text, "X\b"),
    "backspaces inside": lambda text: _middle(text, " /\b\b"),
    "struck twice": lambda text: "".join(f"{char}\b{char}" for char in text),
    "colours inside of json": lambda text: json.dumps(_middle(text, "\x1b[31m")),
}


def read_later(text):
    """Return a text as whoever decodes it, or looks at it, will have it."""
    for _ in range(4):
        text = text.replace("\\\\", "\\")
        text = re.sub(r"\\(?:u([0-9a-f]{4})|x([0-9a-f]{2}))", lambda code: chr(int(code[1] or code[2], 16)), text)
        text = urllib.parse.unquote(text)
    text = re.sub("[\u200b\u200d\u2060]|\x1b\\[31m", "", text)
    while "\b" in text.lstrip("\b"):
        text = re.sub("[^\b]\b", "", text.lstrip("\b"))
    return text


@pytest.mark.parametrize("way", ESCAPED)
def test_json_dumps_of_a_token_hid_it_and_no_other_escape_does(way):
    dice = random.Random(way)
    for kind, draw in bench.KINDS.items():
        before, secret, behind = draw(dice)
        shown = read_later(cover(ESCAPED[way](before + secret + behind).encode())[0].decode())
        for part in secret.split("\n")[1:-1] if secret.startswith("-----") else [secret]:
            runs = {part[at : at + 8] for at in range(12 if len(part) >= 24 else 0, len(part) - 7)}
            assert not [run for run in runs if run in shown], (kind, shown)


def test_no_window_has_an_edge_at_which_a_token_is_shown_in_part():
    """A token of every format at every offset from a multiple of 4,096, in one line: the period has no factor in common with it."""
    dice = random.Random("edges")
    for kind, draw in bench.KINDS.items():
        unit = f" {''.join(draw(dice))} ".replace("\n", " ").encode()
        unit += b"." * (1 - len(unit) % 2)
        covered = cover(unit * 3)[0][len(unit) : 2 * len(unit)]
        assert cover(unit * 4_096)[0] == covered * 4_096, kind


def test_no_piece_and_no_range_has_an_edge_at_which_a_token_is_shown_in_part():
    dice = random.Random("ranges")
    for kind, draw in bench.KINDS.items():
        unit = f" {''.join(draw(dice))} .".replace("\n", " ").encode()
        data = unit * (90_000 // len(unit))
        whole = cover(data)[0]
        stream = Stream()
        pieces = [stream.feed(data[at : at + 1_009]) for at in range(0, len(data), 1_009)]
        assert b"".join([*pieces, stream.finish()]) == whole, kind
        first = len(unit) * (len(data) // 2 // len(unit))
        ranges = Covered(MemoryBlob(data))
        for at in range(first, first + len(unit), 11):
            assert ranges.read(at, at + 60) == whole[at : at + 60], (kind, at - first)


@pytest.mark.parametrize("kind", bench.KINDS)
def test_no_window_of_a_blob_has_an_edge_at_which_a_secret_is_shown_in_part(kind):
    unit = "".join(bench.KINDS[kind](random.Random(f"windows {kind}"))).encode()
    for back in range(1, len(unit), 7):
        for edge in (WINDOW_BYTES, 2 * WINDOW_BYTES):
            data = (b"a word " * (edge // 7 + 1))[: edge - back - 1] + b" " + unit + b" and more" * 16_000
            whole = cover(data)[0]
            for reads in (
                [(edge, edge + 90)],
                [(0, 60), (edge - 90, edge)],
                [(edge, edge + WINDOW_BYTES)],
                [(9, edge)],
            ):
                covered = Covered(MemoryBlob(data))
                assert [covered.read(*each) for each in reads] == [whole[slice(*each)] for each in reads], (back, reads)


@pytest.mark.parametrize(
    "value", ["abc$123def", "pa$$word", "hun(ter2", "hunter2(x", "my_s3cret!", "my_hunter2", "$ecr3tPa!", "a(b)c$9x", "(hunter2x"]
)  # fmt: skip
@pytest.mark.parametrize(
    "form", ["password={}", "DB_PASSWORD={}\n", "x password={} y", 'password="{}"', "passwd: {} # x"]
)
def test_a_password_with_a_dollar_or_a_bracket_in_it_or_behind_my_was_missed(form, value):
    assert value.encode() not in cover(form.format(value).encode())[0]


@pytest.mark.parametrize(
    "text",
    ["sk-estimator-html-doc-link-1234-abc", "password=get_password(user, 1)", "password=$DB_PASSWORD", "password=${X1}", "PASSWORD=$(cat f1)",
     "password=os.environ['P1']", "password=args[1]", "password=my_password", "password=my-secret-password", "f(password=getpass2())"],
)  # fmt: skip
def test_words_behind_sk_and_code_behind_a_name_are_no_secrets(text):
    assert cover(text.encode()) == (text.encode(), 0)


@pytest.mark.parametrize(
    "unit", ["token=", "sk-", "eyJ", "eyJa.", "ghp_aaaaaaaaaa", "://a:", "aws secret ", "\\", "\\u0022", "%25", "a\b", "password=$(", "SG.aaaaaaaaaa", "-----BEGIN PRIVATE KEY-----"]
)  # fmt: skip
def test_time_is_linear_in_what_looks_like_a_secret_and_is_none(unit, grows_as_fast_as_its_text):
    def work(size):
        text = (unit * (size // len(unit))).encode()
        return lambda: cover(text)

    grows_as_fast_as_its_text(work, 20_000, 80_000, margin=4, floor=0.002)


def test_every_line_that_was_searched_had_48_kb_around_it_covered_again():
    class Counted(MemoryBlob):
        count = 0

        def read(self, start, end):
            Counted.count += end - start
            return super().read(start, end)

    data = b"".join(b"%06d a line of the log\n" % number for number in range(40_000))
    covered = Covered(Counted(data))
    lines = [covered.read(at, at + 28) for at in range(0, len(data), 28)]
    assert b"".join(lines) == data
    assert Counted.count < 5 * len(data)
