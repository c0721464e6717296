"""What tools there are: those of the server behind us, and ours."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from spillover.adapters.mcp.result import NAME_CHARS
from spillover.adapters.mcp.tools import Offered, bounded_by, hint, offered, prefix_among
from spillover.notice.hints import TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from spillover.choices import Choices
    from spillover.clipper import Clipper

#: So many tools and methods are remembered with their choices; a server can make up any number of names.
REMEMBERED = 2_000
#: How Claude Code lets a server say how much of a tool's result may stand in the conversation.
MAX_CHARS = "anthropic/maxResultSizeChars"


class Tool(Struct, frozen=True):
    """How the results of a tool, or of a method, are clipped."""

    choices: Choices
    left_alone: bool


class Catalog:
    """The tools of the server and our own; `page` is the answer to tools/list, None while it is not known."""

    def __init__(self, clipper: Clipper, *, offer: bool = True) -> None:
        self.clipper, self.offer = clipper, offer
        self.page: dict[str, Any] | None = None
        self.theirs: dict[str, dict[str, Any]] = {}
        self.ours: dict[str, Offered] = {}
        self._tools: dict[str, Tool] = {}

    def read(self, page: dict[str, Any], *, modern: bool = False) -> dict[str, Any]:
        """Return the server's list, in its order, with ours at the end; an empty page if there is no such list."""
        # No host would take a longer name.
        self.theirs = {
            str(tool.get("name")): tool
            for tool in page.get("tools", ())
            if isinstance(tool, dict) and len(str(tool.get("name"))) <= NAME_CHARS
        }
        prefix = prefix_among(self.theirs)
        self.ours = offered(self.clipper, prefix) if self.offer else {}
        self._tools = {}
        self._hint = hint(prefix)
        if modern and not page:
            page = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        listed = [self._listing(name) for name in self.theirs]
        self.page = {**page, "tools": [*listed, *(tool.listed for tool in self.ours.values())]}
        return self.page

    def _listing(self, name: str) -> dict[str, Any]:
        """Return a tool as its server has it, without its schema for data: data that does not fit becomes text."""
        listed = self.theirs[name]
        if self.clipper.leaves_alone(name):
            return listed
        return {key: value for key, value in listed.items() if key != "outputSchema"}

    def tool(self, name: str) -> Tool:
        """Return how the results of a tool, or of a method, are clipped."""
        if name not in self._tools:
            if len(self._tools) >= REMEMBERED:
                self._tools.clear()
            choices = self.clipper.for_tool(name)
            if self.page is not None and any(way == TOOLS for way in choices.ways):
                choices = replace(choices, hints=[self._hint if way == TOOLS else way for way in choices.ways])
            meta = self.theirs.get(name, {}).get("_meta")
            bounded = bounded_by(choices, meta.get(MAX_CHARS) if isinstance(meta, dict) else None)
            self._tools[name] = Tool(bounded, self.clipper.leaves_alone(name))
        return self._tools[name]
