"""Prose and markdown: headings, first sentences, names and the conclusion survive; what says the same again does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillover import Clipper, Limits, MemoryStore
from spillover.kinds.prose import are_too_few, is_prose


def clip(text, tokens=500, query=None):
    return Clipper(Limits(tokens=tokens), store=MemoryStore()).clip(text, query=query)


def report(sections=20):
    parts = ["I have all I need.\n\n# Why it is slow\n\n"]
    for n in range(sections):
        parts.append(
            f"## Part {n}\n\nThe first sentence of this part is about `step_{n}()`. "
            + "Then it goes on and on about nothing much. " * 12
        )
        parts.append(
            "\n\n```python\nfor item in batch:\n    handle(item)\n```\n\n- An item of a list that names nothing at all.\n\n"
        )
    return "".join(parts) + "## Conclusion\n\nMove the lock in `services/stock/reserve.py` below the loop.\n"


def test_headings_names_and_the_conclusion_survive():
    clipped = clip(report())
    assert clipped.kind == "prose"
    assert "# Why it is slow" in clipped.text
    assert all(f"## Part {n}\n" in clipped.text for n in range(20))
    assert "services/stock/reserve.py" in clipped.text


def test_of_a_long_paragraph_its_first_sentence_is_shown():
    text = clip(report(), 900).text
    assert "The first sentence of this part is about `step_19()`." in text
    assert text.count("Then it goes on") < 20


def test_what_is_hidden_inside_a_line_is_marked_there_and_no_line_runs_into_the_next():
    text = clip(report(), 900).text
    assert not [line for line in text.splitlines() if "…" in line and "## " in line.partition("…")[2]]


def test_a_line_that_names_what_is_known_already_gives_way_to_one_that_does_not():
    same = "- The file `src/app/main.py` is read by everybody here.\n" * 60
    text = clip(
        "## One\n\n" + same + "## Two\n\n- The file `src/app/other.py` is read by nobody here.\n" + same, 300
    ).text
    assert "src/app/other.py" in text
    assert text.count("src/app/main.py") < 20


def test_a_query_raises_what_answers_it():
    filler = "".join(
        f"## Part {n}\n\nThis section is about the weather in town {n} and what it did.\n\n" for n in range(120)
    )
    text = filler.replace("the weather in town 77", "the price of herring")
    assert "herring" not in clip(text, 400).text
    assert "herring" in clip(text, 400, query="what is the price of herring").text


@pytest.mark.parametrize(
    "text",
    [
        "Building the target number 5 with the usual flags\n" * 40,
        "# comment\nx = 1\ny = compute(x)\n" * 40,
        "- name: build\n  run: make all\n" * 40,
        "Get:1 http://deb.example.org/debian bookworm/main amd64 Packages\n" * 40,
    ],
    ids=["a log of words", "code with comments", "YAML", "apt"],
)
def test_logs_code_and_lists_are_no_prose(text):
    assert not is_prose([line for line in text.encode().splitlines() if line.strip()])


def test_a_log_with_colours_is_no_prose():
    coloured = report().replace("## Part", "\x1b[1m## Part")
    assert clip(coloured).kind == "log"


def test_of_a_giant_text_both_ends_are_looked_at():
    text = (
        "# Top\n\n## One\n\n"
        + "A sentence that says little follows another one.\n" * 30_000
        + "## Last\n\nThe end names `the_last_name` for once.\n"
    )
    shown = clip(text).text
    assert "# Top" in shown
    assert "the_last_name" in shown


LINES = [b"make all", b"/usr/bin/cc", b"2026-08-22T10:00:04 INFO x", b"1. One item here", b"## Part", b"12) Twelve"]


@given(st.lists(st.sampled_from([*LINES, b"This is a sentence of six words or more.", b"| a | b |", b" - item"])))
def test_lines_that_begin_like_no_prose_are_none_when_all_is_looked_at(lines):
    assert not (are_too_few(lines) and is_prose(lines))
