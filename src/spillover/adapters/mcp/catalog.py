"""What tools there are: those of the server behind us, with what promises, and ours."""

from __future__ import annotations

from msgspec.structs import replace

from spillover.adapters.mcp.fields import NAME_CHARS
from spillover.adapters.mcp.result import MAX_CHARS, Tool
from spillover.adapters.mcp.schema import always_cut
from spillover.adapters.mcp.tools import Offered, bounded_by, hint, offered, prefix_among
from spillover.notice.hints import TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from spillover.clipper import Clipper

#: So many tools and methods are remembered with their choices; a server can make up any number of names.
REMEMBERED = 2_000
#: Where a stateless message says who sends it.
CLIENT_INFO = "io.modelcontextprotocol/clientInfo"
#: Clients whose model reads a result's text and its data, one after the other, also where both say the same (Copilot CLI 1.0.102,
#: Cline 3.0.65).
SHOW_BOTH = frozenset({"copilot-cli", "@cline/core"})


class Catalog:
    """The tools of the server and our own; `page` is the answer to tools/list, None while it is not known."""

    def __init__(self, clipper: Clipper, *, offer: bool = True) -> None:
        self.clipper, self.offer = clipper, offer
        self.both_shown = False  # as the client's name says, once it is known
        self.page: dict[str, Any] | None = None
        self.theirs: dict[str, dict[str, Any]] = {}
        self.ours: dict[str, Offered] = {}
        self._tools: dict[str, Tool] = {}

    def meet(self, params: Mapping[str, Any]) -> None:
        """Learn who the client is: from its handshake, or from a stateless message."""
        meta = params.get("_meta")
        about = params.get("clientInfo") or (meta.get(CLIENT_INFO) if isinstance(meta, dict) else None)
        self.both_shown = isinstance(about, dict) and about.get("name") in SHOW_BOTH

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
        """Return a tool as its server has it, without a promise that we could not keep."""
        listed = self.theirs[name]
        if "outputSchema" in listed and self._schema(name) is None:
            return {key: value for key, value in listed.items() if key != "outputSchema"}
        return listed

    def _schema(self, name: str) -> dict[str, Any] | None:
        schema = self.theirs.get(name, {}).get("outputSchema")
        if not isinstance(schema, dict):
            return None
        return schema if self.clipper.leaves_alone(name) or always_cut(schema) else None

    def tool(self, name: str) -> Tool:
        """Return how the results of a tool, or of a method, are clipped."""
        if name not in self._tools:
            if len(self._tools) >= REMEMBERED:
                self._tools.clear()
            choices = self.clipper.for_tool(name)
            if self.page is not None and any(way == TOOLS for way in choices.ways):
                choices = replace(choices, hints=[self._hint if way == TOOLS else way for way in choices.ways])
            meta = self.theirs.get(name, {}).get("_meta")
            self._tools[name] = Tool(
                choices=bounded_by(choices, meta.get(MAX_CHARS) if isinstance(meta, dict) else None),
                schema=self._schema(name),
                left_alone=self.clipper.leaves_alone(name),
                both_shown=self.both_shown,
            )
        return self._tools[name]
