"""What the lines add up to, counted by hand."""

import time

import pytest

from spillover.errors import UsageError
from spillover.ledger.entry import Entry, encode
from spillover.ledger.stats import add_up

NOON = time.mktime((2026, 3, 2, 12, 0, 0, 0, 0, -1))


def clip(at=0.0, *, produced=1_000, base=None, shown=300, notice=50, **more):
    fields = {"scope": "/app", "tool": "npm", "command": "npm test", "outcome": "stored"} | more
    base = produced if base is None else base
    return Entry(operation="clip", when=NOON + at, produced=produced, base=base, shown=shown, notice=notice, **fields)


def back(at=0.0, *, shown=100, operation="read", **more):
    fields = {"scope": "/app", "tool": "npm", "command": "npm test", "outcome": "whole"} | more
    return Entry(operation=operation, when=NOON + at, shown=shown, **fields)


def total(*entries, **asked):
    return add_up([b"".join(map(encode, entries))], **asked).total


def test_net_is_what_is_left_after_everything_the_model_read():
    sums = total(clip(), back(), back(operation="grep", shown=20), back(operation="schema", shown=30))
    assert (sums.clips, sums.cut, sums.retrievals) == (1, 1, 2)
    assert (sums.produced, sums.shown, sums.notices, sums.fetched, sums.schemas) == (1_000, 300, 50, 120, 30)
    assert sums.net == 1_000 - 300 - 50 - 120 - 30
    assert sums.received == 500


def test_what_the_host_would_have_cut_is_no_saving():
    sums = total(clip(produced=1_000, base=400))
    assert sums.host_cut == 600
    assert sums.net == 400 - 350


@pytest.mark.parametrize(
    ("entries", "reruns"),
    [
        ([clip(), clip(599)], 1_000),
        ([clip(), clip(601)], 0),
        ([clip(), clip(300, command="npm run lint")], 0),
        ([clip(), clip(300, scope="/other")], 0),
        ([clip(outcome="whole"), clip(300)], 0),  # nothing was hidden from the first
        ([clip(), clip(300, outcome="whole", produced=200, shown=200, notice=0)], 200),
        ([clip(command=""), clip(300, command="")], 0),  # no command that could be repeated
        ([clip(), clip(500), clip(1_000)], 2_000),
        ([clip(), back(300)], 0),
    ],
)
def test_a_command_that_is_run_again_within_ten_minutes_of_a_clip_saved_nothing(entries, reruns):
    assert total(*entries).reruns == reruns
    apart = add_up([encode(entry) for entry in entries]).total  # the same from one block to the next
    assert apart.reruns == reruns


def test_groups_add_up_to_the_total():
    entries = [clip(n * 7_000, tool=f"t{n % 3}", command=f"c{n % 5}", scope=f"/p{n % 2}") for n in range(60)]
    for by in ("tool", "command", "project", "host", "day", ("day", "tool")):
        stats = add_up([b"".join(map(encode, entries))], by=by)
        for name in ("clips", "produced", "shown", "notices", "reruns", "net"):
            assert sum(getattr(group.sums, name) for group in stats.groups) == getattr(stats.total, name)
    assert [group.names for group in add_up([b"".join(map(encode, entries))], by="tool").groups] == [
        ("t0",), ("t1",), ("t2",),
    ]  # fmt: skip


def test_days_are_those_of_the_clock_on_the_wall_and_stand_in_order():
    stats = add_up([encode(clip(86_400)) + encode(clip()) + encode(clip(1))], by="day")
    assert [group.names for group in stats.groups] == [("2026-03-02",), ("2026-03-03",)]
    assert [group.sums.clips for group in stats.groups] == [2, 1]


def test_only_the_time_and_the_scope_that_were_asked_for_count():
    entries = [clip(), clip(5_000, scope="acme/web"), clip(9_000, scope="acme/web/s1")]
    assert total(*entries, since=NOON + 1).clips == 2
    assert total(*entries, scope="/app").clips == 1
    assert total(*entries, scope="acme/web").clips == 2
    assert total(*entries, scope="acme").clips == 2
    assert total(*entries, scope="acm").clips == 0


def test_damaged_lines_are_counted_and_nothing_else():
    good = encode(clip())
    odd = [
        b"",
        b"\n",
        b"\0" * 500 + b"\n",
        b"x\n",
        good[:40] + b"\n",
        good[:90] + good,
        b"9" * 300 + b"\n",
        good.replace(b'"/app"', b"7"),
    ]
    for line in odd:
        stats = add_up([good + line + good])
        assert stats.total.clips == 2
        assert stats.damaged == (len(line) > 1)
    assert add_up([]).total.clips == 0
    assert add_up([b"\n"]).damaged == 0


def test_an_unknown_group_is_refused():
    with pytest.raises(UsageError, match="by='weather' is not valid; use project, tool, host, command, day"):
        add_up([], by="weather")
