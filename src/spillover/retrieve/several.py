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

    from spillover.choices import Choices


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
