"""Other systems' ways to bound an output, each as a Clipper: `profiles.opencode.clipper()`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: What `spill --profile` and `profile = "…"` take.
NAMES = ("opencode", "t15", "klaude", "daycare", "vtcode")


def named(name: str) -> Any:
    """The profile of this name: a module with `clipper()`, and with SETTINGS as a configuration file would have them."""
    from importlib import import_module

    if name not in NAMES:
        from spillover.errors import UsageError

        raise UsageError(f"There is no profile {name!r}; use one of {', '.join(NAMES)}.")
    return import_module(f"spillover.profiles.{name}")


def __getattr__(name: str) -> Any:
    if name in NAMES:
        return named(name)
    raise AttributeError(f"module 'spillover.profiles' has no attribute {name!r}")
