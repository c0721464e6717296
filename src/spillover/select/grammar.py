"""Where definitions begin and end in the source of a program: by the grammar of its language, with the extra `code`.

Bounded: no more than MOST bytes are parsed, PIECE bytes at a time. Of anything else, and without the extra, the indentation
says it (`outlined`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tree_sitter import Node, Parser

    from spillover.base.work import Work

    Row = tuple[int, int, int, int, bool]

#: Of a longer file, indentation says where definitions are.
MOST = 1 << 17
#: So much is parsed at a time.
PIECE = 12_000
#: Scanners of some grammars go back over a line, or over lines that are continued: time grows with the square of these.
LINE, CONTINUED = 1_000, 1_000
#: What parsing costs, per byte.
PARSED = 100
DEEP = 12

#: The end of a file's name → the module with the grammar, and the name of the language in it.
LANGUAGES = {
    **dict.fromkeys(("py", "pyi", "pyw"), ("tree_sitter_python", "language")),
    **dict.fromkeys(("js", "jsx", "mjs", "cjs"), ("tree_sitter_javascript", "language")),
    **dict.fromkeys(("ts", "mts", "cts"), ("tree_sitter_typescript", "language_typescript")),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "go": ("tree_sitter_go", "language"),
    "rs": ("tree_sitter_rust", "language"),
    "java": ("tree_sitter_java", "language"),
    **dict.fromkeys(("c", "h"), ("tree_sitter_c", "language")),
    **dict.fromkeys(("cc", "cpp", "cxx", "hh", "hpp", "hxx"), ("tree_sitter_cpp", "language")),
    "rb": ("tree_sitter_ruby", "language"),
    "php": ("tree_sitter_php", "language_php"),
    "cs": ("tree_sitter_c_sharp", "language"),
}

#: Nodes that define a name, and nodes whose definitions are looked for as well.
_DEFINES = frozenset(
    """
    function_definition class_definition function_declaration generator_function_declaration method_declaration method_definition
    class_declaration abstract_class_declaration interface_declaration type_declaration type_alias_declaration enum_declaration
    record_declaration struct_declaration namespace_declaration file_scoped_namespace_declaration constructor_declaration
    property_declaration function_item struct_item enum_item trait_item impl_item mod_item const_item static_item type_item
    macro_definition union_item function_signature_item struct_specifier enum_specifier class_specifier union_specifier
    namespace_definition preproc_def preproc_function_def type_definition template_declaration method singleton_method class
    module trait_declaration lexical_declaration variable_declaration const_declaration var_declaration assignment
    internal_module abstract_method_signature method_signature field_definition public_field_definition function_signature
    """.split()  # noqa: SIM905  a list of sixty strings is no easier to read
)
_HOLDS = frozenset(
    """
    program module source_file translation_unit compilation_unit declaration_list class_body block body_statement
    export_statement decorated_definition declaration expression_statement interface_body enum_body object_type
    ambient_declaration namespace_definition namespace_declaration internal_module statement_block field_declaration_list
    linkage_specification preproc_ifdef preproc_if preproc_else class_definition class_declaration abstract_class_declaration
    interface_declaration impl_item trait_item mod_item class_specifier struct_specifier class trait_declaration
    template_declaration file_scoped_namespace_declaration record_declaration struct_declaration
    """.split()  # noqa: SIM905  as above
)
_IMPORTS = frozenset(
    ("import_statement", "import_from_statement", "import_declaration", "use_declaration", "preproc_include", "using_directive",
     "package_clause", "package_declaration", "namespace_use_declaration", "future_import_statement")
)  # fmt: skip
_NEWLINE = re.compile(rb"\n")
_FUNCTIONS = ("function", "method", "constructor", "singleton_method", "function_item")


def load(suffix: str) -> Parser | None:
    """Return the parser for files with this end; None without the extra `code`, and for other languages."""
    if suffix not in LANGUAGES:
        return None
    if suffix not in _parsers:
        module, name = LANGUAGES[suffix]
        try:
            from tree_sitter import Language, Parser

            _parsers[suffix] = Parser(Language(getattr(import_module(module), name)()))
        except (ImportError, AttributeError, ValueError):  # not there, or made for another tree-sitter
            _parsers[suffix] = None
    return _parsers[suffix]


_parsers: dict[str, Parser | None] = {}


def blocks(suffix: str, lines: Sequence[bytes], work: Work) -> list[Row] | None:
    """Return each definition and import: first line, last line of its signature, last line, depth, whether it is an import.

    None where no grammar says so: the language is unknown, the text too long, or too much of it is no such program.
    """
    parser = load(suffix)
    size = sum(map(len, lines))
    if parser is None or size > MOST:
        return None
    work.spend(PARSED * size)
    out: list[Row] = []
    for first, last in _pieces(lines):
        text = b"".join(line if line.endswith(b"\n") else line + b"\n" for line in lines[first:last])
        found = _parse(parser, text) if len(text) <= PIECE and _is_plain(text) else None
        if found is None:
            return None
        out += [(first + row[0], first + row[1], first + row[2], *row[3:]) for row in found]
    return out


def _pieces(lines: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Yield parts of a program that can be read by themselves: each begins with a line at the left edge, below an empty one.

    Parsing what is no program takes time that grows with the square of its size, so the size of what is parsed is bounded.
    """
    begun = size = 0
    for number, line in enumerate(lines):
        edge = line[:1].isalpha() or line[:1] in (b"#", b"/", b"@", b"_", b'"', b"'", b"<")
        if size > PIECE // 3 and edge and number and not lines[number - 1].strip():
            yield begun, number
            begun, size = number, 0
        size += len(line)
    yield begun, len(lines)


def _parse(parser: Parser, text: bytes) -> list[Row] | None:
    tree = parser.parse(text)
    starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]

    def row(offset: int) -> int:  # reading points of many nodes ends the process (tree-sitter 0.26.0); offsets are safe
        return bisect_right(starts, offset) - 1

    out: set[Row] = set()
    looked = wrong = 0
    stack: list[tuple[Node, int]] = [(tree.root_node, 0)]
    while stack:
        node, deep = stack.pop()
        looked += 1
        kind = node.type
        if kind == "ERROR":
            wrong += node.end_byte - node.start_byte
        first, last = row(node.start_byte), row(max(node.start_byte, node.end_byte - 1))
        if kind in _IMPORTS:
            out.add((first, last, last, deep, True))
            continue
        inner = deep
        if kind in _DEFINES and looked > 1:  # the root comes first
            out.add((first, _signature(node, text, starts, row, first, last), last, deep, False))
            inner = deep + 1
            if kind.startswith(_FUNCTIONS):
                continue  # what is defined inside of a function is its own business
        if (kind in _HOLDS or kind == "ERROR" or looked == 1) and deep <= DEEP:
            stack.extend((child, inner) for child in reversed(node.named_children))
    return None if wrong * 3 > len(text) else sorted(out)


def _is_plain(text: bytes) -> bool:
    """Return whether parsing takes time in proportion to size: people's programs do."""
    return text.count(b"\\\n") <= CONTINUED and max(map(len, text.split(b"\n"))) <= LINE


def _signature(node: Node, text: bytes, starts: list[int], row: Callable[[int], int], first: int, last: int) -> int:
    """Return the last line of a signature: the one where the body begins, or the one before it."""
    body = node.child_by_field_name("body") or node.child_by_field_name("value")
    if body is None:
        return first
    begins = row(body.start_byte)
    if not text[starts[begins] : body.start_byte].strip():
        begins -= 1
    return max(first, min(last, begins))
