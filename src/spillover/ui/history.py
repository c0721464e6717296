"""The runs of a command over time, and two of them compared: what is new, gone and the same."""

from __future__ import annotations

from spillover.errors import SpilloverError
from spillover.kinds.log.outline import survey
from spillover.since.compare import compare
from spillover.ui.library import RUN_PREFIX
from spillover.ui.outputs import read_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from spillover.store.record import RunRecord
    from spillover.ui.library import Library
    from spillover.ui.outputs import Output, Outputs

#: Failures are counted in the newest so many runs of a command, and in outputs up to so many bytes.
COUNTED, COUNTED_BYTES = 40, 64 << 20
#: Of what is new or gone, so many lines are shown; all are counted.
LINES = 400


class History:
    """Runs grouped by command, and what was counted in them."""

    def __init__(self, library: Library, outputs: Outputs) -> None:
        self.library, self.outputs = library, outputs
        self._failures: dict[str, int | None] = {}

    def commands(self) -> list[dict[str, Any]]:
        """Return every command that was run, the one that ran last first."""
        groups: dict[tuple[str, str], dict[str, Any]] = {}
        for _, run in self.library.runs():
            group = groups.setdefault(
                (run.scope, run.command or run.tool),
                {"command": run.command or run.tool, "project": run.scope, "runs": 0, "failed": 0, "last": run.created,
                 "exit": run.exit_code, "seconds": run.seconds, "exits": []},
            )  # fmt: skip
            group["runs"] += 1
            group["failed"] += run.exit_code not in (0, None)
            group["exits"] = [run.exit_code, *group["exits"]][-30:]
        return [*groups.values()]

    def runs(self, command: str, project: str) -> list[dict[str, Any]]:
        """Return the runs of one command, newest first."""
        mine = [
            (name, run)
            for name, run in self.library.runs()
            if (run.command or run.tool) == command and run.scope == project
        ]
        return [self._facts(name, run, counted=number < COUNTED) for number, (name, run) in enumerate(mine)]

    def _facts(self, name: str, run: RunRecord, *, counted: bool) -> dict[str, Any]:
        id_ = run.ref if run.ref and self.library.row(run.ref) else RUN_PREFIX + name
        return {
            "name": name,
            "id": id_,
            "created": run.created,
            "exit": run.exit_code,
            "seconds": run.seconds,
            "bytes": run.bytes,
            "lines": run.lines,
            "outcome": run.outcome,
            "failures": self._count(id_, run) if counted and run.bytes <= COUNTED_BYTES else None,
        }

    def _count(self, id_: str, run: RunRecord) -> int | None:
        """Return how many lines say that something failed, as `spill outline` counts them; None where it was not kept."""
        if id_ not in self._failures:
            try:
                self._failures[id_] = survey(self.outputs.get(id_).document.blob).failures.lines if run.bytes else 0
            except SpilloverError:
                return None
        return self._failures[id_]


def compare_outputs(new: Output, old: Output) -> dict[str, Any]:
    """Return what became of an output since an earlier one."""
    found = compare(new.document, old.document)
    return {
        "new": {"lines": found.new.lines, "rows": _rows(new, found.new.ranges)},
        "numbers": {"lines": found.numbers.lines, "rows": _rows(new, found.numbers.ranges)},
        "gone": {"lines": found.gone.lines, "rows": _rows(old, found.gone.ranges)},
        "same": found.same,
        "lines": found.lines,
        "lines_before": found.lines_before,
        "unchanged": found.unchanged,
    }


def _rows(output: Output, ranges: Sequence[tuple[int, int]]) -> list[tuple[int, str]]:
    rows: list[tuple[int, str]] = []
    for first, last in ranges:
        if len(rows) >= LINES:
            break
        upto = min(last, first + LINES - len(rows) - 1)
        rows += [(first + number, row[0]) for number, row in enumerate(read_lines(output, first, upto - first + 1))]
    return rows
