"""JSON-RPC messages as MCP has them, one a line, read only as far as somebody needs to know. No pipe is touched here."""

from __future__ import annotations

import json
import re
from contextlib import suppress

import msgspec

from spillover.settings.limits import read_int

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

#: What JSON-RPC and MCP call these.
PARSE_ERROR, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR, CONNECTION_CLOSED = (
    -32700,
    -32601,
    -32602,
    -32603,
    -32000,
)
#: What a message has beside its parameters or its result: its version, its id, its method.
BARE = 3_000
#: So deep a message is read that is nested too deeply to be read whole.
DEEPEST = 20
#: Where a request of the stateless protocol (2026-07-28 on) says which version it speaks.
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"


class _Parts(msgspec.Struct):
    """The parts of a message; the large ones stay as they are written."""

    id: int | str | float | msgspec.UnsetType | None = msgspec.UNSET
    method: str | msgspec.UnsetType = msgspec.UNSET
    params: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_PARTS = msgspec.json.Decoder(_Parts)
_ANYTHING = msgspec.json.Decoder()
_ENCODER = msgspec.json.Encoder()


class Message:
    """One message: what it is, and the line it came in."""

    __slots__ = ("_parts", "id", "line", "method")

    def __init__(self, line: bytes, parts: _Parts) -> None:
        self.line, self._parts = line, parts
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
    def any_params(self) -> Any:
        """The parameters, of whatever shape they are."""
        return None if self._parts.params is msgspec.UNSET else loads(self._parts.params)

    @property
    def is_bare(self) -> bool:
        """Whether a message has hardly anything beside its one part: parameters, a result or an error."""
        parts = self._parts
        answer = parts.error if parts.result is msgspec.UNSET else parts.result
        part = answer if self.method is None else parts.params
        return len(self.line) - (0 if part is msgspec.UNSET else len(bytes(part))) <= BARE

    @property
    def result(self) -> Any:
        """What was answered; None where it was an error."""
        return None if self._parts.result is msgspec.UNSET else loads(self._parts.result)

    @property
    def error(self) -> Any:
        return None if self._parts.error is msgspec.UNSET else loads(self._parts.error)

    def with_params(self, params: Any) -> bytes:
        """Return the same request, or notification, with other parameters."""
        id_ = {} if self._parts.id is msgspec.UNSET else {"id": self.id}
        return dumps({"jsonrpc": "2.0", **id_, "method": self.method, "params": params})


def messages(line: bytes) -> Iterator[Message]:
    """Yield the message of a line, or those of a batch; nothing where the line is none of both."""
    if not line or line.isspace():
        return
    try:
        if not line.isascii():
            line.decode()  # what is passed over is not looked at, and whoever reads it next may end over it
        yield Message(line, _PARTS.decode(line))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        # A batch; broken UTF-8; halves of surrogate pairs; NaN: Python takes what others have written.
        with suppress(ValueError, RecursionError, msgspec.MsgspecError):
            value = _lenient(line)
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, dict):
                    mended = dumps(one)
                    yield Message(mended, _PARTS.decode(mended))


def read_deep(line: bytes) -> Message | None:
    """Return the message of a line that is nested too deeply to be read, as far as it can be; None where it is none."""
    try:
        text = line.decode("utf-8", "replace")
        read = without_the_deepest(text, DEEPEST, "")
        return Message(text.encode(), _PARTS.decode(read.encode()))
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return None


#: Strings, which are passed over as a whole, and brackets. A string that never ends matches, too: it is looked at once.
_TOKEN = re.compile(r'(?s)"(?:[^"\\]++|\\.)*+"?|[\[\]{}]')


def without_the_deepest(text: str, deepest: int, word: str | None = None) -> str:
    """Return JSON with a word, or else a string of JSON, for all that is nested deeper, without a call for each level."""
    pieces, depth, at, start = [], 0, 0, 0
    for token in _TOKEN.finditer(text):
        if token[0] in ("[", "{"):
            depth += 1
            if depth == deepest + 1:
                start = token.start()
                pieces.append(text[at:start])
        elif token[0] in ("]", "}"):
            depth -= 1
            if depth == deepest:
                pieces.append(json.dumps(text[start : token.end()] if word is None else word))
                at = token.end()
    return "".join((*pieces, text[at:]))


def loads(data: bytes | msgspec.Raw) -> Any:
    try:
        return _ANYTHING.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return _lenient(bytes(data))


def _lenient(data: bytes) -> Any:
    return json.loads(data.decode("utf-8", "replace"), parse_constant=lambda _: None, parse_int=read_int)


def dumps(value: Any) -> bytes:
    """Return a line without its end."""
    try:
        return _ENCODER.encode(value)
    except (UnicodeEncodeError, ValueError, OverflowError, TypeError):
        return json.dumps(value, default=_plain, ensure_ascii=False).encode("utf-8", "replace")  # half a surrogate pair


def written(value: Any) -> str:
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
