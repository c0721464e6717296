"""The search that a reader most likely makes next, told from what is shown: the rest of an error, of a file's definitions, of a diff."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: A pattern that quotes the output is made of these alone: nothing in it needs care in a shell, or is more than a word to a reader.
_PLAIN = re.compile(r"[A-Za-z][\w-]{2,39}")
#: What names an error, the most telling first; each is looked for in a line of at most LINE characters.
_ERRORS = (
    re.compile(r"\b[A-Z][A-Za-z]{2,30}(?:Error|Exception|Failure|Fault)\b"),
    re.compile(r"\b[A-Z]{1,4}\d{3,5}\b"),
    re.compile(r"\b(?:Killed process|oom-kill|not ok|FAILED|FAIL|ERROR|panicked|fatal|failed|error)\b"),
)
LINE = 400
#: Why a line of a log is shown, in the words of `why`: the first of these that there is names the error.
_TOLD = ("killed", "exception", "error message", "verdict", "crash", "exit code")
#: Where every part of an output begins, by kind.
_PARTS = {"diff": "^diff --git", "prose": "^#"}
#: Words with which definitions begin; those that a file has are searched for.
_DEFINES = re.compile(
    r"(?m)^[ \t]*+(?:\d++[:\t→][ \t]*+)?(?:(?:export|default|pub|public|static|async|abstract|final)[ \t]++)*+(class|def|func|fn|function|struct|enum|trait|interface|type|impl)[ \t]"
)


def may_name_error(why: str) -> bool:
    """Return whether a line that is shown for this reason may name the error of a log; no other is looked at."""
    return why.partition("; ")[0] in _TOLD


def likely_search(kind: str, shown: str, told: Iterable[tuple[str, str]], query: str = "") -> str:
    """Return a pattern for what was probably asked for, "" where nothing is likely.

    `shown`: what is shown of the output; `told`: why each part of it is, and how its first line reads.
    """
    asked = [word for word in _PLAIN.findall(query) if word in shown and ("_" in word or word.lower() != word)]
    if asked:
        return str(asked[0])
    if kind == "log":
        return _name_error(list(told))
    if kind == "source":
        words = sorted(set(_DEFINES.findall(shown)))
        return f"({'|'.join(words)}) " if len(words) > 1 else f"{words[0]} " if words else ""
    parts = _PARTS.get(kind, "")
    return parts if parts and re.search(f"(?m){parts}", shown) else ""


def _name_error(told: Sequence[tuple[str, str]]) -> str:
    """Return the name of an error in the most telling line that has one, or a word that all such lines have."""
    first = [(why.partition("; ")[0], line) for why, line in told]
    lines = [line[:LINE] for reason in _TOLD for why, line in first if why == reason]
    found = (match for pattern in _ERRORS for match in map(pattern.search, lines) if match)
    return next((match[0] for match in found), "")
