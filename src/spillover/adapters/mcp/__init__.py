"""MCP: a server with our tools, and a proxy that clips what another server answers. Over pipes this needs no package.

message    JSON-RPC messages, and nothing about MCP
result     what a server sends, within the limits
answer     an answer on its way to the client
tools      read_output, grep_output, … as MCP tools
catalog    the tools of the server, and ours
relay      one client, the server behind us, and what passes between them
stdio      lines over pipes, and a server that we run
url        a server at a URL (extra: mcp)
run        serve(): everything above put together
"""
