"""Pieces of an output as lines, in arrays: what each looks like, what it would cost, how it repeats itself."""

from __future__ import annotations

import re
from itertools import count

from msgspec import Struct

from spillover.select.arrays import group
from spillover.select.classes import DISMISSED, EVIDENCE, PLACES, classify
from spillover.select.families import KEY, templates
from spillover.select.shapes import costs, shapes
from spillover.view.clean import flat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from spillover.view.document import Document

    Array = Any  # of numpy; its own types say little about what is in one

# What a logger puts before its message: clock, level, thread. The message is what tells one line from another.
_STAMP = (
    rb"[ \t]*+(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?|\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?)?"
    rb"[ \t]*(?:(?:\[?(?:INFO|DEBUG|TRACE|info|debug)\]?)[ \t]*[-:|]?[ \t]*)?"
)
STAMP = re.compile(_STAMP)
#: The message of each line, one behind the other; what is left of a line always matches, so nothing is tried twice.
_MESSAGES = re.compile(_STAMP + rb"([^\n]*+)\n")
_CLOCK = re.compile(rb"\d\d:\d\d:\d\d")
_LEVELS = (b"INFO", b"DEBUG", b"TRACE", b"info", b"debug")
_NEWLINE = 0x0A
#: Few means one line in FEW.
FEW = 100


class Lines(Struct, frozen=True):
    """Lines of an output, each in one place of every array."""

    first: Array  # where each begins in the output, in bytes
    last: Array  # where it ends, its newline included
    tokens: Array  # about how many it would cost
    classes: Array  # a row of booleans each, see classes.NAMES
    template: Array  # the same for lines that differ in words with digits only
    prefix: Array  # the same for messages that begin alike
    exact: Array  # the same for equal messages
    subject: Array  # the same for lines about the same things: their long words, in any order
    indent: Array
    width: Array
    number: Array  # which line of the output it is, from 1
    family: Array  # the same for failures that are alike, see families.py; 0 for lines that are none

    def __len__(self) -> int:
        return len(self.first)

    def of_class(self, name: str) -> Array:
        """Return which lines are in a class: a boolean each."""
        return self.classes[:, PLACES[name]]

    def of_classes(self, names: Sequence[str]) -> Array:
        """Return a column for each of these classes."""
        return self.classes.T[[PLACES[name] for name in names]].T

    @property
    def dismissed(self) -> Array:
        """The lines on which words for failure mean nothing."""
        return self.of_classes(DISMISSED).any(axis=1)


def lines_of(document: Document, pieces: Sequence[tuple[int, int]]) -> Lines:
    """Return the lines of some pieces of an output, which begin and end at line ends."""
    import numpy as np

    raw = [document.blob.read(start, end) for start, end in pieces]
    firsts, lasts, numbers = [], [], []
    for (start, _), data in zip(pieces, raw, strict=True):
        ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == 10) + 1
        if len(data) and (not len(ends) or ends[-1] < len(data)):
            ends = np.concatenate((ends, [len(data)]))
        lasts.append(start + ends)
        firsts.append(start + np.concatenate(([0], ends[:-1])))
        numbers.append(document.number(start) + np.arange(len(ends)))
    view = b"".join(_view(data) for data in raw)
    return _measure(view, np.concatenate(firsts), np.concatenate(lasts), np.concatenate(numbers))


def rare_of(lines: Lines) -> list[int]:
    """Return where lines begin that begin like no others, if the others are alike: few of many."""
    import numpy as np

    order, starts, sizes = group(lines.prefix)
    rare = np.sort(order[starts[sizes == 1]])
    inner = rare[(rare > 0) & (rare < len(lines) - 1)]  # at an edge, a line may be the rest of one
    rare = inner[(lines.first[inner] == lines.last[inner - 1]) & (lines.last[inner] == lines.first[inner + 1])]
    few = 0 < len(rare) <= len(lines) // FEW
    return lines.first[rare].tolist() if few else []


def _view(data: bytes) -> bytes:
    view = flat(data).encode("utf-8", "replace")
    return view if data.endswith(b"\n") or not data else view + b"\n"


def _measure(view: bytes, first: Array, last: Array, number: Array) -> Lines:
    """Return all that is known of the lines of a view."""
    import numpy as np

    tokens = costs(view)
    if _is_stamped(view[: 1 << 14]):
        messages = _MESSAGES.findall(view)
        view = b"\n".join(messages) + b"\n"
    else:
        messages = view[:-1].split(b"\n")
    ends = (np.frombuffer(view, dtype=np.uint8) == _NEWLINE).nonzero()[0]
    starts = np.concatenate(([0], ends[:-1] + 1))
    template, subject, prefix, indent = shapes(view, starts, ends)
    classes = classify(view, starts)
    numbers = dict(zip(dict.fromkeys(messages), count()))
    return Lines(
        first=first,
        last=last,
        tokens=tokens,
        classes=classes,
        template=template,
        prefix=prefix,
        # Below 0: these are compared with templates and subjects, too.
        exact=-1 - np.fromiter(map(numbers.__getitem__, messages), np.int64, len(messages)),
        subject=subject,
        indent=indent,
        width=ends - starts,
        number=number,
        family=_families(view, starts, ends, classes),
    )


def _is_stamped(view: bytes) -> bool:
    """Return whether lines may begin with a clock or a level."""
    return any(level in view for level in _LEVELS) or bool(_CLOCK.search(view))


def _families(view: bytes, starts: Array, ends: Array, classes: Array) -> Array:
    """Return for each line that says that something failed what it has in common with others that say the same."""
    import numpy as np

    said = classes.T[[PLACES[name] for name in EVIDENCE]].any(axis=0)
    said &= ~classes.T[[PLACES[name] for name in DISMISSED]].any(axis=0)
    rows = (said & (ends > starts)).nonzero()[0]
    text = b"".join(
        [view[start : end + 1] for start, end in zip(starts[rows].tolist(), ends[rows].tolist(), strict=True)]
    )
    family = np.zeros(len(starts), dtype=np.int64)
    family[rows] = [hash(key[:KEY].strip()) or 1 for key in templates(text)]  # only ever compared
    return family
