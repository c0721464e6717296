"""An output that is pushed rather than pulled."""

import contextlib

import pytest

from spillover.api import Clipper
from spillover.errors import UsageError
from spillover.settings.limits import Limits
from spillover.store.directory import DirStore
from spillover.store.memory import MemoryStore
from spillover.testing import content


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def clipper(store):
    return Clipper(Limits(lines=10), store=store)


def test_what_fits_is_whole_and_stored_nowhere(clipper, store):
    capture = clipper.capture()
    capture.write("one\n")
    capture.write(b"two\n")
    assert capture.clip.text == "one\ntwo\n"
    assert list(store.list()) == []


def test_what_overflows_is_stored_from_its_first_byte_on(clipper, store):
    capture = clipper.capture(tool="worker", call_id="call-7")
    for number in range(1_000):
        capture.write(f"line {number}\n")
    clip = capture.clip
    assert clip.outcome == "stored"
    assert content(store, clip.ref) == b"".join(b"line %d\n" % number for number in range(1_000))
    assert store.get(clip.ref).call_id == "call-7"
    assert clip.ref.startswith("worker-")


def test_the_streams_are_remembered_in_order_of_arrival(clipper, store):
    capture = clipper.capture()
    for text, stream in (("o" * 50 + "\n", "stdout"), ("e\n" * 20, "stderr"), ("o\n", "stdout"), ("p\n", "stdout")):
        capture.write(text, stream=stream)
    assert store.get(capture.clip.ref).segments == (("stdout", 51), ("stderr", 40), ("stdout", 4))


def test_chunks_make_no_difference(clipper):
    text = "".join(f"é {number}\n" for number in range(500)).encode()
    whole = clipper.clip(text)
    capture = clipper.capture()
    for at in range(len(text)):
        capture.write(text[at : at + 1])
    assert (capture.clip.text, capture.clip.ref) == (whole.text, whole.ref)


def test_asking_ends_the_capture_and_may_be_repeated(clipper):
    capture = clipper.capture()
    capture.write("x")
    assert capture.clip is capture.clip
    with pytest.raises(UsageError, match="has ended; start another one"):
        capture.write("y")


def test_a_capture_can_stand_in_for_a_file(clipper):
    capture = clipper.capture()
    with contextlib.redirect_stdout(capture):
        print("printed")  # noqa: T201  that it is captured is the point
        print("flushed", flush=True)  # noqa: T201
    assert capture.clip.text == "printed\nflushed\n"
    assert clipper.capture().write("four") == 4


def test_leaving_by_an_exception_keeps_nothing(tmp_path):
    clipper = Clipper(Limits(lines=10), store=DirStore(tmp_path / "store"))
    capture = clipper.capture()

    def produce():
        with capture:
            capture.write("line\n" * 100_000)
            raise RuntimeError("the producer died")

    with pytest.raises(RuntimeError):
        produce()
    assert [path.name for path in (tmp_path / "store").rglob("*") if path.suffix or path.parent.name == ".tmp"] == []
    with pytest.raises(UsageError, match="kept nothing"):
        capture.clip  # noqa: B018  asking is the point
    with pytest.raises(UsageError, match="has ended"):
        capture.write("more")


def test_leaving_in_peace_keeps_everything(clipper):
    with clipper.capture() as capture:
        capture.write("line\n" * 100)
    assert capture.clip.outcome == "stored"


def test_what_is_no_chunk_is_refused(clipper):
    with pytest.raises(UsageError, match="cannot clip int; give str, bytes"):
        clipper.capture().write(5)


def test_a_capture_to_which_nothing_came_is_empty(clipper):
    assert clipper.capture().clip.text == ""
