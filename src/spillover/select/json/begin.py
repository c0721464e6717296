"""Whether bytes begin as JSON does: the head of an output, which is cut off anywhere, or a small output as a whole."""

from __future__ import annotations

#: What the decoder says of JSON that ends too early.
TRUNCATED = "Input data was truncated"
#: A number that is cut off here is malformed to the decoder.
_NUMBER = b"0123456789+-.eE"


def goes_on(data: bytes, *, whole: bool) -> bool:
    """Return whether this is JSON as far as it goes; the last token may be cut off, and it closes only when it is whole."""
    if data.lstrip(b" \t\r\n")[:1] not in (b"[", b"{"):
        return False
    import msgspec

    try:
        msgspec.json.decode(data if whole else data.rstrip(_NUMBER), type=msgspec.Raw)
    except msgspec.DecodeError as error:
        return not whole and str(error) == TRUNCATED
    except RecursionError:
        return False
    return whole
