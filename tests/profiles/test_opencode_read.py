"""The Read tool of the opencode profile: pages, columns inside one line, folders, and what it does better than theirs."""

import os
import re
import subprocess
import sys
from mimetypes import guess_type

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover import MemoryStore
from spillover.errors import UsageError
from spillover.profiles import opencode
from support import opencode_read


def theirs(text, offset=1, limit=2_000):
    """Their algorithm on a text: lines of at most 2,000 UTF-16 units, as many as fit 50 KB."""
    lines = re.split("\r\n|\n|\r", text)
    shown, used = [], 0
    for line in (lines if lines[-1] else lines[:-1])[offset - 1 : offset - 1 + limit]:
        units = line.encode("utf-16-le")
        cut = units[:4_000].decode("utf-16-le", "surrogatepass") + "... (line truncated to 2000 chars)"
        text = cut if len(units) > 4_000 else line
        size = len(text.encode("utf-8", "surrogatepass")) + bool(shown)
        if used + size > 51_200:
            break
        shown.append(text)
        used += size
    return shown


def shown(result):
    """The lines of a page, without their numbers."""
    content = result["output"].partition("<content>\n")[2].rpartition("\n\n(")[0]
    return [line.partition(": ")[2] for line in re.split(r"\n(?=\d+: )", content)] if content else []


@pytest.fixture
def read(tmp_path):
    def made(content, **options):
        path = tmp_path / "file.txt"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return opencode_read.read(path, **options)

    return made


def test_a_result_has_their_shape(read, tmp_path):
    result = read("one\ntwo\n", root=str(tmp_path))
    assert result == {
        "title": "file.txt",
        "output": f"<path>{tmp_path}/file.txt</path>\n<type>file</type>\n<content>\n1: one\n2: two\n\n"
        "(End of file - total 2 lines)\n</content>",
        "metadata": {"preview": "one\ntwo", "truncated": False},
    }


def test_the_preview_is_the_first_20_lines_without_numbers(read):
    result = read("".join(f"line{number}\n" for number in range(100)))
    assert result["metadata"]["preview"].split("\n") == [f"line{number}" for number in range(20)]


@given(st.text("ab\n€\t", max_size=200), st.integers(1, 8), st.integers(1, 8))
def test_any_text_is_paged_as_theirs_is(tmp_path_factory, text, offset, limit):
    path = tmp_path_factory.mktemp("read") / "file.txt"
    path.write_bytes(text.encode())
    wanted = theirs(text, offset, limit)
    if not wanted and offset > 1:
        with pytest.raises(UsageError, match="is out of range for this file"):
            opencode_read.read(path, offset, limit)
    else:
        assert shown(opencode_read.read(path, offset, limit)) == wanted


def test_following_the_offsets_reads_all_of_a_file(read):
    text = "".join(f"{number:05} {'x' * (number % 100)}\n" for number in range(5_000))
    found, offset = [], 1
    while offset:
        result = read(text, offset=offset)
        found += shown(result)
        offset = int((re.search(r"Use offset=(\d+) to continue", result["output"]) or ["", 0])[1])
    assert found == text.splitlines()


def test_one_huge_line_can_be_read_to_its_end(read):
    """Theirs: the first 2,000 characters of it, and no way to any other. The dead end of every minified JSON."""
    text = "[" + ",".join(f'"é{number}"' for number in range(20_000)) + "]"
    assert theirs(text) == [text[:2_000] + "... (line truncated to 2000 chars)"]
    result = read(text + "\nnext\n", limit=1)
    found = shown(result)[0].removesuffix("... (line truncated to 2000 chars)")
    assert f"(Line 1 has {len(text.encode())} bytes. " in result["output"]
    step = re.compile(r"Use offset=(\d+) column=(\d+) to continue")
    while following := step.search(result["output"]):
        result = read(text + "\nnext\n", offset=int(following[1]), column=int(following[2]))
        assert len(result["output"].encode()) < 51_200 + 1_024
        found += shown(result)[0]
    assert found == text
    assert f"(End of line 1 - total {len(text.encode())} bytes. Use offset=2 to continue.)" in result["output"]
    assert result["metadata"]["truncated"] is True


