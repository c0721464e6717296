"""From arguments and configuration to a Clipper."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from spillover.api import Clipper
from spillover.cli.output import complain
from spillover.errors import SpilloverError, UsageError
from spillover.hosts import find_agents, limits_of_failing
from spillover.notice.hints import Hint
from spillover.profiles import NAMES as PROFILES
from spillover.settings.limits import SMALLEST
from spillover.settings.load import PREFIX, VARIABLES, Loaded, load
from spillover.settings.load import PROFILES as PROFILE_OPTIONS
from spillover.settings.settings import REDACT, Call
from spillover.settings.trust import CONFIG_VARIABLE, FILE, candidates, read_small
from spillover.store.folder import expand, user_folder

#: Variables that say where outputs go, and who finds them there.
WHERE = ("SPILLOVER_STORE", "SPILLOVER_SCOPE")

#: Arguments that are settings, by the name they have in the configuration.
SETTINGS = ("profile", "lines", "bytes", "chars", "tokens", "tokenizer", "keep", "since", "store", "scope")
#: Whoever reads what this command prints can most likely run it, and open files.
HINTS = ("cli", "path")
#: Where limits are not above the smallest by so much, nothing is taken from them for a newline.
ROOMY = 1.5


def clipper(arguments: argparse.Namespace, hints: tuple[str, ...] = HINTS) -> Clipper:
    """Return the Clipper for this call: the command line, then the environment, then files, then defaults.

    With the usual hints, what is printed is read in a shell, and fits the agent whose shell that is.
    """
    given = _given(arguments)
    everything = getattr(arguments, "all_scopes", False)
    if everything and "scope" in given:
        raise UsageError("--scope and --all-scopes cannot be combined; use one of them.")
    made, complaint = _made(given, hints, everything=everything)
    if complaint:
        complain(complaint)
    return made


def leave_room(made: Clipper) -> Clipper:
    """Return the Clipper with limits that leave room for the newline at the end of an answer."""
    less = {
        name: value - 1
        for name, value in made.settings.limits.given()
        if name != "lines" and value - 1 >= ROOMY * SMALLEST[name]
    }
    try:
        return made.but(replace(made.settings.limits, **less))
    except UsageError:  # by the caller's own counter, there is no room at all
        return made


def lower_if_failed(call: Call, exit_code: int) -> Call:
    """Return the call for a command that ended like this: an agent may show less of one that failed."""
    less = limits_of_failing(os.environ) if exit_code else None
    if less is None or call.settings.form is not None:
        return call
    lowered = call.lower(less)
    try:
        call.settings.check_room(lowered.limits)
    except UsageError:  # as the caller's own tokenizer counts, there is no room
        return call
    return lowered


def compare_if_failed(call: Call, exit_code: int) -> Call:
    """Return the call for a command that ended like this: one that failed is compared with its newest good run, if any.

    That is measured to help (docs/decisions/runs.md); `since = "off"` turns it off.
    """
    if not exit_code or call.since != "auto":
        return call
    from spillover.since.earlier import GOOD_IF_ANY  # most commands do not fail

    return replace(call, since=GOOD_IF_ANY)


def ends_with_newline(text: str, call: Call) -> bool:
    """Return whether a text may get a newline at its end and still fit; a profile's words stand outside the limits anyway."""
    return call.settings.notice_is_outside or call.limits.hold(text + "\n", call.settings.count)


def make_clipper_anyway(
    arguments: argparse.Namespace | None,
    hints: tuple[str, ...] = HINTS,
    cwd: str | None = None,
    project: str | None = None,
) -> tuple[Clipper, str]:
    """Return a Clipper even if files or the environment are wrong, and what is wrong with them.

    A wrong option on the command line is still an error.
    """
    given = _given(arguments) if arguments else {}
    try:
        return _made(given, hints, cwd, project=project)
    except SpilloverError as error:
        wrong = str(error)
    given["redact"] = _read_redact(os.environ, cwd)
    covered = "" if given["redact"] == "off" else ", and secrets are covered"
    for environ, left in _without(os.environ):
        try:
            return _made(given, hints, cwd, environ, project=project)[
                0
            ], f"{wrong} Until that is fixed, {left}{covered}."
        except SpilloverError as error:
            last = error
    raise last


