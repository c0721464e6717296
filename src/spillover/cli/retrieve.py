"""The commands that go back to a stored output: `read`, `grep`, `outline` and `diff`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence

from spillover.api import Clipper
from spillover.cli.output import EXIT_FINDINGS, EXIT_OK, write, write_error, write_json
from spillover.cli.outputs import make_reader
from spillover.cli.parsing import REF_HELP, Command, add_json, add_limits, add_place, add_ref, parse_number
from spillover.cli.setup import has_room_for_newline, reserve_newline
from spillover.errors import PatternError, RefError
from spillover.result import Clip
from spillover.retrieve import grep as search
from spillover.retrieve.names import how_sure, split_part

#: Patterns for empty lines, which the engine cannot match → patterns for all other lines, to be inverted (-v).
BLANK_PATTERNS = {"^$": ".", r"^\s*$": r"\S", "^[[:space:]]*$": r"\S", "^ *$": "[^ ]"}


def read(arguments: argparse.Namespace) -> int:
    """Print a part of an output."""
    clipper = make_reader(arguments)
    try:
        answer = reserve_newline(clipper).read(
            arguments.ref,
            lines=arguments.range,
            bytes=arguments.byte_range,
            columns=arguments.columns,
        )
    except RefError as error:
        if "is not a ref" not in str(error):
            raise
        raise RefError(f"{error} To read a file, use cat.") from error
    return _print(answer, arguments, clipper)


def grep(arguments: argparse.Namespace) -> int:
    """Search an output; exit 1 when nothing matches, as grep does."""
    clipper = make_reader(arguments)
    fixed = arguments.fixed
    if patterns := getattr(arguments, "patterns", None):
        ref = arguments.ref
        pattern, fixed = _join(patterns, fixed=fixed)
    else:
        ref, pattern = _order(clipper, arguments)
    blank = None if fixed or arguments.only_matching else BLANK_PATTERNS.get(pattern)
    context = arguments.context
    try:
        answer = search.grep(
            reserve_newline(clipper).call().for_retrieval(),
            ref,
            blank or pattern,
            ignore_case=arguments.ignore_case,
            fixed=fixed,
            start=arguments.start,
            options=search.Options(
                before=context if arguments.before is None else arguments.before,
                after=context if arguments.after is None else arguments.after,
                invert=arguments.invert_match != bool(blank),
                only=arguments.only_matching,
                max_count=arguments.max_count,
                count=arguments.count,
            ),
        )
    except PatternError as error:  # it names an argument that only tools have
        raise PatternError(str(error).replace("-F, or fixed=true", "-F")) from error
    if arguments.count and not arguments.json and answer.text.startswith("["):
        # Which run `last` is goes elsewhere: a script that counts wants a number.
        note, _, number = answer.text.partition("\n")
        write_error(note.strip("[]"))
        write(number)
    else:
        _print(answer, arguments, clipper)
    return EXIT_OK if answer.ranges else EXIT_FINDINGS


def outline(arguments: argparse.Namespace) -> int:
    """Print a map of an output."""
    clipper = make_reader(arguments)
    return _print(reserve_newline(clipper).outline(arguments.ref), arguments, clipper)


def diff(arguments: argparse.Namespace) -> int:
    """Compare two outputs; exit 1 when something changed, as diff does."""
    clipper = make_reader(arguments)
    old, new = (arguments.ref, arguments.other) if arguments.other else (None, arguments.ref)
    answer = reserve_newline(clipper).diff(new, since=old)
    _print(answer, arguments, clipper)
    head = [line for line in answer.text.split("\n")[:3] if line.startswith("[")]
    return EXIT_OK if any(": unchanged since " in line for line in head) else EXIT_FINDINGS


def _order(clipper: Clipper, arguments: argparse.Namespace) -> tuple[str, str]:
    """Return the ref and the pattern, whichever order they came in; REF PATTERN if both could be either.

    A whole ref or a path is surer than `last`, and `last` than the start of a ref: a short pattern often is one.
    """
    first, second = arguments.ref, arguments.pattern
    certainty = how_sure(first, clipper.settings.outputs), how_sure(second, clipper.settings.outputs)
    if any(certainty):  # a look at the store, which may be away, could not change it
        return (second, first) if certainty[1] > certainty[0] else (first, second)
    if _names_output(clipper, first):
        return first, second
    if _names_output(clipper, second):
        return second, first
    _check_not_ambiguous(clipper, first)
    place = "" if arguments.all_scopes else " of this project"
    elsewhere = "" if arguments.all_scopes else ", --all-scopes those of every project"
    raise RefError(
        f"Neither {first!r:.80} nor {second!r:.80} names an output{place}. "
        f"`spill list` shows what is stored{elsewhere}. To search a file, use grep."
    )


def _join(patterns: Sequence[str], *, fixed: bool) -> tuple[str, bool]:
    """Return one pattern for several, and whether it is plain text: a line matches if any of them does."""
    if len(patterns) == 1:
        return patterns[0], fixed
    return "|".join(re.escape(pattern) if fixed else f"(?:{pattern})" for pattern in patterns), False


def _check_not_ambiguous(clipper: Clipper, word: str) -> None:
    """Raise the error of a word that several refs begin with."""
    try:
        clipper.settings.outputs.get(split_part(word)[0])
    except RefError as error:
        if "is ambiguous" in str(error):
            raise


def _names_output(clipper: Clipper, word: str) -> bool:
    """Return whether a word is the start of a ref that is stored."""
    try:
        clipper.settings.outputs.get(split_part(word)[0])
    except RefError:
        return False
    return True


def _print(answer: Clip, arguments: argparse.Namespace, clipper: Clipper) -> int:
    if arguments.json:
        write_json(answer.as_dict())
    else:
        write(answer.text, end_line=has_room_for_newline(answer.text, clipper.call().for_retrieval()))
    return EXIT_OK


def _add_read_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ref", metavar="REF", help=f"{REF_HELP}. REF#/stdout is a string inside JSON")
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
    add_limits(parser, ("lines", "chars", "tokens"))  # --bytes is a range here
    add_place(parser)
    add_json(parser)


def _add_grep_options(parser: argparse.ArgumentParser) -> None:
    add_ref(parser)
    parser.add_argument("pattern", metavar="PATTERN", help="a regular expression (linear time). It may come before REF")
    parser.add_argument(  # parsing takes it out before
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
    parser.add_argument("-m", "--max-count", type=parse_number, metavar="N", help="at most N matching lines")
    parser.add_argument(
        "-A", "--after-context", dest="after", type=parse_number, metavar="N", help="N lines after each match"
    )
    parser.add_argument(
        "-B", "--before-context", dest="before", type=parse_number, metavar="N", help="N lines before each match"
    )
    parser.add_argument("-C", "--context", type=parse_number, default=0, metavar="N", help="N lines around each match")
    parser.add_argument("-n", "--line-number", action="store_true", help="line numbers (always shown)")
    parser.add_argument("-E", "--extended-regexp", action="store_true", help="extended syntax (always on)")
    parser.add_argument("--from", dest="start", default="1", metavar="LINE", help="start at this line, or LINE:COLUMN")
    add_limits(parser)
    add_place(parser)
    add_json(parser)


def _add_outline_options(parser: argparse.ArgumentParser) -> None:
    add_ref(parser)
    add_limits(parser)
    add_place(parser)
    add_json(parser)


def _add_diff_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ref", metavar="REF", help=f"{REF_HELP}. With two refs, the earlier output")
    parser.add_argument(
        "other", nargs="?", metavar="REF", help="the later output; without it, REF is compared with the run before it"
    )
    add_limits(parser)
    add_place(parser)
    add_json(parser)


COMMANDS = {
    "read": Command(
        "Read a part of a stored output.",
        _add_read_options,
        read,
        (
            "spill read bash-7f3a9c2e41d05b86 120:180",
            "spill read bash-7f3a9c2e41d05b86 -50",
            "spill read bash-7f3a9c2e41d05b86 7 --columns 4001:8000",
            "spill read bash-7f3a9c2e41d05b86 --bytes 1:4000",
            "spill read last:cargo -50",
            "spill read bash-7f3a9c2e41d05b86#/stdout 120:180",
        ),
        intermixed=True,
    ),
    "grep": Command(
        "Search a stored output.",
        _add_grep_options,
        grep,
        (
            "spill grep bash-7f3a9c2e41d05b86 'FAILED|Error' -C 2",
            "spill grep -i error last:make",
            "spill grep bash-7f3a9c2e41d05b86 -F 'a.b(c)' --from 20414",
        ),
        usage="spill grep [options] REF PATTERN\n       spill grep [options] PATTERN REF",
    ),
    "outline": Command(
        "Show a map of a stored output.",
        _add_outline_options,
        outline,
        ("spill outline bash-7f3a9c2e41d05b86", "spill outline last --tokens 500"),
    ),
    "diff": Command(
        "Show what changed between two stored outputs.",
        _add_diff_options,
        diff,
        ("spill diff last", "spill diff pytest-7f3a9c2e41d05b86 last:pytest"),
    ),
}
