"""`spill ui`: the page, on this machine only."""

from __future__ import annotations

import argparse
from shlex import quote
from typing import Any

from spillover.api import Clipper
from spillover.cli import exits
from spillover.cli.output import complain, put
from spillover.cli.setup import clipper
from spillover.errors import MissingExtraError
from spillover.retrieve.names import resolve


def ui(arguments: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C."""
    made = clipper(arguments)
    to = ""
    if arguments.ref:
        to = f"/output/{made.settings.outputs.get(resolve(arguments.ref, made.settings.outputs).ref).ref}"
    try:
        from spillover.ui.serve import serve
    except ImportError as error:
        raise MissingExtraError(
            f"spill ui needs the package {error.name}; run: pip install 'spillover[ui]'."
        ) from error

    def say(address: str) -> None:
        put(f"{address}\n")
        complain("open this address in a browser on this machine; Ctrl-C to stop")

    serve(made, port=arguments.port, facts=_facts(arguments, made), say=say, browse=not arguments.no_open, to=to)
    return exits.OK


def _facts(arguments: argparse.Namespace, made: Clipper) -> dict[str, Any]:
    """Return what the page says about itself, and what can be tried on it."""
    from spillover import __version__, profiles
    from spillover.settings.settings import KEEPS

    options = [f"{name} {quote(value)}" for name in ("store", "scope") if (value := getattr(arguments, name))]
    options = [f"--{option}" for option in options] + ["--all-scopes"] * arguments.all_scopes
    store = (
        getattr(made.settings.store, "root", None)
        or getattr(made.settings.store, "url", None)
        or type(made.settings.store).__name__
    )
    return {
        "version": __version__,
        "store": str(store),
        "project": "" if arguments.all_scopes else made.settings.outputs.scope,
        "options": " ".join(options),  # what a command needs that is copied from the page
        "limits": dict(made.settings.limits.given()),
        "keep": made.settings.keep if isinstance(made.settings.keep, str) else "",
        "worth": made.settings.worth,
        "keeps": [*KEEPS],
        "profiles": [*profiles.NAMES],
        "tokenizer": made.settings.tokenizer if isinstance(made.settings.tokenizer, str) else "your own",
    }
