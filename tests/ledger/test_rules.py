"""What floods, and the rule that tames it: pasted as it stands, it holds."""

import pytest

from spillover import Clipper, DirStore
from spillover.config.settings import load
from spillover.ledger.entry import Entry, encode
from spillover.ledger.rules import BY, Flood, pattern_for, tame
from spillover.ledger.stats import add_up
from spillover.rules import matches_command

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
    flood = Flood(command, "Bash", 3, 9_000, pattern_for(command), 1_500)
    file = tmp_path / "spillover.toml"
    file.write_text(flood.rule)
    monkeypatch.setenv("SPILLOVER_CONFIG", str(file))
    clipper = Clipper.configured(cwd=str(tmp_path))
    assert clipper.for_command(command).for_tool("Bash").limits.tokens == 1_500
    assert clipper.for_command("another thing").for_tool("Bash").limits.tokens != 1_500
    assert clipper.for_tool("Bash").limits.tokens != 1_500


def test_a_rule_for_a_command_holds_in_run_and_in_a_shell_line(tmp_path):
    clipper = Clipper(store=DirStore(tmp_path), rules={"seq *": {"tokens": 200}})
    assert clipper.run(["seq", "1", "5000"]).clip.limits.tokens == 200
    assert clipper.run(["sh", "-c", "cd / && seq 1 5000"]).clip.limits.tokens == 200
    assert clipper.run(["echo", "hi"]).clip.limits.tokens != 200


def test_a_rule_for_a_command_is_stronger_than_one_for_its_tool(tmp_path):
    clipper = Clipper(store=DirStore(tmp_path), rules={"*": {"tokens": 900}, "seq *": {"tokens": 200}})
    assert clipper.for_command("seq 1 9").for_tool("bash").limits.tokens == 200
    assert clipper.for_command("make").for_tool("bash").limits.tokens == 900


def test_a_command_cannot_be_left_alone(tmp_path, monkeypatch):
    from spillover.errors import ConfigError

    file = tmp_path / "spillover.toml"
    file.write_text('[tools."npm *"]\nclip = false\n')
    monkeypatch.setenv("SPILLOVER_CONFIG", str(file))
    with pytest.raises(ConfigError, match="a tool can be left alone, not a command"):
        load(cwd=str(tmp_path)).choices()


def floods(*rows):
    lines = [
        Entry(operation="clip", outcome="whole", when=1, scope="/a", tool=tool, command=command, produced=tokens, base=tokens, shown=tokens)
        for command, tool, tokens in rows
    ]  # fmt: skip
    return tame(add_up([b"".join(map(encode, lines))], by=BY))


def test_the_ten_that_leave_most_in_the_context_are_named_most_first():
    found = floods(*((f"tool{number} x", "Bash", 1_000 * number) for number in range(1, 31)))
    assert [flood.pattern for flood in found] == [f"tool{number} *" for number in range(30, 20, -1)]
    assert found[0].saves == 30_000 - 1_500


def test_commands_under_one_rule_are_one_row_and_a_tool_without_a_command_has_its_own_name():
    found = floods(("npm test", "Bash", 4_000), ("npm run lint", "Bash", 9_000), ("", "mcp__db__query", 6_000))
    assert [(flood.pattern, flood.calls, flood.received) for flood in found] == [
        ("npm *", 2, 13_000),
        ("mcp__db__query", 1, 6_000),
    ]
    assert found[0].command == "npm run lint"
    assert found[1].rule == '[tools."mcp__db__query"]\ntokens = 1500\n'


def test_what_a_rule_would_not_tame_is_not_named():
    assert floods(("ls", "Bash", 100), ("pwd", "Bash", 3)) == []


def test_what_leaves_little_per_call_is_no_flood():
    assert floods(*[("ls -l", "Bash", 435)] * 50) == []
    assert [flood.tokens for flood in floods(("ls -l", "Bash", 1_000))] == [500]
