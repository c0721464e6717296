"""A prover that a pattern of `re` runs in linear time, over what `re` itself parses it into.

One attempt is linear where each choice is known from the next character, where its outcome is final (possessive, atomic, or at the
end of the pattern), or where it is bounded and in no loop. A search is linear, too, where attempts cannot run over the same bytes:
what may run far holds nothing that an attempt must begin with. Whatever is not proved is refused.
"""

import re
from functools import cache
from re import _constants as c
from re import _parser as parser

UNIVERSE = frozenset([*range(0x250), 0x660, 0x2028, 0x200B, 0x3000, 0x4E00, 0xDCFF, 0xFFFD, 0x1F600])
BYTES = frozenset(range(256))
REPEATS = (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT)
SINGLE = (c.LITERAL, c.NOT_LITERAL, c.ANY, c.IN)
NOTHING = frozenset()
#: More repetitions than these are as good as any number.
BOUND = 300
CLASSES = {c.CATEGORY_DIGIT: r"\d", c.CATEGORY_SPACE: r"\s", c.CATEGORY_WORD: r"\w"}
OTHERS = {c.CATEGORY_NOT_DIGIT: r"\D", c.CATEGORY_NOT_SPACE: r"\S", c.CATEGORY_NOT_WORD: r"\W"}


class Unproved(Exception):  # noqa: N818  the answer to a question
    """Why a pattern is not known to be linear."""


@cache
def category(name, flags):
    kind = re.compile((CLASSES | OTHERS)[name], flags & re.ASCII)
    return frozenset(code for code in UNIVERSE if kind.match(chr(code)))


