"""Other systems' ways to bound an output, each as a Clipper: `profiles.opencode.clipper()`.

Public: the five profiles with the names on their pages in docs/profiles, and what one of your own is made with: `Form`,
`Told` and `Missing`. `base` and modules that no page names may change at any time.
"""

from __future__ import annotations

from typing import Any

from spillover.notice.form import Form, Missing, Told

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
__all__ = ["NAMES", "Form", "Missing", "Told", "named"]


def named(name: str) -> Any:
    """Return the profile of this name: a module with `clipper()` and its SETTINGS."""
    from importlib import import_module

    if name not in NAMES:
        from spillover.errors import UsageError

        raise UsageError(f"There is no profile {name!r}; use one of {', '.join(NAMES)}.")
    return import_module(f"spillover.profiles.{name}")


def options(name: str) -> dict[str, tuple[str, ...]]:
    """Return the options of a profile's `clipper` that a shell or TOML can express, each with the kinds of value it takes."""
    from inspect import signature  # only for those who set one

    found = {}
    for key, parameter in signature(named(name).clipper).parameters.items():
        annotated = str(parameter.annotation).split(" | ")
        kinds = tuple(kind.partition("[")[0] for kind in annotated if kind != "None")
        if all(kind in KINDS for kind in kinds):
            found[key] = kinds
    return found


def folders() -> list[str]:
    """Return every folder that a profile keeps outputs in by itself."""
    return [folder for name in NAMES for folder in getattr(named(name), "default_folders", list)()]


def __getattr__(name: str) -> Any:
    if name in NAMES:
        return named(name)
    raise AttributeError(f"module 'spillover.profiles' has no attribute {name!r}")
