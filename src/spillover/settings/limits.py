"""Sizes, limits, and the amounts that people write: "2 GiB", "7d"."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from spillover.errors import OptionsStruct, UsageError, quote
from spillover.tokens import Counter

DEFAULT_LINES = 2_000
DEFAULT_BYTES = 51_200
DEFAULT_TOKENS = 10_000
#: A clip ends where the next lines are less likely than this to be needed, see kinds/log/choose.py; higher, and clips
#: are shorter. With this, clips of the logs in docs/previews.md cost half as much.
DEFAULT_WORTH = 0.085

#: Amounts with a unit, as people write them: "2 GiB", "7d".
SIZES = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12} | {
    "kib": 1 << 10,
    "mib": 1 << 20,
    "gib": 1 << 30,
    "tib": 1 << 40,
}
TIMES = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
LARGEST = (1 << 63) - 1  # the largest integer of TOML

#: Bits of an integer that Python writes in decimal under every limit of `sys.set_int_max_str_digits`; no more is safe.
ALWAYS_BITS = 2_000

#: Below these a notice, a gap marker and some of the output no longer fit together.
SMALLEST = {"lines": 4, "bytes": 200, "chars": 200, "tokens": 100}

#: Bytes of a character in UTF-8, at most.
BYTES_PER_CHAR = 4
#: An output with more bytes per token of its limit overflows uncounted; with more, long outputs are counted in vain.
BYTES_PER_TOKEN = 16
#: Above this fill the tokens of a text are not counted; with a higher one, more texts are.
FAR_ABOVE = 1.5
#: Bytes held in memory when only lines are limited; more take more memory.
BYTES_WITHOUT_LIMIT = 1 << 20


class Size(Struct, frozen=True):
    """The size of a text, in every unit."""

    lines: int = 0
    bytes: int = 0
    chars: int = 0
    tokens: int = 0


class Limits(OptionsStruct, frozen=True, kw_only=True):
    """How much may reach the model. Set any of the four; all that are set apply. `Limits()` has the defaults."""

    lines: int | None = None
    bytes: int | None = None
    chars: int | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        for name, value in self.given():
            if isinstance(value, bool) or not isinstance(value, int):
                raise UsageError(f"Limits({name}={quote(value)}) is not a whole number.")
            if value < 1:
                raise UsageError(
                    f"Limits({name}={quote(value)}) leaves no room for anything; use {SMALLEST[name]} or more."
                )
        if not any(True for _ in self.given()):
            force_setattr(self, "lines", DEFAULT_LINES)
            force_setattr(self, "bytes", DEFAULT_BYTES)
            force_setattr(self, "tokens", DEFAULT_TOKENS)

    @property
    def window(self) -> int:
        """The most bytes an output can have and still fit; intake holds as many in memory before it stores them."""
        bounds = [self.bytes, self.chars and self.chars * BYTES_PER_CHAR, self.tokens and self.tokens * BYTES_PER_TOKEN]
        return min((bound for bound in bounds if bound), default=BYTES_WITHOUT_LIMIT)

    def given(self) -> Iterator[tuple[str, int]]:
        """Yield the limits that are set."""
        for name in SMALLEST:
            value = getattr(self, name)
            if value is not None:
                yield name, value

    def check_room(self) -> None:
        """Raise a UsageError if a notice would not fit."""
        for name, value in self.given():
            if value < SMALLEST[name]:
                raise UsageError(f"Limits({name}={value}) leaves no room for the notice; use {SMALLEST[name]} or more.")

    def with_room(self) -> Limits:
        """Return the limits, raised to the size of a notice where they are below it."""
        return replace(self, **{name: max(value, SMALLEST[name]) for name, value in self.given()})

    def __str__(self) -> str:
        return ", ".join(f"{value:,} {name}" for name, value in self.given())

    def hold(self, text: str, count: Callable[[str], int]) -> bool:
        """Return whether a text is within all limits."""
        return len(text) <= self.window and self.fill(text, count) <= 1

    def fill(self, text: str, count: Callable[[str], int]) -> float:
        """Return the share of the limits that a text fills; above 1 it does not fit.

        Tokens of a text with no more bytes than the limit are not counted if the Counter never counts more tokens than
        bytes.
        """
        full = 0.0
        if self.chars is not None:
            full = len(text) / self.chars
        if self.lines is not None:
            full = max(full, count_lines(text) / self.lines)
        within_bytes = self.tokens is not None and isinstance(count, Counter) and count.within_bytes
        size = count_bytes(text) if within_bytes or self.bytes is not None else 0
        if self.bytes is not None:
            full = max(full, size / self.bytes)
        if self.tokens is None or full > FAR_ABOVE:
            return full
        tokens = size if within_bytes and size <= self.tokens else count(text)
        return max(full, tokens / self.tokens)

    def lower(self, limits: Limits) -> Limits:
        """Return the lower of each limit in two sets; a limit in one of them stays."""
        lowest = dict(self.given())
        for name, value in limits.given():
            lowest[name] = min(value, lowest.get(name, value))
        return Limits(**lowest)

    def without(self, text: str, count: Callable[[str], int]) -> Limits | None:
        """Return the limits minus the size of a text of whole lines; None if too little is left for an answer."""
        size = {"lines": count_lines(text), "bytes": count_bytes(text), "chars": len(text)}
        if self.tokens is not None:
            size["tokens"] = count(text) + 1  # two texts that meet may count one more than each alone
        left = {name: value - size[name] for name, value in self.given()}
        return replace(self, **left) if all(value >= SMALLEST[name] for name, value in left.items()) else None

    def share(self, part: float) -> Limits:
        """Return a part of the limits, at least the size of a notice."""
        scaled = {name: max(SMALLEST[name], int(value * part)) for name, value in self.given()}
        return replace(self, **scaled)


class Agent(Struct, frozen=True, kw_only=True):
    """The coding agent that runs us: its title, the name of its shell tool, and its own limits on command output."""

    title: str
    seen_in: str = ""  # the version of the agent with these limits
    shell_tool: str = ""
    shows: Limits | None = None
    shows_failing: Limits | None = None  # its limits for a command that failed, if they are lower

    def bounds(self, *, failing: bool = False) -> dict[str, int]:
        """Return its own limits on a command's output by unit; none if they are unknown."""
        limits = (failing and self.shows_failing) or self.shows
        return dict(limits.given()) if limits else {}


def count_lines(text: str) -> int:
    """Count lines as a person does: a final newline does not start another one."""
    return text.count("\n") + (text != "" and not text.endswith("\n"))


def count_bytes(text: str) -> int:
    """Count the bytes of a text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def read_amount(text: str, units: Mapping[str, int]) -> int:
    """Return an amount in bytes or seconds; ValueError for any other text."""
    text = text.strip()
    unit = text.lstrip("0123456789._ ")
    if unit.lower() not in units:
        raise ValueError(unit)
    amount = float(text.removesuffix(unit)) * units[unit.lower()]
    if amount and not 1 <= amount <= LARGEST:  # less than 1 would become 0, and that means none
        raise ValueError(text)
    return int(amount)


def read_int(digits: str) -> int | str:
    """Return the integer for `json.loads(parse_int=…)`; the digits themselves if Python refuses that many."""
    try:
        return int(digits)
    except ValueError:
        return digits


def spell_int(value: int) -> int | str:
    """Return an integer for JSON: itself, or in hexadecimal if Python refuses to write that many digits."""
    if value.bit_length() <= ALWAYS_BITS:
        return value
    try:
        str(value)
    except ValueError:
        return hex(value)
    return value
