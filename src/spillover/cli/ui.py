"""`spill ui`: the page, on this machine only."""

from __future__ import annotations

from shlex import quote

from spillover.cli import exits
from spillover.cli.output import complain, put
from spillover.cli.setup import clipper
from spillover.errors import MissingExtraError
from spillover.retrieve.names import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from spillover.clipper import Clipper


def ui(arguments: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C."""
    made = clipper(arguments)
    to = ""
    if arguments.ref:
        to = f"/output/{made.outputs.get(resolve(arguments.ref, made.outputs).ref).ref}"
    try:
        from spillover.inspector.serve import serve
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
    from spillover.select import KEEPS

    options = [f"{name} {quote(value)}" for name in ("store", "scope") if (value := getattr(arguments, name))]
    options = [f"--{option}" for option in options] + ["--all-scopes"] * arguments.all_scopes
    store = getattr(made.store, "root", None) or getattr(made.store, "url", None) or type(made.store).__name__
    return {
        "version": __version__,
        "store": str(store),
        "project": "" if arguments.all_scopes else made.outputs.scope,
        "options": " ".join(options),  # what a command needs that is copied from the page
        "limits": dict(made.limits.given()),
        "keep": made.keep if isinstance(made.keep, str) else "",
        "worth": made.worth,
        "keeps": [*KEEPS],
        "profiles": [*profiles.NAMES],
        "tokenizer": made.tokenizer if isinstance(made.tokenizer, str) else "your own",
    }
