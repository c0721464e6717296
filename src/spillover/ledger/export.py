"""The misses as a corpus in the format of bench/recall.py: an output a line, and as needles what the model fetched of it.

Without content a line says which lines of which output were fetched. With it, the output and those lines are in it.
"""

from __future__ import annotations

import os

from spillover.errors import SpilloverError
from spillover.view.clean import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from spillover.choices import Choices
    from spillover.ledger.misses import Miss

#: An output larger than this is left out, and of one retrieval so many lines are needles.
MOST_BYTES, NEEDLE_LINES = 64 << 20, 40


def export(misses: Iterable[Miss], choices: Choices, *, with_content: bool) -> Iterator[dict[str, Any]]:
    """Yield a record for each output that was gone back to for lines that had not been shown."""
    for miss in misses:
        wanted = [entry.lines for entry in miss.retrievals if entry.near is not None and entry.lines]
        if not wanted:
            continue
        told = {
            "id": miss.ref,
            "group": os.path.basename(miss.scope) or miss.scope,
            "source": "spill stats --misses",
            "licence": "private",
            "meta": {"tool": miss.tool, "command": miss.command},
            "ranges": [[list(part) for part in ranges] for ranges in wanted],
        }
        if not with_content:
            yield told
        elif (content := _content(miss.ref, wanted, choices)) is not None:
            yield {**told, **content}


def _content(ref: str, wanted: list[tuple[tuple[int, int], ...]], choices: Choices) -> dict[str, Any] | None:
    """Return an output and the lines that were fetched of it; None where it is gone, or too large."""
    from spillover.retrieve.look import opened

    try:
        record, document = opened(choices, ref)
    except SpilloverError:
        return None
    try:
        if document.size > MOST_BYTES:
            return None
        log = choices.without_secrets(document.blob).read(0, document.size).decode("utf-8", "replace")
        lines = log.split("\n")
        needles = [
            {"lines": needle, "need": "any"} for ranges in wanted if (needle := _needle(lines, ranges, record.shown))
        ]
        return {"tokens": choices.count(log), "log": log, "needles": needles} if needles else None
    finally:
        document.blob.close()


def _needle(lines: list[str], ranges: tuple[tuple[int, int], ...], shown: tuple[tuple[int, int], ...]) -> list[str]:
    """Return the fetched lines that had not been shown, as they read."""
    numbers = (number for first, last in ranges for number in range(first, min(last, len(lines)) + 1))
    hidden = (number for number in numbers if not any(first <= number <= last for first, last in shown))
    texts = (" ".join(clean(lines[number - 1].encode("utf-8", "replace")).split()) for number in hidden)
    return [text for text in texts if text][:NEEDLE_LINES]
