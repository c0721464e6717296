"""`spill mcp` on its own: reading stored outputs with the official client."""

import json
import subprocess
import sys

import pytest
from mcp import MCPError

from spillover import Clipper, Limits
from spillover.mcp.relay import ANSWER_CHARS, own_tools
from spillover.testing import put

LINES = b"".join(b"%d: the quick brown fox\n" % number for number in range(1, 5_001))
NAMES = ["read_output", "grep_output", "outline_output", "list_outputs"]
PROTOCOLS = {"auto": "2026-07-28", "legacy": "2025-11-25"}


@pytest.fixture
def ref(mcp):
    return put(mcp.store, LINES, tool="bash", scope=str(mcp.folder.resolve())).ref  # the folder of `spill mcp`


def said(result):
    [block] = result.content
    return block.text


@pytest.mark.parametrize("mode", PROTOCOLS)
async def test_a_model_goes_back_over_pipes(mcp, ref, mode):
    async with mcp.client(mode=mode) as client:
        assert client.protocol_version == PROTOCOLS[mode]
        assert client.server_info.name == "spillover"
        assert [tool.name for tool in (await client.list_tools()).tools] == NAMES
        assert said(await client.call_tool("read_output", {"ref": ref, "lines": "7:8"})).startswith("7: 7: the quick")
        assert "4321" in said(await client.call_tool("grep_output", {"ref": ref, "pattern": "^4321:"}))
        assert "5,000" in said(await client.call_tool("outline_output", {"ref": ref}))
        assert ref in said(await client.call_tool("list_outputs", {"tool": "bash"}))


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("read_output", {"ref": "bash-000000000000"}, "list_outputs() shows what is stored"),
        ("read_output", {"ref": "../../etc/passwd"}, "etc"),
        ("read_output", {}, "argument ref is missing"),
        ("read_output", {"ref": "last", "lines": {"page": 1}}, "is not a range of lines; write"),
        ("read_output", {"ref": "last", "page": 1}, "unknown argument 'page'"),
        ("grep_output", {"ref": "last", "pattern": "("}, "("),
        ("grep_output", {"ref": "last", "pattern": "x", "context": "many"}, "is not an integer"),
    ],
)
async def test_what_is_wrong_is_an_error_in_words(shared_server, tool, arguments, words):
    result = await shared_server.call_tool(tool, arguments)
    assert result.is_error
    assert words in said(result)


async def test_a_number_is_accepted_for_a_range_and_a_string_for_a_number(shared_server):
    assert (
        said(await shared_server.call_tool("read_output", {"ref": "last", "lines": 7}))
        .split("\n")[1]
        .startswith("7: 7: ")
    )
    found = await shared_server.call_tool("grep_output", {"ref": "last", "pattern": "^7:", "context": "1"})
    assert not found.is_error


async def test_a_tool_that_is_not_there_is_refused(shared_server):
    with pytest.raises(MCPError, match="Unknown tool: run_command"):
        await shared_server.call_tool("run_command", {"command": "true"})


@pytest.fixture
async def shared_server(mcp, ref):
    held = await mcp.direct(mcp.over_pipes())
    yield await held.client()
    await held.close()


async def test_every_answer_is_within_the_limits(mcp, ref):
    async with mcp.client("--chars", "700") as client:
        for call in (
            ("read_output", {"ref": ref}),
            ("read_output", {"ref": ref, "bytes": "1:100000"}),
            ("grep_output", {"ref": ref, "pattern": "."}),
            ("outline_output", {"ref": ref}),
            ("list_outputs", {}),
            ("read_output", {"ref": "x" * 10_000}),
            ("read_output", {"y" * 10_000: "x"}),
        ):
            assert len(said(await client.call_tool(*call))) <= 700


async def test_an_answer_never_spills_again_in_a_host_that_bounds_results(mcp):
    """Claude Code with our hook bounds MCP results to 49,500 characters, whatever the limits of this server."""
    ref = put(mcp.store, LINES * 40, tool="bash", scope=str(mcp.folder.resolve())).ref
    async with mcp.client("--chars", "2000000") as client:
        for call in (
            ("read_output", {"ref": ref}),
            ("read_output", {"ref": ref, "bytes": "1:3000000"}),
            ("grep_output", {"ref": ref, "pattern": "."}),
            ("outline_output", {"ref": ref}),
        ):
            text = said(await client.call_tool(*call))
            assert len(text) <= ANSWER_CHARS == 48_000
        assert "Next: " in said(await client.call_tool("read_output", {"ref": ref}))


