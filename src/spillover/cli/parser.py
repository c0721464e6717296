"""Arguments of every command, from one table; only the command that is asked for is built."""

from __future__ import annotations

import argparse
import os
import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Function = Callable[[argparse.Namespace], int]
    Add = Callable[[argparse.ArgumentParser], None]

_LAST = re.compile(r"-[\d_,]+:")


def _limits(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how much")
    for name in ("lines", "bytes", "chars", "tokens"):
        group.add_argument(f"--{name}", type=_number, metavar="N", help=f"at most N {name}; 0: no such limit")
    group.add_argument("--tokenizer", metavar="NAME", help="estimate, or o200k_base and the like (extra: tokens)")


def _store(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--store", metavar="DIR", help="where outputs are kept")


def _json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="facts for a program instead of text")


def _choosing(parser: argparse.ArgumentParser) -> None:
    _limits(parser)
    parser.add_argument(
        "--profile", metavar="NAME", help="as another system has it: opencode, t15, klaude, daycare, vtcode"
    )
    parser.add_argument("--keep", metavar="PART", help="auto, signal, head, tail or ends")
    parser.add_argument(
        "--hints",
        metavar="HINT",
        action="append",
        help="what the reader has: cli, tools, path, files:READ,GREP, agent:NAME, none",
    )
    parser.add_argument("--cap", metavar="SIZE", help="the most to store of one output, e.g. 500 MB")
    _store(parser)


def _clipping(parser: argparse.ArgumentParser) -> None:
    _choosing(parser)
    parser.add_argument("--tool", metavar="NAME", help="the name in the ref, and for per-tool rules")
    _json(parser)


def _filter(parser: argparse.ArgumentParser) -> None:
    _clipping(parser)
    parser.add_argument("--version", action="store_true", help="print the version")


def _run(parser: argparse.ArgumentParser) -> None:
    _clipping(parser)
    parser.add_argument(
        "--timeout", type=float, metavar="SECONDS", help="end the command's group after so long; exit 124"
    )
    parser.add_argument("--live", action="store_true", help="show on stderr how far it has come, within bounds")
    parser.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="what to run, with its arguments"
    )


_REF = "the name in the notice; a start of it that only one output has will do"
_LAST_TOO = f"{_REF}. Or last, or last:WORDS: the newest of that command or tool"


