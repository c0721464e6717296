"""Several servers behind one `spill mcp`: one list, one handshake, and each request goes to the right server."""

import json

import pytest
from mcp import MCPError
from mcp.types import CreateMessageResult, ElicitResult, ListRootsResult, PromptReference, Root, TextContent

from spillover import UsageError
from spillover.adapters.mcp import servers_in

pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")


def entry(command, **more):
    return {"command": command[0], "args": command[1:], **more}


def said(result):
    return result.content[0].text


async def test_servers_of_a_file_are_one(mcp):
    extra = json.dumps(
        [{"name": "flood", "inputSchema": {"type": "object"}}, {"name": "extra", "inputSchema": {"type": "object"}}]
    )
    path = mcp.servers(
        one=entry(mcp.plain, env={"MORE_TOOLS": extra}),
        other=entry(mcp.plain),
        real=entry(mcp.sdk),
        broken=entry(["/no/such/server"]),
    )

    async def sampled(context, params):
        return CreateMessageResult(role="assistant", content=TextContent(type="text", text="a model"), model="m")

    async def elicited(context, params):
        return ElicitResult(action="accept", content={"name": "Ada"})

    async def rooted(context):
        return ListRootsResult(roots=[Root(uri="file:///r")])

    held = await mcp.direct(
        mcp.over_pipes("--servers", path),
        sampling_callback=sampled,
        elicitation_callback=elicited,
        list_roots_callback=rooted,
    )
    client = await held.client()
    assert client.server_info.name == "spillover"
    assert client.protocol_version == "2025-11-25"
    assert client.instructions == "real: Flood me."
    tools = [tool.name for tool in (await client.list_tools()).tools]
    assert "extra" in tools
    assert {"one__say", "other__say", "one__flood", "other__flood", "real__flood", "table"} <= set(tools)
    assert not {"say", "flood"} & set(tools)
    assert tools[-4:] == ["read_output", "grep_output", "outline_output", "list_outputs"]
    # Each call goes to the right server, and its result is clipped.
    assert said(await client.call_tool("one__pid")) != said(await client.call_tool("other__pid"))
    assert said(await client.call_tool("extra", {"a": 1})) == 'extra {"a": 1}'
    flood = said(await client.call_tool("real__flood"))
    assert "Full output: real__flood-" in flood
    assert len(flood.encode()) <= 51_200
    # Servers ask back and get answers with their own ids.
    assert said(await client.call_tool("sample")) == "it said a model"
    assert said(await client.call_tool("elicit")) == "accept Ada"
    assert said(await client.call_tool("roots")) == "file:///r"
    # Features that only one server has are found.
    assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["ask"]
    assert len((await client.get_prompt("ask", {"topic": "foxes"})).messages) == 2
    values = await client.complete(PromptReference(type="ref/prompt", name="ask"), {"name": "topic", "value": "q"})
    assert values.completion.values == ["qx", "qy"]
    assert (await client.read_resource("text://ada/hello")).contents[0].text == "hello ada"
    assert len((await client.read_resource("text://flood")).contents[0].text) <= 51_200
    with pytest.raises(MCPError, match="Unknown prompt"):
        await client.get_prompt("nothing")
    with pytest.raises(MCPError, match="Unknown tool"):
        await client.call_tool("nothing")
    # A server that dies does not affect the others.
    with pytest.raises(MCPError, match="one ended with exit code 3 during this call"):
        await client.call_tool("one__die")
    with pytest.raises(MCPError, match="one ended with exit code 3"):
        await client.call_tool("one__pid")
    assert said(await client.call_tool("other__pid")).isdecimal()
    await held.close()


def test_a_file_of_servers_as_hosts_have_it(tmp_path):
    path = tmp_path / "servers.json"
    path.write_text(
        json.dumps(
            {
                "mcpServers": {
                    "files": {"command": "npx", "args": ["-y", "server", "${HERE}"], "env": {"KEY": "${KEY:-none}"}},
                    "far": {"url": "https://${HOST}/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
                }
            }
        )
    )
    files, far = servers_in(str(path), {"HERE": "/srv", "HOST": "example.com", "TOKEN": "t"})
    assert (files.name, files.argv, files.env) == ("files", ["npx", "-y", "server", "/srv"], {"KEY": "none"})
    assert (far.url, far.headers) == ("https://example.com/mcp", {"Authorization": "Bearer t"})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "cannot be read"),
        ("{}", "names no servers"),
        ('{"mcpServers": {}}', "names no servers"),
        ('{"mcpServers": {"a": {"args": []}}}', "'a' has neither"),
        ('{"mcpServers": {"a": 3}}', "'a' has neither"),
    ],
)
def test_a_file_that_says_nothing_useful_is_refused(tmp_path, text, words):
    path = tmp_path / "servers.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=words):
        servers_in(str(path))


def test_a_file_of_servers_may_have_comments_and_say_which_are_off(tmp_path):
    path = tmp_path / "servers.json"
    path.write_text(
        '{ // mine\n "mcpServers": {"a": {"command": "x", "args": ["//y"],}, "b": {"command": "y", "disabled": true},'
        ' "c": {"command": "z", "enabled": false}, }, }'
    )
    assert [(server.name, list(server.argv)) for server in servers_in(str(path), {})] == [("a", ["x", "//y"])]
    path.write_text('{"mcpServers": {"b": {"command": "y", "disabled": true}}}')
    with pytest.raises(UsageError, match=r"every server in .* is disabled"):
        servers_in(str(path), {})


@pytest.mark.parametrize("entry", [{"type": "sse", "url": "http://h/x"}, {"url": "http://h/sse?k=1"}])
def test_a_server_that_speaks_sse_is_refused_with_what_to_do(tmp_path, entry):
    path = tmp_path / "servers.json"
    path.write_text(json.dumps({"mcpServers": {"old": entry}}))
    with pytest.raises(UsageError, match=r"'old' uses SSE.*streamable HTTP"):
        servers_in(str(path), {})
