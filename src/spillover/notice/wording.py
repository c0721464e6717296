"""Every sentence of ours that a model reads: notices and gap markers as data, everything else as functions of facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from spillover.document.forgery import as_latin
from spillover.errors import UsageError
from spillover.store.record import Record

#: Characters of a reason, which is somebody else's words. A remedy comes last: a longer reason loses its middle.
REASON_CHARS = 400
#: Characters of a line of shell that are repeated, and of the name of a program or a type.
FILTER_CHARS = 80
PROGRAM_CHARS = 40
TYPE_CHARS = 80
#: How much longer than the result a text may be that is mostly whitespace.
MAX_SHRINKING = 64
#: How a shell reports a program that SIGPIPE ended.
SIGPIPE_EXIT = 141

_FACTS = dict.fromkeys(
    ("shown_lines", "shown_bytes", "lines", "bytes", "tokens", "frames", "stored", "ref", "path", "reason"), ""
)
#: Group of sentences, by the beginning of their names → what they may name. All others may name the facts of an output.
_PLACES: dict[str, Mapping[str, object]] = {
    "gap": dict.fromkeys(("first", "last", "start", "end", "where", "count", "s", "times", "note"), ""),
    "since": dict.fromkeys(("earlier", "new", "numbers", "same", "gone", "times", "reason"), ""),
    "next": {"steps": ""},
    "section": {"label": ""},
    "lead": {"note": ""},
}


class Wording(Struct, frozen=True, kw_only=True):
    """The sentences of notices and gap markers, as data."""

    lines_shown: str = "Output clipped: {shown_lines} of {lines} shown; {bytes} bytes, ~{tokens} tokens in all."
    bytes_shown: str = "Output clipped: {shown_bytes} of {bytes} bytes shown, in {lines}; ~{tokens} tokens in all."
    frames_left: str = "{frames} left out."
    frames_only: str = "Output clipped: {frames} left out."
    codes_only: str = "Output clipped: control codes only; all {lines} shown, {bytes} bytes in all."
    tiny: str = "Clipped: {shown_lines} of {lines} shown."
    tiny_bytes: str = "Clipped: {shown_bytes} of {bytes} bytes shown."
    at: str = "Full output: {path}"
    under: str = "Full output: {ref}"
    part_at: str = "Stored in part: first {stored} bytes: {path}"
    part_under: str = "Stored in part: first {stored} bytes: {ref}"
    preview_at: str = "These numbers are of a preview ({reason}): {path}"
    preview_under: str = "These numbers are of a preview ({reason}): {ref}"
    preview_tiny: str = "Only a preview: {ref}"
    here_at: str = "Kept on this machine only ({reason}): {path}"
    here_under: str = "Kept on this machine only ({reason}): {ref}"
    here_tiny: str = "On this machine only: {ref}"
    trouble: str = "Shown: {reason}."
    lost: str = "Full output not kept: {reason}"
    lost_next: str = "What is not shown is gone; if it matters, run it again with less output."
    next: str = "Next: {steps}"
    gap_lines: str = "[… lines {first}-{last} not shown …]"
    gap_line: str = "[… line {first} not shown …]"
    gap_bytes: str = "[… bytes {start}-{end}, in {where}, not shown …]"
    gap_tiny: str = "[… {first}-{last} …]"
    gap_tiny_line: str = "[… {first} …]"
    gap_tiny_bytes: str = "[… bytes {start}-{end} …]"
    gap_same: str = "[… the line above {times}, {where} …]"
    gap_like: str = "[… {count} more like the line above, {where} …]"
    gap_block: str = "[… the {note} lines above {times}, {where} …]"
    gap_blob: str = "[… {note}, {where} …]"
    gap_found: str = "[… {note}, {where} …]"
    gap_items: str = '"… {count} more item{s}, {where} …"'
    gap_keys: str = '"… {count} more key{s}, {where} …": "…"'
    gap_chars: str = "… {where} …"
    gap_text: str = "[… {where} not shown …]"
    gap_tiny_items: str = '"… {count}: {where}"'
    gap_tiny_keys: str = '"… {where}": {count}'
    gap_tiny_chars: str = "… {where} …"
    since: str = "Since {earlier}: {new} new, {numbers} with changed numbers, {same} same, {gone} gone."
    since_same: str = "Unchanged since {earlier}: the same lines, apart from times and order{times}."
    since_not: str = "Not compared with {earlier}: {reason}."
    since_tiny: str = "Since {earlier}: +{new} \N{MINUS SIGN}{gone}."
    section: str = "[{label}]"
    lead: str = "[… {note} …]"

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            places = _PLACES.get(name.partition("_")[0], _FACTS)
            check_template(f"Wording({name}=", getattr(self, name), places)

    @property
    def openings(self) -> tuple[str, ...]:
        """The words before the first number of each notice, as `document.forgery` compares them."""
        sentences = (self.lines_shown, self.bytes_shown, self.frames_only, self.codes_only, self.tiny)
        return tuple(dict.fromkeys(filter(None, (as_latin(words.partition("{")[0]) for words in sentences))))


def check_template(owner: str, template: str, places: Mapping[str, object]) -> None:
    """Raise a UsageError for a template that cannot be filled in: when it is chosen, not when an output is at stake."""
    try:
        template.format(**places)
    except (LookupError, ValueError, AttributeError, TypeError) as error:
        names = " ".join(f"{{{name}}}" for name in places)
        raise UsageError(f"{owner}{template!r}) cannot be filled in; it may name {names}.") from error


WORDING = Wording()


def lines_of(count: int) -> str:
    return f"{count:,} line" if count == 1 else f"{count:,} lines"


def frames_of(count: int) -> str:
    return f"{count:,} overwritten frame" if count == 1 else f"{count:,} overwritten frames"


def one_line(text: str, max_chars: int) -> str:
    """Return somebody else's words, short and on one line. At most MAX_SHRINKING times as many characters are read."""
    start = text[: MAX_SHRINKING * max_chars]
    if not start.isprintable():
        start = "".join(char if char.isprintable() else " " for char in start)
    line = " ".join(start.split())
    if len(line) <= max_chars and len(start) < len(text):
        return line[: max_chars - 1] + "…"
    line = line.rstrip(".")
    return line if len(line) <= max_chars else line[: max_chars - 1] + "…"


