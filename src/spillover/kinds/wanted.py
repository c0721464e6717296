"""What the caller knows of an output, and wants from it: what a selector is told besides the bytes."""

from __future__ import annotations

from msgspec import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.since import Earlier


class Wanted(Struct, frozen=True, kw_only=True):
    """Where an output comes from, what it is asked for, and how much of it is worth showing."""

    name: str = ""  # a file, a command or a tool: the first of these that is known
    tool: str = ""
    command: str = ""
    query: str = ""  # what the caller wants to know
    worth: float = 0.0  # below this expected worth per token, nothing more is shown; 0 fills the limits
    since: Earlier | None = None  # the earlier output that it is told against


NOTHING = Wanted()
