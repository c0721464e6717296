"""Seed document 001, the T15 report: its three pieces of code, `truncateOutput`, the recipe, and `truncateAndSpill`."""

from from_text import utf16

MAX_LINES = 2_000
MAX_BYTES = 50_000


def fits(output, max_lines, max_bytes):
    return len(output.split("\n")) <= max_lines and utf16.length(output) <= max_bytes


def keep(output, direction, max_lines):
    """Return the lines that stay: by their number alone."""
    lines = output.split("\n")
    return "\n".join(lines[-max_lines:] if direction == "tail" else lines[:max_lines])


def block(output, path, *, direction="tail", max_lines=MAX_LINES, max_bytes=MAX_BYTES):
    """Return the text of `truncateOutput` in `tool/truncate.ts`; None when it is the output itself."""
    if fits(output, max_lines, max_bytes):
        return None
    return keep(output, direction, max_lines) + block_notice(path, max_lines, max_bytes)


def block_notice(path, max_lines, max_bytes, which="last"):
    return (
        "\n<truncated-notice>\n"
        f"Output truncated to {which} {max_lines} lines / {max_bytes} bytes.\n"
        f"Full output saved to: {path}\n"
        "Use the Read or Grep tool to access specific parts.\n"
        "</truncated-notice>"
    )


def recipe(output, path, *, direction="tail", max_lines=MAX_LINES, max_bytes=MAX_BYTES):
    """Return the text of the implementation recipe; None when it is the output itself."""
    if fits(output, max_lines, max_bytes):
        return None
    notice = recipe_notice(path, output.count("\n") + 1, max_lines, direction, utf16.length(output))
    return keep(output, direction, max_lines) + notice


def recipe_notice(path, lines, kept, direction, size):
    return (
        f"\n\n[Output truncated: {lines} lines → {kept} lines kept ({direction}).\n"
        f" Full output ({size} bytes) saved to: {path}\n"
        " Use Read or Grep tool to inspect specific sections.]"
    )


def generic(output, path, *, max_bytes=MAX_BYTES):
    """Return the text of `truncateAndSpill`; None when it is the output itself."""
    if utf16.length(output) <= max_bytes:
        return None
    return utf16.part(output, -max_bytes) + generic_notice(path, utf16.length(output), max_bytes)


def generic_notice(path, size, max_bytes):
    """Return the words behind it, in which 50,000 are `50k`."""
    return (
        f"\n\n[Output was {size} bytes, truncated to last {max_bytes // 1_000}k. "
        f"Full content: {path}. Use Read/Grep to inspect.]"
    )


def file_name(tool, call_id, *, generic=False):
    return f"{tool}-{call_id}.{'log' if generic else 'txt'}"
