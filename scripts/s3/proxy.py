"""A proxy in front of an S3 server, for tests: it counts what passes, and does what networks and servers do at their worst.

proxy = Proxy(server.port)
proxy.faults = {"drop": 0.1}      # each request, by chance; or `proxy.script = ["503", None, "corrupt"]`
proxy.requests, proxy.received    # how many, and bytes of answers
"""

from __future__ import annotations

import random
import socket
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self

STATUSES = {"403": "Forbidden", "404": "Not Found", "409": "Conflict", "412": "Precondition Failed", "429": "Too Many Requests", "500": "Internal Server Error", "503": "Service Unavailable"}  # fmt: skip
#: Refusals that S3 has a name for, and their statuses.
NAMED = {"NoSuchBucket": "404", "RequestTimeTooSkewed": "403"}
#: Every fault it knows: before the request is passed on, or to the answer.
FAULTS = (
    *STATUSES,
    *NAMED,
    "drop",
    "lose",
    "delay",
    "truncate",
    "duplicate",
    "corrupt",
    "corrupt_up",
    "late",
    "hang",
    "bare_tags",
)
DELAY_SECONDS, LATE_SECONDS, HANG_SECONDS = 0.3, 3.0, 30.0


class Proxy:
    """Listens on a free port of loopback; each connection is a thread."""

    def __init__(self, target: int, seed: str = "") -> None:
        self.target = target
        self.faults: dict[str, float] = {}
        self.script: list[str | None] = []
        self.done: dict[str, int] = {}
        self.requests: list[str] = []
        self.received = 0
        self.sent = 0
        self._dice = random.Random(seed)  # noqa: S311  chance, not secrecy
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._ended = False
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = True
        self._listener.close()

    def reset(self) -> None:
        """Count from here on."""
        with self._lock:
            self.requests, self.received, self.sent = [], 0, 0

    def _accept(self) -> None:
        while not self._ended:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            with client:
                while not self._ended and self._exchange(client):
                    pass
        except OSError:
            return

    def _exchange(self, client: socket.socket) -> bool:
        """Pass one request on, and its answer back; whether the connection goes on."""
        request = _read_message(client)
        if request is None:
            return False
        head, body = request
        fault = self._fault()
        with self._lock:
            self.requests.append(head.split(b"\r\n", 1)[0].decode("latin-1"))
            self.sent += len(body)
            if fault:
                self.done[fault] = self.done.get(fault, 0) + 1
        if fault == "drop":
            return False
        if fault == "hang":
            time.sleep(HANG_SECONDS)
            return False
        if fault in ("delay", "late"):
            time.sleep(DELAY_SECONDS if fault == "delay" else LATE_SECONDS)
        if fault in STATUSES or fault in NAMED:
            client.sendall(_refusal(fault))
            return True
        if fault == "bare_tags" and b'if-match: "' in head.lower():  # radosgw compares the tag without its quotes
            client.sendall(_refusal("412"))
            return True
        if fault == "corrupt_up" and body:
            body = self._flip(body)
        answer = self._forward(head + body, head)
        if fault == "duplicate":
            answer = self._forward(head + body, head)
        if answer is None or fault in ("lose", "late"):
            return False  # it was done, and nobody hears of it
        answer_head, answer_body = answer
        with self._lock:
            self.received += len(answer_body)
        if fault == "truncate":
            client.sendall(answer_head + answer_body[: len(answer_body) // 2])
            return False
        if fault == "corrupt" and answer_body:
            answer_body = self._flip(answer_body)
        client.sendall(answer_head + answer_body)
        return b"connection: close" not in answer_head.lower()

    def _fault(self) -> str | None:
        with self._lock:
            if self.script:
                return self.script.pop(0)
            rolled = self._dice.random()
        for name, chance in self.faults.items():
            if rolled < chance:
                return name
            rolled -= chance
        return None

    def _flip(self, body: bytes) -> bytes:
        """Change one byte, by chance: what always changed the same one would undo on the way back what it did on the way there."""
        with self._lock:
            at, bits = self._dice.randrange(len(body)), self._dice.randint(1, 255)
        return body[:at] + bytes([body[at] ^ bits]) + body[at + 1 :]

    def _forward(self, request: bytes, head: bytes) -> tuple[bytes, bytes] | None:
        try:
            with socket.create_connection(("127.0.0.1", self.target), 30) as server:
                server.sendall(request)
                return _read_message(server, no_body=head.startswith(b"HEAD "))
        except OSError:
            return None


def _read_message(source: socket.socket, *, no_body: bool = False) -> tuple[bytes, bytes] | None:
    """Read a head and its body; None when the other side has gone."""
    data = bytearray()
    while (end := data.find(b"\r\n\r\n")) < 0:
        part = source.recv(1 << 16)
        if not part:
            return None
        data += part
    head, body = bytes(data[: end + 4]), bytearray(data[end + 4 :])
    fields = {
        name.strip().lower(): value.strip()
        for name, _, value in (line.partition(b":") for line in head.split(b"\r\n")[1:])
    }
    if no_body or head.startswith((b"HTTP/1.1 204", b"HTTP/1.1 304", b"HTTP/1.1 100")):
        return head, b""
    if fields.get(b"expect", b"").lower() == b"100-continue":
        source.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    if b"chunked" in fields.get(b"transfer-encoding", b"").lower():
        while not body.endswith(b"0\r\n\r\n"):
            part = source.recv(1 << 16)
            if not part:
                return None
            body += part
        return head, bytes(body)
    length = int(fields.get(b"content-length", b"0"))
    while len(body) < length:
        part = source.recv(min(1 << 20, length - len(body)))
        if not part:
            return None
        body += part
    return head, bytes(body)


def _refusal(fault: str) -> bytes:
    status = NAMED.get(fault, fault)
    code = fault if fault in NAMED else STATUSES[status].replace(" ", "")
    body = f"<Error><Code>{code}</Code><Message>by the proxy</Message></Error>".encode()
    head = (
        f"HTTP/1.1 {status} {STATUSES[status]}\r\nContent-Type: application/xml\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
