"""`spill read`, `spill grep`, `spill outline` and `spill diff`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from spillover.api import Clipper
from spillover.cli import exits
from spillover.cli.output import complain, facts, put, put_json
from spillover.cli.refs import reader
from spillover.cli.setup import ends_with_newline, leave_room
from spillover.errors import PatternError, RefError
from spillover.result import Clip
from spillover.retrieve.names import how_sure, split_part

#: Patterns for empty lines, which the engine has none of, and those for the other lines: one is the other with -v.
BLANK = {"^$": ".", r"^\s*$": r"\S", "^[[:space:]]*$": r"\S", "^ *$": "[^ ]"}


def read(arguments: argparse.Namespace) -> int:
    made = reader(arguments)
    try:
        answer = leave_room(made).read(
            arguments.ref,
            lines=arguments.range,
            bytes=arguments.byte_range,
            columns=arguments.columns,
        )
    except RefError as error:
        if "is not a ref" not in str(error):
            raise
        raise RefError(f"{error} To read a file, use cat.") from error
    return _print(answer, arguments, made)


def grep(arguments: argparse.Namespace) -> int:
    """Search; exit 1 when nothing matches, as grep does."""
    from spillover.retrieve.grep import Options
    from spillover.retrieve.grep import grep as search

    made = reader(arguments)
    if patterns := getattr(arguments, "patterns", None):
        ref, (pattern, fixed) = arguments.ref, _join(patterns, fixed=arguments.fixed)
    else:
        (ref, pattern), fixed = _tell_apart(made, arguments), arguments.fixed
    blank = None if fixed or arguments.only_matching else BLANK.get(pattern)
    around = arguments.context
    try:
        answer = search(
            leave_room(made).call().for_retrieval(),
            ref,
            blank or pattern,
            ignore_case=arguments.ignore_case,
            fixed=fixed,
            start=arguments.start,
            options=Options(
                before=around if arguments.before is None else arguments.before,
                after=around if arguments.after is None else arguments.after,
                invert=arguments.invert_match != bool(blank),
                only=arguments.only_matching,
                most=arguments.max_count,
                count=arguments.count,
            ),
        )
    except PatternError as error:  # it names an argument that only tools have
        raise PatternError(str(error).replace("-F, or fixed=true", "-F")) from error
    if arguments.count and not arguments.json and answer.text.startswith("["):
        # Which run `last` is goes elsewhere: a script that counts wants a number.
        said, _, number = answer.text.partition("\n")
        complain(said.strip("[]"))
        put(number)
    else:
        _print(answer, arguments, made)
    return exits.OK if answer.ranges else exits.FOUND


def outline(arguments: argparse.Namespace) -> int:
    made = reader(arguments)
    return _print(leave_room(made).outline(arguments.ref), arguments, made)


def diff(arguments: argparse.Namespace) -> int:
    """Compare two outputs; exit 1 when something changed, as diff does."""
    made = reader(arguments)
    old, new = (arguments.ref, arguments.other) if arguments.other else (None, arguments.ref)
    answer = leave_room(made).diff(new, since=old)
    _print(answer, arguments, made)
    head = [line for line in answer.text.split("\n")[:3] if line.startswith("[")]
    return exits.OK if any(": unchanged since " in line for line in head) else exits.FOUND


def _tell_apart(made: Clipper, arguments: argparse.Namespace) -> tuple[str, str]:
    """Return the ref and the pattern, whichever order they came in; REF PATTERN where both could be either.

    A whole ref or a path is surer than `last`, and `last` is surer than the start of a ref: a short pattern often is one.
    """
    first, second = arguments.ref, arguments.pattern
    sure = how_sure(first, made.settings.outputs), how_sure(second, made.settings.outputs)
    if any(sure):  # a look at the store, which may be away, could not change it
        return (second, first) if sure[1] > sure[0] else (first, second)
    if _names_output(made, first):
        return first, second
    if _names_output(made, second):
        return second, first
    _check_not_ambiguous(made, first)
    where, elsewhere = (
        ("", "") if arguments.all_scopes else (" of this project", ", --all-scopes those of every project")
    )
    raise RefError(
        f"Neither {first!r:.80} nor {second!r:.80} names an output{where}. `spill list` shows what is stored{elsewhere}. "
        "To search a file, use grep."
    )


def _join(patterns: Sequence[str], *, fixed: bool) -> tuple[str, bool]:
    """Return one pattern for several, and whether it is plain text: a line matches if any of them does."""
    if len(patterns) == 1:
        return patterns[0], fixed
    import re  # few give several

    return "|".join(re.escape(one) if fixed else f"(?:{one})" for one in patterns), False


def _check_not_ambiguous(made: Clipper, word: str) -> None:
    """Raise the error of a word that several refs begin with."""
    try:
        made.settings.outputs.get(split_part(word)[0])
    except RefError as error:
        if "is ambiguous" in str(error):
            raise


def _names_output(made: Clipper, word: str) -> bool:
    """Return whether a word is the start of a ref that is stored."""
    try:
        made.settings.outputs.get(split_part(word)[0])
    except RefError:
        return False
    return True


def _print(answer: Clip, arguments: argparse.Namespace, made: Clipper) -> int:
    if arguments.json:
        put_json(facts(answer))
    else:
        put(answer.text, end=ends_with_newline(answer.text, made.call().for_retrieval()))
    return exits.OK
