"""A budget of work: choosing ends when it is spent, both ends are shown, and that is said."""

import json
import logging

import pytest

import spillover.kinds.fit
from spillover import Clipper, Limits, MemoryStore
from spillover.document.document import BASE_WORK, WORK_PER_BYTE, TooMuchWork, Work, work_for
from spillover.kinds.fit import TOO_MUCH
from spillover.types import Span

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


def test_a_budget_is_spent_and_then_too_much():
    work = Work(10)
    work.spend(10)
    with pytest.raises(TooMuchWork):
        work.spend(1)
    assert work_for(1_000).left == BASE_WORK + WORK_PER_BYTE * 1_000


def test_without_a_budget_anything_may_be_spent():
    Work().spend(1 << 80)


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
