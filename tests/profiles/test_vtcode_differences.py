"""Where ours is not what vtcode's document describes, as far as tests/peers/test_vtcode_from_text.py does not show it."""

import sys

import pytest

from spillover import MemoryStore
from spillover.profiles import vtcode
from spillover.tokens import estimate
from support import exact_counter as exact
from support import vtcode_tokens

SPOOL = 200_000


def ours(text, limit, **choices):
    return vtcode.clipper(store=MemoryStore(), max_tokens=limit, banner=False, **choices).clip(text)


def test_what_is_cut_but_not_large():
    log = "\n".join(f"line {number}" for number in range(2_000))
    assert len(log) < SPOOL  # the document spools nothing of this, and shows a part of it
    clip = ours(log, 200)
    assert clip.outcome == "stored"
    assert clip.ref is not None


def test_what_is_shown_whole_is_in_no_file():
    sparse = " " * (SPOOL + 100_000)  # the document spools this for its size
    clip = ours(sparse, 25_000)
    assert (clip.text, clip.outcome, clip.ref) == (sparse, "whole", None)


def test_the_file_stays_plain_when_the_store_is_compressed(tmp_path):
    pytest.importorskip("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    clipper = vtcode.clipper(folder=str(tmp_path / "outputs"), max_tokens=200)
    log = "\n".join(f"line {number}" for number in range(2_000))
    clip = clipper.clip(log)
    clipper.settings.store.compress()
    with open(clip.path) as file:
        assert file.read() == log
    assert clipper.read(clip.path, lines=2_000).text.startswith("2000: line 1999")


def test_the_settings_of_its_file_are_arguments():
    assert vtcode.budget(100_000).window == 100_000  # max_context_tokens
    assert (
        vtcode.clipper(store=MemoryStore(), max_tokens=9_000).settings.limits.tokens == 9_000
    )  # tool_response_max_tokens
    for kind, name in (("code", "code_fence_max_lines"), ("diff", "diff_max_lines")):
        assert vtcode.render("a\nb\nc", kind, **{name: 1}).startswith("a\n... (2 more lines truncated, ")


def test_tokens_are_counted_by_our_vocabularies_and_by_our_estimate():
    text = "\n".join(f"step {number}: {number * 7919:x}" for number in range(300))
    store = MemoryStore()
    assert vtcode.clipper(store=store).settings.count(text) == estimate(text) != vtcode_tokens(text)
    assert vtcode.clipper(store=store, model="gpt-4o").settings.count(text) == exact("o200k_base")(text)
    own = vtcode.clipper(store=store, tokenizer=vtcode_tokens)
    assert own.settings.count(text) == vtcode_tokens(text)


def test_the_tokens_of_each_end_are_those_that_are_shown_and_not_half_of_the_budget():
    log = "".join(f"line {number} of a log\n" for number in range(20_000))
    clipper = vtcode.clipper(store=MemoryStore(), max_tokens=9_000)
    first, _, rest = clipper.clip(log).text.partition("First ")[2].partition("\n")
    head = rest.partition("[...")[0]
    assert first == f"~{clipper.settings.count(head) / 1_000:.1f}k tokens shown"
    assert first != "~4.5k tokens shown"
