"""Attacks over HTTP, without the token or with too much of everything: real sockets, the real process."""

import asyncio
import json
import os
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from mcp import Client

from spillover.errors import UsageError
from spillover.serving.door import Bounds, Door, is_loopback, token_in

PATIENCE = 30  # seconds; only guards against hanging
ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
#: `spill mcp --http 0 -- SERVER` with custom bounds.
SERVE = """
import json, sys
from spillover import Clipper
from spillover.adapters.mcp import Bounds, Server, serve
from spillover.cli.output import complain
bounds, argv = json.loads(sys.argv[1]), sys.argv[2:]
servers = [Server(name="behind", argv=argv)] if argv else []
serve(Clipper(), servers, at=("127.0.0.1", 0), bounds=Bounds(**bounds), complain=complain)
"""


@pytest.fixture
def bounded(mcp):
    """Start the server with these bounds."""

    def start(*argv, **bounds):
        served, process = mcp.served([mcp.python, "-c", SERVE, json.dumps(bounds), *argv])
        return served.url, served.headers, process

    return start


def post(url, message=INITIALIZE, **headers):
    given = {key.replace("_", "-"): value for key, value in headers.items()}
    return httpx2.post(url, json=message, headers=ACCEPT | given, timeout=PATIENCE)


def children(process):
    """Return the child processes of a process: its servers and their guards."""
    found = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    names = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in found}
    return [int(pid) for pid, words in names.items() if b"spill-guard" not in words]


def eventually(what, want):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if what() == want:
            return True
        time.sleep(0.02)
    return what() == want


@pytest.mark.parametrize(
    ("how", "status"),
    [
        ({}, 401),
        ({"authorization": "Bearer wrong"}, 401),
        ({"authorization": "Bearer"}, 401),
        ({"authorization": "Basic TOKEN"}, 401),
        ({"authorization": "TOKEN"}, 401),
        ({"authorization": "Bearer TOKENx"}, 401),
        ({"authorization": "Bearer TOKEN", "host": "evil.example"}, 421),
        ({"authorization": "Bearer TOKEN", "host": "127.0.0.1.evil.example:80"}, 421),
        ({"authorization": "Bearer TOKEN", "host": "localhost:80@evil.example"}, 421),
        ({"authorization": "Bearer TOKEN", "host": "192.0.2.1"}, 421),
        ({"authorization": "Bearer TOKEN", "origin": "http://evil.example"}, 403),
        ({"authorization": "Bearer TOKEN", "origin": "null"}, 403),
        ({"authorization": "Bearer TOKEN", "origin": "http://127.0.0.1.evil.example"}, 403),
        ({"authorization": "Bearer TOKEN"}, 200),
        ({"authorization": "bearer TOKEN", "host": "localhost:1", "origin": "http://localhost:3000"}, 200),
    ],
)
def test_only_a_request_with_the_token_and_our_host_name_starts_a_server(mcp, shared, how, status):
    url, headers, process = shared
    token = headers["Authorization"].split()[1]
    before = children(process)
    answer = post(url, **{key: value.replace("TOKEN", token) for key, value in how.items()})
    assert answer.status_code == status
    assert answer.headers.get("www-authenticate") == ("Bearer" if status == 401 else None)
    if status != 200:
        assert children(process) == before
        assert answer.json()["error"]["message"].endswith(".")
        assert token not in answer.text
    else:
        httpx2.delete(url, headers={**headers, "mcp-session-id": answer.headers["mcp-session-id"]})


def test_a_token_in_the_query_is_not_accepted(shared):
    url, headers, _ = shared
    token = headers["Authorization"].split()[1]
    for name in ("token", "access_token", "authorization"):
        assert post(f"{url}?{name}={token}").status_code == 401


@pytest.fixture(scope="module")
def shared(shared_mcp):
    served, process = shared_mcp.over_http("--", *shared_mcp.plain)
    return served.url, served.headers, process


def test_each_start_has_a_token_of_its_own(mcp):
    tokens = {mcp.over_http()[0].headers["Authorization"] for _ in range(2)}
    assert len(tokens) == 2
    assert all(len(token) > 40 for token in tokens)


