"""What the lines of the journal add up to, counted by hand; the rules they suggest; and where models went back to."""

import time

import pytest

from spillover import Clipper, DirStore, Limits, journal
from spillover.errors import ConfigError, UsageError
from spillover.journal import Entry, encode
from spillover.settings.load import load
from spillover.settings.settings import matches_command
from spillover.stats import RULES_BY, NoisyCommand, add_up, find_misses, pattern_for, suggest_rules

NOON = time.mktime((2026, 3, 2, 12, 0, 0, 0, 0, -1))


def clip(at=0.0, *, produced=1_000, base=None, shown=300, notice=50, **more):
    fields = {"scope": "/app", "tool": "npm", "command": "npm test", "outcome": "stored"} | more
    base = produced if base is None else base
    return Entry(operation="clip", when=NOON + at, produced=produced, base=base, shown=shown, notice=notice, **fields)


def back(at=0.0, *, shown=100, operation="read", **more):
    fields = {"scope": "/app", "tool": "npm", "command": "npm test", "outcome": "whole"} | more
    return Entry(operation=operation, when=NOON + at, shown=shown, **fields)


def total(*entries, **asked):
    return add_up(entries, **asked).total


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


def test_groups_add_up_to_the_total():
    entries = [clip(n * 7_000, tool=f"t{n % 3}", command=f"c{n % 5}", scope=f"/p{n % 2}") for n in range(60)]
    for by in ("tool", "command", "project", "host", "day", ("day", "tool")):
        stats = add_up(entries, by=by)
        for name in ("clips", "produced", "shown", "notices", "reruns", "net"):
            assert sum(getattr(group.sums, name) for group in stats.groups) == getattr(stats.total, name)
    assert [group.names for group in add_up(entries, by="tool").groups] == [
        ("t0",), ("t1",), ("t2",),
    ]  # fmt: skip


def test_days_are_those_of_the_clock_on_the_wall_and_stand_in_order():
    stats = add_up([clip(86_400), clip(), clip(1)], by="day")
    assert [group.names for group in stats.groups] == [("2026-03-02",), ("2026-03-03",)]
    assert [group.sums.clips for group in stats.groups] == [2, 1]


def test_only_the_time_and_the_scope_that_were_asked_for_count():
    entries = [clip(), clip(5_000, scope="acme/web"), clip(9_000, scope="acme/web/s1")]
    assert total(*entries, since=NOON + 1).clips == 2
    assert total(*entries, scope="/app").clips == 1
    assert total(*entries, scope="acme/web").clips == 2
    assert total(*entries, scope="acme").clips == 2
    assert total(*entries, scope="acm").clips == 0


def test_damaged_lines_are_counted_and_nothing_else(tmp_path):
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
    for number, line in enumerate(odd):
        folder = tmp_path / str(number)
        journal.append(str(folder), clip())
        with open(folder / ".ledger" / "journal", "ab") as file:
            file.write(line + good)
        stats = add_up(journal.read_all(str(folder)))
        assert stats.total.clips == 2
        assert stats.damaged == (len(line) > 1)
    assert add_up([]).total.clips == 0


def test_an_unknown_group_is_refused():
    with pytest.raises(UsageError, match="by='weather' is not valid; use project, tool, host, command, day"):
        add_up([], by="weather")


# The commands that leave most in the context, and the rule that tames each: pasted as it stands, it holds.

PATTERNS = [
    ("npm test", "npm *"),
    ("npm", "npm *"),
    ("cd app && npm run build 2>&1 | tail -5", "npm *"),
    ("CI=1 pytest -x", "pytest *"),
    ("git log --oneline", "git log *"),
    ("python -m pytest tests", "python -m pytest *"),
    ("cargo test --all", "cargo test *"),
    ("./run[1].sh *", "./run[[]1].sh *"),
    ('grep "a b" x', "grep *"),
    ("cd somewhere", "cd *"),
    ("find . -name '*.py'", "find *"),
]


@pytest.mark.parametrize(("command", "pattern"), PATTERNS)
def test_the_pattern_of_a_rule_names_the_program_and_matches_the_command(command, pattern):
    assert pattern_for(command) == pattern
    assert matches_command(pattern, command)


@pytest.mark.parametrize(("command", "_"), PATTERNS)
def test_a_rule_that_is_pasted_into_the_configuration_holds(tmp_path, monkeypatch, command, _):
    noisy = NoisyCommand(command, "Bash", 3, 9_000, pattern_for(command))
    file = tmp_path / "spillover.toml"
    file.write_text(noisy.rule)
    monkeypatch.setenv("SPILLOVER_CONFIG", str(file))
    clipper = Clipper.configured(cwd=str(tmp_path))
    assert clipper.call("Bash", command=command).limits.tokens == 1_500
    assert clipper.call("Bash", command="another thing").limits.tokens != 1_500
    assert clipper.call("Bash").limits.tokens != 1_500


