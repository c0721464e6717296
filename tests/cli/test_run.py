"""`spill run`: what it prints where, and what it says about it."""

import shlex
import subprocess
import sys

import pytest

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


#: A line on stderr in the middle of a flood on stdout, as linkers and test runners print it; each in one write.
FLOOD = """
import os
lines = b"".join(b"line %06d of the flood\\n" % number for number in range(60_000))
os.write(2, b"warning: before\\n")
def flood():
    view = memoryview(lines)
    while view:
        view = view[os.write(1, view[:50_000]):]
flood(); os.write(2, b"error: in the middle\\n"); flood()
"""
WHOLE = [b"line %06d of the flood" % number for number in range(60_000)]


def flooded(spill, way, **options):
    words = ["--", sys.executable, "-c", FLOOD] if way == "run" else [shlex.join([sys.executable, "-c", FLOOD])]
    assert spill(way, *words, **options).returncode == 0


@pytest.mark.parametrize("way", ["run", "sh"])
def test_an_error_in_the_middle_was_glued_into_another_line_and_came_thousands_of_lines_late(spill, store, way):
    flooded(spill, way, stderr=subprocess.STDOUT)
    (record,) = store.list()
    expected = [b"warning: before", *WHOLE, b"error: in the middle", *WHOLE]
    assert content(store, record.ref).splitlines() == expected


@pytest.mark.parametrize("way", ["run", "sh"])
def test_streams_that_are_kept_apart_meet_only_between_lines(spill, store, way):
    flooded(spill, way, stderr=subprocess.PIPE)
    (record,) = store.list()
    lines = content(store, record.ref).splitlines()
    errors = {b"warning: before", b"error: in the middle"}
    assert [line for line in lines if line in errors] == [b"warning: before", b"error: in the middle"]
    assert [line for line in lines if line not in errors] == WHOLE + WHOLE
    assert {stream for stream, _ in record.segments} == {"stdout", "stderr"}
