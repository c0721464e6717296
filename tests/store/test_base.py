"""Refs, records, and verifying what is stored."""

import hashlib

import pytest
from msgspec.structs import replace

from spillover.errors import RefError, UsageError
from spillover.store import verify
from spillover.store.memory import MemoryStore
from spillover.store.record import REF_SHAPE, check_ref, decode, encode, mint, name_for, resolve
from spillover.testing import HOSTILE_REFS, put, record_of

SHA = "7f3a9c2e41d0b586" + "ab" * 24


@pytest.mark.parametrize(
    ("tool", "ref"),
    [
        ("bash", "bash-7f3a9c2e41d0b586"),
        ("Bash", "bash-7f3a9c2e41d0b586"),
        ("mcp__github__list issues", "mcp__github__list_issues-7f3a9c2e41d0b586"),
        ("../../etc/passwd", "etc_passwd-7f3a9c2e41d0b586"),
        (".hidden", "hidden-7f3a9c2e41d0b586"),
        ("", "tool-7f3a9c2e41d0b586"),
        ("é", "tool-7f3a9c2e41d0b586"),
        ("a-b", "a_b-7f3a9c2e41d0b586"),
        ("x" * 99, "x" * 32 + "-7f3a9c2e41d0b586"),
    ],
)
def test_a_ref_is_the_tool_and_the_start_of_the_hash(tool, ref):
    assert mint(tool, SHA) == ref
    assert REF_SHAPE.fullmatch(ref)


def test_an_output_has_one_name_of_sixteen_digits():
    assert name_for("bash", SHA) == mint("bash", SHA) == "bash-7f3a9c2e41d0b586"


@pytest.mark.parametrize("digits", [12, 16, 24, 32, 64])
def test_refs_of_earlier_versions_keep_their_shape(digits):
    assert REF_SHAPE.fullmatch(mint("bash", SHA, digits))


@pytest.mark.parametrize("sha256", ["", "../../x", SHA.upper(), SHA[:-1], SHA + "0", "\u0661" * 64])
def test_a_malformed_hash_is_refused(sha256):
    with pytest.raises(UsageError, match="is not a SHA-256"):
        name_for("bash", sha256)


@pytest.mark.parametrize("ref", HOSTILE_REFS)
def test_a_hostile_ref_names_nothing_and_the_answer_stays_short(ref):
    with pytest.raises(RefError) as caught:
        resolve(ref, iter(["bash-7f3a9c2e41d0"]))
    assert len(str(caught.value)) < 300


def test_what_is_not_text_is_no_ref():
    for ref in (None, b"bash-7f3a9c2e41d0", 5):
        with pytest.raises(RefError):
            check_ref(ref)


def test_a_whole_ref_wins_over_a_longer_one_that_starts_with_it():
    known = ["bash-7f3a9c2e41d0aaaa", "bash-7f3a9c2e41d0"]
    assert resolve("bash-7f3a9c2e41d0", iter(known)) == "bash-7f3a9c2e41d0"
    with pytest.raises(RefError, match="is ambiguous: 2 outputs begin with it"):
        resolve("7f3a9c2e41d0", iter(known))


class Tampered(MemoryStore):
    """A store that returns different bytes or records than were put in."""

    def tamper(self, ref, data=None, **facts):
        record, kept = self._kept[ref]
        self._kept[ref] = replace(record, **facts), kept if data is None else data


@pytest.mark.parametrize(
    ("data", "facts", "words"),
    [
        (None, {}, None),
        (b"one\ntwo", {}, "8 bytes were stored; 7 are there."),
        (b"one\ntwo\nthree", {}, "8 bytes were stored; 13 are there."),
        (b"one\ntwx\n", {}, "Its bytes have changed"),
        (None, {"sha256": SHA}, "Its bytes have changed"),
        (None, {"lines": 3}, "Its record counts 3 lines; there are 2."),
    ],
)
def test_verify_says_what_is_wrong(data, facts, words):
    store = Tampered()
    ref = put(store, b"one\ntwo\n").ref
    store.tamper(ref, data, **facts)
    said = verify(store, ref)
    assert said is None if words is None else words in said


def test_verify_reads_on_past_its_first_block():
    store = Tampered()
    data = b"x" * 79 + b"\n"
    ref = put(store, data * 40_000).ref
    assert verify(store, ref) is None
    store.tamper(ref, data * 39_999 + b"y" * 80)
    assert "Its bytes have changed" in verify(store, ref)


def test_verify_of_what_is_not_there_is_a_ref_error():
    with pytest.raises(RefError):
        verify(MemoryStore(), "bash-7f3a9c2e41d0")


def test_a_record_is_the_same_after_json():
    record = record_of(b"a\n" * 2_000_000, ref="bash-0123", command="\ud800 é \n", segments=(("stderr", 4_000_000),))
    record = replace(record, ref=mint("bash", record.sha256), pinned=True, created=1.5, shown=((1, 2),))
    assert decode(encode(record), ref=record.ref, pinned=True) == record
    assert record.index.before[1] > 0


def sign_again(data):
    """Return a record with a new hash, so that only its values can reveal a change."""
    text = data.partition(b', "check": ')[0]
    return text + b', "check": "' + hashlib.sha256(text).hexdigest().encode() + b'"}\n'


def test_keys_of_a_later_version_are_passed_over():
    record = replace(record_of(b"x"), ref="bash-2d711642b726")
    later = encode(record).replace(b"{", b'{"color": [1], ', 1)
    assert decode(sign_again(later), ref=record.ref, pinned=False) == record


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"bytes": 1', b'"bytes": -1'),
        (b'"bytes": 1', b'"bytes": true'),
        (b'"bytes": 1', b'"bytes": 1.0'),
        (b'"bytes": 1', b'"bytes": "1"'),
        (b'"bytes": 1, ', b""),
        (b'"tool": "bash"', b'"tool": 5'),
        (b'"created": 0.0', b'"created": NaN'),
        (b'"created": 0.0', b'"created": 1e999'),
        (b'"segments": []', b'"segments": [["stdout"]]'),
        (b'"segments": []', b'"segments": 5'),
        (b'"index": {', b'"index": [], "_": {'),
        (b'"block": ', b'"block": 0, "_": '),
        (b'"spillover": 1', b'"spillover": 2'),
        (b'"sha256": "2d7', b'"sha256": "3d7'),
        (b"}\n", b""),
        (b"{", b"[" * 100_000 + b"{"),
        (b"{", b"\xff{"),
    ],
)
def test_a_damaged_record_is_rejected(old, new):
    whole = encode(record_of(b"x"))
    damaged = whole.replace(old, new, 1)
    assert damaged != whole
    for data in (damaged, sign_again(damaged)) if old != b"}\n" else (damaged,):
        with pytest.raises(ValueError, match=r"\w"):
            decode(data, ref="bash-2d711642b726", pinned=False)


@pytest.mark.parametrize("data", [b"", b"\0" * 100, b"null", b"[]", b"{}", b"5" * 10_000])
def test_json_that_is_not_a_record_is_rejected(data):
    with pytest.raises(ValueError, match=r"\w"):
        decode(data, ref="bash-2d711642b726", pinned=False)
