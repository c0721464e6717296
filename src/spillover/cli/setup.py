"""From arguments and configuration to a Clipper."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping
from shlex import quote
from typing import Any

from msgspec.structs import replace

from spillover.api import Clipper
from spillover.cli.output import write_error
from spillover.errors import SpilloverError, UsageError
from spillover.hosts import find_agents, limits_of_failing
from spillover.notice.hints import CLI, Hint, with_options
from spillover.profiles import NAMES as PROFILES
from spillover.settings.limits import SMALLEST
from spillover.settings.load import PREFIX, VARIABLES, Loaded, load
from spillover.settings.load import PROFILES as PROFILE_OPTIONS
from spillover.settings.settings import REDACT, Call
from spillover.settings.trust import CONFIG_VARIABLE, FILE, candidates, read_small
from spillover.since.earlier import GOOD_IF_ANY
from spillover.store.folder import expand, user_folder
from spillover.store.record import EVERY
from spillover.store.scopes import folder_scope

#: Variables that say where outputs go, and who finds them there.
PLACE_VARIABLES = ("SPILLOVER_STORE", "SPILLOVER_SCOPE")

#: Arguments that are settings, by their names in the configuration.
SETTINGS = ("profile", "lines", "bytes", "chars", "tokens", "tokenizer", "keep", "since", "store", "scope")
#: The reader of what this command prints can most likely run it, and open files.
HINTS = ("cli", "path")
#: Limits below this multiple of the smallest are not lowered to make room for a newline; a larger one leaves out more.
ROOMY_FACTOR = 1.5


def make_clipper(arguments: argparse.Namespace, hints: tuple[str, ...] = HINTS) -> Clipper:
    """Return the Clipper for the command line, the environment, the files and the defaults, in this order.

    With the default hints, what is printed is read in a shell, and fits the agent whose shell that is.
    """
    options = _read_options(arguments)
    all_scopes = getattr(arguments, "all_scopes", False)
    if all_scopes and "scope" in options:
        raise UsageError("--scope and --all-scopes cannot be combined; use one of them.")
    clipper, complaint = _load_clipper(options, hints, all_scopes=all_scopes)
    if complaint:
        write_error(complaint)
    return clipper


def reserve_newline(clipper: Clipper) -> Clipper:
    """Return the Clipper with limits that leave room for the newline at the end of an answer."""
    smaller = {
        name: value - 1
        for name, value in clipper.settings.limits.given()
        if name != "lines" and value - 1 >= ROOMY_FACTOR * SMALLEST[name]
    }
    try:
        return clipper.but(replace(clipper.settings.limits, **smaller))
    except UsageError:  # by the caller's own counter, there is no room at all
        return clipper


def lower_if_failed(call: Call, exit_code: int) -> Call:
    """Return the call with the lower limits that an agent has for a command that failed."""
    limits = limits_of_failing(os.environ) if exit_code else None
    if limits is None or call.settings.form is not None:
        return call
    lowered = call.lower(limits)
    try:
        call.settings.check_room(lowered.limits)
    except UsageError:  # as the caller's own tokenizer counts, there is no room
        return call
    return lowered


def compare_if_failed(call: Call, exit_code: int) -> Call:
    """Return the call that compares a command that failed with its newest good run, if there is one.

    That is measured to help (docs/decisions/runs.md); `since = "off"` turns it off.
    """
    if not exit_code or call.since != "auto":
        return call
    return replace(call, since=GOOD_IF_ANY)


def has_room_for_newline(text: str, call: Call) -> bool:
    """Return whether a text fits with a newline at its end; a profile's words stand outside the limits."""
    return call.settings.notice_is_outside or call.limits.hold(text + "\n", call.settings.count)


def make_clipper_or_defaults(arguments: argparse.Namespace, hints: tuple[str, ...] = HINTS) -> Clipper:
    """Return the Clipper; a wrong configuration is reported on stderr and stops no tool call."""
    clipper, complaint = clipper_or_defaults(arguments, hints)
    if complaint:
        write_error(complaint)
    return clipper


def clipper_or_defaults(
    arguments: argparse.Namespace | None,
    hints: tuple[str, ...] = HINTS,
    cwd: str | None = None,
    project: str | None = None,
) -> tuple[Clipper, str]:
    """Return a Clipper even if files or the environment are wrong, and what is wrong with them.

    A wrong option on the command line is still an error.
    """
    options = _read_options(arguments) if arguments else {}
    try:
        return _load_clipper(options, hints, cwd, project=project)
    except SpilloverError as error:
        problem = str(error)
    options["redact"] = _read_redact(os.environ, cwd)
    redaction = "" if options["redact"] == "off" else ", and secrets are covered"
    for environ, scope in _reduced_environments(os.environ):
        try:
            clipper, _ = _load_clipper(options, hints, cwd, environ, project=project)
        except SpilloverError as error:
            failure = error
        else:
            return clipper, f"{problem} Until that is fixed, {scope}{redaction}."
    raise failure


