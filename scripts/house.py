"""Print how large the code base is and how it reads; fail if a figure is above its ceiling.

With --names, print every identifier that is a participle or a pronoun, with its place, instead of the table.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "spillover"
#: A module below this many lines usually belongs to its neighbour.
SMALL_FILE_LINES = 80
#: Identifiers that do not name a thing: participles and pronouns. A value is named by a noun, a function by a verb.
VAGUE_NAMES = frozenset(
    """
    added asked awaited begun bounded brought built called changed chosen closed counted covered done dropped ended filled fitted
    found given gone held hidden joined kept known lent listed lost made marked measured met named needed noted offered opened
    packed passed placed quoted reached refused removed renamed said saved seen sent shown skipped spent stopped stored swept
    taken telling thrown told touched tried used wanted written

    again already another anyway both each either everything few her here him his it its many mine most much nobody nothing one
    ones other others ours own same several some such that theirs them then there these they this those what when where which
    who whoever whose yours
    """.split()  # noqa: SIM905  a paragraph is easier to keep sorted than a list
)
IMPORT = re.compile(r"^[ \t]+(?:from [\w.]+ import|import \w)", re.MULTILINE)
#: Words that made sentences hard to read.
OLD_STYLE = re.compile(
    r"\b(?:told|those|asked|wanted|whoever|said|made|anyway|so many|so much|as it came)\b", re.IGNORECASE
)
#: Figure → its ceiling, which `make lint` holds, and the goal. A ceiling only falls.
CEILINGS = {
    "Python files in src": (145, 145),
    "lines in src": (40_000, 33_500),
    "lines of the longest file in src": (653, 650),
    "files below 80 lines": (1, 8),
    "indented imports": (78, 70),
    "noqa, type: ignore": (117, 60),
    "entries at the top of src/spillover": (33, 34),
    "identifiers that are participles or pronouns": (32, 25),
    "words of the old style in src": (90, 80),
    "Python files in tests": (293, 293),
    "lines in tests": (53_100, 45_000),
}
SUPPRESSION = re.compile(r"#\s*(?:noqa|type:\s*ignore)")


def main() -> int:
    """Print the table, or the names; return 1 if a figure is above its ceiling."""
    sources = {path: path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))}
    tests = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests").rglob("*.py"))]
    vague = [(path, line, name) for path, text in sources.items() for line, name in vague_names(text)]
    if "--names" in sys.argv[1:]:
        for path, line, name in vague:
            print(f"{path.relative_to(ROOT)}:{line}: {name}")
        return 0
    figures = measure(sources, tests, len(vague))
    above = False
    print(f"{'':<48}{'now':>8}{'at most':>9}{'goal':>8}")
    for title, figure in figures.items():
        ceiling, goal = CEILINGS[title]
        too_many = figure > ceiling
        above |= too_many
        print(f"{title:<48}{figure:>8,}{ceiling:>9,}{goal:>8,}{'  above its ceiling' * too_many}")
    if above:
        print("Look for what can go. Where the growth is worth it, raise the ceiling in scripts/house.py and say why.")
    return int(above)


def measure(sources: Mapping[Path, str], tests: Sequence[str], vague_count: int) -> dict[str, int]:
    """Return the figures of the table, by title."""
    small = [path for path, text in sources.items() if path.name != "__init__.py" and is_small(path, text)]
    lines = [count_lines(text) for text in sources.values()]
    return {
        "Python files in src": len(sources),
        "lines in src": sum(lines),
        "lines of the longest file in src": max(lines),
        f"files below {SMALL_FILE_LINES} lines": len(small),
        "indented imports": sum(len(IMPORT.findall(text)) for text in sources.values()),
        "noqa, type: ignore": sum(len(SUPPRESSION.findall(text)) for text in sources.values()),
        "entries at the top of src/spillover": sum(
            path.is_file() or any(path.glob("*.py")) for path in SOURCE.iterdir()
        ),
        "identifiers that are participles or pronouns": vague_count,
        "words of the old style in src": sum(len(OLD_STYLE.findall(text)) for text in sources.values()),
        "Python files in tests": len(tests),
        "lines in tests": sum(map(count_lines, tests)),
    }


def is_small(path: Path, text: str) -> bool:
    """Return whether a module probably belongs to its neighbour; agents and profiles have a file each, however short."""
    return count_lines(text) < SMALL_FILE_LINES and path.parent.name not in ("hosts", "profiles")


def count_lines(text: str) -> int:
    return text.count("\n")


def vague_names(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of each identifier in VAGUE_NAMES, once per scope that binds it."""
    tree = ast.parse(text)
    scopes = [tree, *(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))]
    for scope in scopes:
        names: dict[str, int] = {}
        for line, name in bound_names(scope):
            if name.strip("_") in VAGUE_NAMES:
                names.setdefault(name, line)
        yield from ((line, name) for name, line in names.items())


def bound_names(scope: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the names that a module or function binds itself: definitions, arguments and assignments."""
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.name
            continue  # what is bound inside belongs to that function
        if isinstance(node, ast.ClassDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        waiting.extend(ast.iter_child_nodes(node))


if __name__ == "__main__":
    sys.exit(main())
