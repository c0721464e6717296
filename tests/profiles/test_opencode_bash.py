"""The Bash tool of the opencode profile: what a person sees while it runs, what the agent gets, and that nothing is lost."""

import os
import shlex
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover import MemoryStore
from spillover.errors import UsageError
from spillover.profiles import opencode
from spillover.testing import FailingStore
from support import MAX_METADATA_LENGTH, opencode_bash
from support import opencode_live as live


@pytest.fixture
def clipper(tmp_path):
    return opencode_bash.clipper(folder=str(tmp_path / "tool-output"))


def python(code):
    return shlex.join([sys.executable, "-c", code])


#: What came, and what a person sees of it: the document's head form.
LIVE = [
    ("", ""),
    ("hello\n", "hello\n"),
    ("x" * 30_000, "x" * 30_000),
    ("x" * 30_001, "x" * 30_000 + "\n\n..."),
    ("é" * 40_000, "é" * 30_000 + "\n\n..."),
    ("😀" * 30_000, "😀" * 30_000),
]


@pytest.mark.parametrize(("text", "seen"), LIVE)
def test_a_person_sees_the_first_30000_characters(text, seen):
    assert live(text.encode()) == seen


def test_a_character_is_never_seen_in_part():
    """Theirs slices UTF-16 units (#29291): 30,000 of them may end inside a pair. And a pipe may end inside a character."""
    text = "x" + "😀" * 20_000
    half = text.encode("utf-16-le")[: 2 * MAX_METADATA_LENGTH].decode("utf-16-le", "surrogatepass")
    assert half[-1] == "\ud83d"
    assert live(text.encode()) == text
    assert live("né".encode()[:2], final=False) == "n"
    assert live("né".encode()[:2]) == "n\ufffd", "when nothing more comes, that is what came"


@given(st.text(max_size=50), st.integers(0, 200))
def test_what_is_seen_so_far_is_the_beginning_of_what_is_seen_at_last(text, upto):
    data = text.encode("utf-8", "surrogatepass")
    if "\ufffd" not in live(data):
        assert live(data).startswith(live(data[:upto], final=False))


def test_the_agent_gets_the_end_of_what_a_person_sees_the_beginning_of(clipper):
    seen = []
    result = opencode_bash.run("seq 100000", clipper, on_metadata=seen.append)
    everything = "".join(f"{number}\n" for number in range(1, 100_001))
    assert result["metadata"]["output"] == everything[:30_000] + "\n\n..."
    assert seen[-1]["output"] == result["metadata"]["output"]
    assert result["output"].endswith("99999\n100000\n")
    assert Path(result["metadata"]["outputPath"]).read_text() == everything
    assert all(len(told["output"]) <= 30_000 + len("\n\n...") for told in seen)
    assert everything.startswith(seen[-2]["output"].removesuffix("\n\n..."))


def test_a_result_has_their_shape(clipper):
    assert opencode_bash.run("echo hello", clipper, description="Say hello") == {
        "title": "Say hello",
        "output": "hello\n",
        "metadata": {"output": "hello\n", "description": "Say hello", "truncated": False, "exit": 0},
    }


def test_the_result_is_not_cut_a_second_time(clipper):
    result = opencode_bash.run("seq 100000", clipper)
    assert opencode.settle(result, opencode.clipper(store=MemoryStore())) is result


def test_one_huge_line_and_a_newline_shows_its_end(clipper):
    """#42277: theirs takes the empty text behind the newline first, and says "(no output)" of a megabyte."""
    output = opencode_bash.run("head -c 999990 /dev/zero | tr '\\0' a; echo '{\"ok\":1}'", clipper)["output"]
    assert output.endswith('aaa{"ok":1}\n')
    assert "(no output)" not in output


def test_what_a_grandchild_still_writes_is_there(clipper):
    """#30001: the command is gone while its child still has most of it to write."""
    code = "import os\nif os.fork() == 0:\n for _ in range(100): os.write(1, b'x' * 9_999 + b'\\n')\nos._exit(0)"
    result = opencode_bash.run(python(code), clipper)
    assert Path(result["metadata"]["outputPath"]).stat().st_size == 1_000_000


