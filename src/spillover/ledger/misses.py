"""How often the model went back, for which kinds of output, and whether what it fetched lay just outside what was shown. Pure."""

from __future__ import annotations

from msgspec import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from spillover.ledger.entry import Entry

#: What is no farther than this from a line that was shown lay just outside.
NEAR_LINES = 20
#: So many outputs are listed; the figures are of all.
MOST = 1_000


class KindMisses(Struct, frozen=True):
    """What became of the clips of one kind of output."""

    kind: str
    clips: int = 0  # that were cut
    back: int = 0  # outputs that somebody went back to
    retrievals: int = 0
    near: int = 0  # retrievals of lines just outside what was shown
    far: int = 0  # of lines elsewhere
    seen: int = 0  # of lines that had been shown
    tokens: int = 0  # fetched


class Miss(Struct, frozen=True):
    """An output that somebody went back to, and what for."""

    ref: str
    scope: str
    tool: str
    command: str
    kind: str
    when: float  # of the newest retrieval
    retrievals: tuple[Entry, ...]  # those that can be told from where they went, the oldest first

    @property
    def near(self) -> int | None:
        """How far what was fetched, and had not been shown, lay from what had."""
        return min((entry.near for entry in self.retrievals if entry.near is not None), default=None)


class Misses(Struct, frozen=True):
    """What a journal says of going back."""

    kinds: tuple[KindMisses, ...]  # those gone back to most come first
    outputs: tuple[Miss, ...]  # the newest first


def find_misses(entries: Iterable[Entry]) -> Misses:
    """Return how often, where to, and what for, from the entries of a journal, the oldest first."""
    kinds: dict[str, dict[str, int]] = {}
    went_back: dict[str, set[str]] = {}
    outputs: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        figures = kinds.setdefault(entry.kind or "other", dict.fromkeys(KindMisses.__struct_fields__[1:], 0))
        if entry.operation == "clip":
            figures["clips"] += entry.outcome != "whole"
            continue
        if entry.operation not in ("read", "grep", "outline") or not entry.ref:
            continue
        figures["retrievals"] += 1
        figures["tokens"] += entry.received
        if entry.lines:
            figures["seen" if entry.near is None else "near" if entry.near <= NEAR_LINES else "far"] += 1
        refs = went_back.setdefault(entry.kind or "other", set())
        if len(refs) < 100 * MOST:
            refs.add(entry.ref)
        key = (entry.scope, entry.ref)
        held = outputs.pop(key, [])  # the newest stands last
        outputs[key] = [*held, entry] if len(held) < 100 else held
        if len(outputs) > MOST:
            del outputs[next(iter(outputs))]
    for kind, refs in went_back.items():
        kinds[kind]["back"] = len(refs)
    found = [
        KindMisses(kind, **figures) for kind, figures in kinds.items() if figures["clips"] or figures["retrievals"]
    ]
    found.sort(key=lambda each: (-each.retrievals, -each.clips, each.kind))
    misses = [_miss(went) for went in reversed(outputs.values())]
    return Misses(tuple(found), tuple(misses))


def _miss(went: list[Entry]) -> Miss:
    last = went[-1]
    return Miss(last.ref, last.scope, last.tool, last.command, last.kind, last.when, tuple(went))
