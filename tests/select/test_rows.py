"""How much room fits, in few tries."""

import pytest

from spillover.select.rows import find_room


@pytest.mark.parametrize("limit", [300, 1_000, 1_700, 3_100, 3_200, 4_000, 9_000])
@pytest.mark.parametrize("worth", [3_200, 5_000, 20_000])
def test_the_room_is_the_same_whether_the_most_is_known_before_or_asked_for_when_it_matters(limit, worth):
    def fill(room):
        return (50 + room) / limit

    later = find_room(20_000, fill, 50 / limit, upto=3_200, most_above=lambda: worth)
    assert later == find_room(worth, fill, 50 / limit)


def test_what_is_worth_showing_is_not_asked_where_less_room_fits():
    def most_above():
        raise AssertionError

    assert 1_600 < find_room(20_000, lambda room: room / 1_700, 0.0, upto=3_200, most_above=most_above) <= 1_700