def test_a_rule_for_a_command_holds_in_run_and_in_a_shell_line(tmp_path):
    clipper = Clipper(store=DirStore(tmp_path), rules={"seq *": {"tokens": 200}})
    assert clipper.run(["seq", "1", "5000"]).clip.limits.tokens == 200
    assert clipper.run(["sh", "-c", "cd / && seq 1 5000"]).clip.limits.tokens == 200
    assert clipper.run(["echo", "hi"]).clip.limits.tokens != 200


def test_a_rule_for_a_command_is_stronger_than_one_for_its_tool(tmp_path):
    clipper = Clipper(store=DirStore(tmp_path), rules={"*": {"tokens": 900}, "seq *": {"tokens": 200}})
    assert clipper.call("bash", command="seq 1 9").limits.tokens == 200
    assert clipper.call("bash", command="make").limits.tokens == 900


def test_a_command_cannot_be_left_alone(tmp_path, monkeypatch):
    file = tmp_path / "spillover.toml"
    file.write_text('[tools."npm *"]\nclip = false\n')
    monkeypatch.setenv("SPILLOVER_CONFIG", str(file))
    with pytest.raises(ConfigError, match="a tool can be left alone, not a command"):
        load(cwd=str(tmp_path)).settings()


def noisy_commands(*rows):
    lines = [
        Entry(operation="clip", outcome="whole", when=1, scope="/a", tool=tool, command=command, produced=tokens, base=tokens, shown=tokens)
        for command, tool, tokens in rows
    ]  # fmt: skip
    return suggest_rules(add_up(lines, by=RULES_BY))


def test_the_ten_that_leave_most_in_the_context_are_named_most_first():
    found = noisy_commands(*((f"tool{number} x", "Bash", 1_000 * number) for number in range(1, 31)))
    assert [row.pattern for row in found] == [f"tool{number} *" for number in range(30, 20, -1)]
    assert found[0].saves == 30_000 - 1_500


def test_commands_under_one_rule_are_one_row_and_a_tool_without_a_command_has_its_own_name():
    found = noisy_commands(("npm test", "Bash", 4_000), ("npm run lint", "Bash", 9_000), ("", "mcp__db__query", 6_000))
    assert [(row.pattern, row.calls, row.received) for row in found] == [
        ("npm *", 2, 13_000),
        ("mcp__db__query", 1, 6_000),
    ]
    assert found[0].command == "npm run lint"
    assert found[1].rule == '[tools."mcp__db__query"]\ntokens = 1500\n'


def test_what_a_rule_would_not_tame_is_not_named():
    assert noisy_commands(("ls", "Bash", 100), ("pwd", "Bash", 3)) == []


def test_what_leaves_little_per_call_is_no_flood():
    assert noisy_commands(*[("ls -l", "Bash", 435)] * 50) == []
    assert [row.tokens for row in noisy_commands(("ls -l", "Bash", 1_000))] == [500]


# Going back: how often, what for, and how far from what was shown.

LINES = "".join(f"step {number} of the build went well\n" for number in range(1, 2_001))


@pytest.fixture
def clipper(tmp_path):
    return Clipper(Limits(tokens=400), store=DirStore(tmp_path / "store"), scope="app", keep="ends", stats=True)


def misses(clipper):
    return find_misses(journal.read(clipper.settings.store.folder))


def test_what_lay_just_outside_what_was_shown_is_told_from_what_lay_elsewhere(clipper):
    clip = clipper.clip(LINES, tool="make")
    (_, first), *_, (last, _) = clip.ranges
    asked = {f"{first + 3}:{first + 5}": 3, f"{last - 9}:{last - 7}": 7, "1000:1010": min(1000 - first, last - 1010)}
    for lines in asked:
        clipper.read(clip.ref, lines=lines)
    clipper.read(clip.ref, lines="1:2")
    clipper.outline(clip.ref)
    found = misses(clipper)
    [kind] = found.kinds
    assert (kind.kind, kind.clips, kind.back, kind.retrievals) == ("log", 1, 1, 5)
    assert (kind.near, kind.far, kind.seen) == (2, 1, 1)
    [miss] = found.outputs
    assert [entry.near for entry in miss.retrievals] == [*asked.values(), None, None]
    assert miss.near == 3


def test_the_newest_output_that_was_gone_back_to_comes_first(clipper):
    refs = [clipper.clip(LINES + str(number), tool=f"t{number}").ref for number in range(3)]
    for ref in (*refs, refs[0]):
        clipper.grep(ref, "step 1000 ")
    assert [miss.last.ref for miss in misses(clipper).outputs] == [refs[0], refs[2], refs[1]]
