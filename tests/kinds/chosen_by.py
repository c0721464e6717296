"""What a selector makes of a text, through the public door."""

from spillover import Clipper, Limits
from spillover.store.memory import MemoryStore


def clipped_by(select):
    """`clipped(text, tokens=500)`: the clip, its spans, and how full they make it; whatever the selector raises is raised."""

    def clipped(text, **limits):
        calls = []

        def keep(document, fill):
            try:
                spans = select(document, fill)
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
