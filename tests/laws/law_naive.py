"""Naive measuring, with everything in memory: the law tests use this instead of our own counting."""

from bisect import bisect_right
from itertools import accumulate, pairwise

from support import cover_secrets as cover
from support import find_secrets as find
from support import mark_secret as mark


def line_count(text):
    """Count the lines of text or bytes as a person does: a final newline does not start a new line."""
    end = "\n" if isinstance(text, str) else b"\n"
    return text.count(end) + (len(text) > 0 and not text.endswith(end))


def sizes(texts, count):
    """Return the total size of the texts in every unit, including lines as counted by Python's splitlines."""
    return {
        "lines": max(sum(map(line_count, texts)), sum(len(text.splitlines()) for text in texts)),
        "bytes": sum(len(text.encode()) for text in texts),  # strict: a host could not encode half a character
        "chars": sum(map(len, texts)),
        "tokens": sum(count(text) for text in texts if text),
    }


def over(texts, limits, count):
    """Return the limits that are exceeded, with the actual sizes: empty if the texts fit."""
    found = sizes(texts, count)
    return {name: (found[name], most) for name, most in limits.given() if found[name] > most}


def over_all(texts, clipper, *, whole):
    """Do the same for the limits of a Clipper; texts that it left whole may be as large as its trigger."""
    bounds = [clipper.settings.limits, *([clipper.settings.trigger] if whole and clipper.settings.trigger else [])]
    return min((over(texts, limits, clipper.settings.count) for limits in bounds), key=len)


class Lines:
    """The lines of an output, each with its line ending, numbered from 1."""

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
        """Return the number of the line that contains this byte."""
        return bisect_right(self.starts, offset, hi=len(self.all))

    def upto(self, first, last):
        """Return the byte range of these lines: start, end."""
        return self.starts[first - 1], self.starts[last]

    def pieces(self, start, end):
        """Return the bytes of a range, split at line ends."""
        edges = [start, *(edge for edge in self.starts if start < edge < end), end]
        return [self.data[one:two] for one, two in pairwise(edges)]


def merged(pairs):
    """Sort line ranges and join those that touch."""
    out = []
    for first, last in sorted(pairs):
        if out and first <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(last, out[-1][1]))
        else:
            out.append((first, last))
    return tuple(out)


def cover_streams(pieces):
    """Return pieces of streams without secrets, from all bytes at once: the secrets of each stream, and over them those of the whole."""
    raw = b"".join(data for _, data in pieces)
    out = bytearray(raw)
    starts = [0, *accumulate(len(data) for _, data in pieces)]
    for stream in {name for name, _ in pieces}:
        own = [(at, data) for at, (name, data) in zip(starts, pieces, strict=False) if name == stream]
        covered = cover(b"".join(data for _, data in own))[0]
        for at, data in own:
            out[at : at + len(data)], covered = covered[: len(data)], covered[len(data) :]
    for one in find(raw):
        out[one.start : one.end] = mark(raw[one.start : one.end], one.kind)
    return bytes(out)
