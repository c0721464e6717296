"""The real Pydantic AI with a scripted model: toolsets of functions and MCP servers, and results of every shape."""

import json
import sys
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter
from pydantic_ai import (
    Agent,
    BinaryContent,
    DeferredToolRequests,
    FunctionToolset,
    ImageUrl,
    ModelResponse,
    ModelRetry,
    RunContext,
    TextContent,
    TextPart,
    ToolCallPart,
    ToolFailed,
    ToolReturn,
)
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import DeltaToolCall, FunctionModel

from spillover.api import Clipper
from spillover.frameworks.pydantic_ai import SpilloverToolset, output_tools
from spillover.settings.limits import Limits
from spillover.store.memory import MemoryStore
from spillover.testing import content

LIMITS = Limits(bytes=900)
BIG = "".join(f"line {number}\n" for number in range(1, 5_001))
IMAGE = BinaryContent(b"\x89PNG" * 1_000, media_type="image/png")


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def clipper(store):
    return Clipper(LIMITS, store=store)


def fits(text):
    return len(text.encode()) <= LIMITS.bytes


def scripted(*calls):
    """Return a model that makes these calls in one turn and records what it is sent."""
    sent = []

    def model(messages, info):
        if len(messages) == 1:
            return ModelResponse([ToolCallPart(name, args, f"call_{name}") for name, args in calls])
        sent.append(messages[-1].parts)
        return ModelResponse([TextPart("done")])

    return FunctionModel(model), sent


async def ran(*calls, toolsets, **options):
    model, sent = scripted(*calls)
    await Agent(model, toolsets=toolsets, **options).run("go")
    return sent[0]


async def shown(clipper, result):
    """Return the parts that a model was sent for what a tool returned or raised."""

    def probe(ctx: RunContext) -> Any:
        """Look."""
        if isinstance(result, Exception):
            raise result
        return result

    return await ran(("probe", {}), toolsets=[SpilloverToolset(FunctionToolset([probe]), clipper)])


class Row(BaseModel):
    text: str


@dataclass
class Point:
    words: str


@pytest.mark.parametrize(
    "small", ["ok", "", None, 5, True, {"a": [1]}, ["a", "b"], [1], Row(text="x"), Point("x"), IMAGE, [IMAGE, "text"]]
)
async def test_what_fits_comes_back_as_it_was(clipper, small):
    [part] = await shown(clipper, small)
    assert part.content == small
    assert type(part.content) is type(small)


@pytest.mark.parametrize(
    "large", [{"rows": [BIG]}, [BIG], Row(text=BIG), [Row(text=BIG)], Point(BIG), {"m": Point(BIG)}]
)
async def test_data_that_does_not_fit_is_its_json_clipped(clipper, store, large):
    [part] = await shown(clipper, large)
    assert fits(part.content)
    [record] = store.list()
    assert json.loads(content(store, record.ref)) == TypeAdapter(Any).dump_python(large, mode="json")


async def test_texts_beside_media_share_the_room_and_media_stays_where_it_is(clipper):
    link = ImageUrl("https://example.com/a.png")
    [part] = await shown(clipper, [BIG, IMAGE, {"row": BIG}, link])
    one, two, three, four = part.content
    assert (two, four) == (IMAGE, link)
    assert fits(one + three)
    assert part.files == [IMAGE, link]


async def test_a_tool_return_keeps_its_metadata_and_all_it_shows_fits(clipper):
    metadata = {"rows": BIG}
    beside = ["see:", IMAGE, TextContent(BIG, metadata="m")]
    part, beside = await shown(clipper, ToolReturn({"rows": [BIG]}, content=beside, metadata=metadata))
    assert part.metadata is metadata
    assert part.tool_call_id == "call_probe"
    assert isinstance(beside, UserPromptPart)
    see, image, text = beside.content
    assert (see, image, text.metadata) == ("see:", IMAGE, "m")
    assert fits(part.content + see + text.content)


async def test_a_tool_return_that_fits_is_as_it_was(clipper):
    part, beside = await shown(clipper, ToolReturn({"rows": []}, content="and this", metadata=1))
    assert (part.content, part.metadata, beside.content) == ({"rows": []}, 1, "and this")
    [part] = await shown(clipper, ToolReturn([IMAGE, "text"]))
    assert part.content == [IMAGE, "text"]


@pytest.mark.parametrize("error", [ModelRetry(BIG), ToolFailed(BIG)])
async def test_exceptions_meant_for_the_model_fit(clipper, error):
    [part] = await shown(clipper, error)
    assert part.content == clipper.clip(BIG, tool="probe").text
    assert part.outcome == {"ModelRetry": "retried", "ToolFailed": "failed"}[type(error).__name__]


@pytest.mark.parametrize("wrong", [["x"] * 1_000, [BIG], ["x"]])
async def test_a_validation_error_inside_a_tool_becomes_a_retry_that_fits(clipper, wrong):
    def probe() -> list[int]:
        """Look."""
        return TypeAdapter(list[int]).validate_python(wrong)

    [part] = await ran(("probe", {}), toolsets=[SpilloverToolset(FunctionToolset([probe]), clipper)])
    assert part.outcome == "retried"
    assert fits(part.model_response_str(wrap_if_error=False))
    assert isinstance(part.content, str) == (wrong != ["x"]), "what fits is told as always"


