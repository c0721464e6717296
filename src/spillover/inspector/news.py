"""What has changed, told to every page that is open, as server-sent events. One look serves all of them."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import Any

    from spillover.inspector.library import Library

#: Seconds between two looks, and between two signs of life to a page.
LOOK, ALIVE = 0.5, 15.0
#: A page that is behind by so many events is told to load again.
BEHIND = 64


class News:
    """Looks at the store, and tells whoever listens."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._listeners: set[asyncio.Queue[str | None]] = set()
        self._told: dict[str, Any] = {}
        self._problem = ""
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin to look; within the loop that serves."""
        if not self._tasks:
            self._tasks = [asyncio.ensure_future(self._look())]

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tell(None)

    async def listen(self) -> AsyncIterator[str]:
        """Yield events from now on; the first says that the page is listening."""
        queue: asyncio.Queue[str | None] = asyncio.Queue(BEHIND)
        self._listeners.add(queue)
        try:
            yield _event("hello", {"there": self.library.there, "problem": self.library.problem})
            while True:
                try:
                    said = await asyncio.wait_for(queue.get(), ALIVE)
                except TimeoutError:
                    yield ": alive\n\n"
                    continue
                if said is None:
                    return
                yield said
        finally:
            self._listeners.discard(queue)

    async def _look(self) -> None:
        stamp: object = None
        version = -1
        while True:
            with suppress(
                Exception
            ):  # whatever it is, the next look may succeed; a page that asks is told what is wrong
                now = await asyncio.to_thread(self.library.stamp)
                if now != stamp or (now == () and self._listeners):
                    stamp = now
                    await asyncio.to_thread(self.library.refresh)
                await asyncio.to_thread(self.library.finish)
                if self.library.version != version:
                    version = self.library.version
                    await self._tell_changes()
            await asyncio.sleep(LOOK if stamp != () else 10 * LOOK)

    async def _tell_changes(self) -> None:
        rows = {row["id"]: row for row in await asyncio.to_thread(self.library.rows)}
        changed = [row for id_, row in rows.items() if self._told.get(id_) != row]
        gone = [id_ for id_ in self._told if id_ not in rows]
        problem = self.library.problem
        if self._listeners and (changed or gone or problem != self._problem):
            if len(changed) > BEHIND * 4:  # as much as a page: it asks for it
                self._tell(_event("reload", {}))
            else:
                self._tell(_event("outputs", {"rows": changed, "gone": gone, "problem": problem}))
        self._told, self._problem = rows, problem

    def _tell(self, said: str | None) -> None:
        for queue in [*self._listeners]:
            try:
                queue.put_nowait(said)
            except asyncio.QueueFull:
                queue.get_nowait()
                queue.put_nowait(_event("reload", {}) if said is not None else None)


def _event(name: str, facts: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps(facts)}\n\n"
