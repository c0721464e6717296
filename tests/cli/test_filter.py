"""`spill` as a filter: stdin in, what the model reads out."""

import os
import pty
import signal
import subprocess
import sys

import pytest

from spillover import __version__
from spillover.testing import content

LONG = "".join(f"line {number}\n" for number in range(10_000))
SHAPE = {"outcome", "ref", "path", "reason", "total", "shown", "ranges", "text"}


@pytest.mark.parametrize("text", ["", "one", "one\n", "grün\r\nund €\n", "a\n" * 2_000])
def test_what_fits_passes_as_it_is(spill, text, store):
    said = spill(given=text)
    assert (said.returncode, said.stdout, said.stderr) == (0, text, "")
    assert [*store.list()] == [], "no output is stored"


def test_what_does_not_fit_is_clipped_and_stored(spill, store):
    said = spill("--bytes", "2000", given=LONG)
    (record,) = store.list()
    assert len(said.stdout.encode()) <= 2_000
    assert said.stdout.startswith("[Output clipped: ")
    assert record.ref in said.stdout
    assert store.where(record.ref) in said.stdout
    assert content(store, record.ref) == LONG.encode()


@pytest.mark.parametrize(
    ("arguments", "holds"),
    [
        (["--lines", "50"], lambda text: text.count("\n") <= 50),
        (["--bytes", "1,000"], lambda text: len(text.encode()) <= 1_000),
        (["--chars", "1_000"], lambda text: len(text) <= 1_000),
        (["--tokens", "200"], lambda text: len(text) <= 200 * 16),
        (["--keep", "head", "--lines", "50"], lambda text: "line 0\n" in text and "line 9999" not in text),
        (["--keep", "tail", "--lines", "50"], lambda text: "line 0\n" not in text and "line 9999" in text),
        (["--keep", "ends", "--lines", "50"], lambda text: "line 0\n" in text and "line 9999" in text),
        (["--lines", "50", "--tool", "my make"], lambda text: "my_make-" in text),
    ],
)
def test_every_option_does_what_it_says(spill, arguments, holds):
    said = spill(*arguments, given=LONG)
    assert said.returncode == 0
    assert holds(said.stdout), said.stdout


@pytest.mark.parametrize(
    ("env", "holds"),
    [
        ({"SPILLOVER_HINTS": "none"}, lambda text: "spill read" not in text and "spill grep" not in text),
        ({"SPILLOVER_HINTS": "files:Open,Find"}, lambda text: "Find PATTERN in" in text),
        ({"SPILLOVER_CAP": "10 kB"}, lambda text: "Stored in part: first 10,000 bytes" in text),
    ],
)
def test_settings_without_an_option_come_from_the_environment(spill, env, holds):
    said = spill("--lines", "50", given=LONG, env=env)
    assert said.returncode == 0
    assert holds(said.stdout), said.stdout


def test_the_step_it_proposes_can_be_pasted(spill):
    words = spill("--lines", "50", given=LONG).stdout.split("spill read ")[1].split("]")[0].split()
    said = spill("read", *words[:2])
    assert said.returncode == 0
    assert words[1].split(":")[0] + ": line" in said.stdout


def test_another_store_may_be_named(spill, tmp_path):
    said = spill("--store", tmp_path / "other", "--bytes", "2000", given=LONG)
    assert f"{tmp_path}/other/" in said.stdout


def test_json_has_the_facts(spill, store):
    facts = spill("--json", "--bytes", "2000", given=LONG).json
    assert facts.keys() == SHAPE
    assert (facts["outcome"], facts["total"]["lines"], facts["total"]["bytes"]) == ("stored", 10_000, len(LONG))
    assert facts["path"] == store.where(facts["ref"])
    assert facts["shown"]["lines"] == sum(last - first + 1 for first, last in facts["ranges"])


def test_json_of_what_fits_has_the_same_shape(spill):
    facts = spill("--json", given="one\ntwo").json
    assert facts.keys() == SHAPE
    assert (facts["outcome"], facts["ref"], facts["text"], facts["ranges"]) == ("whole", None, "one\ntwo", [[1, 2]])


def test_a_store_in_whose_place_a_file_stands_is_said_and_the_text_fits(spill, tmp_path):
    (tmp_path / "a store").write_text("in the way")
    said = spill("--bytes", "2000", given=LONG)
    assert (said.returncode, len(said.stdout.encode()) <= 2_000) == (0, True)
    assert "Full output not kept: " in said.stdout
    assert spill("--json", "--bytes", "2000", given=LONG).json["outcome"] == "lost"


@pytest.mark.parametrize("data", [b"\xff\xfe\0\n" * 5, b"\x1b[31mred\x1b[0m\n", b"10%\r100%\n"])
def test_what_no_model_should_read_is_cleaned(spill, data):
    said = spill(given=data)
    assert not {"\x1b", "\0", "\r"} & set(said.stdout)


def test_a_file_may_be_stdin(spill, tmp_path):
    (tmp_path / "log").write_text(LONG)
    with (tmp_path / "log").open("rb") as file:
        assert "of 10,000 lines" in spill(stdin=file).stdout


def test_nothing_may_be_stdin(spill):
    assert spill(stdin=subprocess.DEVNULL).stdout == ""


def test_a_closed_stdin_is_wrong_use(spill):
    said = spill(stdin=None, preexec_fn=lambda: os.close(0))
    assert (said.returncode, said.stderr) == (2, "spill: stdin cannot be read: Bad file descriptor.\n")


def test_a_terminal_as_stdin_gets_advice(spill):
    keys, line = pty.openpty()
    said = spill(stdin=line)
    os.close(keys)
    os.close(line)
    assert said.returncode == 2
    assert "make 2>&1 | spill" in said.stderr


def test_an_stdin_that_does_not_block_is_waited_for(spill, tmp_path):
    read, write = os.pipe()
    os.set_blocking(read, False)
    slow = subprocess.Popen(["sh", "-c", "sleep 0.5; echo late"], stdout=write)
    os.close(write)
    assert spill(stdin=read).stdout == "late\n"
    slow.wait()
    os.close(read)


def test_ctrl_c_ends_it_without_a_word(tmp_path):
    code = "import sys; from spillover.cli import main; print('up', file=sys.stderr, flush=True); sys.exit(main())"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stderr.readline()
    process.stdin.write(b"x" * 10_000_000)  # so much that it is reading by now
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    assert process.communicate() == (b"", b"")


def test_a_closed_stdout_is_success(spill):
    read, write = os.pipe()
    os.close(read)
    said = subprocess.run(
        [sys.executable, "-c", "import sys; from spillover.cli import main; sys.exit(main())"],
        input=LONG.encode(),
        stdout=write,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(write)
    assert (said.returncode, said.stderr) == (0, b"")


def test_the_version_is_said(spill):
    assert spill("--version").stdout == f"spill {__version__}\n"
