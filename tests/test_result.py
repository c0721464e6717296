"""What the model gets, and the facts about it."""

import pytest

from spillover.result import Clip
from spillover.settings.limits import Size


def test_a_clip_is_its_text_wherever_text_is_wanted():
    assert str(Clip("hello")) == f"{Clip('hello')}" == "hello"


def test_a_whole_clip_needs_no_more_than_its_text():
    clip = Clip("one\ntwo\n", _count=len)
    assert clip.outcome == "whole"
    assert clip.total == clip.shown == Size(lines=2, bytes=8, chars=8, tokens=8)
    assert clip.ranges == ((1, 2),)
    assert clip.hidden == ()
    assert (clip.ref, clip.path, clip.reason) == (None, None, None)


def test_nothing_has_no_lines():
    assert Clip("").total == Size()
    assert Clip("").ranges == Clip("").hidden == ()


def test_half_a_character_can_be_measured_too():
    assert Clip("\ud83d").total.bytes == 3


@pytest.mark.parametrize(
    ("ranges", "hidden"),  # of 100 lines
    [
        (((1, 100),), ()),
        (((1, 40),), ((41, 100),)),
        (((61, 100),), ((1, 60),)),
        (((1, 10), (91, 100)), ((11, 90),)),
        (((5, 5), (7, 7)), ((1, 4), (6, 6), (8, 100))),
        ((), ((1, 100),)),
    ],
)
def test_what_is_shown_and_what_is_hidden_add_up(ranges, hidden):
    clip = Clip("…", "stored", _total=Size(lines=100), _ranges=ranges)
    assert clip.hidden == hidden
    assert sum(last - first + 1 for first, last in (*clip.ranges, *clip.hidden)) == 100