def _without(environ: Mapping[str, str]) -> Iterator[tuple[dict[str, str], str]]:
    """Yield the environment without the files; then without our variables but those that say where outputs go; then without any."""
    others = {name: value for name, value in environ.items() if not name.startswith(PREFIX)} | {CONFIG_VARIABLE: "none"}
    places = {name: environ[name] for name in WHERE if name in VARIABLES and name in environ}
    yield {**environ, CONFIG_VARIABLE: "none"}, "no configuration file is read"
    if places:
        yield {**others, **places}, f"no configuration file is read, and of the variables only {' and '.join(places)}"
    yield others, f"no configuration file is read, and no {PREFIX} variable"


def _read_redact(environ: Mapping[str, str], cwd: str | None) -> str:
    """Return how secrets are covered while the settings cannot be used: no less than any of them asks for."""
    word = environ.get(f"{PREFIX}REDACT", "")
    if word in REDACT:
        return word
    here = os.path.realpath(cwd or os.curdir)
    users = os.path.join(user_folder(environ, "XDG_CONFIG_HOME", ".config"), FILE)
    named = os.path.join(here, expand(environ.get(CONFIG_VARIABLE, ""), environ))
    files = [read_small(path, uid=None, links=True) for path in (users, named, *candidates(here, environ))]
    return "stored" if word or any(file and b"stored" in file.data for file in files) else "shown"


def _given(arguments: argparse.Namespace) -> dict[str, object]:
    given = {name: value for name in SETTINGS if (value := getattr(arguments, name, None)) is not None}
    for option in getattr(arguments, "profile_option", None) or ():
        key, equals, value = option.partition("=")
        if not equals:
            raise UsageError(f"--profile-option {option}: expected KEY=VALUE.")
        if given.get("profile") not in PROFILES:
            raise UsageError(f"--profile-option needs --profile; use one of {', '.join(PROFILES)}.")
        given[f"{PROFILE_OPTIONS}{given['profile']}.{key}"] = value
    return given


def _made(
    given: Mapping[str, object],
    hints: tuple[str, ...],
    cwd: str | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    project: str | None = None,
    everything: bool = False,
) -> tuple[Clipper, str]:
    """Return the Clipper, and which keys of its files are unknown."""
    agents = find_agents(os.environ)
    settings = load(given=given, cwd=cwd, environ=environ, agents=agents if hints is HINTS else ())
    if project is not None:
        settings = replace(settings, project=project)
    others: dict[str, Any] = {"agent": agents[-1] if agents else None}
    if settings.values["hints"].origin == "default":
        others["hints"] = _going_back(hints, given, everything=everything, elsewhere=_elsewhere(settings, cwd, project))
    if everything:
        from spillover.store.record import EVERY  # only for a person who asks

        others["scope"] = EVERY
    return Clipper(settings=settings.settings(**others)), settings.complaint


def _going_back(
    hints: tuple[str, ...], given: Mapping[str, object], *, everything: bool, elsewhere: str | None
) -> tuple[str | Hint, ...]:
    """Return the hints, with the options that whoever pastes a step needs to find the output where this call left it."""
    scope = given.get("scope") or elsewhere
    named = {"--store": given.get("store"), "--scope": scope}
    if "cli" not in hints or not (everything or any(named.values())):
        return hints
    from shlex import quote  # only for those who say where

    from spillover.notice.hints import CLI, with_options

    options = [f"{option} {quote(str(value))}" for option, value in named.items() if value]
    changed = with_options(CLI, " ".join([*options, *["--all-scopes"] * everything]))
    return tuple(changed if hint == "cli" else hint for hint in hints)


def _elsewhere(settings: Loaded, cwd: str | None, project: str | None) -> str | None:
    """Return the scope of a host's session, where a command in the tool's own folder would not find it by itself."""
    if cwd is None or project is None or settings.values["scope"].origin != "default" or os.environ.get(WHERE[1]):
        return None
    from spillover.store.scopes import folder_scope  # hooks know both folders; nobody else does

    begun = folder_scope(project)
    return None if folder_scope(cwd) == begun else begun
