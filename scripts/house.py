"""Print how large the code base is and how it reads: files, lines, imports, suppressions, names.

With --names, print every identifier that is a participle or a pronoun, with its place, instead of the table.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
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
SUPPRESSION = re.compile(r"#\s*(?:noqa|type:\s*ignore)")


def main() -> int:
    """Print the table, or the names; always succeed."""
    sources = {path: path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))}
    tests = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests").rglob("*.py"))]
    vague = [(path, line, name) for path, text in sources.items() for line, name in vague_names(text)]
    if "--names" in sys.argv[1:]:
        for path, line, name in vague:
            print(f"{path.relative_to(ROOT)}:{line}: {name}")
        return 0
    lines = sum(map(count_lines, sources.values()))
    small = [
        path for path, text in sources.items() if path.name != "__init__.py" and count_lines(text) < SMALL_FILE_LINES
    ]
    entries = [path for path in SOURCE.iterdir() if path.name != "__pycache__"]
    rows = {
        "Python files in src": len(sources),
        "lines in src": lines,
        "mean lines per file": round(lines / len(sources)),
        f"files below {SMALL_FILE_LINES} lines (without __init__)": len(small),
        "indented imports": sum(len(IMPORT.findall(text)) for text in sources.values()),
        "noqa, type: ignore": sum(len(SUPPRESSION.findall(text)) for text in sources.values()),
        "entries at the top of src/spillover": len(entries),
        "identifiers that are participles or pronouns": len(vague),
        "Python files in tests": len(tests),
        "lines in tests": sum(map(count_lines, tests)),
    }
    for title, figure in rows.items():
        print(f"{title:<48}{figure:>8,}")
    return 0


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
