"""Attack a pattern with texts made of its own parts, and count the steps that a backtracking engine takes.

What `law_linear` cannot prove is attacked: twice the text may take little more than twice the steps.
"""

import random
import re
from re import _constants as c

from law_linear import REPEATS, SINGLE, Prover, inside

#: So many steps end an attempt: no linear one takes as many over texts of ours.
MOST_STEPS = 60_000
#: How long a text is before it is doubled; the longest part that is repeated in it; how many texts a pattern gets.
CHARS, UNIT, TEXTS = 60, 24, 80
#: Steps per character may grow so much. Twice is quadratic, and short texts are not quite.
GROWTH = 1.6
ODD = (10, 0, 32, ord("!"), ord("z"))


class Endless(Exception):  # noqa: N818  the answer to a question
    """More steps than a linear pattern could take."""


class Engine:
    """Matches as `re` does, from left to right, and counts what it tries."""

    def __init__(self, pattern):
        self.prover = Prover(pattern)
        self.classes = {}
        self.steps = 0

    def chars(self, op, value):
        key = (op, id(value) if op is c.IN else value)
        if key not in self.classes:
            self.classes[key] = self.prover.chars(op, value)
        return self.classes[key]

    def matches(self, text, *, search):
        """Return where the matches begin and end: those of a search that are not empty, or the one at the beginning."""
        self.steps = at = 0
        found = []
        while at <= len(text):
            end = next(self.ends(self.prover.tree, text, at, {}), None)
            found += [(at, end)] if end is not None and (end > at or not search) else []
            if not search:
                break
            at = max(at + 1, end or 0)
        return found

    def ends(self, items, text, at, groups):
        """Yield where a match of these items may end, the preferred place first."""
        if not items:
            yield at
            return
        for end in self.ends_of(*items[0], text, at, groups):
            yield from self.ends(items[1:], text, end, groups)

    def ends_of(self, op, value, text, at, groups):
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Endless
        if op in SINGLE:
            if at < len(text) and text[at] in self.chars(op, value):
                yield at + 1
        elif op in REPEATS:
            yield from self.repeats(op, *value, text, at, groups)
        elif op is c.BRANCH:
            for items in value[1]:
                yield from self.ends(list(items), text, at, groups)
        elif op is c.SUBPATTERN:
            for end in self.ends(list(inside(op, value)), text, at, groups):
                groups[value[0]] = text[at:end]
                yield end
        elif op is c.GROUPREF:
            same = groups.get(value)
            if same is not None and text[at : at + len(same)] == same:
                yield at + len(same)
        elif op is c.ATOMIC_GROUP:
            yield from [end for end in [next(self.ends(list(value), text, at, groups), None)] if end is not None]
        elif op in (c.ASSERT, c.ASSERT_NOT):
            if self.looks(*value, text, at, groups) is (op is c.ASSERT):
                yield at
        elif op is c.AT and self.stands(value, text, at):
            yield at

    def repeats(self, op, low, high, body, text, at, groups):
        if op is c.MIN_REPEAT and low == 0:
            yield at
        trail = [(at, self.ends(list(body), text, at, groups))]
        while trail:
            place, ends = trail[-1]
            end = next(ends, None) if len(trail) <= high else None
            if end is not None and (end > place or len(trail) <= low):
                if op is c.MIN_REPEAT and len(trail) >= low:
                    yield end
                trail.append((end, self.ends(list(body), text, end, groups)))
                continue
            if op is not c.MIN_REPEAT and len(trail) > low:
                yield place
                if op is c.POSSESSIVE_REPEAT:
                    return
            if op is c.POSSESSIVE_REPEAT:
                return
            trail.pop()

    def looks(self, direction, items, text, at, groups):
        if direction > 0:
            return next(self.ends(list(items), text, at, groups), None) is not None
        return any(at in self.ends(list(items), text, at - back, groups) for back in range(min(at, 9) + 1))

    def stands(self, value, text, at):
        word = self.chars(c.IN, ((c.CATEGORY, c.CATEGORY_WORD),))
        lines = bool(self.prover.flags & re.MULTILINE)
        edge = (at > 0 and text[at - 1] in word) is not (at < len(text) and text[at] in word)
        return {
            c.AT_BEGINNING_STRING: at == 0,
            c.AT_BEGINNING: at == 0 or (lines and text[at - 1] == 10),
            c.AT_END_STRING: at == len(text),
            c.AT_END: at == len(text) or (text[at] == 10 and (lines or at == len(text) - 1)),
            c.AT_BOUNDARY: edge,
            c.AT_NON_BOUNDARY: not edge,
        }[value]

    def sample(self, items, chance):
        """Return a text that these items may match, but for what they look at."""
        out = []
        for op, value in items:
            if op in SINGLE:
                members = sorted(self.chars(op, value))
                out += chance.choices([code for code in members if 32 <= code < 127] or members)
            elif op in REPEATS:
                for _ in range(min(value[1], value[0] + chance.randrange(3))):
                    out += self.sample(value[2], chance)
            elif op is c.BRANCH:
                out += self.sample(chance.choice(value[1]), chance)
            elif op in (c.SUBPATTERN, c.ATOMIC_GROUP):
                out += self.sample(inside(op, value), chance)
        return out


def attack(pattern, *, search, last=""):
    """Return a text, as (before, what is repeated, behind), over which the steps grow faster than it does; None if none is found.

    Every text ends with `last`.
    """
    engine, chance = Engine(pattern), random.Random(1)
    for _ in range(TEXTS):
        whole = engine.sample(engine.prover.tree, chance)
        start, end = sorted(chance.choices(range(len(whole) + 1), k=2))
        unit = whole[start:end][:UNIT] or whole[:1] or [97]
        kind = chance.random()
        unit = chance.choices(ODD if kind < 0.1 else unit) if kind < 0.4 else unit + chance.choices(ODD) * (kind < 0.55)
        before = whole[:start] if chance.random() < 0.7 else []
        behind = chance.choices(ODD) if chance.random() < 0.7 else whole[end:]
        text = before, unit, [*behind, *map(ord, last)]
        count = max(2, CHARS // len(unit))
        try:
            costs = [steps(engine, text, times, search=search) for times in (count, 2 * count)]
        except Endless:
            return text
        if costs[1] > GROWTH * costs[0]:
            return text
    return None


def steps(engine, text, times, *, search):
    """Return the steps for each character."""
    before, unit, behind = text
    whole = [*before, *unit * times, *behind]
    engine.matches(whole, search=search)
    return engine.steps / len(whole)
