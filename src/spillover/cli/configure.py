"""The commands about configuration: `config` and `trust`."""

from __future__ import annotations

import argparse
import os

from spillover.cli.output import EXIT_OK, format_setting, write, write_error, write_json, write_table
from spillover.cli.parsing import Command, add_json
from spillover.errors import ConfigError, UsageError
from spillover.hosts import find_agents
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
    parse,
)
from spillover.store.scopes import default_scope

#: Characters of a path or value in a table: as long as a path may be.
CELL_CHARS = 4_096

# ---- config


def config(arguments: argparse.Namespace) -> int:
    """Print every setting and where it comes from."""
    settings = load(agents=find_agents(os.environ))
    settings.settings()  # a wrong value is reported here too
    if arguments.json:
        facts = {key: {"value": setting.value, "origin": setting.origin} for key, setting in settings.values.items()}
        ignored = [{"path": entry.path, "key": entry.key, "why": entry.why} for entry in settings.ignored]
        write_json({**facts, "ignored": ignored})
        return EXIT_OK
    rows = [
        (key, format_setting(key, setting.value) or _describe_default(key), setting.origin)
        for key, setting in settings.values.items()
    ]
    write_table(("setting", "value", "from"), [[_cell(text) for text in row] for row in rows])
    if settings.ignored:
        write("\n")
        ignored_rows = [(entry.path, entry.key or "the file", entry.why) for entry in settings.ignored]
        write_table(("ignored in", "what", "why"), [[_cell(text) for text in row] for row in ignored_rows])
    return EXIT_OK


def _describe_default(key: str) -> str:
    return default_scope() if key == "scope" else "none"


def _cell(text: str) -> str:
    return one_line(text, CELL_CHARS)


# ---- trust


def trust(arguments: argparse.Namespace) -> int:
    """Trust a file, stop trusting it, or list what is trusted."""
    if arguments.list and (arguments.remove or arguments.path):
        raise UsageError("--list shows everything; use it alone.")
    if arguments.list:
        return _list_trusted(as_json=arguments.json)
    if arguments.remove:
        return _stop_trusting(arguments.path or os.curdir, as_json=arguments.json)
    return _trust_file(arguments.path or os.curdir, as_json=arguments.json)


def _trust_file(name: str, *, as_json: bool) -> int:
    """Trust a file, and list what it may set beyond limits and keep."""
    file, data = _find_file(name)
    allowed = [entry.key or entry.why for entry in needs_trust(file, os.environ)]  # before the file is trusted
    # Settings that contradict each other would stop every command once the file is trusted.
    load(cwd=os.path.dirname(file.path), environ={**os.environ, CONFIG_VARIABLE: file.path}).settings()
    trust_records.trust(file.path, data, os.environ, os.geteuid())
    if as_json:
        write_json({"path": file.path, "allows": allowed})
        return EXIT_OK
    effect = "Beyond lowering limits, it sets:" if allowed else "It only lowers limits and chooses keep."
    write(f"{_cell(file.path)} is trusted as it is now. {effect}\n")
    write("".join(f"  {key}\n" for key in allowed))
    write("If it changes, you have to trust it again. To stop trusting it, run `spill trust --remove`.\n")
    return EXIT_OK


def _stop_trusting(name: str, *, as_json: bool) -> int:
    trusted = {entry.path for entry in trust_records.list_trusted(os.environ, os.geteuid())[0]}
    real = _real_path(name)
    # The file may be gone; its place should still stop being trusted.
    places = [real, *(os.path.join(real, file) for file in (FILE, PYPROJECT)), *candidates(real, os.environ)]
    path = next((place for place in places if place in trusted), None)
    if path is None:
        raise UsageError(f"nothing at {_cell(real)} is trusted; `spill trust --list` shows what is.")
    trust_records.untrust(path, os.environ, os.geteuid())
    if as_json:
        write_json({"path": path})
    else:
        write(f"{_cell(path)} is no longer trusted.\n")
    return EXIT_OK


def _list_trusted(*, as_json: bool) -> int:
    entries, problems = trust_records.list_trusted(os.environ, os.geteuid())
    rows = [(entry.path, _trust_state(entry.path)) for entry in entries]
    for problem in problems:
        write_error(problem)
    if as_json:
        write_json([{"path": path, "state": state} for path, state in rows])
    else:
        write("".join(f"{_cell(path)}  {state}\n" for path, state in rows) or "Nothing is trusted.\n")
    return EXIT_OK


def _trust_state(path: str) -> str:
    file = trust_records.read_small(path, uid=os.geteuid())
    if file is None:
        return "gone"
    return file.problem or trust_records.state_of(path, file.data, os.environ, os.geteuid())[0]


def _find_file(name: str) -> tuple[ConfigFile, bytes]:
    """Return the file that is read for this folder, or this very file; with its bytes."""
    real = _real_path(name)
    paths = list(candidates(real, os.environ)) if os.path.isdir(real) else [real]
    if os.path.basename(paths[0]) not in (FILE, PYPROJECT):
        raise UsageError(f"{_cell(name)}: a project's configuration is called {FILE} or {PYPROJECT}.")
    refusals = []
    for path in paths:
        small = trust_records.read_small(path, uid=os.geteuid())
        if small is None or not has_our_name(path, small.data):
            continue
        if small.problem:
            refusals.append(f"{_cell(path)} is not used: {small.problem}.")
        elif file := parse(path, small.data):
            for setting in flatten(file, os.environ):  # a file with mistakes has to be corrected first
                if isinstance(setting, Ignored):
                    raise ConfigError(setting.complaint)
            return file, small.data
    raise UsageError(
        "\n".join(refusals)
        or f"there is no {FILE}, and no {PYPROJECT} with [tool.spillover], at {_cell(real)} or above it."
    )


def _real_path(name: str) -> str:
    """Return the real path; a link at its end is not followed."""
    if os.path.isdir(name):
        return os.path.realpath(name)
    folder, file = os.path.split(os.path.abspath(name))
    return os.path.join(os.path.realpath(folder), file)


def _add_config_options(parser: argparse.ArgumentParser) -> None:
    add_json(parser)


def _add_trust_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path", nargs="?", metavar="DIR", help="the project, or its file; default: the project you are in"
    )
    parser.add_argument("--list", action="store_true", help="list what you trust, and whether it has changed since")
    parser.add_argument("--remove", action="store_true", help="stop trusting it")
    add_json(parser)


COMMANDS = {
    "config": Command(
        "Show every setting and where it comes from.",
        _add_config_options,
        config,
        ("spill config", "SPILLOVER_TOKENS=4000 spill config"),
    ),
    "trust": Command(
        "Trust a project's configuration file as it is now.",
        _add_trust_options,
        trust,
        ("spill trust", "spill trust --list", "spill trust --remove ~/src/app"),
    ),
}
