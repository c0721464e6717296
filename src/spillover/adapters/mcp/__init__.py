"""MCP: a server with our tools, and a proxy that clips what another server answers. Over pipes this needs no package.

message    JSON-RPC messages, and nothing about MCP
schema     data cut so that it still satisfies its JSON schema
fields     strings of a message that are no text of a result
structured the data beside the text of a result, by the same choice
result     what a server answers, within the limits
answer     an answer on its way to the client
tools      read_output, grep_output, … as MCP tools
catalog    the tools of the server, and ours
relay      one client, the server behind us, and what passes between them
stdio      lines over pipes, and a server that we run
url        a server at a URL (extra: mcp)
run        serve(): everything above put together
"""
