"""The commands for coding agents: `init`, `hook` and `mcp`."""

from __future__ import annotations

import argparse
import json
import os
import re
import select
import shlex
import signal
import time
from difflib import unified_diff
from shutil import which
from string import Template
from textwrap import fill
from typing import Any, NoReturn

from spillover.api import Clipper
from spillover.cli.output import EXIT_BUG, EXIT_OK, EXIT_SERVER_ENDED, write, write_error
from spillover.cli.parsing import Command, add_selection, strip_dashes
from spillover.cli.setup import clipper_or_defaults, make_clipper_or_defaults
from spillover.errors import UsageError
from spillover.hosts import AGENTS, HOSTS, find
from spillover.hosts.hook import answer, cut_deep_parts
from spillover.hosts.host import Host, Scope
from spillover.hosts.install import (
    LINES,
    Change,
    apply,
    find_user_folder,
    plan_install,
    plan_removal,
    targets,
    warn_duplicate_tools,
)
from spillover.hosts.shell import MCP_JSON, SHELL
from spillover.settings.limits import read_int

#: Columns of a narrow terminal, less one; with more, its lines would wrap.
COLUMNS = 79
#: Bytes of an event above which it is ignored: no host sends more for one tool call.
MAX_EVENT_BYTES = 1 << 28
#: Levels of an event that are kept where it is nested too deeply to be parsed as usual, and what stands for the rest.
MAX_DEPTH = 100
TOO_DEEP = "[nested too deeply to be shown]"


def init(arguments: argparse.Namespace) -> int:
    """Change each file and report it; with --dry-run, only report it."""
    if arguments.all == (arguments.host is not None):
        names = ", ".join(host.name for host in HOSTS)
        raise UsageError(f"name one agent ({names}), or use --all for all that are installed.")
    if arguments.file is not None and arguments.host != MCP_JSON.name:
        raise UsageError(f"{arguments.file!r:.80} is not expected here: FILE is only for {MCP_JSON.name}.")
    if arguments.host == SHELL.name and arguments.scope is None and not arguments.uninstall:
        write(LINES)
        return EXIT_OK
    hosts = [find(arguments.host)] if arguments.host else _find_agents()
    if not hosts:
        write("No supported agent was found in your home folder or on your PATH.\n")
    for host in hosts:
        if arguments.all:
            write(f"{host.name}:\n")
        _init_host(host, arguments)
    return EXIT_OK


def _init_host(host: Host, arguments: argparse.Namespace) -> None:
    """Change the files of one agent, and print the changes and what is left to do."""
    scope: Scope = arguments.scope or ("project" if host is SHELL else "user")
    plan = plan_removal if arguments.uninstall else plan_install
    files = targets(host, scope, os.environ, os.getcwd(), file=arguments.file)
    if host is MCP_JSON and not arguments.uninstall:
        _check_folder(os.path.dirname(files[0].path))
    changes = [plan(file) for file in files]  # everything is known to be possible before anything is changed
    for change in changes:
        if not arguments.dry_run:
            apply(change)
        write(_describe(change, dry_run=arguments.dry_run))
        if arguments.dry_run:
            write(_difference(change))
    if arguments.uninstall:
        return
    write(_wrap("Then" if arguments.dry_run else "Now", host.works) + _wrap("But", host.cannot))
    options = [*(["--scope", "project"] if arguments.scope == "project" else []), "--uninstall"]
    write(f"Undo: {shlex.join(['spill', 'init', host.name, *filter(None, [arguments.file]), *options])}\n")
    for change in changes:
        if warning := warn_duplicate_tools(change.path):
            write(warning + "\n")
    if which("spill") is None:
        write_error("`spill` is not on your PATH, and agents call it by that name; see `spill doctor`.")


def _wrap(title: str, text: str) -> str:
    """Return a title and its text in lines that fit a terminal; a command stays on one line."""
    unbroken = re.sub("`[^`]+`", lambda code: code[0].replace(" ", "\0"), f"{title + ':':6}{text}")
    lines = fill(unbroken, COLUMNS, subsequent_indent=" " * 6, break_on_hyphens=False, break_long_words=False)
    return lines.replace("\0", " ") + "\n"


def _check_folder(folder: str) -> None:
    """Refuse a folder that does not exist: no host would read a file in one that was mistyped."""
    if not os.path.isdir(folder):
        raise UsageError(
            f"there is no folder {folder}; check the path, or make it first: mkdir -p {shlex.quote(folder)}"
        )


