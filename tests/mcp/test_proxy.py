"""`spill mcp -- SERVER` with the official client: the same tools and bounded results, plus our own tools."""

import json

import pytest
from mcp import Client, MCPError
from mcp.client.stdio import stdio_client

from spillover.testing import content

OURS = ["read_output", "grep_output", "outline_output", "list_outputs"]
THEIRS = ["say", "flood", "error", "die", "garbage", "sleep", "spawn", "pid", "raw"]
LINES = "".join(f"{number}: the quick brown fox\n" for number in range(1, 20_001))
CHARS = 2_000


def names(listed):
    return [tool.name for tool in listed.tools]


@pytest.fixture
async def proxy(mcp):
    """Connect to a proxy with a limit of 2,000 characters in front of the standard-library server."""
    held = await mcp.direct(mcp.over_pipes("--chars", CHARS, "--", *mcp.plain))
    yield await held.client()
    await held.close()


async def test_the_list_is_theirs_with_ours_at_its_end_on_one_page(proxy):
    listed = await proxy.list_tools()
    assert names(listed) == [*THEIRS, *OURS]
    assert listed.next_cursor is None
    assert proxy.server_info.name == "plain"


async def test_a_result_is_clipped_and_all_of_it_can_be_read(mcp, proxy):
    result = await proxy.call_tool("flood", {"lines": 20_000})
    [block] = result.content
    assert len(block.text) <= CHARS
    assert block.text.startswith("[Output clipped: ")
    [record] = mcp.store.list()
    assert (record.tool, content(mcp.store, record.ref).decode()) == ("flood", LINES)
    step = block.text.split("Next: ")[1].split("]")[0].split(" · ")[-1]
    assert step.startswith(f'read_output("{record.ref}", lines="')
    back = await proxy.call_tool("read_output", {"ref": record.ref, "lines": step.split('"')[3]})
    assert ": the quick brown fox" in back.content[0].text
    assert len(back.content[0].text) <= CHARS


async def test_what_fits_is_as_it_came(proxy):
    whole = {
        "content": [
            {"type": "text", "text": "ä few wörds", "annotations": {"audience": ["user"], "priority": 0.5}},
            {"type": "image", "data": "QUJD", "mimeType": "image/png"},
            {"type": "resource_link", "uri": "file:///a.txt", "name": "a"},
        ],
        "isError": True,
        "_meta": {"their/own": {"a": 1}},
    }
    result = await proxy.call_tool("say", {"result": whole})
    assert json.loads(result.model_dump_json(by_alias=True, exclude_unset=True)) == whole


@pytest.mark.parametrize(
    "result",
    [{"content": [{"type": "text", "text": LINES}] * 3}, {"content": [], "structuredContent": {"rows": [LINES]}}],
    ids=["texts", "data"],
)
async def test_whatever_a_server_says_is_within_the_limits(proxy, result):
    got = await proxy.call_tool("say", {"result": result})
    assert sum(len(block.text) for block in got.content) <= CHARS
    assert "Output clipped" in got.content[0].text
    assert got.structured_content is None


async def test_an_error_is_an_error_and_short(proxy):
    with pytest.raises(MCPError, match="no such thing"):
        await proxy.call_tool("error", {"error": {"code": -32000, "message": "no such thing"}})
    with pytest.raises(MCPError) as caught:
        await proxy.call_tool("error", {"error": {"code": -32000, "message": LINES, "data": LINES}})
    assert len(caught.value.error.message) <= CHARS
    assert caught.value.error.data is None


#: Lines that a server should not write; ID is the id of the request.
RAW = {
    "broken UTF-8": '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"caf\xe9"}]}}',
    "half a surrogate pair": '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"\\ud83d"}]}}',
    "no number": '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"x","annotations":{"priority":NaN}}]}}',
    "a batch": '[{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"x"}]}}]',
    "not JSON first": 'starting…\n{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"x"}]}}',
    "an answer nobody waits for": '{"jsonrpc":"2.0","id":999999,"result":{}}\n{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}',
}


@pytest.mark.parametrize("line", RAW)
async def test_lines_that_no_server_should_write_are_tolerated(proxy, line):
    result = await proxy.call_tool("raw", {"line": RAW[line].replace("…", "...")})
    assert not result.is_error
    assert len(result.content) <= 1


