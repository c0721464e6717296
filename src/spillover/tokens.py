"""How many tokens a text has: an estimate at memory speed, and exact counters behind an extra."""

from __future__ import annotations

from spillover.errors import MissingExtraError, UsageError

TYPE_CHECKING = False  # `typing` costs milliseconds at every start; checkers read this name all the same
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Counter = Callable[[str], int]

#: The vocabularies `exact` knows. All are byte-level, so no text has more tokens than bytes. The SentencePiece ones
#: that splintr has as well put a space before every text and break that rule.
ENCODINGS = ("o200k_base", "cl100k_base", "llama3", "qwen3", "deepseek_v3", "glm4", "kimi_k2", "mistral_v3")

#: The estimate looks at pairs of bytes. By its class, a byte lets what follows cost tokens, in eight bits, and costs
#: tokens itself; a pair costs PER_BIT for every bit that is set in both. Fitted out of fold, by repository, to o200k
#: counts of CI logs, test runs, agents' command outputs, source, JSON, prose, hex and base64, and leaning towards too
#: many: docs/decisions/008-the-estimate.md.
BYTES = (
    (b"aeiou", 0b01100010, 0b00010001),
    (b"trnsl", 0b11100010, 0b10011101),
    (b"dhcmpg", 0b11100010, 0b01011101),
    (b"bfywvk", 0b11100010, 0b11011111),
    (b"jqxz", 0b01001010, 0b10111101),
    (b"AEIOU", 0b11110111, 0b00001000),
    (b"BCDFGHJKLMNPQRSTVWXYZ", 0b11111111, 0b00000010),
    (bytes(range(0x30, 0x3A)), 0b00011100, 0b11111011),
    (b" ", 0b11101010, 0b00010100),
    (b"\t", 0b01010100, 0b10101011),
    (b"\n\r", 0b10011101, 0b01100010),
    (b"\x1b", 0b11110010, 0b11101010),
    (b"_", 0b01000000, 0b10111100),
    (b"-=*#~+", 0b10100101, 0b01011010),
    (b".", 0b11100001, 0b00011100),
    (b"/\\", 0b00010011, 0b01011101),
    (b":", 0b00000010, 0b01010111),
    (b",;", 0b10011011, 0b00001010),
    (b"\"'`", 0b00101010, 0b10001010),
    (b"([{<", 0b00110101, 0b11111111),
    (b">}])", 0b00000000, 0b00000100),
    (b"|&!?$%^@", 0b11111111, 0b00011110),
    (bytes(range(0x80, 0xC0)), 0b01000010, 0b10111100),
    (bytes(range(0xC0, 0xD0)), 0b01001000, 0b10111101),
    (bytes(range(0xD0, 0xE0)), 0b01010001, 0b00010101),
    (b"\xe0\xe1", 0b00010000, 0b00000101),
    (b"\xe2", 0b10011011, 0b10110101),
    (b"\xe3\xe4\xe5\xe6\xe7\xe8\xe9", 0b10000011, 0b11111101),
    (b"\xea\xeb\xec\xed\xee\xef", 0b10001000, 0b10100101),
    (bytes(range(0xF0, 0x100)), 0b11111111, 0b11111111),
)
#: The same two numbers for every byte that is in none of the rows: the control characters.
OTHER = (0b01011111, 0b01101011)
PER_BIT, PER_BYTE = 0.26304, 0.04023


def _table(codes: Iterable[tuple[bytes, int]], other: int) -> bytes:
    table = bytearray([other]) * 256
    for some, code in codes:
        for byte in some:
            table[byte] = code
    return bytes(table)


_LETS = _table(((some, lets) for some, lets, _ in BYTES), OTHER[0])
_COSTS = _table(((some, costs) for some, _, costs in BYTES), OTHER[1])
_exact: dict[str, Counter] = {}


def estimate(text: str) -> int:
    """About how many o200k tokens a text has. Never more than its bytes; a longer text never has fewer."""
    data = text.encode("utf-8", "replace")
    # As one number each, a shift by a byte lays every byte's bits over those of its follower: no loop in Python.
    lets = int.from_bytes(data.translate(_LETS), "little") << 8
    costs = int.from_bytes(data.translate(_COSTS), "little")
    return min(len(data), 1 + int(PER_BIT * (lets & costs).bit_count() + PER_BYTE * len(data)))


def exact(name: str = "o200k_base") -> Counter:
    """A counter that is never off. The first of a name takes some 50 ms to load; it is kept.

    Text that spells a special token, such as <|endoftext|>, is counted as the ordinary text it is. A lone surrogate,
    which has no UTF-8, counts as a question mark.
    """
    if name not in ENCODINGS:
        raise UsageError(f"There is no encoding {name!r}; use one of {', '.join(ENCODINGS)}.")
    if name not in _exact:
        _exact[name] = _loaded(name)
    return _exact[name]


def _loaded(name: str) -> Counter:
    try:
        from splintr import Tokenizer
    except ImportError as error:
        raise MissingExtraError("exact token counts need the extra: pip install 'spillover[tokens]'") from error
    # `encode` would take special tokens as such, and splintr adds some of its own to every vocabulary (<|think|>).
    encode = Tokenizer.from_pretrained(name).encode_ordinary

    def count(text: str) -> int:
        return len(encode(text.encode("utf-8", "replace").decode()))

    return count


def resolve(choice: str | Counter) -> Counter:
    """The counter that was meant: "estimate", an encoding by its name, or a callable of your own."""
    if choice == "estimate":
        return estimate
    if callable(choice):
        return choice
    if choice not in ENCODINGS:
        known = ", ".join(("estimate", *ENCODINGS))
        raise UsageError(f"tokens={choice!r} counts nothing; use {known}, or a function from str to int.")
    return exact(choice)


def at_most_bytes(counter: Counter) -> bool:
    """Whether no text has more tokens than UTF-8 bytes by this counter: so it is for all of ours."""
    return counter is estimate or any(counter is ours for ours in _exact.values())


def scaled(tokens: int, of_bytes: int, to_bytes: int) -> int:
    """Tokens of a whole from those of a part, to three digits: more would pretend to have counted."""
    if not of_bytes:
        return 0
    whole = tokens * to_bytes // of_bytes
    step = int(10 ** max(0, len(str(whole)) - 3))
    return (whole + step // 2) // step * step
