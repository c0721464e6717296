"""No backtracking engine sees a tool's text: every use of `re` and `fnmatch` in the package, and why each is linear.

A use that is not listed here fails until somebody has shown that it is linear. Use Hyperscan or bytes methods if you can.
Otherwise, use possessive quantifiers (`*+`, `++`), or quantifiers followed by nothing that they match themselves. A pattern
that is searched for in an entire text must not scan far ahead from many positions and then fail: that is quadratic even
without backtracking.
"""

import ast
import re
from pathlib import Path

import pytest

import spillover

ROOT = Path(spillover.__file__).parent
MODULES = {"re", "fnmatch", "glob"}

ONE = "one character, or a literal: nothing to backtrack to"
RUN = "one possessive run of a class, starting where the last one ended"
SHORT = "the text is short by construction"
LINE = "possessive throughout, and each line is tried once, or as often as noted beside it"
ANCHORED = "matched at one position; every quantifier is possessive or followed by nothing that it matches"
STARS = "translated into atomic groups since Python 3.11, so each * is tried once; the text is the name of a tool"
OURS = "our own text, not that of a tool or a file"

#: For each file, every pattern as written in the source (or its name, if it is assembled), with the reason.
LINEAR = {
    "adapters/claude_code.py": {"SAVED": "a literal, then the rest of one line, in the first SAVED_CHARS characters"},
    "adapters/mcp/result.py": {"_UNCLEAN": ONE},
    "base/deep.py": {"_TOKEN": "possessive; once begun, a string matches, closed or not"},
    "cli/stats.py": {"pattern": "a row of STYLES, which are ours, on the table that `spill stats` prints"},
    "cli/parser.py": {"_FROM_END": ANCHORED, "_EXPRESSION": ANCHORED},
    "config/host.py": {"fnmatchcase": STARS},
    "base/jsonc.py": {"_TOKEN": "one token behind the other, each possessive; once begun, a string or a comment matches, closed or not", "_BLANKS": ANCHORED},
    "models.py": {"f-string": "the name of a model from the caller's own choices, and patterns of the caller or ours"},
    "profiles/opencode/__init__.py": {"fnmatchcase": STARS},
    "profiles/vtcode/estimate.py": {"'\\\\S.*'": "nothing follows the run, so it never gives back"},
    "base/linear.py": {"source.encode()": "possessive, bounded, or followed by nothing: commands of 1,000 characters, lines of 2,000, and places that Hyperscan found, each once"},
    "retrieve/grep.py": {"_START": "fullmatch of classes with a colon between them, which neither has"},
    "retrieve/part.py": {"_LINES": SHORT, "_BYTES": SHORT},
    "retrieve/outline.py": {"_RULE": SHORT, "_WORD": ONE},
    "retrieve/outline_json.py": {"_KEY": ANCHORED},
    "retrieve/outline_scan.py": {"CLOCK": ANCHORED},
    "retrieve/pattern.py": {
        "_TOKEN": "the pattern has PATTERN_CHARS characters at most; a [ that is never closed is followed to the end",
        "'\\\\\\\\[1-9]'": SHORT,
    },
    "retrieve/ranges.py": {
        "_RANGE": "fullmatch of classes with a colon between them, which none has",
        "_DASHED": "fullmatch of classes with a dash between them, which none has",
        "_SEVERAL": ANCHORED,
        "_ENDS": ONE,
        "_PAIR": SHORT,
        "_THOUSANDS": SHORT,
    },
    "retrieve/search.py": {"_CODE_AND_TEXT": RUN},
    "retrieve/uri.py": {"_LINES": ANCHORED, "_BYTES": ANCHORED},
    "retrieve/specs.py": {"'^ +(\\\\w+): (.+)$'": OURS},
    "rules.py": {"fnmatchcase": STARS},
    "store/object/keys.py": {"_KEY": "a key has 1,024 bytes at most, and ~o/ stands behind each / that is tried", "_ODD": ONE},
    "store/object/words.py": {"'<[^<>]{0,200}>'": "a bounded run of what neither of the characters around it is"},
    "select/blob.py": {
        "_LONG": LINE, "_WORD": RUN, "_DUMP": LINE, "_DUMP_BEGINS": LINE, "_LINE_END": ONE, "_DATA": SHORT, "_PEM": SHORT,
        "'[a-z]++'": RUN, "'[^\\\\n]*+\\\\n|[^\\\\n]++\\\\Z'": RUN,
    },
    "select/found.py": {"_NO_NAME": ONE, "_COUNTED": SHORT,
        "_NAMED": ANCHORED, "_NUMBERED": ANCHORED, "_STATUS": ANCHORED, "_ROOTED": ANCHORED, "_FILE": SHORT,
        "_AROUND": "possessive; searched in the first LONGEST bytes of a line", "_JUDGED": "possessive; searched in LONGEST bytes",
    },
    "select/listing.py": {"_NUMBER": ANCHORED, "_ASKED": ANCHORED, "_CODE": ANCHORED, "_NOT_CODE": ANCHORED, "_TOP": ANCHORED},
    "select/outlined.py": {
        "_DEFINED": ANCHORED, "_METHOD": ANCHORED, "_CONSTANT": ANCHORED, "_IMPORT": ANCHORED, "_HEADING": ANCHORED, "_CLOSES": ANCHORED,
        "_OPENED": "searched from each opening mark of a line; blanks behind it are a possessive run up to the end",
    },
    "select/search.py": {"_DEFINES": ANCHORED, "_SIDE": SHORT, "_AWAY": SHORT},
    "select/source.py": {"_PATH": RUN, "_WORD": RUN, "_LEGAL": ONE},
    "select/seek.py": {
        "'\\\\b(?:Killed process|oom-kill|not ok|FAILED|FAIL|ERROR|panicked|fatal|failed|error)\\\\b'": ONE,
        "'\\\\b[A-Z][A-Za-z]{2,30}(?:Error|Exception|Failure|Fault)\\\\b'": "bounded, in LINE characters at most",
        "'\\\\b[A-Z]{1,4}\\\\d{3,5}\\\\b'": "bounded, in LINE characters at most",
        "_DEFINES": LINE, "_PLAIN": "bounded, and nothing follows the run", "f-string": "a literal at the start of a line",
    },
    "select/told.py": {"_SUFFIX": "a dot and a few letters; the text has CHARS characters at most"},
    "select/query.py": {"_ESCAPE": ONE, "_WORD": RUN, "_PART": RUN},
    "select/diff_parts.py": {
        "_MARK": LINE, "HUNK": ANCHORED, "_BEGINS": ANCHORED, "CHANGED": ANCHORED, "_NAMES": ONE, "_NAME": RUN, "LINE": ANCHORED,
        "_COLOURED": LINE, "_SUBJECT": LINE, "_SHA": ANCHORED, "DEFINES": ANCHORED, "CHANGED_LINES": LINE, "_LINES": RUN,
    },
    "select/plain.py": {"_PARTS": ONE},
    "select/json/parse.py": {"OPENS": ANCHORED},
    "select/json/fields.py": {"_DATE": ANCHORED, "'[_.\\\\-]'": ONE},
    "select/json/members.py": {"_BLANKS": ANCHORED, "_KEY": ANCHORED},
    "select/json/almost.py": {
        "_TOKEN": ANCHORED, "_CUT_OFF": ANCHORED, "_BEGINS": "blanks behind a bracket that begins a line", "'\\\\\\\\(.)'": ONE,
    },
    "select/json/pointer.py": {"_TOKEN": ANCHORED},
    "select/json/strings.py": {"_HALF": SHORT, "_OTHER_HALF": ANCHORED, "_REST": ANCHORED},
    "select/json/texts.py": {"_ESCAPE": "a backslash and at most eleven bytes"},
    "select/kind.py": {
        "_HTML": ONE, "_BEHIND": ANCHORED, "_TYPED": ANCHORED,
        "_FIRST_TAG": "possessive, and no name has a <: names are looked at once",
        "'\\\\n[ \\\\t]*+\\\\n[ \\\\t]*+\\\\S'": "a run of blanks is looked at from the two newlines before it, and no others",
        "'\"?[^\\\\W\\\\d]'": ONE, "'<[?!]'": ONE, "'(?i)<\\\\?xml|<!doctype'": ONE,
        "'(?:\\\\x1b\\\\[[0-9;]*+m)*+(?:diff -|--- \\\\S|commit [0-9a-f]{7}|Index: |From [0-9a-f]{40} )'": ANCHORED,
        "'(?m)^(?:\\\\x1b\\\\[[0-9;]*+m)*+@@ -\\\\d++(?:,\\\\d++)? \\\\+\\\\d++(?:,\\\\d++)? @@'": LINE,
        "'(?i)</%b\\\\s*+>'": "a literal and one possessive run, which has no <",
        "'</\\\\w[^<>]*+>\\\\Z'": "possessive, and the run has no <",
    },
    "select/page.py": {
        "_PLAYWRIGHT": ANCHORED, "_DEVTOOLS": ANCHORED, "_GYM": ANCHORED,
        "_REF": "possessive; a run of a ref is looked at once, for none has what begins one; blanks and a number from a line's beginning only",
        "_SAYS": ONE,
    },
    "select/prose.py": {
        "_HEADING": ANCHORED, "_ITEM": ANCHORED, "_ROW": ANCHORED, "_RULE": ANCHORED, "_FENCE": ANCHORED,
        "_SENTENCE": "at most one mark behind another, and then a blank", "_QUOTED": "from a backquote at most 80 characters, none of them one",
        "_NAME": RUN, "_JOINT": "a run of joints is looked at once: what stands before it is none", "_FILE": ONE,
        "_LINE_NUMBER": "digits behind a colon, which is none of them",
    },
    "select/lines.py": {
        "STAMP": "matched where a line begins; all of it is optional, so that the first try succeeds",
        "_MESSAGES": "the same, and then the rest of its line, possessive; the next match begins behind it",
        "_CLOCK": ONE,
    },
    "select/elements.py": {
        "CLOSED_TAG": ANCHORED, "_TOKEN": "see beside it", "_DECLARED": "a run of blanks from the one ] before it",
        "_FAILED_TAG": "words, then runs of blanks that belong to one word each", "_FAILED_TEXT": "a word is looked at twice, from its beginning",
        "'(?i)</%b\\\\s*+>'": "searched until it is not found once, and then no more",
    },
    "select/table.py": {"cell": ANCHORED, "'%b(?:%b%b)*+(?:\\\\n|\\\\Z)'": "possessive, and it never fails: a row ends at a line's end or the end"},
    "store/base.py": {"REF_SHAPE": SHORT, "REF_TYPED": SHORT, "'[^a-z0-9_.]+'": "nothing follows the run"},
    "store/folder.py": {"TEMP_SHAPE": SHORT},
    "store/named.py": {"_ODD": "nothing follows the run", "self.shape": "a name in a folder, and the shape of whoever made the store"},
    "store/tally.py": {"_SHAPE": SHORT},
    "view/invisible.py": {"pattern": "no quantifier; looks around over a few characters"},
    "view/clean.py": {
        "_ESCAPE": "each run is of one class, has no escape and is followed by none of it: it belongs to the one escape before it",
        "_UNSEEN": "the same, or a run that nothing follows",
        "_C1_BYTES": ONE, "_C1": ONE,
        "_ERASE": "possessive: the colours behind a return belong to that one",
    },
}  # fmt: skip

