"""Lines that say again what was said: failures that are alike, and runs of equal lines or blocks, of which the middle may be folded.

`outline` counts families of failures over a whole output, `signal` in what it looks at closely; both tell them apart by this.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spillover.select.arrays import steps

Array = Any  # of numpy; its own types say little about what is in one

#: So many bytes of what lines have in common tell families apart.
FAMILY_BYTES = 200
#: A run has at least so many lines or blocks; blocks have at most so many lines.
SHORTEST_RUN, LONGEST_BLOCK = 4, 16

#: Names, places and numbers are written with these; one with a digit, a slash or two colons in it, behind a quote, or cut off
#: by dots, tells lines apart that are alike. Such a name is replaced by a byte that no view has.
_NAME = bytes(c < 0x80 and (chr(c).isalnum() or chr(c) in "_/.:@+~-\\%") for c in range(256))
_TELLING = bytes(c < 0x80 and (chr(c).isdigit() or chr(c) in "/\\") for c in range(256))
_QUOTES = (0x27, 0x60, 0x98)  # the last one ends an opening quote in UTF-8
_COLON, _DOT = b":."
_ANY = 1


def templates(view: bytes) -> list[bytes]:
    """Return each line without what tells it from lines that are alike."""
    if not view:
        return []
    data = np.frombuffer(view, dtype=np.uint8)
    edges = np.flatnonzero(steps(np.frombuffer(view.translate(_NAME), dtype=np.int8), [0], [0]))
    begin, end = edges[::2], edges[1::2]
    telling = np.frombuffer(view.translate(_TELLING), dtype=np.uint8).copy()
    same = data[:-1] == data[1:]
    telling[1:] |= same & ((data[1:] == _COLON) | (data[1:] == _DOT))  # `a.py::test_b`, and a word that was cut off
    upto = np.concatenate((np.zeros(1, dtype=np.int32), np.cumsum(telling, dtype=np.int32)))
    before = data[np.maximum(begin, 1) - 1]
    left_out = upto[end] > upto[begin]
    for quote in _QUOTES:
        left_out |= before == quote
    begin, end = begin[left_out], end[left_out]
    change = np.zeros(len(data) + 1, dtype=np.int8)
    change[begin + 1] += 1
    change[end] -= 1
    gone = np.cumsum(change[:-1], dtype=np.int8).view(bool)
    gone |= data == 32  # columns are padded
    out = data.copy()
    out[begin] = _ANY
    text: bytes = out[~gone].tobytes()
    return text.removesuffix(b"\n").split(b"\n")


def inside_runs(values: Array) -> Array:
    """Return which places are in the middle of a run of equal values or blocks of them: all but the first and the last."""
    inside = np.zeros(len(values), dtype=bool)
    for period in range(1, LONGEST_BLOCK + 1):
        least = (SHORTEST_RUN - 1) * period
        same = values[period:] == values[:-period]
        if b"\1" * least not in same.tobytes():
            continue
        edges = np.flatnonzero(steps(np.concatenate((np.zeros(period, dtype=bool), same)).astype(np.int8), [0], [0]))
        for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            if end - start >= least:
                inside[start : end - period] = True
    return inside
