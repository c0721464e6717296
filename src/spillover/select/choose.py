"""Which lines to show in so much room: the strongest ones, what grows around them, and how it ended. Pure arrays."""

from __future__ import annotations

from spillover.data import dataclass
from spillover.select.classes import DISMISSED, EVIDENCE, NAMES
from spillover.select.fold import runs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from spillover.select.lines import Lines

    Array = Any  # of numpy; its own types say little about what is in one

#: What a gap marker costs, in tokens. A hole that costs less is filled.
MARKER = 9
HOLE = 12
#: How much of the room goes to how it ended, and to the strongest lines before anything grows around them.
TAIL = 0.10
PEAKS = 0.25
#: With little evidence, and where much is code (full of words for what might go wrong) or much can be shown anyway, most of
#: the room goes to the end.
TAIL_OF_LITTLE, LITTLE, MUCH_CODE, MUCH_SHOWN = 0.6, 4, 0.1, 0.25
#: Of a kind of evidence, so few lines are few, among so many times as many.
FEW, MANY_LINES = 4, 20
#: How strong a line is: so much by itself, the rest in its context.
OWN = 0.5
#: And to what is rare.
RARE = 0.2
#: Behind each of them, so many lines.
FOLLOWING = 3
#: And to the errors that name their place: each of them is heard before anything is shown at length.
HEADINGS = 0.3
#: With so many verdicts, each is worth more than the surroundings of one.
MANY = 8
PEAKS_OF_MANY = 0.85
#: What growing costs: per token downwards and upwards, and for each point a line is below nothing; at a room of USUAL.
DOWN, UP, DULL, USUAL = 0.003, 0.002, 0.15, 2_000
#: A run of like lines is folded when it would take more than this share of the room.
FOLDED = 0.15
#: A line takes at most this share of the room; more of it is cut off.
WIDEST = 0.25
NARROWEST = 60


@dataclass(frozen=True, slots=True)
class Candidates:
    """Lines with their points, and which of them may be chosen."""

    lines: Lines
    points: Array  # in context
    own: Array  # by itself
    able: Array  # False for what is said before, word for word
    run: Array  # what the run of like lines costs of which each is a middle one; 0 for all others
    pinned: Array  # places in the arrays: how it ended, which stands first
    rare: Array  # evidence of a kind that few have, and lines like no others where the others are all alike
    headings: Array  # errors that name their place, as compilers do; the places right above; the first that says what cannot be
    evidence: int  # how many lines say that something failed
    code: float  # the share of lines that look like code

    @property
    def cost(self) -> float:
        return float(self.lines.tokens.sum())


def evidence(lines: Lines) -> Array:
    """A column per kind of evidence that something failed: the lines that have it, and do not take it back."""
    dismissed = lines.classes[:, [NAMES.index(name) for name in DISMISSED]].any(axis=1)
    return lines.classes[:, [NAMES.index(name) for name in EVIDENCE]] & ~dismissed[:, None]


def _tail(those: Candidates, room: float) -> float:
    """How much of the room goes to the end."""
    much = those.code > MUCH_CODE or room > MUCH_SHOWN * those.cost
    return TAIL_OF_LITTLE if much and those.evidence < LITTLE else TAIL


def _alone(lines: Lines, able: Array) -> Array:
    """Evidence of a kind that few lines have: one error among a thousand warnings."""
    import numpy as np

    seen = evidence(lines) & able[:, None]
    few = (seen.sum(axis=0) <= FEW) & (seen.sum(axis=0) * MANY_LINES <= len(lines))
    return np.flatnonzero(seen[:, few].any(axis=1))


def candidates(lines: Lines, own: Array, points: Array, rare: Sequence[int] = ()) -> Candidates:
    """Lines to choose from; `rare`: where those begin that begin like no others of the whole output."""
    import numpy as np

    able = np.zeros(len(lines), dtype=bool)
    able[np.unique(lines.exact, return_index=True)[1]] = True
    able &= lines.width > 0
    exits = np.flatnonzero(lines.classes[:, NAMES.index("exit")])
    odd = np.flatnonzero(np.isin(lines.first, np.array(rare, dtype=np.int64)) & able)
    first = np.concatenate((_best(_alone(lines, able), points), _best(odd, points)))
    seen, code = int(evidence(lines).any(axis=1).sum()), float(lines.classes[:, NAMES.index("code")].mean())
    return Candidates(lines, points, own, able, runs(lines), exits[-1:], first, _headings(lines), seen, code)


