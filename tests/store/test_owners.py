"""The scopes that share an output: each keeps its own call, and their number is bounded."""

import pytest
from msgspec.structs import replace

from spillover.errors import StoreError
from spillover.store.record import EVERY, MAX_OWNERS, OWNER_GRACE_SECONDS, Owner, merge, owners, released_by, seen_by
from spillover.testing import record_of


def record(scope, created, **facts):
    return record_of(b"same", ref="bash-0", scope=scope, created=created, **facts)


def test_each_scope_sees_its_own_call_and_nothing_of_the_others():
    both = merge(record("acme/a", 1.0, command="curl a", call_id="1"), record("/b", 2.0, command="curl b", call_id="2"))
    a, b = seen_by(both, "acme/a"), seen_by(both, "/b")
    assert (a.scope, a.created, a.command, a.call_id, a.others) == ("acme/a", 1.0, "curl a", "1", ())
    assert (b.scope, b.created, b.command, b.call_id, b.others) == ("/b", 2.0, "curl b", "2", ())
    assert seen_by(both, "acme") == a
    assert seen_by(both, "acme/b") is seen_by(both, "/") is None
    assert seen_by(both, EVERY) == both


def test_a_call_without_a_command_erases_none_and_is_given_none_of_another_scope():
    first = merge(record("acme/a", 1.0, command="make"), record("acme/a", 2.0))
    both = merge(first, record("/b", 3.0))
    assert {owner.scope: (owner.created, owner.command) for owner in owners(both)} == {
        "acme/a": (2.0, "make"),
        "/b": (3.0, None),
    }


def test_a_scope_above_sees_the_newest_of_those_below():
    both = merge(record("acme/a", 1.0, command="old"), record("acme/b", 2.0, command="new"))
    assert (seen_by(both, "acme").command, seen_by(both, "acme").others) == (
        "new",
        (Owner("acme/a", 1.0, None, "old"),),
    )


def test_what_belongs_to_nobody_is_seen_by_nobody():
    assert seen_by(record(None, 1.0, command="x"), "acme") is None
    assert seen_by(record(None, 1.0), EVERY) is not None


def test_a_scope_that_deletes_an_output_leaves_it_to_the_others():
    both = merge(record("acme/a", 1.0, command="a"), record("acme/b", 2.0, command="b"))
    left = released_by(both, "acme/b")
    assert [(owner.scope, owner.command) for owner in owners(left)] == [("acme/a", "a")]
    assert released_by(left, "acme/a") is None
    assert released_by(both, "acme") is None


def test_when_a_record_is_full_the_oldest_scope_is_dropped_unless_used_within_the_hour():
    full = record("s/0", 0.0)
    for number in range(1, MAX_OWNERS):
        full = merge(full, record(f"s/{number}", float(number)))
    assert len(owners(full)) == MAX_OWNERS
    with pytest.raises(StoreError, match="already belongs to 500 scopes"):
        merge(full, record("new", float(MAX_OWNERS)))
    later = merge(full, record("new", OWNER_GRACE_SECONDS + 1.0))
    assert len(owners(later)) == MAX_OWNERS
    assert seen_by(later, "s/0") is None
    assert seen_by(later, "s/1") is not None
    assert seen_by(later, "new") is not None
    again = merge(full, record("s/0", float(MAX_OWNERS)))
    assert len(owners(again)) == MAX_OWNERS, "a scope that already has it takes no room"


def test_a_scope_that_does_not_fit_is_never_dropped_silently():
    full = record("s/0", 1e6)
    for number in range(1, MAX_OWNERS):
        full = merge(full, record(f"s/{number}", 1e6 + number))
    with pytest.raises(StoreError):
        merge(full, record("late", 1.0))


def test_facts_about_the_bytes_come_from_the_newest_call_of_any_scope():
    part = record("a", 1.0, partial="the disk was full")
    assert merge(part, record("b", 2.0)).partial is None
    assert merge(replace(part, created=3.0), record("b", 2.0)).partial is None, "another fact is a newer one"
