"""Commands and their options: what commands share, the parser of each, and what to say about a mistake."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from importlib import import_module
from shutil import get_terminal_size
from textwrap import fill
from typing import IO, NoReturn

from msgspec import Struct

from spillover.cli.output import EXIT_OK, EXIT_USAGE, write, write_error
from spillover.errors import UsageError
from spillover.profiles import NAMES as PROFILES
from spillover.settings.settings import KEEPS

#: The commands as the help groups them: name → the module of `spillover.cli` that has it.
GROUPS = {
    "run a command": {"run": "run", "sh": "run"},
    "look at outputs": {
        "read": "retrieve",
        "grep": "retrieve",
        "outline": "retrieve",
        "diff": "retrieve",
        "list": "outputs",
        "show": "outputs",
        "path": "outputs",
        "stats": "stats",
        "ui": "outputs",
    },
    "manage the store": dict.fromkeys(("pin", "unpin", "rm", "verify", "gc", "push"), "store"),
    "set up": {
        **dict.fromkeys(("init", "hook", "mcp"), "agents"),
        **dict.fromkeys(("config", "trust"), "configure"),
        "doctor": "doctor",
        **dict.fromkeys(("completion", "help"), "parsing"),
    },
}
MODULES = {name: module for group in GROUPS.values() for name, module in group.items()}
#: The name of the filter, which `spill` is without a command.
FILTER = ""
SHELLS = ("bash", "zsh", "fish", "tcsh", "powershell")
#: Columns of the help at most, however wide the terminal is.
HELP_COLUMNS = 80
_TIME_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_REF = "the ref in the notice (any unique prefix works) or the path of the output"
REF_HELP = f"{_REF}; last for the newest run, last:WORDS for the newest run of that command or tool"
#: What people type for a command that has another name here.
SYNONYMS = {
    "cat": "read",
    "tail": "read",
    "head": "read",
    "search": "grep",
    "rg": "grep",
    "find": "grep",
    "ls": "list",
    "delete": "rm",
    "remove": "rm",
    "info": "show",
    "exec": "run",
    "check": "verify",
    "clean": "gc",
    "prune": "gc",
    "install": "init",
    "uninstall": "init",
    "settings": "config",
    "where": "path",
    "completions": "completion",
}
#: Agents that `init` knows only by their file of MCP servers.
SERVER_FILES = {
    "cursor": "~/.cursor/mcp.json",
    "vscode": ".vscode/mcp.json",
    "vs-code": ".vscode/mcp.json",
    "windsurf": "~/.codeium/windsurf/mcp_config.json",
    "zed": "~/.config/zed/settings.json",
}
#: What to type where the ref is missing.
REF_EXAMPLES = {
    "read": "spill read last 1:50",
    "outline": "spill outline last",
    "diff": "spill diff last",
    "show": "spill show last",
    "path": "spill path last",
    "pin": "spill pin last",
    "unpin": "spill unpin last",
    "rm": "spill rm bash-7f3a9c2e41d05b86",
}
#: A range of `read` that looks like an option: -50, -50:
_RANGE_FROM_END = re.compile(r"-[\d_,]+(:.*)?")
#: The option of grep that takes a pattern, as people type it: `-e X`, `-eX`, behind other letters as in `-ie X`.
_PATTERN_OPTION = re.compile(r"(?P<flags>-[ivFocnE]*)e(?P<short>.*)|--regexp(?:=(?P<long>.*))?", re.DOTALL)


class Command(Struct, frozen=True):
    """A command: what it does, its options, examples, and the function that carries it out."""

    about: str
    add_options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    examples: tuple[str, ...]
    usage: str | None = None  # where argparse would not show it well
    intermixed: bool = False  # whether optional words may stand behind options


def find_command(name: str) -> Command:
    """Import the module of a command and return the command."""
    command: Command = import_module(f"spillover.cli.{MODULES.get(name, 'run')}").COMMANDS[name]
    return command


def parse(argv: Sequence[str]) -> tuple[Command, argparse.Namespace]:
    """Return the command that the words name, and its arguments. Wrong use ends here, with exit code 2."""
    name = argv[0] if argv and argv[0] in MODULES else FILTER
    if name == FILTER and argv and not argv[0].startswith("-"):
        _refuse_command(argv[0])
    words = list(argv[1:] if name else argv)
    if name == "read":  # -50 and -50: are ranges, not options; the first word can be none
        words = [f" {word}" if at and _RANGE_FROM_END.fullmatch(word) else word for at, word in enumerate(words)]
    command = find_command(name)
    parser = build_parser(name)
    if name == "grep":
        words, patterns = _split_patterns(words)
        if patterns:  # a stand-in lets the parser check the other words; a pattern may begin with a dash
            arguments = parser.parse_args(["PATTERN", *words])
            arguments.ref = arguments.pattern
            arguments.pattern = " ".join(patterns)
            arguments.patterns = patterns
            return command, arguments
    if command.intermixed and "--" not in words:
        return command, parser.parse_intermixed_args(words)
    return command, parser.parse_args(words)


def build_parser(name: str) -> argparse.ArgumentParser:
    """Return the parser of one command."""
    command = find_command(name)
    epilog = ["examples:", *(f"  {example}" for example in command.examples)]
    if name == FILTER:
        epilog += ["", "Run `spill help COMMAND` for the options of a command."]
    parser = _Parser(
        prog=f"spill {name}".strip(),
        usage=command.usage,
        description=command.about,
        epilog="\n".join(epilog),
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    command.add_options(parser)
    return parser


def _describe_group(group: str) -> str:
    return "\n".join([f"{group}:", *(f"  {name:<12}{find_command(name).about}" for name in GROUPS[group])])


def _split_patterns(words: list[str]) -> tuple[list[str], list[str]]:
    """Return the words without `-e PATTERN`, and the patterns: grep takes any number of them."""
    rest: list[str] = []
    patterns: list[str] = []
    position = 0
    while position < len(words) and words[position] != "--":
        match = _PATTERN_OPTION.fullmatch(words[position])
        attached = (match["short"] or match["long"]) if match else None
        if match and match["flags"] and match["flags"] != "-":
            rest.append(match["flags"])
        if attached:
            patterns.append(attached)
        elif match and position + 1 < len(words):
            position += 1
            patterns.append(words[position])
        else:
            rest.append(words[position])
        position += 1
    return rest + words[position:], patterns


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Wraps prose, and leaves paragraphs of several lines as they are laid out."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=min(HELP_COLUMNS, get_terminal_size().columns) - 2, max_help_position=24)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = [part if "\n" in part else fill(part, width) for part in text.split("\n\n")]
        return super()._fill_text("\n\n".join(paragraphs), width, indent)


class _Parser(argparse.ArgumentParser):
    """Explains a mistake in one line, with what may have been meant, instead of printing the usage."""

    color = False  # newer versions of argparse would colour what they print

    def format_help(self) -> str:
        """Return the help; that of the filter lists the commands, whose modules are imported only for it."""
        if self.prog == "spill":
            self.description = "\n\n".join([find_command(FILTER).about, *map(_describe_group, GROUPS)])
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        name = self.prog.removeprefix("spill").strip()
        options = [option for action in self._actions for option in action.option_strings]
        help_call = f"spill help {name}".strip()
        write_error(f"{explain(' '.join(message.split(chr(10))), options, name)} See `{help_call}`.")
        raise SystemExit(EXIT_USAGE)

    def _print_message(self, message: str, file: IO[str] | None = None) -> None:  # type: ignore[override]  # what argparse passes
        write(message or "", 2 if file is None or file is sys.stderr else 1)


# ---- Options that commands share


def add_limits(parser: argparse.ArgumentParser, names: tuple[str, ...] = ("lines", "bytes", "chars", "tokens")) -> None:
    group = parser.add_argument_group("limits")
    for name in names:
        group.add_argument(f"--{name}", type=parse_number, metavar="N", help=f"at most N {name}; 0 for no limit")
    group.add_argument(
        "--tokenizer", metavar="NAME", help="how to count tokens: estimate, or e.g. o200k_base (extra: tokens)"
    )


def add_store(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--store", metavar="WHERE", help="where outputs are kept: a folder, or s3://bucket/prefix")


def add_scope(parser: argparse.ArgumentParser, *, all_scopes: bool = True) -> None:
    parser.add_argument(
        "--scope", metavar="NAME", help="scope of the outputs, e.g. acme/web; default: the current project"
    )
    if all_scopes:
        parser.add_argument("--all-scopes", action="store_true", help="look at the outputs of every project and scope")


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_place(parser: argparse.ArgumentParser) -> None:
    """Add where outputs are, and whose."""
    add_store(parser)
    add_scope(parser)


def add_ref(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ref", metavar="REF", help=REF_HELP)


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Add what decides how an output is clipped."""
    add_limits(parser)
    parser.add_argument(
        "--profile", metavar="NAME", help="clip as another system does: opencode, t15, klaude, daycare, vtcode"
    )
    parser.add_argument(
        "--profile-option",
        metavar="KEY=VALUE",
        action="append",
        help="an option of that profile, as in TOML; may be repeated",
    )
    parser.add_argument("--keep", metavar="PART", help="which part to keep: auto, signal, head, tail or ends")
    add_store(parser)
    add_scope(parser, all_scopes=False)


