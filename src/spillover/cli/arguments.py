"""The arguments of each command."""

from __future__ import annotations

import argparse


def limits(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how much")
    for name in ("lines", "bytes", "chars", "tokens"):
        group.add_argument(f"--{name}", type=number, metavar="N", help=f"at most N {name}; 0: no such limit")
    group.add_argument("--tokenizer", metavar="NAME", help="estimate, or o200k_base and the like (extra: tokens)")


def store(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--store", metavar="DIR", help="where outputs are kept")


def json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="facts for a program instead of text")


def choosing(parser: argparse.ArgumentParser) -> None:
    limits(parser)
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
    store(parser)


def clipping(parser: argparse.ArgumentParser) -> None:
    choosing(parser)
    parser.add_argument("--tool", metavar="NAME", help="the name in the ref, and for per-tool rules")
    json(parser)


def filter_stdin(parser: argparse.ArgumentParser) -> None:
    clipping(parser)
    parser.add_argument("--version", action="store_true", help="print the version")


def run(parser: argparse.ArgumentParser) -> None:
    clipping(parser)
    parser.add_argument(
        "--timeout", type=float, metavar="SECONDS", help="end the command's group after so long; exit 124"
    )
    parser.add_argument("--live", action="store_true", help="show on stderr how far it has come, within bounds")
    parser.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="what to run, with its arguments"
    )


_REF = "the name in the notice; a start of it that only one output has will do"
_LAST_TOO = f"{_REF}. Or last, or last:WORDS: the newest of that command or tool"


def ref(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ref", metavar="REF", help=_LAST_TOO)


def read(parser: argparse.ArgumentParser) -> None:
    ref(parser)
    parser.add_argument(
        "range", nargs="?", metavar="LINES", help="120:180, 120:+50, -50: or 120; without it: from the start"
    )
    parser.add_argument("--columns", metavar="RANGE", help="a part of one line; columns count bytes")
    parser.add_argument(
        "--bytes", dest="byte_range", metavar="RANGE", help="bytes instead of lines, control characters made visible"
    )
    parser.add_argument("--tokens", type=number, metavar="N", help="at most N tokens")
    store(parser)
    json(parser)


def grep(parser: argparse.ArgumentParser) -> None:
    ref(parser)
    parser.add_argument("pattern", metavar="PATTERN", help="a regular expression (RE2: linear time)")
    parser.add_argument("-C", "--context", type=number, default=0, metavar="N", help="N lines around each match")
    parser.add_argument("-i", "--ignore-case", action="store_true", help="capitals make no difference")
    parser.add_argument("-F", "--fixed", action="store_true", help="the pattern is plain text")
    parser.add_argument(
        "--from", dest="start", default="1", metavar="LINE", help="go on from this line (or LINE:COLUMN)"
    )
    limits(parser)
    store(parser)
    json(parser)


def outline(parser: argparse.ArgumentParser) -> None:
    ref(parser)
    limits(parser)
    store(parser)
    json(parser)


def listing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tool", metavar="NAME", help="only outputs of this tool")
    parser.add_argument("--command", metavar="WORDS", default="", help="only those of a command with these words in it")
    parser.add_argument("--all", action="store_true", help="all of them, not only the newest 50")
    store(parser)
    json(parser)


def show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ref", nargs="?", metavar="REF", help=_LAST_TOO)
    parser.add_argument(
        "--last", nargs="*", metavar="WORD", help="the newest output; with words, the newest of that command or tool"
    )
    parser.add_argument("--why", action="store_true", help="why each line that was shown was")
    store(parser)
    json(parser)


def gc(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="say what would go, and leave it")
    parser.add_argument(
        "--compress-after", metavar="AGE", help="compress what was stored longer ago, e.g. 12h or 2d (extra: zstd)"
    )
    store(parser)
    json(parser)


def verify(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("refs", nargs="*", metavar="REF", help="these outputs; without any: all of them")
    store(parser)
    json(parser)


def pin(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ref", metavar="REF", help=_REF)
    store(parser)


def config(parser: argparse.ArgumentParser) -> None:
    json(parser)


def doctor(parser: argparse.ArgumentParser) -> None:
    store(parser)
    json(parser)


def hook(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("host", choices=("claude-code", "opencode"), help="whose question comes on stdin, as JSON")


def init(parser: argparse.ArgumentParser) -> None:
    hosts = ("claude-code", "opencode", "codex", "gemini", "shell")
    parser.add_argument("host", choices=hosts, help="the agent; shell: any that has a shell and reads AGENTS.md")
    parser.add_argument("--scope", choices=("user", "project"), help="for all of your work, or for this folder only")
    parser.add_argument("--dry-run", action="store_true", help="show what would change, and change nothing")
    parser.add_argument("--uninstall", action="store_true", help="take out again what was put in")


def mcp(parser: argparse.ArgumentParser) -> None:
    choosing(parser)
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


def number(text: str) -> int:
    digits = text.replace(",", "").replace("_", "")
    if not digits.isdecimal() or not digits.isascii():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number")
    return int(digits)
