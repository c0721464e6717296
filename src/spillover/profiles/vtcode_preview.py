"""The byte previews of today's vtcode: a beginning, both ends, or the last lines; never a part of a character."""

from __future__ import annotations

HEAD_BYTES, TAIL_BYTES = 8_000, 4_000
TAIL_PREVIEW_BYTES, TAIL_PREVIEW_LINES = 6 * 1_024, 80
OMITTED = "… [{} bytes omitted] …"


def truncate_byte_budget(text: str, max_bytes: int, suffix: str = "...") -> str:
    """At most so many bytes of the beginning, then the suffix; a text that fits stays as it is."""
    return text if size(text) <= max_bytes else beginning(text, max_bytes) + suffix


def condense(text: str, head: int = HEAD_BYTES, tail: int = TAIL_BYTES) -> str:
    """Both ends, and between them how many bytes are not there."""
    total = size(text)
    if total <= head + tail:
        return text
    first, last = beginning(text, head), ending(text, tail)
    return f"{first}\n\n{OMITTED.format(total - size(first) - size(last))}\n\n{last}"


def tail_preview(text: str, max_bytes: int = TAIL_PREVIEW_BYTES, max_lines: int = TAIL_PREVIEW_LINES) -> str:
    """The last lines, within the bytes, below how many bytes are not there. A final newline opens a line here."""
    last = ending(text, max_bytes)
    start = len(last)
    for _ in range(max_lines):
        start = last.rfind("\n", 0, start)
        if start < 0:
            break
    last = last[start + 1 :]
    omitted = size(text) - size(last)
    return f"{OMITTED.format(omitted)}\n{last}" if omitted else last


def size(text: str) -> int:
    """Bytes of UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def beginning(text: str, most: int) -> str:
    """The characters that fit into so many bytes, from the start."""
    data = text[: max(0, most)].encode("utf-8", "surrogatepass")
    end = min(max(0, most), len(data))
    while 0 < end < len(data) and data[end] & 0xC0 == 0x80:
        end -= 1
    return data[:end].decode("utf-8", "surrogatepass")


def ending(text: str, most: int) -> str:
    """The same up to the end."""
    data = text[-most:].encode("utf-8", "surrogatepass") if most > 0 else b""
    start = max(0, len(data) - most)
    while start < len(data) and data[start] & 0xC0 == 0x80:
        start += 1
    return data[start:].decode("utf-8", "surrogatepass")