class Prover:
    def __init__(self, pattern):
        self.flags = pattern.flags
        self.all = BYTES if isinstance(pattern.pattern, bytes) else UNIVERSE
        if self.all is BYTES:
            self.flags |= re.ASCII
        self.tree = list(parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG))
        self.mixed = "(?i:" in str(pattern.pattern)

    def chars(self, op, value):
        """Return the characters of one item that takes exactly one."""
        if op is c.ANY:
            return self.all if self.flags & re.DOTALL else self.all - {10}
        if op is c.LITERAL:
            return self.cased({value})
        if op is c.NOT_LITERAL:
            return self.all - self.cased({value}, negated=True)
        members, negated = set(), False
        for kind, member in value:
            negated |= kind is c.NEGATE
            if kind is c.LITERAL:
                members.add(member)
            elif kind is c.RANGE:
                members.update(code for code in self.all if member[0] <= code <= member[1])
            elif kind is c.CATEGORY:
                members |= category(member, self.flags)
        members = self.cased(members, negated=negated)
        return self.all - members if negated else members & self.all

    def cased(self, codes, *, negated=False):
        """Return the codes in both cases if case does not matter; where it matters in a part, no fewer than may match."""
        if not (self.flags & re.IGNORECASE or (self.mixed and not negated)):
            return frozenset(codes)
        return frozenset(
            {ord(one) for code in codes for one in {chr(code).lower(), chr(code).upper(), chr(code)} if len(one) == 1}
        )

    def first(self, items):
        """Return what a match of these items may begin with, and whether it may be empty."""
        begins = NOTHING
        for op, value in items:
            chars, empty = self.first_of(op, value)
            begins |= chars
            if not empty:
                return begins, False
        return begins, True

    def first_of(self, op, value):
        if op in SINGLE:
            return self.chars(op, value), False
        if op in REPEATS:
            chars, empty = self.first(value[2])
            return chars, empty or value[0] == 0
        if op is c.BRANCH:
            each = [self.first(items) for items in value[1]]
            return NOTHING.union(*(chars for chars, _ in each)), any(empty for _, empty in each)
        if op in (c.SUBPATTERN, c.ATOMIC_GROUP):
            return self.first(inside(op, value))
        if op in (c.AT, c.ASSERT, c.ASSERT_NOT):
            return NOTHING, True
        raise Unproved(f"{op} is not understood")

    def attempt(self, items, after=NOTHING, *, end=True, loop=None):
        """Prove one attempt; `after` may follow these items, `end`: or nothing; `loop`: what they are repeated by."""
        for number, (op, value) in enumerate(items):
            begins, empty = self.first(items[number + 1 :])
            behind = begins | after if empty else begins
            last = end and number == len(items) - 1
            self.item(op, value, behind, end=last, loop=loop)

    def item(self, op, value, behind, *, end, loop):
        if op in REPEATS:
            self.repeat(op, value, behind, end=end, loop=loop)
        elif op is c.BRANCH:
            seen = NOTHING
            for items in value[1]:
                begins, empty = self.first(items)
                begins = begins | behind if empty else begins
                if begins & seen and (loop == "greedy" or (loop and any(map(far, value[1])))):
                    raise Unproved("alternatives in a loop begin alike")
                seen |= begins
                self.attempt(items, behind, end=end, loop=loop)
        elif op is c.SUBPATTERN:
            self.attempt(list(inside(op, value)), behind, end=end, loop=loop)
        elif op is c.ATOMIC_GROUP:
            self.attempt(list(value), loop=loop and "atomic")
        elif op in (c.ASSERT, c.ASSERT_NOT):
            if loop and far(value[1]):
                raise Unproved("a loop looks far ahead")
            self.attempt(list(value[1]), loop=loop and "atomic")

    def repeat(self, op, value, behind, *, end, loop):
        low, high, body = value[0], value[1], list(value[2])
        single = len(body) == 1 and body[0][0] in SINGLE
        begins, empty = self.first(body)
        clear = low == high or not begins & behind
        if op is c.POSSESSIVE_REPEAT:
            if not single:
                if loop and far(body) and not clear:
                    raise Unproved("a loop in a loop may fail late")
                self.attempt(body, loop="atomic" if high > 1 else loop and "atomic")
            return
        if high <= BOUND:
            if loop == "greedy" and not clear:
                raise Unproved("a bounded choice in a loop that gives back")
            if far(body) and not clear and loop:
                raise Unproved("a choice in a loop may fail late")
            self.attempt(body, behind | (begins if high > 1 else NOTHING), end=end and high == 1, loop=loop)
            return
        if empty:
            raise Unproved("a loop over what may be empty")
        if not clear and not (end and loop != "greedy"):
            raise Unproved("a run is followed by what it matches itself")
        if not single:
            self.attempt(body, behind | begins, end=False, loop="greedy")

    def search(self):
        """Prove that attempts from all places together are linear."""
        runs = NOTHING.union(*self.runs(self.tree))
        if not runs:
            return
        if self.barrier(self.tree, runs, top=True) is not False:
            return
        raise Unproved("a search may run over the same bytes from many places")

    def barrier(self, items, runs, *, top=False):
        """Return True if what no run matches comes before a run, or nothing can fail behind it; False if a run comes first; else None."""
        for number, (op, value) in enumerate(items):
            met = None
            if op in SINGLE:
                met = not self.chars(op, value) & runs or None
            elif op is c.AT:
                line = bool(self.flags & re.MULTILINE) and 10 in runs
                met = value is c.AT_BEGINNING_STRING or (value is c.AT_BEGINNING and not line) or None
                met = met or (value is c.AT_BOUNDARY and runs <= category(c.CATEGORY_WORD, self.flags)) or None
            elif op is c.ASSERT_NOT and value[0] < 0 and len(value[1]) == 1 and not self.mixed:
                met = runs <= self.first(value[1])[0] or None
            elif op is c.BRANCH:
                each = [self.barrier(list(one), runs) for one in value[1]]
                met = False if False in each else None if None in each else True
            elif op in REPEATS:
                met = self.barrier(list(value[2]), runs)
                if value[1] > BOUND and not met:
                    rest = all(one[0] in REPEATS and self.first([one])[1] for one in items[number + 1 :])
                    met = top and rest and value[0] <= BOUND and value[2][0][0] in SINGLE and len(value[2]) == 1
                elif not value[0]:
                    met = met and None
            elif op in (c.SUBPATTERN, c.ATOMIC_GROUP):
                met = self.barrier(list(inside(op, value)), runs)
            elif far([(op, value)]):
                met = False
            if met is not None:
                return met
        return None

    def runs(self, items):
        """Yield the characters that each unbounded loop may take."""
        for op, value in items:
            if op in REPEATS and value[1] > BOUND:
                yield self.every(value[2])
            for one in parts(op, value):
                yield from self.runs(one)

    def every(self, items):
        chars = NOTHING
        for op, value in items:
            if op in SINGLE:
                chars |= self.chars(op, value)
            for one in parts(op, value):
                chars |= self.every(one)
        return chars


def inside(op, value):
    if op is c.SUBPATTERN:
        if (value[1] | value[2]) & ~re.IGNORECASE:
            raise Unproved("flags in a group")
        return value[3]
    return value


def parts(op, value):
    """Return the items inside an item."""
    if op in REPEATS:
        return [value[2]]
    if op is c.BRANCH:
        return value[1]
    if op in (c.SUBPATTERN, c.ATOMIC_GROUP):
        return [inside(op, value)]
    return [value[1]] if op in (c.ASSERT, c.ASSERT_NOT) else []


def far(items):
    """Return whether these items may run over any number of characters."""
    return any((op in REPEATS and value[1] > BOUND) or any(map(far, parts(op, value))) for op, value in items)


def why_not(pattern, *, search):
    """Return why a pattern is not proved to be linear; None if it is."""
    try:
        prover = Prover(pattern)
        prover.attempt(prover.tree)
        if search:
            prover.search()
    except Unproved as reason:
        return str(reason)
    return None
