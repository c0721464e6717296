"""The coding agents that spillover is installed into: what is known of each, as seen in one version of it (`make hosts`)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from spillover.settings.limits import Bound


class Host(Struct, frozen=True, kw_only=True):
    """An agent. How its hook is answered is in the module of `adapters` with the same name."""

    id: str  # `spill init ID`, `spill hook ID`
    name: str
    seen_in: str  # its version
    variable: str  # by which it announces itself to its shells
    shell_tool: str  # its tool for commands
    shown: Mapping[str, int]  # of a result: a little below what it cuts
    shown_of_failing: Mapping[str, int] | None = None  # of a command with an exit code other than 0, where that is less
    cut: str  # what it says in a result that it has cut itself, before any hook sees it; the group is the path of the whole
    hook_seconds: int  # for `spill hook`: less than the agent, or our plugin in it, waits
    project_variable: str = ""  # which names the folder that a session began in
    folder: str  # in the home of those who use it
    program: str
    works: str  # what `spill init` says: what is done now, and what is left to do by hand ...
    cannot: str  # ... and what the agent does not let us do


_CLIPPED = "Tool results that are too long reach the model clipped, and each is stored in full."
_CLIPPED_AS_SEEN = "Tool results that are too long reach the model clipped, and what the hook sees of each is stored."
#: Room for what Claude Code itself writes below a result.
ASIDE_CHARS = 500
CLAUDE_CODE = Host(
    id="claude-code",
    name="Claude Code",
    seen_in="2.1.327",
    variable="CLAUDECODE",
    shell_tool="Bash",
    shown={"chars": 30_000 - ASIDE_CHARS},
    shown_of_failing={"chars": 10_000 - ASIDE_CHARS},
    cut=r"^Error: result \([^\n]{1,200} Output has been saved to (/[^\n]{1,1000}?\.(?:txt|json))(?=[\s.,;]|$)",
    hook_seconds=50,  # of 60
    project_variable="CLAUDE_PROJECT_DIR",
    folder=".claude",
    program="claude",
    works=f"{_CLIPPED} CLAUDE.md tells the model to run noisy commands as `spill run -- COMMAND`, and permission rules "
    "see that line as it is. New sessions use it.",
    cannot="Claude Code cuts the output of a failing command to 10,000 characters, stores the rest nowhere, and no hook "
    "can replace it. All of it is stored only if the command ran in `spill run` or `spill sh`.",
)
OPENCODE = Host(
    id="opencode",
    name="opencode",
    seen_in="1.18.33",
    variable="OPENCODE",
    shell_tool="bash",
    shown={"lines": 1_990, "bytes": 51_200 - 500},
    cut=r"^\.\.\.output truncated\.\.\.\n\nFull output saved to: (/[^\n]{1,1000})$",
    hook_seconds=25,  # of 30
    folder=".config/opencode",
    program="opencode",
    works=f"{_CLIPPED} Restart opencode to use it.",
    cannot="opencode cuts a command's output at 50 KB before the plugin sees it; the plugin reads the rest from "
    "opencode's own file. Without a network, opencode waits for npm for a minute when it starts, as with any plugin.",
)
CODEX = Host(
    id="codex",
    name="Codex",
    seen_in="0.169",
    variable="CODEX_THREAD_ID",
    shell_tool="shell",
    # 10,000 bytes of a command's output, and 9,000 of a hook's answer, in which the exit code is a line.
    shown={"bytes": 9_000 - 100},
    cut=r"\AWarning: truncated output \(original token count: \d{1,15}\)$"
    r"|^\.\.\. command output truncated for persistence \.\.\.$",
    hook_seconds=25,  # of 30
    folder=".codex",
    program="codex",
    works=f"{_CLIPPED_AS_SEEN} Codex runs the hook only after you have trusted it: start `codex` and choose to trust "
    "it, there or under /hooks. Until then, `codex exec` skips it without a word.",
    cannot="Codex cuts a command's output before it calls the hook, and keeps at most 64 KB of it; the rest is stored "
    "only if the command ran in `spill run` or `spill sh`. No hook can replace what a script of the model reads (code "
    "mode), nor MCP results that are errors.",
)
GEMINI = Host(
    id="gemini",
    name="Gemini CLI",
    seen_in="0.61",
    variable="GEMINI_CLI",
    shell_tool="run_shell_command",
    # 40,000 characters of a command's output, and 2,000 lines of the file that a hook's answer is read from.
    shown={"lines": 1_900, "chars": 40_000 - 1_000},
    cut=r"^\[GEMINI_CLI_WARNING: Output truncated\. The buffer is limited to \d{1,6}MB\.\]$",
    hook_seconds=25,  # of 30
    project_variable="GEMINI_PROJECT_DIR",
    folder=".gemini",
    program="gemini",
    works=f"{_CLIPPED} New sessions use it.",
    cannot="Results are replaced through the tool `read_file`. If your settings or policies exclude it, or if a result "
    "has images, nothing changes.",
)
COPILOT = Host(
    id="copilot",
    name="Copilot CLI",
    seen_in="1.0.102",
    variable="COPILOT_CLI",
    shell_tool="bash",
    shown={"bytes": 18_000},  # it cuts at about 20 KB
    cut=r"\AOutput too large to read at once \([^\n)]{1,40}\)\. Saved to: (/[^\n]{1,1000})$",
    hook_seconds=25,  # of 60, as our entry says; of 30 otherwise
    folder=".copilot",
    program="copilot",
    works=f"{_CLIPPED} New sessions use it.",
    cannot="Copilot CLI cuts at 20 KB before it calls the hook. The hook copies the whole output from Copilot's own "
    "file, which is gone after the session; if it cannot, the notice says that there is only a preview. MCP results that "
    "are errors cannot be replaced.",
)
CLINE = Host(
    id="cline",
    name="Cline",
    seen_in="3.0.65",
    variable="CLINE_CONNECTOR_CLI_LAUNCH",
    shell_tool="run_commands",
    shown={"chars": 8_000 - 500},
    cut=r"^\[\.\.\. (?:search )?output truncated: \d{1,15} chars total\. [^\n]{1,200} \.\.\.\]$",
    hook_seconds=2,  # of 3, behind which its session ends
    folder=".cline",
    program="cline",
    works=f"{_CLIPPED_AS_SEEN} New sessions use it.",
    cannot="Cline cuts a command's output at 48,000 characters before the plugin sees it, and stores the rest nowhere: "
    "the notice calls it a preview. All of it is stored only if the command ran in `spill run` or `spill sh`. If "
    "clipping takes more than 2 s, nothing changes. The editor extension was not tried.",
)
PI = Host(
    id="pi",
    name="pi",
    seen_in="0.87.1",
    variable="PI_CODING_AGENT",
    shell_tool="bash",
    shown={"lines": 1_990, "bytes": 51_200 - 500},
    cut=r"^\[Showing [^\n]{1,200}\. Full output: (/[^\n\]]{1,1000})\]$",
    hook_seconds=25,  # of 30
    folder=".pi",
    program="pi",
    works=f"{_CLIPPED} Restart pi or type /reload to use it.",
    cannot="pi cuts at 50 KB before the extension sees it; the extension reads the rest from pi's own file. If the "
    "command failed, only pi's message names that file.",
)
HOSTS = (CLAUDE_CODE, OPENCODE, CODEX, GEMINI, COPILOT, CLINE, PI)
CUTS = {host.name: host.cut for host in HOSTS}
#: By `Host.id`. When so much time has passed, nothing changes.
HOOK_SECONDS = {host.id: host.hook_seconds for host in HOSTS}


def hosts(environ: Mapping[str, str]) -> list[Host]:
    """Return the agents that run us; one may have started another."""
    return [host for host in HOSTS if environ.get(host.variable)]


def bounds(environ: Mapping[str, str]) -> list[Bound]:
    """Return what the agents that run us show of what their shells print, as `load` takes it."""
    return [Bound(host.shell_tool, host.shown, f"{host.name} (as seen in {host.seen_in})") for host in hosts(environ)]


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