async def test_the_token_of_a_file_is_not_printed_and_lasts(mcp):
    path = mcp.folder / "token"
    for _ in range(2):
        process = mcp.started(mcp.spill("--http", "0", "--token-file", path), stderr=subprocess.PIPE)
        line = process.stderr.readline()
        token = path.read_text().strip()
        assert token not in line
        assert str(path) in line
        url = line.split("serving MCP at ")[1].split(";")[0]
        assert post(url, authorization=f"Bearer {token}").status_code == 200
        process.terminate()
        process.wait(PATIENCE)
    assert path.stat().st_mode & 0o777 == 0o600


def file_of(mode):
    def make(path):
        path.write_text("a-token-that-is-long-enough\n")
        path.chmod(mode)

    return make


def link(path):
    file_of(0o600)(path.with_name("other"))
    path.symlink_to("other")


#: name → (what is at the path, the message)
TOKEN_FILES = {
    "others may read it": (file_of(0o644), "chmod 600"),
    "its group may read it": (file_of(0o640), "chmod 600"),
    "a link": (link, "symbolic link"),
    "a link to nothing": (lambda path: path.symlink_to("nothing"), "symbolic link"),
    "a folder": (lambda path: path.mkdir(), "not a plain file"),
    "a pipe": (lambda path: os.mkfifo(path, 0o600), "not a plain file"),
    "too short": (lambda path: (path.touch(0o600), path.write_text("short\n")), "holds no token"),
    "empty": (lambda path: path.touch(0o600), "holds no token"),
    "two lines": (lambda path: (path.touch(0o600), path.write_text("a" * 20 + "\n" + "b" * 20)), "holds no token"),
    "no text": (lambda path: (path.touch(0o600), path.write_bytes(b"\xff" * 40)), "holds no token"),
    "huge": (lambda path: (path.touch(0o600), path.write_text("x" * 100_000)), "holds no token"),
    "a folder that is not there": (lambda path: None, "cannot be created"),
}


@pytest.mark.parametrize("name", TOKEN_FILES)
def test_a_token_file_that_others_could_have_is_refused(tmp_path, name):
    make, words = TOKEN_FILES[name]
    path = tmp_path / ("token" if name != "a folder that is not there" else "no/token")
    make(path)
    with pytest.raises(UsageError, match=words):
        token_in(str(path))


def test_a_token_file_of_somebody_else_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "token"
    file_of(0o600)(path)
    assert token_in(str(path)) == "a-token-that-is-long-enough"
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    with pytest.raises(UsageError, match="another user"):
        token_in(str(path))


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--http", "0.0.0.0:0"], "--allow-remote"),
        (["--http", "[::]:0"], "--allow-remote"),
        (["--http", "example.com:0"], "--allow-remote"),
        (["--token-file", "t"], "--http"),
        (["--allow-remote"], "--http"),
    ],
)
def test_what_would_let_others_in_is_refused_before_anything_listens(mcp, words, complaint):
    ran = subprocess.run(
        mcp.spill(*words), env=mcp.env, cwd=mcp.folder, input="", capture_output=True, text=True, check=False
    )
    assert (ran.returncode, complaint in ran.stderr) == (2, True), ran.stderr
    assert "Traceback" not in ran.stderr
    assert "serving" not in ran.stderr


def test_with_allow_remote_others_are_served_and_there_is_a_warning(mcp):
    command = mcp.spill("--http", "0.0.0.0:0", "--allow-remote", "--allow-host", "Box.example")
    process = mcp.started(command, stderr=subprocess.PIPE)
    warning, line = process.stderr.readline(), process.stderr.readline()
    assert "warning" in warning
    entry = json.loads(line[line.index("{") :])
    url = entry["url"]  # as it is printed, it works
    assert "0.0.0.0" not in url
    key = entry["headers"]["Authorization"]
    statuses = {
        host: post(url, authorization=key, host=host).status_code
        for host in ("192.0.2.1:80", "box.example", socket.gethostname().lower(), "evil.example")
    }
    assert list(statuses.values()) == [200, 200, 200, 421]
    assert post(url).status_code == 401
    assert post(url, authorization=key, origin="http://192.0.2.9").status_code == 403


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost", True),
        ("LOCALHOST", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.1.2", False),
        ("localhost.evil.example", False),
        ("", False),
    ],
)
def test_which_addresses_are_loopback(host, expected):
    assert is_loopback(host) is expected


