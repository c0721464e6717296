"""opencode's own cases for its shell (OC2) and its Read (OC3), with real commands and real files.

Source: anomalyco/opencode at d545d8f, packages/opencode/test/tool/{shell,read}.test.ts and test/session/prompt.test.ts.
"""

import os
import shlex
import sys
import threading
from pathlib import Path

import pytest

from spillover.errors import UsageError
from support import opencode_bash, opencode_read

#: id, command, whether its output is cut.
OC2 = [
    ("2,500 lines", "seq 2500", True),
    ("61,200 bytes without a newline", "head -c 61200 /dev/zero | tr '\\0' a", True),
    ("the same with one (#42277)", "head -c 61200 /dev/zero | tr '\\0' a; echo", True),
    ("one line", "echo hello", False),
    ("2,100 lines", "seq 2100", True),
    ("stderr", "seq 2500 >&2", True),
]


@pytest.fixture
def clipper(tmp_path):
    return opencode_bash.clipper(folder=str(tmp_path / "tool-output"))


@pytest.mark.parametrize(("case", "command", "cut"), OC2, ids=[row[0] for row in OC2])
def test_a_command_that_floods_is_cut_and_kept(clipper, case, command, cut):
    result = opencode_bash.run(command, clipper)
    assert result["metadata"]["truncated"] is cut
    assert ("outputPath" in result["metadata"]) is cut
    if cut:
        path = result["metadata"]["outputPath"]
        banner, _, end = result["output"].partition(f"...output truncated...\n\nFull output saved to: {path}\n\n")
        assert (banner, end != "") == ("", True)
        assert Path(path).read_text().endswith(end)


def test_all_2100_lines_are_in_the_file(clipper):
    lines = Path(opencode_bash.run("seq 2100", clipper)["metadata"]["outputPath"]).read_text().splitlines()
    assert (len(lines), lines[0], lines[-1]) == (2_100, "1", "2100")


def test_the_exit_code_is_reported(clipper):
    result = opencode_bash.run("echo out; echo err >&2; exit 42", clipper)
    assert result["metadata"]["exit"] == 42
    assert sorted(result["output"].split()) == ["err", "out"]


def test_nothing_is_said_in_words(clipper):
    assert opencode_bash.run("true", clipper)["output"] == "(no output)"


def test_a_timeout_keeps_what_came_and_says_so(clipper):
    result = opencode_bash.run("echo before; sleep 60", clipper, timeout_ms=500)
    assert result["output"] == (
        "before\n\n\n<shell_metadata>\nshell tool terminated command after exceeding timeout 500 ms. If this command is "
        "expected to take longer and is not waiting for interactive input, retry with a larger timeout value in "
        "milliseconds.\n</shell_metadata>"
    )
    assert result["metadata"]["exit"] is None


def aborted_after(text, command, clipper):
    """Run a command and abort it once this text has appeared."""
    told, tell = os.pipe()
    seen = threading.Event()

    def look(metadata):
        if text in metadata["output"] and not seen.is_set():
            seen.set()
            os.write(tell, b"x")

    try:
        return opencode_bash.run(command, clipper, on_metadata=look, cancel=told)
    finally:
        os.close(told)
        os.close(tell)


def test_an_abort_keeps_what_came_and_says_so(clipper):
    output = aborted_after("before", "echo before; sleep 60", clipper)["output"]
    assert output == "before\n\n\n<shell_metadata>\nUser aborted the command\n</shell_metadata>"


def test_a_printer_that_is_cancelled_while_it_floods_is_cut_and_kept(clipper):
    """It prints 4,000 x 107 bytes, then hangs. The output must not be replaced by "Tool execution aborted"."""
    result = aborted_after("x" * 100, f"yes {'x' * 106} | head -n 4000; sleep 60", clipper)
    assert result["metadata"]["truncated"] is True
    assert Path(result["metadata"]["outputPath"]).stat().st_size <= 4_000 * 107
    assert result["output"].startswith("...output truncated...")
    assert "Tool execution aborted" not in result["output"]


def test_metadata_streams_while_it_runs(clipper, tmp_path):
    """The second word is printed only after the first one was seen."""
    flag, seen = tmp_path / "seen", []

    def look(metadata):
        seen.append(metadata)
        if "one" in metadata["output"]:
            flag.touch()

    command = f"echo one; while [ ! -e {shlex.quote(str(flag))} ]; do sleep 0.02; done; echo two"
    opencode_bash.run(command, clipper, description="two words", on_metadata=look)
    assert [told["output"] for told in seen] == ["", "one\n", "one\ntwo\n"]
    assert {told["description"] for told in seen} == {"two words"}


@pytest.mark.parametrize("size", [60_000, 70_000, 1_000_000])
def test_output_is_drained_before_the_result_is_made(clipper, size):
    """#30001: the reader was never joined. Here the child writes everything and exits at once."""
    code = f"import os\ndata = b'x' * {size} + b'LAST'\nwhile data: data = data[os.write(1, data):]\nos._exit(0)"
    result = opencode_bash.run(shlex.join([sys.executable, "-c", code]), clipper)
    assert result["output"].endswith("LAST")
    assert Path(result["metadata"]["outputPath"]).stat().st_size == size + 4


