"""What the journal adds up to, for charts: by day, by tool and by command."""

from __future__ import annotations

import time

from spillover import journal
from spillover.stats import Sums, add_up

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from spillover.ui.library import Library

DAY = 86_400
MOST_DAYS = 3_650
#: So many tools have a row of their own, and so many commands.
ROWS = 20
FIGURES = ("clips", "cut", "retrievals", "produced", "shown", "fetched", "notices", "schemas", "reruns", "host_cut")


def add_up_days(library: Library, days: int) -> dict[str, Any]:
    """Return the figures of the last so many days; the sums are those of `spill stats`."""
    place = library.place
    since = time.time() - min(max(1, days), MOST_DAYS) * DAY
    if place is None:
        return {"total": _facts(Sums()), "days": [], "tools": [], "commands": [], "damaged": 0}

    def group(*by: str) -> list[dict[str, Any]]:
        stats = add_up(journal.read_all(place), by=by, since=since, scope=library.own)
        return [{"names": group.names, **_facts(group.sums)} for group in stats.groups]

    whole = add_up(journal.read_all(place), since=since, scope=library.own)
    return {
        "total": _facts(whole.total),
        "first": whole.first,
        "last": whole.last,
        "damaged": whole.damaged,
        "days": group("day"),
        "tools": group("tool")[:ROWS],
        "commands": group("command")[:ROWS],
    }


def _facts(sums: Sums) -> dict[str, int]:
    return {**{name: getattr(sums, name) for name in FIGURES}, "net": sums.net, "received": sums.received}
