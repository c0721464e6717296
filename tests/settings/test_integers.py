"""Integers with more digits than Python reads or writes."""

import json

from spillover.settings.limits import read_int, spell_int

LONG = "9" * 6_000


def test_an_integer_with_too_many_digits_is_read_as_its_digits():
    assert json.loads(f"[1, -2, {LONG}]", parse_int=read_int) == [1, -2, LONG]


def test_an_integer_that_cannot_be_written_is_spelled_as_hexadecimal():
    assert [spell_int(value) for value in (0, -7, True, 10**4_000)] == [0, -7, True, 10**4_000]
    spelled = spell_int(10**5_000)
    assert isinstance(spelled, str)
    assert int(spelled, 16) == 10**5_000
