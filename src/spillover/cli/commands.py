"""Every command, in one table, and the parser of each; only the one that is asked for is built."""

from __future__ import annotations

import argparse
import os
import sys

from spillover.cli import arguments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, NoReturn

    from _typeshed import SupportsWrite

    Add = Callable[[argparse.ArgumentParser], None]

#: Help is no wider than this, however wide the terminal is.
WIDTH, NARROWEST = 80, 40

#: name → (what it does, its arguments, examples)
COMMANDS: dict[str, tuple[str, Add, Sequence[str]]] = {
    "run": (
        "Run a command, clip its output, and exit with its exit code.",
        arguments.run,
        (
            "spill run -- pytest -x",
            "spill run --tokens 4000 --timeout 10m -- make -j8",
            "spill run --since last -- pytest",
        ),
    ),
    "sh": (
        "Run a shell line; keep what its `| tail` or `| grep` drops.",
        arguments.sh,
        ("spill sh 'pytest 2>&1 | tail -20'", "spill sh --tokens 4000 'cd app && make 2>&1 | grep -i error'"),
    ),
    "read": (
        "Read a part of a stored output.",
        arguments.read,
        (
            "spill read bash-7f3a9c2e41d05b86 120:180",
            "spill read bash-7f3a9c2e41d05b86 -50",
            "spill read bash-7f3a9c2e41d05b86 7 --columns 4001:8000",
            "spill read bash-7f3a9c2e41d05b86 --bytes 1:4000",
            "spill read last:cargo -50",
            "spill read bash-7f3a9c2e41d05b86#/stdout 120:180",
        ),
    ),
    "grep": (
        "Search a stored output.",
        arguments.grep,
        (
            "spill grep bash-7f3a9c2e41d05b86 'FAILED|Error' -C 2",
            "spill grep -i error last:make",
            "spill grep bash-7f3a9c2e41d05b86 -F 'a.b(c)' --from 20414",
        ),
    ),
    "outline": (
        "Show a map of a stored output.",
        arguments.outline,
        ("spill outline bash-7f3a9c2e41d05b86", "spill outline last --tokens 500"),
    ),
    "diff": (
        "Show what changed between two stored outputs.",
        arguments.diff,
        ("spill diff last", "spill diff pytest-7f3a9c2e41d05b86 last:pytest"),
    ),
    "list": (
        "List stored outputs, newest first.",
        arguments.listing,
        ("spill list", "spill list --tool pytest --json"),
    ),
    "show": (
        "Show what is known about a stored output.",
        arguments.show,
        ("spill show bash-7f3a9c2e41d05b86", "spill show --why last", "spill show last:cargo"),
    ),
    "ui": (
        "Open a local web page that shows what the model saw.",
        arguments.ui,
        ("spill ui", "spill ui last", "spill ui --all-scopes --no-open"),
    ),
    "path": (
        "Print the path of a stored output.",
        arguments.one_ref,
        ("spill path bash-7f3a9c2e41d05b86", 'less "$(spill path last)"'),
    ),
    "pin": (
        "Keep an output until it is unpinned.",
        arguments.one_ref,
        ("spill pin bash-7f3a9c2e41d05b86", "spill pin last"),
    ),
    "unpin": ("Unpin an output.", arguments.one_ref, ("spill unpin bash-7f3a9c2e41d05b86",)),
    "rm": (
        "Remove stored outputs.",
        arguments.rm,
        ("spill rm bash-7f3a9c2e41d05b86", "spill rm --force last"),
    ),
    "verify": (
        "Check stored outputs against their SHA-256.",
        arguments.verify,
        ("spill verify", "spill verify bash-7f3a9c2e41d05b86"),
    ),
    "gc": (
        "Remove expired outputs and leftover files.",
        arguments.gc,
        ("spill gc --dry-run", "spill gc --compress-after 1d"),
    ),
    "stats": (
        "Show what was clipped, fetched back and saved, in tokens.",
        arguments.stats,
        (
            "spill stats",
            "spill stats --since 7d --by command",
            "spill stats --all-scopes --by day",
            "spill stats --misses",
        ),
    ),
    "push": (
        "Upload outputs that are only on this machine to the bucket.",
        arguments.push,
        ("spill push", "spill push --store s3://bucket/outputs"),
    ),
    "init": (
        "Set up spill in a coding agent, or remove it.",
        arguments.init,
        ("spill init claude-code", "spill init opencode --scope project --dry-run", "spill init codex --uninstall"),
    ),
    "hook": (
        "Answer a coding agent after a tool call (set up by `spill init`).",
        arguments.hook,
        ("spill hook claude-code",),
    ),
    "mcp": (
        "Serve stored outputs over MCP; clip other servers' results.",
        arguments.mcp,
        (
            "spill mcp",
            "spill mcp -- npx -y some-server",
            "spill mcp --tokens 4000 --url https://example.com/mcp",
            "spill mcp --url https://host/mcp --header 'Authorization: Bearer $TOKEN'",
        ),
    ),
    "config": (
        "Show every setting and where it comes from.",
        arguments.config,
        ("spill config", "SPILLOVER_TOKENS=4000 spill config"),
    ),
    "trust": (
        "Trust a project's configuration file as it is now.",
        arguments.trust,
        ("spill trust", "spill trust --list", "spill trust --remove ~/src/app"),
    ),
    "doctor": ("Check that everything works, and say how to fix what does not.", arguments.doctor, ("spill doctor",)),
    "completion": (
        "Print a completion script for a shell.",
        arguments.completion,
        ('eval "$(spill completion bash)"', "spill completion fish | source"),
    ),
    "help": ("Show help for spill or for one command.", arguments.help_, ("spill help", "spill help grep")),
}
#: The commands as the help groups them.
GROUPS = {
    "run a command": ("run", "sh"),
    "look at outputs": ("read", "grep", "outline", "diff", "list", "show", "path", "stats", "ui"),
    "manage the store": ("pin", "unpin", "rm", "verify", "gc", "push"),
    "set up": ("init", "hook", "mcp", "config", "trust", "doctor", "completion", "help"),
}