ESCAPES = {"escape", "error", "Pattern", "Match", "DOTALL", "ASCII", "MULTILINE", "UNICODE", "IGNORECASE"}


def uses(path: Path):
    """Return every pattern in a file: by its name, or as written in the source if it has none."""
    tree = ast.parse(path.read_text())
    local, named = set(), {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            local |= {alias.asname or alias.name for alias in node.names if alias.name.split(".")[0] in MODULES}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in MODULES:
            local |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            named.update({id(each): node.targets[0].id for each in [node.value]})
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called, whose = node.func, None
        if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
            whose, what = called.value.id, called.attr
        elif isinstance(called, ast.Name):
            whose, what = called.id, called.id
        if whose not in local or what in ESCAPES:
            continue
        yield _said(node, named, whose, what)


def _said(call: ast.Call, named: dict, whose: str, what: str) -> str:
    if id(call) in named and what == "compile":
        return named[id(call)]
    if whose != "re":
        return f"{whose}.{what}" if whose != what else what
    pattern = call.args[0]
    if isinstance(pattern, ast.BinOp):
        pattern = pattern.left
    if isinstance(pattern, ast.JoinedStr):
        return "f-string"
    if isinstance(pattern, ast.Constant):
        return repr(pattern.value).removeprefix("b")
    return ast.unparse(pattern)


FILES = sorted(str(path.relative_to(ROOT)) for path in ROOT.rglob("*.py"))


@pytest.mark.parametrize("file", FILES)
def test_every_use_of_a_backtracking_engine_is_listed_with_the_reason_it_is_linear(file):
    assert sorted(set(uses(ROOT / file))) == sorted(LINEAR.get(file, {}))


def test_the_list_names_only_files_that_are_there():
    assert set(LINEAR) <= set(FILES)


def test_a_new_use_of_an_engine_is_found_however_it_is_imported(tmp_path):
    file = tmp_path / "new.py"
    file.write_text(
        "import re as r\nfrom re import compile\nfrom fnmatch import fnmatch\nimport re\n"
        "A = compile(b'x')\nr.search('y', 'z')\nfnmatch('a', 'b')\ndef f():\n    return re.sub('(a+)+', '', 'b')\n"
        "B = re.compile('c')\nboth = (re.compile('d'),)\n"
    )
    assert sorted(uses(file)) == ["'(a+)+'", "'d'", "A", "B", "fnmatch", "r.search"]


NESTED = re.compile(r"\([^()]*(?<!\\)[*+](?!\+)[^()]*\)[*+](?!\+)")


@pytest.mark.parametrize("file", [file for file in FILES if file.startswith(("select/", "view/"))])
def test_no_repeated_group_contains_a_repetition_that_can_backtrack(file):
    """(a+)+ is exponential; (?:a++)*+ is not."""
    compiled = [
        ast.unparse(node.args[0])
        for node in ast.walk(ast.parse((ROOT / file).read_text()))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("re.compile", "re.search", "re.finditer", "re.match")
    ]
    assert [pattern for pattern in compiled if NESTED.search(pattern)] == []
