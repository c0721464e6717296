"""Listing a large bucket: in several ranges at once, and past the bytes where records are wanted.

A store gives 1,000 keys for a request, and a page begins where the one before it ended, so pages come one by one. But a ref
ends in a hash: the keys of one tool's outputs are spread evenly, and how far some of them reach tells how many follow. Then
the rest of a folder is asked for in ranges of that hash, and a large folder of bytes is passed by. An estimate that is wrong
costs requests; no record is missed or met twice.
"""

from __future__ import annotations

from collections import deque
from itertools import pairwise, takewhile

from msgspec import Struct

from spillover.errors import StoreError
from spillover.store.object.asking import Asked
from spillover.store.object.bucket import PAGE, Bucket
from spillover.store.object.keys import OUTPUTS, STORED, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillover.store.object.bucket import Listed

#: So many requests are under way at once.
AT_ONCE = 8
#: So often a range is divided: hashes that are not spread evenly are listed one page after another.
TIMES = 4
#: A folder that would fill so much of a page is left to ranges of its own.
WORTH = 0.9
#: Digits of a hash that are looked at: every ref has them.
DIGITS = 12
#: Stands behind every digit of a hash; behind every name in a folder, and behind all that begin with the same text.
BEHIND, LAST = "g", "~"


class Range(Struct, frozen=True):
    """The keys below a folder and behind `after`: all, or up to `until`; it may still be divided so many times."""

    folder: str
    after: str | None = None
    until: str | None = None
    times: int = TIMES

    def count(self, keys: list[str]) -> int:
        """Return how many of the keys that follow are in it."""
        until = self.until
        return len(keys) if until is None else next((at for at, key in enumerate(keys) if key > until), len(keys))

    def starts_before(self, key: str) -> bool:
        """Return whether a key stands before it. Only within a folder every server has the same order."""
        after = self.after or ""
        return key <= after and key.rpartition("/")[0] == after.rpartition("/")[0]


class Spot(Struct, frozen=True):
    """Where a key stands: in which folder of which scope, among which keys (those of one tool), and how far on."""

    place: str
    folder: str
    group: str
    at: int


def list_all(bucket: Bucket, folder: str) -> Iterator[Listed]:
    """Yield the objects below a folder, in any order."""
    return _walk(bucket, Range(folder), None)


def list_records(bucket: Bucket, place: str, begin: str = "", *, alone: bool = False) -> Iterator[Listed]:
    """Yield the records below the folder of a scope, or `alone` in it, whose names begin so, in any order; and other objects."""
    folder = f"{place}/{OUTPUTS}"
    start = Range(place) if not alone else _named(folder, begin)[0] if begin else Range(folder)
    return _walk(bucket, start, begin)


def _named(folder: str, begin: str, behind: str = "") -> list[Range]:
    """Return the range of the names in a folder that begin so and stand behind a key; none where there is no such name."""
    after, until = max(f"{folder}/{begin}", behind), f"{folder}/{begin}{LAST}"
    return [Range(folder, after, until, times=0)] if after < until else []


def _walk(bucket: Bucket, start: Range, begin: str | None) -> Iterator[Listed]:
    """Yield the objects in a range; with `begin`, every record that begins so, and not every other object."""
    if not bucket.url.startswith("s3://"):  # elsewhere the library itself leaves out what stands before a range
        until = start.until
        yield from takewhile(lambda each: not until or each[0] <= until, bucket.list(start.folder, after=start.after))
        return
    todo, coming = deque([start]), deque[tuple[Range, Asked]]()
    first: list[str] = []
    pages = 0
    while todo or coming:
        while todo and len(coming) < AT_ONCE:
            one = todo.popleft()
            coming.append((one, Asked(lambda one=one: bucket.page(one.folder, one.after))))  # type: ignore[misc]
        one, asked = coming.popleft()
        with bucket.explain():
            page: list[Listed] = asked.result(bucket.deadline, bucket.url)
        keys = [key for key, _, _ in page]
        ours = one.count(keys)
        rest = follow(one, keys, begin, AT_ONCE - len(todo) - len(coming)) if ours == len(keys) >= PAGE else []
        if keys and (keys[:1] == first[:1] or one.starts_before(keys[0]) or one.after in [each.after for each in rest]):
            # This server begins elsewhere than it is asked to, commonly at the first key.
            if pages > 1:
                raise StoreError(f"{bucket.url}: the server lists keys that stand before those it was asked for")
            known = {*first}
            yield from (each for each in bucket.list(start.folder) if each[0] not in known)
            return
        first, pages = first or keys, pages + 1
        todo.extend(rest)
        yield from page[:ours]


def follow(one: Range, keys: list[str], begin: str | None, idle: int) -> list[Range]:
    """Return the ranges in which to list what follows a full page of a range, where so many more requests can be made at once."""
    rest = Range(one.folder, keys[-1], one.until, one.times)
    last = _spot(keys[-1])
    if last is None:
        return [rest]
    if begin is not None and last.folder.endswith(STORED):
        return [Range(one.folder, f"{last.folder}/{LAST}")]
    density = _density(keys, last)
    if one.folder == last.folder:
        return divide(rest, last, density, idle)
    # A listing of many folders meets a large one. What of it is not wanted is passed by, and the rest has ranges of its own.
    whole, left = density * 16**DIGITS, density * (16**DIGITS - last.at)
    if (left if begin is None else whole) < PAGE * WORTH:
        return [rest]
    passed = last.folder if begin is None else f"{last.place}{STORED}"
    behind = Range(one.folder, f"{passed}/{LAST}")
    if begin:
        return [behind, *_named(last.folder, begin, keys[-1])]
    return [behind, *divide(Range(last.folder, keys[-1], f"{last.folder}/{LAST}"), last, density, idle)]


def divide(rest: Range, last: Spot, density: float, idle: int) -> list[Range]:
    """Return what is left of a range in one folder, behind this spot, as so many ranges as there is work and room for."""
    behind, until = last.group + BEHIND, rest.until or ""
    inside = until.startswith(last.group) and until != behind  # it ends within this group
    end = int(until[-DIGITS:], 16) if inside else 16**DIGITS
    parts = min(idle, int(density * (end - last.at) / PAGE) + 1)
    if parts < 2 or not rest.times:
        return [rest]
    cuts = [f"{last.group}{last.at + (end - last.at) * number // parts:0{DIGITS}x}" for number in range(1, parts)]
    borders = [rest.after, *cuts, until if inside else behind]
    ranges = [Range(rest.folder, after, until, rest.times - 1) for after, until in pairwise(borders)]
    return ranges if inside or until == behind else [*ranges, Range(rest.folder, behind, rest.until)]


def _density(keys: list[str], last: Spot) -> float:
    """Return how many keys of the last one's group there are for each step of the hash, by those on this page."""
    begin = next(at for at, key in enumerate(keys) if key.startswith(last.group))
    first = _spot(keys[begin])
    if first is None or first.group != last.group or first.at >= last.at:
        return 0.0
    return (len(keys) - begin) / (last.at - first.at)


def _spot(key: str) -> Spot | None:
    """Return where a key stands; None where it is not one of ours."""
    name = parse(key)
    if name is None:
        return None
    tool, _, digits = name.ref.rpartition("-")
    folder = key.rpartition("/")[0]
    return Spot(name.place, folder, f"{folder}/{tool}-", int(digits[:DIGITS], 16))
