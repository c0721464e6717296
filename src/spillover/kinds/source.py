"""Source code: a skeleton, what answers the query, both ends; in the order of the file.

The skeleton is imports, constants, classes and signatures, read by indentation.
Numbers that a reader put before the lines are shown where a part begins and at definitions, and left out in between.
`select_definitions` is for profiles that show definitions and first uses only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from msgspec import Struct

from spillover.document.document import OBJECT, Document
from spillover.kinds import pack
from spillover.kinds.ends import keep_ends
from spillover.kinds.query import ANSWERS, MAX_CHARS, Query, file_suffix, prints_file
from spillover.kinds.sample import Sample, are_few, are_most
from spillover.kinds.selection import Fill, Room, Span, largest
from spillover.patterns import compile_own
from spillover.settings.settings import Call

Array = Any  # of numpy; its own types say little about what is in one

#: What `Clip.kind` may say.
NAMES = ("source",)
#: Bytes of both ends that are read of a longer output. More: more memory, and later definitions are seen.
HEAD_BYTES, TAIL_BYTES = 3 << 20, 1 << 20
#: The share of the room for the skeleton: of a file of which nothing is known, and of what somebody chose to see.
#: Measured: with more, agents find something of what they need in more of the files they read, and all of it in fewer.
SKELETON_SHARE, CHOSEN_SKELETON_SHARE = 0.45, 0.2
#: What is this many times larger than the room is a file of which nothing is known. More: smaller skeletons.
FILE_ROOMS = 3
#: The share of the room for what answers the query. More: less of the skeleton and of both ends.
ANSWERS_SHARE = 0.35
#: The share of the rest for the beginning: of a file, and of what a command printed of one. Measured: agents need of
#: the first what lies early, of the second what stands last.
FILE_HEAD_SHARE, COMMAND_HEAD_SHARE = 0.7, 0.2
#: A line that answers this much of the query is shown with its neighbours. More: fewer answers.
MIN_ANSWER = 0.34
#: Lines shown below one that answers the query, with one above it. More: fewer answers.
LINES_BELOW_ANSWER = 3
#: Constants shown before the definitions, with their first uses. More: fewer definitions.
MAX_CONSTANTS = 6
#: Bytes of a line in which names are looked for, and that are shown of it. More: minified lines take more room.
NAME_BYTES, LINE_BYTES = 400, 600
#: Lines of a comment about copyright at the beginning that wait. More: long licences wait as well.
MAX_LEGAL_LINES = 60
#: Lines of a signature that are shown. More: fewer signatures.
MAX_SIGNATURE_LINES = 8
#: In between, one line in this many shows its number. More: fewer numbers.
LINES_PER_NUMBER = 40
#: Estimated bytes of a token of source code. More: lines are taken to be cheaper.
BYTES_PER_TOKEN = 3.4
#: Definitions with first uses may take this share of the room, both ends the rest.
DEFINITIONS_SHARE = 0.7
#: A longer line defines nothing: it was not written by hand.
MAX_DEFINING_BYTES = 2_000

#: The share of numbered lines that count on from the one above, and of all lines that are numbered.
COUNTING_SHARE, NUMBERED_SHARE = 0.9, 0.8
MIN_NUMBERED_LINES = 5
#: The share of lines that look like code, and of lines that may look like a log. Fewer lines than MIN_CODE_LINES are
#: none.
CODE_SHARE, LOG_SHARE, MIN_CODE_LINES = 0.6, 0.02, 8

# All are matched where a line begins; every quantifier is possessive, or followed by nothing that it matches.
_MODIFIERS = (
    rb"(?:(?:export|default|pub(?:\(\w++\))?|public|private|protected|internal|static|final|abstract|async"
    rb"|unsafe|extern"
    rb"|inline|declare|override|virtual|sealed|open|data|suspend|readonly|const(?= (?:fn|unsafe|async"
    rb"|extern)))[ \t]++)*+"
)
#: A line that defines a function, a type or a module.
DEFINES = re.compile(
    rb"[ \t]*+"
    + _MODIFIERS
    + rb"(?:def|class|func|fn|function\*?|struct|enum|trait|interface|type|impl|module|mod|namespace|record|object"
    rb"|union|macro_rules!|protocol|extension|sub|proc|package|contract|describe|it|test)\b[ \t(]"
)
#: A line that defines a constant or a variable, without its indent.
DEFINES_CONSTANT = re.compile(
    rb"(?:export[ \t]++)?+(?:pub[ \t]++)?+"
    rb"(?:(?:const|let|var|val|static|final|#define)\b|[A-Z][A-Z0-9_]{2,}+[ \t]*+[:=])"
)
_METHOD = re.compile(
    rb"[ \t]*+"
    + _MODIFIERS
    + rb"(?!(?:if|for|while|switch|catch|return|else|do|try|with|await|throw|new|match|case|when|until|unless|elif"
    rb"|and|or)\b)(?:[\w$<>\[\],.:?*&]++[ \t]++)*+[~#*\w$]++\("
)
_IMPORT = re.compile(
    rb"(?:import|from|use|using|package|#include|#import|require|require_relative|extern crate)\b|\} from "
    rb"|const .{1,80}= require\("
)
_HEADING = re.compile(rb"#{1,4} \S")
_CLOSES = re.compile(rb"[ \t]*+(?:[})\]]|end\b|fi\b|done\b|esac\b)")
_OPENS = re.compile(rb"(?:[{:(\[]|=>|\bdo(?: \|.{0,80}\|)?|->)[ \t\r]*+\n?\Z")
_COMMENTS = (b"//", b"#", b"*", b"--", b"/*", b";")
_LINES = re.compile(rb"[^\n]*+\n|[^\n]++")
_LEGAL = re.compile(rb"(?i)copyright|licen[cs]e")
_NUMBER = re.compile(rb"[ \t]{0,12}+(\d{1,8}+)(?:\xe2\x86\x92|\t|: |:(?=\n|\Z)|[ \t]?\xe2\x94\x82 ?| ?\| ?)")
_CAT_NUMBER = re.compile(rb" {1,5}+\d{1,5}+\t|\d{6}\t")  # as `cat -n` and `nl` write them
_CODE = re.compile(
    rb"\s*+(?:(?:import|from|package|use|using|require|include|def|class|func|fn|function|struct|enum"
    rb"|interface|trait|type"
    rb"|impl|const|let|var|val|static|public|private|protected|export|async|return|if|elif|else|for|while"
    rb"|switch|case|match"
    rb"|try|catch|except|finally|with|throw|raise|defer|go|yield|await|namespace|module|end|assert|print|pass"
    rb"|break|continue"
    rb"|del)\b|[\w.]++(?:\[\w*+\])?(?: (?:=|:=|\+=|-=|\|=) |\()|#include|#define|//|/\*|\*|@\w|[})\]])"
)
_CODE_ENDS = (b"{", b"}", b";", b"(", b")", b",", b":", b"[", b"]", b"=>", b"*/")
_LOG = re.compile(
    rb"\s*+(?:\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d|\$ |\+ |> |Traceback|FAILED|ERROR|WARN|INFO|DEBUG|\[[A-Z])"
)
_TOP = re.compile(
    rb"(?:import|from|package|use|using|#include|def|class|func|fn|function|export|const|module|namespace"
    rb"|public|pub|struct"
    rb"|impl|enum|trait|type|interface|static|mod|async|private|var|let)\b|#!|//|/\*"
)
_TEXT_WORD = re.compile(r"\S++")
_WORD = re.compile(rb"[A-Za-z_$][\w$]{2,}+")
_KEYWORDS = frozenset(
    b"const let var val static final define export pub public private protected readonly int long char string String "
    b"bool boolean auto unsigned".split()
)
# Linear in any engine: no two runs of blanks without a bound stand side by side. A blank stands before the sign of an
# assignment, or it is an argument: `f(limit=3)`.
_ASSIGNS = (
    r"^\s*(?:(?:[\w.<>\[\]*&,]|::)+\s+){0,4}[*&]?(?:self\.|this\.)?([A-Za-z_]\w*)"
    r"(?:\[\w*\]|\s{0,40}:\s{0,9}[^=]{1,80})?\s{1,80}:?=(?:[^=>]|$)"
)
_NAMES = re.compile(
    rb"(?:" + DEFINES.pattern + rb"|[ \t]*+#define[ \t])[ \t]*+(?:\([^()\n]*+\)[ \t]*+)?[*&]?([A-Za-z_]\w*+)"
)


class Listing(Struct, frozen=True):
    """Lines: where each begins and ends in the output, the bytes of its number there that may be left out, its text."""

    start: Sequence[int]
    end: Sequence[int]
    skip: Sequence[int]
    text: Sequence[bytes]

    def __len__(self) -> int:
        return len(self.start)


def read_listing(document: Document) -> Listing:
    """Return the lines of an output; of a very long one, of both ends only."""
    start: list[int] = []
    lines: list[bytes] = []
    for at, data in document.ends(HEAD_BYTES, TAIL_BYTES):
        place = at
        for line in data.splitlines(keepends=True) if b"\r" not in data else _LINES.findall(data):
            start.append(place)
            place += len(line)
            lines.append(line)
    numbers = list(map(_NUMBER.match, lines))
    counts = _count_on([int(match[1]) if match else 0 for match in numbers])
    cuts = [match.end() if match and counts else 0 for match in numbers]
    # Numbers of `cat -n` and `nl` were requested, and stay.
    stay = sum(1 for line in lines if _CAT_NUMBER.match(line)) > len(lines) // 2
    end = [at + len(line) for at, line in zip(start, lines, strict=True)]
    text = [line[cut:] for line, cut in zip(lines, cuts, strict=True)]
    return Listing(start, end, [0] * len(lines) if stay else cuts, text)


def _count_on(numbers: Sequence[int]) -> bool:
    """Return whether nearly all of these numbers are one more than the one before; 0 stands for none."""
    count = sum(1 for number in numbers if number)
    steps = sum(1 for before, after in pairwise(numbers) if after == before + 1 and after)
    is_numbered = count >= MIN_NUMBERED_LINES and count >= NUMBERED_SHARE * len(numbers)
    return is_numbered and steps >= COUNTING_SHARE * (count - 1)


def is_file(lines: Sequence[bytes], *, hinted: bool) -> bool:
    """Return whether these are the lines of a file: numbered, or of a program. `hinted`: the call says so."""
    return is_numbered(lines, hinted=hinted) or is_code(lines, hinted=hinted)


def is_numbered(lines: Sequence[bytes], *, hinted: bool) -> bool:
    """Return whether these are the numbered lines of a file. A log may count its lines, too: `12: done`."""
    if not are_most(NUMBERED_SHARE, lines, _NUMBER.match):
        return False
    numbers = list(map(_NUMBER.match, lines))
    if not _count_on([int(match[1]) if match else 0 for match in numbers]):
        return False
    unusual = sum(1 for match in numbers if match and not match[0].rstrip(b" ").endswith(b":"))
    if hinted or unusual * 2 > len(lines):
        return True
    texts = [line[match.end() :] if match else line for line, match in zip(lines, numbers, strict=True)]
    return is_code(texts, hinted=True)


def is_code(lines: Sequence[bytes], *, hinted: bool) -> bool:
    """Return whether these are lines of a program, and not a log that quotes some."""
    if not hinted and not are_few(LOG_SHARE, lines, _LOG.match):
        return False
    texts = list(filter(bytes.strip, lines))
    if len(texts) < MIN_CODE_LINES:
        return False
    is_mostly_code = are_most(CODE_SHARE / 2 if hinted else CODE_SHARE, texts, _is_code_line)
    return is_mostly_code and (hinted or sum(1 for line in texts if _TOP.match(line)) >= 2)


def _is_code_line(line: bytes) -> bool:
    return _CODE.match(line) is not None or line.rstrip().endswith(_CODE_ENDS)


class Block(Struct, frozen=True):
    """A definition: its first line, the last of its signature, the last of all, how deep it is, and what it is."""

    first: int
    signature: int
    last: int
    depth: int
    kind: str  # "import", "constant", "definition" or "heading"


def read_skeleton(lines: Sequence[bytes], suffix: str) -> list[Block]:
    """Return the definitions in the text of a file, in order."""
    if suffix in ("md", "mdx", "markdown", "rst", "txt", "adoc"):
        return _read_headings(lines)
    indents = [len(line) - len(line.lstrip(b" \t")) if line.strip() else -1 for line in lines]
    ends = _find_ends(lines, indents)
    blocks: list[Block] = []
    above: list[int] = []  # the indents of the definitions around
    for number, line in enumerate(lines):
        indent = indents[number]
        if indent < 0:
            continue
        if indent == 0 and _IMPORT.match(line):
            last = ends[number] if line.rstrip().endswith((b"(", b"{")) else number
            blocks.append(Block(number, number, last, 0, "import"))
        elif DEFINES.match(line) or (indent <= 8 and _is_method(line)):
            while above and above[-1] >= indent:
                above.pop()
            blocks.append(Block(number, _end_signature(lines, number), ends[number], len(above), "definition"))
            above.append(indent)
        elif indent == 0 and DEFINES_CONSTANT.match(line):
            blocks.append(Block(number, number, ends[number], 0, "constant"))
    return blocks


def _read_headings(lines: Sequence[bytes]) -> list[Block]:
    starts = [number for number, line in enumerate(lines) if _HEADING.match(line)]
    ends = [*(number - 1 for number in starts[1:]), len(lines) - 1]
    return [
        Block(number, number, end, lines[number].find(b" ") - 1, "heading")
        for number, end in zip(starts, ends, strict=False)
    ]


def _is_method(line: bytes) -> bool:
    """Return whether a line is the signature of a function that no keyword announces: `int main(void) {`."""
    return line.rstrip().endswith(b"{") and b"=>" not in line and _METHOD.match(line) is not None


def _find_ends(lines: Sequence[bytes], indents: Sequence[int]) -> list[int]:
    """Return the last line of what each line begins; the next line that is no deeper and closes nothing is outside."""
    ends = list(range(len(lines)))
    waiting: list[int] = []
    last = 0  # line that is not blank
    for number, indent in enumerate(indents):
        if indent < 0:
            continue
        closes = _CLOSES.match(lines[number]) is not None  # `}` ends what began above, and `):` only its signature
        while waiting and indents[waiting[-1]] >= indent + closes:
            ends[waiting.pop()] = last
        if not closes:
            waiting.append(number)
        last = number
    for number in waiting:
        ends[number] = last
    return ends


def _end_signature(lines: Sequence[bytes], number: int) -> int:
    """Return the last line of a signature: the first that opens a body, where one does soon."""
    for place in range(number, min(number + MAX_SIGNATURE_LINES, len(lines))):
        text = lines[place].rstrip()
        if not text:
            return max(number, place - 1)
        if text.endswith((b";", b"}")) or (_OPENS.search(lines[place]) and not text.endswith((b"(", b"["))):
            return place
    return number


def recognise(sample: Sample) -> str:
    """Return "source" for the text of one file."""
    return "source" if is_file(sample.lines, hinted=sample.hint in NAMES) else ""


def select(document: Document, room: Room, call: Call) -> Sequence[Span]:
    """Return the skeleton and as much of the bodies as fits."""
    lines = read_listing(document)
    if len(lines) < 2:
        return []
    document.work.spend(OBJECT * 10 * len(lines))
    plan = _Plan(lines, read_skeleton(lines.text, file_suffix(call)), _read_query(call))
    is_part = bool(call.command) and not prints_file(call.command)

    total = int(plan.cost.sum()) + 1
    return room.largest(lambda tokens: plan.spans(plan.choose(tokens, is_part=is_part)), total)


def _read_query(call: Call) -> Query:
    """Return the words of a call without the names of files: which file it is does not say what is sought in it."""
    return Query.read(*(_TEXT_WORD.sub(_drop_path, text[:MAX_CHARS]) for text in (call.query, call.command)))


def _drop_path(word: re.Match[str]) -> str:
    """Return a blank for the name of a file: a word with a slash, or with a dot inside."""
    return " " if "/" in word[0] or "\\" in word[0] or "." in word[0].lstrip(".") else word[0]


def _count_legal(lines: Sequence[bytes]) -> int:
    """Return how many lines at the beginning are a comment about who may use the file."""
    for number, line in enumerate(lines[:MAX_LEGAL_LINES]):
        if line.strip() and not line.lstrip().startswith(_COMMENTS):
            return number if any(map(_LEGAL.search, lines[:number])) else 0
    return 0


def _name_constant(line: bytes) -> bytes:
    """Return the name that a line gives to a constant; b"" where it has none that is long enough to be looked for."""
    names = _WORD.findall(line[:NAME_BYTES].partition(b"=")[0])
    return next((name for name in names if name not in _KEYWORDS), b"")


class _Plan:
    """Lines with what each would cost, and the order in which they get room."""

    def __init__(self, lines: Listing, blocks: Sequence[Block], query: Query) -> None:
        self.lines = lines
        self.is_numbered = any(lines.skip)
        count = len(lines)
        sizes = np.fromiter((min(len(text), LINE_BYTES) for text in lines.text), dtype=np.int64, count=count)
        indents = np.fromiter((len(text) - len(text.lstrip()) for text in lines.text), dtype=np.int64, count=count)
        self.cost = 1.0 + (sizes - indents) / BYTES_PER_TOKEN
        self.why: dict[int, str] = {}
        self.skeleton = np.array(list(dict.fromkeys(self._order_skeleton(blocks))), dtype=np.int64)
        self.answers = np.array(list(dict.fromkeys(self._find_answers(query))), dtype=np.int64)
        self.defines = {block.first for block in blocks if block.kind == "definition"}

    def _order_skeleton(self, blocks: Sequence[Block]) -> Iterator[int]:
        """Yield constants with their first uses, then definitions, outer and long ones first."""
        constants = [block for block in blocks if block.kind == "constant"][:MAX_CONSTANTS]
        for line, why in [*((block.first, "constant") for block in constants), *self._first_uses(constants)]:
            self.why.setdefault(line, why)
            yield line

        def rank(block: Block) -> tuple[float, bool, int]:
            is_outline = block.kind in ("definition", "heading")
            return block.depth + 0.5 * (not is_outline), block.kind == "import", block.first - block.last

        for block in sorted(blocks, key=rank):
            self.why.setdefault(block.first, block.kind)
            last = block.last if block.kind == "import" else block.signature
            yield from range(block.first, min(last, block.first + MAX_SIGNATURE_LINES) + 1)

    def _first_uses(self, constants: Sequence[Block]) -> Iterator[tuple[int, str]]:
        """Yield where each constant is used first, and the reason."""
        waiting = {name: block.last for block in constants if (name := _name_constant(self.lines.text[block.first]))}
        for number, text in enumerate(self.lines.text):
            if not waiting:
                return
            for name in dict.fromkeys(_WORD.findall(text[:NAME_BYTES])):  # a set differs between processes
                if number > waiting.get(name, number):
                    del waiting[name]
                    yield number, f"first use of {name.decode('utf-8', 'replace')}"

    def _find_answers(self, query: Query) -> Iterator[int]:
        """Yield the lines that answer the query, the best first, each with its neighbours."""
        points = query.score(self.lines.text) if query else np.zeros(0)
        for line in np.argsort(-points, kind="stable")[:200].tolist():
            if points[line] >= MIN_ANSWER:
                self.why[line] = ANSWERS
                yield from range(max(0, line - 1), min(len(self.lines), line + LINES_BELOW_ANSWER + 1))

    def choose(self, tokens: int, *, is_part: bool) -> Array:
        """Return which lines to show in this many tokens. `is_part`: a command chose a part of the file."""
        is_file = not self.is_numbered and not is_part and float(self.cost.sum()) > FILE_ROOMS * tokens
        keep = np.zeros(len(self.lines), dtype=bool)
        keep = self._add(keep, self.skeleton, (SKELETON_SHARE if is_file else CHOSEN_SKELETON_SHARE) * tokens)
        keep = self._add(keep, self.answers, min(tokens, self._price(keep) + ANSWERS_SHARE * tokens))
        head = FILE_HEAD_SHARE if self.is_numbered or is_file else COMMAND_HEAD_SHARE
        before = np.cumsum(self.cost)
        behind = np.cumsum(self.cost[::-1])[::-1]
        legal = _count_legal(self.lines.text)
        before -= before[legal - 1] if legal else 0.0
        before[:legal] = np.inf
        return self._add(keep, np.argsort(np.minimum(before / head, behind / (1 - head)), kind="stable"), tokens)

    def _add(self, base: Array, order: Array, tokens: float) -> Array:
        return pack.take(base, order, tokens, close=self._close, price=self._price)

    def _close(self, keep: Array) -> Array:
        return pack.fill_holes(keep, self.cost, pack.MARKER)

    def _price(self, keep: Array) -> float:
        return pack.price(keep, self.cost)

    def spans(self, keep: Array) -> list[Span]:
        """Return a span for each line with its number left out or kept."""
        lines = self.lines
        spans: list[Span] = []
        before = -2
        run = 0  # lines since a part began
        for line in np.flatnonzero(keep).tolist():
            run = 0 if line != before + 1 else run + 1
            skip = 0 if line in self.defines or run % LINES_PER_NUMBER == 0 else lines.skip[line]
            why = self.why.get(line, "")
            start, end = lines.start[line], lines.end[line]
            if end - start > LINE_BYTES + 64 + skip:
                spans += [Span(start, start + skip + LINE_BYTES, why, None, "", skip), Span(end - 1, end)]
            else:
                spans.append(Span(start, end, why, None, "", skip))
            before = line
        return spans


class Definition(Struct, frozen=True):
    """A name, the line that defines it, the first line behind that which uses it, and how many do."""

    name: str
    variable: bool
    line: int
    first_use: int | None
    uses: int
    indent: int


def select_definitions(document: Document, fill: Fill) -> Sequence[Span]:
    """Return definitions with first uses, outer variables first, and both ends; nothing of what is no source code."""
    is_whole = len(document.sections) == 1 and document.gap[0] == document.gap[1]
    lines = read_listing(document) if is_whole else Listing([], [], [], [])
    if not is_code([text.rstrip(b"\n") for text in lines.text], hinted=False):
        return []
    definitions = sorted(
        find_definitions(lines.text),
        key=lambda definition: (definition.indent, not definition.variable, -definition.uses, definition.line),
    )

    def show(count: int) -> list[Span]:
        spans = []
        for definition in definitions[:count]:
            line, use = definition.line, definition.first_use
            spans.append(Span(lines.start[line], lines.end[line], f"defines {definition.name}"))
            if use is not None:
                spans.append(Span(lines.start[use], lines.end[use], f"first use of {definition.name}"))
        return spans

    spans = show(largest(len(definitions), lambda count: fill(show(count)) / DEFINITIONS_SHARE))
    return [*spans, *keep_ends(0.5)(document, lambda ends: fill([*spans, *ends]))]


def find_definitions(lines: Sequence[bytes]) -> list[Definition]:
    """Return the definitions in lines of source code, in order; a name that is defined twice counts once."""
    assigns, word = compile_own(_ASSIGNS), compile_own(r"[A-Za-z_]\w*")
    places: dict[bytes, int] = {}
    variables: set[bytes] = set()
    uses: dict[bytes, list[int]] = {}
    for number, line in enumerate(lines):
        code = line.lstrip()
        if code.startswith((b"# ", b"//", b"/*", b"* ", b"-- ", b'"""')) or len(code) > MAX_DEFINING_BYTES:
            continue
        for name in set(word.findall(line)).intersection(places):
            uses[name].append(number)
        variable = assigns.match(line)
        match = variable or _NAMES.match(line)
        if match is None:
            continue
        targets = line[: match.end()].partition(b"=")[0]  # of `low, high = 1, 9` both
        names = word.findall(targets) if b"," in targets and b":" not in targets else [match[1]]
        for name in names:
            if name not in places:
                places[name] = number
                uses[name] = []
                variables.update([name] if variable else [])
    return [
        Definition(
            name.decode("latin-1"),
            name in variables,
            number,
            next(iter(uses[name]), None),
            len(uses[name]),
            len(lines[number]) - len(lines[number].lstrip()),
        )
        for name, number in places.items()
    ]
