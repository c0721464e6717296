"""t15: the last 2,000 lines / 50,000 bytes, and the file that holds all of it, in any of three wordings."""

from __future__ import annotations

from spillover.config.place import temp_folder
from spillover.errors import UsageError
from spillover.form import Form, Told
from spillover.limits import Limits
from spillover.profiles.base import lost_words_without_path, made, store_for
from spillover.profiles.t15_commands import DIRECTIONS, direction_for, warning_for
from spillover.select.exact import first_chars, first_lines, last_chars, last_lines
from spillover.store.named import name_part
from spillover.store.retention import DAY, Retention

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from spillover.clipper import Clipper
    from spillover.store.base import Record, Store

__all__ = ["DIRECTIONS", "STYLES", "clipper", "clipper_for", "default_folder", "direction_for", "form", "warning_for"]

MAX_LINES, MAX_BYTES, MAX_CHARS = 2_000, 50_000, 50_000
#: The same as settings, for `profile = "t15"`.
SETTINGS = {"lines": MAX_LINES, "bytes": MAX_BYTES, "keep": "tail"}
#: How long files are kept, and how much of them: the report asks for both, and has neither.
TTL_SECONDS, QUOTA_BYTES = 7 * DAY, 1 << 30
#: What each wording goes with: the limits, the ending of a file's name, and the folder in the temporary one.
STYLES: Mapping[str, tuple[Limits, str, str]] = {
    "block": (Limits(lines=MAX_LINES, bytes=MAX_BYTES), "txt", "opencode-overflow"),
    "recipe": (Limits(lines=MAX_LINES, bytes=MAX_BYTES), "txt", "agent-overflow"),
    "generic": (Limits(chars=MAX_CHARS), "log", "agent-overflow"),
}
SHOWN = {"tail": "last", "head": "first"}
DIGITS = 8


def clipper(
    *,
    notice_style: str = "block",
    keep: str = "tail",
    folder: str | None = None,
    store: Store | None = None,
    ttl_seconds: float | None = TTL_SECONDS,
    quota_bytes: int | None = QUOTA_BYTES,
    **given: Any,
) -> Clipper:
    """The report's truncation; `notice_style`: "block", "recipe" or "generic". Another limit for a tool is a rule."""
    if notice_style not in STYLES:
        raise UsageError(f"notice_style={notice_style!r} is no wording of t15; use {', '.join(STYLES)}.")
    limits, ending, _ = STYLES[notice_style]
    kept = store_for(
        store,
        folder=folder or default_folder(notice_style),
        names=_names(ending),
        shape=rf"[A-Za-z0-9._-]+-[A-Za-z0-9._-]+\.{ending}",
        age_seconds=ttl_seconds,
        profile="t15",
        retention=Retention(age_seconds=ttl_seconds, bytes=quota_bytes),
    )
    return made({"limits": limits, "keep": keep, "wording": form(notice_style), "store": kept}, given)


def clipper_for(command: str, *, directions: Mapping[str, str] = DIRECTIONS, **choices: Any) -> Clipper:
    """The Clipper for what a command prints: the beginning of a compiler's, the end of everything else."""
    return clipper(**{"keep": direction_for(command, directions), **choices})


def form(notice_style: str = "block") -> Form:
    """One of its wordings."""
    if notice_style == "generic":
        return Form(_generic, {"tail": last_chars, "head": first_chars})
    words = {"block": _block, "recipe": _recipe}[notice_style]
    return Form(words, {"tail": last_lines, "head": first_lines})


def default_folder(notice_style: str = "block") -> str:
    """Where it keeps outputs: in the temporary folder, one of its own that nobody else looks into."""
    return temp_folder(STYLES[notice_style][2])


def _block(told: Told) -> tuple[str, str, str]:
    kept = " / ".join(f"{most} {name}" for name, most in told.limits.given())
    where = f"Full output saved to: {told.place}\nUse the Read or Grep tool to access specific parts."
    lines = f"Output truncated to {SHOWN.get(told.keep, 'these')} {kept}.\n{_or_lost(told, where)}"
    return "", "\n...\n", f"\n<truncated-notice>\n{lines}\n</truncated-notice>"


def _recipe(told: Told) -> tuple[str, str, str]:
    shown = sum(part.count("\n") + 1 for part in told.parts)
    which = f" ({told.keep})" if told.keep else ""
    where = (
        f"Full output ({told.total.bytes} bytes) saved to: {told.place}\n"
        " Use Read or Grep tool to inspect specific sections."
    )
    lines = f"[Output truncated: {told.newlines + 1} lines → {shown} lines kept{which}.\n {_or_lost(told, where)}]"
    return "", "\n...\n", f"\n\n{lines}"


def _generic(told: Told) -> tuple[str, str, str]:
    most = told.limits.chars or told.shown.chars
    kept = f"{SHOWN.get(told.keep, 'these')} {most // 1_000}k" if most % 1_000 == 0 else f"{most} characters"
    where = _or_lost(told, f"Full content: {told.place}. Use Read/Grep to inspect.")
    return "", "\n...\n", f"\n\n[Output was {told.total.bytes} bytes, truncated to {kept}. {where}]"


def _or_lost(told: Told, where: str) -> str:
    return where if told.place and told.stored is None else lost_words_without_path(told)


def _names(ending: str) -> Callable[[Record], str]:
    def name(record: Record) -> str:
        call = name_part(record.call_id, record.sha256[:DIGITS])
        return f"{name_part(record.tool, 'tool')}-{call}.{ending}"

    return name