def test_a_taken_port_is_said_in_a_line(mcp):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = subprocess.run(
            mcp.spill("--http", str(port)),
            env=mcp.env,
            cwd=mcp.folder,
            input="",
            capture_output=True,
            text=True,
            check=False,
        )
    assert ran.returncode == 2
    other = f"--http 127.0.0.1:{port + 1}" if port < 65_535 else "another port"
    assert ran.stderr == f"spill: cannot listen on 127.0.0.1:{port}: Address already in use. Try {other}.\n"


def test_the_token_is_compared_as_a_whole_in_constant_time():
    """A comparison that stops at the first difference would reveal how much of a guess is right."""
    compared = []

    class Watched(str):
        __slots__ = ()

        def __eq__(self, other):
            compared.append(other)
            return super().__eq__(other)

        __hash__ = str.__hash__

    door = Door(token=Watched("secret-secret-secret"), host="127.0.0.1")
    for guess in ("secret-secret-secret", "secret", "ä", "x" * 100_000):
        refused = door.refuses({"host": "localhost", "authorization": f"Bearer {guess}"})
        assert (refused is None) is (guess == "secret-secret-secret")
    assert compared == []


@pytest.mark.parametrize("most", [{"sessions": 3}, {"children": 3}])
def test_fifty_handshakes_at_once_start_no_more_servers_than_the_bound(bounded, mcp, most):
    """25 requests used to start 25 children."""
    url, headers, process = bounded(*mcp.plain, **most)
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda _: post(url, **headers), range(50)))
        assert len(children(process)) <= 3
    assert sorted({answer.status_code for answer in answers}) == [200, 503]
    assert sum(answer.status_code == 200 for answer in answers) == 3
    refused = next(answer for answer in answers if answer.status_code == 503)
    assert "3 sessions are open" in refused.json()["error"]["message"]
    assert refused.headers["retry-after"]
    ids = [answer.headers["mcp-session-id"] for answer in answers if answer.status_code == 200]
    httpx2.delete(url, headers={**headers, "mcp-session-id": ids[0]})
    assert eventually(lambda: len(children(process)), 2)
    assert post(url, **headers).status_code == 200


def test_a_session_idle_for_long_makes_room_for_a_new_one(bounded, mcp):
    """A client that restarts often without ending its sessions must not lock itself out for half an hour."""
    url, headers, process = bounded(*mcp.plain, sessions=2, spare_seconds=0)
    first = post(url, **headers).headers["mcp-session-id"]
    for _ in range(4):
        assert post(url, **headers).status_code == 200
        assert len(children(process)) <= 2
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    assert post(url, ping, **headers, mcp_session_id=first).status_code == 404


def test_idle_sessions_end_and_their_servers_with_them(bounded, mcp):
    url, headers, process = bounded(*mcp.plain, idle_session_seconds=0.2)
    answer = post(url, **headers)
    assert answer.status_code == 200
    assert eventually(lambda: children(process), [])
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    gone = post(url, ping, **headers, mcp_session_id=answer.headers["mcp-session-id"])
    assert gone.status_code == 404


def opened(url, said=b""):
    parts = urlsplit(url)
    connection = socket.create_connection((parts.hostname, parts.port), PATIENCE)
    with suppress(OSError):
        connection.sendall(said)
    return connection


def sockets_of(process):
    links = []
    for entry in os.scandir(f"/proc/{process.pid}/fd"):
        with suppress(OSError):
            links.append(os.readlink(entry.path))
    return sum(link.startswith("socket:") for link in links)


HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n"


@pytest.mark.parametrize(
    "said", [b"", b"POST /mcp", HEAD, b"\r\n"], ids=["nothing", "half a line", "half the headers", "empty lines"]
)
def test_slow_sockets_are_closed_in_time_and_keep_nobody_out(bounded, said):
    """900 slow sockets used to stay open."""
    url, headers, process = bounded(sockets=20, header_seconds=1)
    before = sockets_of(process)
    with ExitStack() as stack:
        slow = [stack.enter_context(opened(url, said)) for _ in range(300)]
        assert post(url, **headers).status_code == 200  # they push out each other, not a client that sends a request
        assert sockets_of(process) <= before + 20 + 5  # a few are being closed
        for connection in slow:
            with suppress(ConnectionError):
                connection.sendall(b"X-More: 1\r\n" if said == HEAD else b"")  # which extends no deadline
        for connection in slow:
            connection.settimeout(PATIENCE)
            with suppress(ConnectionError):
                while connection.recv(4_096):
                    pass
    assert eventually(lambda: sockets_of(process) <= before + 1, want=True)


