"""`spill init`: put spill into the configuration of a host, or take it out."""

from __future__ import annotations

import os
from textwrap import fill

from spillover.adapters.install.files import Change, apply, plan_install, plan_removal
from spillover.adapters.install.hosts import FILE_HOST, HOSTS, LINES, targets, tell_offering
from spillover.cli import exits
from spillover.cli.output import complain, put
from spillover.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


#: The narrowest terminal that is usual.
COLUMNS = 79
#: What happens next in each host, and what is left to do by hand.
THEN = {
    "claude-code": "Results that are too long reach the model shortened, and all of each is kept. CLAUDE.md tells the model to run noisy commands as `spill run -- COMMAND`; permission rules see that line as it is. It takes effect in new sessions.",
    "opencode": "Results that are too long reach the model shortened, and all of each is kept. It takes effect when opencode is restarted.",
    "codex": "Results that are too long reach the model shortened, and what the hook sees of each is kept. Codex runs the hook only after you have trusted it: start `codex` and choose to trust it, there or under /hooks. Until then `codex exec` leaves it out without a word.",
    "gemini": "Results that are too long reach the model shortened, and all of each is kept. It takes effect in new sessions.",
    "copilot": "Results that are too long reach the model shortened, and all of each is kept. It takes effect in new sessions.",
    "cline": "Results that are too long reach the model shortened, and what the plugin sees of each is kept. It takes effect in new sessions.",
    "pi": "Results that are too long reach the model shortened, and all of each is kept. It takes effect when pi is restarted, or after /reload.",
    "shell": "Agents that read these files now know about `spill run` and `spill sh`.",
    FILE_HOST: "Restart the host. It can then read stored outputs through `spill mcp`.",
}
#: What each host does not let us do, as seen with the version that docs/adapters names.
CANNOT = {
    "claude-code": "Claude Code cuts the output of a failing command to 10,000 characters, keeps the rest nowhere, and lets no hook replace it. All of it is kept only if the model ran the command in `spill run` or `spill sh`.",
    "opencode": "opencode cuts a command's output at 50 KB before the plugin sees it; the plugin reads all of it from opencode's own file.",
    "codex": "Codex cuts a command's output before it calls the hook, and keeps 64 KB of it at most; what was cut is kept only if it ran in `spill run` or `spill sh`. What a script of the model's reads (code mode), and MCP results that are errors, no hook can replace.",
    "gemini": "Results are replaced by way of `read_file`: where your settings or policies exclude it, and for results with images, nothing changes.",
    "copilot": "Copilot CLI cuts at 20 KB before it calls the hook; the hook copies all of it from Copilot's own file, which is gone after the session. Where it cannot, and for MCP results that are errors, it says that there is only a preview or changes nothing.",
    "cline": "Cline cuts a command's output at 48,000 characters before the plugin sees it, and keeps the rest nowhere: the notice calls it a preview. All of it is kept only if the model ran the command in `spill run` or `spill sh`. A hook that takes 2 s changes nothing. The editor extension was not tried.",
    "pi": "pi cuts at 50 KB before the extension sees it; the extension reads all of it from pi's own file. For a failing command, it finds that file through pi's message.",
    "shell": "A model may forget to use it.",
    FILE_HOST: "Results of other servers are clipped only if `spill mcp` runs in front of them: `spill mcp -- COMMAND`.",
}
#: Where each host would be, for --all.
FOUND_BY = {
    "claude-code": (".claude", "claude"),
    "opencode": (".config/opencode", "opencode"),
    "codex": (".codex", "codex"),
    "gemini": (".gemini", "gemini"),
    "copilot": (".copilot", "copilot"),
    "cline": (".cline", "cline"),
    "pi": (".pi", "pi"),
}


def init(arguments: argparse.Namespace) -> int:
    """Change each file and say so; with --dry-run, only say so."""
    if arguments.all == (arguments.host is not None):
        raise UsageError(
            f"name one agent ({', '.join(HOSTS)}, {FILE_HOST}), or use --all for those that are installed."
        )
    if arguments.file is not None and arguments.host != FILE_HOST:
        raise UsageError(f"{arguments.file!r:.80} is not expected here: FILE is only for {FILE_HOST}.")
    if arguments.host == "shell" and arguments.scope is None and not arguments.uninstall:
        put(LINES)
        return exits.OK
    chosen = [arguments.host] if arguments.host else _find_hosts()
    if not chosen:
        put("No supported agent was found in your home folder or on your PATH.\n")
    for host in chosen:
        if arguments.all:
            put(f"{host}:\n")
        _init(host, arguments)
    return exits.OK


def _init(host: str, arguments: argparse.Namespace) -> None:
    scope = arguments.scope or ("project" if host == "shell" else "user")
    plan = plan_removal if arguments.uninstall else plan_install
    # Everything is known to be possible before anything is changed.
    found = targets(host, scope, os.environ, os.getcwd(), file=arguments.file)
    if host == FILE_HOST and not arguments.uninstall:
        _check_folder(os.path.dirname(found[0].path))
    changes = [plan(target) for target in found]
    for change in changes:
        if not arguments.dry_run:
            apply(change)
        put(_describe(change, would=arguments.dry_run))
        if arguments.dry_run:
            put(_difference(change))
    if not arguments.uninstall and not arguments.dry_run:
        place = " --scope project" * (arguments.scope == "project") + f" {arguments.file}" * (
            arguments.file is not None
        )
        for title, words in (
            ("Now", THEN[host]),
            ("Not", CANNOT[host]),
            ("Undo", f"spill init {host}{place} --uninstall"),
        ):
            put(
                fill(
                    words,
                    COLUMNS,
                    initial_indent=f"{title + ':':6}",
                    subsequent_indent=" " * 6,
                    break_on_hyphens=False,
                    break_long_words=False,
                )
                + "\n"
            )
        for change in changes:
            if said := tell_offering(change.path):
                put(said + "\n")
        _warn()


def _check_folder(folder: str) -> None:
    """Refuse a folder that is not there: no host would read a file in one that was mistyped."""
    if not os.path.isdir(folder):
        from shlex import quote

        raise UsageError(f"there is no folder {folder}; check the path, or make it first: mkdir -p {quote(folder)}")


def _find_hosts() -> list[str]:
    """Return the agents that are installed: by their folder, or on the PATH."""
    from shutil import which

    home = os.environ.get("HOME") or os.path.expanduser("~")
    return [
        host for host, (folder, name) in FOUND_BY.items() if os.path.isdir(os.path.join(home, folder)) or which(name)
    ]


def _describe(change: Change, *, would: bool) -> str:
    if change.nothing:
        return f"nothing to do: {change.path}\n"
    verb = "write" if change.before is None else "remove" if change.after is None else "change"
    done = {"write": "wrote", "remove": "removed", "change": "changed"}[verb]
    return f"would {verb} {change.path}\n" if would else f"{done} {change.path}\n"


def _difference(change: Change) -> str:
    from difflib import unified_diff  # only for somebody who looks first

    lines = unified_diff((change.before or "").splitlines(), (change.after or "").splitlines(), n=2, lineterm="")
    return "".join(f"  {line}\n" for line in list(lines)[2:])


def _warn() -> None:
    from shutil import which

    if which("spill") is None:
        complain("`spill` is not on your PATH, and agents call it by that name; see `spill doctor`.")
