"""Law 1: what reaches the model is within every limit that was set, notice and gap markers included."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from law_given import CHOICES, choices, cuts, outputs
from law_naive import over, sizes
from law_ways import SOURCES, TOGETHER, WRAPPED

from spillover import Clipper, Limits, MemoryStore
from spillover.testing import HOSTILE_REFS, FailingStore, put

STORES = {
    "memory": MemoryStore,
    "full": lambda: FailingStore(MemoryStore(), after_bytes=900),
    "closed": lambda: FailingStore(MemoryStore(), on="writer", reason="no such place " * 40),
    "gone at last": lambda: FailingStore(MemoryStore(), on="publish"),
}
stores = st.sampled_from([*STORES])


def allowed(clipper, came):
    """What was not cut only had to stay below the trigger."""
    whole = all(clip.outcome == "whole" for clip in came.clips)
    return clipper.trigger if clipper.trigger and whole else clipper.limits


@given(st.sampled_from([*SOURCES]), stores, choices, outputs, cuts)
def test_every_source_fits(tmp_path, way, store, chosen, data, cuts):
    clipper = Clipper(**chosen, store=STORES[store]())
    came = SOURCES[way](clipper, data, cuts, tmp_path)
    assert not over(came.texts, allowed(clipper, came), clipper.count)


@pytest.mark.parametrize("way", TOGETHER)
@given(store=stores, chosen=choices, data=outputs, cuts=cuts)
def test_several_texts_fit_together(tmp_path, way, store, chosen, data, cuts):
    clipper = Clipper(**chosen, store=STORES[store]())
    came = TOGETHER[way](clipper, data, cuts, tmp_path)
    bounds = clipper.limits if way == "clip_many" else allowed(clipper, came)  # one budget, without a trigger
    assert not over(came.texts, bounds, clipper.count)


@given(st.sampled_from([*WRAPPED]), stores, choices, outputs, cuts)
def test_what_a_wrapped_tool_gives_back_fits(tmp_path, way, store, chosen, data, cuts):
    clipper = Clipper(**{**chosen, "trigger": None}, store=STORES[store]())
    came = WRAPPED[way](clipper, data, cuts, tmp_path)
    assert not over(came.texts, clipper.limits, clipper.count)


#: What may be asked of a stored output, rightly and wrongly.
QUESTIONS = [
    *(("read_output", {"lines": lines}) for lines in (None, "1", "1:", "-5:", "2:+3", "7:9", ":", "0:1", "x" * 999, 10**30)),
    *(("read_output", {"bytes": which}) for which in ("1:", "5:90", "-40:", "999999999:", "一" * 999)),
    *(("read_output", {"lines": line, "columns": which}) for line in (1, "2", "1:9") for which in ("1:", "9:99", "-9:")),
    ("read_output", {"lines": "1", "bytes": "1"}),
    *(("grep_output", {"pattern": word}) for word in ("x", ".", "line|長", r"\d+", "\\x{2028}", "^", "no such thing")),
    *(("grep_output", {"pattern": wrong}) for wrong in ("", "[", "(?=x)", "a\nb", "\ud800", "長" * 9_999, "(" * 999)),
    *(("grep_output", {"pattern": word * 999, "fixed": True}) for word in ("長 ", "z", "\x85\u2028", "'\"")),
    *(("grep_output", {"pattern": "0|a|長", "context": context}) for context in (1, 9, 1_000, 10**9, -1)),
    *(("grep_output", {"pattern": "X", "ignore_case": True, "start": start}) for start in ("3", "1:99", "99999", "nowhere")),
    ("list_outputs", {}),
    ("list_outputs", {"tool": "nobody"}),
]  # fmt: skip
#: And under which name; "" stands for its own.
REFS = ("", "", "", "", "長" * 99, 5, *HOSTILE_REFS)


@given(st.sampled_from(QUESTIONS), st.sampled_from(REFS), choices, outputs)
def test_every_answer_fits_and_stores_nothing(question, ref, chosen, data):
    store = MemoryStore()
    for output in (data, b"another"):
        record = put(store, output, "長 a tool")
    clipper = Clipper(**chosen, store=store)
    name, asked = question
    ask = {tool.__name__: tool for tool in clipper.tools()}[name]
    answer = ask(ref or record.ref, **asked) if name != "list_outputs" else ask(**asked)
    bounds = clipper.trigger if name == "list_outputs" and clipper.trigger else clipper.limits
    assert not over([answer], bounds, clipper.count)
    assert answer
    assert len(list(store.list())) == 2


# A process each: fifty are enough for what differs from a Capture, which is how the bytes come in.
@settings(max_examples=50)
@given(choices, outputs)
def test_what_a_command_printed_fits(tmp_path, chosen, data):
    path = tmp_path / "printed"
    path.write_bytes(data)
    clipper = Clipper(**chosen, store=MemoryStore())
    ran = clipper.run(["sh", "-c", 'cat "$0"; head -c 999 "$0" >&2; exit 3', str(path)])
    bounds = clipper.trigger if clipper.trigger and ran.clip.outcome == "whole" else clipper.limits
    assert ran.exit_code == 3
    assert not over([ran.clip.text], bounds, clipper.count)