def _headings(lines: Lines) -> Array:
    import numpy as np

    place, says, cannot = (lines.classes[:, NAMES.index(name)] for name in ("place first", "error says", "cannot"))
    dismissed = lines.classes[:, [NAMES.index(name) for name in DISMISSED]].any(axis=1)
    heads = place & says & ~dismissed
    above = np.append(heads[1:], False) & place  # the last line has none below it
    reason = np.flatnonzero(says & cannot & ~dismissed)[:1]
    return np.union1d(np.flatnonzero(heads | above), reason)


def _best(those: Array, points: Array) -> Array:
    import numpy as np

    return those[np.argsort(-points[those], kind="stable")]


def chosen(those: Candidates, room: float) -> Array:
    """Which lines to show in `room` tokens, markers included: a boolean each."""
    import numpy as np

    lines, points = those.lines, those.points
    able = those.able & (those.run <= FOLDED * room)
    cost = np.minimum(lines.tokens, widest(room))
    keep = np.zeros(len(lines), dtype=bool)
    keep[those.pinned] = True
    rare = those.rare[np.cumsum(cost[those.rare] + 2 * MARKER) <= RARE * room]
    keep[rare] = True
    keep = _followed(keep, rare, cost, RARE * room)
    headings = those.headings[able[those.headings]]
    keep[headings[np.cumsum(cost[headings] + 2 * MARKER) <= HEADINGS * room]] = True
    # How it ended.
    back = np.cumsum(np.where(able, cost, 0)[::-1])[::-1]
    keep |= able & (back - np.where(able, cost, 0) < _tail(those, room) * room)
    if _price(keep, cost) > room:
        keep[:] = False
    # The strongest lines by themselves.
    verdicts = int((lines.classes[:, NAMES.index("verdict")] & able).sum())
    share = PEAKS_OF_MANY if verdicts >= MANY else PEAKS
    alone = OWN * those.own + (1 - OWN) * points
    order = np.argsort(np.where(able, -alone, np.inf), kind="stable")[: int(able.sum())]
    keep = _taken(keep, order, cost, min(room, _price(keep, cost) + share * room))
    # And what grows around them.
    grown = np.where(able, _grown(points, cost, (USUAL / room) ** 0.5), -np.inf)
    order = np.argsort(-grown, kind="stable")[: int(able.sum())]
    keep = _taken(keep, order, cost, room)
    # What is left goes to what was said before, from the end.
    return _taken(keep, np.flatnonzero(~keep)[::-1], cost, room)


def _followed(keep: Array, those: Array, cost: Array, room: float) -> Array:
    """With some lines behind each, as far as there is room: what is wrong is explained there."""
    for line in those.tolist():
        more = keep.copy()
        more[line + 1 : line + 1 + FOLLOWING] = True
        if _price(more, cost) > room:
            break
        keep = more
    return keep


def widest(room: float) -> float:
    """How many tokens of one line are shown at most."""
    return max(NARROWEST, WIDEST * room)


def _grown(points: Array, cost: Array, scale: float) -> Array:
    """Each line's points, or those of a better one nearby less what lies between them; the larger."""
    import numpy as np

    dull = DULL * np.maximum(0.0, -points)
    down = np.cumsum((DOWN * cost + dull) * scale)
    up = np.cumsum(((UP * cost + dull) * scale)[::-1])
    below = np.maximum.accumulate(points + down) - down
    above = (np.maximum.accumulate(points[::-1] + up) - up)[::-1]
    return np.maximum(below, above)


def _taken(base: Array, order: Array, cost: Array, room: float) -> Array:
    """What is chosen already, and the most of `order` from its beginning that fits with it."""
    low, high, best = 0, len(order), base
    while low < high:
        middle = (low + high + 1) // 2
        keep = base.copy()
        keep[order[:middle]] = True
        keep = _filled(keep, cost)
        if _price(keep, cost) <= room:
            low, best = middle, keep
        else:
            high = middle - 1
    return best


def _filled(keep: Array, cost: Array) -> Array:
    """Holes that cost less than saying so are filled."""
    import numpy as np

    kept = np.flatnonzero(keep)
    upto = np.concatenate(([0.0], np.cumsum(cost)))
    before, after = np.concatenate(([-1], kept)), np.concatenate((kept, [len(keep)]))
    small = (after - before > 1) & (upto[after] - upto[before + 1] <= HOLE)
    edges = np.zeros(len(keep) + 1, dtype=np.int64)
    np.add.at(edges, before[small] + 1, 1)
    np.add.at(edges, after[small], -1)
    return keep | (np.cumsum(edges[:-1]) > 0)


def _price(keep: Array, cost: Array) -> float:
    """What these lines cost, with a marker for each gap."""
    gaps = int((keep[:-1] & ~keep[1:]).sum()) + int(not keep[0])
    return float(cost[keep].sum()) + MARKER * gaps if len(keep) else 0.0
