"""Other systems' ways to bound an output, each as a Clipper: `profiles.opencode.clipper()`.

Public: the five profiles with the names on their pages in docs/profiles, and for one of your own `Form`, `CutFacts`
and `HiddenPart`. Other names may change at any time.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

from msgspec.structs import replace

from spillover.api import Clipper
from spillover.errors import UsageError
from spillover.notice.form import CutFacts, Form, HiddenPart, lost_words
from spillover.settings.settings import open_store
from spillover.store import Store
from spillover.store.named import NamedStore, name_part
from spillover.store.record import Record
from spillover.store.retention import Retention

#: What `spill --profile` and `profile = "…"` take.
NAMES = ("opencode", "t15", "klaude", "daycare", "vtcode")
#: What an option of a profile can be annotated with, and which values that is.
KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "bool": ((bool,), "true or false"),
    "int": ((int,), "a whole number"),
    "float": ((int, float), "a number"),
    "str": ((str,), "a word in quotes"),
    "NoticeStyle": ((str,), "a word in quotes"),
    "Mapping": ((dict,), "a table"),
    "Rules": ((list,), "a list of tables"),
}
#: Digits of the hash in a file's name, where a call has no id; with fewer, more outputs share a name.
HASH_DIGITS = 8
__all__ = ["NAMES", "CutFacts", "Form", "HiddenPart", "find_profile"]


def find_profile(name: str) -> Any:
    """Return the profile of this name: a module with `clipper()` and its SETTINGS."""
    if name not in NAMES:
        raise UsageError(f"There is no profile {name!r}; use one of {', '.join(NAMES)}.")
    return import_module(f"spillover.profiles.{name}")


def __getattr__(name: str) -> Any:
    if name in NAMES:
        return find_profile(name)
    raise AttributeError(f"module 'spillover.profiles' has no attribute {name!r}")


def options(name: str) -> dict[str, tuple[str, ...]]:
    """Return the options of a profile's `clipper` that a shell or TOML can express, with their kinds of value."""
    from inspect import signature

    kinds_by_option = {}
    for option, parameter in signature(find_profile(name).clipper).parameters.items():
        annotations = str(parameter.annotation).split(" | ")
        kinds = tuple(kind.partition("[")[0] for kind in annotations if kind != "None")
        if all(kind in KINDS for kind in kinds):
            kinds_by_option[option] = kinds
    return kinds_by_option


def folders() -> list[str]:
    """Return every folder that a profile keeps outputs in by itself."""
    return [folder for name in NAMES for folder in getattr(find_profile(name), "default_folders", list)()]


def make(defaults: dict[str, Any], options: dict[str, Any]) -> Clipper:
    """Make the Clipper of a profile: control codes are shown as they are; `options` come first."""
    return Clipper(**{"raw": True, **defaults, **options})


def open_outputs(
    store: Store | str | os.PathLike[str] | None,
    *,
    folder: str,
    names: Callable[[Record], str],
    shape: str,
    age_seconds: float | None,
    retention: Retention | None = None,
) -> Store:
    """Return the store of a profile: by default, the system's own folder with its names of files."""
    if store is not None:
        return open_store(store)
    return NamedStore(folder, retention, names=names, shape=shape, age_seconds=age_seconds)


def name_call(record: Record) -> str:
    """Return the tool and the id of a call as the start of a file's name; digits of the hash stand for an id."""
    return f"{name_part(record.tool, 'tool')}-{name_part(record.call_id, record.sha256[:HASH_DIGITS])}"


def has_whole_file(cut: CutFacts) -> bool:
    """Return whether there is a file with all of the output."""
    return cut.place is not None and cut.stored is None


def mark_gap(missing: HiddenPart) -> str:
    """Mark where something is missing between two parts, for systems that say once how much is missing in all."""
    return "...\n" if missing.at_line_start else "\n...\n"


def mark_edge(cut: CutFacts) -> str:
    """Mark that the beginning of the output is missing, unless its end is to be kept."""
    return "...\n" if cut.parts and cut.before.bytes and cut.keep != "tail" else ""


def lost_words_without_path(cut: CutFacts) -> str:
    """Return the reason why there is no file, or not all of one, without a path that a reader might try to open."""
    return lost_words(replace(cut, reason=_without_path(cut.reason or "")))


def _without_path(reason: str) -> str:
    """Return a reason with the last name only of the path in it, which may have blanks."""
    start = f" {reason}".find(" /")
    return reason if start < 0 else reason[:start] + (reason[reason.rindex("/") + 1 :] or "/")
