"""Refs, and checking what is stored."""

import dataclasses

import pytest

from spillover.errors import RefError, UsageError
from spillover.store.base import REF_SHAPE, checked, mint, names_for, resolve, verify
from spillover.store.memory import MemoryStore
from spillover.store.record import from_json, to_json
from spillover.testing import HOSTILE_REFS, put, record_of

SHA = "7f3a9c2e41d0" + "ab" * 26


@pytest.mark.parametrize(
    ("tool", "ref"),
    [
        ("bash", "bash-7f3a9c2e41d0"),
        ("Bash", "bash-7f3a9c2e41d0"),
        ("mcp__github__list issues", "mcp__github__list_issues-7f3a9c2e41d0"),
        ("../../etc/passwd", "etc_passwd-7f3a9c2e41d0"),
        (".hidden", "hidden-7f3a9c2e41d0"),
        ("", "tool-7f3a9c2e41d0"),
        ("é", "tool-7f3a9c2e41d0"),
        ("a-b", "a_b-7f3a9c2e41d0"),
        ("x" * 99, "x" * 32 + "-7f3a9c2e41d0"),
    ],
)
def test_a_ref_is_the_tool_and_the_start_of_the_hash(tool, ref):
    assert mint(tool, SHA) == ref
    assert REF_SHAPE.fullmatch(ref)


def test_the_names_an_output_may_have_end_with_its_whole_hash():
    names = list(names_for("bash", SHA))
    assert [len(name) - 5 for name in names] == [12, 16, 24, 32, 64]
    assert names[-1] == f"bash-{SHA}"


@pytest.mark.parametrize("sha256", ["", "../../x", SHA.upper(), SHA[:-1], SHA + "0", "\u0661" * 64])
def test_what_is_no_hash_makes_no_name(sha256):
    with pytest.raises(UsageError, match="is not a SHA-256"):
        list(names_for("bash", sha256))


@pytest.mark.parametrize("ref", HOSTILE_REFS)
def test_a_hostile_ref_names_nothing_and_the_answer_stays_short(ref):
    with pytest.raises(RefError) as caught:
        resolve(ref, iter(["bash-7f3a9c2e41d0"]))
    assert len(str(caught.value)) < 300


def test_what_is_not_text_is_no_ref():
    for ref in (None, b"bash-7f3a9c2e41d0", 5):
        with pytest.raises(RefError):
            checked(ref)


def test_a_whole_ref_wins_over_a_longer_one_that_starts_with_it():
    known = ["bash-7f3a9c2e41d0aaaa", "bash-7f3a9c2e41d0"]
    assert resolve("bash-7f3a9c2e41d0", iter(known)) == "bash-7f3a9c2e41d0"
    with pytest.raises(RefError, match="may be any of 2 outputs"):
        resolve("7f3a9c2e41d0", iter(known))


class Tampered(MemoryStore):
    """A store whose bytes or records are not what was put in."""

    def tamper(self, ref, data=None, **facts):
        record, kept = self._kept[ref]
        self._kept[ref] = dataclasses.replace(record, **facts), kept if data is None else data


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
    record = record_of(b"a\n" * 2_000_000, ref="bash-0123", command="\ud800 é \n", segments=(("stderr", 4),))
    record = dataclasses.replace(record, ref=mint("bash", record.sha256), pinned=True, created=1.5, shown=((1, 2),))
    assert from_json(to_json(record), ref=record.ref, pinned=True) == record
    assert record.index.before[1] > 0


def test_keys_of_a_later_version_are_passed_over():
    record = dataclasses.replace(record_of(b"x"), ref="bash-2d711642b726")
    later = to_json(record).replace(b"{", b'{"color": [1], ', 1)
    assert from_json(later, ref=record.ref, pinned=False) == record


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
def test_a_damaged_record_is_not_taken_for_one(old, new):
    whole = to_json(record_of(b"x"))
    damaged = whole.replace(old, new, 1)
    assert damaged != whole
    with pytest.raises(ValueError, match=r"\w"):
        from_json(damaged, ref="bash-2d711642b726", pinned=False)


@pytest.mark.parametrize("data", [b"", b"\0" * 100, b"null", b"[]", b"{}", b"5" * 10_000])
def test_what_is_no_record_is_not_taken_for_one(data):
    with pytest.raises(ValueError, match=r"\w"):
        from_json(data, ref="bash-2d711642b726", pinned=False)
