"""Seed document 003, "Output Truncation Overhaul": two ways to cut a string, and the four paths that use them.

`units` says what a character is: JavaScript's, unless a test asks what another reading of the same text would give.
"""

import json

from from_text import utf16

MAX_TOOL_RESULT_CHARS = 8_000
MAX_STREAM_CHARS = 8_000
MAX_RLM_PART_CHARS = 8_000
MAX_RLM_CHARS = 16_000


def said(truncated, source):
    """Return the notice of tasks 1, 2 and 3: without a source, as the utilities' own lines have it."""
    return f"... ({truncated:,} chars truncated from {source})" if source else f"... ({truncated:,} chars truncated)"


def string_truncate(text, limit, units=utf16):
    """Return `stringTruncate`, which was there before: the beginning and three dots."""
    return units.part(text, 0, limit) + "..." if units.length(text) > limit else text


def string_truncate_tail(text, limit, source=None, units=utf16):
    """Task 1: "keeps the last N chars, prepends …"."""
    size = units.length(text)
    if size <= limit:
        return text
    return f"{said(size - limit, source)}\n{units.part(text, size - limit)}"


def string_truncate_head_tail(text, limit, source=None, units=utf16):
    """Task 1: "keeps first N/2 chars + last N/2 chars". [facts] of an odd limit, the beginning gets the one more."""
    size = units.length(text)
    if size <= limit:
        return text
    head, tail = limit - limit // 2, limit // 2
    gap = f"\n\n{said(size - limit, source)} ...\n\n"
    return units.part(text, 0, head) + gap + units.part(text, size - tail)


def one_text(text, limit=MAX_TOOL_RESULT_CHARS, units=utf16):
    """Task 2 for a result of one text, and "Truncation notice format"."""
    return string_truncate_tail(text, limit, "output", units)


def tool_result_truncate(texts, units=utf16, limits=None):
    """Task 2: "iterate all text blocks, truncate each one individually, sum total text size".

    [facts] how that sum is said, `output block (N/TOTAL)`.
    """
    if len(texts) == 1:
        return [one_text(texts[0], units=units)]
    total = sum(map(units.length, texts))
    return [
        string_truncate_tail(text, limit, f"output block ({units.length(text):,}/{total:,})", units)
        for text, limit in zip(texts, limits or [MAX_TOOL_RESULT_CHARS] * len(texts), strict=True)
    ]


def exec_streams(stdout, stderr, limit=MAX_STREAM_CHARS, units=utf16):
    """Task 3: "tail truncation to stdout and stderr individually before combining", each under its own name."""
    return {
        "stdout": string_truncate_tail(stdout, limit, "stdout", units),
        "stderr": string_truncate_tail(stderr, limit, "stderr", units),
    }


def exec_json(streams):
    """Return both as JSON. [facts] that it is JSON; the text says only that stdout comes first."""
    return json.dumps(streams, indent=2, ensure_ascii=False)


def exec_text(streams):
    """Return both as text. [page] their labels, and that a stream without any is left out."""
    return "\n\n".join(f"{name}:\n{text}" for name, text in streams.items() if text.strip())


def rlm_result_text(print_output, output, tool_calls, units=utf16):
    """Task 4: what was printed, joined, what came back, and the two together. [page] the sentences around them."""
    printed = string_truncate_head_tail("\n".join(print_output), MAX_RLM_PART_CHARS, "print output", units)
    returned = string_truncate_head_tail(output, MAX_RLM_PART_CHARS, "output", units)
    text = (
        f"Python execution completed.\n\nTool calls: {tool_calls}\n\n"
        f"Print output:\n{printed if print_output else '(none)'}\n\nOutput:\n{returned or '(empty)'}"
    )
    return rlm_tool_result(text, units)


def rlm_tool_result(text, units=utf16):
    """Task 5: the text before it is a message. [facts] the name of what is cut."""
    return string_truncate_head_tail(text, MAX_RLM_CHARS, "python result", units)
