"""opencode's published algorithms in a few lines each, to show beside ours what the document's own give."""


def size_of(text):
    return len(text.encode())


def first_output(text, max_lines, max_bytes, direction):
    """v1 `Truncate.output`: preview, removed, unit; None when nothing is cut."""
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
    """v1's shell: the last lines; a last one that is too long alone is cut to its end."""
    cut = first_output(text, max_lines, max_bytes, "tail")
    if cut is None:
        return text
    last = text.rpartition("\n")[2]
    if size_of(last) > max_bytes:
        return last.encode()[-max_bytes:].decode("utf-8", "ignore")
    return cut[0]


def second_ends(text, max_lines, max_bytes):
    """v2 `preview`: so many lines of either end, and where those are too long, of these two together so many bytes."""
    lines = text.split("\n")
    head, tail = lines[: -(-max_lines // 2)], lines[len(lines) - max_lines // 2 :]
    sampled = text if len(lines) <= max_lines else "\n".join(head + tail)
    if size_of(sampled) <= max_bytes:
        return "\n".join(head), "\n".join(tail)
    data = sampled.encode()
    half = -(-max_bytes // 2)
    return data[:half].decode("utf-8", "ignore"), data[-(max_bytes // 2) :].decode("utf-8", "ignore")


def second_bound(text, path, max_lines, max_bytes):
    """v2 `boundedPreview`."""
    if 1 + text.count("\n") <= max_lines and size_of(text) <= max_bytes:
        return text
    marker = f"... output truncated; full content saved to {path} ..."
    room = max_bytes - size_of(marker) - 4
    if max_lines <= 4 or room <= 0:
        return marker[:max_bytes]
    head, tail = second_ends(text, max_lines - 4, room)
    return f"{head}\n\n{marker}\n\n{tail}" if tail else f"{head}\n\n{marker}"
