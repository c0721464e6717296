"""How much: sizes, and the limits they are held against."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillover.errors import UsageError
from spillover.settings.limits import SMALLEST, Limits, Size, count_lines
from spillover.tokens import Counter


def words(text):
    return len(text.split())


@pytest.mark.parametrize(
    ("text", "lines"),
    [("", 0), ("x", 1), ("x\n", 1), ("x\ny", 2), ("x\ny\n", 2), ("\n", 1), ("\n\n", 2), ("x\r\ny\r\n", 2), ("a\rb", 1)],
)
def test_lines_are_counted_as_a_person_does(text, lines):
    assert count_lines(text) == lines


def test_without_a_word_all_three_defaults_hold():
    assert list(Limits().given()) == [("lines", 2_000), ("bytes", 51_200), ("tokens", 10_000)]
    assert str(Limits()) == "2,000 lines, 51,200 bytes, 10,000 tokens"


def test_who_sets_one_sets_only_that_one():
    assert list(Limits(chars=500).given()) == [("chars", 500)]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"bytes": 0}, "Limits(bytes=0) leaves no room for anything; use 200 or more."),
        ({"tokens": 0}, "use 100 or more"),
        ({"tokens": -1}, "use 100 or more"),
        ({"tokens": 1e4}, "not a whole number"),
        ({"lines": True}, "not a whole number"),
        ({"lines": "50"}, "not a whole number"),
    ],
)
def test_a_limit_that_cannot_hold_is_refused_when_it_is_made(wrong, told):
    with pytest.raises(UsageError) as caught:
        Limits(**wrong)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("small", "told"),
    [
        ({"bytes": 10}, "Limits(bytes=10) leaves no room for the notice; use 200 or more."),
        ({"lines": 3}, "use 4 or more"),
        ({"chars": 199}, "use 200 or more"),
        ({"tokens": 99}, "use 100 or more"),
    ],
)
def test_limits_too_small_for_the_notice_are_for_those_whose_notice_stands_outside(small, told):
    limits = Limits(**small)
    with pytest.raises(UsageError) as caught:
        limits.check_room()
    assert told in str(caught.value)
    assert limits.with_room() == Limits(**{name: SMALLEST[name] for name in small})


@pytest.mark.parametrize("name", SMALLEST)
def test_the_smallest_of_each_is_allowed(name):
    assert list(Limits(**{name: SMALLEST[name]}).given()) == [(name, SMALLEST[name])]


@pytest.mark.parametrize(
    ("limits", "at", "over"),
    [
        (Limits(bytes=200), "x" * 200, "x" * 201),
        (Limits(bytes=200), "é" * 100, "é" * 100 + "x"),
        (Limits(chars=200), "é" * 200, "é" * 201),
        (Limits(lines=4), "a\nb\nc\nd", "a\nb\nc\nd\ne"),
        (Limits(lines=4), "a\nb\nc\nd\n", "a\nb\nc\nd\n\n"),  # a final newline opens no line
        (Limits(tokens=100), "a " * 100, "a " * 101),
        (Limits(lines=4, chars=200), "a\n" * 4, "x" * 201),  # all of them hold
    ],
)
def test_exactly_at_the_limit_fits_and_one_more_does_not(limits, at, over):
    assert limits.hold(at, words)
    assert not limits.hold(over, words)
    assert limits.fill(at, words) == 1


def test_few_bytes_need_no_counting_where_a_token_has_at_least_one():
    counted = []
    count = Counter(lambda text: counted.append(text) or 1, within_bytes=True)
    assert Limits(tokens=100).hold("x" * 100, count)
    assert counted == []
    assert Limits(tokens=100).hold("x" * 101, count)
    assert counted == ["x" * 101]


@pytest.mark.parametrize(
    ("limits", "window"),
    [
        (Limits(bytes=5_000), 5_000),
        (Limits(chars=1_000), 4_000),
        (Limits(tokens=1_000), 16_000),
        (Limits(lines=10), 1 << 20),
        (Limits(bytes=5_000, chars=1_000), 4_000),
    ],
)
def test_intake_holds_no_more_than_could_fit(limits, window):
    assert limits.window == window


def test_a_share_is_never_too_small_for_a_notice():
    assert Limits(lines=100, bytes=1_000).share(0.5) == Limits(lines=50, bytes=500)
    assert Limits(lines=100, bytes=1_000).share(0) == Limits(lines=4, bytes=200)


def test_sizes_and_limits_are_facts():
    with pytest.raises(AttributeError, match="immutable"):
        Limits().lines = 5
    assert Size(1, 2, 3, 4) == Size(lines=1, bytes=2, chars=3, tokens=4)


@settings(max_examples=200)
@given(st.text(alphabet="aé😀\n", max_size=300), st.integers(200, 400), st.integers(4, 40))
def test_hold_says_what_counting_by_hand_says(text, size, lines):
    limits = Limits(bytes=size, lines=lines)
    by_hand = len(text.encode()) <= size and len(text.removesuffix("\n").split("\n")) * bool(text) <= lines
    assert limits.hold(text, len) is by_hand
