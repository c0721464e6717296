"""The text of a file as tools show it: lines, with or without their numbers in front (`   12→`, `12<tab>`, `12: `)."""

from __future__ import annotations

import re
from itertools import pairwise

from msgspec import Struct

from spillover.kinds.sample import are_few, are_most

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillover.document.document import Document

#: Of a longer output, so much of both ends is looked at.
HEAD, TAIL = 3 << 20, 1 << 20
#: With this share of lines that count on from the one above, and so many that have a number, it is numbered.
NUMBERED, GIVEN = 0.9, 0.8
LEAST = 5

_NUMBER = re.compile(rb"[ \t]{0,12}+(\d{1,8}+)(?:\xe2\x86\x92|\t|: |:(?=\n|\Z)|[ \t]?\xe2\x94\x82 ?| ?\| ?)")
#: As `cat -n` and `nl` write them.
_ASKED = re.compile(rb" {1,5}+\d{1,5}+\t|\d{6}\t")
# How lines of programs begin and end; each is matched at one place.
_CODE = re.compile(
    rb"\s*+(?:(?:import|from|package|use|using|require|include|def|class|func|fn|function|struct|enum|interface|trait|type|impl"
    rb"|const|let|var|val|static|public|private|protected|export|async|return|if|elif|else|for|while|switch|case|match|try|catch"
    rb"|except|finally|with|throw|raise|defer|go|yield|await|namespace|module|end|assert|print|pass|break|continue|del)\b"
    rb"|[\w.]++(?:\[\w*+\])?(?: (?:=|:=|\+=|-=|\|=) |\()|#include|#define|//|/\*|\*|@\w|[})\]])"
)
_CODE_ENDS = (b"{", b"}", b";", b"(", b")", b",", b":", b"[", b"]", b"=>", b"*/")
_NOT_CODE = re.compile(
    rb"\s*+(?:\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d|\$ |\+ |> |Traceback|FAILED|ERROR|WARN|INFO|DEBUG|\[[A-Z])"
)
_TOP = re.compile(
    rb"(?:import|from|package|use|using|#include|#!|//|/\*|def|class|func|fn|function|export|const|module|namespace|public|pub|struct|impl|enum|trait|type|interface|static|mod|async|private|var|let)\b|#!|//|/\*"
)
CODE, FEW_OTHERS, FEWEST = 0.6, 0.02, 8


class Listing(Struct, frozen=True):
    """Lines: from where to where each is in the output, how many bytes its number takes there, and what it says."""

    start: Sequence[int]
    end: Sequence[int]
    skip: Sequence[int]
    number: Sequence[int]  # in the file; 0 where none is said
    text: Sequence[bytes]

    def __len__(self) -> int:
        return len(self.start)


def listing(document: Document) -> Listing:
    """Return the lines of an output; of a very long one, those of both ends."""
    size = document.size
    pieces = [(0, size)] if size <= HEAD + TAIL else [(0, HEAD), (size - TAIL, size)]
    start: list[int] = []
    end: list[int] = []
    raw: list[bytes] = []
    for low, high in pieces:
        data = document.blob.read(low, high)
        first = data.find(b"\n") + 1 if low else 0
        last = len(data) if high == size else data.rfind(b"\n") + 1
        at = low + first
        for line in data[first:last].splitlines(keepends=True) if b"\r" not in data else _split(data[first:last]):
            start.append(at)
            at += len(line)
            end.append(at)
            raw.append(line)
    cuts, number = _numbers(raw)
    # As `cat -n` and `nl` write them, somebody asked for them, and they stay.
    asked = sum(1 for line in raw if _ASKED.match(line)) > len(raw) // 2
    skip = [0] * len(raw) if asked else cuts
    return Listing(start, end, skip, number, [line[cut:] for line, cut in zip(raw, cuts, strict=True)])


def _split(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    return [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _numbers(lines: Sequence[bytes]) -> tuple[list[int], list[int]]:
    """Return how many bytes the number in front of each line takes, and the number; 0 where the lines are not numbered."""
    found = [_NUMBER.match(line) for line in lines]
    numbers = [int(match[1]) if match else 0 for match in found]
    if not counts_on(numbers):
        return [0] * len(lines), [0] * len(lines)
    return [match.end() if match else 0 for match in found], numbers


def counts_on(numbers: Sequence[int]) -> bool:
    """Return whether nearly all of these numbers are one more than the one before."""
    given = sum(1 for number in numbers if number)
    on = sum(1 for one, two in pairwise(numbers) if two == one + 1 and two)
    return given >= LEAST and on >= NUMBERED * (given - 1) and given >= GIVEN * len(numbers)


def is_file(lines: Sequence[bytes], *, hinted: bool) -> bool:
    """Return whether these are the lines of a file: numbered, or of a program."""
    return is_numbered(lines, hinted=hinted) or is_code(lines, hinted=hinted)


def is_numbered(lines: Sequence[bytes], *, hinted: bool) -> bool:
    """Return whether these are the numbered lines of a file. A log may count its lines, too: `12: done`."""
    if not are_most(GIVEN, lines, _NUMBER.match):
        return False
    found = [_NUMBER.match(line) for line in lines]
    if not counts_on([int(match[1]) if match else 0 for match in found]):
        return False
    readers = sum(1 for match in found if match and not match[0].rstrip(b" ").endswith(b":"))
    if hinted or readers * 2 > len(lines):
        return True
    return is_code(
        [line[match.end() :] if match else line for line, match in zip(lines, found, strict=True)], hinted=True
    )


def is_code(lines: Sequence[bytes], *, hinted: bool) -> bool:
    """Return whether these lines are those of a program, and not a log that quotes some."""
    if not hinted and not are_few(FEW_OTHERS, lines, _NOT_CODE.match):
        return False  # most logs; blank lines, which count for less, would not make it more likely
    filled = list(filter(bytes.strip, lines))
    if len(filled) < FEWEST:
        return False
    if hinted:
        return are_most(CODE / 2, filled, _is_code_line)
    return (
        are_few(FEW_OTHERS, filled, _NOT_CODE.match)
        and are_most(CODE, filled, _is_code_line)
        and sum(1 for line in filled if _TOP.match(line)) >= 2
    )


def _is_code_line(line: bytes) -> bool:
    return _CODE.match(line) is not None or line.rstrip().endswith(_CODE_ENDS)
