"""`spill sh` where there is a terminal: what asks a person is `bash -c` to the byte, all the rest is clipped as elsewhere."""

import os
import select
import subprocess
import sys

import pytest

PATIENCE = 60  # only guards against hanging


@pytest.fixture
def terminal(spill):
    """Call `spill sh` on a terminal, in the folder and with the store of this test."""
    del spill
    return lambda *words, **how: on_a_terminal(
        [sys.executable, "-c", "import sys; from spillover.cli import main; sys.exit(main())", "sh", *words], **how
    )


def on_a_terminal(argv, waits_for=b"", says=b""):
    """Run a command on a terminal of its own and answer its question; what the terminal shows, and the exit code."""
    ours, theirs = os.openpty()
    child = subprocess.Popen(argv, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    shown = b""
    try:
        while select.select([ours], [], [], PATIENCE)[0]:
            try:
                chunk = os.read(ours, 65_536)
            except OSError:  # Linux says so where the other end is closed
                break
            if not chunk:
                break
            shown += chunk
            if waits_for and waits_for in shown:
                os.write(ours, says)
                waits_for = b""
        else:
            child.kill()
    finally:
        code = child.wait(PATIENCE)
        os.close(ours)
    return shown.decode(), code


@pytest.mark.parametrize(
    ("line", "waits_for", "says"),
    [
        ("read -p 'name? ' name; echo hello $name; exit 3", b"name? ", b"bob\n"),
    ],
)
def test_a_question_is_seen_before_it_is_answered(terminal, line, waits_for, says):
    plain = on_a_terminal(["bash", "-c", line], waits_for, says)
    assert terminal(line, waits_for=waits_for, says=says) == plain
    assert plain[1] in (0, 3)


def test_what_asks_nothing_is_clipped_on_a_terminal_too(terminal):
    shown, code = terminal("--lines", "9", "seq 5000; exit 4")
    assert code == 4
    assert "Output clipped" in shown
    assert len(shown.splitlines()) <= 9


def test_without_a_terminal_a_question_is_no_reason_to_clip_nothing(spill):
    said = spill("sh", "--lines", "9", "read -p 'name? ' name; seq 5000", given="bob\n")
    assert "Output clipped" in said.stdout


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("kill -9 $$", 137, "spill: the line ended with exit code 137 (SIGKILL)\r\n"),
        ("exit 139", 139, "spill: the line ended with exit code 139 (SIGSEGV)\r\n"),
        ("kill -INT $$", 130, ""),
        ("kill -PIPE $$", 141, ""),
        ("exit 128", 128, ""),
        ("exit 255", 255, ""),
    ],
)
def test_a_person_was_not_told_of_a_signal_that_ended_a_line(spill, terminal, line, code, said):
    assert terminal(line) == (said, code)
    assert spill("sh", line).stderr == "", "for a program, stderr stays that of the command"


def test_what_fits_is_clean_on_a_terminal(terminal):
    """Off a terminal it passes as it came; a person is shown neither codes that are obeyed nor codes that are spelled out."""
    shown, code = terminal(r"printf 'a\r\nb\033[31mred\033[0m\033]0;title\a\r\n'")
    assert (shown, code) == ("a\r\nbred\r\n", 0)
