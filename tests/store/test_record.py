"""Refs, records, the scopes that share an output, and verifying what is stored."""

import hashlib

import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from spillover.errors import RefError, StoreError, UsageError
from spillover.source.blob import LineIndex
from spillover.store import verify
from spillover.store.memory import MemoryStore
from spillover.store.record import (
    EVERY,
    MAX_OWNERS,
    OWNER_GRACE_SECONDS,
    REF_SHAPE,
    Owner,
    check_ref,
    combine,
    decode,
    encode,
    merge,
    mint,
    name_for,
    owners,
    released_by,
    resolve,
    seen_by,
    to_record,
)
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
        record, kept = self._outputs[ref]
        self._outputs[ref] = replace(record, **facts), kept if data is None else data


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


# ── scopes that share an output


def owned_by(scope, created, **facts):
    return record_of(b"same", ref="bash-0", scope=scope, created=created, **facts)


def test_each_scope_sees_its_own_call_and_nothing_of_the_others():
    both = merge(
        owned_by("acme/a", 1.0, command="curl a", call_id="1"), owned_by("/b", 2.0, command="curl b", call_id="2")
    )
    a, b = seen_by(both, "acme/a"), seen_by(both, "/b")
    assert (a.scope, a.created, a.command, a.call_id, a.others) == ("acme/a", 1.0, "curl a", "1", ())
    assert (b.scope, b.created, b.command, b.call_id, b.others) == ("/b", 2.0, "curl b", "2", ())
    assert seen_by(both, "acme") == a
    assert seen_by(both, "acme/b") is seen_by(both, "/") is None
    assert seen_by(both, EVERY) == both


def test_a_call_without_a_command_erases_none_and_is_given_none_of_another_scope():
    first = merge(owned_by("acme/a", 1.0, command="make"), owned_by("acme/a", 2.0))
    both = merge(first, owned_by("/b", 3.0))
    assert {owner.scope: (owner.created, owner.command) for owner in owners(both)} == {
        "acme/a": (2.0, "make"),
        "/b": (3.0, None),
    }


def test_a_scope_above_sees_the_newest_of_those_below():
    both = merge(owned_by("acme/a", 1.0, command="old"), owned_by("acme/b", 2.0, command="new"))
    assert (seen_by(both, "acme").command, seen_by(both, "acme").others) == (
        "new",
        (Owner("acme/a", 1.0, None, "old"),),
    )


def test_what_belongs_to_nobody_is_seen_by_nobody():
    assert seen_by(owned_by(None, 1.0, command="x"), "acme") is None
    assert seen_by(owned_by(None, 1.0), EVERY) is not None


def test_a_scope_that_deletes_an_output_leaves_it_to_the_others():
    both = merge(owned_by("acme/a", 1.0, command="a"), owned_by("acme/b", 2.0, command="b"))
    left = released_by(both, "acme/b")
    assert [(owner.scope, owner.command) for owner in owners(left)] == [("acme/a", "a")]
    assert released_by(left, "acme/a") is None
    assert released_by(both, "acme") is None


def test_when_a_record_is_full_the_oldest_scope_is_dropped_unless_used_within_the_hour():
    full = owned_by("s/0", 0.0)
    for number in range(1, MAX_OWNERS):
        full = merge(full, owned_by(f"s/{number}", float(number)))
    assert len(owners(full)) == MAX_OWNERS
    with pytest.raises(StoreError, match="already belongs to 500 scopes"):
        merge(full, owned_by("new", float(MAX_OWNERS)))
    later = merge(full, owned_by("new", OWNER_GRACE_SECONDS + 1.0))
    assert len(owners(later)) == MAX_OWNERS
    assert seen_by(later, "s/0") is None
    assert seen_by(later, "s/1") is not None
    assert seen_by(later, "new") is not None
    again = merge(full, owned_by("s/0", float(MAX_OWNERS)))
    assert len(owners(again)) == MAX_OWNERS, "a scope that already has it takes no room"


def test_a_scope_that_does_not_fit_is_never_dropped_silently():
    full = owned_by("s/0", 1e6)
    for number in range(1, MAX_OWNERS):
        full = merge(full, owned_by(f"s/{number}", 1e6 + number))
    with pytest.raises(StoreError):
        merge(full, owned_by("late", 1.0))


def test_facts_about_the_bytes_come_from_the_newest_call_of_any_scope():
    part = owned_by("a", 1.0, partial="the disk was full")
    assert merge(part, owned_by("b", 2.0)).partial is None
    assert merge(replace(part, created=3.0), owned_by("b", 2.0)).partial is None, "another fact is a newer one"


def test_copies_of_an_output_in_more_scopes_than_a_record_names_are_one_output_all_the_same():
    """Once a listing of such a bucket was an error."""
    copies = [owned_by(f"s/{number}", 1e6 + number) for number in range(MAX_OWNERS + 9)]
    assert len(owners(combine(copies))) == MAX_OWNERS


def test_of_several_copies_the_first_says_what_is_stored():
    part = owned_by("a", 2.0, partial="the disk was full")
    assert combine([part, owned_by("b", 3.0)]).partial == "the disk was full"
    assert combine([owned_by("b", 1.0), part]).partial is None


@pytest.mark.parametrize(
    "changes",
    [
        {"bytes": -1},
        {"lines": -1},
        {"produced_bytes": 1 << 63},
        {"redacted": -1},
        {"created": float("nan")},
        {"created": 1e13},
        {"others": (Owner("acme", float("inf")),)},
        {"segments": (("stdout", -2), ("stderr", 4))},
        {"index": LineIndex(block=0)},
        {"index": LineIndex(block=1 << 25)},
    ],
)
def test_a_record_with_a_number_that_cannot_be_is_not_believed(changes):
    record = record_of(b"x\n", "bash", created=1.0).with_ref(mint("bash", record_of(b"x\n").sha256))
    facts = {**to_builtins(record), **to_builtins(changes)}
    with pytest.raises(ValueError, match="a value is missing or wrong"):
        to_record(facts, ref=record.ref, pinned=False)
    assert to_record(to_builtins(record), ref=record.ref, pinned=False) == record
