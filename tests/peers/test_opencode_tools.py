"""opencode's own cases for its Read tool (OC3), with offsets and "..." as its document has them.

Source: anomalyco/opencode at d545d8f, packages/opencode/test/tool/read.test.ts.
"""

import os
import re
import subprocess
import sys

import pytest

from spillover import MemoryStore, UsageError
from spillover.profiles import opencode


@pytest.fixture
def read(tmp_path):
    def read_text(content, **options):
        path = tmp_path / "a.txt"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return opencode.read(path, **options)

    return read_text


def lines(count, first=0):
    return "\n".join(f"line{number}" for number in range(first, count + first))


#: id, content, options, truncated, what the text contains, what it does not contain.
OC3 = [
    ("60 KB", "\n".join(["x" * 100] * 600), {}, True,
     ["(Output capped at 50 KB. Showing lines 1-506. Use offset=506 to continue.)"], []),
    ("100 lines, limit 10", lines(100), {"limit": 10}, True,
     ["\n1: line0\n", "10: line9", "(Showing lines 1-10 of 100. Use offset=10 to continue.)"], ["line10"]),
    ("hello world", "hello world", {}, False, ["\n1: hello world\n\n(End of file - total 1 lines)\n"], []),
    ("20 lines, offset 9, limit 5", lines(20, 1), {"offset": 9, "limit": 5}, True,
     ["\n10: line10\n", "14: line14\n", "(Showing lines 10-14 of 20. Use offset=14 to continue.)"], ["line9", "line15"]),
    ("the last page", lines(20), {"offset": 15, "limit": 5}, False, ["(End of file - total 20 lines)"], ["line14"]),
    ("empty", "", {}, False, ["End of file - total 0 lines"], []),
    ("a long line", "x" * 3_000, {}, False, ["1: " + "x" * 2_000 + "...\n"], ["x" * 2_001]),
    ("2,000 characters", "é" * 2_000, {}, False, ["1: " + "é" * 2_000 + "\n"], ["..."]),
    ("emoji", "x" + "😀" * 2_000, {}, False, ["x" + "😀" * 1_999 + "...\n"], ["\ufffd"]),
    ("CRLF keeps its CR", "a\r\nb\r\n", {}, False, ["\n1: a\r\n2: b\r\n\n(End of file - total 2 lines)"], []),
    ("a lone CR is none", "10%\r20%\nnext", {}, False, ["\n1: 10%\r20%\n2: next\n"], []),
    ("not UTF-8", b"caf\xe9\nok\n", {}, False, ["\n1: caf\ufffd\n2: ok\n"], []),
    ("a limit above 2,000", "\n" * 60_000, {"limit": 1_000_000}, True,
     ["(Showing lines 1-2000 of 60000. Use offset=2000 to continue.)"], []),
]  # fmt: skip


@pytest.mark.parametrize(
    ("case", "content", "options", "truncated", "there", "absent"), OC3, ids=[row[0] for row in OC3]
)
def test_a_page(read, case, content, options, truncated, there, absent):
    result = read(content, **options)
    assert result["metadata"]["truncated"] is truncated
    assert [part for part in there if part not in result["output"]] == []
    assert [part for part in absent if part in result["output"]] == []
    assert opencode.settle(result, opencode.clipper(store=MemoryStore())) is result, "it is never cut again"


def test_a_result_has_their_shape(read, tmp_path):
    result = read("one\ntwo\n" * 15, limit=25, root=str(tmp_path))
    assert (result["title"], set(result)) == ("a.txt", {"title", "output", "metadata"})
    assert result["output"].startswith(f"<path>{tmp_path}/a.txt</path>\n<type>file</type>\n<content>\n1: one\n2: two\n")
    assert result["output"].endswith("\n25: one\n\n(Showing lines 1-25 of 30. Use offset=25 to continue.)\n</content>")
    assert result["metadata"] == {"preview": "\n".join(["one", "two"] * 10), "truncated": True}


#: id, content, options, error.
OC3_ERRORS = [
    ("offset past the end", lines(3), {"offset": 3}, r"^Offset 3 is out of range for this file \(3 lines\)$"),
    ("offset 1 of nothing", "", {"offset": 1}, r"^Offset 1 is out of range for this file \(0 lines\)$"),
    ("offset -1", "a", {"offset": -1}, r"^offset must be greater than or equal to 0$"),
    ("offset True", "a", {"offset": True}, r"^offset must be greater than or equal to 0$"),
    ("limit 0", "a", {"limit": 0}, r"^limit must be greater than or equal to 1$"),
    ("a NUL byte", "hello\0world", {}, r"^Cannot read binary file: .*a\.txt$"),
]


@pytest.mark.parametrize(("case", "content", "options", "error"), OC3_ERRORS, ids=[row[0] for row in OC3_ERRORS])
def test_what_cannot_be_read(read, case, content, options, error):
    with pytest.raises(UsageError, match=error):
        read(content, **options)


def test_a_folder_a_pipe_and_a_missing_file_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path, error in ((tmp_path, "Path is not a file"), (tmp_path / "pipe", "Path is not a file")):
        with pytest.raises(UsageError, match=f"^{error}: "):
            opencode.read(path)
    with pytest.raises(UsageError, match=r"^File not found: .*/report$"):
        opencode.read(tmp_path / "report")


def test_following_the_offsets_reads_all_of_a_file(read):
    text = "".join(f"{number:05} {'x' * (number % 100)}\n" for number in range(5_000))
    found, offset = [], 0
    while offset is not None:
        output = read(text, offset=offset)["output"]
        found += re.findall(r"^\d+: (.*)$", output, re.MULTILINE)
        following = re.search(r"Use offset=(\d+) to continue", output)
        offset = int(following[1]) if following else None
    assert found == text.splitlines()


def test_reading_stops_at_the_bytes_of_a_page(tmp_path):
    """50,000 lines of 80 x, then 64 GB that would take minutes to read."""
    path = tmp_path / "large.txt"
    path.write_bytes((b"x" * 80 + b"\n") * 50_000)
    os.truncate(path, 1 << 36)
    assert "Showing lines 1-632. Use offset=632 to continue." in opencode.read(path)["output"]


def test_a_quarter_of_a_gigabyte_in_one_line_is_bounded_in_memory(tmp_path):
    path = tmp_path / "sparse.txt"
    path.write_bytes(b"text\n" * 1_000 + b"begin")
    os.truncate(path, 1 << 28)
    code = (
        "from spillover.profiles.opencode import read\n"
        "from spillover.testing import peak_memory\n"
        f"path = {str(path)!r}\n"
        "before = peak_memory()\n"
        "page = read(path, 1000)['output']\n"
        "print('1001: begin' in page, peak_memory() - before)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    begins, grown = ended.stdout.split()
    assert begins == "True"
    assert int(grown) < 10 << 20
