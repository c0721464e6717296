"""What tools there are behind us: under which names, with what promises, and ours among them."""

from __future__ import annotations

from collections import Counter

from spillover.adapters.mcp.fields import NAME_CHARS
from spillover.adapters.mcp.result import MAX_CHARS, Tool
from spillover.adapters.mcp.schema import always_cut
from spillover.adapters.mcp.tools import Offered, bounded_by, hint, offered, prefix_among
from spillover.base.data import dataclass, replace
from spillover.notice.hints import TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from spillover.clipper import Clipper

#: So many tools and methods are remembered with their choices; a server can make up any number of names.
REMEMBERED = 2_000
#: Between the name of a server and that of its tool, where two servers have a tool of one name.
BETWEEN = "__"
#: Where a stateless message says who sends it.
CLIENT_INFO = "io.modelcontextprotocol/clientInfo"
#: Clients whose model reads a result's text and its data, one after the other, also where both say the same (Copilot CLI 1.0.102,
#: Cline 3.0.65).
SHOW_BOTH = frozenset({"copilot-cli", "@cline/core"})


@dataclass(frozen=True, slots=True)
class Entry:
    """A tool of a server's: whose it is, and what it is called there."""

    server: str
    name: str
    listed: Mapping[str, Any]


class Catalog:
    """The tools of all servers and our own; `page` is the answer to tools/list, None while it is not known."""

    def __init__(self, clipper: Clipper, servers: Sequence[str], *, offer: bool = True) -> None:
        self.clipper, self.servers, self.offer = clipper, servers, offer
        self.both_shown = False  # as the client's name says, once it is known
        self.page: dict[str, Any] | None = None
        self.entries: dict[str, Entry] = {}
        self.ours: dict[str, Offered] = {}
        self._tools: dict[str, Tool] = {}

    def meet(self, params: Mapping[str, Any]) -> None:
        """Learn who the client is: from its handshake, or from a stateless message."""
        meta = params.get("_meta")
        about = params.get("clientInfo") or (meta.get(CLIENT_INFO) if isinstance(meta, dict) else None)
        self.both_shown = isinstance(about, dict) and about.get("name") in SHOW_BOTH

    def read(self, pages: Mapping[str, dict[str, Any]], *, modern: bool = False) -> dict[str, Any]:
        """Return the lists of all servers as one, in their order, ours at the end."""
        tools = [Entry(server, str(tool.get("name")), tool) for server, tool in _list_tools(pages)]
        self.entries = named(tools)
        prefix = prefix_among(self.entries)
        self.ours = offered(self.clipper, prefix) if self.offer else {}
        self._tools = {}
        self._hint = hint(prefix)
        listed = [self._listing(name, entry) for name, entry in self.entries.items()]
        rest = next(iter(pages.values()), {}) if len(pages) == 1 else {}
        if modern and not rest:
            rest = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        self.page = {**rest, "tools": [*listed, *(tool.listed for tool in self.ours.values())]}
        return self.page

    def _listing(self, name: str, entry: Entry) -> dict[str, Any]:
        """Return a tool as its server has it: its own name where nobody else has it, and no promise that we could not keep."""
        listed = entry.listed if entry.name == name else {**entry.listed, "name": name}
        if "outputSchema" in listed and self._schema(name, entry) is None:
            listed = {key: value for key, value in listed.items() if key != "outputSchema"}
        return dict(listed)

    def _schema(self, name: str, entry: Entry) -> dict[str, Any] | None:
        schema = entry.listed.get("outputSchema")
        if not isinstance(schema, dict):
            return None
        return schema if self.clipper.leaves_alone(name) or always_cut(schema) else None

    def tool(self, name: str) -> Tool:
        """Return how the results of a tool, or of a method, are clipped."""
        if name not in self._tools:
            if len(self._tools) >= REMEMBERED:
                self._tools.clear()
            entry = self.entries.get(name)
            choices = self.clipper.for_tool(name)
            if self.page is not None and any(way == TOOLS for way in choices.ways):
                choices = replace(choices, hints=[self._hint if way == TOOLS else way for way in choices.ways])
            meta = entry.listed.get("_meta") if entry else None
            self._tools[name] = Tool(
                choices=bounded_by(choices, meta.get(MAX_CHARS) if isinstance(meta, dict) else None),
                schema=self._schema(name, entry) if entry else None,
                left_alone=self.clipper.leaves_alone(name),
                both_shown=self.both_shown,
            )
        return self._tools[name]


def _list_tools(pages: Mapping[str, dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    return [
        (server, tool)
        for server, page in pages.items()
        for tool in page["tools"]
        if isinstance(tool, dict) and len(str(tool.get("name"))) <= NAME_CHARS  # no host would take a longer one
    ]


def named(entries: Sequence[Entry]) -> dict[str, Entry]:
    """Return entries by a unique name: their own, or that with the server's name before it."""
    owners = Counter(name for _, name in {(entry.server, entry.name) for entry in entries})
    return {
        entry.name if owners[entry.name] == 1 else plain(entry.server) + BETWEEN + entry.name: entry
        for entry in entries
    }


def plain(name: str) -> str:
    """Return a server's name, as part of a tool's."""
    return "".join(char if char.isascii() and (char.isalnum() or char in "_-") else "_" for char in name)
