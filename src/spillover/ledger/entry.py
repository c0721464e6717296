"""One line of the journal: what was clipped or fetched back, when, for whom, and how many tokens. Never a word of content.

    cs <tab> when <tab> produced <tab> base <tab> shown <tab> notice <tab> milliseconds
       <tab> scope <tab> tool <tab> host <tab> command <tab> kind <tab> ref <tab> near <tab> lines

The first two letters are the operation and the outcome. Numbers are padded with zeros, so that ten million lines can be read as
arrays (columns.py), and the line stays below what one write puts down in one piece.
"""

from __future__ import annotations

from spillover.base.data import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Operation = Literal["clip", "read", "grep", "outline", "list", "diff", "schema"]
    EntryOutcome = Literal["whole", "stored", "lost", "failed"]

#: The letters of a line. "schema": the descriptions of our own tools, which every session pays for.
OPERATIONS = {"clip": "c", "read": "r", "grep": "g", "outline": "o", "list": "l", "diff": "d", "schema": "s"}
#: "failed": a retrieval that was answered by what is wrong with it.
OUTCOMES = {"whole": "w", "stored": "s", "lost": "l", "failed": "f"}
_OPERATION = {letter: name for name, letter in OPERATIONS.items()}
_OUTCOME = {letter: name for name, letter in OUTCOMES.items()}
#: Going back, in the words of an entry's operation.
RETRIEVALS = ("read", "grep", "outline", "list", "diff")

#: How wide the numbers are: when (ms since 1970), produced, base, shown, notice, milliseconds.
WIDTHS = (13, 10, 10, 10, 10, 7)
HEAD = 2 + sum(1 + width for width in WIDTHS) + 1
#: The words, in order: the first KEY of them are what figures are grouped by.
WORDS = ("scope", "tool", "host", "command", "kind", "ref", "near", "lines")
KEY = 4
#: How much of each is kept, in bytes. Together with the head this is less than 4,096, which one write puts down in one piece.
MOST_BYTES = {"scope": 1_024, "tool": 200, "host": 60, "command": 800, "kind": 20, "ref": 120, "near": 12, "lines": 400}
#: A line that is longer is none of ours.
LINE_BYTES = 4_096
#: So many ranges of lines are kept.
RANGES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A clip or a retrieval. Tokens are by the counter that was chosen for it."""

    operation: Operation
    outcome: EntryOutcome
    when: float  # seconds since 1970
    scope: str
    tool: str
    host: str = ""  # the agent that asked, where it is known: "Claude Code"
    command: str = ""  # of a retrieval: of the output it went back to
    kind: str = ""
    ref: str = ""
    produced: int = 0  # tokens the tool produced
    base: int = 0  # tokens of these that the host would have shown without us
    shown: int = 0  # tokens of the output that reached the model; of a retrieval and a schema, all that did
    notice: int = 0  # tokens that reached the model and are not the output's
    milliseconds: int = 0
    lines: tuple[tuple[int, int], ...] = ()  # of a retrieval: what was fetched
    near: int | None = None  # how many lines the nearest shown line is from what was fetched and had not been shown

    @property
    def received(self) -> int:
        """All tokens that reached the model."""
        return self.shown + self.notice


def encode(entry: Entry) -> bytes:
    """Return the line of an entry, with its newline."""
    numbers = (int(entry.when * 1000), entry.produced, entry.base, entry.shown, entry.notice, entry.milliseconds)
    padded = "\t".join(
        str(min(max(0, number), 10**width - 1)).zfill(width) for number, width in zip(numbers, WIDTHS, strict=True)
    )
    lines = ",".join(f"{first}-{last}" for first, last in entry.lines[:RANGES])
    near = "" if entry.near is None else str(entry.near)
    words = (shorten_scope(entry.scope), entry.tool, entry.host, entry.command, entry.kind, entry.ref, near, lines)
    head = f"{OPERATIONS[entry.operation]}{OUTCOMES[entry.outcome]}\t{padded}\t".encode("ascii")
    return head + b"\t".join(_word(word, most) for word, most in zip(words, MOST_BYTES.values(), strict=True)) + b"\n"


def decode(line: bytes) -> Entry | None:
    """Return the entry of a line, without its newline; None for one that is damaged."""
    if not HEAD <= len(line) < LINE_BYTES or line[HEAD - 1 : HEAD] != b"\t":
        return None
    letters, *numbers = line[: HEAD - 1].split(b"\t")
    words = line[HEAD:].split(b"\t")
    widths = tuple(map(len, numbers))
    if widths != WIDTHS or len(words) != len(WORDS) or not all(map(bytes.isdigit, numbers)) or len(letters) != 2:
        return None
    operation, outcome = _OPERATION.get(chr(letters[0])), _OUTCOME.get(chr(letters[1]))
    if operation is None or outcome is None:
        return None
    when, produced, base, shown, notice, milliseconds = map(int, numbers)
    scope, tool, host, command, kind, ref, near, lines = (word.decode("utf-8", "replace") for word in words)
    return Entry(
        operation=operation,  # type: ignore[arg-type]  # one of the words, as the table has them
        outcome=outcome,  # type: ignore[arg-type]
        when=when / 1000,
        scope=scope,
        tool=tool,
        host=host,
        command=command,
        kind=kind,
        ref=ref,
        produced=produced,
        base=base,
        shown=shown,
        notice=notice,
        milliseconds=milliseconds,
        lines=_ranges(lines),
        near=int(near) if near.isdecimal() else None,
    )


def shorten_scope(scope: str) -> str:
    """Return a scope as the journal has it: a folder whose path is very long is named by its hash."""
    if len(scope.encode("utf-8", "replace")) <= MOST_BYTES["scope"]:
        return scope
    import hashlib  # hardly any path is so long

    return "/sha256/" + hashlib.sha256(scope.encode("utf-8", "replace")).hexdigest()


def _ranges(text: str) -> tuple[tuple[int, int], ...]:
    found = []
    for part in text.split(",") if text else ():
        first, dash, last = part.partition("-")
        if dash and first.isdecimal() and last.isdecimal():
            found.append((int(first), int(last)))
    return tuple(found)


def _word(text: str, most: int) -> bytes:
    """Return a word of a line: no tab, no line end and no other control code, cut between characters."""
    if not text.isprintable():
        text = "".join(char if char.isprintable() else " " for char in text)
    data = text.encode("utf-8", "replace")
    return data if len(data) <= most else data[:most].decode("utf-8", "ignore").encode()