def _reduced_environments(environ: Mapping[str, str]) -> Iterator[tuple[dict[str, str], str]]:
    """Yield ever smaller environments, each with its description: no files, then PLACE_VARIABLES only, then nothing."""
    foreign = {name: value for name, value in environ.items() if not name.startswith(PREFIX)}
    foreign[CONFIG_VARIABLE] = "none"
    places = {name: environ[name] for name in PLACE_VARIABLES if name in VARIABLES and name in environ}
    yield {**environ, CONFIG_VARIABLE: "none"}, "no configuration file is read"
    if places:
        yield {**foreign, **places}, f"no configuration file is read, and of the variables only {' and '.join(places)}"
    yield foreign, f"no configuration file is read, and no {PREFIX} variable"


def _read_redact(environ: Mapping[str, str], cwd: str | None) -> str:
    """Return the `redact` that holds while the settings cannot be used: the strictest that any of them asks for."""
    word = environ.get(f"{PREFIX}REDACT", "")
    if word in REDACT:
        return word
    folder = os.path.realpath(cwd or os.curdir)
    user_file = os.path.join(user_folder(environ, "XDG_CONFIG_HOME", ".config"), FILE)
    variable_file = os.path.join(folder, expand(environ.get(CONFIG_VARIABLE, ""), environ))
    files = [
        read_small(path, uid=None, links=True) for path in (user_file, variable_file, *candidates(folder, environ))
    ]
    return "stored" if word or any(file and b"stored" in file.data for file in files) else "shown"


def _read_options(arguments: argparse.Namespace) -> dict[str, object]:
    """Return the settings on the command line, by their names in the configuration."""
    options = {name: value for name in SETTINGS if (value := getattr(arguments, name, None)) is not None}
    for option in getattr(arguments, "profile_option", None) or ():
        key, equals, value = option.partition("=")
        if not equals:
            raise UsageError(f"--profile-option {option}: expected KEY=VALUE.")
        if options.get("profile") not in PROFILES:
            raise UsageError(f"--profile-option needs --profile; use one of {', '.join(PROFILES)}.")
        options[f"{PROFILE_OPTIONS}{options['profile']}.{key}"] = value
    return options


def _load_clipper(
    options: Mapping[str, object],
    hints: tuple[str, ...],
    cwd: str | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    project: str | None = None,
    all_scopes: bool = False,
) -> tuple[Clipper, str]:
    """Return the Clipper, and a complaint about unknown keys in the files."""
    agents = find_agents(os.environ)
    settings = load(arguments=options, cwd=cwd, environ=environ, agents=agents if hints is HINTS else ())
    if project is not None:
        settings = replace(settings, project=project)
    overrides: dict[str, Any] = {"agent": agents[-1] if agents else None}
    if settings.values["hints"].origin == "default":
        overrides["hints"] = _hints_for_reader(
            hints, options, all_scopes=all_scopes, session_scope=_session_scope(settings, cwd, project)
        )
    if all_scopes:
        overrides["scope"] = EVERY
    return Clipper(settings=settings.settings(**overrides)), settings.complaint


def _hints_for_reader(
    hints: tuple[str, ...], options: Mapping[str, object], *, all_scopes: bool, session_scope: str | None
) -> tuple[str | Hint, ...]:
    """Return the hints with the options that a pasted command needs to find the output of this call."""
    places = {"--store": options.get("store"), "--scope": options.get("scope") or session_scope}
    if "cli" not in hints or not (all_scopes or any(places.values())):
        return hints
    words = [f"{option} {quote(str(value))}" for option, value in places.items() if value]
    words += ["--all-scopes"] * all_scopes
    cli_hint = with_options(CLI, " ".join(words))
    return tuple(cli_hint if hint == "cli" else hint for hint in hints)


def _session_scope(settings: Loaded, cwd: str | None, project: str | None) -> str | None:
    """Return the scope of a host's session, where a command in the tool's own folder would not find it by itself."""
    if (
        cwd is None
        or project is None
        or settings.values["scope"].origin != "default"
        or os.environ.get(PLACE_VARIABLES[1])
    ):
        return None
    session = folder_scope(project)
    return None if folder_scope(cwd) == session else session
