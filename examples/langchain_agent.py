"""LangChain: one line of middleware. The model here is a script; yours is `init_chat_model(...)`."""

from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, ToolMessage

from spillover import Clipper, Limits, MemoryStore
from spillover.frameworks.langchain import SpilloverMiddleware


def run_tests() -> str:
    """Run the tests."""
    return "".join(f"test {n} ... {'FAILED: expected 4, got 5' if n == 31_415 else 'ok'}\n" for n in range(1, 50_001))


class ScriptedModel(FakeMessagesListChatModel):
    """Says what it is told to, whatever it is asked."""

    def bind_tools(self, tools: Any, **_: Any) -> "ScriptedModel":
        print("The model has:", *sorted(tool.name for tool in tools))
        return self


def asking(name: str, **arguments: str) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call_{name}"}])


def main() -> None:
    model = ScriptedModel(
        responses=[
            asking("run_tests"),
            asking("grep_output", ref="last", pattern="FAILED"),
            AIMessage("Test 31415 fails: it expected 4 and got 5."),
        ]
    )
    clipper = Clipper(Limits(tokens=200), store=MemoryStore(), hints="tools")
    agent: Any = create_agent(model, [run_tests], middleware=[SpilloverMiddleware(clipper)])
    state = agent.invoke({"messages": [{"role": "user", "content": "Why do the tests fail?"}]})
    for message in state["messages"]:
        if isinstance(message, ToolMessage):
            print(f"\n{message.name}; the model gets:\n{message.content}")
    print(f"\nThe model says:\n{state['messages'][-1].content}")


if __name__ == "__main__":
    main()
