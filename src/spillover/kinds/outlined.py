"""The skeleton of a program: imports, constants, classes and signatures, each with the lines that belong to it."""

from __future__ import annotations

import re

from msgspec import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

#: A signature has at most so many lines.
SIGNATURE = 8
#: A line that closes one part and opens the next belongs to one of so many parts around it.
DEEP = 32

# All are matched at the beginning of a line; every quantifier is possessive, or followed by nothing that it matches.
_BEFORE = (
    rb"(?:(?:export|default|pub(?:\(\w++\))?|public|private|protected|internal|static|final|abstract|async|unsafe|extern"
    rb"|inline|declare|override|virtual|sealed|open|data|suspend|readonly|const(?= (?:fn|unsafe|async|extern)))[ \t]++)*+"
)
_DEFINED = re.compile(
    rb"[ \t]*+"
    + _BEFORE
    + rb"(?:def|class|func|fn|function\*?|struct|enum|trait|interface|type|impl|module|mod|namespace|record|object|union|macro_rules!"
    rb"|protocol|extension|sub|proc|package|contract|describe|it|test)\b[ \t(]"
)
_METHOD = re.compile(
    rb"[ \t]*+"
    + _BEFORE
    + rb"(?!(?:if|for|while|switch|catch|return|else|do|try|with|await|throw|new|match|case|when|until|unless|elif|and|or)\b)"
    rb"(?:[\w$<>\[\],.:?*&]++[ \t]++)*+[~#*\w$]++\("
)
_CONSTANT = re.compile(
    rb"(?:export[ \t]++)?+(?:pub[ \t]++)?+(?:(?:const|let|var|val|static|final|#define)\b|[A-Z][A-Z0-9_]{2,}+[ \t]*+[:=])"
)
_IMPORT = re.compile(
    rb"(?:import|from|use|using|package|#include|#import|require|require_relative|extern crate)\b|\} from |const .{1,80}= require\("
)
_HEADING = re.compile(rb"#{1,4} \S")
_CLOSES = re.compile(rb"[ \t]*+(?:[})\]]|end\b|fi\b|done\b|esac\b)")
_OPENED = re.compile(rb"(?:[{:(\[]|=>|\bdo(?: \|.{0,80}\|)?|->)[ \t\r]*+\n?\Z")


class Block(Struct, frozen=True):
    """A definition: its first line, the last of its signature, the last of all, how deep it is, and what it is."""

    first: int
    signature: int
    last: int
    depth: int
    kind: str  # "import", "constant", "definition" or "heading"


def outline(lines: Sequence[bytes], suffix: str) -> list[Block]:
    """Return the definitions in the text of a file, in order."""
    if suffix in ("md", "mdx", "markdown", "rst", "txt", "adoc"):
        return _headings(lines)
    return _by_indent(lines)


def _headings(lines: Sequence[bytes]) -> list[Block]:
    at = [number for number, line in enumerate(lines) if _HEADING.match(line)]
    ends = [*(number - 1 for number in at[1:]), len(lines) - 1]
    return [
        Block(number, number, max(number, end), lines[number].find(b" ") - 1, "heading")
        for number, end in zip(at, ends, strict=False)
    ]


def _by_indent(lines: Sequence[bytes]) -> list[Block]:
    """Return what looks like definitions; each reaches down to the next line that is indented no deeper."""
    indents = [len(line) - len(line.lstrip(b" \t")) if line.strip() else -1 for line in lines]
    ends = _ends(lines, indents)
    levels = sorted({indents[number] for number, line in enumerate(lines) if _DEFINED.match(line)})
    out: list[Block] = []
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        if indents[number] == 0 and _IMPORT.match(line):
            out.append(
                Block(
                    number,
                    number,
                    max(number, ends[number]) if line.rstrip().endswith((b"(", b"{")) else number,
                    0,
                    "import",
                )
            )
        elif _DEFINED.match(line) or (indents[number] <= 8 and _is_method(line)):
            depth = sum(1 for level in levels if level < indents[number])
            out.append(Block(number, _signature(lines, number), ends[number], depth, "definition"))
        elif indents[number] == 0 and _CONSTANT.match(line):
            out.append(Block(number, number, ends[number], 0, "constant"))
    return out


def _is_method(line: bytes) -> bool:
    """Return whether a line is the signature of a function that no keyword announces: `int main(void) {`."""
    return line.rstrip().endswith(b"{") and b"=>" not in line and _METHOD.match(line) is not None


def _ends(lines: Sequence[bytes], indents: Sequence[int]) -> list[int]:
    """Return where what begins on each line ends: before the next line that is indented no deeper, or with what closes it."""
    out = list(range(len(lines)))
    waiting: list[int] = []
    filled = 0
    for number, indent in enumerate(indents):
        if indent < 0:
            continue
        opens = _CLOSES.match(lines[number]) and _OPENED.search(lines[number])
        if opens and waiting and any(indents[begun] == indent for begun in waiting[-DEEP:]):
            while indents[waiting[-1]] > indent:
                out[waiting.pop()] = filled
            filled = number  # `):` ends a signature of several lines, and what it opens belongs to it
            continue
        while waiting and indents[waiting[-1]] >= indent:
            begun = waiting.pop()
            closes = indents[begun] == indent and _CLOSES.match(lines[number])
            out[begun] = number if closes else filled
        waiting.append(number)
        filled = number
    for begun in waiting:
        out[begun] = filled
    return out


def _signature(lines: Sequence[bytes], number: int) -> int:
    """Return the last line of a signature: the first that opens a body, where one does soon."""
    for line in range(number, min(number + SIGNATURE, len(lines))):
        if _OPENED.search(lines[line]) and not lines[line].rstrip().endswith((b"(", b"[")):
            return line
        if lines[line].rstrip().endswith((b";", b"}")) or not lines[line].strip():
            return line if lines[line].strip() else max(number, line - 1)
    return number


def doc_line(lines: Sequence[bytes], block: Block) -> int | None:
    """Return the line with the first sentence that is said of a definition: right below its signature, or right above it."""
    below = block.signature + 1
    if below < len(lines) and lines[below].lstrip().startswith((b'"""', b"'''", b'r"""')):
        first = below if len(lines[below].strip()) > 4 else below + 1
        return first if first < len(lines) else None
    above = block.first - 1
    if above < 0 or not lines[above].lstrip().startswith((b"//", b"#", b"*", b"--", b"/*")):
        return None
    for _ in range(40):  # the first of the lines of a comment says most
        if above - 1 >= 0 and lines[above - 1].lstrip().startswith((b"//", b"#", b"*", b"--", b"/*")):
            above -= 1
        else:
            break
    return above + 1 if lines[above].strip() in (b"/**", b"/*") else above
