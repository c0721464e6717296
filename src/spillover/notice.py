"""Every word the model reads that is not the output itself: what is missing, where it is, the next step."""

from __future__ import annotations

from spillover.data import dataclass, replace
from spillover.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from spillover.select.span import Hidden

#: How many lines, or bytes inside a line, the next step proposes to read.
NEXT_LINES = 100
NEXT_BYTES = 4_000
#: A reason is somebody else's words; no more of them than this.
REASON_CHARS = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """A way the reader can go back: templates over {ref} {path} {first} {last} {count} {start} {end} {line}."""

    search: str | None = None
    lines: str | None = None
    bytes: str | None = None
    columns: str | None = None
    grep: str | None = None  # how a search goes on: {pattern} {options} {start}
    path: bool = False  # whether the reader can open files

    def __post_init__(self) -> None:
        for name in ("search", "lines", "bytes", "columns", "grep"):
            _check_template(f"Hint({name}=", getattr(self, name) or "", _PLACES)

    @property
    def names_path(self) -> bool:
        steps = (self.search, self.lines, self.bytes, self.columns, self.grep)
        return self.path or any("{path}" in (step or "") for step in steps)


#: What the templates of a hint, and the sentences of a notice and of a marker, may name.
_PLACES = {**dict.fromkeys(("ref", "path", "pattern", "options"), ""),
           **dict.fromkeys(("first", "last", "count", "start", "end", "line"), 0)}  # fmt: skip
_SAID = dict.fromkeys(("shown_lines", "shown_bytes", "lines", "bytes", "tokens", "stored", "ref", "path", "reason"), "")
_HIDDEN = dict.fromkeys(("first", "last", "start", "end", "where", "count", "s", "times", "note"), "")


def _check_template(what: str, template: str, places: Mapping[str, object]) -> None:
    """Words that could not be filled in are refused when they are chosen, not when an output is at stake."""
    try:
        template.format(**places)
    except (LookupError, ValueError, AttributeError, TypeError) as error:
        known = " ".join(f"{{{name}}}" for name in places)
        raise UsageError(f"{what}{template!r}) cannot be filled in; it may name {known}.") from error


#: The reader can run `spill`.
CLI = Hint(
    search="spill grep {ref} PATTERN",
    lines="spill read {ref} {first}:{last}",
    bytes="spill read {ref} --bytes {start}:{end}",
    columns="spill read {ref} {line} --columns {start}:{end}",
    grep="spill grep {ref} {pattern}{options} --from {start}",
)
#: The reader has the tools of `spill mcp`, or of `Clipper.tools()`.
TOOLS = Hint(
    search='grep_output("{ref}", PATTERN)',
    lines='read_output("{ref}", lines="{first}:{last}")',
    bytes='read_output("{ref}", bytes="{start}:{end}")',
    columns='read_output("{ref}", lines="{line}", columns="{start}:{end}")',
    grep='grep_output("{ref}", {pattern}{options}, start="{start}")',
)
#: The reader can open files; nothing is known of its tools.
PATH = Hint(path=True)


def file_tools(read: str = "Read", search: str = "Grep") -> Hint:
    """The reader has file tools of these names."""
    read, search = _plain(read), _plain(search)
    return Hint(search=f"{search} PATTERN in {{path}}", lines=f"{read} {{path}} offset={{first}} limit={{count}}")


def sub_agent(name: str = "Task") -> Hint:
    """The reader can hand the file to another agent."""
    return Hint(search=f"have {_plain(name)} look through {{path}} and report what matters")


def _plain(name: str) -> str:
    """A tool's name, which goes into a template."""
    if not name.isprintable() or "{" in name or "}" in name:
        raise UsageError(f"{name!r} is no name of a tool.")
    return name


NAMED = {"cli": CLI, "tools": TOOLS, "path": PATH}


def hints(chosen: str | Hint | Iterable[str | Hint]) -> tuple[Hint, ...]:
    """Hints by name ("cli", "tools", "path", "files:Read,Grep", "agent:Task", "none") or as they are."""
    if isinstance(chosen, (str, Hint)):
        chosen = [chosen]
    return tuple(hint for one in chosen for hint in ([one] if isinstance(one, Hint) else _named(one)))


