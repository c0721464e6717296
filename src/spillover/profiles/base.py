"""What all profiles are made with: a Clipper with the words of a form, and a store with that system's file names."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from spillover.api import Clipper
from spillover.notice.form import Missing, Told, lost_words
from spillover.settings.place import open_store
from spillover.store import Store
from spillover.store.named import NamedStore
from spillover.store.record import Record
from spillover.store.retention import Retention


def make(defaults: dict[str, Any], given: dict[str, Any]) -> Clipper:
    """Make the Clipper of a profile: control codes are shown as they are; what is `given` comes first."""
    return Clipper(**{"raw": True, **defaults, **given})


def store_for(
    given: Store | str | os.PathLike[str] | None,
    *,
    folder: str,
    names: Callable[[Record], str],
    shape: str,
    age_seconds: float | None,
    retention: Retention | None = None,
) -> Store:
    """Return where a profile keeps outputs: in the system's own folder under its names, or in a store that is given."""
    if given is not None:
        return open_store(given)
    return NamedStore(folder, retention, names=names, shape=shape, age_seconds=age_seconds)


def mark_gap(missing: Missing) -> str:
    """Mark where something is missing between two parts, for systems that say once how much is missing in all."""
    return "...\n" if missing.at_line_start else "\n...\n"


def mark_edge(told: Told) -> str:
    """Mark that what is shown does not begin where the output does, if that is not what was asked for."""
    return "...\n" if told.parts and told.before.bytes and told.keep != "tail" else ""


def lost_words_without_path(told: Told) -> str:
    """Say why there is no file, or not all of one, without a path that a reader might try to open."""
    return lost_words(replace(told, reason=_without_path(told.reason or "")))


def _without_path(reason: str) -> str:
    """Return a reason with the last name only of the path in it, which may have blanks."""
    start = f" {reason}".find(" /")
    return reason if start < 0 else reason[:start] + (reason[reason.rindex("/") + 1 :] or "/")
