"""Law 6: the same output and the same choices give the same clip and ref on every machine and for any chunking."""

import hashlib
import io
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from law_given import choices, cuts, law, law_in_short, outputs
from law_naive import line_count
from law_ways import SOURCES, as_bytes

from spillover import Clipper, DirStore, MemoryStore
from spillover.testing import byte_by_byte, chunked
from support import REF_DIGITS, ToolClipper


def facts(clip):
    return clip.text, clip.outcome, clip.ref, clip.total, clip.shown, clip.ranges, clip.reason


@law
@given(way=st.sampled_from([*SOURCES]), chosen=choices, data=outputs, cuts=cuts)
def test_every_source_gives_what_the_bytes_give(tmp_path, way, chosen, data, cuts):
    clipper = ToolClipper(**chosen, store=MemoryStore())
    came = SOURCES[way](clipper, data, cuts, tmp_path)
    assert facts(came.clips[0]) == facts(clipper.clip(came.inputs[0]))


@law_in_short
@given(chosen=choices, data=outputs, first=cuts, second=cuts)
def test_chunking_makes_no_difference(chosen, data, first, second):
    clipper = ToolClipper(**chosen, store=MemoryStore())
    clips = [clipper.clip(chunked(data, sizes)) for sizes in (first, second)]
    if len(data) < 2_000:
        clips.append(clipper.clip(byte_by_byte(data)))
    assert {facts(clip) for clip in clips} == {facts(clipper.clip(bytes(data)))}


@law_in_short
@given(chosen=choices, data=outputs, at=st.integers(0, 3_000), cuts=cuts)
def test_how_streams_and_parallel_results_come_in_makes_no_difference(chosen, data, at, cuts):
    clipper = ToolClipper(**chosen, store=MemoryStore())
    out, err = bytes(data[:at]), bytes(data[at:])
    streams = [
        clipper.clip_streams(stdout=out, stderr=err),
        clipper.clip_streams(stdout=chunked(out, cuts), stderr=io.BytesIO(err)),
    ]
    assert facts(streams[0]) == facts(streams[1])
    many = [clipper.clip_many({"a": out, "b": err}), clipper.clip_many({"a": chunked(out, cuts), "b": io.BytesIO(err)})]
    assert [*map(facts, many[0].values())] == [*map(facts, many[1].values())]


@law_in_short
@given(chosen=choices, data=outputs)
def test_where_it_is_stored_makes_no_difference_to_a_reader_who_is_not_told(tmp_path, chosen, data):
    chosen = {**chosen, "hints": "cli"}
    folders = [DirStore(tmp_path / name, retention=None) for name in ("a", "another root, with a much longer name")]
    clips = [ToolClipper(**chosen, store=store).clip(data) for store in (MemoryStore(), *folders)]
    assert len({facts(clip) for clip in clips}) == 1


@law_in_short
@given(chosen=choices, data=outputs)
def test_asking_again_gives_the_same_clip_although_it_is_stored_by_now(chosen, data):
    clipper = ToolClipper(**chosen, store=MemoryStore())
    first, second = clipper.clip(data), clipper.clip(data)
    assert facts(first) == facts(second)
    if first.ref:
        assert first.ref.endswith("-" + hashlib.sha256(data).hexdigest()[:REF_DIGITS])
        assert clipper.read(first.ref).text == clipper.read(first.ref).text


@law_in_short
@given(text=st.text(max_size=300), chosen=choices)
def test_any_text_is_the_bytes_it_stands_for(text, chosen):
    clipper = ToolClipper(**chosen, store=MemoryStore())
    assert facts(clipper.clip(text)) == facts(clipper.clip(as_bytes(text)))


MEGABYTE = 1 << 20


@pytest.mark.parametrize("size", [MEGABYTE - 1, MEGABYTE, MEGABYTE + 1, 5 * MEGABYTE + 3])
@pytest.mark.parametrize("chunk", [65_536, MEGABYTE - 1, MEGABYTE, MEGABYTE + 1, 3 * MEGABYTE, 10 * MEGABYTE])
def test_from_a_megabyte_on_measuring_runs_beside_writing_and_nothing_changes(tmp_path, size, chunk):
    data = (b"a line of a log, as they are, and \xff\x00\x1b[0m\r\n" * (size // 40 + 1))[:size]
    pieces = [data[at : at + chunk] for at in range(0, size, chunk)]
    clips = [Clipper(store=store, hints="cli").clip(pieces) for store in (DirStore(tmp_path / "s"), MemoryStore())]
    assert facts(clips[0]) == facts(clips[1])
    assert (clips[0].total.bytes, clips[0].total.lines) == (size, line_count(data))
    assert clips[0].ref.endswith("-" + hashlib.sha256(data).hexdigest()[:REF_DIGITS])


#: Everything about a process that could leak into a text: hash seed, id, time zone, locale, folder.
ELSEWHERE = (
    {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C"},
    {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"},
    {"PYTHONHASHSEED": "random", "COLUMNS": "20", "TERM": "dumb"},
)
#: Where law_tables.py and support.py stand.
SHARED = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
PROGRAM = textwrap.dedent("""
    import sys
    sys.path += sys.argv[1:]
    from law_tables import CHOICES, PARTS, Output
    from spillover import MemoryStore
    from support import ToolClipper
    import hashlib
    said = hashlib.sha256()
    for number, chosen in enumerate(CHOICES[:100]):
        parts = [PARTS[(number * step + step) % len(PARTS)] for step in (1, 7, 31, 101)]
        clipper = ToolClipper(**chosen, store=MemoryStore())
        output = bytes(Output.of(parts))
        clip = clipper.clip(output)
        streams = clipper.clip_streams(stdout=output, stderr=output[::-1])
        many = clipper.clip_many({"b": output, "a": output[::-1]})
        blocks = clipper.clip_blocks([output.decode("utf-8", "replace"), {"type": "image"}, "and more"])
        back = [clipper.read(clip.ref), clipper.grep(clip.ref, "a|e")] if clip.ref else []
        clips = [clip, streams, *many.values(), *back]
        facts = [(one.text, one.outcome, one.ref, one.total, one.shown, one.ranges) for one in clips]
        said.update(repr((facts, list(blocks))).encode("utf-8", "backslashreplace"))
    print(said.hexdigest())
""")


def test_every_process_says_the_same(tmp_path):
    """Make hundreds of clips in each of three processes with different environments."""
    said = set()
    for number, differing in enumerate(ELSEWHERE):
        folder = tmp_path / f"folder {number}"
        folder.mkdir()
        command = [sys.executable, "-c", PROGRAM, *SHARED]
        run = subprocess.run(
            command, cwd=folder, env={**os.environ, **differing}, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr
        said.add(run.stdout)
    assert len(said) == 1
