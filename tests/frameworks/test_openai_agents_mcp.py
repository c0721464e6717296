"""The OpenAI Agents SDK calling a real MCP server over stdio."""

import sys

import pytest
from agents import Agent, RunConfig, Runner
from agents.mcp import MCPServerStdio
from agents.testing import ScriptedModel, assistant_message, function_call

from spillover.api import Clipper
from spillover.frameworks.openai_agents import bound_server
from spillover.settings.limits import Limits
from spillover.store.memory import MemoryStore

LIMITS = Limits(bytes=900)
BIG = "".join(f"line {number}\n" for number in range(1, 5_001))


def fits(text):
    return len(text.encode()) <= LIMITS.bytes


async def ran(server, *names):
    """Call these tools in one turn and return what the model was sent, by tool name."""
    calls = [function_call(name, {}, call_id=name) for name in names]
    model = ScriptedModel([calls, [assistant_message("done")]])
    agent = Agent(name="a", model=model, mcp_servers=[server])
    await Runner.run(agent, "go", run_config=RunConfig(tracing_disabled=True))
    return {
        item["call_id"]: item["output"] for item in model.last_call.input if item.get("call_id") and "output" in item
    }


SERVER = '''
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import AudioContent, CallToolResult, ImageContent, TextContent

server = MCPServer("s")
LINES = "".join(f"line {number}\\n" for number in range(1, 5_001))

@server.tool()
def big() -> str:
    """Print a lot."""
    return LINES

@server.tool()
def mixed() -> CallToolResult:
    """Print, show and play."""
    return CallToolResult(content=[
        TextContent(type="text", text=LINES),
        ImageContent(type="image", data="QUJD", mime_type="image/png"),
        AudioContent(type="audio", data="A" * 50_000, mime_type="audio/wav"),
    ])

@server.tool()
def failing() -> str:
    """Fail."""
    raise ToolError(LINES)

server.run()
'''


@pytest.fixture(scope="module")
def server_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("server") / "server.py"
    path.write_text(SERVER)
    return path


@pytest.mark.parametrize("structured", [False, True])
async def test_a_real_mcp_server_gives_results_that_fit(server_file, structured):
    clipper = Clipper(LIMITS, store=MemoryStore())
    server = MCPServerStdio({"command": sys.executable, "args": [str(server_file)]}, use_structured_content=structured)
    async with bound_server(server, clipper) as bounded:
        assert bounded.name == server.name
        sent = await ran(bounded, "big", "mixed", "failing")
    big, [*mixed], failing = (sent[name] for name in ("big", "mixed", "failing"))
    assert fits(big[0]["text"])
    assert "Output clipped" in big[0]["text"]
    assert {"type": "input_image", "image_url": "data:image/png;base64,QUJD"} in mixed
    assert fits("".join(item.get("text", "") for item in mixed)), "sound is shown as text here, and bounded as such"
    assert fits(failing[0]["text"])
    assert "Output clipped" in failing[0]["text"]


async def test_a_server_that_is_left_alone_by_a_rule_is(server_file):
    clipper = Clipper(LIMITS, store=MemoryStore(), rules={"big": {"clip": False}})
    async with bound_server(
        MCPServerStdio({"command": sys.executable, "args": [str(server_file)]}), clipper
    ) as bounded:
        sent = await ran(bounded, "big")
    assert sent["big"][0]["text"] == BIG
