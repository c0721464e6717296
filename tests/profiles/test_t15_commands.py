"""What is known of a command before it runs: tables a reviewer can check by eye."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover.profiles.t15_commands import FLOODS, Flood, direction_for, warning_for

FLOODING = [
    "ls -R /",
    "ls -lR /",
    "ls --recursive /usr",
    "ls -R ~",
    "find /",
    "find / -type f",
    "sudo find / 2>/dev/null",
    "sudo -u root env A=1 nice -n 5 find /",
    "timeout 5 find /",
    "cd / && ls -R /",
    "echo hi; find /",
    "true || find /",
    "if true; then find /; fi",
    "echo a\nfind /\n",
    "find / \\\n -type f",
    'bash -c "ls -R /"',
    "find / | head -n 100000",
    "find / | head -n -5",
    "find / | tail -n +2",
    "find / | sort | cat",
    "find / >&2",
    'grep -r "" .',
    "grep -r '' src",
    "grep -rn TODO /",
    "rg ''",
    "cat /dev/urandom",
    "cat < /dev/zero",
    "xxd /dev/sda",
    "yes",
    "yes | cat",
    "journalctl",
    "journalctl -u nginx",
    "journalctl -n 5 -f",
    "npm install --verbose",
    "npm ci --loglevel silly",
    "npm i --loglevel=verbose",
    "docker logs web",
    "kubectl logs pod/web",
    "git log -p",
    "tail -f app.log",
    "tree /",
    "du -a /",
    "find / 'unbalanced",
]
HARMLESS = [
    "",
    "   ",
    "#",
    "ls",
    "ls /",
    "ls -R src",
    "find . -name x",
    "find / -name passwd",
    "find / -maxdepth 1",
    "find / > all.txt",
    "find / >> all.txt",
    "find / &> all.txt",
    "find / | head",
    "find / | head -20",
    "find / | head -n 20 | cat",
    "find / | wc -l",
    "find /|wc -l",
    "find / 2>&1 | grep -c x",
    "find / | grep needle",
    "find / | sed 20q",
    "find / | python count.py",
    "echo 'find /'",
    'echo "ls -R /"',
    "echo hi # find /",
    "# find /",
    "grep -r TODO src",
    "grep -rc '' /",
    "cat /dev/null",
    "cat README.md",
    "yes | apt install jq",
    "journalctl -n 50",
    "journalctl --since today",
    "npm install",
    "npm test --verbose",
    "docker logs --tail 50 web",
    "git log -p -3",
    "git log",
    "tail -n 5 app.log",
    'echo "unbalanced',
    "sudo",
    "| | |",
    "&&",
    "> ",
    "$(",
]


@pytest.mark.parametrize("command", FLOODING)
def test_a_command_that_is_known_to_flood_is_warned_of(command):
    said = warning_for(command)
    assert said.startswith("`")
    assert said.endswith(".")
    assert "\n" not in said


@pytest.mark.parametrize("command", HARMLESS)
def test_all_others_are_let_pass(command):
    assert warning_for(command) is None


def test_the_sentence_names_the_command_and_the_way_out():
    assert warning_for("cd x && ls -R / 2>/dev/null") == (
        "`ls -R /` lists every file below a folder that has no end of them; "
        "narrow it down, or bound it, for example with `| head -n 200`."
    )


def test_a_long_command_is_not_said_in_full():
    assert len(warning_for("find / " + "-print " * 1_000)) < 250


def test_one_may_add_floods_of_ones_own():
    mine = (*FLOODS, Flood("tcpdump", lambda command: not command.has("-c"), "prints every packet"))
    assert "prints every packet" in warning_for("sudo tcpdump -i eth0", mine)
    assert warning_for("tcpdump -c 5", mine) is None
    assert warning_for("tcpdump") is None


DIRECTIONS = [
    ("tsc --noEmit", "head"),
    ("npx tsc", "head"),
    ("npx -y tsc -p .", "head"),
    ("cd app && cargo build 2>&1", "head"),
    ("/usr/bin/gcc -c x.c", "head"),
    ("CC=clang gcc x.c", "head"),
    ("go vet ./...", "head"),
    ("tsc | grep error", "head"),
    ("make && tsc", "head"),
    ("tsc && npm test", "tail"),
    ("cargo test", "tail"),
    ("cargo", "tail"),
    ("pytest -x", "tail"),
    ("journalctl -n 5000", "tail"),
    ("docker logs web", "tail"),
    ("./anything", "tail"),
    ("", "tail"),
    ('"', "tail"),
]


@pytest.mark.parametrize(("command", "keep"), DIRECTIONS)
def test_compilers_begin_with_the_cause_and_everything_else_ends_with_it(command, keep):
    assert direction_for(command) == keep


@given(st.text(alphabet=" \t\n'\"\\|&;<>()$`#{}!-=/~*0aR\0é\ud800", max_size=60) | st.text(max_size=60))
def test_whatever_the_line_is_nothing_is_raised(line):
    assert direction_for(line) in ("head", "tail")
    warning_for(line)
    warning_for(f"find / {line}")