def test_a_flood_of_both_streams_is_there_to_the_last_byte(clipper):
    code = "import sys\nfor n in range(3_000): print(n); print(n, file=sys.stderr)"
    data = Path(opencode_bash.run(python(code), clipper)["metadata"]["outputPath"]).read_text()
    assert sorted(data) == sorted("".join(f"{number}\n" * 2 for number in range(3_000)))


def test_bytes_that_are_no_text_survive(clipper):
    code = "import os; os.write(1, bytes(range(256)) * 300)"
    result = opencode_bash.run(python(code), clipper)
    assert Path(result["metadata"]["outputPath"]).read_bytes() == bytes(range(256)) * 300
    assert result["metadata"]["truncated"] is True


def test_a_command_that_floods_until_its_time_is_up_is_kept(clipper):
    result = opencode_bash.run("while :; do echo flooding; done", clipper, timeout_ms=300)
    assert result["metadata"]["truncated"] is True
    assert result["output"].startswith("...output truncated...")
    assert "\n\n<shell_metadata>\nshell tool terminated command after exceeding timeout 300 ms. " in result["output"]
    assert Path(result["metadata"]["outputPath"]).read_bytes().startswith(b"flooding\nflooding\n")


def test_a_command_that_does_not_want_to_end_is_ended(clipper, monkeypatch):
    monkeypatch.setattr(opencode_bash, "GRACE", 0.2)
    result = opencode_bash.run("trap '' TERM; echo deaf; while :; do sleep 0.05; done", clipper, timeout_ms=300)
    assert result["output"].startswith("deaf\n\n\n<shell_metadata>\n")


def test_nothing_before_the_timeout_is_said_in_words(clipper):
    output = opencode_bash.run("sleep 60", clipper, timeout_ms=100)["output"]
    assert output.startswith("(no output)\n\n<shell_metadata>\n")


@pytest.mark.parametrize("on", ["writer", "write", "publish"])
def test_a_full_disk_costs_the_file_and_not_the_command(tmp_path, on):
    """Theirs has no listener for an error of the file while it is written."""
    store = FailingStore(opencode.outputs(str(tmp_path / "out")), on=on)
    result = opencode_bash.run("seq 100000; exit 3", opencode_bash.clipper(store=store))
    assert result["metadata"]["exit"] == 3
    assert "outputPath" not in result["metadata"]
    assert result["output"].startswith("...output truncated...\n\nFull output not kept: No space left on device.\n\n")
    assert result["output"].endswith("100000\n")
    assert result["metadata"]["output"].startswith("1\n2\n3\n")


def test_a_folder_that_is_not_there_is_refused(clipper, tmp_path):
    with pytest.raises(UsageError, match="is not a directory"):
        opencode_bash.run("true", clipper, cwd=tmp_path / "gone")


def test_it_runs_where_and_with_what_it_is_told(clipper, tmp_path):
    result = opencode_bash.run('pwd; echo "$WORD"', clipper, cwd=tmp_path, env={**os.environ, "WORD": "said"})
    assert result["output"] == f"{os.path.realpath(tmp_path)}\nsaid\n"


def test_the_command_is_in_the_record(clipper):
    opencode_bash.run("seq 5000", clipper)
    [record] = clipper.store.list()
    assert (record.tool, record.command) == ("bash", "seq 5000")


def test_a_signal_that_was_ours_reaches_us_and_the_command(clipper):
    heard = []
    before = signal.signal(signal.SIGTERM, lambda *_: heard.append("us"))
    try:
        result = opencode_bash.run(f"trap 'echo heard; exit 5' TERM; kill -TERM {os.getpid()}; sleep 5 & wait", clipper)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert (heard, result["metadata"]["exit"]) == (["us"], 5)
    assert result["output"] == "heard\n"
