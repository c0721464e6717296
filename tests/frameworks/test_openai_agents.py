"""The real OpenAI Agents SDK with a scripted model: function tools, shells and local MCP servers."""

import copy
from types import SimpleNamespace
from typing import Any

import pytest
from agents import (
    Agent,
    CustomTool,
    FunctionTool,
    LocalShellTool,
    RunConfig,
    Runner,
    ShellCommandOutput,
    ShellResult,
    ShellTool,
    ToolOutputFileContent,
    ToolOutputImage,
    ToolOutputText,
    WebSearchTool,
    function_tool,
)
from agents.testing import ScriptedModel, assistant_message, function_call
from agents.tool import ShellCallOutcome
from agents.tool_context import ToolContext
from openai.types.responses import ResponseFunctionToolCall
from pydantic import BaseModel

from spillover.api import Clipper
from spillover.errors import UsageError
from spillover.frameworks.openai_agents import bound_tools, output_tools
from spillover.settings.limits import Limits
from spillover.store.memory import MemoryStore

LIMITS = Limits(bytes=900)
BIG = "".join(f"line {number}\n" for number in range(1, 5_001))
UNTRACED = RunConfig(tracing_disabled=True)


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def clipper(store):
    return Clipper(LIMITS, store=store)


def fits(text):
    return len(text.encode()) <= LIMITS.bytes


def outputs(model):
    return {
        item["call_id"]: item["output"] for item in model.last_call.input if item.get("type") == "function_call_output"
    }


async def ran(*calls, **agent):
    """Make these calls in one turn and return what the model was sent, by call id."""
    model = ScriptedModel(
        [[function_call(name, args, call_id=f"call_{name}") for name, args in calls], [assistant_message("done")]]
    )
    await Runner.run(Agent(name="a", model=model, **agent), "go", run_config=UNTRACED)
    return outputs(model)


async def shown(clipper, result):
    """Return what the model was sent for a tool's result."""

    @function_tool
    def probe() -> Any:
        """Look."""
        return result

    return (await ran(("probe", {}), tools=bound_tools([probe], clipper)))["call_probe"]


async def test_what_fits_is_shown_as_the_sdk_shows_it(clipper):
    image = ToolOutputImage(image_url="data:image/png;base64," + "A" * 5_000)
    assert await shown(clipper, "ok") == "ok"
    assert await shown(clipper, 5) == "5"
    assert await shown(clipper, None) == "None"
    assert await shown(clipper, {"a": [1]}) == "{'a': [1]}"
    assert await shown(clipper, []) == "[]"
    assert await shown(clipper, image) == [{"type": "input_image", "image_url": image.image_url}]
    assert await shown(clipper, {"type": "text", "text": "x"}) == [{"type": "input_text", "text": "x"}]


@pytest.mark.parametrize("text", [ToolOutputText(text=BIG), {"type": "text", "text": BIG}])
async def test_lists_of_text_images_and_files_keep_their_shape(clipper, text):
    file = ToolOutputFileContent(file_data="A" * 5_000, filename="a.pdf")
    one, two, three = await shown(clipper, [file, text, {"type": "image", "file_id": "f"}])
    assert one == {"type": "input_file", "file_data": "A" * 5_000, "filename": "a.pdf"}
    assert two == {"type": "input_text", "text": clipper.clip(BIG, tool="probe").text}
    assert three == {"type": "input_image", "file_id": "f"}


class Row(BaseModel):
    text: str


@pytest.mark.parametrize(
    "large",
    [
        BIG.encode(),
        {"rows": [BIG]},
        [BIG],
        (BIG, 1),
        Row(text=BIG),
        {"type": "text", "body": BIG},
        {"type": "commit", "m": BIG},
    ],
)
async def test_data_that_does_not_fit_is_a_text_that_does(clipper, large):
    text = await shown(clipper, large)
    assert text.startswith("[Output clipped")
    assert fits(text)


async def test_an_error_is_told_in_words_that_fit(clipper):
    @function_tool
    def failing() -> str:
        """Fail."""
        raise ValueError(BIG)

    told = (await ran(("failing", {}), tools=bound_tools([failing], clipper)))["call_failing"]
    assert fits(told)
    assert "An error occurred while running the tool" in told


async def test_an_error_that_ends_the_run_has_words_that_fit(clipper):
    @function_tool(failure_error_function=None)
    def failing() -> str:
        """Fail."""
        raise ValueError(BIG)

    with pytest.raises(Exception, match="Output clipped") as caught:
        await ran(("failing", {}), tools=bound_tools([failing], clipper))
    assert len(str(caught.value)) < 2_000


async def test_parallel_calls_keep_their_ids_and_rules_hold(store):
    @function_tool
    async def one() -> str:
        """One."""
        return BIG

    @function_tool
    def two() -> str:
        """Two."""
        return BIG

    clipper = Clipper(LIMITS, store=store, rules={"one": {"keep": "tail"}, "three": {"clip": False}})
    sent = await ran(("one", {}), ("two", {}), tools=bound_tools([one, two], clipper))
    assert sent["call_one"].endswith("line 5000\n")
    assert "line 1\n" not in sent["call_one"]
    assert "line 1\n" in sent["call_two"]
    assert {record.call_id for record in store.list()} == {"call_one", "call_two"}


