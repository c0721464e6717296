"""Listing a large bucket in several ranges at once.

A store gives 1,000 keys for a request, and a page begins where the one before it ended, so pages come one by one. But a ref
ends in a hash: the keys of one tool's outputs are spread evenly, and how far 1,000 of them reach tells how many follow.
Then the rest is asked for in ranges of that hash. An estimate that is wrong costs requests; no key is missed or met twice.
"""

from __future__ import annotations

from collections import deque
from itertools import pairwise

from spillover.base.data import dataclass
from spillover.store.object.asking import Asked
from spillover.store.object.bucket import PAGE, Bucket
from spillover.store.object.keys import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from spillover.store.object.bucket import Listed

#: So many requests are under way at once.
AT_ONCE = 8
#: Into so many ranges a range is divided at most, and so often: hashes that are not spread evenly are listed one page after another.
PARTS, TIMES = 16, 4
#: A range is meant to fill so much of a page: a page that is too small for it costs a request more.
FILL = 0.9
#: Digits of a hash that are looked at: every ref has them.
DIGITS = 12
#: Stands behind every digit.
BEHIND = "g"


@dataclass(frozen=True, slots=True)
class Range:
    """The keys behind `after`: all, or up to `until`, in the same group; it may still be divided so many times."""

    after: str | None = None
    until: str | None = None
    times: int = TIMES

    def starts_before(self, keys: list[str]) -> bool:
        """Return whether there are keys of its group before it."""
        after, group = self.after or "", (self.after or "").rpartition("-")[0] + "-"
        return any(key == after or (key < after and key.startswith(group)) for key in keys)

    def count(self, keys: list[str]) -> int:
        """Return how many of the keys that follow are in it. Only within a group every server has the same order."""
        if self.until is None:
            return len(keys)
        until, group = self.until, self.until.rpartition("-")[0] + "-"
        return next((at for at, key in enumerate(keys) if key > until or not key.startswith(group)), len(keys))


def list_all(bucket: Bucket, prefix: str) -> Iterator[Listed]:
    """Yield the objects below a prefix, in any order."""
    if not bucket.url.startswith("s3://"):  # elsewhere the library itself leaves out what stands before a range
        yield from bucket.list(prefix)
        return
    todo, coming = deque([Range()]), deque[tuple[Range, Asked]]()
    first: set[str] = set()
    while todo or coming:
        while todo and len(coming) < AT_ONCE:
            one = todo.popleft()
            coming.append((one, Asked(lambda one=one: bucket.page(prefix, one.after))))  # type: ignore[misc]
        one, asked = coming.popleft()
        with bucket.explain():
            page: list[Listed] = asked.result(bucket.deadline, bucket.url)
        keys = [key for key, _, _ in page]
        if one.after is None:
            first = {*keys}
        elif one.starts_before(keys):  # this server begins at the first key whatever it is asked
            yield from (each for each in bucket.list(prefix) if each[0] not in first)
            return
        ours = one.count(keys)
        if ours == len(keys) >= PAGE:
            todo.extend(divide(one, keys))
        yield from page[:ours]


def divide(one: Range, keys: list[str]) -> list[Range]:
    """Return the ranges in which to list what follows a page of a range."""
    rest = [Range(keys[-1], one.until, one.times)]
    if not one.times or (last := _place(keys[-1])) is None:
        return rest
    group, here = last
    begin = next(at for at, key in enumerate(keys) if key.startswith(group))
    first = _place(keys[begin])
    if first is None or first[0] != group or first[1] >= here:
        return rest
    behind = group + BEHIND
    end = 16**DIGITS if one.until in (None, behind) else int(one.until[-DIGITS:], 16)
    pages = (len(keys) - begin) * (end - here) / (here - first[1]) / (PAGE * FILL)
    parts = min(PARTS, int(pages) + 1)
    if parts < 2:
        return rest
    cuts = [f"{group}{here + (end - here) * number // parts:0{DIGITS}x}" for number in range(1, parts)]
    borders = [keys[-1], *cuts, one.until or behind]
    ranges = [Range(after, until, one.times - 1) for after, until in pairwise(borders)]
    return ranges if one.until else [*ranges, Range(behind)]


def _place(key: str) -> tuple[str, int] | None:
    """Return the group of keys that a key stands in, those of one tool in one scope, and where; None where it is not ours."""
    name = parse(key)
    if name is None:
        return None
    tool, _, digits = name.ref.rpartition("-")
    return f"{name.folder}/{tool}-", int(digits[:DIGITS], 16)
