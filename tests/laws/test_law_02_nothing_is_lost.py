"""Law 2: the stored bytes are the bytes that came in. If storing failed, the clip says so and names no path."""

import hashlib
import os
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from law_given import choices, cuts, law, law_for_processes, law_in_short, outputs, unforged
from law_naive import line_count
from law_ways import SOURCES, TOGETHER, behind_each_other

from spillover import Clipper, DirStore, Limits, MemoryStore, verify
from spillover.testing import FailingStore, content
from support import ToolClipper

ways = st.sampled_from([*SOURCES, *TOGETHER])
WAYS = SOURCES | TOGETHER
REASON = "the moon is in the way"
ESCAPE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)|[ -/]*[0-~])?")


def check_kept(store, clip, data):
    """Check that the ref leads to these bytes, and that the record describes them."""
    record = store.get(clip.ref)
    assert content(store, clip.ref) == data
    assert (record.bytes, record.sha256) == (len(data), hashlib.sha256(data).hexdigest())
    assert (record.lines, record.partial) == (line_count(data), None)
    assert verify(store, clip.ref) is None
    assert clip.path == store.where(clip.ref)
    if clip.path is not None:
        with open(clip.path, "rb") as file:
            assert file.read() == data


@law
@given(way=ways, chosen=choices, data=outputs, cuts=cuts, disk=st.booleans())
def test_what_is_stored_is_what_came_in_and_what_is_whole_is_not_stored(tmp_path, way, chosen, data, cuts, disk):
    store = DirStore(tmp_path / "store", retention=None) if disk else MemoryStore()
    before = {record.ref for record in store.list()}
    clipper = ToolClipper(**chosen, store=store)
    came = WAYS[way](clipper, data, cuts, tmp_path)
    for clip, given_bytes in zip(came.clips, came.inputs, strict=True):
        assert clip.outcome in ("whole", "stored")
        if clip.outcome == "stored":
            check_kept(store, clip, given_bytes)
        else:
            assert (clip.ref, clip.path, clip.reason) == (None, None, None)
    kept = {clip.ref for clip in came.clips if clip.ref}
    assert {record.ref for record in store.list()} == before | kept
    for ref in kept:  # all examples share the folder: leave it as it was
        store.delete(ref)
    assert not disk or not os.path.exists(tmp_path / "store/.tmp") or os.listdir(tmp_path / "store/.tmp") == []


@law_in_short
@given(way=st.sampled_from([*SOURCES]), chosen=choices, data=outputs, cuts=cuts)
def test_every_word_of_what_is_whole_is_in_the_text(tmp_path, way, chosen, data, cuts):
    """Of 40 rows joined by carriage returns, only the last was shown; the clip was called whole and was not stored."""
    came = SOURCES[way](ToolClipper(**chosen, store=MemoryStore()), data, cuts, tmp_path)
    (clip,), (came_in,) = came.clips, came.inputs
    if clip.outcome == "whole":
        assert not [word for word in printed(came_in) if word not in clip.text]


def printed(data):
    """Return the words (runs of letters and digits) in the bytes after escape codes are removed."""
    plain = ESCAPE.sub(b"", data.replace(b"\0", b""))
    # Overstrikes, where three characters show one letter: N, backspace, N.
    while (struck := re.sub(rb"([^\b\r\n])\b(?=\1|[^\b\r\n]_)|_\b(?=[^\b\r\n])", b"", plain)) != plain:
        plain = struck
    return {word.decode() for word in re.findall(rb"(?<![\b\x80-\xff])[A-Za-z0-9%]{2,}(?![\b\x80-\xff])", plain)}