@pytest.fixture
def read(tmp_path):
    def made(content, name="file.txt", **options):
        data = content if isinstance(content, bytes) else content.encode()
        path = tmp_path / name
        path.write_bytes(data)
        return opencode_read.read(path, **options)

    return made


def lines(count, first=0):
    return "\n".join(f"line{number}" for number in range(first, count + first))


PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)
#: id, content, options, truncated, what the text contains, what it does not contain.
OC3 = [
    ("60 KB", "\n".join(["x" * 100] * 600), {}, True,
     ["(Output capped at 50 KB. Showing lines 1-506. Use offset=507 to continue.)"], []),
    ("100 lines, limit 10", lines(100), {"limit": 10}, True,
     ["\n1: line0\n", "10: line9", "(Showing lines 1-10 of 100. Use offset=11 to continue.)"], ["line10"]),
    ("hello world", "hello world", {}, False, ["\n1: hello world\n\n(End of file - total 1 lines)\n"], []),
    ("20 lines, offset 10, limit 5", lines(20, 1), {"offset": 10, "limit": 5}, True,
     ["\n10: line10\n", "14: line14\n", "(Showing lines 10-14 of 20. Use offset=15 to continue.)"], ["line9", "line15"]),
    ("empty", "", {}, False, ["End of file - total 0 lines"], []),
    ("a long line", "x" * 3_000, {}, False, ["1: " + "x" * 2_000 + "... (line truncated to 2000 chars)\n"], ["x" * 2_001]),
    ("CRLF is one line end", "a\r\nb\r\n", {}, False, ["\n1: a\n2: b\n\n(End of file - total 2 lines)"], ["\r"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("case", "content", "options", "truncated", "there", "absent"), OC3, ids=[row[0] for row in OC3]
)
def test_a_page(read, case, content, options, truncated, there, absent):
    result = read(content, **options)
    assert result["metadata"]["truncated"] is truncated
    assert [part for part in there if part not in result["output"]] == []
    assert [part for part in absent if part in result["output"]] == []


#: id, content, name, options, error.
OC3_ERRORS = [
    ("offset past the end", lines(3), "a.txt", {"offset": 4}, r"^Offset 4 is out of range for this file \(3 lines\)$"),
    ("offset 2 of nothing", "", "a.txt", {"offset": 2}, r"^Offset 2 is out of range for this file \(0 lines\)$"),
    ("offset 0", "a", "a.txt", {"offset": 0}, r"^offset must be greater than or equal to 1$"),
    ("a NUL byte", "hello\0world", "a.txt", {}, r"^Cannot read binary file: .*a\.txt$"),
    ("wasm", "no wasm at all", "a.wasm", {}, r"^Cannot read binary file: .*a\.wasm$"),
    ("31 % control bytes", "\x01" * 31 + "a" * 69, "a.txt", {}, r"^Cannot read binary file"),
]


@pytest.mark.parametrize(
    ("case", "content", "name", "options", "error"), OC3_ERRORS, ids=[row[0] for row in OC3_ERRORS]
)
def test_what_cannot_be_read(read, case, content, name, options, error):
    with pytest.raises(UsageError, match=error):
        read(content, name, **options)


def test_a_share_of_control_bytes_is_still_text(read):
    assert "End of file" in read("\x01" * 30 + "a" * 70)["output"]


@pytest.mark.parametrize(
    ("name", "content", "mime"),
    [("a.png", PNG, "image/png"), ("a.bin", b"\xff\xd8\xff\xe0" + bytes(50), "image/jpeg")],
)
def test_a_picture_is_attached(read, name, content, mime):
    result = read(content, name)
    assert result["output"] == "Image read successfully"
    assert result["metadata"]["truncated"] is False
    assert [each["mime"] for each in result["attachments"]] == [mime]


def test_the_last_page_of_a_folder_is_not_marked(tmp_path):
    for number in range(10):
        (tmp_path / f"file{number}").touch()
    first = opencode_read.read(tmp_path, limit=6)
    last = opencode_read.read(tmp_path, offset=7, limit=6)
    assert "(Showing 6 of 10 entries. Use 'offset' parameter to read beyond entry 7)" in first["output"]
    assert "file6\nfile7\nfile8\nfile9\n\n(10 entries)" in last["output"]
    assert (first["metadata"]["truncated"], last["metadata"]["truncated"]) == (True, False)


def test_less_than_half_of_a_large_file_is_read(tmp_path):
    """50,000 lines of 80 x: reading stops at the byte limit of a page."""
    from support import OpencodeLines as Lines
    from support import take_page

    path = tmp_path / "large.txt"
    path.write_bytes((b"x" * 80 + b"\n") * 50_000)
    with path.open("rb") as file:
        page = take_page(Lines(file), 1, 2_000, opencode_read.MAX_BYTES, "...")
        assert file.tell() < path.stat().st_size / 2
    assert (page.capped, page.more, len(page.lines)) == (True, True, 632)
