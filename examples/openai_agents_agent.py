"""OpenAI Agents SDK: bounded tools, and the tools to go back. The model here is a script; leave `model=` out for the real one."""

import asyncio

from agents import Agent, RunConfig, Runner, function_tool
from agents.items import ToolCallOutputItem
from agents.testing import ScriptedModel, assistant_message, function_call

from spillover import Clipper, Limits, MemoryStore
from spillover.frameworks.openai_agents import bound_tools, output_tools


@function_tool
def run_tests() -> str:
    """Run the tests."""
    return "".join(f"test {n} ... {'FAILED: expected 4, got 5' if n == 31_415 else 'ok'}\n" for n in range(1, 50_001))


async def main() -> None:
    model = ScriptedModel(
        [
            [function_call("run_tests", {}, call_id="call_1")],
            [function_call("grep_output", {"ref": "last", "pattern": "FAILED"}, call_id="call_2")],
            [assistant_message("Test 31415 fails: it expected 4 and got 5.")],
        ]
    )
    clipper = Clipper(Limits(tokens=200), store=MemoryStore(), hints="tools")
    agent = Agent(name="tester", model=model, tools=[*bound_tools([run_tests], clipper), *output_tools(clipper)])
    result = await Runner.run(agent, "Why do the tests fail?", run_config=RunConfig(tracing_disabled=True))
    for item in result.new_items:
        if isinstance(item, ToolCallOutputItem):
            print(f"The model gets:\n{item.output}\n")
    print(f"The model says:\n{result.final_output}")


if __name__ == "__main__":
    asyncio.run(main())
