"""What servers answer: finished, noted and sent on, a large answer beside everything else."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial

from spillover.adapters.mcp.answer import finished, survived, with_tools
from spillover.adapters.mcp.ask import Call
from spillover.adapters.mcp.message import INTERNAL_ERROR, Message, messages, refusal
from spillover.adapters.mcp.noting import NOTED, finish_and_note, note_answer
from spillover.adapters.mcp.result import surely_fits
from spillover.base.data import replace
from spillover.notice.words import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from spillover.adapters.mcp.ask import Ask, Link
    from spillover.adapters.mcp.catalog import Catalog
    from spillover.adapters.mcp.many import Many

    class Between(Protocol):
        """Who stands between the client and the servers."""

        client: Link
        host: str
        catalog: Catalog
        ask: Ask
        many: Many
        calls: dict[Any, Call]

        def beside(self, task: asyncio.Task[None]) -> None: ...


#: A result up to this size is clipped where it is; a larger one in a thread, so that nobody waits for it.
SMALL = 1 << 13
#: How much is told of why an answer could not be finished.
FAILED_CHARS = 200


class Finishing:
    """Answers on their way from the servers to the client."""

    def __init__(self, relay: Between) -> None:
        self.relay = relay

    async def take(self, message: Message) -> None:
        """Send an answer on to the client; a large one is finished in a thread."""
        if self.relay.ask.answered(message):
            return
        call = self.relay.calls.pop(message.id, None)
        if call is None:  # cancelled, or never asked: nobody waits for it
            return
        finish = self._finisher(call, message)
        choices = self.relay.catalog.tool(call.tool or call.method).choices
        noted = call.method in NOTED
        if finish is None:
            await self.relay.client.send(message.line)
            if noted and not self.relay.catalog.tool(call.tool or call.method).left_alone:
                note_answer(message, message.line, choices, self.relay.host)
            return
        work = partial(survived, finish, message, choices)
        if noted:
            work = partial(finish_and_note, work, message, choices, self.relay.host)
        if len(message.line) <= SMALL:
            await self.relay.client.send(work())
        else:
            self.relay.beside(asyncio.ensure_future(self._finish_beside(message, work)))

    async def finished(self, method: str, message: Message, id_: Any) -> bytes:
        """Return an answer to a request of our own as the answer to the client's."""
        finish = self._finisher(Call(method, ""), message)
        if finish is None:
            return message.with_id(id_)
        line = await asyncio.to_thread(survived, finish, message, self.relay.catalog.tool(method).choices)
        return next(messages(line), message).with_id(id_)

    async def _finish_beside(self, message: Message, finish: Callable[[], bytes]) -> None:
        try:
            line = await asyncio.to_thread(finish)
        except Exception as error:  # noqa: BLE001  no thread could be had, for one; the client waits all the same
            line = refusal(
                message.id, INTERNAL_ERROR, one_line(f"The result could not be read: {error!r}", FAILED_CHARS)
            )
        with suppress(ConnectionError):
            await self.relay.client.send(line)

    def _finisher(self, call: Call, message: Message) -> Callable[[], bytes] | None:
        """Return what is to be done with an answer before the client has it; None: nothing."""
        if call.method in ("initialize", "server/discover"):
            self.relay.many.heard(call.server, message)
            return partial(with_tools, message, self.relay.catalog.tool(call.method).choices)
        tool = self.relay.catalog.tool(call.tool or call.method)
        if tool.left_alone or surely_fits(message.line, tool.choices):
            return None
        return partial(finished, call.method, message, replace(tool, choices=tool.choices.asking(call.query)))