async def test_an_error_that_ends_the_run_has_words_that_fit(clipper):
    with pytest.raises(ValueError, match="Output clipped") as caught:
        await shown(clipper, ValueError(BIG))
    assert fits(str(caught.value))


@pytest.mark.parametrize("error", [CallDeferred, ApprovalRequired])
async def test_a_call_that_is_answered_later_is_passed_on(clipper, error):
    def probe() -> str:
        """Look."""
        raise error(metadata={"why": BIG})

    model, _ = scripted(("probe", {}))
    toolset = SpilloverToolset(FunctionToolset([probe]), clipper)
    result = await Agent(model, toolsets=[toolset], output_type=[str, DeferredToolRequests]).run("go")
    assert result.output.metadata == {"call_probe": {"why": BIG}}


def big() -> str:
    """Print a lot."""
    return BIG


def other() -> str:
    """Print a lot, too."""
    return BIG


async def test_parallel_calls_keep_their_ids_and_rules_hold(store):
    clipper = Clipper(LIMITS, store=store, rules={"big": {"keep": "tail"}, "alone": {"clip": False}})

    def alone() -> str:
        """Print a lot, for somebody else to bound."""
        return BIG

    toolset = SpilloverToolset(FunctionToolset([big, other, alone]), clipper)
    parts = await ran(("big", {}), ("other", {}), ("alone", {}), toolsets=[toolset])
    one, two, three = (part.content for part in parts)
    assert one.endswith("line 5000\n")
    assert "line 1\n" not in one
    assert "line 1\n" in two
    assert three == BIG
    assert {record.call_id for record in store.list()} == {"call_big", "call_other"}


async def test_a_streamed_run_shows_the_same(clipper):
    sent = []

    async def stream(messages, info):
        if len(messages) == 1:
            yield {0: DeltaToolCall("big", "{}", tool_call_id="c")}
        else:
            sent.extend(messages[-1].parts)
            yield "done"

    agent = Agent(FunctionModel(stream_function=stream), toolsets=[SpilloverToolset(FunctionToolset([big]), clipper)])
    async with agent.run_stream("go") as result:
        assert await result.get_output() == "done"
    assert [part.content for part in sent] == [clipper.clip(BIG, tool="big").text]


async def test_it_stands_among_other_toolsets(clipper):
    toolset = SpilloverToolset(FunctionToolset([big]).prefixed("my"), clipper).filtered(lambda ctx, tool: True)
    [part] = await ran(("my_big", {}), toolsets=[toolset])
    assert fits(part.content)
    assert part.content == clipper.clip(BIG, tool="my_big").text


async def test_the_tools_for_going_back_work_and_are_not_clipped_again(store):
    clipper = Clipper(LIMITS, store=store, hints="tools")
    ref = clipper.clip(BIG, tool="big").ref
    toolsets = [SpilloverToolset(FunctionToolset([big]), clipper), output_tools(clipper)]
    [clipped, read] = await ran(("big", {}), ("read_output", {"ref": ref, "lines": "4000:+2"}), toolsets=toolsets)
    assert f'read_output("{ref}"' in clipped.content
    assert read.content.startswith("4000: line 4000\n4001: line 4001\n")
    assert len(list(store.list())) == 1


SERVER = '''
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, ImageContent, TextContent

server = MCPServer("s")
LINES = "".join(f"line {number}\\n" for number in range(1, 5_001))

@server.tool()
def big() -> str:
    """Print a lot."""
    return LINES

@server.tool()
def rows() -> dict[str, int]:
    """Get rows."""
    return {f"row {number}": number for number in range(1_000)}

@server.tool()
def mixed() -> CallToolResult:
    """Print and show."""
    image = ImageContent(type="image", data="QUJD", mime_type="image/png")
    return CallToolResult(content=[TextContent(type="text", text=LINES), image])

@server.tool()
def failing() -> str:
    """Fail."""
    raise ToolError(LINES)

server.run()
'''


async def test_a_real_mcp_server_gives_results_that_fit(clipper, tmp_path):
    from fastmcp.client.transports import StdioTransport

    (tmp_path / "server.py").write_text(SERVER)
    server = MCPToolset(StdioTransport(sys.executable, [str(tmp_path / "server.py")]))
    toolset = SpilloverToolset(server, clipper)
    calls = [(name, {}) for name in ("big", "rows", "mixed", "failing")]
    parts = await ran(*calls, toolsets=[toolset])
    big, rows, mixed, failing = parts
    assert all(isinstance(part, ToolReturnPart) for part in parts)
    assert big.content == clipper.clip(BIG, tool="big").text
    assert rows.content.startswith("[Output clipped")
    assert mixed.content[1].data == b"ABC"
    assert all(fits(text) for text in (rows.content, mixed.content[0], failing.content))
    assert "Output clipped" in failing.content
