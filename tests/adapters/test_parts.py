"""Results made of a host's own classes: texts are clipped together, and everything else stays in place."""

import json
from dataclasses import dataclass, replace

import pytest

from spillover.adapters.parts import clip_parts, clip_value
from spillover.clipper import Clipper
from spillover.limits import Limits
from spillover.store.memory import MemoryStore
from spillover.testing import content

BIG = "".join(f"line {number}\n" for number in range(1, 1_001))


@dataclass(frozen=True)
class Text:
    words: str


class Picture:
    """An object that is not even equal to itself, like an array."""

    def __eq__(self, other):
        raise AssertionError("nobody needs to compare pictures")

    __hash__ = None


@pytest.fixture
def clipper():
    return Clipper(Limits(bytes=600), store=MemoryStore(), keep="tail")


def clipped(clipper, parts):
    return clip_parts(
        parts,
        clipper,
        text_of=lambda part: part.words if isinstance(part, Text) else None,
        with_text=lambda part, words: replace(part, words=words),
        call_id="c",
    )


def test_what_fits_is_the_very_same_object_in_its_place(clipper):
    parts = [Picture(), Text("a"), Text(""), Picture()]
    kept = clipped(clipper, parts)
    assert [at for at, _ in kept] == [0, 1, 2, 3]
    assert all(part is parts[at] for at, part in kept)


def test_texts_share_the_room_and_one_that_has_none_is_left_out(clipper):
    picture = Picture()
    kept = clipped(clipper, [Text(BIG), picture, Text(BIG), Text("end\n")])
    assert kept[-1][1].words.endswith("end")
    assert (1, picture) in [(at, part if isinstance(part, Text) else picture) for at, part in kept]
    assert sum(len(part.words.encode()) for _, part in kept if isinstance(part, Text)) <= 600


def test_nothing_is_nothing(clipper):
    assert clipped(clipper, []) == []


@pytest.mark.parametrize("value", [None, True, 5, 0.5, {"a": 1}, [1], ["a"]])
def test_a_value_that_fits_is_the_same_value(clipper, value):
    assert clip_value(value, clipper) is value


def test_text_and_bytes_are_clipped_as_they_are_and_a_clip_is_one_already(clipper):
    text = clipper.clip(BIG).text
    assert (
        clip_value(BIG, clipper) == clip_value(BIG.encode(), clipper) == clip_value(clipper.clip(BIG), clipper) == text
    )


def test_bytes_are_stored_as_they_are(clipper):
    clip_value(b"\xff\x00" * 1_000, clipper)
    [record] = clipper.store.list()
    assert content(clipper.store, record.ref) == b"\xff\x00" * 1_000


def test_data_that_does_not_fit_is_its_json_with_lines_and_all_of_it_is_stored(clipper):
    data = {"rows": list(range(1_000))}
    assert clip_value(data, clipper, call_id="c").startswith("[Output clipped")
    [record] = clipper.store.list()
    assert (record.call_id, record.lines) == ("c", 1_004)
    assert json.loads(content(clipper.store, record.ref)) == data


def test_what_nobody_can_write_as_text_is_left_to_the_host(clipper):
    odd = object()
    assert clip_value(odd, clipper) is odd
    assert clip_value(odd, clipper, written=lambda _: BIG).startswith("[Output clipped")
