"""Everything that can be clipped, as bytes; everything that cannot, said at once."""

import array
import io
from pathlib import Path

import pytest

from spillover.errors import UsageError
from spillover.source.intake import achunks, as_bytes, chunks

TEXT = "grün\r\n\x1b[1mfett\x1b[0m\n\0 ende"
DATA = TEXT.encode()


def a_path(folder):
    path = folder / "with a space.log"
    path.write_bytes(DATA)
    return path


#: every kind of source, from a folder it may write to
SOURCES = {
    "str": lambda _: TEXT,
    "bytes": lambda _: DATA,
    "bytearray": lambda _: bytearray(DATA),
    "memoryview": lambda _: memoryview(DATA),
    "path": a_path,
    "binary file": lambda folder: a_path(folder).open("rb"),
    "unbuffered file": lambda folder: a_path(folder).open("rb", buffering=0),
    "text file": lambda folder: a_path(folder).open(encoding="utf-8", newline=""),
    "BytesIO": lambda _: io.BytesIO(DATA),
    "StringIO": lambda _: io.StringIO(TEXT, newline=""),
    "list of str": lambda _: [TEXT[:5], "", TEXT[5:]],
    "list of bytes": lambda _: [DATA[:3], b"", DATA[3:]],
    "generator of both": lambda _: (piece for piece in (TEXT[:5], TEXT[5:].encode())),
}


@pytest.fixture(params=SOURCES)
def source(request, tmp_path):
    made = SOURCES[request.param](tmp_path)
    yield made
    if isinstance(made, io.IOBase):
        made.close()


def test_every_source_gives_the_same_bytes(source):
    assert b"".join(chunks(source)) == DATA


async def test_every_source_gives_the_same_bytes_to_async_code(source):
    assert b"".join([bytes(chunk) async for chunk in achunks(source)]) == DATA


async def test_an_async_iterable_may_mix_text_and_bytes():
    async def pieces():
        yield TEXT[:4]
        yield DATA[len(TEXT[:4].encode()) :]

    assert b"".join([bytes(chunk) async for chunk in achunks(pieces())]) == DATA


@pytest.mark.parametrize("wrong", [None, 7, 1.5, object(), {"a": "b"}, {}])
def test_what_cannot_be_clipped_is_said_before_anything_is_taken(wrong):
    with pytest.raises(UsageError, match=rf"^cannot clip {type(wrong).__name__}; give str, bytes, a file"):
        chunks(wrong)


def test_a_wrong_piece_is_said_when_it_comes():
    pieces = chunks(["fine", 7])
    assert next(pieces) == b"fine"
    with pytest.raises(UsageError, match="cannot clip int"):
        next(pieces)


def test_an_async_iterable_asks_for_await():
    async def pieces():
        yield ""  # pragma: no cover

    with pytest.raises(UsageError, match="await aclip"):
        chunks(pieces())


def test_a_path_that_is_not_there_is_said_before_anything_is_taken(tmp_path):
    with pytest.raises(UsageError, match=r"gone\.log: No such file"):
        chunks(tmp_path / "gone.log")


def test_a_folder_is_not_an_output(tmp_path):
    with pytest.raises(UsageError, match="Is a directory"):
        chunks(tmp_path)


def test_a_path_is_closed_once_it_has_been_read(tmp_path):
    read = chunks(a_path(tmp_path))
    file = read.gi_frame.f_locals["file"]
    assert b"".join(read) == DATA
    assert file.closed


def test_a_text_file_gives_the_bytes_of_its_text(tmp_path):
    path = Path(tmp_path) / "latin.txt"
    path.write_bytes("grün".encode("latin-1"))
    with path.open(encoding="latin-1") as file:
        assert b"".join(chunks(file)) == "grün".encode()


def test_a_lone_surrogate_keeps_its_three_bytes():
    assert as_bytes("a\ud800b") == b"a\xed\xa0\x80b"


def test_a_view_of_larger_items_is_taken_byte_by_byte():
    numbers = array.array("I", [1, 2])
    assert bytes(as_bytes(memoryview(numbers))) == numbers.tobytes()
    every_other = memoryview(b"abcdef")[::2]
    assert bytes(as_bytes(every_other)) == b"ace"
