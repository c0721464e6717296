"""Fixtures for MCP: the official client, `spill mcp` as a separate process, servers behind it; and all of it in memory."""

import asyncio
import json
import os
import subprocess
import sys
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from spillover import Clipper, DirStore, Limits
from spillover.mcp.relay import Relay

SERVERS = Path(__file__).parent / "servers"
CODE = "import sys; from spillover.cli import main; sys.exit(main())"
PATIENCE = 60  # seconds; only guards against hanging
#: The Python that runs `spill mcp`: `scripts.frameworks --latest` names one that has another version of the SDK.
PYTHON = os.environ.get("MCP_TEST_PYTHON") or sys.executable


class Held:
    """A client that stays open between tests; one task enters and exits it, as it requires."""

    def __init__(self, context):
        self.context, self.leave = context, asyncio.Event()
        self.entered = asyncio.get_running_loop().create_future()
        self.task = asyncio.ensure_future(self._hold())

    async def _hold(self):
        try:
            async with self.context as client:
                self.entered.set_result(client)
                await self.leave.wait()
        except BaseException as error:
            if self.entered.done():
                raise
            self.entered.set_exception(error)

    async def client(self):
        return await asyncio.wait_for(self.entered, PATIENCE)

    async def close(self):
        self.leave.set()
        await asyncio.wait_for(self.task, PATIENCE)


class Mcp:
    """Everything that an MCP test needs, with its own store."""

    def __init__(self, folder):
        self.folder, self.python = folder, PYTHON
        self.store = DirStore(folder / "store")
        self.env = {**os.environ, "HOME": str(folder), "SPILLOVER_STORE": str(self.store.root)}
        self.processes = []

    @property
    def plain(self):
        """Return the command of the server that uses only the standard library."""
        return [sys.executable, str(SERVERS / "plain.py")]

    @property
    def sdk(self):
        """Return the command of the server built with the official SDK."""
        return [sys.executable, "-W", "ignore", str(SERVERS / "sdk.py")]

    def spill(self, *words):
        return [PYTHON, "-c", CODE, "mcp", *map(str, words)]

    def over_pipes(self, *words, **env):
        """Return the parameters with which the official client starts `spill mcp`."""
        from mcp import StdioServerParameters

        command, *args = self.spill(*words)
        return StdioServerParameters(command=command, args=args, env=self.env | env, cwd=self.folder)

    def started(self, command, **options):
        """Start a process that is ended after the test."""
        process = subprocess.Popen(command, env=self.env, cwd=self.folder, text=True, **options)
        self.processes.append(process)
        return process

    def sdk_url(self, *needed):
        """Start the server built with the official SDK, over HTTP, with needed headers; return its URL and the process."""
        process = self.started([*self.sdk, "http", *needed], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return f"http://127.0.0.1:{process.stdout.readline().strip()}/mcp", process

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                process.terminate()
        for process in self.processes:
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    with suppress(BrokenPipeError):
                        stream.close()
            process.wait(PATIENCE)

    @asynccontextmanager
    async def client(self, *words, env=None, **options):
        """Connect the official client to `spill mcp` over pipes."""
        from mcp import Client

        async with Client(self.over_pipes(*words, **(env or {})), read_timeout_seconds=PATIENCE, **options) as client:
            yield client

    async def direct(self, target, **options):
        """Connect a client to any server and keep it open."""
        from mcp import Client

        return Held(Client(target, read_timeout_seconds=PATIENCE, **options))


@pytest.fixture
def mcp(tmp_path):
    made = Mcp(tmp_path)
    yield made
    made.end()


@pytest.fixture(scope="module")
def shared_mcp(tmp_path_factory):
    """Share one `Mcp` among all tests of a module."""
    made = Mcp(tmp_path_factory.mktemp("mcp"))
    yield made
    made.end()


#: The limit in memory, where a client and a server stand around the relay; processes would be too slow.
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
