"""The pipelines of a line that end in filters (`| tail -20`), and the line with what goes into the filters kept. Pure."""

from __future__ import annotations

from msgspec import Struct

from spillover.shell.command import bare_name
from spillover.shell.inner import unwrap
from spillover.shell.split import is_file
from spillover.shell.tree import COSTLY, MOST_COSTLY, MOST_DEEP, command_of, load, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tree_sitter import Node

#: Longer lines, and pipelines beyond these, run as they came.
MOST_CHARS, MOST_PIPES = 20_000, 8
#: Filters that drop lines: each with its options that take a word, and how many words it has before files are named.
SIEVES: dict[str, tuple[str, int]] = {
    "tail": ("-n -c -s --lines --bytes --pid", 0),
    "head": ("-n -c --lines --bytes", 0),
    "wc": ("", 0),
    **dict.fromkeys(
        ("grep", "egrep", "fgrep", "rg"),
        ("-e -f -m -A -B -C --regexp --file --max-count --after-context --before-context --context --include --exclude", 1),
    ),
    "sed": ("-e -f --expression --file", 1),
}  # fmt: skip
#: With one of these a sieve reads files, changes them, or prints nothing that anybody asked for.
OTHERWISE = {
    **dict.fromkeys(("grep", "egrep", "fgrep", "rg"), ("-q", "--quiet", "--silent", "-r", "-R", "--recursive", "--files")),
    "sed": ("-i", "--in-place"),
    "tail": ("-f", "-F", "--follow"),
}  # fmt: skip
#: May stand between sieves: what they print is made of what they read.
THROUGH = frozenset(
    {"sort", "uniq", "cut", "tr", "nl", "cat", "column", "fold", "rev", "tac", "awk", "sed", "fmt", "jq"}
)
#: What these print stands in the line, or in a file that is named there.
PLAIN_SOURCES = frozenset({"echo", "printf", "cat"})
#: A group is named after its last command that is none of these.
NAMELESS = frozenset({"exit", "echo", "printf", "true", "false", "cd", "set", "export", ":", "sleep", "wait"})
#: Commands after which the words we add would be seen, or mean something else.
SEEN_BY = frozenset({"trap", "alias", "unalias", "enable", "shopt", "coproc"})
SEEN_IN = ("BASH_COMMAND", "BASH_EXECUTION_STRING", "BASH_SUBSHELL", "LINENO", "xtrace", "verbose")
_TRANSPARENT = frozenset({"program", "list", "pipeline", "redirected_statement", "negated_command"})
_GROUPS = frozenset({"subshell", "compound_statement"})
_SEPARATORS = frozenset({"&&", "||", ";", ";;", "&", "\n"})


class Stage(Struct, frozen=True):
    """One stage before the filters. `start` and `end` are bytes of the line; `end` is where its `|` stands."""

    start: int
    end: int
    program: str
    telling: bool  # whether its exit code can be told without a change of what it means


class Pipe(Struct, frozen=True):
    """A pipeline that ends in filters."""

    stages: tuple[Stage, ...]
    filter_at: int  # where the name of the first filter stands
    program: str  # the first filter
    filters: str  # all of them, as they are written: "| grep -v ok | tail -20"


