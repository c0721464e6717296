"""The most of an output that fits, and how it is said."""

import json
import logging

import pytest

import spillover.kinds.fit
from spillover import Clipper, Limits, MemoryStore, StoreError
from spillover.document.document import Work, work_for
from spillover.kinds.fit import TOO_MUCH
from spillover.testing import FailingStore, strict_selectors
from spillover.types import Span

LINES = "".join(f"line {number}\n" for number in range(1, 10_001))


@pytest.mark.parametrize("limits", [Limits(bytes=200), Limits(chars=200), Limits(tokens=100), Limits(lines=4)])
@pytest.mark.parametrize("keep", ["head", "tail", "ends"])
def test_the_smallest_limits_still_show_some_of_the_output(limits, keep):
    """With a notice that takes more than its half, nothing of the output was left to see."""
    clip = Clipper(limits, keep=keep, hints=("cli", "path"), store=MemoryStore()).clip(LINES)
    assert clip.shown.lines > 0
    assert clip.ref in clip.text


def test_the_limits_are_nearly_full_when_there_is_more_to_show():
    clip = Clipper(Limits(bytes=5_000), store=MemoryStore()).clip(LINES)
    assert 4_900 < len(clip.text.encode()) <= 5_000


def greedy(document, fill):
    return [Span(0, document.size)]


def broken(document, fill):
    raise RuntimeError("no idea")


def nonsense(document, fill):
    return [Span(-5, 10), Span(9_000, 8_000), Span(document.size - 10, document.size + 10), Span(5, 7)]


@pytest.mark.parametrize("selector", [greedy, broken, nonsense])
@pytest.mark.usefixtures("selectors_may_fail")
def test_a_selector_of_your_own_cannot_break_the_call(selector):
    clip = Clipper(Limits(bytes=600), keep=selector, store=MemoryStore()).clip(LINES)
    assert clip.outcome == "stored"
    assert len(clip.text.encode()) <= 600
    assert clip.shown.bytes > 0


def test_a_selector_of_your_own_says_what_is_shown():
    def middle(document, fill):
        return [Span(document.start(5_000), document.start(5_003))]

    clip = Clipper(Limits(bytes=600), keep=middle, store=MemoryStore()).clip(LINES)
    assert clip.ranges == ((5_000, 5_002),)
    assert "line 5000\nline 5001\nline 5002\n" in clip.text


@pytest.mark.parametrize("keep", ["auto", "signal"])
@pytest.mark.usefixtures("selectors_may_fail")
def test_a_selector_of_ours_that_fails_does_not_end_the_tool_call(monkeypatch, keep):
    monkeypatch.setattr("spillover.kinds.log.read_lines", lambda *_: 1 / 0)
    clip = Clipper(Limits(lines=10), keep=keep, store=MemoryStore()).clip("error: x\n" * 99)
    assert clip.outcome == "stored"
    assert clip.text.endswith("error: x\n")


@pytest.mark.usefixtures("selectors_may_fail")
def test_a_selector_of_yours_that_raises_as_a_store_does_loses_nothing():
    def keep(document, fill):
        raise StoreError("not mine")

    clip = Clipper(Limits(lines=10), keep=keep, store=MemoryStore()).clip("line\n" * 99)
    assert (clip.outcome, clip.shown.lines > 0) == ("stored", True)


@pytest.mark.parametrize("keep", ["auto", "signal"])
def test_with_too_little_memory_to_load_what_chooses_both_ends_are_shown_and_it_is_said(monkeypatch, keep):
    """Loading numpy ended the process: OpenBLAS exits when it gets no memory, and no exception is raised."""
    import resource

    monkeypatch.setattr(resource, "getrlimit", lambda _: (150 << 20, 150 << 20))
    monkeypatch.setattr("spillover.kinds.log.read_lines", lambda *_: 1 / 0)
    clip = Clipper(Limits(lines=10), keep=keep, store=MemoryStore()).clip("error: x\n" * 99)
    assert clip.outcome == "stored"
    assert clip.shown.lines > 3
    assert {reason.why for reason in clip.why} == {
        "both ends, because there is too little memory to choose more closely"
    }


FAILURE = "both ends, because choosing more closely failed (RuntimeError)"


@pytest.mark.usefixtures("selectors_may_fail")
@pytest.mark.parametrize("limits", [Limits(lines=12), Limits(bytes=900), Limits(tokens=300)])
def test_a_selector_that_raised_could_not_be_seen_in_the_clip(limits):
    clip = Clipper(limits, keep=broken, store=MemoryStore()).clip(LINES)
    assert {reason.why for reason in clip.why} == {FAILURE}
    assert f"Shown: {FAILURE}." in clip.text
    assert limits.hold(clip.text, Clipper().settings.count)
    assert (clip.ranges[0][0], clip.ranges[-1][1]) == (1, 10_000)


def test_a_span_over_what_was_not_kept_is_cut_on_both_sides_of_it():
    def over_the_gap(document, fill):
        opens, closes = document.gap
        assert opens < closes
        return [Span(opens - 60, closes + 60, "here")]

    store = FailingStore(MemoryStore(), on="writer")
    clip = Clipper(Limits(bytes=900), keep=over_the_gap, store=store).clip(LINES * 30)
    assert clip.outcome == "lost"
    assert clip.shown.bytes == 120
    assert clip.shown.lines < 20
    assert len(clip.ranges) == 2
    assert " not shown …]\n" in clip.text


