"""t15: the last 2,000 lines / 50,000 bytes, and the file that holds all of it, in any of three wordings."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, Literal

from spillover.api import Clipper
from spillover.errors import UsageError
from spillover.kinds.exact import first_chars, first_lines, last_chars, last_lines
from spillover.notice.form import Form, Told, Words
from spillover.profiles.base import lost_words_without_path, make, mark_edge, mark_gap, store_for
from spillover.profiles.t15.commands import DEFAULT_DIRECTION, DIRECTIONS, direction_for, warning_for
from spillover.settings.limits import Limits
from spillover.settings.settings import DEFAULT_TOOL
from spillover.store import Store
from spillover.store.folder import temp_folder
from spillover.store.named import name_part
from spillover.store.record import Record
from spillover.store.retention import DAY, Retention
from spillover.types import Keep, Selector

NoticeStyle = Literal["block", "recipe", "generic"]

__all__ = [
    "DIRECTIONS",
    "MAX_BYTES",
    "MAX_LINES",
    "STYLES",
    "clipper",
    "clipper_for",
    "default_folder",
    "direction_for",
    "form",
    "warning_for",
]

MAX_LINES, MAX_BYTES, MAX_CHARS = 2_000, 50_000, 50_000
#: The same as settings, for `profile = "t15"`.
SETTINGS = {"lines": MAX_LINES, "bytes": MAX_BYTES, "keep": "tail"}
#: How long files are kept, and how many bytes of them: the report asks for both, and has neither.
TTL_SECONDS, QUOTA_BYTES = 7 * DAY, 1 << 30
#: The limits, the file ending and the folder that go with each wording.
STYLES: Mapping[NoticeStyle, tuple[Limits, str, str]] = {
    "block": (Limits(lines=MAX_LINES, bytes=MAX_BYTES), "txt", "opencode-overflow"),
    "recipe": (Limits(lines=MAX_LINES, bytes=MAX_BYTES), "txt", "agent-overflow"),
    "generic": (Limits(chars=MAX_CHARS), "log", "agent-overflow"),
}
SHOWN = {"tail": "last", "head": "first"}
DIGITS = 8


def clipper(
    *,
    notice_style: NoticeStyle = "block",
    keep: Keep | Selector | None = None,
    directions: Mapping[str, str] = DIRECTIONS,
    folder: str | None = None,
    store: Store | str | os.PathLike[str] | None = None,
    ttl_seconds: float | None = TTL_SECONDS,
    quota_bytes: int | None = QUOTA_BYTES,
    **given: Any,
) -> Clipper:
    """Make a Clipper that truncates as the report does; `notice_style`: "block", "recipe" or "generic".

    Without a `keep`, it is the end of an output, and of what `clipper.run` runs the part that `directions` says.
    """
    if notice_style not in STYLES:
        raise UsageError(f"notice_style={notice_style!r} is not a wording of t15; use {', '.join(STYLES)}.")
    limits, ending, _ = STYLES[notice_style]
    kept = store_for(
        store,
        folder=folder or default_folder(notice_style),
        names=_names(ending),
        shape=rf"[A-Za-z0-9._-]+-[A-Za-z0-9._-]+\.{ending}",
        age_seconds=ttl_seconds,
        retention=Retention(age_seconds=ttl_seconds, bytes=quota_bytes),
    )
    words = form(notice_style, directions if keep is None else {})
    defaults = {"limits": limits, "keep": keep or DEFAULT_DIRECTION, "wording": words, "store": kept}
    return make(defaults, given)


def clipper_for(command: str, *, directions: Mapping[str, str] = DIRECTIONS, **options: Any) -> Clipper:
    """Make the Clipper for what a command prints: the beginning of a compiler's output, the end of everything else."""
    made = clipper(**{"directions": directions, **options})
    return Clipper(settings=made.settings.for_call(DEFAULT_TOOL, command), budget=made.budget)


