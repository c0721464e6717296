"""Which lines to show in a given room: the strongest, what is around them, and how it ended. Pure arrays."""

from __future__ import annotations

from msgspec import Struct

from spillover.select.arrays import count_alike, group, sort_down
from spillover.select.classes import EVIDENCE
from spillover.select.families import MOST, SURE
from spillover.select.features import parents
from spillover.select.fold import runs
from spillover.select.islands import weak_islands
from spillover.select.take import MARKER, ROUNDING, grow, price, sum_upto, take

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from spillover.select.lines import Lines

    Array = Any  # of numpy; its own types say little about what is in one

#: The share of the room for the end, and for the strongest lines before anything around them is added.
TAIL = 0.10
PEAKS = 0.25
#: If there is little evidence, and much is code (full of words for what might go wrong) or much can be shown anyway, most of
#: the room goes to the end.
TAIL_OF_LITTLE, LITTLE, MUCH_CODE, MUCH_SHOWN = 0.6, 4, 0.1, 0.25
#: A kind of evidence is rare if at most FEW lines have it, among MANY_LINES times as many.
FEW, MANY_LINES = 4, 20
#: How much of a line's strength is its own points; the rest is its points in context.
OWN = 0.5
#: The first line of what a command printed takes at most this share of the room: it is the news of the first of several
#: commands. A log of a CI service begins with its worker.
OPENING = 0.03
#: The share of the room for rare evidence, and how many tokens of it at most.
RARE, RAREST = 0.2, 400
#: The number of lines shown behind each rare line.
FOLLOWING = 3
#: The share of the room for errors that name their place: each is shown before anything is shown at length.
HEADINGS = 0.3
#: The share of the room for families of failures that are not named yet, one line of each, those with the most members
#: first; the same for those that may mean something else.
FAMILIES, UNSURE = 0.2, 0.05
#: And for what is around the first member of a large family, so many lines above it and below it.
LARGE, WHOLE, ABOVE, BELOW = 8, 0.15, 6, 3
#: The share of the room for headings: the lines that the strongest are indented under, such as the file of what a linter
#: found. Each costs at most SHORT tokens.
PARENTS, SHORT = 0.05, 40
#: With this many verdicts, naming each is worth more than showing what is around one.
MANY = 8
PEAKS_OF_MANY = 0.85
#: The room that what distance costs was set for; in a larger one it costs less.
USUAL = 2_000
#: Of lines that differ in numbers only, if they are very many, so many are shown before anything else has had its turn.
LIKE, VERY_MANY = 4, 40
#: But for so many lines beside a failure; of very many failures, beside the first of them.
BESIDE, NEIGHBOURS = 2, 200
#: A run of similar lines is folded if it would take more than this share of the room.
FOLDED = 0.15
#: A line takes at most this share of the room; the rest of it is cut off.
WIDEST = 0.25
NARROWEST = 60
#: Of many lines, so many of the strongest are sorted first.
SORTED = 512
#: Below these points, no line is worth a marker of its own.
WORTHLESS = -3.2


class Candidates(Struct, frozen=True):
    """Lines with their points, and which of them may be chosen."""

    lines: Lines
    points: Array  # in context
    alone: Array  # how strong each is by itself, see OWN
    ranked: Array  # indices: the strongest of these first
    able: Array  # False for what was said before, word for word
    run: Array  # for a line in the middle of a run of similar lines, what that run costs; 0 for all others
    again: Array  # how many lines before it differ from it in numbers only, where very many do
    opening: Array  # indices: the first line, where it says what a command did
    pinned: Array  # the last line that says how it ended
    rare: Array  # evidence of a kind that few lines have, and lines unlike all others
    headings: Array  # errors that name their place, as compilers do; the places right above; the first error that says what did not work
    families: Array  # the first line of each family of failures, in the order in which outline names them
    members: Array  # how many each family has
    parent: Array  # the line that each is indented under; -1 where there is none
    failing: Array  # the lines that say that something failed: a boolean each
    evidence: int  # how many these are
    code: float  # the share of lines that look like code
    verdicts: Array  # the lines that pass judgement: a boolean each
    cost: float  # of all lines
    longest: float  # what the longest line costs
    upto: Array  # what all lines before each cost, and all of them

    @property
    def new(self) -> Array:
        """Which lines say what was not said before, but for numbers."""
        return self.able & (self.again < LIKE)


def evidence(lines: Lines) -> Array:
    """Return a column per kind of evidence that something failed: the lines that have it, and do not take it back."""
    return lines.of_classes(EVIDENCE) & ~lines.dismissed[:, None]


def _tail(those: Candidates, room: float) -> float:
    """Return how much of the room goes to the end."""
    much = those.code > MUCH_CODE or room > MUCH_SHOWN * those.cost
    return TAIL_OF_LITTLE if much and those.evidence < LITTLE else TAIL


