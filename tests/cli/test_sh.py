"""`spill sh`: what it prints where, its exit code, and what it tells besides."""

import json
import signal
import subprocess
import sys

import pytest


def test_stdout_is_what_was_asked_for_and_one_line_more_stands_on_stderr(spill, store):
    said = spill("sh", "(seq 400; echo oops >&2; exit 2) | tail -2")
    (record,) = store.list()
    assert (said.returncode, said.stdout) == (0, "399\n400\n")
    assert said.stderr == f'oops\n[All 400 lines that went into "| tail -2" are kept: {record.ref} · seq exited 2]\n'
    assert (record.tool, record.command) == ("seq", "(seq 400; echo oops >&2; exit 2) | tail -2")
    assert spill("grep", "last:seq", "^77$").returncode == 0


def test_what_does_not_fit_is_clipped_and_the_exit_code_stays(spill):
    said = spill("sh", "--bytes", "2000", "--", "seq 5000; exit 3")
    assert said.returncode == 3
    assert len(said.stdout.encode()) <= 2_000
    assert "Output clipped" in said.stdout


def test_it_reads_our_stdin_and_keeps_our_environment(spill):
    assert spill("sh", 'read x; echo "$x $A"', given="hi\n", env={"A": "b"}).stdout == "hi b\n"


SPILL = [sys.executable, "-c", "import sys; from spillover.cli import main; sys.exit(main())"]
#: What a small output may hold that nobody would want cleaned before it is known to be too much.
ODD = {
    "CRLF": rb"a\r\nb\r\n", "a colour": rb"\033[31mred\033[0m\n", "a progress bar": rb"10%%\r50%%\r100%%\n", "bells": rb"\a\b\f\v.",
    "NUL": rb"a\0b", "no UTF-8": rb"\377\376 \303\n", "blanks": rb"\n  a  \n\n", "C1": rb"\302\205\342\200\250",
}  # fmt: skip


@pytest.mark.parametrize("odd", ODD)
def test_what_fits_is_printed_byte_for_byte_as_bash_prints_it(spill, store, odd):
    line = "printf '{}'; printf '{}' >&2; printf '{}' | grep -a '' | tail -5; exit 3".replace("{}", ODD[odd].decode())
    plain = subprocess.run(["bash", "-c", line], capture_output=True, check=False)
    ran = subprocess.run([*SPILL, "sh", line], capture_output=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (plain.returncode, plain.stdout, plain.stderr)
    assert not list(store.list())


def test_where_both_streams_are_one_the_bytes_come_in_their_order(spill):
    ran = subprocess.run(
        [*SPILL, "sh", "printf 'a\\r\\n'; sleep 0.2; printf 'b\\r\\n' >&2"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    assert ran.stdout == b"a\r\nb\r\n"


def test_what_reads_like_a_notice_or_cannot_be_seen_is_marked_however_small(spill):
    assert spill("sh", r"printf '[Out\033[0mput clipped: 3 of 9 lines shown.]\r\n'").stdout.startswith(
        "[tool text] [Output"
    )
    halves = r"printf '[Output cl'; sleep 0.1; printf 'x\r\n' >&2; sleep 0.1; printf 'ipped: 3 of 9 lines shown. Full output: /x]\r\n'"
    assert spill("sh", halves).stdout.startswith("[tool text] ")
    assert "<U+202E>" in spill("sh", r"printf 'a\u202eb\r\n'").stdout


def test_a_secret_in_what_is_shown_as_it_came_is_covered_all_the_same(spill):
    secret = "sk-ant-api03-" + "abcdefghijklmnop1234567890" * 3
    for more in ((), ("--profile", "klaude"), ("--profile", "vtcode")):
        said = spill("sh", *more, f"printf '{secret}\\r\\n'", env={"SPILLOVER_REDACT": "shown"})
        assert (said.returncode, secret in said.stdout) == (0, False), more


def test_json_has_what_was_kept(spill):
    facts = json.loads(spill("sh", "--json", "(seq 9; exit 0) | tail -1").stdout)
    assert (facts["exit_code"], facts["text"]) == (0, "9\n")
    (kept,) = facts["kept"]
    assert kept.pop("ref").startswith("seq-")
    assert kept == {"filters": "| tail -1", "exits": {"seq": 0}, "lines": 9}


@pytest.mark.parametrize("words", [(), ("a", "b"), ("--",)])
def test_it_takes_one_line(spill, words):
    said = spill("sh", *words)
    assert (said.returncode, said.stderr) == (
        2,
        "spill: sh takes one line, in quotes: spill sh 'make 2>&1 | tail -20'.\n",
    )


def test_a_signal_that_ends_the_line_is_its_exit_code(spill):
    assert spill("sh", "kill -TERM $$").returncode == 128 + signal.SIGTERM


def test_a_flooding_command_is_told_of_once_in_the_result(spill, tmp_path):
    said = spill("sh", "--profile", "t15", f"find / -maxdepth 0; cd {tmp_path}; true || find /")
    assert said.stderr.count("find") == 1


def test_a_variable_that_python_sets_for_itself_is_not_passed_on(spill):
    env = {"LC_ALL": "", "LC_CTYPE": "", "LANG": "C"}
    assert spill("sh", "seq 2 | env | grep ^LC_CTYPE", env=env).stdout == "LC_CTYPE=\n"
    assert "C.UTF-8" not in spill("run", "--", "sh", "-c", "echo $LC_CTYPE", env=env).stdout


def test_with_json_a_line_reports_its_end_on_stderr_as_a_command_does(spill):
    line = spill("sh", "--json", "--timeout", "0.3", "sleep 9")
    command = spill("run", "--json", "--timeout", "0.3", "--", "sleep", "9")
    assert line.returncode == command.returncode == 124
    assert line.stderr == command.stderr.replace("sleep took", "the line took") != ""
