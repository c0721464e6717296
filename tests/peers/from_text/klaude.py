"""Seed document 002, "Smart Truncation": the strategy, its message, the file's name, and what is done when it cannot be written."""

from dataclasses import dataclass

TOOL_OUTPUT_MAX_LENGTH = 40_000
TOOL_OUTPUT_DISPLAY_HEAD = 10_000
TOOL_OUTPUT_DISPLAY_TAIL = 10_000


@dataclass
class TruncationResult:
    output: str
    was_truncated: bool
    saved_file_path: str | None = None
    original_length: int = 0
    truncated_length: int = 0


def file_name(tool_name, call_id, timestamp):
    return f"{tool_name}-{call_id}-{timestamp}.txt"


def truncate(
    output,
    path,
    *,
    max_length=TOOL_OUTPUT_MAX_LENGTH,
    head=TOOL_OUTPUT_DISPLAY_HEAD,
    tail=TOOL_OUTPUT_DISPLAY_TAIL,
):
    """Return the result for a file that was saved at `path`, or that could not be saved (None)."""
    if len(output) <= max_length:
        return TruncationResult(output, was_truncated=False, original_length=len(output))
    hidden = len(output) - head - tail
    if path is None:  # "Fall back to simple truncation (head only)"; as much as is shown otherwise, words are not given
        return TruncationResult(
            output[: head + tail], was_truncated=True, original_length=len(output), truncated_length=hidden
        )
    shown = (
        f"[Output truncated: {hidden} chars hidden, full output saved to {path}. Use Read tool or rg to get details. "
        f"Showing first {head} and last {tail} chars below.]\n"
        "\n"
        f"{output[:head]}\n"
        "\n"
        f"... ({hidden} characters truncated) ...\n"
        "\n"
        f"[Last {tail} chars below]\n"
        f"{output[-tail:]}"
    )
    # [facts] `truncated_length` is what is hidden; the text does not say whether it is that or what is left.
    return TruncationResult(
        shown, was_truncated=True, saved_file_path=path, original_length=len(output), truncated_length=hidden
    )