def _alone(seen: Array) -> Array:
    """Return evidence of a kind that few lines have: one error among a thousand warnings."""
    counts = seen.sum(axis=0)
    few = (counts <= FEW) & (counts * MANY_LINES <= len(seen))
    return seen[:, few].any(axis=1).nonzero()[0]


def candidates(
    lines: Lines,
    own: Array,
    points: Array,
    rare: Sequence[int] = (),
    *,
    of_command: bool = False,
    news: Array | None = None,
) -> Candidates:
    """Return the lines to choose from; `rare`: where lines begin that begin like no others of the whole output.

    `news`: the lines that an earlier run did not have. Only these can be rare, headings or failures of a family.
    """
    import numpy as np

    able = find_first(lines.exact) & (lines.width > 0)
    telling = able if news is None else able & news
    exits = np.flatnonzero(lines.of_class("exit"))
    odd = np.flatnonzero(np.isin(lines.first, rare) & telling)
    said, code = evidence(lines), float(lines.of_class("code").mean())
    failing = said.any(axis=1)
    first = np.concatenate((_best(_alone(said & telling[:, None]), points), _best(odd, points)))
    families, members = _families(lines.family if news is None else np.where(news, lines.family, 0), lines)
    alone, headings = OWN * own + (1 - OWN) * points, _headings(lines)
    return Candidates(
        lines,
        points,
        alone,
        sort_down(alone),
        able,
        runs(lines),
        _again(lines),
        lines.width.nonzero()[0][: int(of_command)],
        exits[-1:],
        first,
        headings if news is None else headings[news[headings]],
        families,
        members,
        parents(lines.indent, lines.width == 0),
        failing,
        int(np.count_nonzero(failing)),
        code,
        lines.of_class("verdict") & ~lines.of_class("frame"),  # no frame is one: `ERROR pool: at f (pool.go:7)`
        float(lines.tokens.sum()),
        float(lines.tokens.max(initial=0.0)),
        sum_upto(lines.tokens),
    )


def find_first(alike: Array) -> Array:
    """Return which lines are the first of those that are alike: a boolean each."""
    return count_alike(alike)[1] == 0


def _again(lines: Lines) -> Array:
    """Return how many lines like it came before each, where very many are: failures of one family, or alike but for numbers."""
    import numpy as np

    before = np.maximum(_count_before(lines.template), np.where(lines.family != 0, _count_before(lines.family), 0))
    for row in np.flatnonzero((lines.family != 0) & (before < LIKE))[:NEIGHBOURS].tolist():
        before[max(0, row - BESIDE) : row + BESIDE + 1] = 0  # what stands beside a failure says when it happened
    return before


def _count_before(alike: Array) -> Array:
    """Return how many of the same came before each, where they are very many; 0 for all others."""
    counts, before = count_alike(alike)
    before[counts < VERY_MANY] = 0
    return before


def _families(family: Array, lines: Lines) -> tuple[Array, Array]:
    """Return the first line of each family of failures and how many it has: what is sure first, the largest, the earliest."""
    import numpy as np

    rows = np.flatnonzero(family)
    order, starts, counts = group(family[rows])
    first = rows[order[starts]]
    weak = ~lines.of_classes(SURE)[first].any(axis=1)
    order = np.lexsort((first, -counts, weak))[:MOST]
    return first[order], counts[order]


def _headings(lines: Lines) -> Array:
    """Return the errors that name their place, the places right above them, and the first that says what did not work."""
    place, says, cannot = (lines.of_class(name) for name in ("place first", "error says", "cannot"))
    says = says & ~lines.dismissed
    heads = place & says
    every = heads.copy()
    every[:-1] |= heads[1:] & place[:-1]  # the places right above
    every[(says & cannot).nonzero()[0][:1]] = True
    return every.nonzero()[0]


def _best(those: Array, points: Array) -> Array:
    """Return those lines, the ones with the most points first."""
    return those[sort_down(points[those])] if len(those) > 1 else those


