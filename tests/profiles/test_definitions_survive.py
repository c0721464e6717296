"""Variable definitions and their first uses survive when source code is cut, in every language vtcode names.

"Focus on variable definitions and first usages" (the vtcode document, "Semantic Truncation"). The variables stand in the
middle of each program and are used far below, where both ends do not reach.
"""

import pytest

from spillover import Clipper, Limits, MemoryStore
from spillover.profiles import vtcode

VARIABLES = ("RETRY_LIMIT", "CACHE_FOLDER", "MAX_WORKERS")

#: language: the name of a file, a function that is repeated, how a variable is defined, and how it is used
PROGRAMS = {
    "python": (
        "app.py",
        "def step_{n}(value):\n    if value > {n}:\n        run(value, {n})\n    return value * {n}\n\n\n",
        "{name} = load('{name}')\n",
        "def use_{name}():\n    return start({name})\n\n\n",
    ),
    "typescript": (
        "app.ts",
        "function step{n}(value: number): number {{\n  if (value > {n}) {{\n    run(value, {n});\n  }}\n  return value * {n};\n}}\n\n",
        "const {name}: number = load('{name}');\n",
        "function use_{name}(): void {{\n  start({name});\n}}\n\n",
    ),
    "go": (
        "app.go",
        "func step{n}(value int) int {{\n\tif value > {n} {{\n\t\trun(value, {n})\n\t}}\n\treturn value * {n}\n}}\n\n",
        'var {name} = load("{name}")\n',
        "func use_{name}() {{\n\tstart({name})\n}}\n\n",
    ),
    "rust": (
        "app.rs",
        "fn step{n}(value: u64) -> u64 {{\n    if value > {n} {{\n        run(value, {n});\n    }}\n    value * {n}\n}}\n\n",
        'static {name}: u64 = load("{name}");\n',
        "fn use_{name}() {{\n    start({name});\n}}\n\n",
    ),
}


def program(language):
    """Return a file's name, its text, and the lines that must survive."""
    name, step, defines, uses = PROGRAMS[language]
    steps = [step.format(n=n) for n in range(150)]
    definitions = [defines.format(name=each) for each in VARIABLES]
    first_uses = [uses.format(name=each) for each in VARIABLES]
    text = "".join((*steps[:50], *definitions, "\n", *steps[50:100], *first_uses, *steps[100:]))
    used = [next(line for line in each.splitlines() if "start(" in line) for each in first_uses]
    return name, text, [*(each.rstrip() for each in definitions), *used]


@pytest.mark.parametrize("language", PROGRAMS)
def test_vtcode_shows_definitions_and_first_uses(language):
    _, text, needed = program(language)
    clip = vtcode.clipper(store=MemoryStore(), max_tokens=900, keep="signal").clip(text)
    assert clip.shown.tokens <= 900
    assert set(needed) <= set(clip.text.splitlines())


@pytest.mark.parametrize("language", PROGRAMS)
def test_a_file_that_was_read_shows_definitions_and_first_uses(language):
    name, text, needed = program(language)
    clip = Clipper(Limits(tokens=900), store=MemoryStore()).clip(text, tool="Read", query=f"/src/{name}")
    assert clip.kind == "source"
    assert set(needed) <= set(clip.text.splitlines())
