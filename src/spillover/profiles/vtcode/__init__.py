"""vtcode: 25,000 tokens of a tool's output, half from the beginning and half from the end, by whole lines."""

from __future__ import annotations

from spillover.budget import Budget
from spillover.config.place import CONTEXT_TOKENS
from spillover.limits import Limits
from spillover.profiles.base import make, store_for
from spillover.profiles.vtcode.cut import MAX_TOKENS, both_halves
from spillover.profiles.vtcode.estimate import tokens_for_lines
from spillover.profiles.vtcode.words import form
from spillover.store.named import name_part

__all__ = ["MAX_TOKENS", "both_halves", "budget", "clipper", "form", "metadata"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from typing import Any

    from spillover.clipper import Clipper
    from spillover.result import Clip
    from spillover.store.base import Record, Store
    from spillover.types import Keep, Selector

#: The same as settings, for `profile = "vtcode"`.
SETTINGS = {"tokens": MAX_TOKENS, "keep": "ends"}
FOLDER = ".vtcode/tool-output"
AGE_SECONDS = 7 * 24 * 60 * 60
#: What may say how large the context window is, its own variable first.
WINDOW_VARIABLES = ("VTCODE_CONTEXT_TOKEN_LIMIT", CONTEXT_TOKENS)
#: Below half of the window a call may have so many times its limit: of 25,000 tokens, 35,000.
STRETCH = 1.4
SHAPE = r"[A-Za-z0-9_.-]+_\d+\.txt"


def clipper(
    *,
    max_tokens: int | None = None,
    max_lines: int | None = None,
    chunk_lines: int | None = None,
    model: str | None = None,
    banner: bool = True,
    keep: Keep | Selector = "ends",
    folder: str = FOLDER,
    store: Store | str | os.PathLike[str] | None = None,
    **given: Any,
) -> Clipper:
    """Return a Clipper that truncates as vtcode does.

    `max_tokens`: the budget of one call. `banner`: whether the first lines say where the full output is, and how much is shown.
    """
    if max_tokens is None and max_lines is not None:
        max_tokens = tokens_for_lines(max_lines, "max_lines")
    elif max_tokens is None and chunk_lines is not None:
        max_tokens = tokens_for_lines(chunk_lines, "chunk_lines")
    defaults = {
        "limits": Limits(tokens=MAX_TOKENS if max_tokens is None else max_tokens),
        "keep": keep,
        "wording": form(banner=banner),
        "store": store_for(store, folder=folder, names=_name, shape=SHAPE, age_seconds=AGE_SECONDS, profile="vtcode"),
    }
    return make(defaults | ({"tokenizer": f"model:{model}"} if model else {}), given)


def budget(window: int = 128_000, **choices: Any) -> Budget:
    """Return vtcode's budget manager: the window that its own variable names, warnings at 75 % and 85 %, limits by pressure."""
    return Budget.from_env(window, variables=WINDOW_VARIABLES, **{"stretch": STRETCH, **choices})


def metadata(clip: Clip, clipper: Clipper) -> dict[str, object]:
    """Return what its tools say beside the text: the budget that was applied, and where the full output is."""
    applied = clip.limits or clipper.limits
    cut = clip.shown.bytes < clip.total.bytes
    facts: dict[str, object] = {"applied_max_tokens": applied.tokens, "truncated": cut}
    return facts | ({"spool_path": clip.path} if clip.path else {})


def _name(record: Record) -> str:
    return f"{name_part(record.tool, 'tool').replace('-', '_')}_{int(record.created * 1_000_000)}.txt"
