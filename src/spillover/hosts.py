"""The agents that may run us: how each announces itself in the environment, and how much of a result it shows."""

from __future__ import annotations

from msgspec import Struct

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
    "Claude Code", "CLAUDECODE", "Bash", {"chars": 30_000 - ASIDE_CHARS}, "2.1.326", {"chars": 10_000 - ASIDE_CHARS}
)
OPENCODE = Host("opencode", "OPENCODE", "bash", {"lines": 1_990, "bytes": 51_200 - 500}, "1.18.33")
COPILOT = Host("Copilot CLI", "COPILOT_CLI", "bash", {"bytes": 18_000}, "1.0.102")  # it cuts at about 20 KB
CLINE = Host("Cline", "CLINE_CONNECTOR_CLI_LAUNCH", "run_commands", {"chars": 8_000 - 500}, "3.0.65")
PI = Host("pi", "PI_CODING_AGENT", "bash", {"lines": 1_990, "bytes": 51_200 - 500}, "0.73")
HOSTS = (
    CLAUDE_CODE,
    OPENCODE,
    Host("Codex", "CODEX_THREAD_ID", "shell", {"bytes": 10_000 - 500}, "0.169"),
    COPILOT,
    CLINE,
    PI,
)
#: Agents that announce themselves and show what a command prints, whatever its size (seen in 0.61).
UNCUT = {"GEMINI_CLI": "Gemini CLI"}


def uncut(environ: Mapping[str, str]) -> list[str]:
    """Return the names of agents that run us and cut nothing, so that the limits are those of the configuration."""
    return [name for variable, name in UNCUT.items() if environ.get(variable)]


def hosts(environ: Mapping[str, str]) -> list[Host]:
    """Return the agents that run us; one may have started another."""
    return [host for host in HOSTS if environ.get(host.variable)]


def name_of(environ: Mapping[str, str]) -> str:
    """Return the name of the agent that runs us; "" where none is known."""
    found = hosts(environ)
    return found[-1].name if found else next((name for key, name in UNCUT.items() if environ.get(key)), "")


def cut_of(environ: Mapping[str, str], *, failing: bool = False) -> Mapping[str, int]:
    """Return how much the agent that runs us shows of a command's output; nothing where that is not known."""
    found = hosts(environ)
    if not found:
        return {}
    return (failing and found[-1].shown_of_failing) or found[-1].shown