def test_all_tools_together_cost_little():
    tools = [tool.listing for tool in own_tools(Clipper(Limits())).values()]
    assert len(tools) == 4
    assert len(json.dumps(tools)) < 3_000


def test_the_model_reads_the_docs_of_the_functions():
    ours = {function.__name__: function.__doc__ for function in Clipper(Limits()).tools()}
    for name, tool in own_tools(Clipper(Limits())).items():
        assert tool.listing["description"] == ours[name].split("\n")[0]
        for about in tool.listing["inputSchema"]["properties"].values():
            assert about["description"] in " ".join(ours[name].split())


def test_over_pipes_no_package_is_needed():
    code = "import sys, spillover.mcp; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"mcp", "anyio", "pydantic", "httpx2", "jsonschema"} & set(loaded)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--url", "http://x/mcp", "--", "true"], "use only one of"),
        (
            ["--", "/no/such/command"],
            "cannot start the MCP server: /no/such/command: No such file or directory. Check its command.",
        ),
    ],
)
def test_wrong_use_is_said_and_exits_2(mcp, words, complaint):
    ran = subprocess.run(mcp.spill(*words), env=mcp.env, input="", capture_output=True, text=True, check=False)
    assert (ran.returncode, complaint in ran.stderr) == (2, True), ran.stderr


#: Messages that no client should send.
ODD = [
    {"method": "notifications/cancelled", "params": {"requestId": ["a"]}},
    {"method": "notifications/cancelled"},
    {"id": 1, "method": "tools/call"},
    {"id": 2, "method": "tools/call", "params": {"name": ["x"]}},
    {"id": 3, "method": "tools/call", "params": {"name": "read_output", "arguments": [1]}},
    {"id": 4, "method": "tools/call", "params": []},
    {"id": 5, "method": "tools/list", "params": {"_meta": 3}},
    {"id": 6, "method": "initialize", "params": {"protocolVersion": {"a": 1}}},
    {"id": 7, "method": "prompts/get", "params": {"name": {}}},
    {"id": 8, "method": "completion/complete", "params": {"ref": []}},
    {"id": 9, "method": "logging/setLevel"},
    {"id": 10.5, "method": "ping"},
    {"id": "ä", "method": "resources/read", "params": {"uri": 3}},
    {"id": 12, "result": {}},
    {"id": 13, "error": "no"},
    {"id": True, "method": "ping"},
    {"hello": 1},
]


@pytest.mark.parametrize("behind", [False, True], ids=["alone", "a proxy"])
def test_odd_messages_are_answered_or_ignored_and_the_next_one_is_served(mcp, behind):
    lines = [json.dumps({"jsonrpc": "2.0", **message}) for message in ODD]
    last = json.dumps({"jsonrpc": "2.0", "id": "last", "method": "tools/call", "params": {"name": "list_outputs"}})
    ran = subprocess.run(
        mcp.spill(*["--", *mcp.plain] * behind),
        env=mcp.env,
        input="\n".join([*lines, last]) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    answers = {str(answer["id"]): answer for answer in map(json.loads, ran.stdout.splitlines())}
    assert "0 of 0 stored" in answers["last"]["result"]["content"][0]["text"]
    asked = {str(message["id"]) for message in ODD if "method" in message and "id" in message} - {"True"}
    assert behind or asked <= answers.keys()


def test_a_batch_a_blank_line_and_garbage_are_tolerated(mcp):
    given = '\n[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"no/such"}]\nnonsense\n'
    ran = subprocess.run(mcp.spill(), env=mcp.env, input=given, capture_output=True, text=True, check=True)
    by_id = {answer["id"]: answer for answer in map(json.loads, ran.stdout.splitlines())}
    assert by_id[1]["result"] == {}
    assert by_id[2]["error"]["code"] == -32601
    assert by_id[None]["error"]["code"] == -32700
