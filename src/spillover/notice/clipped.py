"""The notice at the top of a clip: what is missing, where it is, the next step."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from spillover.notice.hints import Hint
from spillover.notice.since import Since, tell_since
from spillover.notice.wording import WORDING, Wording
from spillover.notice.words import REASON_CHARS, frames_of, lines_of, shorten_reason

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillover.kinds.selection import Inside

#: How many lines, or bytes inside a line, the next step proposes to read.
NEXT_LINES = 100
NEXT_BYTES = 4_000
#: An outline is proposed for an output of at least MAP_BYTES of which at most one part in MAP_SHARE is shown.
MAP_BYTES, MAP_SHARE = 1 << 16, 10


class Gap(Struct, frozen=True):
    """What is hidden between two shown parts: lines `first` to `last`, bytes `start` to `end` (counted from 1)."""

    first: int
    last: int
    start: int
    end: int
    whole_lines: bool = True  # False: the first or the last of them is shown in part


class Facts(Struct, frozen=True, kw_only=True):
    """The facts that a notice states."""

    lines: int
    bytes: int
    tokens: int
    shown_lines: int
    shown_bytes: int
    gap: Gap | None  # the first one
    frames: int = 0  # overwritten, and left out of what is shown
    ref: str | None = None
    path: str | None = None
    reason: str | None = None  # why it is lost, stored in part, or on this machine only
    stored: int | None = None  # bytes, where it is stored in part; all of them, where that is a preview
    inside: Inside | None = None  # where the gap is, in a string of JSON
    here: bool = False  # it is on this machine only, and `reason` says why
    seek: str = ""  # the search that is most likely next
    mapped: bool = True  # whether a map of it says more than what is shown
    since: Since | None = None  # the earlier output that it is compared with
    trouble: str = ""  # why both ends are shown, where more was asked for


def notice(facts: Facts, ways: Sequence[Hint], wording: Wording = WORDING, tier: int = 0) -> str:
    """Return the notice. Tier 0 says everything, 1 leaves out the path and most steps, 2 is as short as possible."""
    if facts.path is not None and not facts.path.isprintable():  # a reader could not open it as it stands
        facts = replace(facts, path=None)
    values = {
        "shown_lines": f"{facts.shown_lines:,}",
        "shown_bytes": f"{facts.shown_bytes:,}",
        "lines": lines_of(facts.lines),
        "bytes": f"{facts.bytes:,}",
        "tokens": f"{facts.tokens:,}",
        "frames": frames_of(facts.frames),
        "stored": f"{facts.stored or 0:,}",
        "ref": facts.ref,
        "path": facts.path,
        "reason": shorten_reason(facts.reason, REASON_CHARS >> tier),
    }
    preview = facts.stored == facts.bytes  # all that came is stored, and it is a part
    if tier == 2:
        body = " ".join(
            words.format(**values) for words in (wording.tiny, wording.frames_left)[: 1 + (facts.frames > 0)]
        )
        part = None if facts.stored is None else wording.part_under.format(**values)
        part = wording.preview_tiny.format(**values) if preview else part
        part = wording.here_tiny.format(**values) if facts.here and part is None else part
        words = [] if facts.since is None else [tell_since(facts.since, wording, tier)]
        return f"[{' '.join((body, part or facts.ref or wording.lost.format(**values), *words))}]"
    since = [] if facts.since is None else [tell_since(facts.since, wording, tier)]
    since += [wording.trouble.format(reason=facts.trouble)] if facts.trouble else []
    whole_lines = facts.shown_lines < facts.lines
    if whole_lines or facts.gap:
        said = [
            wording.lines_shown if whole_lines else wording.bytes_shown,
            *[wording.frames_left] * (facts.frames > 0),
        ]
    else:
        said = [wording.frames_only if facts.frames else wording.codes_only]
    parts = [words.format(**values) for words in said]
    if facts.ref is None:
        parts += [wording.lost.format(**values) + "."]
        last = [wording.lost_next] if tier == 0 else []
        return "\n ".join((f"[{' '.join(parts)}", *since, *last)) + "]"
    by_path = tier == 0 and facts.path is not None and any(way.names_path for way in ways)
    if preview:
        parts.append((wording.preview_at if by_path else wording.preview_under).format(**values))
    elif facts.stored is not None:
        parts.append((wording.part_at if by_path else wording.part_under).format(**values))
    elif facts.here:
        parts.append((wording.here_at if by_path else wording.here_under).format(**values))
    else:
        parts.append((wording.at if by_path else wording.under).format(**values))
    steps = _steps(facts, ways, short=tier > 0)
    last = [wording.next.format(steps=" · ".join(steps))] if steps else []
    return "\n ".join((f"[{' '.join(parts)}", *since, *last)) + "]"


def _steps(facts: Facts, ways: Sequence[Hint], *, short: bool) -> list[str]:
    """Return what the reader can do next, as commands or calls that can be pasted as they are."""
    if facts.gap is None:
        return []
    steps = []
    for way in ways:
        if way.names_path and facts.path is None:
            continue
        searching = [] if short or way.search is None else [way.search]
        reading, place = way.lines if facts.gap.whole_lines else way.bytes, facts.gap
        named = facts.inside
        if named is not None and way.inside is not None and _is_safe(named):
            reading, place = way.inside, Gap(named.first, named.last, named.start, named.end)
        mapping = [] if short or not _needs_map(facts) else [way.outline]
        chosen = [step for step in (*mapping, *searching, reading) if step is not None]
        pointer = None if named is None else named.pointer
        values = {"ref": facts.ref, "path": facts.path, "pointer": pointer, "options": "", **_place(place)}
        steps += [step.format(pattern=_word_pattern(facts.seek, step), **values) for step in chosen]
    return steps[:1] if short else steps


def _needs_map(facts: Facts) -> bool:
    return facts.mapped and facts.bytes >= max(MAP_BYTES, MAP_SHARE * facts.shown_bytes)


def _word_pattern(pattern: str, template: str) -> str:
    """Return a pattern as it is written in a call of this form; a placeholder if no search is likely."""
    if not pattern:
        return "PATTERN"
    if "(" in template:
        return f'"{pattern}"'
    from shlex import quote  # only outputs that were cut need it

    return quote(pattern) if template.startswith("spill ") else pattern


def _is_safe(named: Inside) -> bool:
    """Return whether a place in a string has lines, and a pointer that a shell takes as it stands."""
    plain = (named.pointer or "").translate(dict.fromkeys(map(ord, "/_-.")))
    return named.whole_lines and plain.isascii() and plain.isalnum()


def _place(gap: Gap) -> dict[str, int]:
    """Return where to continue reading: the start of the first gap."""
    last = min(gap.last, gap.first + NEXT_LINES - 1)
    end = min(gap.end, gap.start + NEXT_BYTES - 1)
    count = last - gap.first + 1
    return {"first": gap.first, "last": last, "count": count, "start": gap.start, "end": end, "line": gap.first}
