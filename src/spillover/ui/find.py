"""Where a pattern is: in one output, by the engine and with the count of `spill grep`; or which outputs hold a text at all."""

from __future__ import annotations

import time
from itertools import islice

from spillover.document.clean import clean
from spillover.errors import RefError, StoreError
from spillover.retrieve.grep import compile_pattern, count, scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from spillover.ui.library import Library
    from spillover.ui.outputs import Output, Outputs

#: So many hits are named; all are counted.
HITS = 5_000
MATCH_BYTES = 400
#: Looking through all outputs ends after so long, or so many bytes; the page says how far it came.
SECONDS, BYTES = 5.0, 2 << 30


def find(output: Output, text: str, *, ignore_case: bool) -> dict[str, Any]:
    """Return where a pattern is: line, column and the text that matches; and how many hits there are in all."""
    pattern = compile_pattern(text, fixed=False, ignore_case=ignore_case)
    blob = output.document.blob
    hits = [*islice(scan(blob, pattern, index=output.record.index), HITS + 1)]
    total = count(blob, pattern) if len(hits) > HITS else None
    return {
        "total": total.hits if total else len(hits),
        "exact": total.exact if total else True,
        "hits": [
            (
                hit.line,
                hit.start - hit.line_start + 1,
                clean(blob.read(hit.start, min(hit.end, hit.start + MATCH_BYTES))),
            )
            for hit in hits[:HITS]
        ],
    }


def find_outputs(outputs: Outputs, library: Library, text: str) -> dict[str, Any]:
    """Return which outputs hold a text, in any case, newest first; and how many were looked at."""
    pattern = compile_pattern(text, fixed=True, ignore_case=True)
    rows = library.rows()
    deadline, budget, found, looked = time.monotonic() + SECONDS, BYTES, [], 0
    for row in rows:
        if budget <= 0 or time.monotonic() > deadline:
            break
        looked += 1
        if row["outcome"] in ("lost", "removed"):
            continue
        budget -= row["bytes"]
        try:
            output = outputs.get(row["id"])
            if next(scan(output.document.blob, pattern), None) is not None:
                found.append(row["id"])
        except (RefError, StoreError):
            continue
    return {"ids": found, "looked": looked, "all": len(rows)}
