"""Bytes as a JSON value that can be shown in part."""

from __future__ import annotations

import re

from spillover.document.document import UNBOUNDED
from spillover.kinds.json.room import NOTHING_ASKED, Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.document.document import Work
    from spillover.kinds.query import Query

#: UTF-8 is checked in blocks of this many bytes.
BLOCK = 1 << 20
BOM = b"\xef\xbb\xbf"
#: How a value that can be shown in part begins; what follows the blanks is not one, so nothing is tried twice.
OPENS = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*+(?=[\[{])")


def parse(data: bytes, work: Work = UNBOUNDED, asked: Query = NOTHING_ASKED) -> Tree | None:
    """Return a JSON object or array that can be shown in part; None where the bytes are neither, or are not shown as they are."""
    if not is_container(data):
        return None
    from spillover.kinds.json.scan import marks

    found = marks(data)
    return Tree(data, found, work, asked)


def is_container(data: bytes) -> bool:
    """Return whether this is an object or an array, which is shown as it is."""
    if not OPENS.match(data) or not _valid(data):
        return False
    # A carriage return that ends no line makes what stands before it invisible.
    return b"\r" not in data or data.count(b"\r") == data.count(b"\r\n")


def _valid(data: bytes) -> bool:
    """Return whether it is one JSON value in UTF-8. Decoding to `Raw` checks everything else, and builds nothing."""
    import msgspec

    try:
        msgspec.json.decode(memoryview(data)[len(BOM) if data.startswith(BOM) else 0 :], type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    if data.isascii():
        return True
    from codecs import getincrementaldecoder

    decoder = getincrementaldecoder("utf-8")()
    try:
        for at in range(0, len(data), BLOCK):
            decoder.decode(data[at : at + BLOCK], final=at + BLOCK >= len(data))
    except UnicodeDecodeError:
        return False
    return True
