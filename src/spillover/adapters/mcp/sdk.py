"""The messages and transports of the official SDK, of `mcp` 1.x and 2.x alike. Whatever differs between them is here."""

from __future__ import annotations

from contextlib import asynccontextmanager

from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import ClientMessageMetadata, SessionMessage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from typing import Any

try:
    import httpx2 as httpx
    from mcp_types import JSONRPCResponse, jsonrpc_message_adapter

    parse = jsonrpc_message_adapter.validate_json
    OLD = False
except ImportError:  # mcp 1.x
    import httpx  # type: ignore[no-redef, import-not-found, unused-ignore]
    from mcp.types import JSONRPCMessage, JSONRPCResponse

    parse = JSONRPCMessage.model_validate_json  # type: ignore[attr-defined]
    OLD = True

__all__ = ("JSONRPCResponse", "connect", "line_of", "parse", "said", "with_headers")


def said(message: SessionMessage) -> Any:
    """Return the request, notification or response in a message."""
    return message.message.root if OLD else message.message  # type: ignore[union-attr]


def line_of(message: Any) -> bytes:
    """Return a message as it goes over a pipe."""
    return message.message.model_dump_json(by_alias=True, exclude_unset=True).encode()  # type: ignore[no-any-return]


def with_headers(message: Any, headers: Mapping[str, str]) -> SessionMessage:
    """Return a message to be posted with these headers; 1.x adds the version of the protocol by itself."""
    return SessionMessage(message) if OLD else SessionMessage(message, ClientMessageMetadata(headers=dict(headers)))


@asynccontextmanager
async def connect(url: str, headers: Mapping[str, str], patience: float) -> AsyncIterator[tuple[Any, Any]]:
    """Connect to a server at a URL; what is read from it, and what is written to it."""
    bounds = {} if OLD else {"max_sse_event_size": None}  # before 2.x there is no bound
    timeout = httpx.Timeout(patience, read=None)
    async with (
        httpx.AsyncClient(headers=dict(headers), timeout=timeout) as client,
        streamable_http_client(url, http_client=client, **bounds) as streams,  # type: ignore[arg-type]
    ):
        yield streams[0], streams[1]
