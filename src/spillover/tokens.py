"""How many tokens a text has: an estimate at memory speed, and exact counters behind an extra."""

from __future__ import annotations

import stringzilla

from spillover.errors import MissingExtraError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from spillover.models import Vocabulary

    Counter = Callable[[str], int]

#: The vocabularies `exact` knows. By all of them no text has more tokens than bytes. The SentencePiece ones of 32,000 entries
#: that splintr has as well put a space before every text and break that rule.
ENCODINGS = ("o200k_base", "cl100k_base", "llama3", "qwen3", "deepseek_v3", "glm4", "kimi_k2", "mistral_v3", "gemma4")
#: `tokenizer="model:claude-sonnet-4"` is the counter for a model.
MODEL = "model:"

# The estimate. Two neighbours cost the bits that the first leaves open and the second asks for, PER_BIT of a token each,
# and every byte PER_BYTE: a letter after a letter asks for little, after a digit for more; a dash after a dash for nothing.
#
# Where the numbers are from: fitted to exact o200k counts of 11,119 texts: logs and pieces of logs of 500 bytes to 50 KB
# (Travis and GitHub CI, SWE-bench test runs, agents' command outputs, Firefox CI; with ANSI codes and without) and JSON,
# base64, hex, code in nine languages, prose in twenty, tables, hex dumps and runs. Bits by simulated annealing on the
# squared relative error, a text under-counted by more than 5 % weighing twelvefold, the best of eight starts; then PER_BIT
# was raised by 5 %: an output above its budget is the worse mistake, and what a selector chooses is denser than most.
# With the same fit from one start, and PER_BIT as it came out, logs of projects
# left out of it were off by 6.5 % in the mean and 0.6 % of them under-counted by more than 10 %; with whole corpora left
# out, 8.2 % and 1.0 %. Known weak: Russian and runs of empty lines or one letter come out too high. See bench/tokens.py.
PER_BIT = 0.301
PER_BYTE = 1 / 64  # a run of dashes: 64 of them are one token
PAIRS = (  # what a byte leaves open, what it asks for, which bytes
    (0b11101010, 0b01011101, bytes(range(256))),  # control characters: all that no row below names
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
# What pairs cannot see: eight of one letter are a token, and only these bytes come in longer ones.
LONGEST = 8
#: So many bytes at a time stay in the cache of a processor while they are counted.
CACHED = 1 << 14
RUNS = b" -=*#._~+"


def make_tables() -> tuple[bytes, bytes]:
    left_open, asked = bytearray(256), bytearray(256)
    for leaves, asks, those in PAIRS:
        for byte in those:
            left_open[byte], asked[byte] = leaves, asks
    return bytes(left_open), bytes(asked)


LEFT_OPEN, ASKED = make_tables()
_exact: dict[str, Counter] = {}
_times: dict[tuple[Counter, float], Counter] = {}


def estimate(text: str) -> int:
    """Estimate how many o200k tokens a text has. Never more than its bytes, and never less for a longer text."""
    data = text.encode("utf-8", "replace")
    size, bits = len(data), 0
    for at in range(0, size, CACHED):
        left_open = stringzilla.translate(data[at : at + CACHED], LEFT_OPEN)
        asked = stringzilla.translate(data[at + 1 : at + CACHED + 1], ASKED)
        bits += (int.from_bytes(left_open, "little") & int.from_bytes(asked, "little")).bit_count()
    tokens = 1 + int(PER_BIT * bits + PER_BYTE * size)
    if tokens * LONGEST < size:
        tokens = max(tokens, len(data.translate(None, RUNS)) // LONGEST)
    return min(tokens, size)


def exact(name: str = "o200k_base") -> Counter:
    """Return an exact counter. The first use of a vocabulary takes about 50 ms to load it; after that it is cached.

    Text that spells a special token, such as <|endoftext|>, is counted as the ordinary text it is. A lone surrogate,
    which has no UTF-8, counts as a question mark.
    """
    if name not in ENCODINGS:
        raise UsageError(f"Unknown encoding {name!r}; use one of {', '.join(ENCODINGS)}.")
    if name not in _exact:
        _exact[name] = _load(name)
    return _exact[name]


def _load(name: str) -> Counter:
    try:
        from splintr import Tokenizer
    except ImportError as error:
        raise MissingExtraError("exact token counts need the extra: pip install 'spillover[tokens]'") from error
    # `encode` would take special tokens as such, and splintr adds some of its own to every vocabulary (<|think|>).
    encode = Tokenizer.from_pretrained(name).encode_ordinary

    def count(text: str) -> int:
        return len(encode(text.encode("utf-8", "replace").decode()))

    return count


def counter_for(model: str, table: Mapping[str, Vocabulary] | None = None) -> Counter:
    """Return the counter for a model by its name: exact where its tokenizer is public, the estimate for an unknown model."""
    from spillover.models import vocabulary_for

    found = vocabulary_for(model, table)
    if found is None:
        return estimate
    try:
        return times(exact(found.encoding), found.factor)
    except MissingExtraError:
        return times(estimate, found.rough)


def times(count: Counter, factor: float) -> Counter:
    """Return one of our counters times a factor, rounded up; never more than the bytes."""
    if factor == 1:
        return count
    if (count, factor) not in _times:

        def counted(text: str) -> int:
            return min(-int(-count(text) * factor // 1), len(text.encode("utf-8", "replace")))

        _times[count, factor] = counted
    return _times[count, factor]


def resolve(choice: str | Counter) -> Counter:
    """Return the counter for a choice: "estimate", the name of an encoding, "model:NAME", or a callable of your own."""
    if choice == "estimate":
        return estimate
    if callable(choice):
        return choice
    if isinstance(choice, str) and choice.startswith(MODEL):
        return counter_for(choice.removeprefix(MODEL))
    if choice not in ENCODINGS:
        known = ", ".join(("estimate", *ENCODINGS, f"{MODEL}NAME"))
        raise UsageError(f"tokenizer={choice!r} is unknown; use {known}, or a function from str to int.")
    return exact(choice)


def at_most_bytes(counter: Counter) -> bool:
    """Return whether no text has more tokens than UTF-8 bytes by this counter, as is true for all of ours."""
    return counter is estimate or any(counter is ours for ours in (*_exact.values(), *_times.values()))


def scale(tokens: int, of_bytes: int, to_bytes: int) -> int:
    """Return the tokens of a whole from those of a part, to three digits: more would suggest that they were counted."""
    if not of_bytes:
        return 0
    whole = tokens * to_bytes // of_bytes
    step: int = 10 ** max(0, len(str(whole)) - 3)
    return (whole + step // 2) // step * step
