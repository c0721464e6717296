"""How modules may import each other: without cycles, the core no edge, and inside functions only at a listed seam."""

import ast
from pathlib import Path

import pytest

import spillover

ROOT = Path(spillover.__file__).parent

#: Ways in and out. The core does not know that they exist, apart from the verbs of the API (`VERBS`).
EDGES = ("cli", "frameworks", "hosts", "mcp", "profiles", "results", "run", "stats", "testing", "ui")
#: Modules of the core that import an edge, and why.
VERBS = {
    "api": "its verbs run commands, clip blocks and wrap functions",
}
#: Areas whose imports inside functions are all in SEAMS: add an area when it is rebuilt.
FINISHED: tuple[str, ...] = (
    "api",
    "budget",
    "document",
    "errors",
    "events",
    "fallback",
    "frameworks",
    "hosts",
    "journal",
    "kinds",
    "mcp",
    "notice",
    "patterns",
    "pipeline",
    "profiles",
    "result",
    "results",
    "retrieve",
    "run",
    "secrets",
    "settings",
    "shell",
    "since",
    "source",
    "stats",
    "store",
    "testing",
    "tokens",
    "types",
    "ui",
)
#: (file, what it imports inside a function) → why not at the top.
SEAMS: dict[tuple[str, str], str] = {
    ("api.py", "asyncio"): "12 ms, for async code",
    ("api.py", "spillover.retrieve.diff"): "numpy",
    ("api.py", "spillover.retrieve.grep"): "going back, which most calls never do",
    ("api.py", "spillover.retrieve.outline"): "numpy",
    ("api.py", "spillover.retrieve.read"): "going back, which most calls never do",
    ("api.py", "spillover.retrieve.tools"): "going back, which most calls never do",
    ("api.py", "spillover.run"): "child processes",
    ("api.py", "spillover.source.process"): "child processes",
    ("api.py", "spillover.results.wrap"): "asyncio and inspect, for functions that are wrapped",
    ("kinds/fit.py", "spillover.kinds.kind"): "numpy, which must not be loaded where memory is short",
    ("kinds/fit.py", "spillover.kinds.log"): "numpy, which must not be loaded where memory is short",
    ("kinds/fit.py", "spillover.kinds.log.news"): "numpy, which must not be loaded where memory is short",
    ("patterns.py", "hyperscan"): "14 ms, for an output that overflows; without it, both ends are shown",
    ("pipeline.py", "spillover.kinds.cut"): "numpy and every selector: an output that overflows",
    ("result.py", "spillover.kinds.kind"): "every kind, for an output that fits",
    ("profiles/__init__.py", "import_module"): "profiles are loaded by name",
    ("profiles/__init__.py", "inspect"): "5 ms, for the options of a profile",
    ("profiles/klaude.py", "rich.console"): "an extra",
    ("profiles/klaude.py", "rich.text"): "an extra",
    ("profiles/vtcode.py", "spillover.kinds.source"): "numpy",
    ("run/__init__.py", "asyncio"): "12 ms, for async code",
    ("run/line.py", "spillover.kinds.cut"): "numpy: filters that hid something",
    ("errors.py", "difflib"): "5 ms, for a complaint",
    ("settings/load.py", "import_module"): "profiles are edges, and imported by name",
    ("settings/load.py", "tomllib"): "10 ms, for an option of a profile",
    ("settings/trust.py", "tomllib"): "10 ms, where there is a file",
    ("shell.py", "tree_sitter"): "30 ms, for lines with quotes or operators",
    ("shell.py", "tree_sitter_bash"): "30 ms, for lines with quotes or operators",
    ("tokens.py", "splintr"): "an extra",
    ("retrieve/tools.py", "spillover.retrieve.diff"): "numpy",
    ("retrieve/tools.py", "spillover.retrieve.outline"): "numpy",
    ("since/earlier.py", "spillover.retrieve.names"): "a failed command that printed little is compared with nothing",
    ("since/earlier.py", "spillover.retrieve.read"): "a failed command that printed little is compared with nothing",
    ("since/earlier.py", "spillover.since.compare"): "numpy",
    ("store/bucket.py", "obstore"): "an extra",
    ("store/frames.py", "backports"): "an extra",
    ("store/frames.py", "compression"): "Python 3.14 has it, earlier ones do not",
    ("store/record.py", "json"): "an output that fits has no record",
    ("hosts/edits.py", "tomllib"): "10 ms, for one agent",
    ("hosts/gemini.py", "tomllib"): "10 ms, and few have policies",
    ("hosts/install.py", "tomllib"): "10 ms, for one agent",
    ("mcp/__init__.py", "spillover.mcp.url"): "an extra",
}

FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in ROOT.rglob("*.py")
}
#: The package itself lists the public names and where they are; it may import any module, and any module may import it.
del FILES["__init__"]


def imports_of(path, *, inside=False):
    """Return the full name of everything that a file imports; with `inside`, only what it imports inside functions."""
    tree = ast.parse(path.read_text())
    nodes = ast.walk(tree)
    if inside:
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        nodes = {id(node): node for function in functions for node in ast.walk(function)}.values()
    names = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports must be absolute"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                names.add(whole if whole.removeprefix("spillover.") in FILES else node.module)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "import_module":
            names.add("import_module")
    return names


def known_to(path):
    """Return every module of the package that a file imports anywhere, without the package's name."""
    return {name.removeprefix("spillover.") for name in imports_of(path) if name.startswith("spillover.")}


def in_any(module, areas):
    return any(module == area or module.startswith(f"{area}.") for area in areas)


GRAPH = {module: known_to(path) & FILES.keys() for module, path in FILES.items()}


def test_modules_import_each_other_without_a_cycle():
    left = {module: set(others) for module, others in GRAPH.items()}
    while free := [module for module, others in left.items() if not others & left.keys()]:
        for module in free:
            del left[module]
    assert not left, f"these import each other in a circle: {sorted(left)}"


@pytest.mark.parametrize("module", sorted(module for module in FILES if not in_any(module, EDGES)))
def test_the_core_imports_no_edge(module):
    assert module in VERBS or not {other for other in GRAPH[module] if in_any(other, EDGES)}


def test_every_listed_exception_exists():
    assert {
        module for module in VERBS if not {other for other in GRAPH.get(module, ()) if in_any(other, EDGES)}
    } == set()


def test_imports_inside_functions_are_listed_seams():
    finished = {path.relative_to(ROOT).as_posix(): path for module, path in FILES.items() if in_any(module, FINISHED)}
    unlisted = {
        (file, name) for file, path in finished.items() for name in imports_of(path, inside=True)
    } - SEAMS.keys()
    assert unlisted == set()
    assert [file for file, path in finished.items() if "TYPE_CHECKING" in path.read_text()] == []


def test_every_seam_exists():
    stale = [(file, name) for file, name in SEAMS if name not in imports_of(ROOT / file, inside=True)]
    assert stale == []
