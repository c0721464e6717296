"""Law 3: one question, "did anything fail to reach the model?", decides cutting, storing and the notice."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from law_given import choices, cuts, law, law_in_short, outputs
from law_naive import over
from law_ways import SOURCES, TOGETHER

from spillover import Clipper, Limits, MemoryStore
from spillover.profiles import klaude
from support import ToolClipper, clean, look, visible

LEFT_OUT = re.compile(r"\[(Output clipped: (control codes only|[\d,]+ overwritten frames? left out)|Clipped:)")


@law
@given(way=st.sampled_from([*SOURCES]), chosen=choices, data=outputs, cuts=cuts)
def test_an_output_is_whole_exactly_when_it_fits_and_nothing_is_left_out(tmp_path, way, chosen, data, cuts):
    clipper = ToolClipper(**chosen, store=MemoryStore())
    came = SOURCES[way](clipper, data, cuts, tmp_path)
    (clip,), (came_in,) = came.clips, came.inputs
    as_shown, left_out = visible(clipper.settings, came_in)
    bounds = [limits for limits in (clipper.settings.limits, clipper.settings.trigger) if limits]
    fits = len(came_in) <= max(limits.window for limits in bounds) and any(
        len(came_in) <= (limits.bytes or len(came_in)) and not over([as_shown], limits, clipper.settings.count)
        for limits in bounds
    )
    fits = fits and not left_out
    assert (clip.outcome == "whole") == fits
    if fits:
        assert clip.text == as_shown
        assert (clip.ranges, clip.hidden, clip.shown) == (((1, clip.total.lines),) if came_in else (), (), clip.total)


@law_in_short
@given(way=st.sampled_from([*SOURCES, *TOGETHER]), chosen=choices, data=outputs, cuts=cuts)
def test_something_is_stored_exactly_when_something_is_cut(tmp_path, way, chosen, data, cuts):
    clipper = ToolClipper(**chosen, store=MemoryStore())
    came = (SOURCES | TOGETHER)[way](clipper, data, cuts, tmp_path)
    for clip, came_in in zip(came.clips, came.inputs, strict=True):
        cut = clip.hidden != () or clip.shown.bytes < clip.total.bytes
        if clip.outcome == "whole":
            assert not cut
        elif not cut:
            # Every line is shown, but codes and frames are only in the store. The notice must say that too.
            assert len(came_in) > len(clean(came_in).encode()) or look(came_in)[1]
            assert LEFT_OUT.match(clip.text)


#: limits, output → the outcome, exactly at a limit and one above it.
EDGES = [
    (Limits(lines=4), b"1\n2\n3\n4", "whole"),
    (Limits(lines=4), b"1\n2\n3\n4\n", "whole"),
    (Limits(lines=4), b"1\n2\n3\n4\n5", "stored"),
    (Limits(lines=4), b"\n\n\n\n", "whole"),
    (Limits(lines=4), b"\n\n\n\n\n", "stored"),
    (Limits(lines=4), b"1\r\n2\r\n3\r\n4\r\n", "whole"),
    (Limits(bytes=200), b"x" * 200, "whole"),
    (Limits(bytes=200), b"x" * 201, "stored"),
    (Limits(bytes=200), "é".encode() * 100, "whole"),
    (Limits(bytes=200), "é".encode() * 101, "stored"),
    (Limits(chars=200), "é".encode() * 200, "whole"),
    (Limits(chars=200), "é".encode() * 201, "stored"),
    (Limits(chars=200), "😀".encode() * 200, "whole"),
    (Limits(chars=200, bytes=799), "😀".encode() * 200, "stored"),
    (Limits(bytes=200), b"\r" * 201 + b"done", "stored"),  # above the limit, although most is invisible
    (Limits(lines=4), b"10%\r20%\r30%\n", "stored"),  # it would fit, but two frames are left out
    (Limits(lines=4), b"FATAL\rok\n", "whole"),  # overwritten, but not a frame: both rows are shown
    (Limits(lines=4), b"a\rb\rc\rd\re\n", "stored"),  # one line, but more rows than fit
    (Limits(lines=4), b"fata\b\b\b\bgood\n", "stored"),
    (Limits(lines=4), b"b\bbo\bol\bld\bd _\bu\n", "whole"),  # bold and underlined: nothing is erased
    (Limits(lines=4), b"", "whole"),
]


@pytest.mark.parametrize(("limits", "output", "outcome"), EDGES)
def test_the_limit_itself_still_fits(limits, output, outcome):
    store = MemoryStore()
    clip = Clipper(limits, store=store).clip(output)
    assert clip.outcome == outcome
    assert len(list(store.list())) == (outcome == "stored")


@pytest.mark.parametrize("size", [2_000, 2_001, 5_000])
def test_up_to_the_trigger_nothing_is_cut_and_above_it_down_to_the_limits(size):
    clipper = klaude.clipper(head_chars=250, tail_chars=250, max_length=2_000, store=MemoryStore())
    clip = clipper.clip("x" * size)
    assert (clip.outcome, clip.shown.chars) == (("whole", size) if size <= 2_000 else ("stored", 500))