def shorten_reason(reason: str | None, max_chars: int = REASON_CHARS) -> str:
    """Return a reason on one line. Of one that is too long, whole sentences or both ends are shown."""
    line = one_line(reason or "", MAX_SHRINKING * max_chars)
    if len(line) <= max_chars:
        return line
    sentences = line.rfind(". ", 0, max_chars - 2) + 1
    if sentences:
        return f"{line[:sentences]} …"
    head = max_chars // 2  # what happened, and what to do about it
    return line[:head] + "…" + line[len(line) - (max_chars - head - 1) :]


def cut_by(host: str) -> str:
    """Return why an output is only a preview."""
    return f"{host} had already cut the output"


def stored_part(record: Record) -> str:
    """Return what retrieval says of an output that is stored in part, or of which only a preview came; else ""."""
    if not record.partial:
        return ""
    if record.produced_bytes is None:
        return f" This is only a preview: {shorten_reason(record.partial)}."
    return f" Only the first {record.bytes:,} bytes are stored."


def before_filters(filters: str, exits: Sequence[tuple[str, int]], storage: Mapping[str, Any] | None) -> str:
    """Return the line about a pipeline's filters: how the programs before them ended, and where their output is."""
    filter_line = f'"{one_line(filters, FILTER_CHARS)}"'
    ends = []
    for program, code in exits:
        ending = "was stopped by SIGPIPE" if code == SIGPIPE_EXIT else f"exited {code}"
        ends.append(f"{one_line(program, PROGRAM_CHARS)} {ending}")
    if storage is None:
        return f"[{' · '.join(ends)}, which {filter_line} hides]"
    lines, ref, reason = storage["lines"], storage["ref"], shorten_reason(storage["reason"], 100)
    if ref is None:
        return f"[{' · '.join([f'{lines_of(lines)} before {filter_line} could not be kept: {reason}', *ends])}]"
    how = " on this machine only" if storage.get("here") else " in part" if reason else ""
    verb = "is" if lines == 1 else "are"
    whole = "The 1 line" if lines == 1 else f"All {lines:,} lines"
    subject = f"{lines_of(lines)} before {filter_line}" if how else f"{whole} that went into {filter_line}"
    place = f"{subject} {verb} kept{how}{f' ({reason})' if reason else ''}: {ref}"
    return f"[{' · '.join([place, *ends])}]"