def _named(name: str) -> list[Hint]:
    kind, _, rest = name.partition(":")
    names = [part.strip() for part in rest.split(",") if part.strip()]
    if kind == "none" and not names:
        return []
    if kind in NAMED and not names:
        return [NAMED[kind]]
    if kind == "files" and len(names) in (0, 2):
        return [file_tools(*names)]
    if kind == "agent" and len(names) in (0, 1):
        return [sub_agent(*names)]
    raise UsageError(f"{name!r} is no hint; use cli, tools, path, files:READ,GREP, agent:NAME or none.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """The sentences of a notice and of a gap marker, as data: a profile swaps them."""

    lines_shown: str = "Output clipped: {shown_lines} of {lines} shown; {bytes} bytes, ~{tokens} tokens in all."
    bytes_shown: str = "Output clipped: {shown_bytes} of {bytes} bytes shown, in {lines}; ~{tokens} tokens in all."
    all_shown: str = "Output cleaned of control codes and progress frames: all {lines} shown; {bytes} bytes as it came."
    tiny: str = "Clipped: {shown_lines} of {lines} shown."
    at: str = "Full output: {path}"
    under: str = "Full output: {ref}"
    part_at: str = "Stored in part: first {stored} bytes: {path}"
    part_under: str = "Stored in part: first {stored} bytes: {ref}"
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
    gap_items: str = '"… {count} more item{s}, {where} …"'
    gap_keys: str = '"… {count} more key{s}, {where} …": "…"'
    gap_chars: str = "… {where} …"
    section: str = "[{label}]"

    def __post_init__(self) -> None:
        named: dict[str, Mapping[str, object]] = {"next": {"steps": ""}, "section": {"label": ""}}
        for name in self.__slots__:
            places = named.get(name, _HIDDEN if name.startswith("gap") else _SAID)
            _check_template(f"Wording({name}=", getattr(self, name), places)


WORDING = Wording()


@dataclass(frozen=True, slots=True)
class Gap:
    """What is hidden between two shown parts: lines `first` to `last`, bytes `start` to `end` (counted from 1)."""

    first: int
    last: int
    start: int
    end: int
    whole_lines: bool = True  # False: the first or the last of them is shown in part


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a notice speaks of."""

    lines: int
    bytes: int
    tokens: int
    shown_lines: int
    shown_bytes: int
    gap: Gap | None  # the first one
    ref: str | None = None
    path: str | None = None
    reason: str | None = None  # why it is lost, or stored in part
    stored: int | None = None  # bytes, where it is stored in part


def lines_of(count: int) -> str:
    return f"{count:,} line" if count == 1 else f"{count:,} lines"


def notice(facts: Facts, ways: Sequence[Hint], wording: Wording = WORDING, tier: int = 0) -> str:
    """The notice. Tier 0 says everything, 1 leaves the path and most steps out, 2 is as short as can be."""
    if facts.path is not None and not facts.path.isprintable():  # a reader could not open it as it stands
        facts = replace(facts, path=None)
    values = {
        "shown_lines": f"{facts.shown_lines:,}",
        "shown_bytes": f"{facts.shown_bytes:,}",
        "lines": lines_of(facts.lines),
        "bytes": f"{facts.bytes:,}",
        "tokens": f"{facts.tokens:,}",
        "stored": f"{facts.stored or 0:,}",
        "ref": facts.ref,
        "path": facts.path,
        "reason": one_line(facts.reason or "", REASON_CHARS >> tier),
    }
    if tier == 2:
        body = wording.tiny.format(**values)
        part = None if facts.stored is None else wording.part_under.format(**values)
        return f"[{body} {part or facts.ref or wording.lost.format(**values)}]"
    whole_lines = facts.shown_lines < facts.lines
    said = wording.lines_shown if whole_lines else wording.bytes_shown if facts.gap else wording.all_shown
    parts = [said.format(**values)]
    if facts.ref is None:
        parts += [wording.lost.format(**values) + "."]
        return f"[{' '.join(parts)}" + (f"\n {wording.lost_next}]" if tier == 0 else "]")
    by_path = tier == 0 and facts.path is not None and any(way.names_path for way in ways)
    if facts.stored is not None:
        parts.append((wording.part_at if by_path else wording.part_under).format(**values))
    else:
        parts.append((wording.at if by_path else wording.under).format(**values))
    steps = _steps(facts, ways, short=tier > 0)
    return f"[{' '.join(parts)}" + (f"\n {wording.next.format(steps=' · '.join(steps))}]" if steps else "]")


def _steps(facts: Facts, ways: Sequence[Hint], *, short: bool) -> list[str]:
    """What the reader can do next, with what it has; each can be pasted as it stands."""
    if facts.gap is None:
        return []
    steps = []
    for way in ways:
        if way.names_path and facts.path is None:
            continue
        searching = [] if short or way.search is None else [way.search]
        reading = way.lines if facts.gap.whole_lines else way.bytes
        chosen = [step for step in (*searching, reading) if step is not None]
        steps += [step.format(ref=facts.ref, path=facts.path, **_place(facts.gap)) for step in chosen]
    return steps[:1] if short else steps


def _place(gap: Gap) -> dict[str, int]:
    """Where to go on reading: the first of what is hidden."""
    last = min(gap.last, gap.first + NEXT_LINES - 1)
    end = min(gap.end, gap.start + NEXT_BYTES - 1)
    count = last - gap.first + 1
    return {"first": gap.first, "last": last, "count": count, "start": gap.start, "end": end, "line": gap.first}


#: How reading goes on for a reader of whom nothing is known: the range to ask for.
PLAIN = {
    "lines": "lines {first}:{last}",
    "bytes": "bytes {start}:{end}",
    "columns": "line {line}, columns {start}:{end}",
}


def next_call(ways: Sequence[Hint], kind: str, ref: str, first: int, last: int, line: int = 0) -> str:
    """The call that goes on where an answer ends, with the first of the ways that can."""
    templates = (getattr(way, kind) for way in ways if not way.names_path)
    template = next((template for template in templates if template), PLAIN[kind])
    count = last - first + 1
    return "Next: " + template.format(ref=ref, first=first, last=last, count=count, start=first, end=last, line=line)


def search_call(
    ways: Sequence[Hint], ref: str, pattern: str, start: str, *, context: int, ignore_case: bool, fixed: bool
) -> str:
    """The call that goes on where a search ended, with the same options, in the words of the reader's first way."""
    way = next((way for way in ways if way.grep and not way.names_path), None)
    if way is None or way.grep is None:
        return f"Next: from line {start}"
    if way.grep.startswith("spill "):
        if not pattern.replace("\t", " ").isprintable():  # a shell could not be given it as it stands
            return f"Next: from line {start}"
        from shlex import quote  # only answers that go on need it

        options = [f" -C {context}"] * bool(context) + [" -i"] * ignore_case + [" -F"] * fixed
        words = way.grep
        if pattern.startswith("-"):  # or it would be taken for an option
            words = words.replace(" {pattern}", "") + " -- {pattern}"
        return "Next: " + words.format(ref=ref, pattern=quote(pattern), options="".join(options), start=start)
    options = [f", context={context}"] * bool(context) + [", ignore_case=True"] * ignore_case + [", fixed=True"] * fixed
    return "Next: " + way.grep.format(ref=ref, pattern=repr(pattern), options="".join(options), start=start)


def marker(gap: Gap, wording: Wording = WORDING, tier: int = 0, hidden: Hidden | None = None) -> str:
    """The words that stand where something is hidden."""
    one = gap.first == gap.last
    if hidden is not None:
        words: str = getattr(wording, f"gap_{hidden.kind}")
    elif tier == 2:
        words = (wording.gap_tiny_line if one else wording.gap_tiny) if gap.whole_lines else wording.gap_tiny_bytes
    elif gap.whole_lines:
        words = wording.gap_line if one else wording.gap_lines
    else:
        words = wording.gap_bytes
    where = f"line {gap.first:,}" if one else f"lines {gap.first:,}-{gap.last:,}"
    count, note = (hidden.count, hidden.note) if hidden else (0, "")
    if (
        hidden is not None and not gap.whole_lines and (one or not hidden.inline)
    ):  # a part of a line is named by its bytes
        where = f"bytes {gap.start:,}-{gap.end:,}"
    numbers = {"first": gap.first, "last": gap.last, "start": gap.start, "end": gap.end, "count": count}
    times = "once more" if count == 1 else f"{count:,} more times"
    s = "" if count == 1 else "s"
    return words.format(
        where=where, times=times, note=note, s=s, **{name: f"{value:,}" for name, value in numbers.items()}
    )


def one_line(text: str, most: int) -> str:
    """Somebody else's words, on one line and short."""
    text = " ".join("".join(char if char.isprintable() else " " for char in text).split()).rstrip(".")
    return text if len(text) <= most else text[: most - 1] + "…"


def cut_data(ways: Sequence[Hint], size: int, ref: str | None, reason: str | None) -> str:
    """What is said of data that was cut to fit, where there is no place for gap markers."""
    said = f"Cut to fit: strings end early, lists and objects have fewer entries. {size:,} bytes as it came."
    if ref is None:
        return f"[{said} Full output not kept: {one_line(reason or '', REASON_CHARS)}.]"
    steps = [way.search.format(ref=ref, **_NOWHERE) for way in ways if way.search and not way.names_path][:1]
    return f"[{said} Full output: {ref}" + (f" Next: {steps[0]}]" if steps else "]")


_NOWHERE = {name: value for name, value in _PLACES.items() if name != "ref"}
