"""The agents that may run us: how each announces itself in the environment, and how much of a result it shows."""

from __future__ import annotations

import re

from msgspec import Struct

from spillover.settings.limits import Bound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Host(Struct, frozen=True):
    """An agent: how it is announced, what its shell is called there, and how much of a result it shows."""

    name: str
    variable: str
    shell: str
    shown: Mapping[str, int]
    seen_in: str  # the version in which that was seen
    shown_of_failing: Mapping[str, int] | None = None  # of a command with an exit code other than 0, where that is less


#: Room for what Claude Code itself writes below a result.
ASIDE_CHARS = 500
#: Each a little below what the agent cuts; an agent whose cut is not known has no row.
CLAUDE_CODE = Host(
    "Claude Code", "CLAUDECODE", "Bash", {"chars": 30_000 - ASIDE_CHARS}, "2.1.327", {"chars": 10_000 - ASIDE_CHARS}
)
OPENCODE = Host("opencode", "OPENCODE", "bash", {"lines": 1_990, "bytes": 51_200 - 500}, "1.18.33")
COPILOT = Host("Copilot CLI", "COPILOT_CLI", "bash", {"bytes": 18_000}, "1.0.102")  # it cuts at about 20 KB
CLINE = Host("Cline", "CLINE_CONNECTOR_CLI_LAUNCH", "run_commands", {"chars": 8_000 - 500}, "3.0.65")
PI = Host("pi", "PI_CODING_AGENT", "bash", {"lines": 1_990, "bytes": 51_200 - 500}, "0.87.1")
#: 10,000 bytes of a command's output, and 9,000 of a hook's answer, in which the exit code is a line.
CODEX = Host("Codex", "CODEX_THREAD_ID", "shell", {"bytes": 9_000 - 100}, "0.169")
#: 40,000 characters of a command's output, and 2,000 lines of the file that a hook's answer is read from.
GEMINI = Host("Gemini CLI", "GEMINI_CLI", "run_shell_command", {"lines": 1_900, "chars": 40_000 - 1_000}, "0.61")
HOSTS = (CLAUDE_CODE, OPENCODE, CODEX, GEMINI, COPILOT, CLINE, PI)
#: What each says in a result that it has cut itself, before any hook sees it; the group is the path of the whole.
CUTS = {
    CLAUDE_CODE.name: r"^Error: result \([^\n]{1,200} Output has been saved to (/[^\n]{1,1000}?\.(?:txt|json))(?=[\s.,;]|$)",
    OPENCODE.name: r"^\.\.\.output truncated\.\.\.\n\nFull output saved to: (/[^\n]{1,1000})$",
    COPILOT.name: r"\AOutput too large to read at once \([^\n)]{1,40}\)\. Saved to: (/[^\n]{1,1000})$",
    CLINE.name: r"^\[\.\.\. (?:search )?output truncated: \d{1,15} chars total\. [^\n]{1,200} \.\.\.\]$",
    PI.name: r"^\[Showing [^\n]{1,200}\. Full output: (/[^\n\]]{1,1000})\]$",
    CODEX.name: r"\AWarning: truncated output \(original token count: \d{1,15}\)$"
    r"|^\.\.\. command output truncated for persistence \.\.\.$",
    GEMINI.name: r"^\[GEMINI_CLI_WARNING: Output truncated\. The buffer is limited to \d{1,6}MB\.\]$",
}
#: How long `spill hook` may take in each agent: less than the agent, or our plugin in it, waits. Then nothing changes.
HOOK_SECONDS = {
    "claude-code": 50,  # of 60
    "opencode": 25,  # of 30
    "copilot": 25,  # of 30
    "cline": 2,  # of 3, behind which its session ends
    "pi": 25,  # of 30
    "codex": 25,  # of 30
    "gemini": 25,  # of 30
}


def hosts(environ: Mapping[str, str]) -> list[Host]:
    """Return the agents that run us; one may have started another."""
    return [host for host in HOSTS if environ.get(host.variable)]


def bounds(environ: Mapping[str, str]) -> list[Bound]:
    """Return what the agents that run us show of what their shells print, as `load` takes it."""
    return [Bound(host.shell, host.shown, f"{host.name} (as seen in {host.seen_in})") for host in hosts(environ)]


def limits_of_failing(environ: Mapping[str, str]) -> dict[str, int]:
    """Return what the agents that run us show of a command that failed, where that is less than of others."""
    lower = [host.shown_of_failing for host in hosts(environ) if host.shown_of_failing]
    names = {name for each in lower for name in each}
    return {name: min(each[name] for each in lower if name in each) for name in names}


def find_cut(name: str, text: str) -> re.Match[str] | None:
    """Return where an agent says in a result that it has cut it. Only words depend on it: any tool can print the same."""
    return re.search(CUTS[name], text, re.MULTILINE) if name in CUTS else None


def name_of(environ: Mapping[str, str]) -> str:
    """Return the name of the agent that runs us; "" where none is known."""
    found = hosts(environ)
    return found[-1].name if found else ""


def cut_of(environ: Mapping[str, str], *, failing: bool = False) -> Mapping[str, int]:
    """Return how much the agent that runs us shows of a command's output; nothing where that is not known."""
    found = hosts(environ)
    if not found:
        return {}
    return (failing and found[-1].shown_of_failing) or found[-1].shown