def found_in(finds: int, groups: int, folder: str, *, names: bool, above: str = "") -> str:
    """Return the words above what a search found: how much, where, and what is left out of each line."""
    total = f"{finds:,} name{'' if finds == 1 else 's'}" if names else f"{finds:,} match{'' if finds == 1 else 'es'}"
    places = f"{groups:,} folder" if names else f"{groups:,} file"
    below = f", paths relative to {folder}" if folder else ""
    once = "" if names else ", each named once"
    more = f"; above: {above}" if above else ""
    return f"{total} in {places}{'' if groups == 1 else 's'}{below}{once}{more}"


def hidden_finds(groups: Sequence[tuple[str, int, int]], rest: int, more: int) -> str:
    """Return what a search found that is not shown.

    `groups`: files or folders with counts; `rest`: how many other files; `more`: finds in files that are shown.
    """
    words = [
        f"{name or './'} {count:,}" + (f" in {files:,} files" if files > 1 else "") for name, count, files in groups
    ]
    words += [f"{rest:,} other file{'' if rest == 1 else 's'}"] * (rest > 0) + [f"{more:,} more"] * (more > 0)
    return ", ".join(words)


def changes(
    commits: Sequence[str], files: Sequence[tuple[str, int, int]], total: tuple[int, int, int], count: int = 0
) -> str:
    """Return what a diff changes: a title, some of its commits, and some of its files.

    `total`: how many files there are, and how many lines they add and remove; `count`: how many commits.
    """
    number, plus, minus = total
    title = f"{number:,} file{'' if number == 1 else 's'} changed, {_signs(plus, minus)}"
    title = f"{count:,} commit{'' if count == 1 else 's'}, {title}" if count else title
    rows = [*commits, *(f"{name} {_signs(more, less)}" for name, more, less in files)]
    if len(commits) < count and commits:
        rows.insert(len(commits), f"and {count - len(commits):,} more commits")
    if len(files) < number:
        signs = _signs(plus - sum(more for _, more, _ in files), minus - sum(less for *_, less in files))
        left = number - len(files)
        rows += [f"{'and ' * bool(files)}{left:,} {'more ' * bool(files)}file{'' if left == 1 else 's'} {signs}"]
    return "\n".join((title, *rows))


def _signs(plus: int, minus: int) -> str:
    return f"+{plus:,} \N{MINUS SIGN}{minus:,}"


def more_like(count: int, first: int, last: int) -> str:
    """Return the words above a line that stands for others that are not shown."""
    lines = f"line {first:,}" if last <= first else f"lines {first:,}-{last:,}"
    return f"{count:,} more like the next line: {lines}"


def lines_gone(count: int, samples: Sequence[str]) -> str:
    """Return the words about lines that only the earlier output has: how many, and some of them."""
    among = ", among them" if 0 < len(samples) < count else ""
    return "\n".join((f"gone: {lines_of(count)}{among}", *samples))


def no_text(kind: str) -> str:
    """Return the words in place of a result of which nobody knows what a host would show."""
    name = one_line(kind, TYPE_CHARS)
    return (
        f"[Result left out: {name} has no text and no text fields. "
        f"Return text or data, or let it pass unchanged: wrap(leave={name}).]"
    )


def no_json(kind: str) -> str:
    """Return the words in place of a result that is nested too deeply to be written as JSON or by `str()`."""
    return (
        f"[Result left out: this {one_line(kind, TYPE_CHARS)} is nested too deeply to be written as text. "
        "Return text, or data that JSON can hold.]"
    )


def failed(size: int, shown_bytes: int, error: str) -> tuple[str, str]:
    """Return the notice, and the marker between both ends, for an output whose clipping failed."""
    reason = f"Full output not kept: spill failed ({shorten_reason(error)})."
    notice = f"[Output clipped: {shown_bytes:,} of {size:,} bytes shown. {reason}]"
    return notice, f"[… {size - shown_bytes:,} bytes not shown …]"
