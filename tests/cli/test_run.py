"""`spill run`: what it prints where, what it says about it, and what it tells while the command runs."""

import itertools
import os
import pty
import subprocess
import sys

import pytest

from spillover.cli import live
from spillover.cli.live import FIRST, MOST, Live
from spillover.run.command import Progress
from spillover.testing import content

SHAPE = {"exit_code", "timed_out", "still_open", "outcome", "ref", "path", "reason", "total", "shown", "ranges", "text"}


def test_each_stream_goes_to_its_own_place(spill):
    said = spill("run", "--", "sh", "-c", "echo out; echo err >&2; exit 3")
    assert (said.returncode, said.stdout, said.stderr) == (3, "out\n", "err\n")


def test_what_fits_keeps_its_line_ends_and_loses_what_was_meant_for_a_terminal(spill):
    line = r"printf 'a\r\nb\033[31mred\033[0m\r\n'; printf 'c\r\n' >&2"
    said = spill("run", "--", "sh", "-c", line)
    assert (said.stdout, said.stderr) == ("a\r\nbred\r\n", "c\r\n")


def test_what_is_cut_is_one_text_on_stdout(spill, store):
    said = spill("run", "--bytes", "2000", "--", "sh", "-c", "seq 5000; seq 5000 >&2; exit 3")
    (record,) = store.list()
    assert (said.returncode, said.stderr) == (3, "")
    assert len(said.stdout.encode()) <= 2_000
    assert f"Full output: {store.where(record.ref)}" in said.stdout
    assert (record.tool, record.lines, record.command) == ("sh", 10_000, "sh -c seq 5000; seq 5000 >&2; exit 3")


@pytest.mark.parametrize("words", [["--", "echo", "--json", "--", "-x"], ["echo", "--json", "--", "-x"]])
def test_what_stands_behind_the_command_is_the_commands_own(spill, words):
    assert spill("run", *words).stdout == "--json -- -x\n"


def test_options_of_ours_stand_before_it(spill):
    assert "my_tool-" in spill("run", "--lines", "50", "--tool", "my tool", "--keep", "tail", "seq", "9999").stdout


def test_json_has_the_facts_and_the_exit_code(spill, store):
    said = spill("run", "--json", "--bytes", "2000", "--", "sh", "-c", "seq 5000; exit 0")
    assert said.json.keys() == SHAPE
    assert (said.json["exit_code"], said.json["timed_out"], said.json["outcome"]) == (0, False, "stored")
    assert content(store, said.json["ref"]).endswith(b"5000\n")


def test_json_does_not_change_the_exit_code(spill):
    said = spill("run", "--json", "--", "sh", "-c", "echo out; exit 3")
    assert said.returncode == 3
    assert '"exit_code": 3' in said.stdout


def test_time_that_is_up_is_said_on_stderr(spill):
    said = spill("run", "--timeout", "1", "--", "sh", "-c", "echo said; sleep 60")
    assert (said.returncode, said.stdout) == (124, "said\n")
    assert said.stderr == "spill: sh took longer than --timeout 1s and was stopped\n"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "missing COMMAND, e.g. `spill run -- make -j8`"),
        (["--"], "missing COMMAND"),
        (["--timeout", "0", "true"], "leaves no time"),
        (["--timeout", "nan", "true"], "is not a time; use e.g. 90"),
        (["--timeout", "soon", "true"], "is not a time; use e.g. 90"),
        (["--lines", "x", "true"], "is not a whole number"),
        (["--tokens", "5", "true"], "leaves no room for the notice"),
        (["--keep", "sideways", "true"], "is not valid; use auto"),
    ],
)
def test_wrong_use_is_said_before_anything_runs(spill, words, why):
    said = spill("run", *words)
    assert (said.returncode, said.stdout) == (2, "")
    assert why in said.stderr


def test_a_command_named_like_one_of_ours_is_only_a_command(spill):
    assert spill("run", "--", "list").returncode == 127


# Live.


CLEARED = "\r\x1b[K"


def test_on_a_terminal_one_line_is_rewritten_and_never_wider_than_it(monkeypatch):
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((40, 24)))
    keys, line = pty.openpty()
    with open(line, "w", encoding="utf-8") as out:
        shown = Live(out)
        for number in range(10):
            shown.show(Progress(number * 1_000, "x" * 200))
        shown.end()
        told = b""
        while told.decode("utf-8", "ignore").count(CLEARED) < 11:
            told += os.read(keys, 4096)
    os.close(keys)
    assert told.decode().split(CLEARED) == [
        "",
        *(f"{number * 1_000:,} bytes · {'x' * 200}"[:39] for number in range(10)),
        "",
    ]


def test_elsewhere_few_lines_come_and_ever_more_rarely(monkeypatch, tmp_path):
    now = [0.0]
    monkeypatch.setattr(live.time, "monotonic", lambda: now[0])
    with (tmp_path / "err").open("w") as out:
        shown = Live(out)
        told_at = []
        for second in range(100_000):
            now[0] = float(second)
            before = out.tell()
            shown.show(Progress(second, "y" * 500))
            if out.tell() != before:
                told_at.append(second)
        shown.end()
    waits = [later - earlier for earlier, later in itertools.pairwise(told_at)]
    assert told_at[0] == FIRST
    assert waits == [FIRST * 2**doubled for doubled in range(1, len(waits) + 1)]
    lines = (tmp_path / "err").read_text().splitlines()
    assert len(lines) == len(told_at) <= MOST
    assert max(map(len, lines)) == 200


def test_live_says_nothing_of_a_command_that_ends_soon(spill):
    said = spill("run", "--live", "--", "sh", "-c", "echo out; exit 3")
    assert (said.returncode, said.stdout, said.stderr) == (3, "out\n", "")


def test_live_goes_to_the_terminal_and_the_text_to_stdout(tmp_path):
    keys, line = pty.openpty()
    code = "import sys; from spillover.cli import main; sys.exit(main())"
    script = "for n in 1 2 3 4 5 6 7 8; do seq 1000; sleep 0.05; done"
    ran = subprocess.run(
        [sys.executable, "-c", code, "run", "--live", "--bytes", "2000", "--", "sh", "-c", script],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=line,
        check=True,
    )
    os.close(line)
    told = b""
    while part := _read(keys):
        told += part
    os.close(keys)
    assert b"\x1b" not in ran.stdout
    assert "bytes · 1000" in told.decode()
    assert told.endswith(b"\r\x1b[K")


def _read(fd):
    try:
        return os.read(fd, 4096)
    except OSError:  # nobody else has it open
        return b""
