"""After one hostile result or one bug of ours, all other calls go on, and every waiting call is answered."""

import asyncio
import json
import threading

import pytest

from spillover import Clipper, Limits, MemoryStore
from spillover.mcp import relay, results
from spillover.mcp.relay import SMALL_BYTES, Catalog, Relay
from spillover.testing import content as stored

FLOOD = "the quick brown fox\n" * 20_000
RESULT = {"content": [{"type": "text", "text": FLOOD}]}
PATIENCE = 30  # seconds; only guards against hanging


def between(memory, answers, complain=lambda _: None, store=None):
    client, server = memory.Side(), memory.Behind(answers)
    clipper = Clipper(Limits(chars=memory.chars), store=store or MemoryStore(), hints="tools")
    made = Relay(client, server, clipper, complain=complain)
    return client, server, asyncio.ensure_future(made.run())


async def end(client, running):
    client.lines.put_nowait(None)
    await asyncio.wait_for(running, PATIENCE)


@pytest.mark.parametrize("where", ["result", "notification", "list", "prompt"])
async def test_while_a_large_message_is_clipped_others_are_answered(memory, monkeypatch, where):
    """Clipping runs in a thread, so the event loop continues, however long it takes."""
    begun, release = threading.Event(), threading.Event()

    def slow(function):
        def waits(*args, **options):
            begun.set()
            assert release.wait(PATIENCE)
            return function(*args, **options)

        return waits

    for module in (results, relay):
        for name in ("tool_result", "prompt_result", "bound_data", "bound_strings"):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, slow(getattr(module, name)))
    answers = {"tools/call": {"result": RESULT}, "prompts/get": {"result": {"messages": [], "description": FLOOD}}}
    client, server, running = between(memory, answers)
    other, _, others = between(memory, {"ping": {"result": {}}})
    if where == "notification":
        server.say({"method": "notifications/message", "params": {"data": FLOOD}})
    else:
        method = {"result": "tools/call", "list": "tools/list", "prompt": "prompts/get"}[where]
        client.say({"id": 1, "method": method, "params": {"name": "t"}})
    assert await asyncio.to_thread(begun.wait, PATIENCE)
    other.say({"id": 2, "method": "ping"})
    await other.has(1)
    assert client.sent == []
    release.set()
    await client.has(1)
    await end(client, running)
    await end(other, others)


class Broken(Exception):  # noqa: N818  the name says enough
    """A bug of ours."""


def breaks(*_args, **_options):
    raise Broken("x" * 5_000)


#: What fails, and the client's request.
DEFECTS = {
    "clipping": (results, "tool_result", "tools/call"),
    "clipping a prompt": (results, "prompt_result", "prompts/get"),
    "bounding": (results, "bound_strings", "resources/list"),
    "an error": (results, "bound_error", "error"),
    "the choices of a tool": (Catalog, "policy", "tools/call"),
    "the look before": (relay, "passes_unread", "tools/call"),
    "the thread": (asyncio, "to_thread", "tools/call"),
}


@pytest.mark.parametrize("large", [True, False])
@pytest.mark.parametrize("defect", DEFECTS)
async def test_a_bug_of_ours_is_reported_to_the_client_and_stops_nothing_else(memory, monkeypatch, defect, large):
    module, name, asked = DEFECTS[defect]
    text = FLOOD if large else "ä" * 4_000  # too large to skip clipping, too small for a thread
    assert (len(json.dumps(text)) > SMALL_BYTES) is large or not large
    results = {
        "tools/call": {"result": {"content": [{"type": "text", "text": text}]}},
        "prompts/get": {"result": {"messages": [], "description": text}},
        "resources/list": {"result": {"resources": [{"uri": text}]}},
        "error": {"error": {"code": 1, "message": text}},
    }
    store = MemoryStore()
    client, _, running = between(memory, results, store=store)
    client.say({"id": 0, "method": "tools/list"})
    await client.has(1)
    with monkeypatch.context() as broken:
        broken.setattr(module, name, breaks)
        client.say({"id": 1, "method": asked, "params": {"name": "t"}})
        await client.has(2)
    said = json.loads(client.sent[1])
    assert said["id"] == 1
    if "error" in said and "xxx" in json.dumps(said):
        assert len(said["error"]["message"]) <= 600
        if large and module is results:
            assert any(FLOOD[:99] in stored(store, r.ref).decode().replace("\\n", "\n") for r in store.list())
            assert any(record.ref in said["error"]["message"] for record in store.list())
    else:  # the broken function was not needed
        assert not large or defect == "the thread"
    client.say({"id": 2, "method": "tools/call", "params": {"name": "t"}})
    await client.has(3)
    assert "result" in json.loads(client.sent[2])
    await end(client, running)


