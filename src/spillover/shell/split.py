"""A shell line read without a parser: good enough for most lines, but it does not know here-documents and functions."""

from __future__ import annotations

from msgspec import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

PUNCTUATION = "();<>|&\n`"
#: In a line of nothing but these, the words are what stands between blanks.
PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _./:,+=-")
#: What the name of a command has besides letters and digits.
_IN_NAMES = dict.fromkeys(map(ord, "_./-"))
#: What begins with one of these is something else than a command.
KEYWORDS = frozenset(
    [
        "if",
        "then",
        "else",
        "elif",
        "fi",
        "for",
        "while",
        "until",
        "do",
        "done",
        "case",
        "esac",
        "in",
        "function",
        "select",
        "time",
        "coproc",
        "export",
        "declare",
        "typeset",
        "local",
        "readonly",
        "unset",
        "unsetenv",
    ]
)


class Raw(Struct, frozen=True):
    """The words of a command as they are written, without quotes."""

    words: tuple[str, ...]
    silent: bool = False  # what it prints goes into a file
    script: str = ""  # what it is given as a here-document


def read_plain(line: str) -> list[list[Raw]] | None:
    """Return a line that is one command without quotes or operators, as most are; None for any other."""
    if not PLAIN.issuperset(line):
        return None
    words = tuple(line.split())
    if not words:
        return []
    name = words[0].translate(_IN_NAMES)
    return [[Raw(words)]] if name.isalnum() and words[0] not in KEYWORDS and "==" not in line else None


def read(line: str) -> list[list[Raw]]:
    """Return the pipelines of a line."""
    lines: list[list[Raw]] = []
    commands: list[Raw] = []
    words: list[str] = []
    silent = False

    def end() -> None:
        nonlocal words, silent
        if words:
            commands.append(Raw(tuple(words), silent))
        words, silent = [], False

    tokens = iter(_tokens(line))
    for token in tokens:
        if not token or not set(token) <= set(PUNCTUATION):
            words.append(token)
        elif token.startswith((">", "&>")):
            number = words.pop() if words and words[-1].isdigit() else "1"
            target = next(tokens, "")
            silent = silent or (number == "1" and is_file(target))
        elif token.startswith("<") and "(" not in token:
            words.append(next(tokens, ""))  # it is read as if it were named
        else:
            end()
            if token not in ("|", "|&"):
                lines.append(commands)
                commands = []
    end()
    return [each for each in (*lines, commands) if each]


def is_file(target: str) -> bool:
    """Return whether what is written there is hidden: it is neither another descriptor nor the terminal."""
    return not target.isdigit() and not target.startswith(("/dev/std", "/dev/tty", "/dev/fd/"))


def _tokens(line: str) -> list[str]:
    import shlex  # only profiles that ask about commands need it

    text = line.replace("\\\n", " ")
    for attempt in (text, text.translate(dict.fromkeys(map(ord, "\"'\\")))):  # quotes that do not close: without any
        lexer = shlex.shlex(attempt, posix=True, punctuation_chars=PUNCTUATION)
        lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
        try:
            return _without_comments(list(lexer))
        except ValueError:
            continue
    return []


def _without_comments(tokens: Sequence[str]) -> list[str]:
    out, comment = [], False
    for token in tokens:
        comment = (comment or token.startswith("#")) and "\n" not in token
        if not comment:
            out.append(token)
    return out
