"""What JavaScript calls the length of a string and a slice of it: UTF-16 code units, which may end inside a character."""

LONE = "\N{REPLACEMENT CHARACTER}"


def length(text):
    return len(text.encode("utf-16-le")) // 2


def part(text, start, end=None):
    """Return `text.slice(start, end)`; half of a surrogate pair is shown as JavaScript would write it to a file."""
    units = text.encode("utf-16-le")
    size = len(units) // 2
    first, last = (max(size + at, 0) if at < 0 else min(at, size) for at in (start, size if end is None else end))
    return units[2 * first : 2 * last].decode("utf-16-le", "replace")
