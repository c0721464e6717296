"""Limits are a ceiling: what is not worth its tokens is not shown, and 0 fills the limits."""

import pytest

from spillover import Clipper, Limits, MemoryStore, UsageError, clip
from spillover.kinds.selection import SCREEN_TOKENS
from spillover.settings.limits import DEFAULT_WORTH
from spillover.tokens import estimate


def log(count=6_000):
    words = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet", "kilo")
    lines = [f"{words[n % 11]} {words[n // 11 % 11]} {words[n // 121 % 11]} is ready" for n in range(count)]
    lines[count // 2] = "src/alloc.c:212:17: error: too few arguments to function take"
    return "\n".join([*lines, "make: *** [Makefile:9: all] Error 1"]) + "\n"


def tokens(worth, output):
    made = Clipper(worth=worth, store=MemoryStore()).clip(output)
    return estimate(made.text), made.text


def test_one_error_needs_no_ten_thousand_tokens_and_zero_fills_the_limits():
    full, _ = tokens(0, log())
    thrifty, text = tokens(DEFAULT_WORTH, log())
    assert full > 8_000
    assert thrifty < full / 2
    assert "error: too few arguments" in text
    assert "make: *** [Makefile:9: all] Error 1" in text


def test_the_more_it_must_be_worth_the_less_is_shown_and_the_error_stays():
    spent = [tokens(worth, log()) for worth in (0, 0.01, DEFAULT_WORTH, 1)]
    assert [each[0] for each in spent] == sorted((each[0] for each in spent), reverse=True)
    assert all("error: too few arguments" in text for _, text in spent)


def test_a_clip_that_ends_early_says_how_much_more_there_is():
    _, text = tokens(1, log())
    assert "of 6,001 lines shown" in text.splitlines()[0]
    assert "not shown …]" in text


@pytest.mark.parametrize("text", ["".join(f"{n} {n * n}\n" for n in range(30_000)), '{"rows": [' + ", ".join(f'{{"id": {n}, "sum": {n * n}}}' for n in range(9_000)) + "]}"])  # fmt: skip
def test_where_nothing_is_known_less_is_shown_of_it(text):
    full, _ = tokens(0, text)
    for worth in (DEFAULT_WORTH, 0.4):
        assert tokens(worth, text)[0] <= min(full, 1.1 * SCREEN_TOKENS / worth)


def test_head_and_tail_fill_the_limits():
    made = clip("".join(f"{n} {n * n}\n" for n in range(30_000)), keep="tail", store=MemoryStore())
    assert made.shown.lines > 1_900 or estimate(made.text) > 9_000


def test_rules_may_set_it():
    clipper = Clipper(store=MemoryStore(), rules={"build*": {"worth": 0}})
    full, thrifty = (clipper.clip(log(), tool=tool).text for tool in ("build-all", "test"))
    assert estimate(full) > 2 * estimate(thrifty)


@pytest.mark.parametrize("worth", [-0.1, 1.1, True, "much", None])
def test_what_is_no_share_is_refused(worth):
    with pytest.raises(UsageError, match="use a number from 0"):
        Clipper(worth=worth)


@pytest.mark.parametrize("limit", [2_500, 4_000])
def test_every_limit_is_a_ceiling_and_the_clip_is_the_same_below_it(limit):
    """Limits up to 3,200 tokens were filled, whatever `worth` said: one number means the same for all limits now."""
    output = log()

    def shown(limit, worth):
        return Clipper(Limits(tokens=limit), worth=worth, store=MemoryStore()).clip(output)

    assert estimate(shown(limit, DEFAULT_WORTH).text) < 0.75 * estimate(shown(limit, 0).text)
    assert shown(limit, DEFAULT_WORTH).ranges == shown(10_000, DEFAULT_WORTH).ranges
    assert "error: too few arguments" in shown(limit, 1).text
