"""What a selector makes of a text, through the public door."""

from msgspec.structs import replace

from spillover import Clipper, Limits
from spillover.kinds.selection import Room
from spillover.store.memory import MemoryStore

#: A call of which nothing is known.
CALL = Clipper(store=MemoryStore(), worth=0).call()


def call_with(**facts):
    """Return a call of which some facts are known."""
    return replace(CALL, **facts)


def clipped_by(select):
    """`clipped(text, tokens=500)`: the clip, its spans, and how full they make it; whatever the selector raises is raised."""

    def clipped(text, **limits):
        calls = []

        def keep(document, fill):
            try:
                spans = select(document, Room(fill), CALL)
                calls.append((spans, fill(spans or [])))
            except Exception as error:  # a clip would survive it, a test must not
                calls.append((error, 0))
                raise
            return spans or []

        clip = Clipper(limits=Limits(**limits), keep=keep, store=MemoryStore()).clip(text)
        for spans, _ in calls:
            if isinstance(spans, Exception):
                raise spans
        return clip, *(calls[-1] if calls else (None, 0))

    return clipped
