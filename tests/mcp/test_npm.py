"""The proxy with real npm servers and the official client: "everything" over pipes and at a URL, and "filesystem"."""

import importlib.util
import socket
import subprocess
import time
from pathlib import Path

import httpx2
import pytest
from mcp.types import CreateMessageResult, ElicitResult, ListRootsResult, Root, TextContent

pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("install", ROOT / "scripts" / "install.py")
npm = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(npm)
CHARS = 3_000


@pytest.fixture(scope="module", autouse=True)
def _installed():
    assert npm.main() == 0


def server(name, *arguments):
    return [*npm.node(), npm.server_script(f"@modelcontextprotocol/server-{name}"), *map(str, arguments)]


def said(result):
    return "".join(block.text for block in result.content if block.type == "text")


async def sampled(context, params):
    return CreateMessageResult(role="assistant", content=TextContent(type="text", text="a model " * 2_000), model="m")


async def elicited(context, params):
    return ElicitResult(action="decline")


async def rooted(context):
    return ListRootsResult(roots=[Root(uri="file:///home/ada", name="home")])


CALLBACKS = {"sampling_callback": sampled, "elicitation_callback": elicited, "list_roots_callback": rooted}


@pytest.fixture(scope="module")
def everything_url(shared_mcp):
    """Start the same server over HTTP."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared_mcp.env["PORT"] = str(port)
    shared_mcp.started(server("everything", "streamableHttp"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            httpx2.get(f"http://127.0.0.1:{port}/")
            break
        except httpx2.TransportError:
            time.sleep(0.05)
    return f"http://127.0.0.1:{port}/mcp"


@pytest.mark.parametrize("way", ["pipes", "pipes to a URL"])
async def test_everything_works_as_it_does_without_us(mcp, way, everything_url):
    behind = {"URL": ["--url", everything_url], "pipes": ["--", *server("everything")]}[way.split()[-1]]
    held = await mcp.direct(mcp.over_pipes("--chars", CHARS, *behind), **CALLBACKS)
    client = await held.client()
    assert client.server_info.name == "mcp-servers/everything"
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert {"echo", "get-structured-content", "read_output"} <= tools.keys()
    assert tools["get-structured-content"].output_schema is None
    assert said(await client.call_tool("echo", {"message": "hello"})) == "Echo: hello"
    flood = await client.call_tool("echo", {"message": "".join(f"line {number}\n" for number in range(5_000))})
    assert len(said(flood)) <= CHARS
    assert "Output clipped" in said(flood)
    back = await client.call_tool("grep_output", {"ref": "last", "pattern": "line 4321$"})
    assert "4322: line 4321" in said(back)
    weather = await client.call_tool("get-structured-content", {"location": "Chicago"})
    assert weather.structured_content["conditions"]
    image = await client.call_tool("get-tiny-image")
    assert [block.type for block in image.content] == ["text", "image", "text"]
    links = await client.call_tool("get-resource-links", {"count": 3})
    assert [block.type for block in links.content] == ["text", "resource_link", "resource_link", "resource_link"]
    notes = await client.call_tool("get-annotated-message", {"messageType": "error", "includeImage": True})
    assert notes.content[0].annotations.priority == 1.0
    steps = []

    async def on_step(progress, total, message):
        steps.append(progress)

    await client.call_tool("trigger-long-running-operation", {"duration": 0.2, "steps": 2}, progress_callback=on_step)
    assert steps == [1, 2]
    if "trigger-sampling-request" in tools:
        asked = await client.call_tool("trigger-sampling-request", {"prompt": "who?", "maxTokens": 9})
        assert "a model" in said(asked)
        assert len(said(asked)) <= CHARS
    resources = (await client.list_resources()).resources
    texts = [(await client.read_resource(resource.uri)).contents[0].text for resource in resources]
    assert all(len(text) <= CHARS for text in texts)
    assert any("Output clipped" in text for text in texts)
    assert "simple-prompt" in [prompt.name for prompt in (await client.list_prompts()).prompts]
    assert (await client.get_prompt("args-prompt", {"city": "Oslo"})).messages
    await held.close()


async def test_files_larger_than_a_context_are_read_in_part(mcp):
    log = mcp.folder / "app.log"
    lines = [f"{number} INFO all is well\n" for number in range(60_000)]
    lines[43_210] = "43210 ERROR the disk is on fire\n"
    log.write_text("".join(lines))
    (mcp.folder / "small.txt").write_text("a few words")
    async with mcp.client("--chars", str(CHARS), "--", *server("filesystem", mcp.folder)) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert tools["read_text_file"].output_schema is None
        small = await client.call_tool("read_text_file", {"path": str(mcp.folder / "small.txt")})
        assert (said(small), small.structured_content) == ("a few words", {"content": "a few words"})
        # The client would reject a result without data if a schema had promised some.
        large = await client.call_tool("read_text_file", {"path": str(log)})
        assert "the disk is on fire" in said(large)
        assert len(said(large)) <= CHARS
        assert large.structured_content is None
        [record] = mcp.store.list()
        assert record.bytes == log.stat().st_size
        found = await client.call_tool("grep_output", {"ref": record.ref, "pattern": "ERROR", "context": 1})
        assert "43209 INFO" in said(found)
        wrong = await client.call_tool("read_text_file", {"path": "/etc/passwd"})
        assert wrong.is_error
        assert "denied" in said(wrong)