def _find_agents() -> list[Host]:
    """Return the agents that are installed: by their folder, or on the PATH."""
    return [host for host in AGENTS if os.path.isdir(find_user_folder(host, os.environ)[0]) or which(host.program)]


def _describe(change: Change, *, dry_run: bool) -> str:
    if change.is_noop:
        return f"nothing to do: {change.path}\n"
    if change.before is None:
        verb, past = "write", "wrote"
    elif change.after is None:
        verb, past = "remove", "removed"
    else:
        verb, past = "change", "changed"
    return f"would {verb} {change.path}\n" if dry_run else f"{past} {change.path}\n"


def _difference(change: Change) -> str:
    lines = unified_diff((change.before or "").splitlines(), (change.after or "").splitlines(), n=2, lineterm="")
    return "".join(f"  {line}\n" for line in list(lines)[2:])


def hook(arguments: argparse.Namespace) -> int:
    """Read the host's event from stdin and write the reply to stdout.

    It always exits with 0, and prints nothing when nothing changes. A late reply changes nothing: whatever hangs, the
    host goes on with its own result.
    """
    try:
        host = find(arguments.host)
        assert host.hook is not None  # the parser offers no other
        write(reply_in_time(host, host.hook.deadline_seconds))
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  a hook that fails must not fail the tool call
        write_error(f"nothing was changed: {type(error).__name__}: {error}")
    return EXIT_OK


def reply_in_time(host: Host, seconds: float) -> str:
    """Return the reply to the event on stdin if it is complete within the time; "" if not.

    A child process works on it: neither a store that hangs nor a loop that never yields can stop the clock here.
    """
    reading, writing = os.pipe()
    deadline = time.monotonic() + seconds
    child = os.fork()
    if not child:
        # The host may kill this process and not its child, which ends by itself then.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds + 1)
        _reply_and_exit(host, writing)
    os.close(writing)
    parts = []
    while select.select([reading], [], [], max(0.0, deadline - time.monotonic()))[0]:
        if part := os.read(reading, 1 << 16):
            parts.append(part)
            continue
        is_complete = os.waitpid(child, 0)[1] == 0
        return b"".join(parts).decode() if is_complete else ""
    os.kill(child, signal.SIGKILL)
    write_error(f"nothing was changed: no answer within {seconds:g} s; `spill doctor` checks the store.")
    return ""


def _reply_and_exit(host: Host, fd: int) -> NoReturn:
    """Write the reply to a descriptor and end this process, with 0 if it is complete."""
    code = EXIT_BUG
    try:
        write(reply_to_stdin(host), fd)
        code = EXIT_OK
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  as above
        write_error(f"nothing was changed: {type(error).__name__}: {error}")
    finally:
        os._exit(code)


def reply_to_stdin(host: Host) -> str:
    """Return the reply to the event on stdin; "" if nothing changes."""
    data = _read_stdin()
    if not data:
        return ""
    try:
        return _reply(host, json.loads(data, parse_int=read_int))
    except RecursionError:  # nested too deeply to be read, or to be written
        text = data.decode(json.detect_encoding(data), "surrogatepass")
        for stand_in in (TOO_DEEP, None):  # if nothing else is too long, the deepest part may be
            event = json.loads(cut_deep_parts(text, MAX_DEPTH, stand_in), parse_int=read_int)
            if reply := _reply(host, event):
                return reply
        return ""


def _reply(host: Host, event: Any) -> str:
    """Return the reply to an event as JSON; "" if nothing changes."""
    cwd = event.get("cwd") if isinstance(event, dict) else None
    folder = cwd if isinstance(cwd, str) and os.path.isdir(cwd) else None
    session = os.environ.get(host.project_variable, "")  # where the session began: the tool's folder changes with `cd`
    project = session if os.path.isabs(session) and os.path.isdir(session) else folder
    complaints = []

    def make_clipper() -> Clipper:
        clipper, complaint = clipper_or_defaults(None, host.hints, folder, project)
        complaints.append(complaint)
        return clipper

    reply = answer(host, event, make_clipper)
    if reply is None:
        return ""
    if any(complaints) and host.hook and host.hook.complaint_key:
        reply[host.hook.complaint_key] = f"spill: {complaints[0]}"
    # A lone surrogate, which JSON can carry and UTF-8 cannot, stays escaped.
    return json.dumps(reply, ensure_ascii=True)


def _read_stdin() -> bytes:
    """Return all of stdin; nothing if it is too large."""
    parts = []
    size = 0
    while part := os.read(0, 1 << 16):
        parts.append(part)
        size += len(part)
        if size > MAX_EVENT_BYTES:
            return b""
    return b"".join(parts)