async def test_a_bug_in_handling_a_servers_own_message_is_reported_to_the_server(memory, monkeypatch):
    complaints = []
    client, server, running = between(memory, {}, complaints.append)
    with monkeypatch.context() as broken:
        broken.setattr(relay, "bound_message", breaks)
        server.say({"id": "q", "method": "elicitation/create", "params": {"message": FLOOD}})
        await server.has(1)
        server.say({"method": "notifications/message", "params": {"data": FLOOD}})
        server.say({"method": "notifications/x"})
        await client.has(1)
    told = json.loads(server.sent[0])
    assert (told["id"], told["error"]["code"]) == ("q", -32603)
    assert json.loads(client.sent[0])["method"] == "notifications/x"
    assert len(complaints) == 2
    assert all("could not be passed on" in words and len(words) <= 200 for words in complaints)
    await end(client, running)


async def test_a_result_that_nests_too_deep_is_answered_and_the_next_one_is_served(memory):
    deep = (
        b'{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":' + b"[" * 100_000 + b"]" * 100_000 + b"}}"
    )
    store = MemoryStore()
    client, server, running = between(memory, {"ping": {"result": {}}}, store=store)
    client.say({"id": 0, "method": "tools/list"})
    await client.has(1)

    async def deeply(message):
        if message.get("method") == "tools/call":
            server.lines.put_nowait(deep)
        else:
            await type(server).react(server, message)

    server.react = deeply
    client.say({"id": 1, "method": "tools/call", "params": {"name": "t"}})
    client.say({"id": 2, "method": "ping"})
    await client.has(3)
    answers = {said["id"]: said for said in map(json.loads, client.sent)}
    assert answers[2] == {"jsonrpc": "2.0", "id": 2, "result": {}}
    assert "cannot be read" in answers[1]["error"]["message"]
    [record] = store.list()
    assert record.ref in answers[1]["error"]["message"]
    assert stored(store, record.ref) == deep
    await end(client, running)


def nested(id_, tool, levels, leaf="1"):
    arguments = '{"ref":' * levels + leaf + "}" * levels
    # The id of the request stands last, and another one where it would be looked for first.
    return f'{{"jsonrpc":"2.0","method":"tools/call","params":{{"name":"{tool}","id":9,"arguments":{arguments}}},"id":{id_}}}'.encode()


@pytest.mark.parametrize("levels", [900, 5_000, 100_000])
async def test_arguments_that_nest_deep_reach_a_server_as_they_came(memory, levels):
    """What could not be read whole was refused without an id, and the client waited for ever."""
    client, server, running = between(memory, {})
    client.say({"id": 0, "method": "tools/list"})
    await client.has(1)
    got = []

    async def send(line):
        got.append(line)
        server.lines.put_nowait(b'{"jsonrpc":"2.0","id":7,"result":{"content":[]}}')

    server.send = send
    line = nested(7, "t", levels)
    client.lines.put_nowait(line)
    await client.has(2)
    assert got == [line]
    assert json.loads(client.sent[1]) == {"jsonrpc": "2.0", "id": 7, "result": {"content": []}}
    client.lines.put_nowait(nested(8, "read_output", levels))
    await client.has(3)
    told = json.loads(client.sent[2])
    assert (told["id"], told["result"]["isError"]) == (8, True)
    assert "not a string" in told["result"]["content"][0]["text"]
    client.lines.put_nowait(b"[" * levels)  # no message at all
    await client.has(4)
    assert json.loads(client.sent[3])["error"]["code"] == -32700
    await end(client, running)


async def test_what_merely_mentions_a_call_does_not_end_it(memory):
    """Servers print anything; only a line that starts like an answer to a call counts as one."""
    complaints = []
    client, server, running = between(memory, {"ping": {}}, complaints.append)
    server.react = lambda message: asyncio.sleep(0)
    client.say({"id": 1, "method": "ping"})
    await server.has(1)
    for line in (b'DEBUG got {"id":1,"method":"ping"}', b'{"id":1,"log":', b'{"id":2,"result":[', b"[1,"):
        server.lines.put_nowait(line)
    server.say({"id": 1, "result": {}})
    await client.has(1)
    assert json.loads(client.sent[0])["result"] == {}
    assert len(complaints) == 4
    await end(client, running)