def form(
    notice_style: NoticeStyle = "block", directions: Mapping[str, str] = DIRECTIONS, *, warning: str | None = None
) -> Form:
    """Return one of its wordings. With `directions`, a command decides which part of its output is kept."""

    def for_command(command: str, keep: str) -> Mapping[str, Any]:
        part = direction_for(command, directions) if directions and keep == DEFAULT_DIRECTION else keep
        return {"keep": part, "wording": form(notice_style, directions, warning=warning_for(command))}

    def words(told: Told) -> Words:
        return _WORDS[notice_style](told, warning or "")

    by_chars = notice_style == "generic"
    cuts = {"tail": last_chars if by_chars else last_lines, "head": first_chars if by_chars else first_lines}
    return Form(words, cuts, for_command=for_command, warning=warning)


def default_folders() -> list[str]:
    return sorted({default_folder(style) for style in STYLES})


def default_folder(notice_style: NoticeStyle = "block") -> str:
    """Return where it keeps outputs: a folder of its own in the temporary one."""
    return temp_folder(STYLES[notice_style][2])


def _block(told: Told, warning: str) -> Words:
    # Its own two directions name the limits, as the report does; any other part may be smaller than they are.
    sizes = told.limits.given() if told.keep in SHOWN else _list_shown(told)
    kept = " / ".join(f"{size} {name}" for name, size in sizes)
    where = f"Full output saved to: {told.place}\nUse the Read or Grep tool to access specific parts."
    lines = f"Output truncated to {_which(told)}{kept}.\n{_or_lost(told, where)}"
    said = f"{lines}\n{warning}" if warning else lines
    return mark_edge(told), mark_gap, f"{_newline(told)}<truncated-notice>\n{said}\n</truncated-notice>"


def _recipe(told: Told, warning: str) -> Words:
    if told.one_end:  # as the report counts: what stands between newlines, an empty line behind the last included
        total, shown = told.newlines + 1, told.parts[0].count("\n") + 1
    else:
        total, shown = told.total.lines, told.shown.lines
    which = f" ({told.keep})" if told.keep else ""
    where = (
        f"Full output ({told.total.bytes} bytes) saved to: {told.place}\n"
        " Use Read or Grep tool to inspect specific sections."
    )
    said = f"\n {warning}" if warning else ""
    lines = f"[Output truncated: {total} lines → {shown} lines kept{which}.\n {_or_lost(told, where)}{said}]"
    return mark_edge(told), mark_gap, f"{_newline(told)}\n{lines}"


def _generic(told: Told, warning: str) -> Words:
    most = (told.keep in SHOWN and told.limits.chars) or told.shown.chars
    kept = f"{most // 1_000}k" if most % 1_000 == 0 else f"{most} characters"
    where = _or_lost(told, f"Full content: {told.place}. Use Read/Grep to inspect.")
    said = f" {warning}" if warning else ""
    words = f"[Output was {told.total.bytes} bytes, truncated to {_which(told)}{kept}. {where}{said}]"
    return mark_edge(told), mark_gap, f"{_newline(told)}\n{words}"


_WORDS: Mapping[str, Callable[[Told, str], Words]] = {"block": _block, "recipe": _recipe, "generic": _generic}


def _which(told: Told) -> str:
    """Say which end is shown; the limits alone where it is neither."""
    return f"{SHOWN[told.keep]} " if told.keep in SHOWN else ""


def _list_shown(told: Told) -> list[tuple[str, int]]:
    """Return how much is shown, in the units of the limits; tokens are not counted."""
    return [(name, getattr(told.shown, name)) for name, _ in told.limits.given() if name != "tokens"]


def _newline(told: Told) -> str:
    """End the last line that is shown, as the report does for its own two directions whatever that line is."""
    return "" if not told.one_end and told.parts and told.parts[-1].endswith("\n") else "\n"


def _or_lost(told: Told, where: str) -> str:
    return where if told.place and told.stored is None else lost_words_without_path(told)


def _names(ending: str) -> Callable[[Record], str]:
    def name(record: Record) -> str:
        call = name_part(record.call_id, record.sha256[:DIGITS])
        return f"{name_part(record.tool, 'tool')}-{call}.{ending}"

    return name
