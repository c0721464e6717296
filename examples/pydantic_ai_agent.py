"""Pydantic AI: one toolset around another, and the tools to go back. The model here is a script; yours is `Agent("...")`."""

import asyncio

from pydantic_ai import (
    Agent,
    FunctionToolset,
    ModelMessage,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from spillover import Clipper, Limits, MemoryStore
from spillover.frameworks.pydantic_ai import SpilloverToolset, output_tools


def run_tests() -> str:
    """Run the tests."""
    return "".join(f"test {n} ... {'FAILED: expected 4, got 5' if n == 31_415 else 'ok'}\n" for n in range(1, 50_001))


def scripted_model(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    """Stands for the API: runs the tests, looks for what failed, and is done."""
    for part in messages[-1].parts:
        if isinstance(part, ToolReturnPart):
            print(f"{part.tool_name}; the model gets:\n{part.content}\n")
    script: list[ModelResponsePart] = [
        ToolCallPart("run_tests", {}),
        ToolCallPart("grep_output", {"ref": "last", "pattern": "FAILED"}),
        TextPart("Test 31415 fails: it expected 4 and got 5."),
    ]
    return ModelResponse([script[len(messages) // 2]])


async def main() -> None:
    clipper = Clipper(Limits(tokens=200), store=MemoryStore(), hints="tools")
    toolsets = [SpilloverToolset(FunctionToolset([run_tests]), clipper), output_tools(clipper)]
    result = await Agent(FunctionModel(scripted_model), toolsets=toolsets).run("Why do the tests fail?")
    print(f"The model says:\n{result.output}")


if __name__ == "__main__":
    asyncio.run(main())