async def test_a_streamed_run_shows_the_same(clipper):
    @function_tool
    def big() -> str:
        """Print a lot."""
        return BIG

    model = ScriptedModel([[function_call("big", {}, call_id="c")], [assistant_message("done")]])
    result = Runner.run_streamed(
        Agent(name="a", model=model, tools=bound_tools([big], clipper)), "go", run_config=UNTRACED
    )
    items = [event.item async for event in result.stream_events() if event.type == "run_item_stream_event"]
    [output] = [item.output for item in items if item.type == "tool_call_output_item"]
    assert output == outputs(model)["c"] == clipper.clip(BIG, tool="big").text


async def test_everything_else_of_a_tool_is_as_it_was(clipper):
    async def needs(context, arguments, call_id):
        return False

    @function_tool(needs_approval=needs)
    def big(times: int) -> str:
        """Print a lot."""
        return BIG * times

    [bounded] = bound_tools([big], clipper)
    assert bounded is not big
    assert type(bounded) is type(big)
    assert (bounded.name, bounded.description, bounded.params_json_schema) == (
        big.name,
        big.description,
        big.params_json_schema,
    )
    assert bounded.needs_approval is needs
    assert bounded.__wrapped__ is big.__wrapped__
    assert bounded.on_invoke_tool.prepare_arguments('{"times": 2}', "big").unchanged, "approvals look into these"
    for tool in (bounded, copy.copy(bounded)):
        assert fits((await ran(("big", {"times": 2}), tools=[tool]))["call_big"])
    assert len((await ran(("big", {"times": 2}), tools=[big]))["call_big"]) == 2 * len(BIG), "the one it was made of"


async def test_a_tool_made_by_hand_is_bounded_too(clipper):
    async def invoke(context, arguments):
        return BIG

    tool = FunctionTool("big", "Print a lot.", {"type": "object", "properties": {}}, invoke)
    assert fits((await ran(("big", {}), tools=bound_tools([tool], clipper)))["call_big"])


def test_a_tool_that_promises_json_is_refused_with_an_explanation(clipper):
    @function_tool(output_type=Row)
    def row() -> Row:
        """Get a row."""
        return Row(text="")

    with pytest.raises(UsageError, match="has a JSON schema for its output"):
        bound_tools([row], clipper)
    alone = Clipper(LIMITS, store=MemoryStore(), rules={"row": {"clip": False}})
    assert bound_tools([row], alone) == [row]


async def test_a_program_gets_whole_results_and_the_schema_it_was_promised(clipper, store):
    @function_tool(output_type=Row, allowed_callers=["programmatic"])
    def row() -> Row:
        """Get a row."""
        return Row(text=BIG)

    async def invoke(context, given):
        return BIG

    tools = bound_tools([row, CustomTool("c", "C.", invoke), ShellTool(executor=lambda _: BIG)], clipper)
    program = {"type": "program", "caller_id": "p"}
    call = ResponseFunctionToolCall(arguments="{}", call_id="c", name="row", type="function_call", caller=program)
    context = ToolContext(None, tool_name="row", tool_call_id="c", tool_arguments="{}", tool_call=call)
    assert await tools[0].on_invoke_tool(context, "{}") == Row(text=BIG)
    assert await tools[1].on_invoke_tool(context, "x") == BIG
    request = SimpleNamespace(data=SimpleNamespace(call_id="c", raw={"type": "shell_call", "caller": program}))
    assert await tools[2].executor(request) == BIG
    assert len(list(store.list())) == 3


def test_what_openai_runs_itself_is_passed_on(clipper):
    search = WebSearchTool()
    assert bound_tools([search], clipper) == [search]


class Request:
    """The request that a shell or a custom tool receives."""

    tool_call_id = "c"
    data = type("Data", (), {"call_id": "c"})


async def test_both_streams_of_a_shell_keep_their_places(clipper, store):
    outcome = ShellCallOutcome(type="exit", exit_code=1)
    result = ShellResult(
        [ShellCommandOutput("ok\n", "", outcome, "ls"), ShellCommandOutput(BIG, "oops\n", outcome, "make")]
    )
    for executor in (lambda _: result, lambda _: coroutine(result)):
        [shell] = bound_tools([ShellTool(executor=executor)], clipper)
        one, two = (await shell.executor(Request)).output
        assert (one.command, two.command, two.exit_code) == ("ls", "make", 1)
        assert one.stdout.endswith("]\nok")
        assert two.stderr.rstrip() == "oops"
        assert fits(one.stdout + one.stderr + two.stdout + two.stderr)
        assert [(record.tool, record.call_id) for record in store.list()] == [("shell", "c")]


async def coroutine(result):
    return result


async def test_shells_and_custom_tools_that_give_text_are_bounded(clipper):
    async def invoke(context, given):
        return BIG

    local, custom = bound_tools([LocalShellTool(executor=lambda _: BIG), CustomTool("c", "C.", invoke)], clipper)
    assert fits(await local.executor(Request))
    assert fits(await custom.on_invoke_tool(Request, "x"))


async def test_the_tools_for_going_back_work_and_are_not_clipped_again(store):
    clipper = Clipper(LIMITS, store=store, hints="tools")
    ref = clipper.clip(BIG, tool="big").ref
    read = await ran(
        ("read_output", {"ref": ref, "lines": "4000:+2", "columns": None, "bytes": None}), tools=output_tools(clipper)
    )
    assert read["call_read_output"].startswith("4000: line 4000\n4001: line 4001\n")
    assert len(list(store.list())) == 1
