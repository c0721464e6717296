"""`spill trust`: trust a project's configuration file, as it is now."""

from __future__ import annotations

import argparse
import os

from spillover.cli import exits
from spillover.cli.output import complain, put, put_json
from spillover.errors import ConfigError, UsageError
from spillover.notice.wording import one_line
from spillover.settings import trust as trust_records
from spillover.settings.load import flatten, load, needs_trust
from spillover.settings.trust import (
    CONFIG_VARIABLE,
    FILE,
    PYPROJECT,
    ConfigFile,
    Ignored,
    candidates,
    has_our_name,
    list_trusted,
    parse,
    read_small,
    state_of,
    untrust,
)

PATH_CHARS = 4_096


def trust(arguments: argparse.Namespace) -> int:
    """Trust a file, stop trusting it, or list what is trusted."""
    if arguments.list and (arguments.remove or arguments.path):
        raise UsageError("--list shows everything; use it alone.")
    if arguments.list:
        return _list(as_json=arguments.json)
    if arguments.remove:
        return _remove(arguments.path or os.curdir, as_json=arguments.json)
    return _trust(arguments.path or os.curdir, as_json=arguments.json)


def _trust(named: str, *, as_json: bool) -> int:
    file, data = _find(named)
    more = needs_trust(file, os.environ)  # read before it is trusted, from what is trusted
    _check(file.path)
    trust_records.trust(file.path, data, os.environ, os.geteuid())
    if as_json:
        put_json({"path": file.path, "allows": [one.key or one.why for one in more]})
        return exits.OK
    put(
        f"{_line(file.path)} is trusted as it is now. {'Beyond lowering limits, it sets:' if more else 'It only lowers limits and chooses keep.'}\n"
    )
    put("".join(f"  {one.key or one.why}\n" for one in more))
    put("If it changes, you have to trust it again. To stop trusting it, run `spill trust --remove`.\n")
    return exits.OK


def _check(path: str) -> None:
    """Raise ConfigError if the file's settings contradict each other: once trusted, that would stop every command."""
    folder = os.path.dirname(path)
    load(cwd=folder, environ={**os.environ, CONFIG_VARIABLE: path}).settings()


def _remove(named: str, *, as_json: bool) -> int:
    known = {entry.path for entry in list_trusted(os.environ, os.geteuid())[0]}
    real = _real(named)
    # The file may be gone, and is no reason to keep trusting what comes to stand there.
    asked = [real, *(os.path.join(real, name) for name in (FILE, PYPROJECT)), *candidates(real, os.environ)]
    path = next((path for path in asked if path in known), None)
    if path is None:
        raise UsageError(f"nothing at {_line(real)} is trusted; `spill trust --list` shows what is.")
    untrust(path, os.environ, os.geteuid())
    if as_json:
        put_json({"path": path})
    else:
        put(f"{_line(path)} is no longer trusted.\n")
    return exits.OK


def _list(*, as_json: bool) -> int:
    found, wrong = list_trusted(os.environ, os.geteuid())
    rows = [(entry.path, _state(entry.path)) for entry in found]
    for words in wrong:
        complain(words)
    if as_json:
        put_json([{"path": path, "state": state} for path, state in rows])
    else:
        put("".join(f"{_line(path)}  {state}\n" for path, state in rows) or "Nothing is trusted.\n")
    return exits.OK


def _state(path: str) -> str:
    taken = read_small(path, uid=os.geteuid())
    if taken is None:
        return "gone"
    return taken.problem or state_of(path, taken.data, os.environ, os.geteuid())[0]


def _find(named: str) -> tuple[ConfigFile, bytes]:
    """Return the file that is read for this folder, or this very file; with what is in it."""
    real = _real(named)
    paths = [real] if not os.path.isdir(real) else list(candidates(real, os.environ))
    if os.path.basename(paths[0]) not in (FILE, PYPROJECT):
        raise UsageError(f"{_line(named)}: a project's configuration is called {FILE} or {PYPROJECT}.")
    refused = []
    for path in paths:
        taken = read_small(path, uid=os.geteuid())
        if taken is not None and taken.problem and has_our_name(path, taken.data):
            refused.append(f"{_line(path)} is not used: {taken.problem}.")
        elif taken is not None and has_our_name(path, taken.data) and (file := parse(path, taken.data)):
            for one in flatten(file, os.environ):  # a file with mistakes is not trusted but mended
                if isinstance(one, Ignored):
                    raise ConfigError(one.complaint)
            return file, taken.data
    raise UsageError(
        "\n".join(refused)
        or f"there is no {FILE}, and no {PYPROJECT} with [tool.spillover], at {_line(real)} or above it."
    )


def _real(named: str) -> str:
    """Return the real path; a link at its end is not followed."""
    if os.path.isdir(named):
        return os.path.realpath(named)
    folder, name = os.path.split(os.path.abspath(named))
    return os.path.join(os.path.realpath(folder), name)


def _line(path: str) -> str:
    return one_line(path, PATH_CHARS)
