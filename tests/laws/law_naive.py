"""Measuring as anybody would who has all of it in memory: the laws are held against this, not against our own counting."""

from bisect import bisect_right
from itertools import pairwise


def line_count(text):
    """As a person counts: a final newline opens no line. Takes text or bytes."""
    end = "\n" if isinstance(text, str) else b"\n"
    return text.count(end) + (len(text) > 0 and not text.endswith(end))


def sizes(texts, count):
    """What the texts come to, together, in every unit; lines also as Python's splitlines has it."""
    return {
        "lines": max(sum(map(line_count, texts)), sum(len(text.splitlines()) for text in texts)),
        "bytes": sum(len(text.encode()) for text in texts),  # strict: half a character would not get through a host
        "chars": sum(map(len, texts)),
        "tokens": sum(count(text) for text in texts if text),
    }


def over(texts, limits, count):
    """The limits that do not hold, with what was found: empty when it fits."""
    found = sizes(texts, count)
    return {name: (found[name], most) for name, most in limits.given() if found[name] > most}


def over_all(texts, clipper, *, whole):
    """The same for what a Clipper lets through; what it left whole may be up to the trigger instead."""
    bounds = [clipper.limits, *([clipper.trigger] if whole and clipper.trigger else [])]
    return min((over(texts, limits, clipper.count) for limits in bounds), key=len)


class Lines:
    """An output as its lines, each with its line end, numbered from 1."""

    def __init__(self, data):
        self.data = bytes(data)
        self.all = [line + b"\n" for line in self.data.split(b"\n")]
        self.all[-1] = self.all[-1][:-1]
        if not self.all[-1]:
            self.all.pop()
        self.starts = [0]
        for line in self.all:
            self.starts.append(self.starts[-1] + len(line))

    def __len__(self):
        return len(self.all)

    def number(self, offset):
        """The line that holds this byte."""
        return bisect_right(self.starts, offset, hi=len(self.all))

    def upto(self, first, last):
        """The bytes of these lines: from, to."""
        return self.starts[first - 1], self.starts[last]

    def pieces(self, start, end):
        """The bytes from here to there, cut at line ends."""
        edges = [start, *(edge for edge in self.starts if start < edge < end), end]
        return [self.data[one:two] for one, two in pairwise(edges)]


def merged(pairs):
    """Line ranges in order, those that touch made one."""
    out = []
    for first, last in sorted(pairs):
        if out and first <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(last, out[-1][1]))
        else:
            out.append((first, last))
    return tuple(out)
