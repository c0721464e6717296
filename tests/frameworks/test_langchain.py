"""The real LangChain with a scripted model: a tool's result fits, and everything else is unchanged."""

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, interrupt

from spillover.api import Clipper
from spillover.frameworks.langchain import SpilloverMiddleware, output_tools
from spillover.settings.limits import Limits
from spillover.store.memory import MemoryStore

LIMITS = Limits(bytes=900)
BIG = "".join(f"line {number}\n" for number in range(1, 5_001))


class Scripted(FakeMessagesListChatModel):
    """A model that gives scripted answers; `offered` holds the tools it was given."""

    offered: list = []  # noqa: RUF012  a Pydantic field

    def bind_tools(self, tools, **kwargs):
        self.offered[:] = [one.name for one in tools]
        return self


def scripted(*said):
    return Scripted(responses=[*said, AIMessage("done")], offered=[])


def calling(*names, **args):
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": f"call_{name}"} for name in names])


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def clipper(store):
    return Clipper(LIMITS, store=store)


def answers(messages):
    return [message for message in messages if isinstance(message, ToolMessage)]


def fits(text):
    return len(text.encode()) <= LIMITS.bytes


def given(clipper, result, *more):
    """Return what the middleware turns a result of the call `call_t` into."""

    class Request:
        tool_call, tool = {"name": "t", "id": "call_t"}, None

    return SpilloverMiddleware(clipper).wrap_tool_call(Request, lambda _: result)


def test_everything_but_the_content_of_a_message_is_as_it_was(clipper, store):
    artifact = object()
    message = ToolMessage(
        BIG,
        tool_call_id="call_t",
        name="t",
        id="m1",
        artifact=artifact,
        status="error",
        additional_kwargs={"a": 1},
        response_metadata={"b": 2},
    )
    new = given(clipper, message)
    assert [(record.tool, record.call_id) for record in store.list()] == [("t", "call_t")]
    assert new.content == clipper.clip(BIG, tool="t").text
    assert new.artifact is artifact
    assert new.model_dump(exclude={"content"}) == message.model_dump(exclude={"content"})
    assert message.content == BIG, "the tool may still want its own"


def test_what_fits_is_the_very_same_message(clipper):
    for content in ("ok", "", ["a", {"type": "text", "text": "b"}, {"type": "image", "url": "x" * 5_000}]):
        message = ToolMessage(content, tool_call_id="call_t")
        assert given(clipper, message) is message


@pytest.mark.parametrize(
    "block",
    [
        {"type": "json", "json": {"text": BIG}},
        {"type": "search_result", "source": "u", "title": "t", "content": [{"type": "text", "text": BIG}]},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": BIG}},
        {"type": "text-plain", "text": BIG, "mime_type": "text/plain"},
        {"type": "text", "text": BIG},
        BIG,
    ],
)
def test_text_is_found_wherever_a_block_has_it(clipper, block):
    [image, text] = given(
        clipper, ToolMessage([{"type": "image", "base64": "A" * 5_000}, block], tool_call_id="call_t")
    ).content
    assert image == {"type": "image", "base64": "A" * 5_000}
    assert fits(text if isinstance(text, str) else text["text"])


def test_a_document_that_is_no_text_is_media(clipper):
    document = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "A" * 5_000}}
    assert given(clipper, ToolMessage([document], tool_call_id="call_t")).content == [document]


def test_a_command_is_kept_and_the_message_of_its_call_bounded(clipper):
    mine, other = ToolMessage(BIG, tool_call_id="call_t"), ToolMessage(BIG, tool_call_id="an earlier call")
    person = HumanMessage(BIG)
    command = Command(graph=Command.PARENT, goto="next", update={"messages": [other, mine, person], "seen": [BIG]})
    new = given(clipper, command)
    assert (new.graph, new.goto) == (Command.PARENT, "next")
    assert new.update["messages"][::2] == [other, person]
    assert new.update["seen"] == [BIG], "state is not what a model reads"
    assert fits(new.update["messages"][1].content)


@pytest.mark.parametrize("shape", [list, lambda one: [("messages", [*one])], lambda one: {"other_key": one[0]}])
def test_the_message_is_found_in_every_shape_of_an_update(clipper, shape):
    new = given(clipper, Command(update=shape([ToolMessage(BIG, tool_call_id="call_t")])))
    assert BIG not in repr(new)
    assert "Output clipped" in repr(new)


def test_several_results_of_one_call_are_bounded_each(clipper):
    new = given(clipper, [ToolMessage(BIG, tool_call_id="call_t"), Command(goto="x"), Command()])
    assert fits(new[0].content)
    assert new[1:] == [Command(goto="x"), Command()]


@tool
def big() -> str:
    """Print a lot."""
    return BIG


@tool
def small() -> str:
    """Print a little."""
    return "ok"


@tool
def failing() -> str:
    """Fail."""
    raise ValueError(BIG)


