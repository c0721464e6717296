"""Seed document 004, "Tool Output Truncation Improvements": the estimator, both halves of a token budget, what a person sees."""

import math

MAX_TOOL_RESPONSE_TOKENS = 25_000
TOKENS_PER_CHARACTER = 3.5
SPOOL_ABOVE_BYTES = 200_000
MAX_LINE_LENGTH = 150
INLINE_STREAM_MAX_LINES = 30
MAX_CODE_LINES = 500
MAX_DIFF_LINES = 500

# [facts] the text names these, or speaks of "brackets/operators", and gives no values: the source the text describes, and for
# a line and for code the last version of it. The halves of the text need none of them.
LONG_WORD_THRESHOLD = 8
CHARS_PER_EXTRA_TOKEN = 6
LONG_WORD_SCALE_FACTOR = 10
TOKENS_PER_LINE = 10
CODE_DETECTION_THRESHOLD = 20
CODE_INDICATOR_CHARS = "{}[]<>()=;:,"
CODE_TOKEN_MULTIPLIER = 1.15


def lines_of(text):
    """Return the lines without their ends, as Rust has them: a final newline opens none, CRLF ends one as LF does."""
    *ended, last = text.split("\n")
    return [line.removesuffix("\r") for line in ended] + ([last] if last else [])


def estimate(text):
    """Return the improved estimate: the median of three, and more for code."""
    char_count, word_count = len(text), len(text.split())
    char_tokens = math.ceil(char_count / TOKENS_PER_CHARACTER)
    if word_count == 0:
        word_tokens = char_tokens
    else:
        avg_word_len = char_count // word_count
        extra_tokens = max(avg_word_len - LONG_WORD_THRESHOLD, 0) // CHARS_PER_EXTRA_TOKEN
        word_tokens = word_count + word_count * extra_tokens // LONG_WORD_SCALE_FACTOR
    lines = lines_of(text)
    empty_lines = sum(not line.strip() for line in lines)
    line_tokens = (len(lines) - empty_lines) * TOKENS_PER_LINE + empty_lines
    median = sorted([char_tokens, word_tokens, line_tokens])[1]
    brackets = sum(char in CODE_INDICATOR_CHARS for char in text)
    is_likely_code = brackets > char_count // CODE_DETECTION_THRESHOLD
    return math.ceil(median * CODE_TOKEN_MULTIPLIER) if is_likely_code else median


def line_tokens(line):
    """`line.len()` as the text's code has it, which in Rust is bytes, whatever its words call them."""
    return math.ceil(len(line.encode()) / TOKENS_PER_CHARACTER)


def count_by_lines(text):
    """Return the tokens of a text by the same "simple calculation" that its lines are chosen with."""
    return sum(map(line_tokens, lines_of(text)))


def halves(lines, max_tokens):
    """Return how many lines stay at the beginning and at the end: "first ~50% + last ~50% of tokens", at least one each."""
    limit = max_tokens // 2

    def fill(candidates):
        count = used = 0
        for line in candidates:
            tokens = line_tokens(line)
            if used + tokens > limit and count > 0:
                break
            count += 1
            used += tokens
        return count

    head = fill(lines)
    return head, fill(lines[head:][::-1])


def marker(truncated_lines):
    return f"[... {truncated_lines} lines truncated ...]\n"


def truncate(text, max_tokens, count=estimate):
    """Return what the model gets: the text, or its two ends around a count of the lines between."""
    if count(text) <= max_tokens:
        return text
    lines = lines_of(text)
    head, tail = halves(lines, max_tokens)
    head_content = "\n".join(lines[:head])
    tail_content = "\n".join(lines[len(lines) - tail :])
    return f"{head_content.rstrip()}\n{marker(len(lines) - head - tail)}{tail_content}"


def shown_to_a_person(path, size, lines, head_tokens, between, tail_tokens):
    """Return the lines of "UI Experience Improvements, After", of which `between` is the one that counts lines."""
    above = (
        f"[OUTPUT] Output too large ({size}, {lines} lines), spooled to: {path}\n"
        "[... content truncated by token budget ...]\n"
        f"First ~{head_tokens} tokens shown\n"
    )
    return above, f"{between}Last ~{tail_tokens} tokens shown\n"


def display_line(line):
    """MAX_LINE_LENGTH. [page] the dots stand behind it."""
    return line[:MAX_LINE_LENGTH] + "..." if len(line) > MAX_LINE_LENGTH else line


def dynamic_limit(context_usage):
    """Return the limit of "Dynamic Token Limits", for a share of the window that is used."""
    if context_usage > 0.8:
        return 15_000
    if context_usage < 0.5:
        return 35_000
    return MAX_TOOL_RESPONSE_TOKENS
