"""`spill stats`: the figures as a person and a program read them."""

import os
import re

import pytest

from spillover import journal
from spillover.journal import Entry

NOW = 1_900_000_000  # later than any machine's clock


def write(store, *entries):
    for entry in entries:
        journal.append(str(store.root), entry)


def clip(scope, **more):
    fields = {
        "tool": "npm",
        "command": "npm test",
        "produced": 9_000,
        "base": 8_000,
        "shown": 2_000,
        "notice": 100,
    } | more
    return Entry(operation="clip", outcome="stored", when=NOW, scope=scope, **fields)


@pytest.fixture
def here(tmp_path):
    return os.path.realpath(tmp_path)


def test_an_empty_journal_says_so(spill):
    said = spill("stats")
    assert (said.returncode, said.stderr) == (0, "")
    assert said.stdout == "Nothing was clipped in this project. --all-scopes looks in every project.\n"
    assert spill("stats", "--json").json["total"]["net"] == 0
    assert spill("stats", "--misses").stdout.startswith("Nobody went back")


def test_a_damaged_journal_says_how_much_of_it(spill, store, here):
    write(store, clip(here))
    with open(store.root + "/.ledger/journal", "ab") as file:
        file.write(b"\0" * 1_000 + b"\nnot a line\n")
    assert "2 damaged lines" in spill("stats").stdout
    assert spill("stats", "--json").json["damaged"] == 2


def test_the_figures_are_a_sum_that_can_be_checked_by_eye(spill, store, here):
    write(store, clip(here), Entry(operation="read", outcome="whole", when=NOW, scope=here, tool="npm", shown=400))
    said = spill("stats").stdout
    rows = [line.rstrip(" █▏▎▍▌▋▊▉").split("  ", 1) for line in said.splitlines()[2:8]]
    assert [(name, int(value.split()[0].replace(",", ""))) for name, value in rows] == [
        ("produced", 9_000),
        ("cut by the host", -1_000),
        ("shown", -2_000),
        ("notices", -100),
        ("fetched back", -400),
        ("net saved", 5_500),
    ]
    assert '[tools."npm *"]\ntokens = 1000  # saves 1,100 or more\n' in said
    assert max(map(len, said.splitlines())) <= 80


@pytest.mark.parametrize("by", ["tool", "command", "host", "day", "project"])
def test_every_group_has_a_row_and_fits_80_columns(spill, store, here, by):
    write(
        store,
        *(
            clip(here, tool=f"t{n}", command=f"c{n} " + "x" * 200, host="Claude Code", produced=10**9)
            for n in range(30)
        ),
    )
    said = spill("stats", "--by", by)
    assert said.stderr == ""
    assert max(map(len, said.stdout.splitlines())) <= 80
    found = spill("stats", "--by", by, "--json").json
    assert sum(group["net"] for group in found["groups"]) == found["total"]["net"]
    assert all(by in group for group in found["groups"])


def test_only_this_project_counts_unless_all_are_asked_for(spill, store, here):
    write(store, clip(here), clip("/elsewhere"))
    assert spill("stats", "--json").json["total"]["clips"] == 1
    assert spill("stats", "--json", "--all-scopes").json["total"]["clips"] == 2
    assert spill("stats", "--json", "--scope", "/elsewhere").json["total"]["clips"] == 1


def test_only_what_is_not_older_counts(spill, store, here):
    old = Entry(operation="clip", outcome="stored", when=1_000_000_000, scope=here, tool="x", produced=5)
    write(store, old, clip(here))
    assert spill("stats", "--json").json["total"]["clips"] == 2
    assert spill("stats", "--json", "--since", "7d").json["total"]["clips"] == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--by", "weather"], "--by: 'weather' is not valid; use tool, command, host, day, project."),
        (["--since", "yesterday"], "'yesterday' is not a time"),
        (["--store", "memory://"], "this store keeps no journal"),
    ],
)
def test_wrong_use_says_what_to_do(spill, arguments, words):
    said = spill("stats", *arguments)
    assert said.returncode == 2
    assert words in said.stderr


def test_what_a_tool_or_command_is_called_never_reaches_the_terminal_as_a_code(spill, store, here):
    write(store, clip(here, tool="\x1b]0;evil\x07", command="\x1b[31mred\u202e"))
    for arguments in ([], ["--by", "tool"], ["--by", "command"], ["--misses"]):
        said = spill("stats", *arguments).stdout
        assert "\x1b" not in said
        assert "\u202e" not in said


def test_a_miss_by_one_line_is_said_as_one(spill):
    ran = spill("run", "--lines", "20", "--keep", "head", "--", "seq", "1", "3000")
    hidden = re.search(r"lines (\d+)-", ran.stdout)[1]
    spill("read", "last", hidden)
    assert "1 line off" in spill("stats", "--misses").stdout


def test_from_a_run_to_its_miss(spill):
    ran = spill("run", "--tokens", "400", "--keep", "ends", "--", "seq", "1", "3000")
    ref = spill("list", "-q").stdout.strip()
    spill("read", ref, "1500:1510")
    spill("grep", ref, "^1777$")
    spill("run", "--", "echo", "hi")
    found = spill("stats", "--json").json["total"]
    assert (found["clips"], found["cut"], found["retrievals"]) == (2, 1, 2)
    assert found["shown"] + found["notices"] > 300
    assert ran.returncode == 0
    kinds = spill("stats", "--misses", "--json").json["kinds"]
    assert sum(kind["far"] for kind in kinds) == 2
    assert "1,777-1,777" in spill("stats", "--misses").stdout
    assert "lines off" in spill("stats", "--misses").stdout


def test_it_can_be_turned_off(spill, store):
    spill("run", "--", "seq", "1", "9", env={"SPILLOVER_STATS": "false"})
    assert not os.path.exists(store.root + "/.ledger")
    assert "turned off" in spill("stats", env={"SPILLOVER_STATS": "false"}).stdout