@law_in_short
@given(
    way=ways,
    chosen=choices,
    data=outputs,
    cuts=cuts,
    on=st.sampled_from(["writer", "write", "publish"]),
    after=st.integers(0, 3_000),
)
def test_what_is_lost_is_said_to_be_lost_and_leaves_nothing(tmp_path, way, chosen, data, cuts, on, after):
    inner = MemoryStore()
    store = FailingStore(inner, on=on, after_bytes=after, reason=REASON)
    came = WAYS[way](ToolClipper(**chosen, store=store), data, cuts, tmp_path)
    for clip, given_bytes in zip(came.clips, came.inputs, strict=True):
        if clip.outcome == "stored":  # the disk filled up only after the last byte
            assert on == "write"
            assert len(given_bytes) <= after
            check_kept(inner, clip, given_bytes)
        elif clip.outcome == "lost":
            assert (clip.ref, clip.path, clip.reason) == (None, None, REASON)
            assert REASON in clip.text or clip.text == ""  # many outputs, no room for a reason
            assert inner.where("tool-7f3a9c2e41d0") is None
    assert {record.ref for record in inner.list()} == {clip.ref for clip in came.clips if clip.ref}


@law_in_short
@given(
    way=st.sampled_from([*SOURCES, "clip_streams"]), chosen=choices, data=unforged, cuts=cuts, cap=st.integers(1, 3_000)
)
def test_past_the_cap_the_first_bytes_are_stored_and_the_clip_says_so(tmp_path, way, chosen, data, cuts, cap):
    store = MemoryStore()
    came = WAYS[way](ToolClipper(**chosen, cap=cap, store=store), data, cuts, tmp_path)
    clip, came_in = came.clips[0], came.inputs[0]
    if clip.outcome == "whole":
        assert list(store.list()) == []
        return
    assert clip.outcome == "stored"
    assert (clip.total.lines, clip.total.bytes) == (line_count(came_in), len(came_in))
    if len(came_in) <= cap:
        check_kept(store, clip, came_in)
        return
    record = store.get(clip.ref)
    assert content(store, clip.ref) == came_in[:cap]
    assert (record.bytes, record.lines) == (cap, line_count(came_in[:cap]))
    assert (record.produced_bytes, record.produced_lines) == (len(came_in), line_count(came_in))
    assert record.partial
    assert verify(store, clip.ref) is None
    assert "in part" in clip.text
    assert f"first {cap:,} bytes" in clip.text
    assert "Full output" not in clip.text


@law_for_processes
@given(chosen=choices, data=outputs, times=st.sampled_from([1, 1, 1, 30]))
def test_what_a_command_printed_is_what_is_stored(tmp_path, chosen, data, times):
    """Past the window, bytes go straight from the pipe to the file without being inspected."""
    printed = bytes(data) * times
    (tmp_path / "printed").write_bytes(printed)
    store = DirStore(tmp_path / "store", retention=None)
    clip = ToolClipper(**chosen, store=store).run(["cat", str(tmp_path / "printed")]).clip
    assert (clip.total.lines, clip.total.bytes) == (line_count(printed), len(printed))
    if clip.outcome == "stored":
        check_kept(store, clip, printed)
    else:
        assert clip.outcome == "whole"


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        ([b"a", b"b"], b"a\nb"),
        ([b"a\n", b"b\n"], b"a\nb\n"),
        ([b"a\r", b"b"], b"a\r\nb"),
        ([b"", b"b"], b"b"),
        ([b"a", b"", b"c"], b"a\nc"),
        ([b"\xff", b"\x00"], b"\xff\n\x00"),
    ],
)
def test_streams_are_stored_one_behind_the_other(parts, whole):
    assert behind_each_other(parts) == whole
    store = MemoryStore()
    long = [part + b"." * 300 * bool(part) for part in parts]
    names = ("stdout", "stderr", "third")
    clip = Clipper(Limits(bytes=200), store=store).clip_streams(**dict(zip(names, long, strict=False)))
    assert content(store, clip.ref) == behind_each_other(long)


def test_every_output_of_many_is_kept_even_when_there_is_no_room_for_a_word_about_it():
    store = MemoryStore()
    given_bytes = {number: f"output {number} ".encode() * 10 for number in range(20)}
    clips = Clipper(Limits(bytes=1_000), store=store).clip_many(given_bytes)
    assert sum(len(clip.text.encode()) for clip in clips.values()) <= 1_000
    for number, clip in clips.items():
        assert clip.text.encode() == given_bytes[number] or content(store, clip.ref) == given_bytes[number]
