"""Everything else that is said to the model: about data, filters, searches, diffs, failures."""

from __future__ import annotations

from spillover.notice.hints import _NOWHERE, Hint
from spillover.notice.words import _signs, lines_of, one_line, shorten_reason

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Protocol

    class Part(Protocol):
        """What is known about an output that may be stored in part: the fields of a record."""

        @property
        def partial(self) -> str | None: ...
        @property
        def bytes(self) -> int: ...
        @property
        def produced_bytes(self) -> int | None: ...


def cut_data(ways: Sequence[Hint], size: int, ref: str | None, reason: str | None) -> str:
    """Return what is said about data that was cut to fit, where there is no place for gap markers."""
    said = f"Cut to fit: long strings shortened, lists and objects with fewer entries. {size:,} bytes in all."
    if ref is None:
        return f"[{said} Full output not kept: {shorten_reason(reason)}.]"
    steps = [way.search.format(ref=ref, **_NOWHERE) for way in ways if way.search and not way.names_path][:1]
    return f"[{said} Full output: {ref}" + (f" Next: {steps[0]}]" if steps else "]")


def cut_by(host: str) -> str:
    """Return why an output is only a preview."""
    return f"{host} had already cut the output"


def stored_part(record: Part) -> str:
    """Return what retrieval says of an output that is stored in part, or of which only a preview came; "" for any other."""
    if not record.partial:
        return ""
    if record.produced_bytes is None:
        return f" This is only a preview: {shorten_reason(record.partial)}."
    return f" Only the first {record.bytes:,} bytes are stored."


#: Of a line of shell, no more is repeated than this.
FILTER_CHARS = 80


def before_filters(filters: str, exits: Sequence[tuple[str, int]], hidden: Mapping[str, Any] | None) -> str:
    """Return the line about a pipeline's filters: where what they have `hidden` is kept, and how the programs before them ended."""
    where = f'"{one_line(filters, FILTER_CHARS)}"'
    ends = [
        f"{one_line(program, 40)} {'was stopped by SIGPIPE' if code == 141 else f'exited {code}'}"
        for program, code in exits
    ]
    if hidden is None:
        return f"[{' · '.join(ends)}, which {where} hides]"
    lines, ref, reason = hidden["lines"], hidden["ref"], shorten_reason(hidden["reason"], 100)
    is_ = "is" if lines == 1 else "are"
    if ref is None:
        said = f"{lines_of(lines)} before {where} could not be kept: {reason}"
    else:
        how = " on this machine only" if hidden.get("here") else " in part" if reason else ""
        whole = "The 1 line" if lines == 1 else f"All {lines:,} lines"
        what = f"{lines_of(lines)} before {where}" if how else f"{whole} that went into {where}"
        said = f"{what} {is_} kept{how}{f' ({reason})' if reason else ''}: {ref}"
    return f"[{' · '.join([said, *ends])}]"


def found_in(finds: int, groups: int, folder: str, *, names: bool, above: str = "") -> str:
    """Return the words above what a search found: how much, where, and what is left out of each line."""
    what = f"{finds:,} name{'' if finds == 1 else 's'}" if names else f"{finds:,} match{'' if finds == 1 else 'es'}"
    where = f"{groups:,} folder" if names else f"{groups:,} file"
    below = f", paths relative to {folder}" if folder else ""
    once = "" if names else ", each named once"
    hidden = f"; above: {above}" if above else ""
    return f"{what} in {where}{'' if groups == 1 else 's'}{below}{once}{hidden}"


def hidden_finds(named: Sequence[tuple[str, int, int]], rest: int, more: int) -> str:
    """Return what a search found that is not shown: files or folders with counts, how many other files, more of those shown."""
    said = [f"{name or './'} {count:,}" + (f" in {files:,} files" if files > 1 else "") for name, count, files in named]
    said += [f"{rest:,} other file{'' if rest == 1 else 's'}"] * (rest > 0) + [f"{more:,} more"] * (more > 0)
    return ", ".join(said)


def changes(
    commits: Sequence[str], files: Sequence[tuple[str, int, int]], total: tuple[int, int, int], count: int = 0
) -> str:
    """Return what a diff changes: a title, some of its commits, and some of its files.

    `total`: how many files there are, and how many lines they add and remove; `count`: how many commits.
    """
    number, added, removed = total
    changed = f"{number:,} file{'' if number == 1 else 's'} changed, {_signs((added, removed))}"
    title = f"{count:,} commit{'' if count == 1 else 's'}, {changed}" if count else changed
    rows = [*commits, *(f"{name} {_signs((more, less))}" for name, more, less in files)]
    if len(commits) < count and commits:
        rows.insert(len(commits), f"and {count - len(commits):,} more commits")
    if len(files) < number:
        rest = added - sum(more for _, more, _ in files), removed - sum(less for *_, less in files)
        left = number - len(files)
        rows += [f"{'and ' * bool(files)}{left:,} {'more ' * bool(files)}file{'' if left == 1 else 's'} {_signs(rest)}"]
    return "\n".join((title, *rows))


def more_like(count: int, first: int, last: int) -> str:
    """Return what is said above a line that stands for others that are not shown."""
    return f"{count:,} more like the next line: {'line' if first == last else 'lines'} {first:,}" + (
        f"-{last:,}" if last > first else ""
    )


def no_text(kind: str) -> str:
    """Return what is said in place of a result of which nobody knows what a host would show."""
    name = one_line(kind, 80)
    return f"[Result left out: {name} has no text and no text fields. Return text or data, or let it pass unchanged: wrap(leave={name}).]"


def no_json(kind: str) -> str:
    """Return what is said in place of a result that is nested too deeply to be written as JSON or by `str()`."""
    return f"[Result left out: this {one_line(kind, 80)} is nested too deeply to be written as text. Return text, or data that JSON can hold.]"


def failed(size: int, shown: int, error: str) -> tuple[str, str]:
    """Return the notice, and the marker between both ends, for an output whose clipping failed."""
    kept = f"Full output not kept: spill failed ({shorten_reason(error)})."
    return f"[Output clipped: {shown:,} of {size:,} bytes shown. {kept}]", f"[… {size - shown:,} bytes not shown …]"
