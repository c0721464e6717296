"""Facts and spans into text: the notice on top, markers where something is hidden.

A notice has three lengths (`tier`): 0 says everything, 1 leaves out the path and most steps, 2 is as short as possible.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from spillover.document.document import Document, LineNumbers, Section
from spillover.kinds.selection import INLINE, QUOTING, Hidden, Inside, Span
from spillover.notice.hints import Hint, quote_pattern
from spillover.notice.wording import (
    REASON_CHARS,
    WORDING,
    Wording,
    frames_of,
    lines_of,
    one_line,
    shorten_reason,
)
from spillover.since import Compared, Earlier

#: The shortest notice.
LAST_TIER = 2
#: How many lines, or bytes inside a line, the next step proposes to read.
NEXT_LINES = 100
NEXT_BYTES = 4_000
#: An outline is proposed for an output of at least MAP_BYTES of which at most one part in MAP_SHARE is shown.
MAP_BYTES = 1 << 16
MAP_SHARE = 10
#: With more gaps than these, only the first of each kind is marked in full; the others are numbers.
FEW_GAPS = 3
#: Characters that are shown of each line of a lead.
LEAD_CHARS = 400
#: Characters of the ref of an earlier run, which the user may have written.
REF_CHARS = 80
#: Kinds of gaps whose short markers have the number of hidden parts in them.
COUNTED = ("items", "keys")


class Gap(Struct, frozen=True):
    """What is hidden between two shown parts: lines `first` to `last`, bytes `start` to `end` (counted from 1)."""

    first: int
    last: int
    start: int
    end: int
    whole_lines: bool = True  # False: the first or the last of them is shown in part


class Storage(Struct, frozen=True, kw_only=True):
    """Where the whole output is, or why it is not kept."""

    ref: str | None = None
    path: str | None = None
    reason: str | None = None  # why it is lost, stored in part, or on this machine only
    stored_bytes: int | None = None  # where it is stored in part; all of them, where that is a preview
    local_only: bool = False  # on this machine only; `reason` says why


class Facts(Struct, frozen=True, kw_only=True):
    """The facts that a notice states."""

    lines: int
    bytes: int
    tokens: int
    shown_lines: int
    shown_bytes: int
    gap: Gap | None  # the first one
    storage: Storage
    frames: int = 0  # overwritten, and left out of what is shown
    inside: Inside | None = None  # where the gap is, in a string of JSON
    next_search: str = ""  # the search that is most likely next
    has_outline: bool = True  # whether an outline says more than what is shown
    earlier: Earlier | None = None  # the earlier output that it is compared with
    trouble: str = ""  # why both ends are shown, where more was to be expected


def notice(facts: Facts, hints: Sequence[Hint], wording: Wording = WORDING, tier: int = 0) -> str:
    """Return the notice, in one of three lengths."""
    storage = facts.storage
    if storage.path is not None and not storage.path.isprintable():  # a reader could not open it as it stands
        facts = replace(facts, storage=replace(storage, path=None))
        storage = facts.storage
    values = {
        "shown_lines": f"{facts.shown_lines:,}",
        "shown_bytes": f"{facts.shown_bytes:,}",
        "lines": lines_of(facts.lines),
        "bytes": f"{facts.bytes:,}",
        "tokens": f"{facts.tokens:,}",
        "frames": frames_of(facts.frames),
        "stored": f"{storage.stored_bytes or 0:,}",
        "ref": storage.ref,
        "path": storage.path,
        "reason": shorten_reason(storage.reason, REASON_CHARS >> tier),
    }
    comparison = [] if facts.earlier is None else [describe_comparison(facts.earlier, wording, tier)]
    if tier == LAST_TIER:
        in_line = facts.gap is not None and facts.shown_lines == facts.lines
        amount = wording.tiny_bytes if in_line else wording.tiny
        sentences = [amount, *[wording.frames_left] * (facts.frames > 0), _place_tiny(facts, wording)]
        return f"[{' '.join([*(words.format(**values) for words in sentences), *comparison])}]"
    if facts.trouble:
        comparison.append(wording.trouble.format(reason=facts.trouble))
    sentences = _say_how_much(facts, wording)
    if storage.ref is None:
        sentences.append(wording.lost + ".")
        last = [wording.lost_next] if tier == 0 else []
    else:
        by_path = tier == 0 and storage.path is not None and any(hint.names_path for hint in hints)
        sentences.append(_place(facts, wording, by_path=by_path))
        steps = _steps(facts, hints, brief=tier > 0)
        last = [wording.next.format(steps=" · ".join(steps))] if steps else []
    top = " ".join(words.format(**values) for words in sentences)
    return "[" + "\n ".join((top, *comparison, *last)) + "]"


def _say_how_much(facts: Facts, wording: Wording) -> list[str]:
    """Return the sentences about how much is shown."""
    hides_lines = facts.shown_lines < facts.lines
    if not (hides_lines or facts.gap):
        return [wording.frames_only if facts.frames else wording.codes_only]
    frames = [wording.frames_left] if facts.frames else []
    return [wording.lines_shown if hides_lines else wording.bytes_shown, *frames]


def _place(facts: Facts, wording: Wording, *, by_path: bool) -> str:
    """Return the sentence about where the whole is: by its path, or by its ref."""
    storage = facts.storage
    if storage.stored_bytes is not None and storage.stored_bytes == facts.bytes:
        return wording.preview_at if by_path else wording.preview_under
    if storage.stored_bytes is not None:
        return wording.part_at if by_path else wording.part_under
    if storage.local_only:
        return wording.here_at if by_path else wording.here_under
    return wording.at if by_path else wording.under


def _place_tiny(facts: Facts, wording: Wording) -> str:
    """Return the words about where the whole is, as few as possible."""
    storage = facts.storage
    if storage.stored_bytes is not None:
        return wording.preview_tiny if storage.stored_bytes == facts.bytes else wording.part_under
    if storage.local_only:
        return wording.here_tiny
    return "{ref}" if storage.ref else wording.lost


def _steps(facts: Facts, hints: Sequence[Hint], *, brief: bool) -> list[str]:
    """Return what the reader can do next, as commands or calls that can be pasted as they are."""
    storage, place, inside = facts.storage, facts.gap, facts.inside
    if place is None:
        return []
    needs_outline = facts.has_outline and facts.bytes >= max(MAP_BYTES, MAP_SHARE * facts.shown_bytes)
    steps: list[str] = []
    for hint in hints:
        if hint.names_path and storage.path is None:
            continue
        reading = hint.lines if place.whole_lines else hint.bytes
        target = place
        if inside is not None and hint.inside is not None and _can_be_named(inside):
            reading = hint.inside
            target = Gap(inside.first, inside.last, inside.start, inside.end)
        first, start = target.first, target.start
        last, end = min(target.last, first + NEXT_LINES - 1), min(target.end, start + NEXT_BYTES - 1)
        values = {
            "ref": storage.ref,
            "path": storage.path,
            "pointer": None if inside is None else inside.pointer,
            "options": "",
            "first": first,
            "last": last,
            "count": last - first + 1,
            "start": start,
            "end": end,
            "line": first,
        }
        outline, search = hint.outline if needs_outline else None, hint.search
        steps += [
            template.format(pattern=quote_pattern(facts.next_search, template), **values)
            for template in ([reading] if brief else [outline, search, reading])
            if template
        ]
    return steps[:1] if brief else steps


def _can_be_named(inside: Inside) -> bool:
    """Return whether a place in a string has lines, and a pointer that a shell takes as it stands."""
    plain = (inside.pointer or "").translate(dict.fromkeys(map(ord, "/_-.")))
    return inside.whole_lines and plain.isascii() and plain.isalnum()


def describe_comparison(earlier: Earlier, wording: Wording, tier: int) -> str:
    """Return what is new and what is gone since an earlier output, or why it was not compared."""
    ref = one_line(earlier.ref, REF_CHARS)
    ref = f"{ref} ({earlier.ending})" if earlier.ending and tier == 0 else ref
    compared = earlier.compared
    if compared is None:
        return wording.since_not.format(earlier=ref, reason=shorten_reason(earlier.reason, REASON_CHARS >> 1 + tier))
    new = compared.new.lines
    times = f" ({lines_of(compared.lines)} now, {compared.lines_before:,} then)"
    values = {
        "earlier": ref,
        "new": f"{new:,}" if tier == LAST_TIER else lines_of(new),
        "numbers": f"{compared.numbers.lines:,}",
        "same": f"{compared.same_lines:,}",
        "gone": f"{compared.removals.lines:,}",
        "times": "" if compared.lines == compared.lines_before else times,
    }
    if compared.unchanged:
        return wording.since_same.format(**values)
    return (wording.since_tiny if tier == LAST_TIER else wording.since).format(**values)


def since_line(ref: str, ref_before: str, compared: Compared) -> str:
    """Return the line above the differences of two outputs."""
    words = describe_comparison(Earlier(ref_before, compared=compared), WORDING, 1)
    return f"{ref}: {words[:1].lower()}{words[1:]}"


def marker(gap: Gap, wording: Wording = WORDING, tier: int = 0, contents: Hidden | None = None) -> str:
    """Return the line that stands where something is hidden, or the words inside a line."""
    is_one_line = gap.first == gap.last
    first, last, start, end = f"{gap.first:,}", f"{gap.last:,}", f"{gap.start:,}", f"{gap.end:,}"
    place = f"line {first}" if is_one_line else f"lines {first}-{last}"
    values = {"first": first, "last": last, "start": start, "end": end, "where": place}
    if contents is None:
        name = "bytes" if not gap.whole_lines else "line" if is_one_line else "lines"
        if tier == LAST_TIER:
            name = {"lines": "tiny", "line": "tiny_line", "bytes": "tiny_bytes"}[name]
        words: str = getattr(wording, f"gap_{name}")
        return words.format(count="0", times="0 more times", note="", s="s", **values)
    if contents.inside is not None:
        values["where"] = _place_inside(contents.inside)
    elif not gap.whole_lines and (is_one_line or not contents.inline):  # a part of a line is named by its bytes
        # The first marker in full says that these are bytes. Where others say how much, the first byte will do.
        numbers = start if contents.kind in COUNTED else f"{start}-{end}"
        values["where"] = numbers if tier == LAST_TIER and contents.inline else f"bytes {start}-{end}"
    count = contents.count
    times = "once more" if count == 1 else f"{count:,} more times"
    tiny = "tiny_" if tier == LAST_TIER and contents.inline and contents.inside is None else ""
    words = getattr(wording, f"gap_{tiny}{contents.kind}")
    text = words.format(count=f"{count:,}", times=times, note=contents.note, s="" if count == 1 else "s", **values)
    if contents.inside is None:
        return text
    # In a string of JSON it is escaped, and on a line of its own unless it stands inside of one.
    own_line = contents.inside.whole_lines and not contents.inside.open_ended and contents.kind not in INLINE
    return json.dumps(text + "\n" * own_line, ensure_ascii=False)[1:-1]


def _place_inside(inside: Inside) -> str:
    """Return a place in a string of JSON: "lines 61-20,410 of /stdout"."""
    if not inside.whole_lines:
        place = f"bytes {inside.start:,}-{inside.end:,}"
    elif inside.first == inside.last:
        place = f"line {inside.first:,}"
    else:
        place = f"lines {inside.first:,}-{inside.last:,}"
    return place if inside.pointer is None else f"{place} of {inside.pointer}"


class Rendered(Struct, frozen=True):
    """What the model will see, and what that is of the output."""

    parts: tuple[str, ...]  # one per section; "" where nothing of it is shown
    ranges: tuple[tuple[int, int], ...] = ()  # lines at least partly shown
    bytes: int = 0
    frames: int = 0  # overwritten, and left out of what is shown
    body: str = ""  # what is shown of the output itself, without a word of ours
    spans: tuple[Span, ...] = ()
    gap: Gap | None = None  # the first of all, and where it is in a string of JSON
    inside: Inside | None = None
    notice: str = ""

    @property
    def text(self) -> str:
        return "\n".join(filter(None, (self.notice, *self.parts)))

    @property
    def texts(self) -> tuple[str, ...]:
        """The same as texts of their own, one per section: the notice stands before the first that is shown."""
        first = next((number for number, part in enumerate(self.parts) if part), 0)
        top = "\n".join(filter(None, (self.notice, self.parts[first])))
        return (*self.parts[:first], top, *self.parts[first + 1 :])

    @property
    def lines(self) -> int:
        return sum(last - first + 1 for first, last in self.ranges)


class Layout:
    """Turns spans of a document into text, with markers where something is hidden; the notice comes last, by itself."""

    def __init__(self, document: Document, wording: Wording = WORDING, tier: int = 0) -> None:
        self.document = document
        self.wording = wording
        self.tier = tier
        # The same pieces, and their line numbers, come up each time that spans are tried.
        self._pieces: dict[tuple[int, int], tuple[str, int]] = {}
        self.number = LineNumbers(document).at

    def render(self, spans: Sequence[Span]) -> Rendered:
        """Return the text for these spans, which are in order and do not touch; without a notice."""
        first_gap: Gap | None = None
        parts, ranges, bodies = [], [], []
        shown_bytes = frames = 0
        has_sections = len(self.document.sections) > 1
        for section, inside in deal(self.document.sections, spans):
            if has_sections and not inside and section.label is None and (first_gap or not section.size):
                parts.append("")  # there may be thousands of these, and only the first gap of all is named
                continue
            pieces = [self._read(span.start + span.skip, span.end) for span in inside]
            texts = [text for text, _ in pieces]
            bodies += texts
            frames += sum(count for _, count in pieces)
            shown_bytes += sum([span.end - span.start - span.skip for span in inside])
            text, gap = self._render_section(section, inside, texts)
            parts.append(text)
            first_gap = first_gap or gap
            ranges += [(self.number(span.start), self.number(span.end - 1)) for span in inside]
        contents = next((span.then for span in spans if span.end == first_gap.start - 1), None) if first_gap else None
        return Rendered(
            tuple(parts),
            merge(ranges),
            shown_bytes,
            frames,
            "".join(bodies),
            tuple(spans),
            first_gap,
            contents.inside if contents else None,
        )

    def gap(self, start: int, end: int) -> Gap:
        """Return what is hidden between two places. What was not kept begins on the line of the byte before it."""
        opens_line, document = self.starts_line(start), self.document
        whole = opens_line and (end == document.size or self.starts_line(end))
        first = self.number(start - 1) + opens_line if start else 1
        return Gap(first, self.number(end - 1), start + 1, end, whole)

    def starts_line(self, offset: int) -> bool:
        return offset == 0 or self.document.blob.read(offset - 1, offset) == b"\n"

    def _read(self, start: int, end: int) -> tuple[str, int]:
        """Return what a person would see of some bytes, and how many overwritten frames are left out of it."""
        if (start, end) not in self._pieces:
            self._pieces[start, end] = self.document.text_and_frames(start, end)
        return self._pieces[start, end]

    def _render_section(self, section: Section, spans: Sequence[Span], texts: Sequence[str]) -> tuple[str, Gap | None]:
        """Return a section with its label, its pieces, and markers before, between and after them; its first gap."""
        has_sections = len(self.document.sections) > 1
        starts = [section.start, *[span.end for span in spans]]
        ends = [*[span.start for span in spans], section.end]
        gaps = [self.gap(start, end) if start < end else None for start, end in zip(starts, ends, strict=True)]
        first_gap = next(filter(None, gaps), None)
        if section.size == 0 or (section.label is None and not spans and has_sections):
            return "", first_gap
        pieces = [self.wording.section.format(label=section.label)] if section.label else []
        inline: set[int] = set()  # the pieces that stand inside a line
        is_many = len(gaps) - gaps.count(None) > FEW_GAPS
        kinds: set[str] = set()  # of gaps that were marked in full: a reader knows their markers
        for number, gap in enumerate(gaps):
            if gap is not None:
                contents = spans[number - 1].then if number else None
                if contents is not None and contents.inline:
                    inline.add(len(pieces))
                kind = "lines" if contents is None else contents.kind
                tier = LAST_TIER if is_many and kind in kinds else self.tier
                kinds.add(kind)
                pieces.append(marker(gap, self.wording, tier, self._guard_note(contents)))
            if number < len(spans):
                if spans[number].lead:
                    pieces.append(self._render_lead(spans[number].lead))
                pieces.append(texts[number])
        text = _join(pieces, inline)
        return text.removesuffix("\n") if has_sections else text, first_gap

    def _guard_note(self, contents: Hidden | None) -> Hidden | None:
        """Return what a gap hides; what its note quotes of the output is cleaned, and guarded."""
        if contents is None or contents.kind not in QUOTING:
            return contents
        return replace(contents, note=self._guard(one_line(contents.note, LEAD_CHARS)))

    def _render_lead(self, words: str) -> str:
        """Return words of ours on lines of their own. They may quote the output: each line is cleaned and guarded."""
        first, *more = [one_line(line, LEAD_CHARS) for line in words.split("\n") if line.strip()] or [""]
        return self.wording.lead.format(note="\n".join((first, *(self._guard(f" {line}") for line in more))))

    def _guard(self, line: str) -> str:
        return line if self.document.guard is None else self.document.guard(line)


def deal(sections: Sequence[Section], spans: Sequence[Span]) -> Iterator[tuple[Section, list[Span]]]:
    """Yield each section with the parts of spans inside it; both are in order."""
    at = 0
    for section in sections:
        while at < len(spans) and spans[at].end <= section.start:
            at += 1
        inside = []
        for span in spans[at:]:
            if span.start >= section.end:
                break
            inside.append(_intersect(span, section))
        yield section, [span for span in inside if span.start < span.end]


def _intersect(span: Span, section: Section) -> Span:
    """Return the part of a span that is in a section. A lead stands above its first part."""
    start, end = max(span.start, section.start), min(span.end, section.end)
    if start != span.start:
        return Span(start, end, span.why, span.then)
    return span if end == span.end else replace(span, end=end, skip=min(span.skip, max(0, end - start)))


def _join(pieces: Sequence[str], inline: set[int]) -> str:
    """Join the pieces, each on lines of its own, except those that stand inside a line."""
    lines = []
    for number, piece in enumerate(pieces[:-1]):
        in_line = number in inline or number + 1 in inline
        lines.append(piece if in_line or piece.endswith("\n") else f"{piece}\n")
    return "".join([*lines, *pieces[-1:]])


def merge(ranges: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Merge line ranges, so that each line is in only one of them; in order."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return tuple(merged)
