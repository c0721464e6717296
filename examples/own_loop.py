"""A loop of your own: what tools print is clipped, and the model goes back by itself. The model here is a script; yours is an API."""

import json
from typing import Any

from spillover import Clipper, Limits, MemoryStore

clipper = Clipper(Limits(tokens=200), store=MemoryStore(), hints="tools")


def run_tests() -> str:
    return "".join(f"test {n} ... {'FAILED: expected 4, got 5' if n == 31_415 else 'ok'}\n" for n in range(1, 50_001))


TOOLS = {"run_tests": run_tests}
SPECS = [
    {
        "type": "function",
        "function": {"name": "run_tests", "description": "Run the tests.", "parameters": {"type": "object"}},
    },
    *clipper.tool_specs("openai"),
]


def call(name: str, arguments: str, call_id: str) -> str:
    """What a call is answered with. All of it fits, and nothing raises."""
    if clipper.handles(name):
        return clipper.dispatch(name, arguments).text
    return clipper.clip(TOOLS[name](**json.loads(arguments)), tool=name, call_id=call_id).text


def scripted_model(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
    """Stands for the API: runs the tests, looks for what failed, and is done."""
    assert [tool["function"]["name"] for tool in tools][:2] == ["run_tests", "read_output"]
    turn = sum(message["role"] == "assistant" for message in messages)
    script = [("run_tests", {}), ("grep_output", {"ref": "last", "pattern": "FAILED", "context": 1})]
    if turn == len(script):
        return {"role": "assistant", "content": "Test 31415 fails: it expected 4 and got 5."}
    name, arguments = script[turn]
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"role": "assistant", "tool_calls": [{"id": f"call_{turn}", "type": "function", "function": function}]}


def main() -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Why do the tests fail?"}]
    while True:
        said = scripted_model(messages, SPECS)
        messages.append(said)
        if "tool_calls" not in said:
            print(f"The model says:\n{said['content']}")
            return
        for made in said["tool_calls"]:
            function = made["function"]
            answer = call(function["name"], function["arguments"], made["id"])
            print(f"{function['name']}({function['arguments']}); the model gets:\n{answer}\n")
            messages.append({"role": "tool", "tool_call_id": made["id"], "content": answer})


if __name__ == "__main__":
    main()