def strip_dashes(words: list[str]) -> list[str]:
    """Return the words behind options, without a `--` before them."""
    return words[1:] if words[:1] == ["--"] else words


def parse_number(text: str) -> int:
    """Return a whole number; digits may be grouped."""
    digits = text.replace(",", "").replace("_", "")
    if not digits.isdecimal() or not digits.isascii():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number, 0 or more")
    return int(digits)


def parse_port(text: str) -> int:
    if not text.isdecimal() or not text.isascii() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; use a number from 1 to 65535")
    return int(text)


def parse_duration(text: str) -> float:
    """Return the seconds of a time: 90, 1.5, 90s, 5m, 2h."""
    amount = text.strip().lower()
    unit = _TIME_UNITS.get(amount[-1:], 0)
    try:
        seconds = float(amount[:-1] if unit else amount) * (unit or 1)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a time; use e.g. 90, 90s, 5m, 2h or 7d")
    return seconds


# ---- Mistakes


def guess(word: str, vocabulary: Iterable[str]) -> str:
    """Return the known word that was most likely meant; "" if none is near."""
    words = list(vocabulary)
    if SYNONYMS.get(word) in words:
        return SYNONYMS[word]
    near = get_close_matches(word, words, 1)
    return near[0] if near else ""


def explain(message: str, options: Iterable[str], command: str = FILTER) -> str:
    """Return in plain words what argparse found wrong with the words of a command, or of the filter."""
    if message.startswith("unrecognized arguments: "):
        word = message.removeprefix("unrecognized arguments: ").split(" ")[0]
        if command == FILTER and word in MODULES:
            return f"{word} is a command, and stands before its options: `spill {word} …`."
        if not word.startswith("-"):
            return f"unexpected argument {word!r}."
        near = guess(word.partition("=")[0], options)
        return f"unknown option {word}.{f' Did you mean {near}?' if near else ''}"
    if message.startswith("the following arguments are required: "):
        return _explain_missing(message.removeprefix("the following arguments are required: "), command)
    name, _, problem = message.removeprefix("argument ").partition(": ")
    if problem == "expected one argument":
        return f"{name} needs a value."
    if problem.startswith("invalid choice: "):
        return _explain_choice(name, problem.removeprefix("invalid choice: "))
    return f"{name}: {problem}." if message.startswith("argument ") else f"{message}."


