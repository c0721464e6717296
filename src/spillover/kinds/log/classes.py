r"""What a line can look like: one table of patterns, found in all lines at once by Hyperscan.

This table is the only place where a class is named, given a role and put into words. To add one, add a row and run
`make fit` (scripts/fit): the weights know classes by name, and one that they do not know counts for nothing.

A pattern says what it needs and stops, as Hyperscan reports every place where one can end: `test_\w`, not `test_\w+`.
`^` and `$` are the edges of a line.
"""

from __future__ import annotations

from itertools import chain
from typing import Any, Literal

import numpy as np
from msgspec import Struct

from spillover.patterns import PatternSet

Array = Any  # of numpy; its own types say little about what is in one


class Class(Struct, frozen=True):
    """A pattern, and what it means for a line to match it."""

    pattern: str
    any_case: bool = False
    #: Evidence that something failed; a suspicion that it did; or a dismissal of both.
    role: Literal["evidence", "suspicion", "dismissal", ""] = ""
    why: str = ""  # the reason a person is given for showing such a line
    around: bool = False  # how many of its neighbours are in this class counts as well


# fmt: off
CLASSES: dict[str, Class] = {
    # Something failed; the strongest evidence first.
    "exit": Class(role="evidence", why="exit code", any_case=True, pattern=
        r"exited with (?:code |status )?[1-9]|(?:^|[^\w\n-])exit(?:ed)?(?: with)?(?: status| code)?(?:: ?| |="
        r"|\()-?[1-9]|returned (?:a )?non-zero"
        r"|non-?zero exit|\*\*\* \[|ELIFECYCLE|status:? [1-9]|BUILD FAIL|Build step '"
        r"|return code: ?[1-9]|build failed"),
    "verdict": Class(role="evidence", why="verdict", around=True, pattern=
        r"^\s*(?:--- )?(?:FAIL|FAILED|ERROR)\b[: ]|\.\.\.\s?(?:FAIL|ERROR)|^\s*not ok\b|\b(?:FAILED|FAILURE|FAIL"
        r"|ERROR)!?\s*$"
        r"|^\s*(?:✗|✖|✕|✘|\xc3\x97|●) |TEST-UNEXPECTED|<<< (?:FAIL|ERROR)|^\s*\d{1,3}\) "
        r"|\bFAILED\b \[|::\S* (?:FAILED|ERROR)\b|\b[Tt]est\w* [EF]$"),
    "exception head": Class(role="evidence", why="exception", around=True, pattern=
        r"^\s*(?:E\s+)?(?:[\w$]+[.:]+)*[A-Z]\w*(?:Error|Exception|Failure)\b(?::|$)|^\s*Caused by|Traceback \(most"
        r"|:\d+: \w*(?:Error|Exception)$|^E {3,}\S"
        r"|Uncaught|Unhandled|panicked at|^panic:|[Ss]tack ?[Tt]race(?:[\s:]|$)|[Bb]acktrace(?:[\s:]|$)"),
    "error says": Class(role="evidence", why="error message", any_case=True, pattern=
        r"(?:^|[\s\]:)])(?:fatal |internal compiler |syntax |compile |compilation )?(?:error|fatal|failure)"
        r"(?:\[\w+\]| \w{1,3}\d{2,5})?\s?[!:]|##\[error\]|[\[(](?:\w+:)?(?:error|fatal|err)[\])]|\bERR!|^E\d+:"
        r"|: [EF]\d{3,4}: |^error\b|invalid.syntax"),
    "crash": Class(role="evidence", why="crash", any_case=True, pattern=
        r"panick?\b|segmentation|segfault|core dumped|\babort|\bkilled\b|out of memory|timed? ?out|\bSIG(?:KILL|TERM"
        r"|SEGV|ABRT|BUS|FPE|ILL|INT|QUIT|PIPE|HUP|SYS|TRAP)\b|\bsignal:? \d|by signal"
        r"|crash|deadlock|\bleak|overflow|\bfatal\b|no output has been received|terminated|cancell?ed"),
    "killed": Class(role="evidence", why="killed", any_case=True, pattern=
        r"out of memory|killed process|oom-kill|segmentation fault|core dumped|\bsegfault at\b|kernel panic"),
    # Something may have failed.
    "in capitals": Class(role="suspicion", why="failure in capitals", pattern=
        r"\b(?:FAIL|FAILED|FAILURES?|ERRORS?|FATAL|CRITICAL|BROKEN|UNEXPECTED)\b"),
    "exception name": Class(role="suspicion", why="names an exception", pattern=
        r"[a-z](?:Error|Exception|Failure|Fault)\b"),
    "fail": Class(role="suspicion", why="says it failed", any_case=True, pattern=r"fail(?:ed|ures?|ing|s)?\b"),
    "error": Class(role="suspicion", why="says error", any_case=True, pattern=r"\berrors?\b"),
    "cannot": Class(role="suspicion", why="says what did not work", any_case=True, pattern=
        r"not found|no such|\bcannot\b|\bcan't|could ?n[o']t|unable|undefined|undeclared|unknown|unexpected"
        r"|unrecogni[sz]ed"
        r"|\binvalid|illegal|\bmissing|denied|refused|unresolved|mismatch|incompatible|conflict|does ?n[o']t"
        r"|rejected|violat"
        r"|\bbroken\b|\bbad\b|\bwrong\b|\bnot (?:a |exist|match|defined|supported|allowed|available|up-to-date"
        r"|installed"
        r"|satisf|properly|formatted|declared|valid|permitted|resolve)"),
    "expected": Class(role="suspicion", why="expected and actual", any_case=True, pattern=
        r"expected|\bassert|\bactual|should\b|\bgot\b|but was|to (?:equal|be|eq|have|match)\b|\bdiffer|received:"),
    "mark": Class(role="suspicion", why="marked as a failure", pattern=
        r"✗|✖|✕|\xc3\x97|●|❌|✘|^\s*E  |^\s*>  |^not ok|^\s*\d+\) |^\s*>> |^--- |^\*\*\* |^!!"),
    # Where, and what stands around it; those with a reason come in the order in which they are named as one.
    "title": Class(why="title", pattern=
        r"^[^\w\n]*(?:-{3}|={3}|_{3}|\*{3}|~{3}|#{3}|─{3}|═{3}) ?\w.*(?:-{3}|={3}|_{3}|\*{3}|~{3}|#{3}|─{3}|═{3})\s*$"),
    "summary": Class(why="summary", any_case=True, pattern=
        r"\b\d+ (?:tests?|passed|failed|failures?|failing|errors?|examples?|specs?|assertions|problems?|passing|pending"
        r"|skipped|scenarios?|steps|files?|warnings|runs)\b|tests? run|tests: |failures?[:=]|summary|results? ?:"
        r"|^ran \d"),
    "caret": Class(why="points at a column", pattern=r"^[\s|\]>\w\[]{0,14}[\^~]+\s*$|\^~*\s*$"),
    # Before a place in a file: what a compiler warns of names one as well.
    "warning": Class(why="warning", any_case=True, around=True, pattern=r"\bwarn(?:ing)?s?\b|deprecat|\bnotice\b"),
    "frame": Class(why="stack frame", around=True, pattern=
        r'^\s*(?:at |File "|from |in |#\d+ |\d+: |\.{3} \d+ more|@ )|[\w>]:\d+\)'
        r"|\.(?:rb|py|js|go|java|scala|php|exs?|hs|pm|t|cc?|cpp|h|rs|swift|tsx?|jl|clj|lua|cs|kt):\d"),
    "place": Class(why="names a place in a file", any_case=True, pattern=r"[\w)]\.\w{1,5}[:(]\d|\bline \d|:\d+:\d"),
    "diff": Class(why="difference", around=True, pattern=r"^\s*[-+](?:[^-+\n]|$)|^\s*@@|^(?:---|\+\+\+) "),
    "command": Class(why="command", pattern=
        r"^\$ |^\+{1,3} |^> |##\[(?:group|section|command)\]|^==> |^Run |^\[command\]|^travis_\w|^The command \""),
    "place first": Class(pattern=r"^\s*[\w./@+-]*[\w/]\.\w{1,5}[:(]\d"),
    "test name": Class(pattern=r"\btest_\w|\w[Tt]est\b|\bTest\w|\bspec\b|\btests?[/.]|_spec|\bit\(|^\s*test "),
    # Of a line of dashes only the first five, or each of them would end a match.
    "rule": Class(around=True, pattern=
        r"^(?:[^\w\n]*[^\w\n-])?-{5}|^(?:[^\w\n]*[^\w\n=])?={5}|^[^\w\n]*_{5}|^(?:[^\w\n]*[^\w\n*])?\*{5}"
        r"|^(?:[^\w\n]*[^\w\n~])?~{5}"
        r"|^(?:[^\w\n]*[^\w\n#])?#{5}|^[^\w\n]*(?:─{5}|═{5})|(?:-{8}|={8}|_{8}|\*{8}|~{8}|#{8}|─{8}|═{8})[^\w\n]*$"),
    # Nothing went wrong.
    "passed": Class(around=True, pattern=
        r"\bPASS(?:ED)?\b|\b[oO]k\b|✓|✔|\b[sS]uccess(?:ful|fully)?\b|^\s*\[?OK\b|\b[dD]one\b|\bPassed\b|\bpassed\b"),
    "progress": Class(around=True, pattern=
        r"[dD]ownload|[fF]etch|[uU]npack|\bGet:?\d|^Hit|^Ign|[cC]opying|\bCompiling\b|[bB]uilding|[cC]reating"
        r"|[eE]xtract|[rR]esolv"
        r"|[iI]nstall|\d%|\d ?[KMk]i?B|Setting up|Preparing|Selecting|Using |Requirement already|remote:|[lL]oading"
        r"|[cC]ach(?:e|ing)"
        r"|[cC]lon(?:e|ing)|[gG]enerat|[lL]inking|^\s*CC\b|\bgcc\b|\bclang\b| -I\S|[uU]pdating|[rR]eceiving"),
    "afterwards": Class(pattern=
        r"^Done\. Your build|cache uploaded|nothing changed|changes detected|[uU]ploading|packing new"
        r"|after_(?:script|failure|success)"
        r"|before_cache|store build cache|Cleaning up|Post job|Unsetting|[oO]rphan|[aA]rchiv|[aA]rtifact|[cC]overage"
        r"|[cC]odecov"
        r"|[cC]overalls|Sending e-?mails|[nN]otif|^Finished: "),
    "advice": Class(any_case=True, pattern=
        r"\bhelp:|\bnote:|\bhint|did you mean|\btry |please |\bsee |for more info|instead|-->|re-run|reproduce"),
    # What other classes say does not count on such a line.
    "none": Class(role="dismissal", any_case=True, pattern=
        r"\b(?:0|no|zero) (?:\w+ )?(?:errors?|failures?|failed|warnings?|problems|issues)\b"
        r"|(?:failures?|errors?|failed|skipped)[:=] ?0\b|error[_-]|[_-]error|[/.](?:errors?|fail\w*|exceptions?)\b"
        r"| -W\w"
        r"|errors?\.(?:go|c|js|py|rb|h)\b|fail-?fast|ignore|\|\| true|--\w*(?:fail|error)|without error"
        r"|\berror (?:handling|messages?|codes?)\b|[_-]fail"),
    "skipped": Class(role="dismissal", any_case=True, around=True, pattern=
        r"\bskip(?:ped|ping)?\b|\bxfail(?:ed)?\b|\bignored\b|expected failure|\bpending\b|# TODO\b|\bxpass"),
    "code": Class(role="dismissal", around=True, pattern=
        r"[)\w\]\"'];\s*$|[)\w=>]\s*\{\s*$|^\s*[{}()\[\]]+[,;]?\s*$|^(?:[\w./+-]+[:-])?(?:\s*\d+[\t:|→-])?\s*(?:def"
        r"|class|import|from|return|if|for|while|var|let|const|public|private|static|void|#include|fn|func|else|try"
        r"|except)\b"),
    # What else a line may be.
    "prose": Class(pattern=r"^[A-Z][a-z]+ [a-z]+ [a-z]"),
    "key and value": Class(pattern=r'^\s*[\w.-]+\s?[:=]\s?\S+$|^\s*"[\w.-]+": '),
    "link": Class(pattern=r"https?://"),
}
# fmt: on
NAMES = tuple(CLASSES)
PLACES = {name: place for place, name in enumerate(NAMES)}
EVIDENCE = tuple(name for name, kind in CLASSES.items() if kind.role == "evidence")
BAD = tuple(name for name, kind in CLASSES.items() if kind.role in ("evidence", "suspicion"))
DISMISSED = tuple(name for name, kind in CLASSES.items() if kind.role == "dismissal")
AROUND = tuple(name for name, kind in CLASSES.items() if kind.around)
#: Classes that are reasons for showing a line, the strongest first, and their words.
REASONS = {name: kind.why for name, kind in CLASSES.items() if kind.why}
#: Words of failure in small letters, for kinds that look for plain words: in data, not in sentences. Each is a
#: substring.
FAILURE_WORDS = (b"error", b"fail", b"fatal", b"exception", b"panic", b"traceback", b"timeout", b"denied")
#: A pass stops after this many matches: about ten for each line of the most that is ever scored closely. Larger: a text
#: made of nothing but matches takes longer.
MAX_HITS = 1 << 20
#: Bytes after which matches are counted again. Larger: a pass ends later than after MAX_HITS.
COUNT_EVERY_BYTES = 1 << 12
PATTERNS = PatternSet(
    [kind.pattern.encode() for kind in CLASSES.values()], caseless=[kind.any_case for kind in CLASSES.values()]
)


def classify(view: bytes, starts: Array) -> Array:
    """Return which classes each line is in: a row of booleans per line, in the order of NAMES."""
    table = np.zeros((len(CLASSES), len(starts)), dtype=bool)
    hits: list[list[int]] = [[] for _ in CLASSES]  # where matches end
    checked = 0

    def record(number: int, _start: int, end: int, _flags: int, _context: object) -> bool | None:
        nonlocal checked
        hits[number].append(end)
        if end > checked:
            checked = end + COUNT_EVERY_BYTES
            return sum(map(len, hits)) > MAX_HITS
        return None

    PATTERNS.scan(view, record)
    counts = [len(ends) for ends in hits]
    # An end is behind the last byte; an empty match at a line's end belongs to that line.
    at = np.fromiter(chain.from_iterable(hits), np.int64, sum(counts))
    line = starts.searchsorted(np.maximum(at, 1) - 1, side="right") - 1
    table[np.arange(len(CLASSES)).repeat(counts), line] = True
    return table.T
