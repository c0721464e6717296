"""Token counts: an estimate, exact counters behind an extra, and a counter for each model.

Where the maker of a model publishes no tokenizer, the count is that of a public vocabulary times a factor. The factors
are chosen so that 19 of 20 texts are not under-counted (of 137: CI logs, test runs, agents' command outputs, code,
docs), because going over a budget is the worse mistake; on average such a count is 20 % too high. The reference was,
for Gemini, the vocabulary that Google's own SDK uses; for Claude, an offline reconstruction of what its counting
endpoint returns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache

import stringzilla
from msgspec import Struct

from spillover.errors import MissingExtraError, UsageError, quote

#: The vocabularies for exact counts. By all of them no text has more tokens than bytes. splintr's SentencePiece ones of
#: 32,000 entries put a space before every text and break that rule, so they are left out.
ENCODINGS = ("o200k_base", "cl100k_base", "llama3", "qwen3", "deepseek_v3", "glm4", "kimi_k2", "mistral_v3", "gemma4")
#: `tokenizer="model:claude-sonnet-4"` is the counter for a model.
MODEL = "model:"


class Counter(Struct, frozen=True):
    """Counts the tokens of a text. It never raises: a text that the function cannot count has a token for each byte."""

    function: Callable[[str], int]
    within_bytes: bool = False  # whether no text has more tokens than UTF-8 bytes; true of all built-in counters

    def __call__(self, text: str) -> int:
        try:
            return max(0, int(self.function(text)))
        except Exception:  # noqa: BLE001  a user's counter may raise anything; the tool call goes on
            return len(text.encode("utf-8", "surrogatepass"))


def find_counter(choice: str | Callable[[str], int]) -> Counter:
    """Return the counter for a choice: "estimate", the name of an encoding, "model:NAME", or a function of your own."""
    if isinstance(choice, Counter):
        return choice
    if choice == "estimate":
        return ESTIMATE
    if callable(choice):
        return ESTIMATE if choice is estimate else Counter(choice)
    if isinstance(choice, str) and choice.startswith(MODEL):
        return find_model_counter(choice.removeprefix(MODEL))
    if choice not in ENCODINGS:
        names = ", ".join(("estimate", *ENCODINGS, f"{MODEL}NAME"))
        raise UsageError(f"tokenizer={quote(choice)} is unknown; use {names}, or a function from str to int.")
    return exact_counter(choice)


# The estimate: PER_BYTE of a token for every byte, and PER_BIT for every bit that is set both in the first mask of a
# byte and in the second mask of the byte after it. A letter after a letter shares few bits, after a digit more, and a
# dash after a dash none.
#
# Where the numbers are from: fitted to exact o200k counts of 11,119 texts: logs and pieces of logs of 500 bytes to 50
# KB (Travis and GitHub CI, SWE-bench test runs, agents' command outputs, Firefox CI; with ANSI codes and without) and
# JSON, base64, hex, code in nine languages, prose in twenty, tables, hex dumps and runs. Bits by simulated annealing
# on the squared relative error, a text under-counted by more than 5 % weighing twelvefold, the best of eight starts;
# then PER_BIT was raised by 5 %: an output above its budget is the worse mistake, and what a selector chooses is
# denser than most. With the same fit from one start, and PER_BIT not raised, logs of projects left out of it were
# off by 6.5 % in the mean and 0.6 % of them under-counted by more than 10 %; with whole corpora left out, 8.2 % and
# 1.0 %. Known weak: Russian and runs of empty lines or one letter come out too high. See bench/tokens.py.
PER_BIT = 0.301
PER_BYTE = 1 / 64  # a run of dashes: 64 of them are one token
PAIRS = (  # the mask of a byte before its neighbour, the mask after it, the bytes
    (0b11101010, 0b01011101, bytes(range(256))),  # control characters: every byte that no row below names
    (0b01100001, 0b00000101, b"aeiou"),
    (0b00101000, 0b10000110, b"trnsl"),
    (0b01101010, 0b10011101, b"dhcmpg"),
    (0b01101010, 0b10101110, b"bfywvk"),
    (0b11111010, 0b10001111, b"jqxz"),
    (0b00110111, 0b01100000, b"AEIOU"),
    (0b10101111, 0b11001000, b"BCDFGHJKLMNPQRSTVWXYZ"),
    (0b11001101, 0b10110011, b"0123456789"),
    (0b00110011, 0b11000100, b" "),
    (0b11010110, 0b00010010, b"\t"),
    (0b10011100, 0b01101111, b"\n\r"),
    (0b10111010, 0b00110011, b"\x1b"),
    (0b11100101, 0b00011000, b"_"),
    (0b11000111, 0b00111000, b"-=*#~+"),
    (0b10100010, 0b00011101, b"."),
    (0b00000100, 0b11101111, b"/\\"),
    (0b00000100, 0b01111010, b":"),
    (0b10010000, 0b00111001, b",;"),
    (0b00011101, 0b10101000, b"\"'`"),
    (0b10010100, 0b11111010, b"([{<"),
    (0b00000111, 0b11100010, b">}])"),
    (0b10110111, 0b11001111, b"|&!?$%^@"),
    (0b00100100, 0b11011011, bytes(range(0x80, 0xC0))),  # inside a character of UTF-8; its first byte says the script:
    (0b01100100, 0b11001001, bytes(range(0xC0, 0xD0))),  # Latin with accents, Greek
    (0b00000000, 0b11011100, bytes(range(0xD0, 0xE0))),  # Cyrillic, Hebrew, Arabic
    (0b00000000, 0b11010101, bytes(range(0xE0, 0xE2))),  # India, Thailand
    (0b00110010, 0b11011101, b"\xe2"),  # quotes, arrows, boxes
    (0b00100010, 0b11011111, bytes(range(0xE3, 0xEA))),  # Chinese, Japanese
    (0b01000000, 0b11001111, bytes(range(0xEA, 0xF0))),  # Korean
    (0b11111111, 0b10111111, bytes(range(0xF0, 256))),  # emoji
)
#: Equal bytes that a token has at most, except in runs of RUN_BYTES; with more, runs of a letter count fewer tokens.
MAX_EQUAL_BYTES = 8
RUN_BYTES = b" -=*#._~+"
#: Bytes estimated at once; more no longer stay in the processor's cache.
BLOCK_BYTES = 1 << 14


def _make_tables() -> tuple[bytes, bytes]:
    """Return the masks of all bytes before and after a neighbour, as translation tables."""
    before = bytearray(256)
    after = bytearray(256)
    for first_mask, second_mask, members in PAIRS:
        for byte in members:
            before[byte] = first_mask
            after[byte] = second_mask
    return bytes(before), bytes(after)


MASKS_BEFORE, MASKS_AFTER = _make_tables()


def estimate(text: str) -> int:
    """Estimate how many o200k tokens a text has. Never more than its bytes, and never less for a longer text."""
    data = text.encode("utf-8", "replace")
    size = len(data)
    bits = 0
    for at in range(0, size, BLOCK_BYTES):
        before = stringzilla.translate(data[at : at + BLOCK_BYTES], MASKS_BEFORE)
        after = stringzilla.translate(data[at + 1 : at + BLOCK_BYTES + 1], MASKS_AFTER)
        bits += (int.from_bytes(before, "little") & int.from_bytes(after, "little")).bit_count()
    tokens = 1 + int(PER_BIT * bits + PER_BYTE * size)
    if tokens * MAX_EQUAL_BYTES < size:
        tokens = max(tokens, len(data.translate(None, RUN_BYTES)) // MAX_EQUAL_BYTES)
    return min(tokens, size)


ESTIMATE = Counter(estimate, within_bytes=True)


def exact_counter(encoding: str = "o200k_base") -> Counter:
    """Return the exact counter of an encoding; its first use takes about 50 ms to load the vocabulary.

    Text that spells a special token, such as <|endoftext|>, is counted as the ordinary text it is. A lone surrogate,
    which has no UTF-8, counts as a question mark.
    """
    if encoding not in ENCODINGS:
        raise UsageError(f"Unknown encoding {quote(encoding)}; use one of {', '.join(ENCODINGS)}.")
    return _load(encoding)


@cache
def _load(encoding: str) -> Counter:
    try:
        from splintr import Tokenizer
    except ImportError as error:
        raise MissingExtraError("exact token counts need the extra: pip install 'spillover[tokens]'") from error
    # `encode` would take special tokens as such, and splintr adds some of its own to every vocabulary (<|think|>).
    encode = Tokenizer.from_pretrained(encoding).encode_ordinary

    def count(text: str) -> int:
        return len(encode(text.encode("utf-8", "replace").decode()))

    return Counter(count, within_bytes=True)


class Vocabulary(Struct, frozen=True):
    """How to count for a model: `encoding` times `factor`; without the extra `tokens`, our estimate times `rough`."""

    encoding: str
    factor: float = 1.0
    rough: float = 1.0
    why: str = ""  # the reason for a factor; empty if the count is exact

    def __post_init__(self) -> None:
        if not (self.factor > 0 and self.rough > 0):
            raise UsageError(
                f"Vocabulary({self.encoding!r}) needs factors above 0; use 1.0 to leave the count unchanged."
            )


CLAUDE = Vocabulary("cl100k_base", 1.9, 1.9, "no public tokenizer; about 30 % above the one before")
OLD_CLAUDE = Vocabulary("cl100k_base", 1.45, 1.45, "no public tokenizer")
QWEN = Vocabulary("qwen3", rough=1.25)
LLAMA = Vocabulary("llama3", rough=1.1)
OLD_32K = Vocabulary("gemma4", 1.2, 1.4, "SentencePiece with 32,000 entries, which puts a space before every text")

#: Keyed by a pattern for the model's name in lower case, without its provider. The first match wins.
MODELS: Mapping[str, Vocabulary] = {
    # A distilled model has the vocabulary of its base model.
    r"deepseek-r1-distill-qwen": QWEN,
    r"deepseek-r1-distill-llama": LLAMA,
    # Claude up to Opus 4.6, Sonnet 4.6 and Haiku 4.5 share one tokenizer; according to Anthropic, later models use
    # another one that gives about 30 % more tokens. cl100k is closest for non-Latin scripts, where newer vocabularies
    # have whole words.
    r"claude-?(v?[123](?!\d)|instant)": OLD_CLAUDE,
    r"claude-((opus|sonnet|haiku)-)?4(?![.-]([789]|1\d)(?!\d))": OLD_CLAUDE,
    r"claude|opus|sonnet|haiku|fable|mythos": CLAUDE,
    # OpenAI
    r"(chat)?gpt-?(4o|4\.\d|[5-9]|oss)|o[1-9](?![a-z0-9])|codex": Vocabulary("o200k_base", rough=1.05),
    r"gpt-?(4|3\.?5)|text-embedding": Vocabulary("cl100k_base", rough=1.1),
    # Google's SDK counts for Gemini 2 and later with Gemma 3's vocabulary; Gemma 4 has the same entries.
    r"gemini-(1|pro)|gemma-?[12](?!\d)|gemma-7b": Vocabulary("gemma4", 1.15, 1.35, "Gemma 2's is smaller"),
    r"gemini|gemma": Vocabulary("gemma4", rough=1.35),
    # Open weights, which come with their tokenizer
    r"qwen-?(3\.[5-9]|[4-9])": Vocabulary("qwen3", 1.05, 1.25, "has a larger vocabulary: too high, if anything"),
    r"(code)?qwen|qwq|qvq": QWEN,
    r"code-?llama|tinyllama|vicuna|llama-?v?2|phi-?3": OLD_32K,
    r"(meta-)?llama-?v?4": Vocabulary("llama3", 1.1, 1.2, "has a larger vocabulary: too high, if anything"),
    r"(meta-)?llama": LLAMA,
    r"deepseek": Vocabulary("deepseek_v3", rough=1.1),
    r"(chat)?glm": Vocabulary("glm4", rough=1.1),
    r"kimi|moonshot": Vocabulary("kimi_k2", rough=1.05),
    r"mixtral|mistral-(7b|tiny|large-24|(small|medium)-2[34])|codestral-(22b|2405)|mathstral": OLD_32K,
    r"(open-)?(mi|mini|magi|code|dev|pix|vox)stral": Vocabulary("mistral_v3", rough=1.3),
    r"phi-?4|olmo-?2": Vocabulary("cl100k_base", rough=1.1),
}


def find_model_counter(model: str, table: Mapping[str, Vocabulary] | None = None) -> Counter:
    """Return the counter for a model: exact where its tokenizer is public, the estimate for an unknown model."""
    vocabulary = find_vocabulary(model, table)
    if vocabulary is None:
        return ESTIMATE
    try:
        return multiply(exact_counter(vocabulary.encoding), vocabulary.factor)
    except MissingExtraError:
        return multiply(ESTIMATE, vocabulary.rough)


@cache
def multiply(counter: Counter, factor: float) -> Counter:
    """Return one of our counters times a factor, rounded up; never more than the bytes."""
    if factor == 1:
        return counter

    def count(text: str) -> int:
        return min(-int(-counter(text) * factor // 1), len(text.encode("utf-8", "replace")))

    return Counter(count, within_bytes=True)


def find_vocabulary(model: str, table: Mapping[str, Vocabulary] | None = None) -> Vocabulary | None:
    """Return the row for a model, from `table` first, then from MODELS; None if the model is unknown.

    Providers ("anthropic/", "us.anthropic.", "accounts/fireworks/models/"), dates, sizes and case make no difference.
    """
    if not isinstance(model, str):
        raise UsageError(f"{quote(model)} is not a model name; use a string such as 'claude-sonnet-4'.")
    name = model.strip().lower().rstrip("/").rpartition("/")[2]
    for pattern, vocabulary in (*(table or {}).items(), *MODELS.items()):
        try:
            if re.search(rf"(?<![a-z0-9])(?:{pattern})", name):
                return vocabulary
        except re.error as error:
            raise UsageError(f"{quote(pattern)} in the table of models is not a valid pattern: {error}.") from error
    return None


def scale(tokens: int, part_bytes: int, whole_bytes: int) -> int:
    """Estimate the tokens of a whole from a part, to three digits: more would suggest an exact count."""
    if not part_bytes:
        return 0
    whole = tokens * whole_bytes // part_bytes
    step: int = 10 ** max(0, len(str(whole)) - 3)
    return (whole + step // 2) // step * step
