"""MCP: the official client, `spill mcp` as a process of its own, and servers behind it."""

import asyncio
import json
import os
import subprocess
import sys
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from spillover import DirStore

SERVERS = Path(__file__).parent / "servers"
CODE = "import sys; from spillover.cli import main; sys.exit(main())"
PATIENCE = 60  # only guards against hanging


class Held:
    """A client that stays open from test to test: entered and left in one task, as it wants to be."""

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
    """Everything a test of MCP needs, with a store of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.store = DirStore(folder / "store")
        self.env = {**os.environ, "HOME": str(folder), "SPILLOVER_STORE": str(self.store.root)}
        self.processes = []

    @property
    def plain(self):
        """A server of the standard library alone."""
        return [sys.executable, str(SERVERS / "plain.py")]

    @property
    def sdk(self):
        """A server by the official SDK."""
        return [sys.executable, "-W", "ignore", str(SERVERS / "sdk.py")]

    def spill(self, *words):
        return [sys.executable, "-c", CODE, "mcp", *map(str, words)]

    def over_pipes(self, *words, **env):
        """`spill mcp` for the official client to start."""
        from mcp import StdioServerParameters

        command, *args = self.spill(*words)
        return StdioServerParameters(command=command, args=args, env=self.env | env, cwd=self.folder)

    def started(self, command, **options):
        """A process that ends with the test."""
        process = subprocess.Popen(command, env=self.env, cwd=self.folder, text=True, **options)
        self.processes.append(process)
        return process

    def over_http(self, *words):
        """`spill mcp --http`, started; where it is, and the process."""
        process = self.started(self.spill("--http", "0", *words), stderr=subprocess.PIPE)
        return process.stderr.readline().split()[-1], process

    def sdk_url(self):
        """The server by the official SDK, over HTTP, started."""
        process = self.started([*self.sdk, "http"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return f"http://127.0.0.1:{process.stdout.readline().strip()}/mcp", process

    def servers(self, **servers):
        path = self.folder / "servers.json"
        path.write_text(json.dumps({"mcpServers": servers}))
        return path

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
        """The official client of `spill mcp` over pipes."""
        from mcp import Client

        async with Client(self.over_pipes(*words, **(env or {})), read_timeout_seconds=PATIENCE, **options) as client:
            yield client

    async def direct(self, target, **options):
        """A client of whatever it is, held open."""
        from mcp import Client

        return Held(Client(target, read_timeout_seconds=PATIENCE, **options))


@pytest.fixture
def mcp(tmp_path):
    made = Mcp(tmp_path)
    yield made
    made.end()


@pytest.fixture(scope="module")
def shared_mcp(tmp_path_factory):
    """The same for all tests of a module."""
    made = Mcp(tmp_path_factory.mktemp("mcp"))
    yield made
    made.end()
