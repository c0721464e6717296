"""What a form is told: each gap by itself, the edges, and that all of it adds up; and which `keep` it may refuse."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover import Clipper, Limits, MemoryStore, UsageError, profiles
from spillover.notice.form import Form
from spillover.testing import FailingStore
from spillover.types import Span

MARK = "\x00gap"


def say(missing):
    return f"{MARK}{json.dumps([missing.lines, missing.bytes, missing.chars])}{MARK}"


def words(told):
    """Every gap in numbers, the edges too, and the total last."""
    hidden = [told.hidden.lines, told.hidden.bytes, told.hidden.chars]
    return say(told.before), say, f"{say(told.behind)}{MARK}{json.dumps(hidden)}{MARK}"


def clipper(store=None, **choices):
    given = {"wording": Form(words), "raw": True, "limits": Limits(bytes=1_000), **choices}
    return Clipper(store=store or MemoryStore(), **given)


def numbers(text):
    *gaps, total = (json.loads(each) for each in text.split(MARK)[1::2])
    return [sum(column) for column in zip(*gaps, strict=True)], total


texts = st.lists(st.sampled_from(["", "a line of text", "é", "\r", "日本語", "🙂🙂"]), min_size=300, max_size=400).map(
    "\n".join
)
places = st.lists(st.integers(0, 1_000), min_size=2, max_size=8, unique=True).map(sorted)


@settings(max_examples=60)
@given(texts, places)
def test_what_each_gap_counts_adds_up_to_what_is_hidden(text, places):
    size = len(text.encode())
    edges = [place * size // 1_000 for place in places]
    chosen = [Span(*edge) for edge in zip(edges[::2], edges[1::2], strict=False)]
    clip = clipper(keep=lambda document, fill: chosen).clip(text + "\nx" * 600)
    found, total = numbers(clip.text)
    assert found == total
    assert total[0] == clip.total.lines - clip.shown.lines


@pytest.mark.parametrize("keep", ["head", "tail", "ends", "signal", "auto"])
@pytest.mark.parametrize("store", [MemoryStore, lambda: FailingStore(MemoryStore(), on="writer")])
def test_it_adds_up_for_every_part_that_is_kept_and_where_the_middle_is_gone(keep, store):
    clip = clipper(store(), keep=keep).clip("".join(f"línea {number}\n" for number in range(40_000)))
    found, total = numbers(clip.text)
    assert found == total
    assert total[0] == clip.total.lines - clip.shown.lines > 0


@pytest.mark.parametrize("keep", ["head", "tail", "ends"])
def test_each_stream_says_what_is_missing_of_it(keep):
    out, err = ("".join(f"{word} {number}\n" for number in range(500)) for word in ("out", "err"))
    text = clipper(keep=keep).clip_streams(stdout=out, stderr=err).text
    found, total = numbers(text)
    assert found == total
    first, second = text.split("[stderr]")
    # What is hidden at the end of all, or at the beginning of all, is for the form to say there.
    assert sum(json.loads(each)[0] for each in first.split(MARK)[1::2]) < 500
    assert sum(json.loads(each)[0] for each in second.split(MARK)[1:-2:2]) < 500


def test_a_keep_that_the_words_cannot_describe_is_refused_when_the_object_is_made():
    only = Form(words, keeps=("head", "tail"))
    made = clipper(wording=only, keep="tail")
    for other in ("ends", "auto", lambda document, fill: []):
        with pytest.raises(UsageError, match="use 'head' or 'tail'"):
            made.but(keep=other)
    with pytest.raises(UsageError, match="keep='signal' does not fit"):
        made.but(rules={"make": {"keep": "signal"}})
    assert made.call().for_retrieval().settings.keep == "auto"  # going back is in our own words


TEXT = "".join(f"line {number}\n" for number in range(1, 101))


@pytest.mark.parametrize(
    ("keep", "words"),
    [
        ("head", "...91 lines truncated..."),  # as the document counts: a hundred newlines stand between 101 lines
        ("tail", "...91 lines truncated..."),
        ("ends", "...90 lines truncated..."),
        ("signal", "...90 lines truncated..."),
        ("auto", "...90 lines truncated..."),
    ],
)
def test_opencode_counts_the_lines_that_are_hidden_whatever_is_kept(keep, words):
    made = profiles.opencode.clipper(store=MemoryStore(), limits=Limits(lines=10), keep=keep)
    assert words in made.clip(TEXT).text


@pytest.mark.parametrize("style", ["block", "recipe", "generic"])
@pytest.mark.parametrize("keep", ["ends", "signal", "auto"])
def test_t15_names_neither_end_where_it_shows_more_than_one(style, keep):
    made = profiles.t15.clipper(notice_style=style, store=MemoryStore(), keep=keep)
    made = made.but(limits=Limits(lines=10) if style != "generic" else Limits(chars=70))
    clip = made.clip(TEXT)
    said = {
        "block": f"Output truncated to {clip.shown.lines} lines.",
        "recipe": f"[Output truncated: 100 lines → {clip.shown.lines} lines kept ({keep}).",
        "generic": f"[Output was 792 bytes, truncated to {clip.shown.chars} characters.",
    }
    assert said[style] in clip.text
    assert clip.text.count("\n...\n") == len(clip.hidden)


@pytest.mark.parametrize(
    ("style", "said"),
    [
        ("block", "Output truncated to 3 lines / 24 bytes."),
        ("recipe", "100 lines → 3 lines kept."),
        ("generic", "truncated to 24 characters."),
    ],
)
def test_t15_says_how_much_is_shown_where_that_is_less_than_the_limits(style, said):
    """It said "truncated to 2000 lines / 50000 bytes", and "to 50k", above three lines."""
    limits = Limits(chars=700) if style == "generic" else Limits(lines=40, bytes=50_000)
    made = profiles.t15.clipper(notice_style=style, store=MemoryStore(), limits=limits)
    chosen = made.but(keep=lambda document, fill: [Span(document.start(50), document.start(53))])
    assert said in chosen.clip(TEXT).text


@pytest.mark.parametrize("name", ["opencode", "t15"])
def test_a_selector_that_leaves_out_the_beginning_is_seen_to(name):
    made = profiles.find_profile(name).clipper(store=MemoryStore(), limits=Limits(lines=10))
    clip = made.but(keep=lambda document, fill: [Span(document.start(50), document.start(53))]).clip(TEXT)
    assert clip.text.startswith("...\nline 50\nline 51\nline 52\n")
