"""A shell line read with tree-sitter-bash: quotes, here-documents, loops and functions are what they are to bash."""

from __future__ import annotations

from itertools import islice

from msgspec.structs import replace

from spillover.shell.command import join
from spillover.shell.split import Raw, is_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tree_sitter import Node, Tree

#: Constructs whose parsing takes time that grows with the square of their number, and how many are parsed.
COSTLY, MOST_COSTLY = ("|", "<<", "${"), 500
#: So many substitutions of a line are looked into.
MOST_SUBSTITUTIONS = 50
#: No line that somebody typed is nested deeper than this.
MOST_DEEP = 60
#: Nothing inside these is printed: it is defined, compared or passed on.
UNSEEN = frozenset(
    {"function_definition", "command_substitution", "process_substitution", "test_command", "variable_assignment",
     "declaration_command", "string", "raw_string", "word", "comment"}
)  # fmt: skip
#: What to install where there is no parser.
NEEDED = "the extra that reads shell lines: pip install 'spillover[shell]'"
#: A stage of a pipeline that is several commands.
GROUP = Raw(("(",))


def load() -> Callable[[bytes], Tree] | None:
    """Return the parser; None without the extra `shell`."""
    global _parse  # noqa: PLW0603  loading takes 30 ms, a line 30 µs
    if _parse is None:
        try:
            from tree_sitter import Language, Parser
            from tree_sitter_bash import language
        except ImportError:
            return None
        _parse = Parser(Language(language())).parse
    return _parse


_parse: Callable[[bytes], Tree] | None = None


def read(line: str) -> list[list[Raw]] | None:
    """Return the pipelines of a line; None where it cannot be read like this."""
    parse = load()
    if parse is None or sum(map(line.count, COSTLY)) > MOST_COSTLY:
        return None
    return _statements(parse(line.encode("utf-8", "replace")).root_node, 0)


def read_substitutions(line: str) -> list[str]:
    """Return the line inside each `$(…)`, pair of backticks and `<(…)`, with the commands that get what it prints."""
    parse = load()
    if parse is None or sum(map(line.count, COSTLY)) > MOST_COSTLY:
        return []
    return list(islice(_substitutions(parse(line.encode("utf-8", "replace")).root_node, "", 0), MOST_SUBSTITUTIONS))


def _substitutions(node: Node, rest: str, deep: int) -> Iterator[str]:
    if deep > MOST_DEEP or node.type in ("function_definition", "raw_string", "comment"):
        return
    if node.type == "redirected_statement" and any(map(_hides, _of_type(node, "file_redirect"))):
        return
    if node.type in ("command_substitution", "process_substitution"):
        yield text_of(node).strip("`").removeprefix("$").removeprefix("<").removeprefix(">") + rest
        rest = ""
    name = node.child_by_field_name("name") if node.type == "command" else None
    for number, child in enumerate(node.named_children):
        behind = rest
        if node.type == "pipeline":
            behind = "".join(f" | {text_of(each)}" for each in node.named_children[number + 1 :]) + rest
        elif name is not None and child.type == "process_substitution":
            behind = f" | {text_of(name)}{rest}"
        yield from _substitutions(child, behind, deep + 1)


def _statements(node: Node, deep: int) -> list[list[Raw]]:
    """Return the pipelines inside a node."""
    if deep > MOST_DEEP or node.type in UNSEEN:
        return []
    if node.type == "command":
        raw = command_of(node)
        return [[raw]] if raw.words else []
    if node.type == "pipeline":
        return join([_statements(child, deep + 1) for child in node.named_children], GROUP)
    if node.type == "redirected_statement":
        return _redirected(node, deep + 1)
    return [each for child in node.named_children for each in _statements(child, deep + 1)]


def _redirected(node: Node, deep: int) -> list[list[Raw]]:
    body = node.child_by_field_name("body")
    found = _statements(body, deep) if body is not None else []
    silent, script = False, ""
    reads: list[str] = []
    following: list[list[list[Raw]]] = []
    for redirect in node.children_by_field_name("redirect"):
        if redirect.type == "file_redirect":
            silent = silent or _hides(redirect)
            reads += _reads(redirect)
        elif redirect.type == "heredoc_redirect":
            script += "".join(text_of(child) for child in redirect.named_children if child.type == "heredoc_body")
            # What stands behind `<<EOF` on its line is inside the redirect.
            silent = silent or any(map(_hides, _of_type(redirect, "file_redirect")))
            following += [_statements(child, deep) for child in _of_type(redirect, "pipeline")]
    whole = body is not None and body.type != "list"  # of `a && b > file`, only b is written there
    for number, commands in enumerate(found):
        if whole or number == len(found) - 1:
            last = commands[-1]
            commands[-1] = replace(
                last, words=(*last.words, *reads), silent=last.silent or silent, script=last.script or script
            )
    return join([found, *following], GROUP) if following else found


def _of_type(node: Node, kind: str) -> Iterator[Node]:
    return (child for child in node.named_children if child.type == kind)


def _hides(redirect: Node) -> bool:
    """Return whether a redirect takes what is printed out of sight."""
    operator = next((child.type for child in redirect.children if not child.is_named), "")
    descriptor = next(map(text_of, _of_type(redirect, "file_descriptor")), "1")
    target = redirect.child_by_field_name("destination")
    return ">" in operator and descriptor == "1" and target is not None and is_file(_word(target))


def _reads(redirect: Node) -> list[str]:
    """Return the file a command reads from, which is as if it were named."""
    target = redirect.child_by_field_name("destination")
    operator = next((child.type for child in redirect.children if not child.is_named), "")
    return [_word(target)] if operator == "<" and target is not None else []


def command_of(node: Node) -> Raw:
    """Return the words of a command."""
    words: list[str] = []
    silent = False
    for child in node.named_children:
        if child.type == "file_redirect":
            silent = silent or _hides(child)
            words += _reads(child)
        elif child.type == "command_name":
            words += [_word(each) for each in child.named_children[:1]]
        elif child.type not in ("variable_assignment", "herestring_redirect", "heredoc_redirect", "comment"):
            words.append(_word(child))
    return Raw(tuple(words), silent)


def _word(node: Node) -> str:
    """Return a word as a program would get it, without its quotes; expansions stay as they are written."""
    text = text_of(node)
    if node.type == "concatenation":
        return "".join(map(_word, node.named_children))
    if node.type == "raw_string":
        return text[1:-1]
    if node.type == "ansi_c_string":
        return text[2:-1]
    if node.type == "string":
        return _unescape(text[1:-1] if len(text) > 1 and text.endswith('"') else text[1:], '\\"$`\n')
    return _unescape(text, None) if node.type == "word" else text


def _unescape(text: str, only: str | None) -> str:
    """Return a text without the backslashes before characters, or before `only` these."""
    out, at = "", 0
    while (found := text.find("\\", at)) >= 0:
        following = text[found + 1 : found + 2]
        taken = following and (only is None or following in only)
        out += text[at:found] + ("" if taken else "\\") + ("" if following == "\n" and taken else following)
        at = found + 2
    return out + text[at:]


def text_of(node: Node) -> str:
    """Return what stands there."""
    return (node.text or b"").decode("utf-8", "replace")
