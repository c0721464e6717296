"""An in-memory client and servers with the relay between them, for tests that would be too slow with processes."""

import asyncio
import json
from types import SimpleNamespace

import pytest

from spillover import Clipper, Limits
from spillover.mcp.relay import Relay

CHARS = 4_000


class Side:
    """An in-memory client or server."""

    name, reads, modern = "behind", True, True

    def __init__(self):
        self.sent, self.lines = [], asyncio.Queue()

    async def __aiter__(self):
        while (line := await self.lines.get()) is not None:
            yield line

    def say(self, message):
        self.lines.put_nowait(json.dumps({"jsonrpc": "2.0", **message}).encode())

    async def send(self, line):
        self.sent.append(line)
        await self.react(json.loads(line))

    async def react(self, message):
        pass

    async def has(self, count):
        """Wait until this many messages have been sent to it."""
        for _ in range(20_000):  # only guards against hanging
            if len(self.sent) >= count:
                return
            await asyncio.sleep(0.001)
        raise AssertionError(f"{len(self.sent)} of {count} messages")

    async def start(self):
        pass

    async def close(self):
        self.lines.put_nowait(None)
        return "ended"


class Behind(Side):
    """A server that answers as instructed."""

    def __init__(self, answers):
        super().__init__()
        self.answers = answers

    async def react(self, message):
        if "id" in message and "method" in message:
            self.say({"id": message["id"], **self.answers.get(message["method"], {"result": {"tools": []}})})


async def passed(store, messages=(), answers=None, asked=None):
    """Return what a client receives: from messages a server sends on its own, or from its answer to a request."""
    client, server = Side(), Behind(answers or {})
    relay = Relay(client, server, Clipper(Limits(chars=CHARS), store=store, hints="tools"))
    for message in messages:
        server.say(message)
    if asked:
        client.say({"id": 7, "method": asked, "params": {"name": "t", "uri": "a:b"}})
    running = asyncio.ensure_future(relay.run())
    await client.has(1)
    client.lines.put_nowait(None)
    await running
    return client.sent


@pytest.fixture(scope="session")
def memory():
    return SimpleNamespace(Side=Side, Behind=Behind, passed=passed, chars=CHARS)
