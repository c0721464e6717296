"""No pattern backtracks over a tool's text: every use of `re` and `fnmatch` in the package is proved to be linear (`law_linear`).

A use that is not proved fails. Use Hyperscan or bytes methods if you can. Otherwise, use possessive quantifiers (`*+`, `++`), or
quantifiers followed by nothing that they match themselves. A pattern that is searched for in an entire text must not scan far ahead
from many positions and then fail: that is quadratic even without backtracking.
"""

import ast
import importlib
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from law_attack import Engine, attack
from law_linear import why_not

import spillover
from support import CUTS, SECRET_PATTERNS

ROOT = Path(spillover.__file__).parent
MODULES = {"re", "fnmatch", "glob"}

ONE = "one character, or a literal: nothing to backtrack to"
RUN = "one possessive run of a class, starting where the last one ended"
SHORT = "the text is short by construction"
LINE = "possessive throughout, and each line is tried once, or as often as noted beside it"
LINES = "each line ends in a newline, so that what is left of it always matches"
ANCHORED = "matched at one position; every quantifier is possessive or followed by nothing that it matches"
STARS = "translated into atomic groups since Python 3.11, so each * is tried once; the text is the name of a tool"
OURS = "our own text, not that of a tool or a file"

#: What the prover does not prove, or cannot see, with the reason why it is linear. A row that it proves must go.
UNPROVED = {
    "hosts/claude_code.py": {
        "SAVED": "a literal, then the rest of one line, in the first SAVED_CHARS characters",
    },
    "hosts/gemini.py": {
        "rule.get('argsPattern', '')": "the user's own policy, over the arguments of one call, as Gemini CLI applies it",
    },
    "hosts/hook.py": {
        "_TOKEN": "possessive; once begun, a string matches, closed or not",
    },
    "hosts/edits.py": {
        "_TOKEN": "one token behind the other, each possessive; once begun, a string or a comment matches, closed or not",
    },
    "patterns.py": {
        "source.encode()": "possessive, bounded, or followed by nothing: commands of 1,000 characters, lines of 2,000, and places that Hyperscan found, each once",
    },
    "cli/stats.py": {
        "pattern": "a row of STYLES, which are ours, on the table that `spill stats` prints",
    },
    "settings/load.py": {
        "fnmatchcase": STARS,
    },
    "hosts/host.py": {
        "pattern": "test_the_patterns_of_a_table_are_linear",
    },
    "profiles/opencode.py": {
        "fnmatchcase": STARS,
    },
    "retrieve/outline.py": {
        "_RULE": SHORT,
    },
    "retrieve/scan.py": {
        "_CODE_AND_TEXT": RUN,
        "_TOKEN": SHORT,  # a pattern has PATTERN_CHARS characters at most
    },
    "settings/settings.py": {
        "fnmatchcase": STARS,
    },
    "secrets/__init__.py": {
        "_LOOK": OURS,
    },
    "secrets/commands.py": {
        "_RULES[number].pattern": "test_the_patterns_of_a_table_are_linear",
        "program": "test_the_patterns_of_a_table_are_linear",
    },
    "secrets/outputs.py": {
        "_ESCAPE": "a run of backslashes is taken whole, by the second alternative if not by the first",
        "_PLACEHOLDER": "in 64 bytes",
        "_ROWS[number][1]": "test_the_patterns_of_a_table_are_linear",
    },
    "kinds/blob.py": {
        "_LINE": RUN,
    },
    "kinds/json/marks.py": {
        "OPENS": ANCHORED,
    },
    "kinds/log/lines.py": {
        "STAMP": "matched where a line begins; all of it is optional, so that the first try succeeds",
        "_MESSAGES": LINES,
    },
    "kinds/markup.py": {
        "_TOKEN": "see beside it",
        "_FAILED_TEXT": "a word is looked at twice, from its beginning",
        "'(?i)</%b\\\\s*+>'": "searched until it is not found once, and then no more",
    },
    "kinds/page.py": {
        "_PLAYWRIGHT": ANCHORED,
        "_DEVTOOLS": ANCHORED,
        "_GYM": ANCHORED,
    },
    "kinds/query.py": {
        "_PART": RUN,
    },
    "kinds/kind.py": {
        "f-string": "a literal at the start of a line",
    },
    "kinds/source.py": {
        "DEFINES": ANCHORED,
        "_LINES": RUN,
        "_METHOD": ANCHORED,
        "_NAMES": ANCHORED,
    },
    "kinds/table.py": {
        "cell": ANCHORED,
        "row": "possessive, and it never fails: a row ends at a line's end or the end",
        "'(?<![^%b\\\\n])%b(\"|\\\\Z)'": "possessive; once begun, a quoted part matches, closed or not",
    },
    "store/named.py": {
        "self.shape": "a name in a folder, and the shape of whoever made the store",
    },
    "store/object_store.py": {
        "_KEY": "a key has 1,024 bytes at most, and ~o/ stands behind each / that is tried",
    },
    "tokens.py": {
        "f-string": "the name of a model from the caller's own choices, and patterns of the caller or ours",
    },
    "document/clean.py": {
        "_UNSEEN": "the same, or a run that nothing follows",
        "pattern": "no quantifier; looks around over a few characters",
    },
}  # fmt: skip

