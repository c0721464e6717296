"""What one agent sends another: above 8,000 characters a file, and a reference to it."""

from __future__ import annotations

import os
import time

from spillover.data import replace
from spillover.limits import Limits
from spillover.profiles.base import store_for
from spillover.profiles.daycare_text import MAX_CHARS, Bounded, clipper

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from spillover.store.base import Record, Store

SHAPE = r"\d{14}-agent-message-[0-9a-f]{24}\.md"
REFERENCE = (
    "Message exceeded {limit} characters ({chars} chars). Full content was written to {path}. "
    "Read that file to access the complete message."
)


def agent_message(
    text: str, *, folder: str | None = None, store: Store | None = None, clock: Callable[[], float] = time.time
) -> Bounded:
    """The message, or a reference to the file that holds it; where none can be written, its end."""
    if len(text) <= MAX_CHARS:
        return text if isinstance(text, Bounded) else Bounded(text)
    home = os.path.expanduser("~")
    where = folder or os.path.join(home, "outputs")
    kept = store_for(store, folder=where, names=_names(clock), shape=SHAPE, age_seconds=None, profile="outputs")
    clip = replace(clipper(place=False), store=kept, limits=Limits(chars=MAX_CHARS)).clip(text, tool="agent-message")
    if clip.path is None or clip.reason:
        return Bounded(clip.text, [clip])
    path = f"~{clip.path.removeprefix(home)}" if clip.path.startswith(f"{home}/") else clip.path
    return Bounded(REFERENCE.format(limit=MAX_CHARS, chars=len(text), path=path), [clip])


def _names(clock: Callable[[], float]) -> Callable[[Record], str]:
    def name(record: Record) -> str:
        moment = time.strftime("%Y%m%d%H%M%S", time.gmtime(clock()))
        return f"{moment}-agent-message-{record.sha256[:24]}.md"

    return name
