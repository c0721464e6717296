"""Removing an output: its files go, and the tally is corrected."""

from __future__ import annotations

from spillover.store.tally import amount_of, open_tally

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os

    from spillover.store.folder import Folder
    from spillover.store.tally import Tally


def remove(folder: Folder, ref: str, seen: dict[str, os.stat_result]) -> bool:
    """Remove what was `seen` of an output, unless somebody wants to keep it; whether it is gone."""
    with open_tally(folder, needed=False) as tally:
        return remove_counted(folder, tally, ref, seen)


def remove_counted(folder: Folder, tally: Tally, ref: str, seen: dict[str, os.stat_result]) -> bool:
    """Do the same with a tally that is open already."""
    with tally.follow(folder, ref, amount_of(folder, ref)):
        return folder.remove(ref, seen)