async def test_garbage_between_messages_goes_to_stderr_bounded(mcp):
    errors = mcp.folder / "stderr"
    with errors.open("w") as file:
        async with Client(stdio_client(mcp.over_pipes("--", *mcp.plain), errlog=file)) as client:
            result = await client.call_tool("garbage", {"bytes": 300_000})
            assert result.content[0].text == "after all"
    told = errors.read_text()
    assert "printed 15 bytes that are not a message: this is no JSON" in told
    assert "printed 300,000 bytes" in told
    assert len(told) < 2_000


async def test_a_rule_for_a_tool_holds(mcp):
    (mcp.folder / "spillover.toml").write_text('[tools.flood]\nkeep = "tail"\nchars = 500\n[tools.say]\nclip = false\n')
    named = {"SPILLOVER_CONFIG": "spillover.toml"}  # a project's own file may not set `clip = false`
    async with mcp.client("--", *mcp.plain, env=named) as client:
        flood = (await client.call_tool("flood", {"lines": 20_000})).content[0].text
        assert len(flood) <= 500
        assert flood.endswith("20000: the quick brown fox\n")
        alone = await client.call_tool("say", {"result": {"content": [{"type": "text", "text": LINES}]}})
        assert alone.content[0].text == LINES


MORE = [
    {"name": "read_output", "inputSchema": {"type": "object"}, "description": "their own"},
    {
        "name": "open",
        "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object", "properties": {"k": {"type": "string"}}},
    },
    {"name": "sized", "inputSchema": {"type": "object"}, "_meta": {"anthropic/maxResultSizeChars": 700}},
]


async def test_names_that_are_taken_are_left_to_the_server_and_ours_get_others(mcp):
    async with mcp.client("--", *mcp.plain, env={"MORE_TOOLS": json.dumps(MORE)}) as client:
        listed = names(await client.list_tools())
        assert listed[-4:] == [f"spill_{name}" for name in OURS]
        assert listed.count("read_output") == 1
        assert (await client.call_tool("read_output", {"x": 1})).content[0].text == 'read_output {"x": 1}'
        flood = (await client.call_tool("flood", {"lines": 20_000})).content[0].text
        assert ' · spill_grep_output("flood-' in flood
        assert ' Next: spill_outline_output("flood-' in flood
        back = await client.call_tool("spill_read_output", {"ref": "last", "lines": "1:2"})
        assert 'Next: spill_read_output("flood-' in back.content[0].text


async def test_schemas_for_data_are_not_listed_and_a_declared_size_is_kept(mcp):
    (mcp.folder / "spillover.toml").write_text("[tools.exact]\nclip = false\n")
    exact = {**MORE[1], "name": "exact"}
    env = {"MORE_TOOLS": json.dumps([*MORE, exact]), "SPILLOVER_CONFIG": "spillover.toml"}
    async with mcp.client("--", *mcp.plain, env=env) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert tools["open"].output_schema is None
        assert tools["exact"].output_schema == MORE[1]["outputSchema"]
        assert tools["sized"].meta == MORE[2]["_meta"]
        long = (await client.call_tool("sized", {"words": "y" * 5_000})).content
        assert len(long[0].text) <= 700


async def test_our_tools_are_there_before_anything_was_listed(mcp):
    async with mcp.client("--", *mcp.plain) as client:
        assert (await client.call_tool("list_outputs")).content[0].text == "[0 of 0 stored outputs.]"


async def test_a_server_without_tools_has_ours(mcp):
    async with mcp.client("--", *mcp.plain, "--no-tools", mode="legacy") as client:
        assert client.server_capabilities.tools is not None
        assert names(await client.list_tools()) == OURS


async def test_with_no_tools_only_those_of_the_server_are_listed(mcp):
    async with mcp.client("--no-tools", "--", *mcp.plain) as client:
        assert names(await client.list_tools()) == THEIRS


async def test_two_clients_have_a_server_each_and_one_store(mcp):
    async with mcp.client("--", *mcp.plain) as one, mcp.client("--", *mcp.plain) as other:
        pids = [(await client.call_tool("pid")).content[0].text for client in (one, other)]
        assert pids[0] != pids[1]
        flood = (await one.call_tool("flood", {"lines": 20_000})).content[0].text
        ref = flood.split("Full output: ")[1].split()[0]
        assert "77: the" in (await other.call_tool("read_output", {"ref": ref, "lines": "77"})).content[0].text