def choose(those: Candidates, room: float, first: Array | None = None) -> Array:
    """Return which lines to show in `room` tokens, markers included: a boolean each. `first` are shown before all others."""
    import numpy as np

    lines, points = those.lines, those.points
    open_ended = those.run <= FOLDED * room
    able = those.new & open_ended
    cost, upto = lines.tokens, those.upto
    if those.longest > widest(room):
        cost = np.minimum(cost, widest(room))
        upto = sum_upto(cost)
    left = room  # which is shared out
    if first is None:
        first = np.zeros(len(lines), dtype=bool)
    elif first.any():
        left = room - price(first, cost)
    keep = first.copy()
    keep[those.pinned] = True
    for_rare = min(RARE * left, RAREST)
    rare = those.rare[(cost[those.rare] + 2 * MARKER).cumsum() <= for_rare]
    keep[rare] = True
    keep = _follow(keep, rare, cost, for_rare + (room - left))
    headings = those.headings[able[those.headings]]
    keep[headings[(cost[headings] + 2 * MARKER).cumsum() <= HEADINGS * left]] = True
    # How it began, and how it ended.
    keep[those.opening[cost[those.opening] <= OPENING * left]] = True
    counted = np.where(able & ~first, cost, 0)
    keep |= able & (counted[::-1].cumsum()[::-1] - counted < _tail(those, room) * left)
    if price(keep, cost) > room:
        keep = first.copy()
    # The strongest lines by themselves.
    share = PEAKS_OF_MANY if np.count_nonzero(those.verdicts & able) >= MANY else PEAKS
    held = keep.copy()
    ranked = those.ranked[able[those.ranked]]
    keep = take(keep, ranked, len(ranked), cost, upto, min(room, price(keep, cost) + share * left))
    headed = _add_parents(keep, _best((keep > held).nonzero()[0], those.alone), those, cost, room)
    named = _tell_families(headed, those, cost, room, left)
    held |= named & ~keep
    # What is around them.
    grown = grow(points, cost, (USUAL / room) ** 0.5)
    order, count = _strongest(grown, able, cost, room)
    keep = take(named, order, count, cost, upto, room)
    # A line that says nothing is not worth a marker of its own: its room goes to what lies beside other lines.
    held |= those.failing
    held[:1] = True
    strength = np.maximum(grown, those.alone)
    for last in (False, True):
        weak = weak_islands(keep, held, strength, cost, least=WORTHLESS, marker=MARKER)
        keep &= ~weak
        if (
            not last
        ):  # the order without them; they were shown, so what is left of it still is more than there is room for
            keep = take(keep, order[~weak[order]], count, cost, upto, room)
    # Any room that is left goes to what was said before, from the end; but a long run of lines that are alike stays folded.
    rest = (~keep & open_ended).nonzero()[0][::-1]
    return take(keep, rest, len(rest), cost, upto, room)


def _follow(keep: Array, those: Array, cost: Array, room: float) -> Array:
    """Add some lines behind each, as far as there is room: that is where an error is explained."""
    for line in those.tolist():
        more = keep.copy()
        more[line + 1 : line + 1 + FOLLOWING] = True
        if price(more, cost) > room:
            break
        keep = more
    return keep


def _add_parents(keep: Array, peaks: Array, those: Candidates, cost: Array, room: float) -> Array:
    """Add the lines that the strongest are indented under, as far as there is room."""
    import numpy as np

    over = np.array([*dict.fromkeys(those.parent[peaks].tolist())], dtype=np.int64)
    over = over[(over >= 0) & ~keep[over] & (cost[over] <= SHORT)]
    more = keep.copy()
    more[over[np.cumsum(cost[over] + MARKER) <= PARENTS * room]] = True
    return more if price(more, cost) <= room else keep


def _tell_families(keep: Array, those: Candidates, cost: Array, room: float, left: float) -> Array:
    """Add a line of each family of failures, and of large ones what is around the first member."""
    import numpy as np

    if not len(those.families):
        return keep
    family = those.lines.family
    named = set(family[keep].tolist())
    missing = those.families[[key not in named for key in family[those.families].tolist()]]
    sure = those.lines.of_classes(SURE)[missing].any(axis=1)
    for rows, share in ((missing[sure], FAMILIES), (missing[~sure], UNSURE)):
        if len(rows):
            more = keep.copy()
            more[rows[np.cumsum(cost[rows] + 2 * MARKER) <= share * left]] = True
            keep = more if price(more, cost) <= room else keep
    most = min(room, price(keep, cost) + WHOLE * left)
    for row in those.families[those.members >= LARGE].tolist():
        more = keep.copy()
        more[max(0, row - ABOVE) : row + 1 + BELOW] = True
        if price(more, cost) <= most:
            keep = more
    return keep


def widest(room: float) -> float:
    """Return how many tokens of one line are shown at most."""
    return max(NARROWEST, WIDEST * room)


def _strongest(strength: Array, able: Array, cost: Array, room: float) -> tuple[Array, int]:
    """Return the able lines, the strongest first, as far as there can be room for them; and how many are able."""
    import numpy as np

    count = int(np.count_nonzero(able))
    worth = np.where(able, strength, -np.inf)
    if count > 2 * SORTED:  # only a few hundred are ever shown, so not all of them need to be sorted
        some = np.flatnonzero(worth >= np.partition(worth, -1 - SORTED)[-1 - SORTED])
        some = some[sort_down(worth[some])]
        if float(cost[some].sum()) > 2 * room + ROUNDING and len(some) < count:
            return some, count
    return sort_down(worth)[:count], count
