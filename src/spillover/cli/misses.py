"""`spill stats --misses` and `--export`: what the model went back for."""

from __future__ import annotations

import os

from spillover.cli import exits
from spillover.cli.keeping import lay_out
from spillover.cli.output import fit_terminal, put, put_json
from spillover.cli.units import count_of
from spillover.errors import UsageError
from spillover.ledger.misses import NEAR_LINES
from spillover.notice.words import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from spillover.clipper import Clipper
    from spillover.ledger.misses import Misses

#: So many rows are shown; `--json` has all of them.
ROWS = 20


def tell_misses(arguments: argparse.Namespace, made: Clipper, found: Misses) -> int:
    """Print what the model went back for, or write it to a file."""
    if arguments.export:
        return _export(arguments, made, found)
    if arguments.json:
        put_json(
            {
                "kinds": [{name: getattr(kind, name) for name in kind.__slots__} for kind in found.kinds],
                "outputs": [
                    {
                        "ref": miss.ref,
                        "scope": miss.scope,
                        "tool": miss.tool,
                        "command": miss.command,
                        "kind": miss.kind,
                        "when": miss.when,
                        "near": miss.near,
                        "retrievals": [
                            {
                                "operation": entry.operation,
                                "when": entry.when,
                                "tokens": entry.received,
                                "lines": [list(part) for part in entry.lines],
                                "near": entry.near,
                            }
                            for entry in miss.retrievals
                        ],
                    }
                    for miss in found.outputs
                ],
            }
        )
        return exits.OK
    if not found.outputs:
        put(
            "Nobody went back to an output"
            + (".\n" if arguments.all_scopes else " of this project. --all-scopes looks in every project.\n")
        )
        return exits.OK
    rows = [
        (
            kind.kind,
            *(
                f"{value:,}"
                for value in (kind.clips, kind.back, kind.retrievals, kind.near, kind.far, kind.seen, kind.tokens)
            ),
        )
        for kind in found.kinds
    ]
    head = ("kind", "cut", "gone back to", "calls", "near", "far", "seen", "tokens")
    put(lay_out(head, rows, range(1, len(head))))
    put(f"near: within {NEAR_LINES} lines of what was shown; far: elsewhere; seen: shown before\n\n")
    outputs = []
    for miss in found.outputs[:ROWS]:
        near = "" if miss.near is None else f"{count_of(miss.near, 'line')} off"
        lines = next((f"{first:,}-{last:,}" for entry in reversed(miss.retrievals) for first, last in entry.lines), "")
        outputs.append((miss.ref, miss.kind, str(len(miss.retrievals)), lines, near, one_line(miss.command, 40)))
    put(fit_terminal(lay_out(("ref", "kind", "calls", "last lines", "", "command"), outputs, (2,))))
    if len(found.outputs) > ROWS:
        put(f"{ROWS} of {len(found.outputs):,} outputs; --json shows all.\n")
    return exits.OK


def _export(arguments: argparse.Namespace, made: Clipper, found: Misses) -> int:
    import json

    from spillover.ledger.export import export

    path, count = arguments.export, 0
    try:
        # The commands and lines of somebody's work: for nobody else to read.
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            for record in export(found.outputs, made.for_answers(), with_content=arguments.with_content):
                file.write(json.dumps(record, ensure_ascii=True) + "\n")
                count += 1
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.") from error
    content = "" if arguments.with_content else " without their content; --with-content adds it"
    put(f"{count_of(count, 'output')} written to {path}{content}.\n")
    return exits.OK
