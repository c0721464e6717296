"""The contract for coding agents: through their hooks the model gets the very text, and the store the very output, that a Clipper gives."""

import json

import pytest

from spillover import Clipper, DirStore, Limits, MemoryStore
from spillover.adapters import claude_code, opencode
from spillover.testing import FailingStore, content

LINES = "".join(f"line {number}\n" for number in range(1, 5_001))
ROWS = [{"id": number, "name": f"row {number}", "ok": number != 777} for number in range(1, 1_001)]
IMAGE = {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="}
OUTPUTS = {
    "small": ["all is well\n"],
    "huge": [LINES],
    "one huge line": ["x" * 200_000],
    "binary": [(bytes(range(256)) * 300).decode("utf-8", "replace")],
    "text and image": [LINES, IMAGE, "and after it\n"],
    "huge error": ["Error: it broke\n" + LINES],
    "data": [json.dumps({"rows": ROWS})],
}


def through_claude_code(clipper, tool, response):
    asked = {"hook_event_name": "PostToolUse", "tool_name": tool, "tool_input": {}, "tool_response": response}
    said = claude_code.reply({**asked, "tool_use_id": "call_1"}, lambda: clipper)
    return response if said is None else said["hookSpecificOutput"]["updatedToolOutput"]


def claude_code_blocks(clipper, parts):
    blocks = through_claude_code(clipper, "mcp__s__probe", as_blocks(parts))
    return [block.get("text", IMAGE) for block in blocks]


def claude_code_text(clipper, parts):
    return [through_claude_code(clipper, "mcp__s__probe", parts[0])]


def claude_code_bash(clipper, parts):
    given = {"stdout": parts[0], "stderr": "", "interrupted": False}
    new = through_claude_code(clipper, "Bash", given)
    assert {**new, "stdout": parts[0]} == given
    return [new["stdout"]]


def opencode_blocks(clipper, parts):
    said = opencode.reply({"tool": "s_probe", "callID": "call_1", "content": as_blocks(parts)}, lambda: clipper)
    return [block.get("text", IMAGE) for block in (said or {"content": as_blocks(parts)})["content"]]


def opencode_text(clipper, parts):
    said = opencode.reply({"tool": "bash", "callID": "call_1", "output": parts[0]}, lambda: clipper)
    return [(said or {"output": parts[0]})["output"]]


def as_blocks(parts):
    return [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]


#: host → the tool's name there, and how a result goes through it
HOSTS = {
    "claude code, mcp blocks": ("mcp__s__probe", claude_code_blocks),
    "claude code, mcp text": ("mcp__s__probe", claude_code_text),
    "claude code, bash": ("Bash", claude_code_bash),
    "opencode, mcp blocks": ("s_probe", opencode_blocks),
    "opencode, bash": ("bash", opencode_text),
}
each_host = pytest.mark.parametrize(("tool", "through"), HOSTS.values(), ids=HOSTS)
each_output = pytest.mark.parametrize("parts", OUTPUTS.values(), ids=OUTPUTS)


def chosen(store):
    return Clipper(Limits(bytes=900), store=store, hints="cli")


def expected(clipper, tool, parts):
    """Without a host between; what fits is left alone by a host, control codes and all."""
    blocks = clipper.clip_blocks(as_blocks(parts), tool=tool, call_id="call_1")
    return parts if blocks.clip.outcome == "whole" else [block.get("text", IMAGE) for block in blocks]


def kept(store):
    return [(one.ref, one.tool, one.call_id, one.lines, one.shown, content(store, one.ref)) for one in store.list()]


@each_host
@each_output
def test_the_same_text_and_the_same_facts(tmp_path, tool, through, parts):
    if len(parts) > 1 and "blocks" not in through.__name__:
        parts = parts[:1]  # a text has no room for an image
    without, store = DirStore(tmp_path / "without"), DirStore(tmp_path / "with")
    assert through(chosen(store), parts) == expected(chosen(without), tool, parts)
    assert kept(store) == kept(without)


@each_host
def test_a_store_that_fails_is_said_and_the_call_survives(tool, through):
    clipper = chosen(FailingStore(MemoryStore()))
    (text,) = through(clipper, [LINES])
    assert [text] == expected(clipper, tool, [LINES])
    assert "No space left on device" in text