class _Part:
    """A stage as it is read: its nodes, and what follows it."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.redirects: list[Node] = []
        self.negated = False
        self.operator_at = 0  # where the | or |& behind it stands

    @property
    def start(self) -> int:
        return min(node.start_byte for node in (*self.nodes, *self.redirects))


def find_pipes(line: str) -> list[Pipe]:
    """Return the pipelines whose filters can be looked behind; none where the line cannot be read for certain."""
    parse = load()
    if parse is None or len(line) > MOST_CHARS or sum(map(line.count, COSTLY)) > MOST_COSTLY:
        return []
    if "\0" in line or any(word in line for word in SEEN_IN):
        return []
    data = line.encode("utf-8", "surrogateescape")
    root = parse(data).root_node
    if root.has_error or _is_watched(root):
        return []
    return list(_find(root, data, 0))[:MOST_PIPES]


def rewrite(line: str, pipes: list[Pipe], keep: Callable[[int], str], tell: Callable[[int, int], str]) -> str:
    """Return the line with `keep(pipe)` before each first filter, and `tell(pipe, stage)` at the start of each stage."""
    data = line.encode("utf-8", "surrogateescape")
    edits: list[tuple[int, str]] = []
    for number, pipe in enumerate(pipes):
        for at, stage in enumerate(pipe.stages):
            if stage.telling:
                edits += [(stage.start, f"{{ {tell(number, at)}; "), (stage.end, "; } ")]
        edits.append((pipe.filter_at, f"{keep(number)} "))
    for at, words in sorted(edits, reverse=True):
        data = data[:at] + words.encode("utf-8", "surrogateescape") + data[at:]
    return data.decode("utf-8", "surrogateescape")


def _find(node: Node, data: bytes, deep: int) -> Iterator[Pipe]:
    if deep > MOST_DEEP:
        return
    for parts, separator in _pipelines(node):
        if separator == "&":  # it goes on after the line has ended
            continue
        if len(parts) == 1 and not parts[0].negated and len(parts[0].nodes) == 1:
            (inner,) = parts[0].nodes
            if inner.type in _GROUPS and not any(map(_leads_away, parts[0].redirects)):
                yield from _find(inner, data, deep + 1)
            continue
        pipe = _pipe(parts, data)
        if pipe is not None:
            yield pipe


def _pipelines(node: Node) -> Iterator[tuple[list[_Part], str]]:
    """Yield the pipelines of a node, each with what follows it.

    The grammar takes `a && b 2>&1 | c` for `{ a && b; } | c`. So all it knows of lists and pipelines is put in a row, and
    read with bash's own precedence.
    """
    parts = [_Part()]
    for item in _row(node):
        kind = item.type
        if kind in _SEPARATORS:
            if parts[0].nodes:
                yield parts, kind
            parts = [_Part()]
        elif kind in ("|", "|&"):
            parts[-1].operator_at = item.start_byte
            parts.append(_Part())
        elif kind == "!":
            parts[-1].negated = True
        elif kind.endswith("_redirect"):
            parts[-1].redirects.append(item)
        elif kind != "comment":
            if parts[-1].nodes:  # the next statement, on a line of its own
                yield parts, "\n"
                parts = [_Part()]
            parts[-1].nodes.append(item)
    if parts[0].nodes:
        yield parts, ""


def _row(node: Node) -> Iterator[Node]:
    for child in node.children:
        if child.type in _TRANSPARENT:
            yield from _row(child)
        elif child.type not in ("(", ")", "{", "}"):
            yield child


def _pipe(parts: list[_Part], data: bytes) -> Pipe | None:
    """Return a pipeline as one that ends in filters; None where it does not, or not for certain."""
    if any(len(part.nodes) != 1 for part in parts):
        return None
    if any(redirect.type == "heredoc_redirect" for part in parts for redirect in part.redirects):
        return None  # its text stands behind the line, and the rest of the line inside of it
    first, sieves = len(parts), 0
    while first > 1:
        kind = _filter_kind(parts[first - 1])
        if not kind:
            break
        sieves += kind == "sieve"
        first -= 1
    if first == len(parts) or not sieves:
        return None
    stages = tuple(_stage(part, number) for number, part in enumerate(parts[:first]))
    if len(stages) == 1 and parts[0].nodes[0].type == "command" and stages[0].program in PLAIN_SOURCES:
        return None
    name = next(child for child in parts[first].nodes[0].children if child.type == "command_name")
    last = parts[-1]
    end = max(node.end_byte for node in (*last.nodes, *last.redirects))
    said = data[parts[first - 1].operator_at : end].decode("utf-8", "replace")
    return Pipe(stages, name.start_byte, text_of(name), said)


def _stage(part: _Part, number: int) -> Stage:
    (node,) = part.nodes
    commands = [node] if node.type == "command" else list(_inside(node, "command"))
    named = [words for each in commands if (words := command_of(each).words)] or [(node.type.partition("_")[0],)]
    words = next((words for words in reversed(named) if words[0] not in NAMELESS), named[-1])
    found = unwrap(words)
    program = bare_name(words[0]) if found is None or isinstance(found, str) else found.program
    # `time` and `!` speak of the whole pipeline; in braces they would speak of one stage.
    timed = number == 0 and bool(words) and words[0] == "time"
    return Stage(part.start, part.operator_at, program, telling=not (part.negated or timed))


def _filter_kind(part: _Part) -> str:
    """Return "sieve" for a stage that drops lines, "through" for one that passes them on; nothing for others."""
    (node,) = part.nodes
    if node.type != "command" or part.negated:
        return ""
    inner = [child for child in node.named_children if child.type.endswith("_redirect")]
    if any(_leads_away(redirect) for redirect in (*part.redirects, *inner)):
        return ""
    names = [child for child in node.children if child.type == "command_name"]
    if not names or [child.type for child in names[0].named_children] != ["word"]:
        return ""
    words = list(command_of(node).words)
    program = words[0]
    if program in SIEVES and _sieves(program, words[1:]):
        return "sieve"
    return "through" if program in THROUGH else ""


def _sieves(program: str, words: list[str]) -> bool:
    """Return whether a sieve reads what is piped into it, and nothing else."""
    taking, own = SIEVES[program]
    options = taking.split()
    named, silent = 0, program == "sed"
    while words:
        word = words.pop(0)
        if any(_has(word, option) for option in OTHERWISE.get(program, ())):
            return False
        if program == "sed" and _has(word, "-n"):
            silent = False
        if word == "--":
            named += len(words)
            break
        if word in options:
            del words[:1]
            own = own if word not in ("-e", "-f", "--regexp", "--expression", "--file") else 0
        elif not word.startswith(("-", "+")):
            named += 1
        elif word.startswith(("--regexp=", "--expression=")) or (own and word.startswith("-e") and len(word) > 2):
            own = 0
    return named <= own and not silent


def _has(word: str, option: str) -> bool:
    """Return whether a word is this option, or has it among others: `-qi`."""
    if option.startswith("--") or word.startswith("--"):
        return word == option or word.startswith(f"{option}=")
    return word.startswith("-") and len(word) > 1 and word[1:].isalpha() and option[1] in word[1:]


def _leads_away(redirect: Node) -> bool:
    """Return whether a redirect takes a filter's input or output elsewhere."""
    if redirect.type != "file_redirect":
        return True
    operator = next((child.type for child in redirect.children if not child.is_named), "")
    descriptor = next((text_of(child) for child in redirect.named_children if child.type == "file_descriptor"), "1")
    target = redirect.child_by_field_name("destination")
    return (
        not operator.startswith(">") or target is None or (descriptor == "1" and is_file(text_of(target)))
    ) and operator != ">&"


def _is_watched(root: Node) -> bool:
    """Return whether something in the line would see the words that are added to it, or give a filter another meaning."""
    for node in _inside(root, "command"):
        words = command_of(node).words
        if words and (words[0] in SEEN_BY or (words[0] == "set" and any(_has(word, each) for word in words for each in ("-x", "-v")))):  # fmt: skip
            return True
    known = {*SIEVES, *THROUGH, "trap", "echo"}
    return any(
        text_of(name) in known
        for node in _inside(root, "function_definition")
        if (name := node.child_by_field_name("name")) is not None
    )


def _inside(node: Node, kind: str) -> Iterator[Node]:
    """Yield all nodes of a kind, in order; without recursion, for lines that are nested deeply."""
    stack = [node]
    while stack:
        here = stack.pop()
        if here.type == kind:
            yield here
        stack += reversed(here.named_children)
