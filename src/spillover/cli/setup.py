"""From arguments and configuration to a Clipper."""

from __future__ import annotations

from spillover.clipper import Clipper
from spillover.config.settings import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

#: Arguments that are settings, by the name they have in the configuration.
SETTINGS = ("profile", "lines", "bytes", "chars", "tokens", "tokenizer", "keep", "hints", "cap", "store")
#: Whoever reads what this command prints can most likely run it, and open files.
HINTS = ("cli", "path")


def clipper(arguments: argparse.Namespace, hints: tuple[str, ...] = HINTS) -> Clipper:
    """The Clipper of this call: the command line over the environment over files over defaults."""
    given = {name: getattr(arguments, name, None) for name in SETTINGS}
    settings = load(given={name: value for name, value in given.items() if value is not None})
    others = {"hints": hints} if settings.values["hints"].origin == "default" else {}
    return settings.made(Clipper, **others)
