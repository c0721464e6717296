r"""What a line can look like: one table of patterns, found in all lines at once by Hyperscan.

A pattern says what it needs and stops: Hyperscan reports every place where one can end, so `test_\w` and not `test_\w+`.
`^` and `$` are the edges of a line. The letter before a pattern: `i` for either case, `c` for the case as written.
"""

from __future__ import annotations

from spillover.select.engine import Engine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Array = Any  # of numpy; its own types say little about what is in one

CLASSES: dict[str, tuple[str, str]] = {
    # something went wrong
    "error": ("i", r"\berrors?\b"),
    "error says": (
        "i",
        (
            r"(?:^|[\s\]:)])(?:fatal |internal compiler |syntax |compile |compilation )?(?:error|fatal|failure)"
            r"(?:\[\w+\]| \w{1,3}\d{2,5})?\s?[!:]|##\[error\]|[\[(](?:error|fatal|err)[\])]|\bERR!|^E\d+:|: [EF]\d{3,4}: |^error\b|invalid.syntax"
        ),
    ),
    "fail": ("i", r"fail(?:ed|ures?|ing|s)?\b"),
    "in capitals": ("c", r"\b(?:FAIL|FAILED|FAILURES?|ERRORS?|FATAL|CRITICAL|BROKEN|UNEXPECTED)\b"),
    "exception name": ("c", r"[a-z](?:Error|Exception|Failure|Fault)\b"),
    "exception head": (
        "c",
        (
            r"^\s*(?:E\s+)?(?:[\w$]+[.:]+)*[A-Z]\w*(?:Error|Exception|Warning|Failure)\b(?::|$)|^\s*Caused by|Traceback \(most|:\d+: \w*(?:Error|Exception)$|^E {3,}\S"
            r"|Uncaught|Unhandled|panicked at|^panic:|[Ss]tack ?[Tt]race|[Bb]acktrace"
        ),
    ),
    "verdict": (
        "c",
        (
            r"^\s*(?:--- )?(?:FAIL|FAILED|ERROR)\b[: ]|\.\.\.\s?(?:FAIL|ERROR)|^\s*not ok\b|\b(?:FAILED|FAILURE|FAIL|ERROR)!?\s*$"
            r"|^\s*(?:✗|✖|✕|✘|\xc3\x97|●) |TEST-UNEXPECTED|<<< (?:FAIL|ERROR)|^\s*\d{1,3}\) |\bFAILED\b \[|::\S* (?:FAILED|ERROR)\b|\b[Tt]est\w* [EF]$"
        ),
    ),
    "crash": (
        "i",
        (
            r"panick?\b|segmentation|segfault|core dumped|\babort|\bkilled\b|out of memory|timed? ?out|\bSIG[A-Z]{3}"
            r"|crash|deadlock|\bleak|overflow|\bfatal\b|no output has been received|terminated|cancell?ed"
        ),
    ),
    "cannot": (
        "i",
        (
            r"not found|no such|\bcannot\b|\bcan't|could ?n[o']t|unable|undefined|undeclared|unknown|unexpected|unrecogni[sz]ed"
            r"|\binvalid|illegal|\bmissing|denied|refused|unresolved|mismatch|incompatible|conflict|does ?n[o']t|rejected|violat"
            r"|\bbroken\b|\bbad\b|\bwrong\b|\bnot (?:a |exist|match|defined|supported|allowed|available|up-to-date|installed"
            r"|satisf|properly|formatted|declared|valid|permitted|resolve)"
        ),
    ),
    "expected": (
        "i",
        r"expected|\bassert|\bactual|should\b|\bgot\b|but was|to (?:equal|be|eq|have|match)\b|\bdiffer|received:",
    ),
    "mark": ("c", r"✗|✖|✕|\xc3\x97|●|❌|✘|^\s*E  |^\s*>  |^not ok|^\s*\d+\) |^\s*>> |^--- |^\*\*\* |^!!"),
    "exit": (
        "i",
        (
            r"exited with (?:code |status )?[1-9]|exit(?:ed)?(?: with)?(?: status| code)?:? ?-?[1-9]|returned (?:a )?non-zero"
            r"|non-?zero exit|\*\*\* \[|ELIFECYCLE|status:? [1-9]|BUILD FAIL|Build step '"
            r"|return code: ?[1-9]|build failed"
        ),
    ),
    # where
    "frame": (
        "c",
        (
            r'^\s*(?:at |File "|from |in |#\d+ |\d+: |\.{3} \d+ more|@ )|[\w>]:\d+\)'
            r"|\.(?:rb|py|js|go|java|scala|php|exs?|hs|pm|t|cc?|cpp|h|rs|swift|tsx?|jl|clj|lua|cs|kt):\d"
        ),
    ),
    "place": ("i", r"[\w)]\.\w{1,5}[:(]\d|\bline \d|:\d+:\d"),
    "place first": ("c", r"^\s*[\w./@+-]*[\w/]\.\w{1,5}[:(]\d"),
    "test name": ("c", r"\btest_\w|\w[Tt]est\b|\bTest\w|\bspec\b|\btests?[/.]|_spec|\bit\(|^\s*test "),
    "diff": ("c", r"^\s*[-+](?:[^-+\n]|$)|^\s*@@|^(?:---|\+\+\+) "),
    "caret": ("c", r"^[\s|\]>\w\[]{0,14}[\^~]+\s*$|\^~*\s*$"),
    "rule": (
        "c",
        r"^[^\w\n]*(?:-{5}|={5}|_{5}|\*{5}|~{5}|#{5}|─{5}|═{5})|(?:-{8}|={8}|_{8}|\*{8}|~{8}|#{8}|─{8}|═{8})[^\w\n]*$",
    ),
    "title": (
        "c",
        r"^[^\w\n]*(?:-{3}|={3}|_{3}|\*{3}|~{3}|#{3}|─{3}|═{3}) ?\w.*(?:-{3}|={3}|_{3}|\*{3}|~{3}|#{3}|─{3}|═{3})\s*$",
    ),
    "command": (
        "c",
        r"^\$ |^\+{1,3} |^> |##\[(?:group|section|command)\]|^==> |^Run |^\[command\]|^travis_\w|^The command \"",
    ),
    "summary": (
        "i",
        (
            r"\b\d+ (?:tests?|passed|failed|failures?|failing|errors?|examples?|specs?|assertions|problems?|passing|pending"
            r"|skipped|scenarios?|steps|files?|warnings|runs)\b|tests? run|tests: |failures?[:=]|summary|results? ?:|^ran \d"
        ),
    ),
    # nothing went wrong
    "warning": ("i", r"\bwarn(?:ing)?s?\b|deprecat|\bnotice\b"),
    "passed": (
        "c",
        r"\bPASS(?:ED)?\b|\b[oO]k\b|✓|✔|\b[sS]uccess(?:ful|fully)?\b|^\s*\[?OK\b|\b[dD]one\b|\bPassed\b|\bpassed\b",
    ),
    "skipped": (
        "i",
        r"\bskip(?:ped|ping)?\b|\bxfail(?:ed)?\b|\bignored\b|expected failure|\bpending\b|# TODO\b|\bxpass",
    ),
    "none": (
        "i",
        (
            r"\b(?:0|no|zero) (?:\w+ )?(?:errors?|failures?|failed|warnings?|problems|issues)\b"
            r"|(?:failures?|errors?|failed|skipped)[:=] ?0\b|error[_-]|[_-]error|[/.](?:errors?|fail\w*|exceptions?)\b| -W\w"
            r"|errors?\.(?:go|c|js|py|rb|h)\b|fail-?fast|ignore|\|\| true|--\w*(?:fail|error)|without error"
            r"|\berror (?:handling|messages?|codes?)\b|[_-]fail"
        ),
    ),
    "progress": (
        "c",
        (
            r"[dD]ownload|[fF]etch|[uU]npack|\bGet:?\d|^Hit|^Ign|[cC]opying|\bCompiling\b|[bB]uilding|[cC]reating|[eE]xtract|[rR]esolv"
            r"|[iI]nstall|\d%|\d ?[KMk]i?B|Setting up|Preparing|Selecting|Using |Requirement already|remote:|[lL]oading|[cC]ach(?:e|ing)"
            r"|[cC]lon(?:e|ing)|[gG]enerat|[lL]inking|^\s*CC\b|\bgcc\b|\bclang\b| -I\S|[uU]pdating|[rR]eceiving"
        ),
    ),
    "afterwards": (
        "c",
        (
            r"^Done\. Your build|cache uploaded|nothing changed|changes detected|[uU]ploading|packing new|after_(?:script|failure|success)"
            r"|before_cache|store build cache|Cleaning up|Post job|Unsetting|[oO]rphan|[aA]rchiv|[aA]rtifact|[cC]overage|[cC]odecov"
            r"|[cC]overalls|Sending e-?mails|[nN]otif|^Finished: "
        ),
    ),
    "advice": (
        "i",
        r"\bhelp:|\bnote:|\bhint|did you mean|\btry |please |\bsee |for more info|instead|-->|re-run|reproduce",
    ),
    # what else it may be
    "code": (
        "c",
        r"[)\w\]\"'];\s*$|[)\w=>]\s*\{\s*$|^\s*[{}()\[\]]+[,;]?\s*$|^\s*(?:def|class|import|from|return|if|for|while|var|let|const|public|private|static|void|#include|fn|func|else|try|except)\b",
    ),
    "prose": ("c", r"^[A-Z][a-z]+ [a-z]+ [a-z]"),
    "key and value": ("c", r'^\s*[\w.-]+\s?[:=]\s?\S+$|^\s*"[\w.-]+": '),
    "link": ("c", r"https?://"),
}
NAMES = tuple(CLASSES)
#: Evidence that something failed; what may be; and what takes either back.
EVIDENCE = ("exit", "verdict", "exception head", "error says", "crash")
BAD = NAMES[: NAMES.index("exit") + 1]
DISMISSED = ("none", "skipped", "code")
#: Not looked at beyond this in one pass: a megabyte of lines, each in ten classes, is what is ever scored closely.
MOST_HITS = 1 << 20
ENGINE = Engine(
    [pattern.encode() for _, pattern in CLASSES.values()], caseless=[case == "i" for case, _ in CLASSES.values()]
)


def classes(view: bytes, starts: Array) -> Array:
    """Which classes each line is in: a row of booleans per line, in the order of NAMES."""
    import numpy as np

    hits: list[int] = []
    put = hits.append

    def found(number: int, _start: int, end: int, _flags: int, _context: object) -> bool | None:
        put(end << 8 | number)
        return len(hits) > MOST_HITS or None

    ENGINE.scan(view, found)
    at = np.array(hits, dtype=np.int64)
    table = np.zeros((len(starts), len(CLASSES)), dtype=bool)
    # An end is behind the last byte; an empty match at a line's end belongs to that line.
    table[np.searchsorted(starts, np.maximum(at >> 8, 1) - 1, side="right") - 1, at & 0xFF] = True
    return table
