"""`spill read`, `spill grep`, `spill outline` and `spill diff`."""

from __future__ import annotations

from spillover.cli import exits
from spillover.cli.output import complain, facts, put, put_json
from spillover.cli.setup import clipper, ends_with_newline, leave_room
from spillover.errors import RefError
from spillover.retrieve.last import LAST

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from spillover.clipper import Clipper
    from spillover.result import Clip


def read(arguments: argparse.Namespace) -> int:
    made = clipper(arguments)
    answer = leave_room(made).read(
        arguments.ref,
        lines=arguments.range,
        bytes=arguments.byte_range,
        columns=arguments.columns,
        pointer=arguments.pointer,
    )
    return _print(answer, arguments, made)


def grep(arguments: argparse.Namespace) -> int:
    """Search; exit 1 when nothing matches, as grep does."""
    from spillover.retrieve import look

    made = clipper(arguments)
    if arguments.ranked:
        return _rank(arguments, made)
    ref, pattern = _tell_apart(made, arguments.ref, arguments.pattern)
    around = arguments.context
    shape = {
        "before": around if arguments.before is None else arguments.before,
        "after": around if arguments.after is None else arguments.after,
        "invert": arguments.invert_match,
        "only": arguments.only_matching,
        "most": arguments.max_count,
        "count": arguments.count,
    }
    answer = look.grep(
        leave_room(made).for_answers(),
        ref,
        pattern,
        ignore_case=arguments.ignore_case,
        fixed=arguments.fixed,
        start=arguments.start,
        shape=shape,
    )
    if arguments.count and not arguments.json and answer.text.startswith("["):
        # Which run `last` is goes elsewhere: a script that counts wants a number.
        said, _, number = answer.text.partition("\n")
        complain(said.strip("[]"))
        put(number)
    else:
        _print(answer, arguments, made)
    return exits.OK if answer.ranges else exits.FOUND


def _rank(arguments: argparse.Namespace, made: Clipper) -> int:
    from spillover.retrieve.last import find
    from spillover.retrieve.several import rank, refs_of

    choices = leave_room(made).for_answers()
    refs = refs_of(choices, arguments.ref)
    answer = rank(choices, [find(choices.outputs, arguments.ref).ref] if refs is None else refs, arguments.pattern)
    _print(answer, arguments, made)
    return exits.OK if answer.ranges else exits.FOUND


def outline(arguments: argparse.Namespace) -> int:
    made = clipper(arguments)
    return _print(leave_room(made).outline(arguments.ref), arguments, made)


def diff(arguments: argparse.Namespace) -> int:
    """Compare two outputs; exit 1 when something changed, as diff does."""
    made = clipper(arguments)
    old, new = (arguments.ref, arguments.other) if arguments.other else (None, arguments.ref)
    answer = leave_room(made).diff(new, since=old)
    _print(answer, arguments, made)
    head = [line for line in answer.text.split("\n")[:3] if line.startswith("[")]
    return exits.OK if any(": unchanged since " in line for line in head) else exits.FOUND


def _tell_apart(made: Clipper, first: str, second: str) -> tuple[str, str]:
    """Return the ref and the pattern, whichever order they came in; REF PATTERN where both could be either.

    A whole ref or a path is surer than `last`, and `last` is surer than the start of a ref: a short pattern often is one.
    """
    sure = _how_sure(made, first), _how_sure(made, second)
    return (second, first) if sure[1] > sure[0] else (first, second)


def _how_sure(made: Clipper, word: str) -> int:
    """Return how likely a word is a ref: 3 for a whole ref or a path, 2 for `last`, 1 for the start of a ref, 0."""
    from spillover.store.base import REF_SHAPE

    if REF_SHAPE.fullmatch(word):
        return 3
    if ("/" in word or word.endswith(".txt")) and made.outputs.ref_of(word) is not None:
        return 3
    if word.partition(":")[0].strip() == LAST:
        return 2
    return 1 if _names_output(made, word) else 0


def _names_output(made: Clipper, word: str) -> bool:
    """Return whether a word is the start of a ref that is stored."""
    try:
        made.outputs.get(word)
    except RefError:
        return False
    return True


def _print(answer: Clip, arguments: argparse.Namespace, made: Clipper) -> int:
    if arguments.json:
        put_json(facts(answer))
    else:
        put(answer.text, end=ends_with_newline(answer.text, made.for_answers()))
    return exits.OK


FUNCTIONS = {"read": read, "grep": grep, "outline": outline, "diff": diff}
