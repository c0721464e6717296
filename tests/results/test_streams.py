"""The streams of a command, clipped together."""

import pytest


@pytest.mark.parametrize(
    ("streams", "expected"),
    [
        ({"stdout": "out\n", "stderr": "err\n"}, "[stdout]\nout\n[stderr]\nerr"),
        ({"stdout": "out\n", "stderr": ""}, "out\n"),  # one stream needs no label
        ({"stdout": "", "stderr": "err\n"}, "err\n"),
        ({"stdout": "", "stderr": ""}, ""),
        ({"stdout": "no end", "stderr": "err\n"}, "[stdout]\nno end\n[stderr]\nerr"),
    ],
)
def test_streams_that_fit_are_whole_and_labelled(clipper, streams, expected):
    assert clipper.clip_streams(**streams).text == expected


def shown_of(clip, letter):
    return sum(line.count(letter) for line in clip.text.split("\n") if set(line) == {letter})


def test_when_both_overflow_stderr_gets_two_parts_of_three(clipper):
    clip = clipper.clip_streams(stdout="o" * 9_000, stderr="e" * 9_000)
    assert shown_of(clip, "e") == pytest.approx(2 * shown_of(clip, "o"), rel=0.1)
    assert len(clip.text) <= 1_000


def test_the_room_one_stream_leaves_goes_to_the_other(clipper):
    clip = clipper.clip_streams(stdout="o" * 9_000, stderr="e")
    assert shown_of(clip, "e") == 1
    assert shown_of(clip, "o") > 700
    clip = clipper.clip_streams(stdout="o" * 100, stderr="e" * 9_000)
    assert shown_of(clip, "o") == 100
    assert shown_of(clip, "e") > 600


@pytest.mark.parametrize("stdout", ["out\n" * 500, "o" * 5_000 + "\n"])
def test_one_long_line_of_stderr_is_not_crowded_out(clipper, stdout):
    clip = clipper.clip_streams(stdout=stdout, stderr="ERR " * 150 + "\n")
    assert clip.text.count("ERR") > 75


def test_the_record_knows_the_streams_apart(clipper, store):
    clip = clipper.clip_streams(stdout="o" * 3_000, stderr="e" * 2_000)
    assert store.get(clip.ref).segments == (("stdout", 3_000), ("separator", 1), ("stderr", 2_000))
