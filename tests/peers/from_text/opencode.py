"""Seed document 000, "OpenCode Output Truncation Algorithm": truncate, the hint, Read's loop, what Bash shows a person."""

from dataclasses import dataclass

from from_text import utf16

MAX_LINES = 2_000
MAX_BYTES = 50 * 1024
DEFAULT_READ_LIMIT = 2_000
MAX_LINE_LENGTH = 2_000
MAX_METADATA_LENGTH = 30_000
RETENTION_MS = 7 * 24 * 60 * 60 * 1000


def byte_length(text):
    return len(text.encode())


@dataclass(frozen=True)
class Cut:
    """What step 2 collected."""

    preview: str
    removed: int
    unit: str


def collect(text, max_lines=MAX_LINES, max_bytes=MAX_BYTES, direction="head"):
    """Steps 1 and 2: None when both limits are satisfied."""
    lines = text.split("\n")
    total_bytes = byte_length(text)
    if len(lines) <= max_lines and total_bytes <= max_bytes:
        return None
    out, used, hit_bytes = [], 0, False
    if direction == "head":
        i = 0
        while i < len(lines) and i < max_lines:
            size = byte_length(lines[i]) + (1 if i > 0 else 0)
            if used + size > max_bytes:
                hit_bytes = True
                break
            out.append(lines[i])
            used += size
            i += 1
    else:
        i = len(lines) - 1
        while i >= 0 and len(out) < max_lines:
            size = byte_length(lines[i]) + (1 if out else 0)
            if used + size > max_bytes:
                hit_bytes = True
                break
            out.insert(0, lines[i])
            used += size
            i -= 1
    # [facts] how `removed` is counted; the text says only that the unit is that of the limit that was hit.
    if hit_bytes:
        return Cut("\n".join(out), total_bytes - used, "bytes")
    return Cut("\n".join(out), len(lines) - len(out), "lines")


def hint(path, has_task_tool):
    """Step 4. [facts] the second line of the first hint is one line; the text wraps it."""
    saved = f"The tool call succeeded but the output was truncated. Full output saved to: {path}\n"
    if has_task_tool:
        return saved + (
            "Use the Task tool to have explore agent process this file with Grep and Read (with offset/limit). "
            "Do NOT read the full file yourself - delegate to save context."
        )
    return saved + "Use Grep to search the full content or Read with offset/limit to view specific sections."


def message(cut, direction, told):
    """Step 5."""
    missing = f"...{cut.removed} {cut.unit} truncated..."
    if direction == "head":
        return f"{cut.preview}\n\n{missing}\n\n{told}"
    return f"{missing}\n\n{told}\n\n{cut.preview}"


def output(text, path, *, max_lines=MAX_LINES, max_bytes=MAX_BYTES, direction="head", has_task_tool=False):
    """Return the whole of `Truncate.output`: its Result, for a file that was saved at `path`."""
    cut = collect(text, max_lines, max_bytes, direction)
    if cut is None:
        return {"content": text, "truncated": False}
    content = message(cut, direction, hint(path, has_task_tool))
    return {"content": content, "truncated": True, "outputPath": path}


def settle(result, path):
    """Return what `Tool.define` gives back: a result that says `metadata.truncated`, whatever it says, is left alone."""
    if "truncated" in result["metadata"]:
        return result
    truncated = output(result["output"], path)
    content = truncated.pop("content")
    # [facts] that `truncated` and `outputPath` go into the metadata
    return {**result, "output": content, "metadata": {**result["metadata"], **truncated}}


def read_lines(lines, offset, limit=DEFAULT_READ_LIMIT, units=utf16):
    """Return the lines that Read shows, and `metadata.truncated`. The offset counts from 0.

    [facts] the bytes are counted over the shortened lines, with a newline between two, as in step 2.
    """
    out, used, by_bytes = [], 0, False
    for i in range(offset, min(len(lines), offset + limit)):
        long = units.length(lines[i]) > MAX_LINE_LENGTH
        line = units.part(lines[i], 0, MAX_LINE_LENGTH) + "..." if long else lines[i]
        size = byte_length(line) + (1 if out else 0)
        if used + size > MAX_BYTES:
            by_bytes = True
            break
        out.append(line)
        used += size
    return out, offset + len(out) < len(lines) or by_bytes


def bash_metadata(printed, units=utf16):
    """Return what a person sees of a command's output."""
    if units.length(printed) > MAX_METADATA_LENGTH:
        return units.part(printed, 0, MAX_METADATA_LENGTH) + "\n\n..."
    return printed


def identifier(milliseconds, end):
    """Return a name of a file: "tool_<timestamp-based-id>". [facts] 48 bits of it are the time, in 4,096ths of a millisecond."""
    return f"tool_{(milliseconds * 4_096) % 2**48:012x}{end}"


def timestamp(name):
    """Return the time a name says, or None, which is NaN and so later than nothing."""
    digits = name.removeprefix("tool_")[:12]
    return int(digits, 16) // 4_096 if len(digits) == 12 and not set(digits) - set("0123456789abcdef") else None


def cleanup(names, now):
    """Return the names that stay."""
    cutoff = timestamp(identifier(now - RETENTION_MS, ""))
    return {
        name
        for name in names
        if not name.startswith("tool_") or ((time := timestamp(name)) is not None and time >= cutoff)
    }