#: Where argparse would not say it well.
USAGE = {
    None: "spill [options] < OUTPUT\n       spill COMMAND ...",
    "run": "spill run [options] -- COMMAND [ARGUMENT ...]",
    "sh": "spill sh [options] 'LINE'",
    "mcp": "spill mcp [options] [-- COMMAND [ARGUMENT ...]]",
    "init": "spill init [options] HOST [FILE]\n       spill init [options] --all",
    "grep": "spill grep [options] REF PATTERN\n       spill grep [options] PATTERN REF",
}

FILTER = (
    "Bound tool output for LLM agents: lossy on the model, lossless on disk. Without a command, spill is a filter.",
    (
        "make 2>&1 | spill --tokens 4000",
        "spill run -- pytest -x",
        "spill grep last 'FAILED|Error' -C 2",
    ),
)


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Knows how wide the terminal is; argparse would load four compression libraries to find out."""

    def __init__(self, prog: str) -> None:
        try:
            width = int(os.environ.get("COLUMNS", "")) or os.get_terminal_size().columns
        except (ValueError, OSError):
            width = WIDTH
        super().__init__(prog, width=min(WIDTH, max(NARROWEST, width)) - 2, max_help_position=24)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Wrap prose; a paragraph of several lines is laid out already."""
        from textwrap import fill  # only for help

        parts = [part if "\n" in part else fill(part, width) for part in text.split("\n\n")]
        return super()._fill_text("\n\n".join(parts), width, indent)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in a line, with what may have been meant, instead of printing the usage."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.color = False  # newer versions of argparse would colour what they print

    def error(self, message: str) -> NoReturn:
        from spillover.cli.mistakes import explain
        from spillover.cli.output import complain

        words = " ".join(message.split("\n"))
        known = [option for action in self._actions for option in action.option_strings]
        complain(f"{explain(words, known, self.prog.removeprefix('spill '), COMMANDS)} See `{help_call(self.prog)}`.")
        raise SystemExit(2)

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        from spillover.cli.output import put

        put(message or "", 2 if file is None or file is sys.stderr else 1)


def help_call(prog: str) -> str:
    """Return the command that shows the help of a parser."""
    return f"spill help {prog.removeprefix('spill').strip()}".strip()


def parser_for(name: str | None) -> argparse.ArgumentParser:
    """Return the parser of one command; None: of the filter."""
    about, add, examples = COMMANDS[name] if name else (FILTER[0], arguments.filter_stdin, FILTER[1])
    lines = ["examples:", *(f"  {example}" for example in examples)]
    if name is None:
        about = "\n\n".join([about, *_list_commands()])
        lines += ["", "Run `spill help COMMAND` for the options of a command."]
    parser = _Parser(
        prog=f"spill {name}" if name else "spill",
        usage=USAGE.get(name),
        description=about,
        epilog="\n".join(lines),
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    add(parser)
    return parser


def _list_commands() -> Iterable[str]:
    for group, names in GROUPS.items():
        yield "\n".join([f"{group}:", *(f"  {name:<12}{COMMANDS[name][0]}" for name in names)])
