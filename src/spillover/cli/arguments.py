"""The arguments of each command."""

from __future__ import annotations

import argparse

from spillover.hosts import HOSTS

_REF = "the ref in the notice (any unique prefix works) or the path of the output"
_LAST_TOO = f"{_REF}; last for the newest run, last:WORDS for the newest run of that command or tool"
SHELLS = ("bash", "zsh", "fish", "tcsh", "powershell")
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


LIMITS = ("lines", "bytes", "chars", "tokens")


def limits(parser: argparse.ArgumentParser, names: tuple[str, ...] = LIMITS) -> None:
    group = parser.add_argument_group("limits")
    for name in names:
        group.add_argument(f"--{name}", type=number, metavar="N", help=f"at most N {name}; 0 for no limit")
    group.add_argument(
        "--tokenizer", metavar="NAME", help="how to count tokens: estimate, or e.g. o200k_base (extra: tokens)"
    )


def store(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--store", metavar="WHERE", help="where outputs are kept: a folder, or s3://bucket/prefix")


def scope(parser: argparse.ArgumentParser, *, every: bool = True) -> None:
    parser.add_argument(
        "--scope", metavar="NAME", help="scope of the outputs, e.g. acme/web; default: the current project"
    )
    if every:
        parser.add_argument("--all-scopes", action="store_true", help="look at the outputs of every project and scope")


def json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def choosing(parser: argparse.ArgumentParser) -> None:
    limits(parser)
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
    store(parser)
    scope(parser, every=False)


def clipping(parser: argparse.ArgumentParser) -> None:
    choosing(parser)
    parser.add_argument("--tool", metavar="NAME", help="name of the tool, for the ref and for rules per tool")
    parser.add_argument("--query", metavar="WORDS", help="what you want to know; lines that answer it are shown first")
    json(parser)


def since(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--since",
        metavar="REF",
        help="show what is new since an earlier run: last, good (the newest with exit code 0), a ref, or off",
    )


def filter_stdin(parser: argparse.ArgumentParser) -> None:
    clipping(parser)
    since(parser)
    parser.add_argument("--version", action="store_true", help="print the version")


def run(parser: argparse.ArgumentParser) -> None:
    clipping(parser)
    since(parser)
    parser.add_argument(
        "--timeout",
        type=duration,
        metavar="TIME",
        help="stop the command after this long, e.g. 90, 90s or 5m; exit code 124",
    )
    parser.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="the command to run, with its arguments"
    )


def sh(parser: argparse.ArgumentParser) -> None:
    clipping(parser)
    since(parser)
    parser.add_argument(
        "--timeout",
        type=duration,
        metavar="TIME",
        help="stop the line after this long, e.g. 90, 90s or 5m; exit code 124",
    )
    parser.add_argument(
        "--shell", metavar="SHELL", help="the shell that runs the line; default: bash, or sh without bash"
    )
    parser.add_argument("line", nargs=argparse.REMAINDER, metavar="LINE", help="a shell line, in quotes")


