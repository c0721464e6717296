"""The commands that flood most, and the rule that would tame each: a table that can be pasted into spillover.toml. Pure."""

from __future__ import annotations

from msgspec import Struct

from spillover.rules import commands_in, matches_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.ledger.stats import Group, Stats

#: How figures have to be grouped for this.
BY = ("command", "tool")
#: So many are named.
MOST = 10
#: A rule halves what a call leaves in the context, but is never looser or tighter than this.
TOKENS = (300, 1_500)
#: Calls that leave less than this on average are no flood.
LEAST = 1_000
#: Programs whose first argument says what they do.
WITH_SUBCOMMAND = frozenset(
    [
        "git",
        "cargo",
        "go",
        "docker",
        "kubectl",
        "npx",
        "uv",
        "uvx",
        "poetry",
        "sudo",
        "bundle",
        "dotnet",
        "gradle",
        "mvn",
        "terraform",
        "helm",
        "python",
        "python3",
    ]
)


class Flood(Struct, frozen=True):
    """A command, or a tool, that leaves much in the context, and a rule for it."""

    command: str  # "" for a tool that runs none
    tool: str
    calls: int
    received: int  # tokens that reached the model
    pattern: str  # of the rule: `npm *` for a command, the name of a tool
    tokens: int  # the limit of the rule

    @property
    def rule(self) -> str:
        """The rule, as it stands in a file."""
        return f"[tools.{_quote(self.pattern)}]\ntokens = {self.tokens}\n"

    @property
    def saves(self) -> int:
        """Tokens that it would have saved, had every call left the same."""
        return max(0, self.received - self.calls * self.tokens)


def tame(stats: Stats) -> list[Flood]:
    """Return what floods most, from figures by command and tool; one for each rule."""
    floods: dict[str, Flood] = {}
    for group in stats.groups:
        flood = _flood(group)
        if flood is None:
            continue
        held = floods.get(flood.pattern)
        floods[flood.pattern] = flood if held is None else _join(held, flood)
    wanted = (flood for flood in floods.values() if flood.saves and flood.received >= flood.calls * LEAST)
    return sorted(wanted, key=lambda flood: (-flood.received, flood.pattern))[:MOST]


def _flood(group: Group) -> Flood | None:
    command, tool = group.names
    sums = group.sums
    received = sums.shown + sums.notices
    if not sums.clips or not (command or tool):
        return None
    pattern = pattern_for(command) if command else tool
    return Flood(command, tool, sums.clips, received, pattern, _limit(received / sums.clips))


def _join(one: Flood, other: Flood) -> Flood:
    larger = one if one.received >= other.received else other
    calls, received = one.calls + other.calls, one.received + other.received
    return Flood(larger.command, larger.tool, calls, received, one.pattern, _limit(received / calls))


def _limit(each: float) -> int:
    least, most = TOKENS
    return min(most, max(least, int(each / 2) // 100 * 100))


def pattern_for(command: str) -> str:
    """Return the pattern of a rule for a command line: the program, and what it is to do where that is what matters."""
    pieces = commands_in(command)
    piece = next(
        (piece for piece in pieces if piece.split(" ", 1)[0] not in ("cd", "export", "set", "source")), command
    )
    words = piece.split()
    count = 1
    if words and words[0] in WITH_SUBCOMMAND:
        count = 3 if words[1:2] == ["-m"] else 2
    pattern = " ".join(_escape(word) for word in words[:count]) + " *"
    return pattern if matches_command(pattern, command) else _escape(command)


def _escape(word: str) -> str:
    """Return a word as a pattern that means nothing but itself."""
    return "".join(f"[{char}]" if char in "*?[" else char for char in word)


def _quote(pattern: str) -> str:
    """Return a pattern as a key of TOML."""
    return '"' + pattern.replace("\\", "\\\\").replace('"', '\\"') + '"'