async def test_parallel_calls_are_bounded_each_and_keep_their_ids(clipper):
    for run in ("invoke", "ainvoke"):
        agent = create_agent(scripted(calling("big", "small")), [big, small], middleware=[SpilloverMiddleware(clipper)])
        state = getattr(agent, run)({"messages": "go"})
        one, two = answers((await state if run == "ainvoke" else state)["messages"])
        assert (one.tool_call_id, one.name, fits(one.content)) == ("call_big", "big", True)
        assert (two.tool_call_id, two.content) == ("call_small", "ok")


async def test_what_is_streamed_is_what_the_model_gets(clipper):
    model = scripted(calling("big"))
    agent = create_agent(model, [big], middleware=[SpilloverMiddleware(clipper)])
    streamed = [message async for message, _ in agent.astream({"messages": "go"}, stream_mode="messages")]
    assert [message.content for message in answers(streamed)] == [clipper.clip(BIG, tool="big").text]


@pytest.mark.parametrize("run", ["invoke", "ainvoke"])
async def test_an_error_that_a_tool_raises_goes_on_with_words_that_fit(clipper, run):
    agent = create_agent(scripted(calling("failing")), [failing], middleware=[SpilloverMiddleware(clipper)])

    async def ran():
        state = getattr(agent, run)({"messages": "go"})
        return await state if run == "ainvoke" else state

    with pytest.raises(ValueError, match="Output clipped") as caught:
        await ran()
    assert fits(str(caught.value))


def test_arguments_that_are_not_valid_are_told_in_words_that_fit(clipper):
    @tool
    def add(a: int) -> int:
        """Add."""
        return a

    agent = create_agent(scripted(calling("add", a=BIG)), [add], middleware=[SpilloverMiddleware(clipper)])
    [answer] = answers(agent.invoke({"messages": "go"})["messages"])
    assert answer.status == "error"
    assert fits(answer.content)


def test_an_interrupt_is_no_error(clipper):
    @tool
    def ask() -> str:
        """Ask a person."""
        return interrupt(BIG) * 1_000

    agent = create_agent(
        scripted(calling("ask")), [ask], middleware=[SpilloverMiddleware(clipper)], checkpointer=InMemorySaver()
    )
    config = {"configurable": {"thread_id": "1"}}
    assert agent.invoke({"messages": "go"}, config)["__interrupt__"][0].value == BIG
    [answer] = answers(agent.invoke(Command(resume="yes\n"), config)["messages"])
    assert fits(answer.content)


def test_the_tools_that_the_notice_names_are_added_and_their_answers_are_not_clipped_again(store):
    clipper = Clipper(LIMITS, store=store, hints="tools")
    ref = clipper.clip(BIG, tool="big").ref
    model = scripted(calling("big"), calling("read_output", ref=ref, lines="4000:+2"))
    agent = create_agent(model, [big], middleware=[SpilloverMiddleware(clipper)])
    clipped, read = answers(agent.invoke({"messages": "go"})["messages"])
    assert f'read_output("{ref}"' in clipped.content
    assert read.content.startswith("4000: line 4000\n4001: line 4001\n")
    assert sorted(model.offered) == [
        "big",
        "grep_output",
        "list_outputs",
        "outline_output",
        "read_output",
    ]
    assert len(list(store.list())) == 1


def test_without_that_hint_no_tools_are_added(clipper):
    assert SpilloverMiddleware(clipper).tools == []


def test_the_tools_say_what_their_arguments_are(clipper):
    for one in output_tools(clipper):
        schema = one.tool_call_schema.model_json_schema()
        assert all(about["description"] for about in schema["properties"].values())
        assert "Args:" not in one.description


async def test_a_node_of_your_own_takes_the_methods(clipper):
    ours = SpilloverMiddleware(clipper)
    node = ToolNode([big], wrap_tool_call=ours.wrap_tool_call, awrap_tool_call=ours.awrap_tool_call)
    graph = StateGraph(MessagesState).add_node("tools", node).set_entry_point("tools").compile()
    for state in (graph.invoke({"messages": [calling("big")]}), await graph.ainvoke({"messages": [calling("big")]})):
        assert fits(state["messages"][-1].content)


def test_a_rule_for_a_tool_holds(store):
    clipper = Clipper(LIMITS, store=store, rules={"b*": {"keep": "tail"}, "sm*": {"clip": False}})
    agent = create_agent(scripted(calling("big")), [big], middleware=[SpilloverMiddleware(clipper)])
    [answer] = answers(agent.invoke({"messages": "go"})["messages"])
    assert answer.content.endswith("line 5000\n")
    assert "line 1\n" not in answer.content


@pytest.mark.parametrize(
    "block", [{"caller": {"type": "code_execution_20260120"}}, {"extras": {"caller": {"type": "x"}}}]
)
async def test_a_result_for_a_program_is_the_very_same_message_and_is_stored(clipper, store, block):
    call = {"name": "big", "args": {}, "id": "call_1"}
    said = AIMessage([{"type": "tool_use", "id": "call_1", "name": "big", "input": {}, **block}], tool_calls=[call])
    agent = create_agent(scripted(said), [big], middleware=[SpilloverMiddleware(clipper)])
    for messages in (agent.invoke({"messages": []})["messages"], (await agent.ainvoke({"messages": []}))["messages"]):
        assert answers(messages)[0].content == BIG
        assert len(list(store.list())) == 1
