"""How a profile is held against its document: equal on every input, or different for a cause that has a row on the page."""

import logging
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = Path(__file__).parents[3] / "docs" / "profiles" / "differences.md"


@dataclass(frozen=True)
class Difference:
    """A row of the page, by words of its first cell, and how an input is recognised that it concerns."""

    row: str
    cause: "Callable[[object], bool]"


@dataclass(frozen=True)
class Tally:
    """How many inputs gave the document's own result, how many of those were cut, and how many each difference changed."""

    same: int
    cut: int
    hits: Counter

    def __str__(self):
        told = ", ".join(f"{name} {count}" for name, count in sorted(self.hits.items()))
        return f"{self.same} to the letter, {self.cut} of them cut; {told or 'no difference'}"


def compare(name, cases, ours, document, by_the_page, differences, *, whole=lambda case, result: False):
    """Assert that ours is the document's result, changed by those differences whose cause is there and by nothing else.

    `ours(case)` gives the result and what the document cannot know (the path of its file); `document(case, given)` and
    `by_the_page(case, given, causes)` take that. A difference counts where the result is another one without it.
    `--log-level=INFO` with `-rP` shows the tally.
    """
    same = cut = 0
    hits: Counter = Counter()
    for case in cases:
        result, given = ours(case)
        theirs = document(case, given)
        causes = frozenset(cause for cause, difference in differences.items() if difference.cause(case))
        expected = by_the_page(case, given, causes) if causes else theirs
        assert result == expected, (
            f"{case}\n  causes {set(causes) or 'none'}\n  expected {expected!r}\n  got      {result!r}"
        )
        if result == theirs:
            same += 1
            cut += not whole(case, result)
            continue
        for cause in causes:
            hits[cause] += by_the_page(case, given, causes - {cause}) != expected
    tally = Tally(same, cut, hits)
    logging.getLogger(__name__).info("%s: %s", name, tally)
    unmet = [cause for cause in differences if not hits[cause]]
    assert not unmet, f"no input meets {unmet}: mend the generator, or drop the difference; {tally}"
    return tally


def check_the_page(system, differences, elsewhere):
    """Assert that every difference has its row, and that every other row is held elsewhere: the file of its test is named."""
    section = PAGE.read_text().partition(f"\n## {system}\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")][1:]
    known = {name: difference.row for name, difference in differences.items()} | {words: words for words in elsewhere}
    absent = [name for name, words in known.items() if not any(words in row.split(" | ")[0] for row in rows)]
    assert not absent, f"not on the page: {absent}"
    unknown = [row for row in rows if not any(words in row.split(" | ")[0] for words in known.values())]
    assert not unknown, f"met by no input, and it is not said where it is tested: {unknown}"
    gone = [file for file in elsewhere.values() if not (PAGE.parents[2] / "tests" / file).is_file()]
    assert not gone, f"no such tests: {gone}"


def human_lines(text):
    """Return the lines of a text as a person counts them, each with its end: a final newline opens none."""
    lines = text.split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def first_bytes(text, size):
    """Return as much of the beginning as has at most so many bytes."""
    return text.encode()[: max(size, 0)].decode("utf-8", "ignore")


def last_bytes(text, size):
    """Return as much of the end as has at most so many bytes."""
    data = text.encode()
    return data[max(len(data) - size, 0) :].decode("utf-8", "ignore")