def mcp(arguments: argparse.Namespace) -> int:
    """Serve until the client is gone; report a server behind us that ends first."""
    from spillover.mcp import serve

    argv = strip_dashes(arguments.command)
    if argv and arguments.url:
        raise UsageError("use only one of a command and --url.")
    if arguments.no_tools and not (argv or arguments.url):
        raise UsageError("--no-tools leaves nothing to serve; name a server to put spill in front of.")
    clipper = make_clipper_or_defaults(arguments, ("tools",))
    headers = parse_headers(arguments.header)
    if headers and not arguments.url:
        raise UsageError("--header needs --url: a server that spill starts reads the environment instead.")
    if os.isatty(0):
        write_error("waiting for an MCP client on stdin; Ctrl-C to stop")
    offer = not arguments.no_tools
    end = serve(clipper, command=argv, url=arguments.url, headers=headers, offer=offer, complain=write_error)
    if end is None:
        return EXIT_OK
    write_error(f"the MCP server {end}")
    return EXIT_SERVER_ENDED


def parse_headers(lines: list[str]) -> dict[str, str]:
    """Return the headers from `NAME: VALUE`; no message repeats a value, which may be secret."""
    headers = {}
    for line in lines:
        name, colon, template = line.partition(":")
        name = name.strip()
        if not colon or not name.isascii() or not name.replace("-", "").replace("_", "").isalnum():
            raise UsageError("--header must be 'NAME: VALUE', for example --header 'Authorization: Bearer $TOKEN'.")
        try:
            value = Template(template).substitute(os.environ).strip()
        except KeyError as error:
            raise UsageError(f"--header {name}: the environment variable {error.args[0]} is not set.") from error
        except ValueError as error:
            raise UsageError(f"--header {name}: write $$ for a $ that begins no name of a variable.") from error
        if not value.isascii() or not value.isprintable():
            raise UsageError(f"--header {name}: the value may only have printable ASCII characters.")
        headers[name] = value
    return headers


def _add_init_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "host",
        nargs="?",
        choices=[host.name for host in HOSTS],
        help="the agent; mcp-json: any host with a file of MCP servers; shell: any agent that has a shell and reads "
        "AGENTS.md",
    )
    parser.add_argument(
        "file", nargs="?", metavar="FILE", help="with mcp-json: the host's file, e.g. ~/.cursor/mcp.json"
    )
    parser.add_argument("--all", action="store_true", help="set up every agent that is installed")
    parser.add_argument("--scope", choices=("user", "project"), help="for all your work, or for this folder only")
    parser.add_argument("--dry-run", action="store_true", help="show what would change, and change nothing")
    parser.add_argument("--uninstall", action="store_true", help="remove what was installed")


def _add_hook_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "host",
        choices=[host.name for host in HOSTS if host.hook],
        help="the agent that sends the call on stdin, as JSON",
    )


def _add_mcp_options(parser: argparse.ArgumentParser) -> None:
    add_selection(parser)
    parser.add_argument("--url", metavar="URL", help="put spill in front of the server at this address (extra: mcp)")
    parser.add_argument(
        "--header",
        action="append",
        default=[],
        metavar="'NAME: VALUE'",
        help="send this header to --url; repeatable. $NAME in the value is an environment variable, $$ is a $",
    )
    parser.add_argument(
        "--no-tools",
        action="store_true",
        help="do not offer read_output and the other tools; if one client has several proxies, use this on all but one",
    )
    parser.add_argument(
        "command",
        nargs=argparse.REMAINDER,
        metavar="-- COMMAND",
        help="put spill in front of the server that this command starts",
    )


COMMANDS = {
    "init": Command(
        "Set up spill in a coding agent, or remove it.",
        _add_init_options,
        init,
        ("spill init claude-code", "spill init opencode --scope project --dry-run", "spill init codex --uninstall"),
        usage="spill init [options] HOST [FILE]\n       spill init [options] --all",
    ),
    "hook": Command(
        "Answer a coding agent after a tool call (set up by `spill init`).",
        _add_hook_options,
        hook,
        ("spill hook claude-code",),
    ),
    "mcp": Command(
        "Serve stored outputs over MCP; clip other servers' results.",
        _add_mcp_options,
        mcp,
        (
            "spill mcp",
            "spill mcp -- npx -y some-server",
            "spill mcp --tokens 4000 --url https://example.com/mcp",
            "spill mcp --url https://host/mcp --header 'Authorization: Bearer $TOKEN'",
        ),
        usage="spill mcp [options] [-- COMMAND [ARGUMENT ...]]",
    ),
}