ESCAPES = {"escape", "error", "Pattern", "Match", "DOTALL", "ASCII", "MULTILINE", "UNICODE", "IGNORECASE"}
FINDS = {"search", "finditer", "findall", "sub", "subn", "split"}
SOURCES = {path: path.read_text() for path in ROOT.rglob("*.py")}


def uses(path: Path):
    """Yield the uses of an engine in a file as (name, call): the name of the pattern, or the pattern as written if it has none."""
    tree = ast.parse(path.read_text())
    local, named = {"compile_own"}, {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            local |= {alias.asname or alias.name for alias in node.names if alias.name.split(".")[0] in MODULES}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in MODULES:
            local |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            named[id(node.value)] = node.targets[0].id
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    beyond = {id(call.func.value): call.func.attr for call in calls if isinstance(call.func, ast.Attribute)}
    for call in calls:
        called, whose = call.func, None
        if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
            whose, what = called.value.id, called.attr
        elif isinstance(called, ast.Name):
            whose, what = called.id, called.id
        if whose in local and what not in ESCAPES:
            yield _name(call, named, whose, what), call, beyond.get(id(call), what)


def _name(call: ast.Call, named: dict, whose: str, what: str) -> str:
    if id(call) in named and what == "compile":
        return named[id(call)]
    if whose not in ("re", "compile_own"):
        return f"{whose}.{what}" if whose != what else what
    pattern = call.args[0]
    if isinstance(pattern, ast.BinOp):
        pattern = pattern.left
    if isinstance(pattern, ast.JoinedStr):
        return "f-string"
    if isinstance(pattern, ast.Constant):
        return repr(pattern.value).removeprefix("b")
    return ast.unparse(pattern)


def patterns(path: Path):
    """Yield the patterns in a file as (name, pattern, whether it is searched for); None for one that is assembled when it is needed."""
    module = importlib.import_module(".".join(["spillover", *path.relative_to(ROOT).with_suffix("").parts]))
    for name, call, method in uses(path):
        try:
            count = 2 if ast.unparse(call.func).endswith("compile") else 1
            values = [eval(ast.unparse(one), vars(module)) for one in call.args[:count]]
        except NameError:
            yield name, None, False
            continue
        source = values[0].encode() if ast.unparse(call.func) == "compile_own" else values[0]
        flags = next((value for value in values[1:] if isinstance(value, re.RegexFlag)), 0)
        flags = next((eval(ast.unparse(one.value), vars(module)) for one in call.keywords if one.arg == "flags"), flags)
        search = method in FINDS or (method == "compile" and is_searched(name, path))
        yield name, re.compile(source, flags), search


def unproved(path: Path):
    """Return the uses in a file that are not proved to be linear, each with the reason."""
    reasons = {}
    for name, pattern, search in patterns(path):
        reason = "it is assembled when it is needed" if pattern is None else why_not(pattern, search=search)
        if reason:
            reasons[name] = reason
    return reasons


def is_searched(name: str, path: Path) -> bool:
    """Return whether a pattern is used in any other way than at one place; a private name is its file's."""
    for text in [SOURCES[path]] if name.startswith("_") else [text for text in SOURCES.values() if name in text]:
        nodes = list(ast.walk(ast.parse(text)))
        matched = {
            id(node.value) for node in nodes if isinstance(node, ast.Attribute) and node.attr in ("match", "fullmatch")
        }
        for node in nodes:
            called = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
            if called == name and isinstance(node.ctx, ast.Load) and id(node) not in matched:
                return True
    return False


FILES = sorted(str(path.relative_to(ROOT)) for path in ROOT.rglob("*.py"))
USING = [file for file in FILES if any(uses(ROOT / file))]


@pytest.mark.parametrize("file", sorted(UNPROVED))
def test_a_reason_why_a_pattern_is_linear_was_wrong(file):
    """A word of 80,000 underscores took 2 seconds: each of them was tried as the one before a run of joints."""
    for name, pattern, search in patterns(ROOT / file):
        reason = UNPROVED[file].get(name)
        if reason and pattern and reason is not SHORT:
            last = "\n" if reason is LINES else ""
            assert attack(pattern, search=search and reason is not ANCHORED, last=last) is None, name


@pytest.mark.parametrize("file", USING)
def test_every_use_of_a_backtracking_engine_is_proved_to_be_linear(file):
    assert sorted(unproved(ROOT / file)) == sorted(UNPROVED.get(file, {}))


def test_the_list_names_only_files_that_use_an_engine():
    assert set(UNPROVED) <= set(USING)


#: One line of this host's is followed for up to 1,000 characters, twice.
LONG_LINES = {"Claude Code"}


@pytest.mark.parametrize("host", sorted(CUTS.keys() - LONG_LINES))
def test_the_marks_of_hosts_are_proved_to_be_linear(host):
    assert why_not(re.compile(CUTS[host], re.MULTILINE), search=True) is None


@pytest.mark.parametrize("row", SECRET_PATTERNS)
def test_the_formats_of_secrets_are_proved_to_be_linear_at_one_place(row):
    assert why_not(re.compile(row[1].encode()), search=False) is None


def test_a_new_use_of_an_engine_is_found_however_it_is_imported(tmp_path):
    file = tmp_path / "new.py"
    file.write_text(
        "import re as r\nfrom re import compile\nfrom fnmatch import fnmatch\nimport re\n"
        "A = compile(b'x')\nr.search('y', 'z')\nfnmatch('a', 'b')\ndef f():\n    return re.sub('(a+)+', '', 'b')\n"
        "B = re.compile('c')\nboth = (re.compile('d'),)\n"
    )
    assert sorted(name for name, _, _ in uses(file)) == ["'(a+)+'", "'d'", "A", "B", "fnmatch", "r.search"]


@pytest.mark.parametrize(
    ("pattern", "one_place", "search"),
    [
        ("a++", True, True),  # nothing can fail behind it
        ("a+b", True, False),  # from each a, to the last one
        ("xa+b", True, True),
        ("x?a++b", True, False),
        ("(?:x|a)a*b", True, False),
        ("(a++)b", True, False),
        (r"(?m)^a++b", True, True),
        (r"(?m)^[^b]++b", True, False),  # a line begins inside the run
        (r"(?<!\w)\w++:", True, True),
        (r"(?<!a)\w++:", True, False),
        (r"\b\w++:", True, True),
        (r"\x1b[0-9;]*+m", True, True),
        (r"[^\n]{1001}|\x07", True, False),
        (r"(?m)^[^\n]{1001}|\x07", True, True),
        ("(a+)+b", False, False),
        ("(?:a++)*+b", True, False),
        ("a+ab", False, False),
        (".*x.*y", False, False),
        ("(?:a|a)*b", False, False),
        ("(?:a|b)*c", True, False),
        ("(?:a++b|a)*+", False, False),
        ("(?:a{1,3})*b", False, False),
        ("(?:a{1,3}b)*c", True, False),
        ("(?:a?b)*c", True, False),
        ("(?:a?)*b", False, False),
        ("(?i)a+A", False, False),
        (r"\s*\n", False, False),
        (r"(?=a*)a*b", True, False),
        (r"(?:(?=a*)a)*+b", False, False),
    ],
)
def test_the_prover_proves_what_is_linear_and_nothing_else(pattern, one_place, search):
    compiled = re.compile(pattern)
    assert [why_not(compiled, search=False) is None, why_not(compiled, search=True) is None] == [one_place, search]
    few = "1001" not in pattern  # as many steps for each character are as good as any number
    assert not (one_place and few) or attack(compiled, search=False) is None
    assert not (search and few) or attack(compiled, search=True) is None


@pytest.mark.parametrize(
    ("pattern", "search"),
    [
        (r"\w[._/\\:#]++\w|[a-z][A-Z]", True),
        (r"[^\s/]*+/\S*+|[^\s.]++\.\S*+", True),
        ("a+b", True),
        ("x?a++b", True),
        ("(?m)^[^b]++b", True),
        ("(a+)+b", False),
        ("(?:a|a)*b", False),
        (".*x.*y", False),
        ("a*a*b", False),
        (r"(?:a+\s*)*;", False),
        (r'"(?:[^"\\]|\\.|.)*"', False),
    ],
)
def test_an_attack_finds_what_is_not_linear(pattern, search):
    assert attack(re.compile(pattern), search=search) is not None


@pytest.mark.parametrize(
    "pattern",
    ["a+b", "(a|b)*c", "(?:x?a++b|a)*", r"([^\w\s]|_)\1{2,}", r"\bfoo\w*\b", "(?<=a)b+?c", "(?m)^a.*$", r"(?i)a[b-d]+?\Z",
     "(?:a{1,3}b)*c", "a*?b(?!c)", "(?>a+)ab|aa", "(?:a|b){2,3}?c", "(?:ab?)++c", "(?<!a)b{2,}+", r"\Ba+", "(?=ab)a."],
)  # fmt: skip
@given(text=st.text("aabbc_-\nAfo", max_size=14))
def test_the_engine_of_the_attack_finds_what_re_finds(pattern, text):
    found = [match.span() for match in re.finditer(pattern, text) if match[0]]
    assert Engine(re.compile(pattern)).matches([*map(ord, text)], search=True) == found
