"""A shell line as the commands it runs, near enough to warn by; whatever it is, nothing is raised."""

from __future__ import annotations

from spillover.data import dataclass, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

#: What runs the command behind it, and how many words of its own may stand between (`timeout 5 find /`).
PREFIXES = {"sudo": 0, "doas": 0, "env": 0, "time": 0, "nice": 0, "ionice": 0, "nohup": 0, "command": 0, "exec": 0, "stdbuf": 0,
            "timeout": 1, "npx": 0, "bunx": 0, "pnpx": 0, "busybox": 0, "builtin": 0}  # fmt: skip
#: Their options that take a word.
TAKING = frozenset(
    {"-u", "-g", "-n", "-c", "-k", "-s", "--user", "--group", "--signal", "-C", "-S", "-o", "-i", "-e", "-p"}
)
SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh"})
#: Words of the shell that stand before a command.
OPENERS = frozenset({"if", "then", "else", "elif", "while", "until", "do", "!", "{", "}", "done", "fi"})
#: Longer lines are not commands that somebody typed, and a shell inside a shell inside a shell is none either.
MOST_CHARS, MOST_DEEP = 20_000, 3
PUNCTUATION = "();<>|&\n"


@dataclass(frozen=True, slots=True)
class Command:
    """One command of a line."""

    program: str  # without its folder
    words: tuple[str, ...] = ()
    silent: bool = False  # what it prints goes into a file

    @property
    def text(self) -> str:
        return " ".join((self.program, *(word or '""' for word in self.words)))

    @property
    def plain(self) -> list[str]:
        """The words that are no options; behind `--`, all of them."""
        if "--" in self.words:
            at = self.words.index("--")
            return [*(word for word in self.words[:at] if not word.startswith("-")), *self.words[at + 1 :]]
        return [word for word in self.words if not word.startswith("-") or word == "-"]

    def has(self, *options: str) -> bool:
        """Whether an option is there: also among others (`-lR`), with a value (`--lines=5`) or a number (`-n5`)."""
        return any(_is(word, option) for word in self.words for option in options)

    def values(self, *options: str) -> list[str]:
        """What is said to an option: `-n 5`, `-n5`, `--lines 5`, `--lines=5`."""
        out: list[str] = []
        for number, word in enumerate(self.words):
            for option in options:
                if word == option:
                    out += self.words[number + 1 : number + 2]
                elif option.startswith("--") and word.startswith(f"{option}="):
                    out.append(word[len(option) + 1 :])
                elif not option.startswith("--") and len(word) > 2 and word.startswith(option):
                    out.append(word[2:])
        return out


def parsed(line: str, deep: int = 0) -> list[list[Command]]:
    """The pipelines of a line, each a list of commands."""
    lines: list[list[Command]] = []
    commands: list[Command] = []
    words: list[str] = []
    silent = False

    def ended() -> None:
        nonlocal words, silent
        command = _command(words)
        if command is not None:
            commands.append(replace(command, silent=silent))
            if command.program in SHELLS and deep < MOST_DEEP:
                lines.extend(inner for said in command.values("-c", "-lc") for inner in parsed(said, deep + 1))
        words, silent = [], False

    tokens = iter(_tokens(line))
    for token in tokens:
        if not token or not set(token) <= set(PUNCTUATION):
            words.append(token)
        elif token.startswith((">", "&>")):
            number = words.pop() if words and words[-1].isdigit() else "1"
            target = next(tokens, "")
            silent = silent or (number == "1" and not target.isdigit() and not target.startswith("/dev/std"))
        elif token.startswith("<"):
            words.append(next(tokens, ""))  # it is read as if it were named
        else:
            ended()
            if token not in ("|", "|&"):
                lines.append(commands)
                commands = []
    ended()
    return [each for each in (*lines, commands) if each]


def _tokens(line: str) -> list[str]:
    import shlex  # only those who ask about commands pay for it

    text = str(line)[:MOST_CHARS].replace("\\\n", " ")
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


def _command(words: Sequence[str]) -> Command | None:
    """The command itself: without variables, `sudo` and the like before it."""
    left = list(words)
    while left:
        first = left.pop(0)
        name = first.rpartition("/")[2] or first
        if first in OPENERS or _assigns(first):
            continue
        if name not in PREFIXES or not left:
            return Command(name, tuple(left))
        own = PREFIXES[name]
        while left and (left[0].startswith("-") or own):
            word = left.pop(0)
            if word.startswith("-"):
                if word in TAKING and left and name not in ("time", "npx"):
                    left.pop(0)
            else:
                own -= 1
    return None


def _assigns(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()


def _is(word: str, option: str) -> bool:
    if word == option:
        return True
    if option.startswith("--"):
        return word.startswith(f"{option}=")
    if len(option) != 2 or not word.startswith("-") or word.startswith("--"):
        return False
    return option[1] in word[1:].rstrip("0123456789") and word[1:].rstrip("0123456789").isalpha()
