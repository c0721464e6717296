"""The sentences of notices and gap markers, as data."""

from __future__ import annotations

from msgspec import Struct

from spillover.document.forgery import as_latin
from spillover.notice.hints import check_template

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_SAID = dict.fromkeys(
    ("shown_lines", "shown_bytes", "lines", "bytes", "tokens", "frames", "stored", "ref", "path", "reason"), ""
)
_SINCE = dict.fromkeys(("earlier", "new", "numbers", "same", "gone", "times", "reason"), "")
_HIDDEN = dict.fromkeys(("first", "last", "start", "end", "where", "count", "s", "times", "note"), "")


class Wording(Struct, frozen=True, kw_only=True):
    """The sentences of notices and gap markers, as data."""

    lines_shown: str = "Output clipped: {shown_lines} of {lines} shown; {bytes} bytes, ~{tokens} tokens in all."
    bytes_shown: str = "Output clipped: {shown_bytes} of {bytes} bytes shown, in {lines}; ~{tokens} tokens in all."
    frames_left: str = "{frames} left out."
    frames_only: str = "Output clipped: {frames} left out."
    codes_only: str = "Output clipped: control codes only; all {lines} shown, {bytes} bytes in all."
    tiny: str = "Clipped: {shown_lines} of {lines} shown."
    at: str = "Full output: {path}"
    under: str = "Full output: {ref}"
    part_at: str = "Stored in part: first {stored} bytes: {path}"
    part_under: str = "Stored in part: first {stored} bytes: {ref}"
    preview_at: str = "These are numbers of a preview ({reason}): {path}"
    preview_under: str = "These are numbers of a preview ({reason}): {ref}"
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
        named: dict[str, Mapping[str, object]] = {"next": {"steps": ""}, "section": {"label": ""}, "lead": {"note": ""}}
        others = {"gap": _HIDDEN, "since": _SINCE}
        for name in self.__struct_fields__:
            places = named.get(name) or others.get(name.partition("_")[0], _SAID)
            check_template(f"Wording({name}=", getattr(self, name), places)

    @property
    def openings(self) -> tuple[str, ...]:
        """The words before the first number of each notice, as `document.forgery` compares them."""
        said = (self.lines_shown, self.bytes_shown, self.frames_only, self.codes_only, self.tiny)
        return tuple(dict.fromkeys(filter(None, (as_latin(words.partition("{")[0]) for words in said))))


WORDING = Wording()
