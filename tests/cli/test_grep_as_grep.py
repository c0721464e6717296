"""`spill grep` beside the real grep, on the same lines: the same rows, the same exit code."""

import os
import re
import subprocess

import pytest

from spillover.cli import main
from spillover.testing import put

LINES = b"""\
error: -x was not found
Error in a.b(c)

  ok
--flag tail
tail error tail

a+b ok ERROR
the end
"""

#: As fingers type them; the file, or the ref, comes behind.
TYPED = [
    ["error"],
    ["-i", "error"],
    ["-n", "-i", "error"],
    ["-inE", "error|ok"],
    ["-F", "a.b(c)"],
    ["-Fi", "A.B(C)"],
    ["-v", "error"],
    ["-iv", "error"],
    ["-c", "error"],
    ["-ic", "error"],
    ["-vc", "error"],
    ["-c", "-m", "1", "-i", "error"],
    ["-c", "-m", "9", "error"],
    ["-vc", "-m2", "error"],
    ["-o", "-E", "[a-z]+r"],
    ["-oi", "error"],
    ["-m", "1", "error"],
    ["-m1", "-A", "1", "error"],
    ["-A1", "tail"],
    ["-B", "1", "tail"],
    ["-C1", "-i", "error"],
    ["-A", "2", "-B1", "a.b"],
    ["-e", "-x"],
    ["-e-x"],
    ["-ie", "ERROR"],
    ["--regexp=--flag"],
    ["--", "--flag"],
    ["-F", "--", "-x"],
    ["-e", "end", "-e", "flag"],
    ["-Fe", "a+b", "-e", "(c)"],
    ["-c", "-e", "end", "-e", "flag"],
    ["-e", "error", "-e", "tail", "-v"],
    ["^$"],
    ["-c", "^$"],
    ["-v", "^$"],
    ["-vc", r"^\s*$"],
    ["-n", r"^\s*$"],
    ["-E", r"^[[:space:]]*$", "-m1"],
    ["elephant"],
    ["-c", "elephant"],
    ["-v", "-E", "(.|^)"],
    ["-E", "("],
    ["-A", "x", "error"],
]


@pytest.fixture
def places(tmp_path, monkeypatch, store):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPILLOVER_STORE", str(store.root))
    (tmp_path / "lines.txt").write_bytes(LINES)
    return "lines.txt", put(store, LINES, tool="bash").ref


def ours(words, capfd):
    """The exit code and the rows of `spill grep`, written as grep writes them."""
    code = main(["grep", *words])
    rows = [row for row in capfd.readouterr().out.splitlines() if not row.startswith("[")]
    return code, [re.sub(r"^(\d+[:-]) ", r"\1", row) for row in rows]


def theirs(words):
    ran = subprocess.run(
        ["grep", "-n", *words], capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C.UTF-8"}
    )
    return ran.returncode, ran.stdout.splitlines()


@pytest.mark.parametrize("words", TYPED, ids=" ".join)
def test_the_same_rows_and_the_same_exit_code(places, capfd, words):
    file, ref = places
    if words == ["-v", "-E", "(.|^)"]:  # what matches every line is refused, with what to write
        assert ours([*words, ref], capfd) == (2, [])
        return
    assert ours([*words, ref], capfd) == theirs([*words, file])
    if "-e" not in words and words[-1][:1] != "-":
        assert ours([ref, *words], capfd) == theirs([*words, file])


def test_a_value_in_json_is_searched_whichever_comes_first(places, capfd, store):
    """Once `spill grep REF#/stdout ERROR` said that neither names an output."""
    ref = put(store, b'{"stdout": "one\\nERROR two\\n"}', tool="api").ref
    for words in ([f"{ref}#/stdout", "ERROR"], ["ERROR", f"{ref}#/stdout"], [f"{ref[:12]}#/stdout", "ERROR"]):
        assert ours(words, capfd) == (0, ["2:ERROR two"])


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["-e", "x", "REF", "more"], "unexpected argument 'more'."),
        (["-e", "x"], "a REF and a PATTERN are needed"),
        (["-e"], "needs a value."),
        (["tail", "lines.txt"], "Neither 'tail' nor 'lines.txt' names an output of this project. `spill list` shows"),
        (["REF", "one", "two"], "unexpected argument 'two'."),
    ],
)
def test_what_is_wrong_is_named(places, capfd, words, why):
    assert main(["grep", *(places[1] if word == "REF" else word for word in words)]) == 2
    assert why in capfd.readouterr().err