def test_a_second_request_that_is_slow_is_not_waited_for_either(bounded):
    url, _, _ = bounded(header_seconds=0.5, idle_socket_seconds=0.5)
    with opened(url, b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n" + HEAD) as connection:
        connection.settimeout(PATIENCE)
        said = b""
        with suppress(ConnectionError):
            while part := connection.recv(4_096):
                said += part
    assert said.count(b"HTTP/1.1") == 1


def test_a_slow_body_is_not_waited_for(bounded):
    url, headers, _ = bounded(body_seconds=0.5)
    key = headers["Authorization"].encode()
    lines = [HEAD.strip(), b"Authorization: " + key, b"Content-Type: application/json", b"Content-Length: 100"]
    with opened(url, b"\r\n".join(lines) + b"\r\n\r\n{") as connection:
        connection.settimeout(PATIENCE)
        said = b""
        with suppress(ConnectionError):
            while part := connection.recv(4_096):
                said += part
    assert said.startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize("chunked", [False, True], ids=["declared", "chunked"])
def test_a_large_body_is_refused_in_words_and_starts_nothing(bounded, mcp, chunked):
    url, headers, process = bounded(*mcp.plain, body_bytes=10_000)
    body = json.dumps({**INITIALIZE, "more": "x" * 10_000}).encode()
    content = (body[at : at + 999] for at in range(0, len(body), 999)) if chunked else body
    answer = httpx2.post(url, content=content, headers=ACCEPT | headers)
    assert answer.status_code == 413
    assert "10,000 bytes" in answer.json()["error"]["message"]
    assert children(process) == []
    assert post(url, **headers).status_code == 200


def test_large_headers_are_refused(bounded):
    url, headers, _ = bounded(header_bytes=4_000)
    assert post(url, **headers, x_more="x" * 9_000).status_code == 431
    assert post(url, **headers).status_code == 200


def test_without_the_token_not_even_the_body_is_read(bounded):
    url, _, _ = bounded(body_seconds=60)
    lines = [HEAD.strip(), b"Content-Type: application/json", b"Content-Length: 1000000"]
    with opened(url, b"\r\n".join(lines) + b"\r\n\r\n{") as connection:
        assert connection.recv(4_096).startswith(b"HTTP/1.1 401")


def test_a_refusal_reaches_a_client_that_is_still_sending(bounded):
    # Closed on unread bytes, the connection was reset, and the client saw that instead of the 401.
    url, _, _ = bounded()
    size = 900_000
    lines = [HEAD.strip(), b"Content-Type: application/json", b"Content-Length: %d" % size]
    with opened(url, b"\r\n".join(lines) + b"\r\n\r\n") as connection:
        connection.sendall(b"x" * size)
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))
    assert answer.startswith(b"HTTP/1.1 401")
    assert "error" in json.loads(answer.partition(b"\r\n\r\n")[2])


def test_a_refused_client_that_never_ends_is_closed_on(bounded):
    url, _, _ = bounded(body_seconds=60)
    lines = [HEAD.strip(), b"Content-Type: application/json", b"Content-Length: 100000000"]
    with opened(url, b"\r\n".join(lines) + b"\r\n\r\n") as connection, suppress(OSError):
        for _ in range(100):
            connection.sendall(b"x" * 1_000_000)
        pytest.fail("100 MB were taken from a client without a token")


def test_an_upgrade_is_no_way_around(bounded):
    url, _, _ = bounded()
    assert post(url, connection="upgrade", upgrade="websocket", sec_websocket_key="x").status_code == 401


async def test_a_session_and_a_hundred_strangers_at_once(mcp):
    served, _ = mcp.over_http("--", *mcp.plain)
    async with Client(served.transport(), mode="legacy") as client:
        strangers = [asyncio.to_thread(post, served.url) for _ in range(100)]
        calls = [client.call_tool("pid") for _ in range(20)]
        answers = await asyncio.gather(*strangers, *calls)
    assert {answer.status_code for answer in answers[:100]} == {401}
    assert len({result.content[0].text for result in answers[100:]}) == 1


def test_every_bound_is_documented_with_its_number():
    page = (Path(__file__).parents[3] / "docs" / "adapters" / "mcp.md").read_text(encoding="utf-8")
    for name in Bounds.__slots__:
        value = getattr(Bounds(), name)
        assert f"| `{name}` | {value:,.0f} |" in page, name
