"""JSON-RPC messages as MCP has them, one a line, each read only as far as needed. No pipe is touched here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec

from spillover.hosts.hook import cut_deep_parts
from spillover.settings.limits import read_int

#: Codes of errors in JSON-RPC and MCP.
PARSE_ERROR = -32700
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
CONNECTION_CLOSED = -32000
#: Bytes of a message beside its parameters or its result: version, id, method. A message with more is written anew.
BARE_BYTES = 3_000
#: Arguments of a tool up to this size are read for what they ask; larger ones are a document, which costs time to read.
SHORT_ARGUMENTS_BYTES = 1 << 16
#: The levels that are read of a message that is nested too deeply to be read whole.
DEPTH_OF_DEEP = 20
#: Where a request of the stateless protocol (2026-07-28 on) says which version it speaks.
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"


class _Parts(msgspec.Struct):
    """The parts of a message; the large ones stay as they are written."""

    id: int | str | float | msgspec.UnsetType | None = msgspec.UNSET
    method: str | msgspec.UnsetType = msgspec.UNSET
    params: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _ToolCall(msgspec.Struct):
    """The parameters of tools/call; the arguments stay as they are written."""

    name: Any = None
    arguments: msgspec.Raw = msgspec.Raw(b"null")


_TOOL_CALL = msgspec.json.Decoder(_ToolCall)
_PARTS = msgspec.json.Decoder(_Parts)
_VALUE = msgspec.json.Decoder()
_ENCODER = msgspec.json.Encoder()


class Message:
    """One message: what it is, and the line it came in."""

    __slots__ = ("_parts", "id", "line", "method")

    def __init__(self, line: bytes, parts: _Parts) -> None:
        self.line = line
        self._parts = parts
        self.id = None if parts.id is msgspec.UNSET else parts.id
        self.method = None if parts.method is msgspec.UNSET else parts.method

    @property
    def is_request(self) -> bool:
        return self.method is not None and self._parts.id is not msgspec.UNSET

    @property
    def params(self) -> dict[str, Any]:
        value = None if self._parts.params is msgspec.UNSET else loads(self._parts.params)
        return value if isinstance(value, dict) else {}

    @property
    def is_modern(self) -> bool:
        """Whether a request is one of the stateless protocol: it says so itself."""
        meta = self.params.get("_meta")
        return isinstance(meta, dict) and VERSION_KEY in meta

    @property
    def own_params(self) -> dict[str, Any]:
        """The parameters of a request of our own for the same client: who it is, in the stateless protocol."""
        meta = self.params["_meta"] if self.is_modern else {}
        return {"_meta": {key: value for key, value in meta.items() if key != "progressToken"}} if meta else {}

    def read_call(self) -> tuple[Any, Any]:
        """Return the tool of tools/call, and its arguments; None for arguments longer than a question."""
        try:
            call = _TOOL_CALL.decode(self._parts.params or b"{}")
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return self.params.get("name"), self.params.get("arguments")
        is_short = len(bytes(call.arguments)) <= SHORT_ARGUMENTS_BYTES
        return call.name, loads(call.arguments) if is_short else None

    @property
    def any_params(self) -> Any:
        """The parameters, of whatever shape they are."""
        return None if self._parts.params is msgspec.UNSET else loads(self._parts.params)

    @property
    def is_bare(self) -> bool:
        """Whether a message has hardly anything beside its one part: parameters, a result or an error."""
        parts = self._parts
        answer = parts.error if parts.result is msgspec.UNSET else parts.result
        part = answer if self.method is None else parts.params
        return len(self.line) - (0 if part is msgspec.UNSET else len(bytes(part))) <= BARE_BYTES

    @property
    def result(self) -> Any:
        """The result; None if there is none."""
        return None if self._parts.result is msgspec.UNSET else loads(self._parts.result)

    @property
    def error(self) -> Any:
        return None if self._parts.error is msgspec.UNSET else loads(self._parts.error)

    def with_params(self, params: Any) -> bytes:
        """Return the line of the same request, or notification, with other parameters."""
        id_ = {} if self._parts.id is msgspec.UNSET else {"id": self.id}
        return dumps({"jsonrpc": "2.0", **id_, "method": self.method, "params": params})


def messages(line: bytes) -> Iterator[Message]:
    """Yield the message of a line, or the messages of a batch; nothing if the line is neither."""
    if not line or line.isspace():
        return
    try:
        if not line.isascii():
            line.decode()  # the decoder does not look at what it passes over, and the next reader may fail on it
        yield Message(line, _PARTS.decode(line))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        # A batch; broken UTF-8; halves of surrogate pairs; NaN: Python takes what others have written.
        with suppress(ValueError, RecursionError, msgspec.MsgspecError):
            value = _lenient(line)
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, dict):
                    mended = dumps(part)
                    yield Message(mended, _PARTS.decode(mended))


def read_deep(line: bytes) -> Message | None:
    """Return the message of a line that is nested too deeply, as far as it can be read; None if it is no message."""
    try:
        text = line.decode("utf-8", "replace")
        return Message(text.encode(), _PARTS.decode(cut_deep_parts(text, DEPTH_OF_DEEP, "").encode()))
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return None


def loads(data: bytes | msgspec.Raw) -> Any:
    """Return the value of JSON, of broken UTF-8 and of NaN too."""
    try:
        return _VALUE.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return _lenient(bytes(data))


def _lenient(data: bytes) -> Any:
    return json.loads(data.decode("utf-8", "replace"), parse_constant=lambda _: None, parse_int=read_int)


def dumps(value: Any) -> bytes:
    """Return a value as JSON on one line, without a line end."""
    try:
        return _ENCODER.encode(value)
    except (UnicodeEncodeError, ValueError, OverflowError, TypeError):
        return json.dumps(value, default=_plain, ensure_ascii=False).encode("utf-8", "replace")  # half a surrogate pair


def to_json(value: Any) -> str:
    """Return data as hosts write it into a conversation: in the longest of their forms, so that it fits in each."""
    return json.dumps(value)


def _plain(value: Any) -> Any:
    return loads(value) if isinstance(value, msgspec.Raw) else str(value)


def answer(id_: Any, result: Any) -> bytes:
    return dumps({"jsonrpc": "2.0", "id": id_, "result": result})


def refusal(id_: Any, code: int, message: str) -> bytes:
    return dumps({"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}})


def request(id_: Any, method: str, params: dict[str, Any]) -> bytes:
    return dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})