def test_a_selector_that_raises_is_a_failure_in_a_test_that_says_so():
    with strict_selectors(), pytest.raises(RuntimeError, match="no idea"):
        Clipper(Limits(bytes=600), keep=broken, store=MemoryStore()).clip(LINES)


LOG = "".join(f"line {number}\n" for number in range(5_000)) + "error: it failed\n" + "x\n" * 2_000
OUTPUTS = {
    "log": LOG,
    "json": json.dumps([{"id": number, "text": "word " * 5} for number in range(2_000)]),
    "ndjson": "".join(json.dumps({"id": number, "level": "info"}) + "\n" for number in range(4_000)),
    "csv": "id,name\n" + "".join(f"{number},x\n" for number in range(9_000)),
    "diff": "diff --git a/x b/x\n--- a/x\n+++ b/x\n" + "@@ -1,2 +1,2 @@\n-a\n+b\n" * 3_000,
    "html": "<html><body>" + "<p>text of it</p>\n" * 3_000 + "</body></html>",
    "blob": "000000: 7f45 4c46 0201 0100 0000 0000\n" * 3_000,
}


@pytest.mark.parametrize("kind", OUTPUTS)
@pytest.mark.parametrize("keep", ["auto", "signal"])
def test_past_the_budget_both_ends_are_shown_and_it_is_said(kind, keep, monkeypatch, caplog):
    limits, output = Limits(tokens=1_000), OUTPUTS[kind]
    monkeypatch.setattr(spillover.kinds.fit, "work_for", lambda _: Work(0))
    caplog.set_level(logging.WARNING, "spillover")
    clip = Clipper(limits, keep=keep, store=MemoryStore()).clip(output)
    ends = Clipper(limits, keep="ends", store=MemoryStore()).clip(output)
    assert f"Shown: {TOO_MUCH}." in clip.text
    assert (clip.ranges[0][0], clip.ranges[-1][1]) == (ends.ranges[0][0], ends.ranges[-1][1])
    assert {reason.why for reason in clip.why} == {TOO_MUCH}
    assert clip.why[0].first == 1
    assert clip.outcome == "stored"
    assert [record.getMessage() for record in caplog.records] == [
        f"Choosing what to show of {len(output):,} bytes was too much work; both ends are shown."
    ]


@pytest.mark.parametrize("kind", OUTPUTS)
def test_however_small_the_budget_the_clip_fits_and_is_the_same_for_every_chunking(kind, monkeypatch):
    data = OUTPUTS[kind].encode()
    for units in (1, 1_000, 30_000, 70_000, 100_000, 150_000, 300_000, 1_000_000):
        monkeypatch.setattr(spillover.kinds.fit, "work_for", lambda _, units=units: Work(units))
        clipper = Clipper(Limits(bytes=2_000), store=MemoryStore())
        whole = clipper.clip(data)
        pieces = clipper.clip(data[at : at + 777] for at in range(0, len(data), 777))
        assert len(whole.text.encode()) <= 2_000
        assert (whole.text, whole.why, whole.ref) == (pieces.text, pieces.why, pieces.ref)


@pytest.mark.parametrize("kind", OUTPUTS)
def test_no_ordinary_output_comes_near_the_budget(kind, monkeypatch):
    made = []

    def watched(size):
        made.append((size, work_for(size)))
        return made[-1][1]

    monkeypatch.setattr(spillover.kinds.fit, "work_for", watched)
    clip = Clipper(Limits(tokens=10_000 if kind == "log" else 1_000), store=MemoryStore()).clip(OUTPUTS[kind])
    assert clip.kind == kind
    assert made
    assert all(work.left > work_for(size).left * 2 / 3 for size, work in made)


@pytest.mark.parametrize(
    "output",
    [
        "<r>" + "<a>" * 60_000 + "</r>",
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n" + ("@@ -1,2 +1,2 @@\n" + "\n" * 16_000) * 20,
        "".join(
            json.dumps({f"k{key}": 1 for key in range(count)}) + "\n" for count in range(680, 700) for _ in range(4)
        ),
    ],
    ids=["tags", "lines", "keys"],
)
def test_what_a_selector_makes_of_many_small_things_is_work(output, monkeypatch):
    """Reading costs little here; it is the loop over what was read that would go on for minutes in a larger output."""
    monkeypatch.setattr(spillover.kinds.fit, "work_for", lambda size: Work(8 * size + 3_000_000))
    clip = Clipper(Limits(tokens=1_000), store=MemoryStore()).clip(output)
    assert {reason.why for reason in clip.why} == {TOO_MUCH}


def test_a_selector_of_your_own_has_no_budget(monkeypatch):
    monkeypatch.setattr(spillover.kinds.fit, "work_for", lambda _: Work(0))

    def mine(document, fill):
        document.blob.read(0, document.size)
        return [Span(0, 10, "mine")]

    assert [reason.why for reason in Clipper(keep=mine, store=MemoryStore()).clip(LOG * 9).why] == ["mine"]