def _explain_missing(names: str, command: str) -> str:
    if names == "PATTERN":  # of `grep`, which takes them in either order: nobody knows which one is missing
        return "a REF and a PATTERN are needed, e.g. `spill grep last 'FAILED|Error'`."
    if names == "shell":
        return "name a shell: bash, zsh, fish, tcsh or powershell."
    example = f", e.g. `{REF_EXAMPLES[command]}`" if names == "REF" and command in REF_EXAMPLES else ""
    return f"missing {' and '.join(names.split(', '))}{example}."


def _explain_choice(name: str, problem: str) -> str:
    """Return the message for a word that is no choice, with the choices and the nearest one."""
    choice, _, rest = problem.partition(" (choose from ")
    word = choice.strip("'")
    choices = [choice.strip("' ") for choice in rest.rstrip(")").split(",")]
    near = guess(word, choices)
    remedy = f" Did you mean {near}?" if near else ""
    if name == "host" and (file := SERVER_FILES.get(word.lower())):
        remedy = f" For {word}: `spill init mcp-json {file}`."
    start = f"{name}: {choice} is not valid" if name.startswith("-") else f"{choice} is not a {name}"
    return f"{start}; use {', '.join(choices)}.{remedy}"


def _refuse_command(word: str) -> NoReturn:
    near = guess(word, MODULES)
    remedy = f"Did you mean `spill {near}`? " if near else ""
    write_error(f"unknown command {word!r}. {remedy}To run a program: spill run -- {word} …")
    raise SystemExit(EXIT_USAGE)


# ---- The commands `help` and `completion`


def show_help(arguments: argparse.Namespace) -> int:
    """Print the help of one command, or the overview."""
    name = arguments.topic or FILTER
    if name != FILTER and name not in MODULES:
        near = guess(name, MODULES)
        remedy = f" Did you mean `spill help {near}`?" if near else " `spill help` lists the commands."
        raise UsageError(f"unknown command {name!r}.{remedy}")
    write(build_parser(name).format_help())
    return EXIT_OK


def print_completion(arguments: argparse.Namespace) -> int:
    """Print a completion script, which shtab makes from the parsers: what `--help` lists is what is completed."""
    import shtab

    parser = build_parser(FILTER)
    subparsers = parser.add_subparsers(prog="spill")
    parsers = [parser]
    for name in MODULES:
        command = find_command(name)
        parsers.append(subparsers.add_parser(name, help=command.about))
        command.add_options(parsers[-1])
    choices = {"keep": KEEPS, "profile": PROFILES, "topic": tuple(MODULES)}
    refs = shtab.cmd("echo last; spill list --quiet")
    completers = {
        **dict.fromkeys(("ref", "refs", "other", "pattern"), refs),
        "store": shtab.DIRECTORY,
        "file": shtab.FILE,
    }
    for action in (action for command_parser in parsers for action in command_parser._actions):  # noqa: SLF001  argparse has no other list
        action.choices = choices.get(action.dest, action.choices)
        if action.dest in completers:
            action.complete = completers[action.dest]  # type: ignore[attr-defined]  # shtab reads it
    write(shtab.complete(parser, arguments.shell) + "\n")
    return EXIT_OK


def _add_completion_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="the shell")


def _add_help_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic", nargs="?", metavar="COMMAND", help="a command; default: an overview of all commands")


COMMANDS = {
    "completion": Command(
        "Print a completion script for a shell.",
        _add_completion_options,
        print_completion,
        ('eval "$(spill completion bash)"', "spill completion fish | source"),
    ),
    "help": Command(
        "Show help for spill or for one command.",
        _add_help_options,
        show_help,
        ("spill help", "spill help grep"),
        intermixed=True,
    ),
}
