"""How full each of many records alike is shown: all of them as rows, if they fit; else the first, the last, and what stands out."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillover.select.json.alike import Alike
    from spillover.select.json.members import Child

#: Between two records stands a comma, and often a blank.
COMMA = 2
#: So many records tell whether all of them may fit; with DOUBT times the room they do not.
SAMPLE = 24
DOUBT = 1.5


def plan(alike: Alike, count: int, room: int, first: Sequence[int], mark: int) -> dict[int, bool]:
    """Return which records are shown, and whether each is in full.

    `first` are looked at before others. There are `count` in all; where some are not given, they are never shown.
    """
    records = alike.children
    order = tuple(dict.fromkeys((0, count - 1, *first, *sorted(records))))
    if len(records) < count and _all_fit(records, order, len({0, count - 1, *first}), room, mark):
        return dict.fromkeys(order, True)

    def size(number: int) -> int:
        return alike.lean(number).size + COMMA

    if len(records) == count:
        some = list(records)[:: len(records) // SAMPLE + 1]
        if sum(map(size, some)) * len(records) <= DOUBT * room * len(some):  # or it is by far too much
            left = room - sum(map(size, records))
            if left >= 0:
                return _fill(alike, list(records), left, first)
    chosen: list[int] = []
    left, standing_out = room - mark, frozenset(first)  # those leave some room to others
    for number in order:
        alone = number - 1 not in chosen and number + 1 not in chosen and number not in (0, count - 1)
        around = mark if alone else 0
        most = left if not alone or number not in standing_out else left - room // (4 if number == first[0] else 2)
        if (needed := size(number) + around) <= most:
            chosen.append(number)
            left -= needed
        elif number in records and number > 1 and number not in standing_out and number != count - 1:
            break
    return _fill(alike, chosen, left, first) if 0 in chosen else {}


def _all_fit(records: dict[int, Child], order: Sequence[int], early: int, room: int, mark: int) -> bool:
    """Return whether all of them surely fit in full, so that none needs to be looked at; the first `early` leave half of the room."""
    sizes = [records[number].size + COMMA + mark for number in order]
    return sum(sizes) + mark <= room and sum(sizes[:early]) + mark <= room - room // 2


def _fill(alike: Alike, chosen: Sequence[int], left: int, first: Sequence[int]) -> dict[int, bool]:
    """Show records in full while there is room: what stands out, and then from the first one on."""
    rows = dict.fromkeys(chosen, False)
    for number in dict.fromkeys((*(number for number in first if number in rows), *chosen)):
        more = alike.children[number].size - alike.lean(number).size
        if more <= left:
            rows[number] = True
            left -= more
    return rows