def _ref(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ref", metavar="REF", help=_LAST_TOO)


def _read(parser: argparse.ArgumentParser) -> None:
    _ref(parser)
    parser.add_argument(
        "range", nargs="?", metavar="LINES", help="120:180, 120:+50, -50: or 120; without it: from the start"
    )
    parser.add_argument("--columns", metavar="RANGE", help="a part of one line; columns count bytes")
    parser.add_argument(
        "--bytes", dest="byte_range", metavar="RANGE", help="bytes instead of lines, control characters made visible"
    )
    parser.add_argument("--tokens", type=_number, metavar="N", help="at most N tokens")
    _store(parser)
    _json(parser)


def _grep(parser: argparse.ArgumentParser) -> None:
    _ref(parser)
    parser.add_argument("pattern", metavar="PATTERN", help="a regular expression (RE2: linear time)")
    parser.add_argument("-C", "--context", type=_number, default=0, metavar="N", help="N lines around each match")
    parser.add_argument("-i", "--ignore-case", action="store_true", help="capitals make no difference")
    parser.add_argument("-F", "--fixed", action="store_true", help="the pattern is plain text")
    parser.add_argument(
        "--from", dest="start", default="1", metavar="LINE", help="go on from this line (or LINE:COLUMN)"
    )
    _limits(parser)
    _store(parser)
    _json(parser)


def _outline(parser: argparse.ArgumentParser) -> None:
    _ref(parser)
    _limits(parser)
    _store(parser)
    _json(parser)


def _list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tool", metavar="NAME", help="only outputs of this tool")
    parser.add_argument("--command", metavar="WORDS", default="", help="only those of a command with these words in it")
    parser.add_argument("--all", action="store_true", help="all of them, not only the newest 50")
    _store(parser)
    _json(parser)


def _show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ref", nargs="?", metavar="REF", help=_LAST_TOO)
    parser.add_argument(
        "--last", nargs="*", metavar="WORD", help="the newest output; with words, the newest of that command or tool"
    )
    parser.add_argument("--why", action="store_true", help="why each line that was shown was")
    _store(parser)
    _json(parser)


def _gc(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="say what would go, and leave it")
    parser.add_argument(
        "--compress-after", metavar="AGE", help="compress what was stored longer ago, e.g. 12h or 2d (extra: zstd)"
    )
    _store(parser)
    _json(parser)


def _verify(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("refs", nargs="*", metavar="REF", help="these outputs; without any: all of them")
    _store(parser)
    _json(parser)


def _pin(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ref", metavar="REF", help=_REF)
    _store(parser)


def _config(parser: argparse.ArgumentParser) -> None:
    _json(parser)


def _doctor(parser: argparse.ArgumentParser) -> None:
    _store(parser)
    _json(parser)


def _hook(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("host", choices=("claude-code", "opencode"), help="whose question comes on stdin, as JSON")


def _init(parser: argparse.ArgumentParser) -> None:
    hosts = ("claude-code", "opencode", "codex", "gemini", "shell")
    parser.add_argument("host", choices=hosts, help="the agent; shell: any that has a shell and reads AGENTS.md")
    parser.add_argument("--scope", choices=("user", "project"), help="for all of your work, or for this folder only")
    parser.add_argument("--dry-run", action="store_true", help="show what would change, and change nothing")
    parser.add_argument("--uninstall", action="store_true", help="take out again what was put in")


def _mcp(parser: argparse.ArgumentParser) -> None:
    _choosing(parser)
    parser.add_argument("--url", metavar="URL", help="stand in front of the server at this address (extra: mcp)")
    parser.add_argument(
        "--servers", metavar="FILE", help='stand in front of all servers of a file: {"mcpServers": {NAME: …}}'
    )
    parser.add_argument(
        "--http", metavar="HOST:PORT", help="serve over HTTP (extra: mcp); a port alone: on this machine only"
    )
    parser.add_argument("--allow-run", action="store_true", help="offer a tool that runs shell commands, too")
    parser.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="stand in front of the server that this runs"
    )


#: name → (what it does, its arguments, examples)
COMMANDS: dict[str, tuple[str, Add, Sequence[str]]] = {
    "run": (
        "Run a command, print what it says within the limits, exit as it did.",
        _run,
        ("spill run -- pytest -x", "spill run --tokens 4000 --timeout 600 -- make -j8"),
    ),
    "read": (
        "Read a part of a stored output.",
        _read,
        (
            "spill read bash-7f3a9c2e41d0 120:180",
            "spill read bash-7f3a9c2e41d0 -50:",
            "spill read bash-7f3a9c2e41d0 7 --columns 4001:8000",
            "spill read bash-7f3a9c2e41d0 --bytes 1:4000",
            "spill read last:cargo -50:",
        ),
    ),
    "grep": (
        "Search a stored output.",
        _grep,
        ("spill grep bash-7f3a9c2e41d0 'FAILED|Error' -C 2", "spill grep bash-7f3a9c2e41d0 -F 'a.b(c)' --from 20414"),
    ),
    "outline": (
        "Show a map of a stored output.",
        _outline,
        ("spill outline bash-7f3a9c2e41d0", "spill outline bash-7f3a9c2e41d0 --tokens 500"),
    ),
    "list": ("List what is stored, newest first.", _list, ("spill list", "spill list --tool pytest --json")),
    "show": (
        "Show what is known of a stored output.",
        _show,
        ("spill show bash-7f3a9c2e41d0", "spill show --why bash-7f3a9c2e41d0", "spill show --last cargo test"),
    ),
    "gc": (
        "Remove what is past retention, and leftovers.",
        _gc,
        ("spill gc --dry-run", "spill gc", "spill gc --compress-after 1d"),
    ),
    "verify": (
        "Check that stored outputs are still what came in.",
        _verify,
        ("spill verify", "spill verify bash-7f3a9c2e41d0"),
    ),
    "pin": ("Keep an output from retention.", _pin, ("spill pin bash-7f3a9c2e41d0",)),
    "unpin": ("Let retention have an output again.", _pin, ("spill unpin bash-7f3a9c2e41d0",)),
    "config": (
        "Show every setting and where it came from.",
        _config,
        ("spill config", "SPILLOVER_TOKENS=4000 spill config"),
    ),
    "doctor": ("Check that everything spill needs is there.", _doctor, ("spill doctor",)),
    "mcp": (
        "Serve the way back over MCP, alone or in front of other servers whose results it clips.",
        _mcp,
        (
            "spill mcp",
            "spill mcp -- npx -y some-server",
            "spill mcp --tokens 4000 --url https://example.com/mcp",
            "spill mcp --servers servers.json --http 8321",
        ),
    ),
    "init": (
        "Put spill into a coding agent, or take it out again.",
        _init,
        ("spill init claude-code", "spill init opencode --scope project --dry-run", "spill init codex --uninstall"),
    ),
    "hook": (
        "Answer a coding agent that asks after a tool call; `spill init` sets it up.",
        _hook,
        ("spill hook claude-code",),
    ),
}

FILTER = (
    "Bounded tool output for LLM agents: lossy on the model, lossless on disk. Without a command: a filter.",
    ("make 2>&1 | spill --tokens 4000", "spill run -- pytest -x", "spill grep bash-7f3a9c2e41d0 'FAILED|Error' -C 2"),
)


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Knows how wide the terminal is; argparse would load four compression libraries to find out."""

    def __init__(self, prog: str) -> None:
        try:
            width = int(os.environ.get("COLUMNS", "")) or os.get_terminal_size().columns
        except (ValueError, OSError):
            width = 80
        super().__init__(prog, width=max(40, width - 2))


def parser_for(name: str | None) -> argparse.ArgumentParser:
    """The parser of one command; None: of the filter."""
    about, add, examples = COMMANDS[name] if name else (FILTER[0], _filter, FILTER[1])
    lines = ["examples:", *(f"  {example}" for example in examples)]
    if name is None:
        lines = [
            "commands:",
            *(f"  {each:<8}{COMMANDS[each][0]}" for each in COMMANDS),
            "",
            *lines,
            "",
            "`spill COMMAND --help` says more.",
        ]
    usage = None if name else "spill [options] < OUTPUT\n       spill COMMAND ..."
    parser = argparse.ArgumentParser(
        prog=f"spill {name}" if name else "spill",
        usage=usage,
        description=about,
        epilog="\n".join(lines),
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    add(parser)
    return parser


def parse(argv: Sequence[str]) -> tuple[Function, argparse.Namespace]:
    """What to call, and with what. Wrong use ends here, with exit 2."""
    name = argv[0] if argv and argv[0] in COMMANDS else None
    if name is None and argv and not argv[0].startswith("-"):
        _unknown(argv[0])
    rest = list(argv[1:] if name else argv)
    if name == "read":
        # -50: is a range, not an option; the first word can be none.
        rest = [f" {word}" if at and _LAST.match(word) else word for at, word in enumerate(rest)]
    parser = parser_for(name)
    # Where a word may be left out, argparse by itself would not look for it behind an option.
    mixed = name in ("read", "show", "verify") and "--" not in rest
    return _function(name), parser.parse_intermixed_args(rest) if mixed else parser.parse_args(rest)


def _function(name: str | None) -> Function:
    if name in (None, "run"):
        from spillover.cli import clipping  # each command pays only for itself

        return clipping.run if name else clipping.filter_stdin
    if name in ("read", "grep", "outline"):
        from spillover.cli import retrieval

        return {"read": retrieval.read, "grep": retrieval.grep, "outline": retrieval.outline}[name]
    if name == "mcp":
        from spillover.cli import mcp

        return mcp.mcp
    if name == "hook":
        from spillover.cli import hook

        return hook.hook
    if name == "init":
        from spillover.cli import init

        return init.init
    from spillover.cli import keeping

    return keeping.FUNCTIONS[name or ""]


def _unknown(word: str) -> None:
    from difflib import get_close_matches  # only for a mistake

    near = get_close_matches(word, COMMANDS, 1)
    guess = f"did you mean `spill {near[0]}`? " if near else ""
    sys.stderr.write(f"spill: {word!r} is no command; {guess}To run something: spill run -- {word} …\n")
    raise SystemExit(2)


def _number(text: str) -> int:
    digits = text.replace(",", "").replace("_", "")
    if not digits.isdecimal() or not digits.isascii():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number")
    return int(digits)
