"""Source code: the lines that define names, the first lines that use them, and both ends."""

from __future__ import annotations

from msgspec import Struct

from spillover.kinds.ends import keep_ends
from spillover.kinds.log import is_source, read_sections
from spillover.kinds.selection import Span, largest
from spillover.patterns import compile_own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spillover.document.document import Document
    from spillover.kinds.selection import Fill

#: Definitions may take so much of the room; the rest goes to both ends.
SHARE = 0.7
#: Words before a name that say that it is defined here.
_BEFORE = (
    "pub|export|default|static|final|public|private|protected|internal|abstract|async|unsafe|extern|inline|const|let|var|val|mut"
    "|def|class|fn|func|function|struct|enum|trait|interface|type|mod|module|namespace|record|object|#define"
)
# Linear for a line that is not too long, whatever engine it is: no two runs of blanks without a bound stand side by side. A blank stands before the sign of an assignment, or it is an argument: `f(limit=3)`.
ASSIGNED = r"^\s*(?:(?:[\w.<>\[\]*&,]|::)+\s+){0,4}[*&]?(?:self\.|this\.)?([A-Za-z_]\w*)(?:\[\w*\]|\s{0,40}:\s{0,9}[^=]{1,80})?\s{1,80}:?=(?:[^=>]|$)"
DEFINED = rf"^\s*(?:(?:{_BEFORE})(?:\(\w+\))?\s+)+(?:\([^()]*\)\s*)?[*&]?([A-Za-z_]\w*)"
WORD = r"[A-Za-z_]\w*"
#: A longer line is not looked at: it was not written by hand.
LONGEST_LINE = 2_000
#: Lines that say something about a name without using it.
COMMENTS = (b"# ", b"//", b"/*", b"* ", b"-- ", b'"""')


class Definition(Struct, frozen=True):
    """A name, the line that defines it, the first line behind that which uses it, and how many do."""

    name: str
    variable: bool
    line: int
    first_use: int | None
    uses: int
    indent: int


def select(document: Document, fill: Fill) -> Sequence[Span]:
    """Keep definitions with their first usages, and both ends. Nothing of what is not source code. Variables of the outer level come first, the most used before others."""
    sections = [section.lines for section in read_sections(document)]
    if len(sections) != 1 or not is_source(sections[0]):
        return []
    lines = sections[0]
    edges = list(zip(lines.first.tolist(), lines.last.tolist(), strict=True))
    found = sorted(
        find_definitions([document.blob.read(start, end) for start, end in edges]),
        key=lambda each: (each.indent, not each.variable, -each.uses, each.line),
    )
    spans = [[Span(*edges[line], why) for line, why in _lines(each)] for each in found]

    def first(count: int) -> list[Span]:
        return [span for pair in spans[:count] for span in pair]

    kept = first(largest(len(spans), lambda count: fill(first(count)) / SHARE))
    return [*kept, *keep_ends(0.5)(document, lambda ends: fill([*kept, *ends]))]


def find_definitions(lines: Sequence[bytes]) -> list[Definition]:
    """Return the definitions in lines of source code, in order; a name that is defined twice counts once."""
    assigned, defined, word = map(compile_own, (ASSIGNED, DEFINED, WORD))
    where: dict[bytes, int] = {}
    variables: set[bytes] = set()
    uses: dict[bytes, list[int]] = {}
    for number, line in enumerate(lines):
        code = line.lstrip()
        if code.startswith(COMMENTS) or len(code) > LONGEST_LINE:
            continue
        for name in set(word.findall(line)).intersection(where):
            uses[name].append(number)
        variable = assigned.match(line)
        match = variable or defined.match(line)
        if match is None:
            continue
        targets = line[: match.end()].partition(b"=")[0]  # of `low, high = 1, 9` both
        names = word.findall(targets) if b"," in targets and b":" not in targets else [match[1]]
        for name in names:
            if name not in where:
                where[name], uses[name] = number, []
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
        for name, number in where.items()
    ]


def _lines(definition: Definition) -> Iterator[tuple[int, str]]:
    yield definition.line, f"defines {definition.name}"
    if definition.first_use is not None:
        yield definition.first_use, f"first use of {definition.name}"
