"""Every word the model reads that is not the output itself: what is missing, where it is, the next step."""

from __future__ import annotations

from spillover.data import dataclass, replace
from spillover.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from spillover.select.span import Hidden, Inside
    from spillover.since.compare import Compared

#: How many lines, or bytes inside a line, the next step proposes to read.
NEXT_LINES = 100
NEXT_BYTES = 4_000
#: A map is offered of an output this large, in bytes, of which at most one part in so many is shown.
MAP_BYTES, MAP_SHARE = 1 << 16, 10
#: A reason is somebody else's words; no more of them than this. A remedy comes last, so that a longer one loses its middle.
REASON_CHARS = 400


_STEPS = ("search", "lines", "bytes", "columns", "grep", "inside", "outline")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """A way the reader can go back: templates over {ref} {path} {first} {last} {count} {start} {end} {line}."""

    search: str | None = None
    lines: str | None = None
    bytes: str | None = None
    columns: str | None = None
    grep: str | None = None  # how a search goes on: {pattern} {options} {start}
    inside: str | None = None  # lines of a string in JSON: {pointer} too
    outline: str | None = None
    path: bool = False  # whether the reader can open files

    def __post_init__(self) -> None:
        for name in _STEPS:
            _check_template(f"Hint({name}=", getattr(self, name) or "", _PLACES)

    @property
    def names_path(self) -> bool:
        steps = (getattr(self, name) for name in _STEPS)
        return self.path or any("{path}" in (step or "") for step in steps)


#: What the templates of a hint, and the sentences of a notice and of a marker, may name.
_PLACES = {**dict.fromkeys(("ref", "path", "pattern", "options", "pointer"), ""),
           **dict.fromkeys(("first", "last", "count", "start", "end", "line"), 0)}  # fmt: skip
_SAID = dict.fromkeys(
    ("shown_lines", "shown_bytes", "lines", "bytes", "tokens", "frames", "stored", "ref", "path", "reason"), ""
)
_SINCE = dict.fromkeys(("earlier", "new", "numbers", "same", "gone", "times", "reason"), "")
_HIDDEN = dict.fromkeys(("first", "last", "start", "end", "where", "count", "s", "times", "note"), "")


def _check_template(what: str, template: str, places: Mapping[str, object]) -> None:
    """Raise a UsageError for a template that cannot be filled in: when it is chosen, not when an output is at stake."""
    try:
        template.format(**places)
    except (LookupError, ValueError, AttributeError, TypeError) as error:
        known = " ".join(f"{{{name}}}" for name in places)
        raise UsageError(f"{what}{template!r}) cannot be filled in; it may name {known}.") from error


#: The reader can run `spill`.
CLI = Hint(
    search="spill grep {ref} {pattern}",
    lines="spill read {ref} {first}:{last}",
    bytes="spill read {ref} --bytes {start}:{end}",
    columns="spill read {ref} {line} --columns {start}:{end}",
    grep="spill grep {ref} {pattern}{options} --from {start}",
    inside="spill read {ref}#{pointer} {first}:{last}",
    outline="spill outline {ref}",
)
#: The reader has the tools of `spill mcp`, or of `Clipper.tools()`.
TOOLS = Hint(
    search='grep_output("{ref}", {pattern})',
    lines='read_output("{ref}", lines="{first}:{last}")',
    bytes='read_output("{ref}", bytes="{start}:{end}")',
    columns='read_output("{ref}", lines="{line}", columns="{start}:{end}")',
    grep='grep_output("{ref}", {pattern}{options}, start="{start}")',
    inside='read_output("{ref}#{pointer}", lines="{first}:{last}")',
    outline='outline_output("{ref}")',
)
#: The reader can open files; nothing is known of its tools.
PATH = Hint(path=True)


def with_options(hint: Hint, options: str) -> Hint:
    """Return a hint with options after the verb of each command: `spill read --scope acme/web {ref} …`."""
    options = options.replace("{", "{{").replace("}", "}}")
    steps = {name: getattr(hint, name) for name in _STEPS}
    return replace(
        hint, **{name: step and step.replace(" {ref}", f" {options} {{ref}}", 1) for name, step in steps.items()}
    )


