"""Whichever process dies, and however: calls are answered, and no process or partial output is left behind."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from mcp import MCPError

from spillover.cli.output import EXIT_SERVER_ENDED
from spillover.store import verify

SERVERS = Path(__file__).parent / "servers"
PATIENCE = 30  # seconds; only guards against hanging


def running(pid):
    """Return whether a process is running, and not merely a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        if sys.platform == "linux":
            return False
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


def all_gone(pids):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        left = [pid for pid in pids if running(pid)]
        if not left:
            return True
        time.sleep(0.05)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return False


def guards(server):
    """Return the processes that guard a server's group."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if path.read_bytes().split(b"\0")[3:5] == [b"spill-guard", str(server).encode()]:
                found.append(int(path.parent.name))
    return found


@pytest.fixture
def started(mcp):
    """Start a client, its proxy, the server behind that, and a child of the server."""

    def start(*options):
        command = [sys.executable, str(SERVERS / "client.py"), *mcp.spill("--", *mcp.plain, *options)]
        client = mcp.started(command, stdout=subprocess.PIPE, start_new_session=True)
        proxy, server, child = map(int, client.stdout.readline().split())
        assert all(map(running, (proxy, server, child)))
        return client, proxy, server, child

    return start


@pytest.mark.parametrize(
    "options", [[], ["--stubborn"]], ids=["a server that ends with its stdin", "one that does not"]
)
@pytest.mark.parametrize("victim", ["client", "proxy"])
def test_killing_one_ends_all(started, victim, options):
    client, proxy, server, child = started(*options)
    watching = guards(server)
    os.kill(client.pid if victim == "client" else proxy, signal.SIGKILL)
    assert all_gone([proxy, server, child, *watching])
    client.kill()


def test_killing_the_server_ends_the_proxy_and_what_the_server_left(started):
    client, proxy, server, child = started()
    os.kill(server, signal.SIGKILL)
    assert all_gone([server, child, *guards(server)])
    os.waitid(os.P_PID, client.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    assert all_gone([proxy])
    client.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_proxy_in_order(started, number):
    client, proxy, server, child = started()
    os.kill(proxy, number)
    assert all_gone([proxy, server, child])
    client.kill()


@pytest.mark.parametrize(("given", "how"), [({"hard": True}, "ended by signal 9"), ({}, "ended with exit code 3")])
def test_a_call_in_flight_is_answered_with_an_error_and_the_exit_is_clear(mcp, given, how):
    call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "die", "arguments": given}}
    process = mcp.started(
        mcp.spill("--", *mcp.plain), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdin.write(json.dumps(call) + "\n")
    process.stdin.flush()  # stdin stays open, because the client does not leave
    [said] = [json.loads(process.stdout.readline())]
    assert said["id"] == 7
    assert f"{how} during this call" in said["error"]["message"]
    assert process.wait(PATIENCE) == EXIT_SERVER_ENDED
    assert how in process.stderr.read()


def test_a_call_that_was_waiting_for_the_list_is_answered_too(mcp):
    """The proxy asks for the list first; if the server dies then, the call must still be answered."""
    process = mcp.started(
        mcp.spill("--", sys.executable, "-c", "input(); raise SystemExit(5)"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdin.write('{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"}}\n')
    process.stdin.flush()
    assert "exit code 5" in json.loads(process.stdout.readline())["error"]["message"]
    assert process.wait(PATIENCE) == EXIT_SERVER_ENDED


def test_what_was_asked_before_the_client_left_is_answered(mcp):
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "flood", "arguments": {"lines": 50_000}},
        },
    ]
    given = "".join(json.dumps(each) + "\n" for each in asked)
    ran = subprocess.run(
        mcp.spill("--", *mcp.plain),
        env=mcp.env,
        input=given,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    answers = {said["id"]: said["result"] for said in map(json.loads, ran.stdout.splitlines())}
    assert answers[1] == {}
    assert answers[2]["content"][0]["text"].startswith("[Output clipped")


def test_killed_while_it_stores_it_leaves_no_half_output(mcp):
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    for wait in (0.3, 0.4, 0.5, 0.6):
        process = mcp.started(mcp.spill("--", *mcp.plain), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        for id_ in range(5):
            params = {"name": "flood", "arguments": {"lines": 100_000 + id_}}
            process.stdin.write(json.dumps({**call, "id": id_, "params": params}) + "\n")
        process.stdin.flush()
        time.sleep(wait)
        process.kill()
        process.wait(PATIENCE)
    for record in mcp.store.list():
        assert not record.partial
        assert verify(mcp.store, record.ref) is None


def test_a_client_that_does_not_read_is_waited_for_and_its_leaving_is_seen(mcp):
    process = mcp.started(mcp.spill("--", *mcp.plain), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    result = {"content": [{"type": "image", "data": "A" * 2_000_000, "mimeType": "image/png"}]}
    for id_ in range(3):
        params = {"name": "say", "arguments": {"result": result}}
        process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params}) + "\n")
        process.stdin.flush()
    process.stdout.close()
    process.stdin.close()
    assert process.wait(PATIENCE) == 0


async def test_a_server_at_a_url_that_dies_gives_an_error_and_an_end(mcp):
    url, server = mcp.sdk_url()
    held = await mcp.direct(mcp.over_pipes("--url", url), mode="legacy")
    client = await held.client()
    calling = asyncio.ensure_future(client.call_tool("slow"))
    await asyncio.sleep(0.3)
    server.kill()
    with pytest.raises(MCPError):
        await asyncio.wait_for(calling, PATIENCE)
    with pytest.raises(MCPError):
        await asyncio.wait_for(client.call_tool("small"), PATIENCE)
    await held.close()


def test_a_server_at_a_url_where_nobody_is_gives_an_error(mcp):
    process = mcp.started(
        mcp.spill("--url", "http://127.0.0.1:9/mcp"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdin.write('{"jsonrpc":"2.0","id":7,"method":"initialize","params":{}}\n')
    process.stdin.flush()
    assert "no longer there" in json.loads(process.stdout.readline())["error"]["message"]
    assert process.wait(PATIENCE) == EXIT_SERVER_ENDED
    assert "127.0.0.1:9" in process.stderr.read()


HEADERS = ["--header", "Authorization: Bearer $TOKEN", "--header", "X-Team: a$$b"]


@pytest.mark.parametrize("words", [HEADERS, []])
async def test_a_server_at_a_url_gets_the_headers_with_values_from_the_environment(mcp, words):
    """`spill mcp --url` could send no headers, so that no server with a login could be reached."""
    url, _ = mcp.sdk_url("authorization: Bearer s3cret", "x-team: a$b")
    held = await mcp.direct(mcp.over_pipes("--url", url, *words, TOKEN="s3cret\n"), mode="legacy")
    if not words:
        with pytest.raises(ExceptionGroup):
            await held.client()
        return
    result = await (await held.client()).call_tool("small")
    assert result.content[0].text == "a few words"
    await held.close()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--header", "A: b", "--", "true"], "--header needs --url"),
        (["--url", "http://x/mcp", "--header", "secret"], "--header must be 'NAME: VALUE'"),
        (["--url", "http://x/mcp", "--header", "a b: secret"], "--header must be 'NAME: VALUE'"),
        (["--url", "http://x/mcp", "--header", "A: secret $NOT_THERE"], "variable NOT_THERE is not set"),
        (["--url", "http://x/mcp", "--header", "A: secret $ 5"], "write $$ for a $"),
        (["--url", "http://x/mcp", "--header", "A: secret\nB: c"], "only have printable ASCII"),
        (["--url", "http://x/mcp", "--header", "A: secret é"], "only have printable ASCII"),
    ],
)
def test_a_wrong_header_exits_2_and_its_value_is_not_repeated(mcp, words, complaint):
    ran = subprocess.run(mcp.spill(*words), env=mcp.env, input="", capture_output=True, text=True, check=False)
    assert (ran.returncode, complaint in ran.stderr, "secret" in ran.stderr) == (2, True, False), ran.stderr
