"""MCP: a server with our tools, and a proxy that clips what other servers answer. Over pipes this needs no package.

Neighbours import `Server`, `servers_in` and `serve` from here, and nothing from the modules inside. Importing this does
no work: each name is loaded when it is first used.

    message    JSON-RPC messages, and nothing about MCP
    schema     data cut so that it still satisfies its JSON schema
    structured the data beside the text of a result, by the same choice
    result     what a server answers, within the limits
    answer     an answer on its way to the client
    tools      read_output, grep_output, … as MCP tools
    catalog    the tools of all servers under one set of names
    ask        requests to the servers, and who waits for them
    calling    what a client wants of tools and stored outputs
    finishing  what servers answer, finished and sent on
    many       several servers that look like one
    relay      one client, the servers behind us, and what passes between them
    errors     what servers write to stderr
    stdio      lines over pipes, and servers that we run
    sdk        the official SDK, 1.x and 2.x (extra: mcp)
    url        a server at a URL (extra: mcp)
    servers    which servers there are
    run        serve(): everything above put together
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.adapters.mcp.run import serve as serve
    from spillover.adapters.mcp.servers import Server as Server
    from spillover.adapters.mcp.servers import servers_in as servers_in

_WHERE = {
    "Server": f"{__name__}.servers",
    "servers_in": f"{__name__}.servers",
    "serve": f"{__name__}.run",
}

__all__ = sorted(_WHERE)  # noqa: PLE0605  it is a list


def __getattr__(name: str) -> object:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_WHERE[name]), name)
    globals()[name] = value
    return value
