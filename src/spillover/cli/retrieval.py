"""`spill read`, `spill grep` and `spill outline`."""

from __future__ import annotations

from spillover.cli.output import facts, put, put_json
from spillover.cli.setup import clipper

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from spillover.result import Clip


def read(arguments: argparse.Namespace) -> int:
    answer = clipper(arguments).read(
        arguments.ref, lines=arguments.range, bytes=arguments.byte_range, columns=arguments.columns
    )
    return _answered(answer, arguments)


def grep(arguments: argparse.Namespace) -> int:
    answer = clipper(arguments).grep(
        arguments.ref,
        arguments.pattern,
        context=arguments.context,
        ignore_case=arguments.ignore_case,
        fixed=arguments.fixed,
        start=arguments.start,
    )
    return _answered(answer, arguments)


def outline(arguments: argparse.Namespace) -> int:
    return _answered(clipper(arguments).outline(arguments.ref), arguments)


def _answered(answer: Clip, arguments: argparse.Namespace) -> int:
    if arguments.json:
        put_json(facts(answer))
    else:
        put(answer.text)
    return 0
