"""Several stored outputs at once: `last:3`, a list of refs, a tool's name, `all`; read or searched."""

from __future__ import annotations

from msgspec.structs import replace

from spillover.errors import RefError, SpilloverError, UsageError
from spillover.notice.words import one_line
from spillover.result import Clip
from spillover.retrieve.answer import fill
from spillover.retrieve.asked import word_for_models
from spillover.select.ends import most

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from spillover.choices import Choices

#: At most so many outputs are looked at together.
MOST = 50
ALL = "all"


def refs_of(choices: Choices, ref: Any) -> list[str] | None:
    """Return the refs that are meant where that is several; None where it is one, and found as ever."""
    if isinstance(ref, (list, tuple)):
        if not ref or not all(isinstance(one, str) for one in ref):
            raise UsageError('a list of refs holds names, e.g. ["bash-7f3a9c2e41d05b86", "last"].')
        return list(dict.fromkeys(ref))[:MOST] if len(ref) > 1 else None
    if not isinstance(ref, str):
        return None
    text = ref.strip()
    if "," in text:
        return refs_of(choices, [part.strip() for part in text.split(",") if part.strip()])
    head, _, count = text.partition(":")
    if text == ALL or (head == "last" and count.isdecimal()):
        newest, _ = choices.outputs.newest(min(MOST, int(count) if count else MOST))
        return [record.ref for record in newest]
    if text.startswith("last") or "-" in text:
        return None
    named = [record.ref for record in choices.outputs.looked_through()[0] if record.tool == text]
    return named[:MOST] or None


def each(choices: Choices, refs: Sequence[str], ask: Callable[[Choices, str], Clip]) -> Clip:
    """Return the answers for several outputs, each under its name, in equal parts of the limits."""
    if not refs:
        raise RefError("Nothing is stored here yet.")
    shares = choices.limits.share(0.9 / len(refs))
    out: list[str] = []
    for ref in refs:
        try:
            said = ask(replace(choices, limits=shares, trigger=None), ref).text
        except UsageError:
            if len(refs) <= 2:
                raise
            raise UsageError(f"{len(refs)} outputs leave too little room for each; ask for fewer.") from None
        except SpilloverError as error:
            said = f"[{one_line(word_for_models(error), 200)}]"
        out.append(f"== {ref}\n{said.rstrip()}\n")
    count = most(len(out), lambda number: fill("".join(out[:number]), choices))
    return Clip("".join(out[:count]), _count=choices.count, _limits=choices.limits)
