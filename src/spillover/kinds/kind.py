"""What an output is, and who selects from it: one module per kind, in the order in which they are tried.

A kind is a module. A new one is a file here, an entry in KINDS and a test. What no other kind recognises is a log.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from spillover.document.document import Document
from spillover.kinds import blob, diff, log, markup, page, prose, search, source, table
from spillover.kinds.json import ndjson, value
from spillover.kinds.json.strings import refine
from spillover.kinds.query import PLAIN_WORD, name_of, promised_kind
from spillover.kinds.sample import PIECE_BYTES, Sample, read_hint
from spillover.kinds.selection import SCREEN_TOKENS, Room, Selection, Span
from spillover.settings.settings import Call
from spillover.tokens import estimate


class Kind(Protocol):
    """A module that recognises a kind of output, and selects from it."""

    @property
    def NAMES(self) -> Sequence[str]:  # noqa: N802  a constant of the module
        """What `Clip.kind` may say."""

    def recognise(self, sample: Sample) -> str:
        """Return one of NAMES, or "" for an output of another kind."""

    def select(self, document: Document, room: Room, call: Call) -> Sequence[Span]:
        """Return what to show of an output that is one section and whole; nothing if it is of another kind."""


#: Formats: what they are can be seen. A value of JSON may be a blob as well, and stays JSON.
FORMATS: tuple[Kind, ...] = (value, blob, ndjson, diff, markup, table, page, prose)
#: Lines that a tool took from files. They are tried only if no format was recognised: a file may quote any.
LISTINGS: tuple[Kind, ...] = (source, search)
KINDS: tuple[Kind, ...] = (*FORMATS, *LISTINGS, log)
#: Kinds in which long strings are cut by what they are.
JSON_NAMES = (*value.NAMES, *ndjson.NAMES)


def select(document: Document, room: Room, call: Call) -> Selection:
    """Select from an output of any kind."""
    opens, closes = document.gap
    if len(document.sections) <= 1 and opens == closes:
        capped = _cap(document, room, call.worth)
        for name, kind in recognise(document, hint_of(call)):
            if kind is log:
                break
            spans = kind.select(document, capped, call)
            if spans and name in JSON_NAMES:
                spans = _refine(document, name, spans, capped, call)
            if spans:
                return Selection(name, spans)
    return Selection("log", log.select(document, room, call))


def recognise(document: Document, hint: str = "") -> Iterator[tuple[str, Kind]]:
    """Yield the names of what an output may be with the modules of these kinds, the likeliest first; the last is a log.

    Each is tested when it is needed: the first is almost always right.
    """
    if document.size and len(document.sections) <= 1:
        sample = Sample.of(document, hint)
        recognised = False
        for kinds in (FORMATS, LISTINGS):
            for kind in sorted(kinds, key=lambda kind: hint not in kind.NAMES):
                if name := kind.recognise(sample):
                    recognised = True
                    yield name, kind
            if recognised:
                break
    yield "log", log


def describe(document: Document, hint: str = "") -> str:
    """Return what an output is."""
    return next(recognise(document, hint))[0]


def hint_of(call: Call) -> str:
    """Return the kind that the file, the command or the tool of a call speaks of; "" for most."""
    return read_hint(name_of(call)) or promised_kind(call)


def _cap(document: Document, room: Room, worth: float) -> Room:
    """Return the room that is worth filling with an output of which no line is known to be needed more than others."""
    data = document.blob.read(0, PIECE_BYTES) if worth else b""
    if not data:
        return room
    return room.capped(SCREEN_TOKENS / worth * len(data) / max(1, estimate(data.decode("utf-8", "replace"))))


def _refine(document: Document, name: str, spans: Sequence[Span], room: Room, call: Call) -> Sequence[Span]:
    """Return the same with texts inside of JSON cut by what they are."""
    whole = value.respell(document) if name == "repr" else document
    return spans if whole is None else refine(whole, spans, room, select, call)


#: What names an error, the most telling first; each is looked for in a line of at most ERROR_LINE_CHARS.
_ERRORS = (
    re.compile(r"\b[A-Z][A-Za-z]{2,30}(?:Error|Exception|Failure|Fault)\b"),
    re.compile(r"\b[A-Z]{1,4}\d{3,5}\b"),
    re.compile(r"\b(?:Killed process|oom-kill|not ok|FAILED|FAIL|ERROR|panicked|fatal|failed|error)\b"),
)
ERROR_LINE_CHARS = 400
#: Why a line of a log is shown, in the words of `why`: the first of these that there is names the error.
_ERROR_REASONS = ("killed", "exception", "error message", "verdict", "crash", "exit code")
#: Where every part of an output begins, by kind.
_PARTS = {"diff": "^diff --git", "prose": "^#"}
#: Words with which definitions begin; those that a file has are searched for.
_DEFINES = re.compile(
    r"(?m)^[ \t]*+(?:\d++[:\t→][ \t]*+)?(?:(?:export|default|pub|public|static|async|abstract|final)[ \t]++)*+"
    r"(class|def|func|fn|function|struct|enum|trait|interface|type|impl)[ \t]"
)


def may_name_error(why: str) -> bool:
    """Tell whether a line that is shown for this reason may name the error of a log."""
    return why.partition("; ")[0] in _ERROR_REASONS


def likely_search(kind: str, shown: str, reasons: Iterable[tuple[str, str]], query: str = "") -> str:
    """Return a pattern for the search that a reader most likely makes next, "" where none is likely.

    `shown`: what is shown of the output; `reasons`: why each part of it is, and how its first line reads.
    """
    names = [word for word in PLAIN_WORD.findall(query) if word in shown and ("_" in word or word.lower() != word)]
    if names:
        return str(names[0])
    if kind == "log":
        return _name_error(list(reasons))
    if kind == "source":
        words = sorted(set(_DEFINES.findall(shown)))
        return f"({'|'.join(words)}) " if len(words) > 1 else f"{words[0]} " if words else ""
    start = _PARTS.get(kind, "")
    return start if start and re.search(f"(?m){start}", shown) else ""


def _name_error(reasons: Sequence[tuple[str, str]]) -> str:
    """Return the name of an error in the most telling line that has one, or a word that all such lines have."""
    first = [(why.partition("; ")[0], line) for why, line in reasons]
    lines = [line[:ERROR_LINE_CHARS] for reason in _ERROR_REASONS for why, line in first if why == reason]
    matches = (match for pattern in _ERRORS for match in map(pattern.search, lines) if match)
    return next((match[0] for match in matches), "")
