"""The coding agents that spillover is installed into, one per file. This is the only list of them."""

from __future__ import annotations

from collections.abc import Mapping

from spillover.hosts import claude_code, cline, codex, copilot, gemini, opencode, pi, shell
from spillover.hosts.host import Host
from spillover.settings.limits import Agent, Limits

AGENTS = (
    claude_code.HOST,
    opencode.HOST,
    codex.HOST,
    gemini.HOST,
    copilot.HOST,
    cline.HOST,
    pi.HOST,
)
HOSTS = (*AGENTS, shell.SHELL, shell.MCP_JSON)


def find(name: str) -> Host:
    """Return the host of this name."""
    return next(host for host in HOSTS if host.name == name)


def find_client(name: str) -> Host | None:
    """Return the agent that calls itself so when it connects to an MCP server."""
    return next((host for host in AGENTS if host.mcp_client == name), None) if name else None


def detect(environ: Mapping[str, str]) -> list[Host]:
    """Return the agents that run us; one may have started another."""
    return [host for host in AGENTS if environ.get(host.variable)]


def find_agents(environ: Mapping[str, str]) -> list[Agent]:
    """Return the agents that run us, with the facts that settings and the journal need."""
    return [
        Agent(
            title=host.title,
            seen_in=host.seen_in,
            shell_tool=host.shell_tool,
            shows=host.shows,
            shows_failing=host.shows_failing,
        )
        for host in detect(environ)
    ]


def limits_of_failing(environ: Mapping[str, str]) -> Limits | None:
    """Return the limits that the agents that run us have for a command that failed; None where it has no lower ones."""
    lower: Limits | None = None
    for host in detect(environ):
        if host.shows_failing:
            lower = host.shows_failing.lower(lower) if lower else host.shows_failing
    return lower