def ref(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ref", metavar="REF", help=_LAST_TOO)


def read(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ref", metavar="REF", help=f"{_LAST_TOO}. REF#/stdout is a string inside JSON")
    parser.add_argument(
        "range",
        nargs="?",
        metavar="LINES",
        help="120:180, 120-180, 120:+50, -50 (the last 50) or 120; default: from line 1",
    )
    parser.add_argument("--columns", metavar="RANGE", help="a part of one line; columns count bytes")
    parser.add_argument(
        "--bytes", dest="byte_range", metavar="RANGE", help="bytes instead of lines, with control characters visible"
    )
    limits(parser, ("lines", "chars", "tokens"))  # --bytes is a range here
    store(parser)
    scope(parser)
    json(parser)


def grep(parser: argparse.ArgumentParser) -> None:
    ref(parser)
    parser.add_argument("pattern", metavar="PATTERN", help="a regular expression (linear time). It may come before REF")
    # The parser takes it out before: see `_take_patterns`.
    parser.add_argument(
        "-e",
        "--regexp",
        metavar="PATTERN",
        help="a pattern that may begin with a dash; if repeated, lines that match any of them",
    )
    parser.add_argument("-i", "--ignore-case", action="store_true", help="ignore case")
    parser.add_argument("-F", "--fixed", "--fixed-strings", action="store_true", help="the pattern is plain text")
    parser.add_argument("-v", "--invert-match", action="store_true", help="show the lines that do not match")
    parser.add_argument(
        "-o", "--only-matching", action="store_true", help="show only the matches, each on its own line"
    )
    parser.add_argument("-c", "--count", action="store_true", help="only count the lines that match")
    parser.add_argument("-m", "--max-count", type=number, metavar="N", help="at most N matching lines")
    parser.add_argument(
        "-A", "--after-context", dest="after", type=number, metavar="N", help="N lines after each match"
    )
    parser.add_argument(
        "-B", "--before-context", dest="before", type=number, metavar="N", help="N lines before each match"
    )
    parser.add_argument("-C", "--context", type=number, default=0, metavar="N", help="N lines around each match")
    parser.add_argument("-n", "--line-number", action="store_true", help="line numbers (always shown)")
    parser.add_argument("-E", "--extended-regexp", action="store_true", help="extended syntax (always on)")
    parser.add_argument("--from", dest="start", default="1", metavar="LINE", help="start at this line, or LINE:COLUMN")
    limits(parser)
    store(parser)
    scope(parser)
    json(parser)


def outline(parser: argparse.ArgumentParser) -> None:
    ref(parser)
    limits(parser)
    store(parser)
    scope(parser)
    json(parser)


def diff(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ref", metavar="REF", help=f"{_LAST_TOO}. With two refs, the earlier output")
    parser.add_argument(
        "other", nargs="?", metavar="REF", help="the later output; without it, REF is compared with the run before it"
    )
    limits(parser)
    store(parser)
    scope(parser)
    json(parser)


def listing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tool", metavar="NAME", help="only outputs of this tool")
    parser.add_argument(
        "--command", metavar="WORDS", default="", help="only outputs of commands that contain these words"
    )
    parser.add_argument("--all", action="store_true", help="list all of them, not only the newest 50")
    parser.add_argument("-q", "--quiet", action="store_true", help="only the refs, one per line")
    store(parser)
    scope(parser)
    json(parser)


def show(parser: argparse.ArgumentParser) -> None:
    ref(parser)
    parser.add_argument("--why", action="store_true", help="show why each line was chosen")
    store(parser)
    scope(parser)
    json(parser)


def gc(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="show what would be removed, and remove nothing")
    parser.add_argument(
        "--compress-after", metavar="AGE", help="compress outputs older than this, e.g. 12h or 2d (extra: zstd)"
    )
    store(parser)
    json(parser)


def stats(parser: argparse.ArgumentParser) -> None:
    # By another name than the setting `since`, which names a run.
    parser.add_argument(
        "--since", dest="within", type=duration, metavar="TIME", help="only calls newer than this, e.g. 7d or 12h"
    )
    parser.add_argument(
        "--by", choices=("tool", "command", "host", "day", "project"), help="print one row for each of these"
    )
    parser.add_argument(
        "--misses", action="store_true", help="show what the model went back for, and how far that was from what it saw"
    )
    store(parser)
    scope(parser)
    json(parser)


def push(parser: argparse.ArgumentParser) -> None:
    store(parser)
    json(parser)


def verify(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("refs", nargs="*", metavar="REF", help="which outputs; default: all of them")
    store(parser)
    scope(parser)
    json(parser)


def one_ref(parser: argparse.ArgumentParser) -> None:
    ref(parser)
    store(parser)
    scope(parser)


def rm(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("refs", nargs="+", metavar="REF", help=_LAST_TOO)
    parser.add_argument(
        "-f", "--force", action="store_true", help="also remove pinned outputs and, with --all-scopes, damaged ones"
    )
    store(parser)
    scope(parser)


def config(parser: argparse.ArgumentParser) -> None:
    json(parser)


def trust(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path", nargs="?", metavar="DIR", help="the project, or its file; default: the project you are in"
    )
    parser.add_argument("--list", action="store_true", help="list what you trust, and whether it has changed since")
    parser.add_argument("--remove", action="store_true", help="stop trusting it")
    json(parser)


def doctor(parser: argparse.ArgumentParser) -> None:
    store(parser)
    json(parser)


def completion(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="the shell")


def help_(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic", nargs="?", metavar="COMMAND", help="a command; default: an overview of all commands")


def hook(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "host",
        choices=[host.name for host in HOSTS if host.hook],
        help="the agent that sends the call on stdin, as JSON",
    )


def init(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "host",
        nargs="?",
        choices=[host.name for host in HOSTS],
        help="the agent; mcp-json: any host with a file of MCP servers; shell: any agent that has a shell and reads AGENTS.md",
    )
    parser.add_argument(
        "file", nargs="?", metavar="FILE", help="with mcp-json: the host's file, e.g. ~/.cursor/mcp.json"
    )
    parser.add_argument("--all", action="store_true", help="set up every agent that is installed")
    parser.add_argument("--scope", choices=("user", "project"), help="for all your work, or for this folder only")
    parser.add_argument("--dry-run", action="store_true", help="show what would change, and change nothing")
    parser.add_argument("--uninstall", action="store_true", help="remove what was installed")


def mcp(parser: argparse.ArgumentParser) -> None:
    choosing(parser)
    parser.add_argument("--url", metavar="URL", help="put spill in front of the server at this address (extra: mcp)")
    parser.add_argument(
        "--header",
        action="append",
        default=[],
        metavar="'NAME: VALUE'",
        help="send this header to --url; repeatable. $NAME in the value is an environment variable, $$ is a $",
    )
    parser.add_argument(
        "--no-tools",
        action="store_true",
        help="do not offer read_output and the other tools; if one client has several proxies, use this on all but one",
    )
    parser.add_argument(
        "command",
        nargs=argparse.REMAINDER,
        metavar="-- COMMAND",
        help="put spill in front of the server that this command starts",
    )


def ui(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ref", nargs="?", metavar="REF", help=f"open the page at this output; {_LAST_TOO}")
    parser.add_argument("--port", type=port, default=0, metavar="N", help="serve on this port; default: any free port")
    parser.add_argument("--no-open", action="store_true", help="only print the address; do not open a browser")
    store(parser)
    scope(parser)


def port(text: str) -> int:
    if not text.isdecimal() or not text.isascii() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; use a number from 1 to 65535")
    return int(text)


def number(text: str) -> int:
    digits = text.replace(",", "").replace("_", "")
    if not digits.isdecimal() or not digits.isascii():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number, 0 or more")
    return int(digits)


def duration(text: str) -> float:
    """Return seconds, or a time with its unit: 90, 1.5, 90s, 5m, 2h."""
    amount = text.strip().lower()
    unit = _SECONDS.get(amount[-1:], 0)
    try:
        seconds = float(amount[:-1] if unit else amount) * (unit or 1)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a time; use e.g. 90, 90s, 5m, 2h or 7d")
    return seconds