def test_the_end_of_the_last_line_is_the_end_of_the_file(read):
    result = read("a\n" + "x" * 3_000, offset=2, column=2_001)
    assert (
        "2: " + "x" * 1_000 + "\n\n(End of line 2 - total 3000 bytes. End of file - total 2 lines)" in result["output"]
    )
    assert result["metadata"]["truncated"] is False


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"offset": 2, "column": 2}, r"^Offset 2 is out of range for this file \(1 lines\)$"),
        ({"column": 5}, r"^Column 5 is out of range for line 1 \(4 bytes\)$"),
        ({"column": 0}, r"^column must be greater than or equal to 1$"),
        ({"limit": 0}, r"^limit must be greater than or equal to 1$"),
        ({"offset": True}, r"^offset must be greater than or equal to 1$"),
    ],
)
def test_a_place_that_is_not_there_is_said(read, options, error):
    with pytest.raises(UsageError, match=error):
        read("four\n", **options)


def documents(text, offset=0, limit=2_000):
    """The document's loop: offsets from 0, 2,000 characters of a line and "..."."""
    lines = text.split("\n")
    return [
        line[:2_000] + "..." if len(line) > 2_000 else line for line in lines[offset : min(len(lines), offset + limit)]
    ]


@pytest.mark.parametrize(("offset", "limit"), [(0, 2_000), (0, 2), (1, 1), (2, 2), (3, 5)])
def test_the_documents_offset_and_suffix_are_there_for_the_asking(read, offset, limit):
    text = "\n".join(["one", "x" * 3_000, "three", "four"])
    assert shown(read(text, offset=offset, limit=limit, style="document")) == documents(text, offset, limit)
    assert shown(read(text, offset=offset + 1, limit=limit)) == theirs(text, offset + 1, limit)


def test_every_step_that_the_documents_style_names_is_in_its_own_count(read):
    text = "one\n" + "x" * 3_000 + "\nthree\nfour\n"
    page = read(text, limit=2, style="document")["output"]
    assert "(Showing lines 1-2 of 4. Use offset=2 to continue.)" in page
    assert "Use offset=1 column=2001 to continue inside it.)" in page
    inside = read(text, offset=1, column=2_001, style="document")["output"]
    assert "2: " + "x" * 1_000 + "\n\n(End of line 2 - total 3000 bytes. Use offset=2 to continue.)" in inside
    assert "3: three\n4: four\n" in read(text, offset=2, style="document")["output"]
    with pytest.raises(UsageError, match=r"^Offset 4 is out of range for this file \(4 lines\)$"):
        read(text, offset=4, style="document")
    with pytest.raises(UsageError, match=r"^offset must be greater than or equal to 0$"):
        read(text, offset=-1, style="document")
    with pytest.raises(UsageError, match=r"^style='old' is not a style of Read; use 'today' or 'document'"):
        read(text, style="old")


def test_a_folder_is_listed_from_the_documents_offset_too(tmp_path):
    for name in "abcd":
        (tmp_path / name).touch()
    page = opencode_read.read(tmp_path, 0, 2, style="document")["output"]
    assert "a\nb\n\n(Showing 2 of 4 entries. Use 'offset' parameter to read beyond entry 2)" in page
    assert "c\nd\n" in opencode_read.read(tmp_path, 2, style="document")["output"]


def test_bytes_that_are_no_utf8_survive(read):
    assert shown(read(b"caf\xe9\nok\n")) == ["caf\ufffd", "ok"]


def test_a_huge_line_of_bytes_that_are_no_utf8_can_be_read_to_its_end(read):
    data = b"text " * 1_000 + b"\xe9" * 200_000
    result, seen = read(data), 0
    step = re.compile(r"Use offset=1 column=(\d+) to continue")
    while following := step.search(result["output"]):
        assert int(following[1]) > seen
        seen = int(following[1])
        result = read(data, column=seen)
        assert len(result["output"].encode()) < 51_200 + 1_024
    assert f"(End of line 1 - total {len(data)} bytes." in result["output"]


def test_a_character_is_never_cut_in_two(read):
    """Theirs counts UTF-16 units, and 2,000 of them may end inside a pair."""
    text = "x" + "😀" * 2_000
    assert theirs(text)[0][1_000] == "\ud83d"
    assert shown(read(text)) == ["x" + "😀" * 1_999 + "... (line truncated to 2000 chars)"]
    assert "column=7998 " in read(text)["output"]


def test_a_column_inside_a_character_goes_on_with_the_next_one(read):
    assert shown(read("€" * 3_000, column=2))[0] == "€" * 2_999


