"""What passes through the proxy, and what our own tools cost, is in the journal to the token."""

import asyncio
import json

from spillover import Clipper, DirStore, Limits, journal
from spillover.mcp.message import to_json
from spillover.mcp.relay import Relay
from spillover.stats import add_up
from spillover.tokens import estimate

LONG = "".join(f"row {number} of a table\n" for number in range(3_000))


async def test_texts_that_a_client_got_are_what_the_journal_adds_up_to(memory, tmp_path):
    store = DirStore(tmp_path / "store")
    text = {"type": "text", "text": "short"}
    results = [
        {"content": [text]},
        {"content": [{"type": "text", "text": LONG}]},
        {"content": [{"type": "text", "text": LONG}, text, {"type": "image", "data": "eA==", "mimeType": "image/png"}]},
        {"content": [], "structuredContent": {"rows": [1, 2]}},
        {"content": [{"type": "text", "text": json.dumps({"rows": LONG})}], "structuredContent": {"rows": LONG}},
        {"content": [{"type": "text", "text": "\x1b[31mred\x1b[0m"}]},
    ]
    answers = iter(results)

    class Server(memory.Behind):
        async def react(self, message):
            if message.get("method") == "tools/list":
                self.say({"id": message["id"], "result": {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}})
            elif message.get("method") == "tools/call":
                self.say({"id": message["id"], "result": next(answers)})
            elif message.get("method") == "initialize":
                self.say({"id": message["id"], "result": {"capabilities": {}, "serverInfo": {"name": "s"}}})

    client, server = memory.Side(), Server({})
    clipper = Clipper(Limits(tokens=500), store=store, hints="tools", stats=True)
    relay = Relay(client, server, clipper)
    running = asyncio.ensure_future(relay.run())
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "claude-code", "version": "1"}}
    client.say({"id": 0, "method": "initialize", "params": hello})
    await client.has(1)
    client.say({"id": 1, "method": "tools/list"})
    await client.has(2)
    for number in range(len(results)):
        client.say({"id": 10 + number, "method": "tools/call", "params": {"name": "t", "arguments": {}}})
        await client.has(3 + number)
    done = 2 + len(results)
    ours = [
        {"name": "read_output", "arguments": {"ref": "last", "lines": "2:5"}},
        {"name": "grep_output", "arguments": {"ref": "nothing", "pattern": "x"}},
        {"name": "read_output", "arguments": {}},
        {"name": "list_outputs", "arguments": {}},
    ]
    for number, call in enumerate(ours):
        client.say({"id": 50 + number, "method": "tools/call", "params": call})
        await client.has(done + 1 + number)
    client.lines.put_nowait(None)
    await running
    sent = [json.loads(line) if isinstance(line, (bytes, str)) else line for line in client.sent]
    listed = next(one for one in sent if one.get("id") == 1)["result"]["tools"]
    schemas = estimate(to_json([tool for tool in listed if tool["name"] != "t"]))

    def tokens(first, last):
        answered = [one["result"] for one in sent if one.get("id", -1) in range(first, last)]
        return sum(
            sum(estimate(block["text"]) for block in result["content"] if block["type"] == "text")
            or estimate(to_json(result["structuredContent"]))
            for result in answered
        )

    total = add_up(journal.read_all(str(store.root))).total
    assert total.shown + total.notices == tokens(10, 10 + len(results))
    assert total.fetched == tokens(50, 50 + len(ours))
    assert total.schemas == schemas > 0
    assert (total.clips, total.cut, total.retrievals) == (len(results), 3, len(ours))
    assert {entry.host for entry in journal.read(str(store.root)) if entry.operation == "clip"} == {"Claude Code"}