def file_tools(read: str = "Read", search: str = "Grep") -> Hint:
    """Return a hint for a reader that has file tools of these names."""
    read, search = _plain(read), _plain(search)
    return Hint(search=f"{search} {{pattern}} in {{path}}", lines=f"{read} {{path}} offset={{first}} limit={{count}}")


def sub_agent(name: str = "Task") -> Hint:
    """Return a hint for a reader that can hand the file to another agent."""
    return Hint(search=f"have {_plain(name)} look through {{path}} and report what matters")


def _plain(name: str) -> str:
    """Return the name of a tool, if it can stand in a template."""
    if not name.isprintable() or "{" in name or "}" in name:
        raise UsageError(f"{name!r} is not the name of a tool.")
    return name


NAMED = {"cli": CLI, "tools": TOOLS, "path": PATH}


def hints(chosen: str | Hint | Iterable[str | Hint]) -> tuple[Hint, ...]:
    """Return hints given by name ("cli", "tools", "path", "files:Read,Grep", "agent:Task", "none") or as they are."""
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
    raise UsageError(f"{name!r} is not a hint; use cli, tools, path, files:READ,GREP, agent:NAME or none.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """The sentences of a notice and of a gap marker, as data: a profile swaps them."""

    lines_shown: str = "Output clipped: {shown_lines} of {lines} shown; {bytes} bytes, ~{tokens} tokens in all."
    bytes_shown: str = "Output clipped: {shown_bytes} of {bytes} bytes shown, in {lines}; ~{tokens} tokens in all."
    frames_left: str = "{frames} left out."
    frames_only: str = "Output clipped: {frames} left out."
    codes_only: str = "Output clipped: control codes only; all {lines} shown, {bytes} bytes as it came."
    tiny: str = "Clipped: {shown_lines} of {lines} shown."
    at: str = "Full output: {path}"
    under: str = "Full output: {ref}"
    part_at: str = "Stored in part: first {stored} bytes: {path}"
    part_under: str = "Stored in part: first {stored} bytes: {ref}"
    here_at: str = "Kept on this machine only ({reason}): {path}"
    here_under: str = "Kept on this machine only ({reason}): {ref}"
    here_tiny: str = "On this machine only: {ref}"
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
    since: str = "Since {earlier}: {new} new, {numbers} with other numbers, {same} same, {gone} gone."
    since_same: str = "Unchanged since {earlier}: every line says the same{times}."
    since_not: str = "Not compared with {earlier}: {reason}."
    since_tiny: str = "Since {earlier}: +{new} \N{MINUS SIGN}{gone}."
    section: str = "[{label}]"
    lead: str = "[… {note} …]"

    def __post_init__(self) -> None:
        named: dict[str, Mapping[str, object]] = {"next": {"steps": ""}, "section": {"label": ""}, "lead": {"note": ""}}
        others = {"gap": _HIDDEN, "since": _SINCE}
        for name in self.__slots__:
            places = named.get(name) or others.get(name.partition("_")[0], _SAID)
            _check_template(f"Wording({name}=", getattr(self, name), places)

    @property
    def openings(self) -> tuple[str, ...]:
        """The words before the first number of each notice, as `view.lookalike` compares them."""
        from spillover.view.lookalike import folded  # our own words need none of it

        said = (self.lines_shown, self.bytes_shown, self.frames_only, self.codes_only, self.tiny)
        return tuple(dict.fromkeys(filter(None, (folded(words.partition("{")[0]) for words in said))))


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
class Since:
    """What a notice says of an earlier output; without a reason, how many lines are new, gone or the same."""

    ref: str
    how: str = ""  # how it ended and how old it is, where that is said
    reason: str = ""  # why it could not be compared
    new: int = 0
    numbers: int = 0
    same: int = 0
    gone: int = 0
    lines: int = 0
    lines_before: int = 0
    exact: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a notice speaks of."""

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
    stored: int | None = None  # bytes, where it is stored in part
    inside: Inside | None = None  # where the gap is, in a string of JSON
    here: bool = False  # it is on this machine only, and `reason` says why
    seek: str = ""  # the search that is most likely next
    mapped: bool = True  # whether a map of it says more than what is shown
    since: Since | None = None  # the earlier output that it is told against


def lines_of(count: int) -> str:
    return f"{count:,} line" if count == 1 else f"{count:,} lines"


def frames_of(count: int) -> str:
    return f"{count:,} overwritten frame" if count == 1 else f"{count:,} overwritten frames"


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
    if tier == 2:
        body = " ".join(
            words.format(**values) for words in (wording.tiny, wording.frames_left)[: 1 + (facts.frames > 0)]
        )
        part = None if facts.stored is None else wording.part_under.format(**values)
        part = wording.here_tiny.format(**values) if facts.here and part is None else part
        words = [] if facts.since is None else [_tell_since(facts.since, wording, tier)]
        return f"[{' '.join((body, part or facts.ref or wording.lost.format(**values), *words))}]"
    since = [] if facts.since is None else [_tell_since(facts.since, wording, tier)]
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
    if facts.stored is not None:
        parts.append((wording.part_at if by_path else wording.part_under).format(**values))
    elif facts.here:
        parts.append((wording.here_at if by_path else wording.here_under).format(**values))
    else:
        parts.append((wording.at if by_path else wording.under).format(**values))
    steps = _steps(facts, ways, short=tier > 0)
    last = [wording.next.format(steps=" · ".join(steps))] if steps else []
    return "\n ".join((f"[{' '.join(parts)}", *since, *last)) + "]"


def _tell_since(since: Since, wording: Wording, tier: int) -> str:
    """Return what is said of an earlier output: what is new, what is gone, or why it was not compared."""
    about = "" if since.exact else "about "
    other = since.lines != since.lines_before
    values = {
        "earlier": f"{one_line(since.ref, 80)} ({since.how})" if since.how and tier == 0 else one_line(since.ref, 80),
        "new": about + (f"{since.new:,}" if tier == 2 else lines_of(since.new)),
        "numbers": f"{since.numbers:,}",
        "same": f"{since.same:,}",
        "gone": f"{since.gone:,}",
        "times": f", {lines_of(since.lines)} now and {since.lines_before:,} then" if other else "",
        "reason": shorten_reason(since.reason, REASON_CHARS >> 1 + tier),
    }
    if since.reason:
        return wording.since_not.format(**values)
    if not (since.new or since.numbers or since.gone):
        return wording.since_same.format(**values)
    return (wording.since_tiny if tier == 2 else wording.since).format(**values)


def since_line(ref: str, earlier: str, found: Compared) -> str:
    """Return what is said above the differences of two outputs."""
    words = _tell_since(since_of(earlier, found), WORDING, 1)
    return f"{ref}: {words[:1].lower()}{words[1:]}"


def since_of(ref: str, found: Compared, how: str = "") -> Since:
    """Return what a notice says of an earlier output that was compared."""
    return Since(
        ref=ref,
        how=how,
        new=found.new.lines,
        numbers=found.numbers.lines,
        same=found.same,
        gone=found.gone.lines,
        lines=found.lines,
        lines_before=found.lines_before,
        exact=found.exact,
    )


def lines_gone(count: int, named: Sequence[str]) -> str:
    """Return what is said of lines that only the earlier output has: how many, and some of them."""
    return "\n".join((f"gone: {lines_of(count)}" + (", among them" if 0 < len(named) < count else ""), *named))


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
    """Return a pattern as it stands in a call of this form; a word for one where none is likely."""
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


#: How reading goes on for a reader of whom nothing is known: the range to ask for.
PLAIN = {
    "lines": "lines {first}:{last}",
    "bytes": "bytes {start}:{end}",
    "columns": "line {line}, columns {start}:{end}",
}


def next_call(ways: Sequence[Hint], kind: str, ref: str, first: int, last: int, line: int = 0) -> str:
    """Return the call that continues where an answer ends, for the first hint that has one."""
    return "Next: " + _call(ways, kind, ref, first, last, line)


def _call(ways: Sequence[Hint], kind: str, ref: str, first: int, last: int, line: int = 0) -> str:
    templates = (getattr(way, kind) for way in ways if not way.names_path)
    template = next((template for template in templates if template), PLAIN[kind])
    count = last - first + 1
    return template.format(ref=ref, first=first, last=last, count=count, start=first, end=last, line=line)


def frames_call(ways: Sequence[Hint], ref: str, frames: int, line: int, count: int) -> str:
    """Return the words about overwritten frames that an answer leaves out, with the call that shows the first ones."""
    return f"{frames_of(frames)} left out: {_call(ways, 'columns', ref, 1, count, line)}."


def search_call(
    ways: Sequence[Hint],
    ref: str,
    pattern: str,
    start: str,
    *,
    context: int,
    ignore_case: bool,
    fixed: bool,
    extra: str = "",
) -> str:
    """Return the call that continues a search with the same options, for the first hint that has one."""
    way = next((way for way in ways if way.grep and not way.names_path), None)
    if way is None or way.grep is None:
        return f"Next: from line {start}"
    if way.grep.startswith("spill "):
        if not pattern.replace("\t", " ").isprintable():  # a shell could not be given it as it stands
            return f"Next: from line {start}"
        from shlex import quote  # only answers that go on need it

        options = (
            [extra or f" -C {context}" * bool(context)] + [" -i"] * ignore_case + [" -F"] * fixed
        )  # a shell has all the options of grep
        words = way.grep
        if pattern.startswith("-"):  # or it would be taken for an option
            words = words.replace(" {pattern}", "") + " -- {pattern}"
        return "Next: " + words.format(ref=ref, pattern=quote(pattern), options="".join(options), start=start)
    options = [f", context={context}"] * bool(context) + [", ignore_case=True"] * ignore_case + [", fixed=True"] * fixed
    return "Next: " + way.grep.format(ref=ref, pattern=repr(pattern), options="".join(options), start=start)


def marker(gap: Gap, wording: Wording = WORDING, tier: int = 0, hidden: Hidden | None = None) -> str:
    """Return the words that stand where something is hidden."""
    one = gap.first == gap.last
    if hidden is not None:
        tiny = "tiny_" if tier == 2 and hidden.inline and hidden.inside is None else ""
        words: str = getattr(wording, f"gap_{tiny}{hidden.kind}")
    elif tier == 2:
        words = (wording.gap_tiny_line if one else wording.gap_tiny) if gap.whole_lines else wording.gap_tiny_bytes
    elif gap.whole_lines:
        words = wording.gap_line if one else wording.gap_lines
    else:
        words = wording.gap_bytes
    first, last, start, end = f"{gap.first:,}", f"{gap.last:,}", f"{gap.start:,}", f"{gap.end:,}"
    where = f"line {first}" if one else f"lines {first}-{last}"
    count, note = (hidden.count, hidden.note) if hidden else (0, "")
    if (
        hidden is not None and not gap.whole_lines and (one or not hidden.inline)
    ):  # a part of a line is named by its bytes
        # The first marker in full says that these are bytes.
        where = f"{start}-{end}" if tier == 2 and hidden.inline else f"bytes {start}-{end}"
    if hidden is not None and hidden.inside is not None:
        where = _where_inside(hidden.inside)
    times = "once more" if count == 1 else f"{count:,} more times"
    said = words.format(
        first=first, last=last, start=start, end=end, count=f"{count:,}", where=where, times=times, note=note,
        s="" if count == 1 else "s",
    )  # fmt: skip
    return said if hidden is None or hidden.inside is None else _quote(said, hidden)


def _where_inside(place: Inside) -> str:
    """Return a place in a string of JSON: "lines 61-20,410 of /stdout"."""
    of = "" if place.pointer is None else f" of {place.pointer}"
    if not place.whole_lines:
        return f"bytes {place.start:,}-{place.end:,}{of}"
    return (f"line {place.first:,}" if place.first == place.last else f"lines {place.first:,}-{place.last:,}") + of


def _quote(said: str, hidden: Hidden) -> str:
    """Return the words as they stand in a string of JSON: on a line of their own, unless they stand inside of one."""
    import json  # only strings that were cut need it

    from spillover.select.span import INLINE

    place = hidden.inside
    own_line = place is not None and place.whole_lines and not place.open_ended and hidden.kind not in INLINE
    return json.dumps(said + "\n" * own_line, ensure_ascii=False)[1:-1]


#: Of words that are mostly space, so many times what is shown.
WIDEST = 64


def one_line(text: str, most: int) -> str:
    """Return somebody else's words, short and on one line. At most WIDEST times as many characters are looked at."""
    begins = text[: WIDEST * most]
    if not begins.isprintable():
        begins = "".join(char if char.isprintable() else " " for char in begins)
    line = " ".join(begins.split())
    if len(line) <= most and len(begins) < len(text):
        return line[: most - 1] + "…"
    line = line.rstrip(".")
    return line if len(line) <= most else line[: most - 1] + "…"


def shorten_reason(reason: str | None, most: int = REASON_CHARS) -> str:
    """Return a reason on one line. Of one that is too long both ends are shown: what happened, and what to do about it."""
    line = one_line(reason or "", WIDEST * most)
    if len(line) <= most:
        return line
    head = most // 2
    return line[:head] + "…" + line[len(line) - (most - head - 1) :]


def cut_data(ways: Sequence[Hint], size: int, ref: str | None, reason: str | None) -> str:
    """Return what is said about data that was cut to fit, where there is no place for gap markers."""
    said = f"Cut to fit: long strings in part, lists and objects with fewer entries. {size:,} bytes as it came."
    if ref is None:
        return f"[{said} Full output not kept: {shorten_reason(reason)}.]"
    steps = [way.search.format(ref=ref, **_NOWHERE) for way in ways if way.search and not way.names_path][:1]
    return f"[{said} Full output: {ref}" + (f" Next: {steps[0]}]" if steps else "]")


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
    elif reason:
        said = f"{lines_of(lines)} before {where} {is_} kept in part ({reason}): {ref}"
    else:
        said = f"{lines_of(lines)} before {where} {is_} kept: {ref}"
    return f"[{' · '.join([said, *ends])}]"


def passed_on(uri: str, argument: str, size: int) -> str:
    """Return the line about an argument that was passed by reference."""
    return f"[{one_line(uri, 100)} was passed as {one_line(argument, 60)}: {size:,} bytes.]"


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
    commits: Sequence[str], files: Sequence[tuple[str, int, int]], every: Sequence[Sequence[int]], count: int = 0
) -> str:
    """Return what a diff changes: a title, some of its commits, and some of its files; `every`: of each file, lines added and removed."""
    total = f"{len(every):,} file{'' if len(every) == 1 else 's'} changed, {_signs(map(sum, zip(*every, strict=True)))}"
    title = f"{count:,} commit{'' if count == 1 else 's'}, {total}" if count else total
    rows = [*commits, *(f"{name} {_signs((added, removed))}" for name, added, removed in files)]
    if len(commits) < count and commits:
        rows.insert(len(commits), f"and {count - len(commits):,} more commits")
    if len(files) < len(every):
        rest = [sum(all_of) - sum(some) for all_of, some in zip(zip(*every), list(zip(*files))[1:] or ((), ()))]  # noqa: B905
        left = len(every) - len(files)
        rows += [f"{'and ' * bool(files)}{left:,} {'more ' * bool(files)}file{'' if left == 1 else 's'} {_signs(rest)}"]
    return "\n".join((title, *rows))


def _signs(numbers: Iterable[int]) -> str:
    added, removed = numbers
    return f"+{added:,} \N{MINUS SIGN}{removed:,}"


def more_like(count: int, first: int, last: int) -> str:
    """Return what is said above a line that stands for others that are not shown."""
    return f"{count:,} more like the next line: {'line' if first == last else 'lines'} {first:,}" + (
        f"-{last:,}" if last > first else ""
    )


def no_text(kind: str) -> str:
    """Return what is said in place of a result of which nobody knows what a host would show."""
    name = one_line(kind, 80)
    return f"[Result left out: {name} has neither text nor fields that are text. Return text or data, or let it pass as it is: wrap(leave={name}).]"


def failed(size: int, shown: int, error: str) -> tuple[str, str]:
    """Return the notice, and the marker between both ends, for an output whose clipping failed."""
    kept = f"Full output not kept: spill failed ({shorten_reason(error)})."
    return f"[Output clipped: {shown:,} of {size:,} bytes shown. {kept}]", f"[… {size - shown:,} bytes not shown …]"


_NOWHERE = {**{name: value for name, value in _PLACES.items() if name != "ref"}, "pattern": "PATTERN"}
