"""Law 8: whatever fails, the caller gets a clip that fits and says what failed. Only the source's own errors propagate."""

import asyncio
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from law_given import choices, cuts, law, law_in_short, outputs
from law_naive import line_count, over, over_all
from law_ways import SOURCES, TOGETHER

from spillover import Clipper, DirStore, Limits, MemoryStore, StoreError
from spillover.testing import FailingStore, chunked, content
from spillover.types import Span
from support import ToolClipper

WAYS = SOURCES | TOGETHER
ways = st.sampled_from([*WAYS])


class Unreadable(FailingStore):
    """A store whose data cannot be read back: the `nth` read fails, and so do all later ones."""

    def __init__(self, nth, after_bytes):
        super().__init__(MemoryStore(), after_bytes=after_bytes)
        self.left = nth

    def writer(self):
        writer = super().writer()
        inner = writer.blob

        def blob():
            self.look()
            return _UnreadableBlob(self, inner())

        writer.blob = blob
        return writer

    def look(self):
        self.left -= 1
        if self.left < 0:
            raise StoreError("Input/output error")


class _UnreadableBlob:
    def __init__(self, store, inner):
        self.store, self.inner, self.size, self.close = store, inner, inner.size, inner.close

    def read(self, start, end):
        self.store.look()
        return self.inner.read(start, end)


#: What can go wrong with a store at each step of storing an output.
FAILING = {
    "takes nothing": lambda: FailingStore(MemoryStore(), on="writer"),
    **{
        f"is full after {after}": lambda after=after: FailingStore(MemoryStore(), after_bytes=after)
        for after in (0, 1, 100, 201, 900, 5_000, 70_000)
    },
    "publishes nothing": lambda: FailingStore(MemoryStore(), on="publish"),
    **{
        f"cannot be read at look {nth}, full after {after}": lambda nth=nth, after=after: Unreadable(nth, after)
        for nth in (0, 1, 2, 3, 5, 9, 20)
        for after in (10**12, 300)
    },
}


@law
@given(how=st.sampled_from([*FAILING]), way=ways, chosen=choices, data=outputs, cuts=cuts)
def test_a_store_that_fails_at_any_moment_costs_only_what_it_was_to_keep(tmp_path, how, way, chosen, data, cuts):
    store = FAILING[how]()
    clipper = ToolClipper(**chosen, store=store)
    came = WAYS[way](clipper, data, cuts, tmp_path)
    whole = all(clip.outcome == "whole" for clip in came.clips) and way != "clip_many"
    assert not over_all(came.texts, clipper, whole=whole)
    for clip, came_in in zip(came.clips, came.inputs, strict=True):
        assert (clip.total.lines, clip.total.bytes) == (line_count(came_in), len(came_in))
        if clip.outcome == "stored":
            assert content(store.inner, clip.ref) == came_in
        elif clip.outcome == "lost":
            assert clip.reason
            assert way == "clip_many" or "not kept" in clip.text
    assert len(list(store.inner.list())) == len({clip.ref for clip in came.clips if clip.ref})


def raising(*_):
    raise RuntimeError("a mistake in somebody else's code")


#: Custom selectors, each of which misbehaves.
SELECTORS = {
    "raises": raising,
    "nothing": lambda document, fits: [],
    "everything": lambda document, fits: [Span(0, document.size)],
    "out of range": lambda document, fits: [Span(-50, 20), Span(document.size - 5, document.size + 10**9)],
    "far outside": lambda document, fits: [Span(10**12, 10**12 + 5)],
    "backwards": lambda document, fits: [Span(90, 10), Span(40, 30)],
    "overlapping": lambda document, fits: [Span(0, 60), Span(30, 90), Span(30, 40), Span(0, 60)],
    "every other byte": lambda document, fits: [Span(at, at + 1) for at in range(0, min(document.size, 400), 2)],
    "inside characters": lambda document, fits: [Span(1, 2), Span(3, 31), Span(33, 34)],
    "none at all": lambda document, fits: None,
    "no spans": lambda document, fits: [(0, 5), "x"],
    "a generator": lambda document, fits: (Span(at, at + 5) for at in (0, 20)),
}


@pytest.mark.usefixtures("selectors_may_fail")
@law_in_short
@given(selector=st.sampled_from([*SELECTORS]), way=ways, chosen=choices, data=outputs, cuts=cuts)
def test_a_selector_that_does_anything_at_all_leaves_a_clip_that_fits(tmp_path, selector, way, chosen, data, cuts):
    clipper = ToolClipper(**{**chosen, "keep": SELECTORS[selector]}, store=MemoryStore())
    came = WAYS[way](clipper, data, cuts, tmp_path)
    whole = all(clip.outcome == "whole" for clip in came.clips) and way != "clip_many"
    assert not over_all(came.texts, clipper, whole=whole)
    for clip, came_in in zip(came.clips, came.inputs, strict=True):
        if clip.outcome != "whole":
            assert content(clipper.settings.store, clip.ref) == came_in


def fragile(text):
    """Count tokens, but raise for long texts and for anything that is not ASCII."""
    if not text.isascii() or len(text) > 1_000:
        raise ValueError("cannot count this")
    return len(text) // 4 + 1


@law_in_short
@given(way=ways, data=outputs, cuts=cuts, tokens=st.integers(200, 900), chars=st.none() | st.integers(200, 2_000))
def test_a_counter_that_fails_leaves_a_clip_that_fits_the_other_limits(tmp_path, way, data, cuts, tokens, chars):
    clipper = Clipper(Limits(tokens=tokens, chars=chars), tokenizer=fragile, store=MemoryStore())
    came = WAYS[way](clipper, data, cuts, tmp_path)
    sized = Limits(bytes=max(200, tokens * 16), chars=chars)  # a token counts as up to 16 bytes
    assert not over(came.texts, sized, len)


class BrokenError(Exception):
    pass


@law_in_short
@given(
    chosen=choices,
    data=outputs,
    cuts=cuts,
    way=st.sampled_from(["clip", "aclip", "streams", "many", "capture", "wrap"]),
)
def test_what_the_source_raises_is_raised_and_nothing_is_left(tmp_path, chosen, data, cuts, way):
    root = tmp_path / "store"
    clipper = ToolClipper(**chosen, store=DirStore(root, retention=None))

    def source():
        yield from chunked(data, cuts)
        raise BrokenError

    async def asource():
        for chunk in source():
            yield chunk

    def captured():
        with clipper.capture() as capture:
            for chunk in source():
                capture.write(chunk)

    ask = {
        "clip": lambda: clipper.clip(source()),
        "aclip": lambda: asyncio.run(clipper.aclip(asource())),
        "streams": lambda: clipper.clip_streams(stdout=b"fine", stderr=source()),
        "many": lambda: clipper.clip_many({1: data, 2: source()}),
        "capture": captured,
        "wrap": clipper.wrap(source),
    }[way]
    with pytest.raises(BrokenError):
        ask()
    left = [name for _, _, names in os.walk(root) for name in names if name not in (".spillover", ".sweep")]
    assert left == []
