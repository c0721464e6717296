"""What a notice says about the earlier output that a clip is compared with."""

from __future__ import annotations

from msgspec import Struct

from spillover.notice.wording import WORDING, Wording
from spillover.notice.words import REASON_CHARS, lines_of, one_line, shorten_reason

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillover.since import Compared


class Since(Struct, frozen=True, kw_only=True):
    """What a notice says of an earlier output; without a reason, how many lines are new, gone or the same."""

    ref: str
    how: str = ""  # how it ended, where that is said
    reason: str = ""  # why it could not be compared
    new: int = 0
    numbers: int = 0
    same: int = 0
    gone: int = 0
    lines: int = 0
    lines_before: int = 0


def tell_since(since: Since, wording: Wording, tier: int) -> str:
    """Return what is said of an earlier output: what is new, what is gone, or why it was not compared."""
    other = since.lines != since.lines_before
    values = {
        "earlier": f"{one_line(since.ref, 80)} ({since.how})" if since.how and tier == 0 else one_line(since.ref, 80),
        "new": f"{since.new:,}" if tier == 2 else lines_of(since.new),
        "numbers": f"{since.numbers:,}",
        "same": f"{since.same:,}",
        "gone": f"{since.gone:,}",
        "times": f" ({lines_of(since.lines)} now, {since.lines_before:,} then)" if other else "",
        "reason": shorten_reason(since.reason, REASON_CHARS >> 1 + tier),
    }
    if since.reason:
        return wording.since_not.format(**values)
    if not (since.new or since.numbers or since.gone):
        return wording.since_same.format(**values)
    return (wording.since_tiny if tier == 2 else wording.since).format(**values)


def since_line(ref: str, earlier: str, found: Compared) -> str:
    """Return what is said above the differences of two outputs."""
    words = tell_since(since_of(earlier, found), WORDING, 1)
    return f"{ref}: {words[:1].lower()}{words[1:]}"


def since_of(ref: str, found: Compared, how: str = "") -> Since:
    """Return what a notice says of an earlier output that was compared."""
    return Since(
        ref=ref,
        how=how,
        new=found.new.lines,
        numbers=found.numbers.lines,
        same=found.same,
        gone=found.gone.lines,
        lines=found.lines,
        lines_before=found.lines_before,
    )


def lines_gone(count: int, named: Sequence[str]) -> str:
    """Return what is said of lines that only the earlier output has: how many, and some of them."""
    return "\n".join((f"gone: {lines_of(count)}" + (", among them" if 0 < len(named) < count else ""), *named))
