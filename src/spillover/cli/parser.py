"""Every command, in one table; only the one that is asked for is built."""

from __future__ import annotations

import argparse
import os
import re
import sys

from spillover.cli import arguments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Function = Callable[[argparse.Namespace], int]
    Add = Callable[[argparse.ArgumentParser], None]

_LAST = re.compile(r"-[\d_,]+:")


#: name → (what it does, its arguments, examples)
COMMANDS: dict[str, tuple[str, Add, Sequence[str]]] = {
    "run": (
        "Run a command, print what it says within the limits, exit as it did.",
        arguments.run,
        ("spill run -- pytest -x", "spill run --tokens 4000 --timeout 600 -- make -j8"),
    ),
    "read": (
        "Read a part of a stored output.",
        arguments.read,
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
        arguments.grep,
        ("spill grep bash-7f3a9c2e41d0 'FAILED|Error' -C 2", "spill grep bash-7f3a9c2e41d0 -F 'a.b(c)' --from 20414"),
    ),
    "outline": (
        "Show a map of a stored output.",
        arguments.outline,
        ("spill outline bash-7f3a9c2e41d0", "spill outline bash-7f3a9c2e41d0 --tokens 500"),
    ),
    "list": (
        "List what is stored, newest first.",
        arguments.listing,
        ("spill list", "spill list --tool pytest --json"),
    ),
    "show": (
        "Show what is known of a stored output.",
        arguments.show,
        ("spill show bash-7f3a9c2e41d0", "spill show --why bash-7f3a9c2e41d0", "spill show --last cargo test"),
    ),
    "gc": (
        "Remove what is past retention, and leftovers.",
        arguments.gc,
        ("spill gc --dry-run", "spill gc", "spill gc --compress-after 1d"),
    ),
    "verify": (
        "Check that stored outputs are still what came in.",
        arguments.verify,
        ("spill verify", "spill verify bash-7f3a9c2e41d0"),
    ),
    "pin": ("Keep an output from retention.", arguments.pin, ("spill pin bash-7f3a9c2e41d0",)),
    "unpin": ("Let retention have an output again.", arguments.pin, ("spill unpin bash-7f3a9c2e41d0",)),
    "config": (
        "Show every setting and where it came from.",
        arguments.config,
        ("spill config", "SPILLOVER_TOKENS=4000 spill config"),
    ),
    "doctor": ("Check that everything spill needs is there.", arguments.doctor, ("spill doctor",)),
    "mcp": (
        "Serve the way back over MCP, alone or in front of other servers whose results it clips.",
        arguments.mcp,
        (
            "spill mcp",
            "spill mcp -- npx -y some-server",
            "spill mcp --tokens 4000 --url https://example.com/mcp",
            "spill mcp --servers servers.json --http 8321",
        ),
    ),
    "init": (
        "Put spill into a coding agent, or take it out again.",
        arguments.init,
        ("spill init claude-code", "spill init opencode --scope project --dry-run", "spill init codex --uninstall"),
    ),
    "hook": (
        "Answer a coding agent that asks after a tool call; `spill init` sets it up.",
        arguments.hook,
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
    about, add, examples = COMMANDS[name] if name else (FILTER[0], arguments.filter_stdin, FILTER[1])
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
