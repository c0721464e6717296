"""How full each of many records alike is shown: all of them as rows, if they fit; else the first, the last, and what stands out."""

from __future__ import annotations

from spillover.select.json.fields import LEVELS

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
#: The room divided by this shows more of the odd records, before any others are shown.
SHARE = 16


def plan(alike: Alike, count: int, room: int, first: Sequence[int], odd: Sequence[int], mark: int) -> dict[int, int]:
    """Return the level at which each record is shown; those that are missing are hidden. `first` are looked at before others.

    Those of them that are `odd` differ from all others, and are shown fuller. There are `count` in all; where some are not
    given, they are never shown.
    """
    records = alike.children
    order = tuple(dict.fromkeys((0, count - 1, *first, *sorted(records))))
    if len(records) < count and _all_fit(records, order, len({0, count - 1, *first}), room, mark):
        return dict.fromkeys(order, 0)

    def size(number: int, level: int) -> int:
        return alike.lean(number).sizes[level] + COMMA

    fuller = _stand_out(odd, room // SHARE, size)
    if len(records) == count:
        for level in range(1, LEVELS + 1):
            some = list(records)[:: len(records) // SAMPLE + 1]
            if sum(size(number, level) for number in some) * len(records) > DOUBT * room * len(some):
                continue  # by far too much
            levels = {number: min(level, fuller.get(number, level)) for number in records}
            left = room - sum(size(number, levels[number]) for number in records)
            if left >= 0:
                return _fill(levels, left, first, size)
    chosen: dict[int, int] = {}
    left, standing_out = room - mark, frozenset(first)  # those leave some room to others
    for number in order:
        alone = number - 1 not in chosen and number + 1 not in chosen and number not in (0, count - 1)
        around = mark if alone else 0
        most = left if not alone or number not in standing_out else left - room // (4 if number == first[0] else 2)
        best = fuller.get(number, LEVELS)
        level = best if size(number, best) + around <= most else LEVELS
        if (needed := size(number, level) + around) <= most:
            chosen[number] = level
            left -= needed
        elif number in records and number > 1 and number not in standing_out and number != count - 1:
            break
    return _fill(chosen, left, first, size) if 0 in chosen else {}


def _all_fit(records: dict[int, Child], order: Sequence[int], early: int, room: int, mark: int) -> bool:
    """Return whether all of them surely fit in full, so that none needs to be looked at; the first `early` leave half of the room."""
    sizes = [records[number].size + COMMA + mark for number in order]
    return sum(sizes) + mark <= room and sum(sizes[:early]) + mark <= room - room // 2


def _stand_out(odd: Sequence[int], room: int, size: Size) -> dict[int, int]:
    """Return the fullest levels, of some odd records, that take at most `room` bytes more than the leanest do.

    The leanest may hide just what makes a record odd.
    """
    levels: dict[int, int] = {}
    for number in odd:
        for level in range(1, LEVELS):
            if (more := size(number, level) - size(number, LEVELS)) <= room:
                levels[number] = level
                room -= more
                break
    return levels


def _fill(levels: dict[int, int], left: int, first: Sequence[int], size: Size) -> dict[int, int]:
    """Show records fuller while there is room: what stands out, and then from the first one on; all of them a level before any two."""
    if sum([size(number, 0) - size(number, level) for number, level in levels.items()]) <= left:
        return dict.fromkeys(levels, 0)  # nothing is longer than in full, so there is room for each step
    order = list(dict.fromkeys((*(number for number in first if number in levels), *levels)))
    for _ in range(LEVELS):
        for number in order:
            level = levels[number]
            if level and (more := size(number, level - 1) - size(number, level)) <= left:
                levels[number] = level - 1
                left -= more
    return levels


if TYPE_CHECKING:
    from collections.abc import Callable

    #: How long a record is at a level.
    Size = Callable[[int, int], int]
