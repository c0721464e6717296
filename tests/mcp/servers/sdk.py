"""A server built with the official SDK, over pipes or HTTP: it floods, sends images, asks back, reports progress, sends data."""

import asyncio
import base64
import sys

import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.types import (
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    SamplingMessage,
    TextContent,
    TextResourceContents,
    ToolAnnotations,
)
from pydantic import BaseModel

server = MCPServer("sdk", instructions="Flood me.")
LINES = "".join(f"{number}: the quick brown fox\n" for number in range(1, 50_001))
PIXEL = base64.b64encode(b"\x89PNG" + bytes(1000)).decode()
seen: dict[str, str] = {}


class Name(BaseModel):
    name: str


class Row(BaseModel):
    number: int
    words: str


class Table(BaseModel):
    title: str
    rows: list[Row]


@server.tool(structured_output=False, annotations=ToolAnnotations(title="A flood", read_only_hint=True))
def flood() -> str:
    """Fifty thousand lines."""
    return LINES


@server.tool(structured_output=False, meta={"anthropic/maxResultSizeChars": 900})
def bounded() -> str:
    """A tool that says how much of it may stand in a conversation."""
    return LINES


@server.tool(structured_output=False)
def small() -> str:
    return "a few words"


@server.tool()
def mixed() -> CallToolResult:
    """Everything a result can have."""
    return CallToolResult(
        content=[
            TextContent(type="text", text="before\n"),
            ImageContent(type="image", data=PIXEL, mime_type="image/png"),
            TextContent(type="text", text=LINES, annotations={"audience": ["assistant"]}, _meta={"mine": 1}),
            ResourceLink(type="resource_link", uri="file:///a.txt", name="a"),
            EmbeddedResource(
                type="resource",
                resource=TextResourceContents(uri="file:///b.txt", mime_type="text/plain", text="inside"),
            ),
        ],
        is_error=True,
        _meta={"kept": True},
    )


@server.tool()
def table(rows: int) -> Table:
    """Data, of a schema."""
    return Table(title="numbers", rows=[Row(number=number, words="quick brown fox") for number in range(rows)])


@server.tool()
def wrapped() -> str:
    """A text that is data, too."""
    return LINES


@server.tool(structured_output=False)
async def steps(count: int, ctx: Context) -> str:
    for step in range(count):
        await ctx.report_progress(step + 1, count, f"step {step + 1}")
    await ctx.info("half way")
    return "done"


@server.tool(structured_output=False)
async def sample(ctx: Context) -> str:
    message = SamplingMessage(role="user", content=TextContent(type="text", text="who are you?"))
    said = await ctx.session.create_message([message], max_tokens=10)
    return f"it said {said.content.text}"


@server.tool(structured_output=False)
async def elicit(ctx: Context) -> str:
    said = await ctx.elicit("your name?", Name)
    return f"{said.action} {said.data.name}"


@server.tool(structured_output=False)
async def roots(ctx: Context) -> str:
    return " ".join(str(root.uri) for root in (await ctx.session.list_roots()).roots)


@server.tool(structured_output=False)
async def slow(ctx: Context) -> str:
    seen["slow"] = "began"
    try:
        await asyncio.sleep(60)
    except BaseException:
        seen["slow"] = "cancelled"
        raise
    return "never"


@server.tool(structured_output=False)
def was(what: str) -> str:
    return seen.get(what, "nothing")


@server.tool(structured_output=False)
async def grow(ctx: Context) -> str:
    """One more tool from now on."""

    def grown() -> str:
        return "grown"

    server.add_tool(grown, structured_output=False)
    await ctx.session.send_tool_list_changed()
    return "grew"


@server.resource("text://flood")
def flood_resource() -> str:
    return LINES


@server.resource("ui://page")
def page() -> str:
    return LINES[:100_000]


@server.resource("text://{name}/hello")
def greeting(name: str) -> str:
    return f"hello {name}"


@server.prompt()
def ask(topic: str) -> list[UserMessage]:
    return [UserMessage("first"), UserMessage(f"{topic}: {LINES}")]


@server.completion()
async def complete(ref, argument, context):
    from mcp.types import Completion

    return Completion(values=[f"{argument.value}x", f"{argument.value}y"])


def guarded(app, needed):
    """Refuse each request without the needed headers."""

    async def guard(scope, receive, send):
        if scope["type"] == "http" and not set(needed) <= set(scope["headers"]):
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b"no"})
            return
        await app(scope, receive, send)

    return guard


if sys.argv[1:2] == ["http"]:
    needed = [tuple(line.encode().split(b": ")) for line in sys.argv[2:]]
    config = uvicorn.Config(guarded(server.streamable_http_app(), needed), port=0, log_level="error")
    sock = config.bind_socket()
    sock.listen()
    sys.stdout.write(f"{sock.getsockname()[1]}\n")
    sys.stdout.flush()
    asyncio.run(uvicorn.Server(config).serve(sockets=[sock]))
else:
    server.run()