def test_a_lone_carriage_return_is_no_line_end(read):
    """Theirs counts the frames of a progress bar as lines; Grep and `spill read` do not, and offsets would not agree."""
    assert theirs("10%\r20%\nnext") == ["10%", "20%", "next"]
    assert shown(read("10%\r20%\nnext")) == ["10%\r20%", "next"]


def test_a_limit_above_2000_is_2000(read):
    """Theirs takes any: 51,200 empty lines, with their numbers, are 400 KB."""
    assert len(theirs("\n" * 60_000, limit=1_000_000)) > 50_000
    result = read("\n" * 60_000, limit=1_000_000)
    assert "(Showing lines 1-2000 of 60000. Use offset=2001 to continue.)" in result["output"]


def test_a_page_is_never_spilled_again(read):
    result = read("x" * 90 + "\n" + ("y" * 90 + "\n") * 5_000)
    clipper = opencode.clipper(store=MemoryStore())
    assert opencode.settle(result, clipper) is result
    assert list(clipper.store.list()) == []


def test_a_folder_is_listed(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "b.txt").touch()
    (tmp_path / "A.txt").touch()
    (tmp_path / "to_sub").symlink_to("sub")
    (tmp_path / "odd\nname").touch()
    result = opencode_read.read(tmp_path)
    assert result["output"] == (
        f"<path>{tmp_path}</path>\n<type>directory</type>\n<entries>\n"
        "A.txt\nb.txt\nodd\ufffdname\nsub/\nto_sub/\n\n(5 entries)\n</entries>"
    )
    assert result["metadata"]["truncated"] is False


def test_a_folder_of_long_names_fits_too(tmp_path):
    """Theirs bounds the number of names and not their bytes."""
    for number in range(500):
        (tmp_path / f"{number:03}{'n' * 200}").touch()
    assert len("\n".join(os.listdir(tmp_path)[:2_000])) > 100_000, "theirs"
    first = opencode_read.read(tmp_path)
    assert len(first["output"].encode()) < 51_200 + 1_024
    beyond = int(re.search(r"read beyond entry (\d+)\)", first["output"])[1])
    assert f"\n{beyond - 1:03}n" in opencode_read.read(tmp_path, beyond)["output"]


def test_a_file_that_is_not_there_is_said_with_what_may_be_meant(tmp_path):
    (tmp_path / "report.txt").touch()
    with pytest.raises(UsageError, match=r"^File not found: .*/report\n\nDid you mean one of these\?\n.*/report\.txt$"):
        opencode_read.read(tmp_path / "report")
    with pytest.raises(UsageError, match=r"^File not found: .*/zzz$"):
        opencode_read.read(tmp_path / "zzz")


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match=r"^Path is not a file: "):
        opencode_read.read(tmp_path / "pipe")


def test_a_picture_that_is_too_large_is_refused(tmp_path):
    path = tmp_path / "huge.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n")
    os.truncate(path, (20 << 20) + 1)
    with pytest.raises(UsageError, match="larger than 20971520 bytes"):
        opencode_read.read(path)


def test_a_note_with_the_name_of_a_picture_is_text(tmp_path):
    """As git-lfs leaves them; sent as a picture, the model's provider refuses the whole request."""
    assert guess_type("a.png")[0] == "image/png", "theirs goes by the name"
    (tmp_path / "a.png").write_text("version https://git-lfs.github.com/spec/v1\n")
    assert "1: version" in opencode_read.read(tmp_path / "a.png")["output"]


def test_a_quarter_of_a_gigabyte_in_one_line_is_bounded_in_memory(tmp_path):
    path = tmp_path / "sparse.txt"
    path.write_bytes(b"text\n" * 1_000 + b"begin")
    os.truncate(path, 1 << 28)
    code = (
        "from spillover.profiles.opencode.read import read\n"
        "from spillover.testing import peak_memory\n"
        f"path = {str(path)!r}\n"
        "before = peak_memory()\n"
        "page = read(path, 1001)['output']\n"
        "inside = read(path, 1001, column=200_000_000)['output']\n"
        "print('1001: begin' in page, 'column=200051200 ' in inside, peak_memory() - before)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    begins, goes_on, grown = ended.stdout.split()
    assert (begins, goes_on) == ("True", "True")
    assert int(grown) < 10 << 20
