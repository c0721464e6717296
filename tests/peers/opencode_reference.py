"""opencode's published algorithms in a few lines each, to compare with ours."""


def size_of(text):
    return len(text.encode())


def first_output(text, max_lines, max_bytes, direction):
    """Do what v1 `Truncate.output` does: return preview, removed, unit; None if nothing is cut."""
    lines = text.split("\n")
    if len(lines) <= max_lines and size_of(text) <= max_bytes:
        return None
    out, used, hit_bytes = [], 0, False
    for line in (lines if direction == "head" else lines[::-1])[:max_lines]:
        size = size_of(line) + bool(out)
        if used + size > max_bytes:
            hit_bytes = True
            break
        out.append(line)
        used += size
    preview = "\n".join(out if direction == "head" else out[::-1])
    return (preview, size_of(text) - used, "bytes") if hit_bytes else (preview, len(lines) - len(out), "lines")


def shell_tail(text, max_lines, max_bytes):
    """Do what v1's shell does: return the last lines; if the last one alone is too long, return its end."""
    cut = first_output(text, max_lines, max_bytes, "tail")
    if cut is None:
        return text
    last = text.rpartition("\n")[2]
    if size_of(last) > max_bytes:
        return last.encode()[-max_bytes:].decode("utf-8", "ignore")
    return cut[0]
