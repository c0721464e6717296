"""The command `doctor`: check that everything works, and say how to fix what does not."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from shlex import quote
from shutil import which

from msgspec import Struct

from spillover import __version__
from spillover.cli.output import EXIT_FINDINGS, EXIT_OK, count_of, write_json, write_table
from spillover.cli.parsing import Command, add_json, add_store
from spillover.cli.setup import make_clipper
from spillover.errors import MissingExtraError, SpilloverError, StoreError, UsageError
from spillover.hosts import AGENTS
from spillover.hosts.host import Event, Host, Scope
from spillover.hosts.install import (
    COMMAND,
    Target,
    is_installed,
    plan_install,
    targets,
    warn_duplicate_tools,
)
from spillover.hosts.shell import SHELL
from spillover.notice.wording import one_line
from spillover.settings.load import load
from spillover.settings.trust import list_trusted
from spillover.store import BaseStore
from spillover.store.directory import DirStore
from spillover.store.folder import Folder
from spillover.store.object_store import ObjectStore
from spillover.store.record import Record
from spillover.store.retention import Retention, list_entries
from spillover.store.scopes import ScopedStore
from spillover.tokens import exact_counter

#: Free bytes below which `doctor` warns.
LOW_SPACE_BYTES = 1 << 30
#: A store counts as full when this share of it cannot be removed.
FULL_SHARE = 0.95
#: Libraries for selecting and searching, what is lost without each, and a name of each that we use.
LIBRARIES = {
    "numpy": ("keep=auto shows both ends of logs, JSON and tables, and nothing in between", "ndarray"),
    "hyperscan": (
        "keep=auto shows both ends of logs, and nothing in between, and patterns cannot be searched for",
        "Database",
    ),
}
#: Seconds that an installed hook may take to answer; it should take a tenth of one.
HOOK_SECONDS = 30
SCOPES: tuple[Scope, ...] = ("user", "project")


class Check(Struct, frozen=True):
    """The result of looking at one thing."""

    name: str
    ok: bool
    message: str


def doctor(arguments: argparse.Namespace) -> int:
    """Check that everything works, and say how to fix what does not."""
    checks = list(run_checks(arguments))
    if arguments.json:
        write_json([{"check": check.name, "ok": check.ok, "said": check.message} for check in checks])
    else:
        rows = [("ok" if check.ok else "!!", check.name, check.message) for check in checks]
        write_table(("", "check", ""), rows)
    return EXIT_OK if all(check.ok for check in checks) else EXIT_FINDINGS


def run_checks(arguments: argparse.Namespace) -> Iterator[Check]:
    """Yield each check in the order of the table."""
    yield Check("version", ok=True, message=f"spillover {__version__}, Python {sys.version.split()[0]}")
    try:
        outputs = make_clipper(arguments).settings.outputs
        settings = load()
    except SpilloverError as error:
        yield Check("configuration", ok=False, message=str(error))
        return
    message = ", ".join(settings.files) or "no files: defaults and environment"
    if settings.ignored:
        message += f"; {count_of(len(settings.ignored), 'setting')} ignored (`spill config` says why)"
    if settings.complaint:
        message += f"; {settings.complaint}"
    yield Check("configuration", ok=not settings.complaint, message=message)
    for problem in list_trusted(os.environ, os.geteuid())[1]:
        yield Check("trust", ok=False, message=problem)
    yield _check_round_trip(outputs)
    if isinstance(outputs.store, DirStore):
        yield _check_space(outputs.store.path)
        yield from _check_folder(outputs.store)
    else:
        yield from _check_spool(outputs.store)
    yield _check_libraries()
    yield _check_tokens()
    yield from _check_hosts(os.getcwd())


def _check_round_trip(outputs: ScopedStore) -> Check:
    """Store something in the scope that tool calls use, read it back and remove it: rights may end there."""
    data = b"spill doctor was here\n"
    try:
        writer = outputs.writer()
        writer.write(data)
        record = Record(ref="", tool="doctor", sha256=hashlib.sha256(data).hexdigest(), bytes=len(data), lines=1)
        published = writer.publish(record)
        if published.only_here is not None:
            (outputs.store.local or outputs.store).delete(published.ref)
            raise StoreError(published.only_here)
        blob = outputs.open(published.ref)
        is_same = blob.read(0, len(data) + 1) == data
        blob.close()
    except SpilloverError as error:
        kind = "folder" if isinstance(outputs.store, DirStore) else "store"
        message = str(error).rstrip(".").removesuffix("; name another store").removesuffix(" or name another store")
        remedy = f"to use another {kind}, set `store`, SPILLOVER_STORE or --store"
        return Check("store", ok=False, message=f"{message}; {remedy}")
    try:
        outputs.delete(published.ref)
    except SpilloverError as error:  # tool calls work; `rm` and `gc` do not
        message = f"an output was stored and read back, but could not be removed: {error}"
        return Check("store", ok=False, message=message)
    message = "an output was stored, read back and removed" if is_same else "what was stored came back different"
    return Check("store", is_same, message)


def _check_spool(store: BaseStore) -> Iterator[Check]:
    """Check that there is room for what is on its way to a bucket, and that nothing has been left behind."""
    if not isinstance(store, ObjectStore):
        return
    yield _check_space(store.local.path)
    count = sum(1 for _ in store.local.list())
    verb = "is" if count == 1 else "are"
    message = f"{count_of(count, 'output')} {verb} only on this machine; run `spill push`"
    yield Check("spool", ok=not count, message=message if count else "nothing is waiting to be uploaded")


def _check_space(root: str) -> Check:
    """Check how much room the disk has, at the store or where it would be created."""
    place = root
    while not os.path.isdir(place) and place != os.path.dirname(place):
        place = os.path.dirname(place)
    try:
        free = shutil.disk_usage(place).free
    except OSError as error:
        return Check("space", ok=False, message=f"cannot tell how much is free: {error.strerror}: {place}")
    is_enough = free > LOW_SPACE_BYTES
    remedy = "" if is_enough else "; remove something, or set `store` to another disk"
    return Check("space", is_enough, f"{free >> 20:,} MiB free at {place}{remedy}")


def _check_folder(store: DirStore) -> Iterator[Check]:
    """Check who can read the store, and whether it has room; nothing of a folder that cannot be opened."""
    root = store.path
    try:
        with Folder(root) as folder:
            mode = os.stat(root).st_mode & 0o777
            is_private = mode & 0o077 == 0
            remedy = "" if is_private else f"; run `chmod 700 {quote(root)}`"
            yield Check("private", is_private, f"{root} has mode {mode:04o}{remedy}")
            yield _check_room(folder, store.limits or Retention())
    except FileNotFoundError:
        return  # the check of the store has reported why it could not be created
    except OSError as error:
        reason = str(error).rstrip(".") if isinstance(error, StoreError) else f"{error.strerror}: {root}"
        message = f"the store cannot be opened: {reason}; name another folder with --store"
        yield Check("private", ok=False, message=message)


def _check_room(folder: Folder, retention: Retention) -> Check:
    """Check that the next output finds room: what is pinned or too young to be removed may fill the store."""
    entries = [entry for entry, _ in list_entries(folder).values()]
    fixed = [entry for entry in entries if entry.pinned or time.time() - entry.mtime < retention.grace_seconds]
    units = {"bytes": "bytes", "count": "outputs"}
    amounts = {"bytes": sum(entry.bytes for entry in entries), "count": len(entries)}
    unremovable = {"bytes": sum(entry.bytes for entry in fixed), "count": len(fixed)}
    limits = {name: limit for name in units if (limit := getattr(retention, name)) is not None}
    usage = [f"{amounts[name]:,} of {limit:,} {units[name]}" for name, limit in limits.items()]
    full = next((name for name, limit in limits.items() if unremovable[name] >= limit * FULL_SHARE), "")
    message = ", ".join(usage) or "no limits are set"
    if full:
        message = (
            f"the store is full ({message}), and everything in it is pinned or too young to be removed: "
            f"raise retention.{full}, lower retention.grace, or unpin something"
        )
    return Check("room", not full, message)


def _check_libraries() -> Check:
    """Check the libraries for selecting and searching; not every platform has wheels for all of them."""
    problems = {name: problem for name in LIBRARIES if (problem := _library_problem(name)) is not None}
    if not problems:
        return Check("libraries", ok=True, message="all required ones are installed")
    losses = "; ".join(f"without {name}{problem}, {LIBRARIES[name][0]}" for name, problem in problems.items())
    reinstall = "--force-reinstall " if any(problems.values()) else ""
    return Check("libraries", ok=False, message=f"{losses}: pip install {reinstall}{' '.join(problems)}")


def _library_problem(name: str) -> str | None:
    """Return the reason why a library cannot be used: "" if it is missing, None if nothing is wrong."""
    if sys.modules.get(name, ...) is None or find_spec(name) is None:
        return ""
    try:
        module = __import__(name)
    except Exception as error:  # noqa: BLE001  a wheel for another machine, half an upgrade: anything
        return f" (it is installed but cannot be loaded: {one_line(str(error), 120)})"
    if hasattr(module, LIBRARIES[name][1]):
        return None
    place = one_line(str(getattr(module, "__file__", None) or module), 120)  # somebody's own numpy.py
    return f" (something else has this name: {place})"


def _check_tokens() -> Check:
    try:
        exact_counter("o200k_base")
    except MissingExtraError as error:
        return Check("tokens", ok=True, message=f"estimated; {error}")
    return Check("tokens", ok=True, message='exact counts are available: set tokenizer = "o200k_base"')


def sample_event(host: Host, folder: str) -> Event:
    """Return an event with a long result, whose session is in this folder."""
    assert host.hook is not None
    return {**host.hook.sample, "transcript_path": os.path.join(folder, "chats", "doctor.jsonl")}


def _check_hosts(folder: str) -> Iterator[Check]:
    """Check each file with something of ours in it, for this user and this folder."""
    files = set()
    for host in (*AGENTS, SHELL):
        for scope in SCOPES:
            if host is SHELL and scope == "user":
                continue
            for target in targets(host, scope, os.environ, folder):
                real = os.path.realpath(target.path)
                if real not in files and os.path.isfile(real):
                    files.add(real)
                    yield from _check_host(host, scope, target)
    home = os.environ.get("HOME") or os.path.expanduser("~")
    servers = {os.path.join(home, host.server_file) for host in AGENTS if host.server_file}
    for path in sorted(files | {os.path.realpath(path) for path in (*servers, os.path.join(folder, ".mcp.json"))}):
        if warning := warn_duplicate_tools(path):
            yield Check("mcp", ok=True, message=warning)


def _check_host(host: Host, scope: Scope, target: Target) -> Iterator[Check]:
    """Check that our part of a file is current and that `spill` answers; nothing where we are not installed."""
    try:
        if not is_installed(target):
            return
        is_current = plan_install(target).is_noop
    except UsageError as error:
        if _mentions_us(target.path):  # otherwise it is nothing of ours that is broken
            yield Check(host.name, ok=False, message=str(error))
        return
    if not is_current:
        command = f"spill init {host.name}" + " --scope project" * (scope == "project")
        message = f"{target.path} is not as this version writes it; run `{command}`"
        yield Check(host.name, ok=False, message=message)
    elif which(COMMAND) is None:
        message = f"{target.path} calls `{COMMAND}`, which is not on your PATH"
        yield Check(host.name, ok=False, message=message)
    elif host.hook and not _answers(host):
        problem = f"`{COMMAND} hook {host.name}` does not answer; is another {COMMAND} on your PATH?"
        yield Check(host.name, ok=False, message=f"{target.path} is in place, but {problem}")
    else:
        message = f"{target.path} is in place, and `{COMMAND}` is {which(COMMAND)}"
        yield Check(host.name, ok=True, message=message)


def _mentions_us(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return COMMAND.encode() in file.read(1 << 20)
    except OSError:
        return False


def _answers(host: Host) -> bool:
    """Return whether the hook answers a host's event, with a temporary store."""
    with tempfile.TemporaryDirectory(prefix="spill-doctor-") as store:
        try:
            process = subprocess.run(
                [COMMAND, "hook", host.name],
                input=json.dumps(sample_event(host, store)).encode(),
                env={**os.environ, "SPILLOVER_STORE": store},
                capture_output=True,
                timeout=HOOK_SECONDS,
                check=False,
            )
            return process.returncode == 0 and isinstance(json.loads(process.stdout), dict)
        except (OSError, ValueError, subprocess.TimeoutExpired):
            return False


def _add_doctor_options(parser: argparse.ArgumentParser) -> None:
    add_store(parser)
    add_json(parser)


COMMANDS = {
    "doctor": Command(
        "Check that everything works, and say how to fix what does not.",
        _add_doctor_options,
        doctor,
        ("spill doctor",),
    ),
}
