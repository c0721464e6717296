"""What all profiles are made with: a Clipper that speaks through a form, and a store that gives files that system's names."""

from __future__ import annotations

import os

from spillover.clipper import Clipper
from spillover.data import replace
from spillover.form import Told, lost_words
from spillover.store.directory import DirStore
from spillover.store.named import NamedStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from spillover.store.base import Record, Store
    from spillover.store.retention import Retention


def made(defaults: dict[str, Any], given: dict[str, Any]) -> Clipper:
    """The Clipper of a profile; what is given is stronger than what the profile says. Words outside, as it came."""
    return Clipper(**{"notice": "outside", "raw": True, **defaults, **given})


def store_for(
    given: Store | None,
    *,
    folder: str,
    names: Callable[[Record], str],
    shape: str,
    age_seconds: float | None,
    profile: str,
    retention: Retention | None = None,
) -> Store:
    """Where a profile keeps outputs: its own folder, or, in a DirStore that is given, a folder of its name."""
    if given is None:
        return NamedStore(folder, names, shape, age_seconds, retention=retention)
    if isinstance(given, DirStore):
        return NamedStore(
            os.path.join(given.root, profile), names, shape, age_seconds, inner=given, retention=retention
        )
    return given


def lost_words_without_path(told: Told) -> str:
    """Why there is no file, or not all of one, without a path that a reader might try to open."""
    import re  # seldom needed

    return lost_words(replace(told, reason=re.sub(r"/\S+", "its folder", told.reason or "")))
