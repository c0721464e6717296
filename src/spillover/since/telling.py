"""Telling an output against an earlier one: cut to what is new, or to a line where nothing is.

An output that fits stays whole, unless it says what the earlier one said: then it is stored like any that is cut, and one line
says so. If it cannot be stored, it is shown whole: nothing is cut that is not kept.
"""

from __future__ import annotations

from msgspec.structs import replace

from spillover.intake.blob import Held
from spillover.intake.meter import Meter
from spillover.show.cut import cut
from spillover.since.earlier import GOOD_IF_ANY, find_earlier
from spillover.view.document import Document, Section

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from spillover.choices import Choices
    from spillover.intake.take import Intake
    from spillover.result import Clip
    from spillover.select.wanted import Wanted
    from spillover.show.render import Shown

#: A shorter output is shown again, whatever the earlier one said: a notice would take as much.
WORTH_A_NOTICE = 1_200


def tell_since(
    intake: Intake,
    choices: Choices,
    whole: tuple[Shown | None, Clip] | None,
    sections: Sequence[Section],
    call_id: str | None,
    wanted: Wanted,
    cwd: str | None,
) -> tuple[Shown | None, Clip]:
    """Return the clip of an output, told against the earlier one; `whole` is the clip of one that fits."""
    if whole is not None and (len(intake.held) < WORTH_A_NOTICE or choices.since == GOOD_IF_ANY):
        return whole
    against = find_earlier(choices, wanted.command or None, cwd)
    try:
        if whole is not None:
            if against is None:
                return whole
            against = against.told_against(_document(intake.held, choices))
            if not against.unchanged:
                return whole
        if not intake.spilled:
            intake.spill()
            intake.finish()
        made = cut(intake, choices, sections, call_id, replace(wanted, since=against))
    finally:
        if against is not None:
            against.close()
    return made if whole is None or made[1].outcome == "stored" else whole


def _document(data: bytes, choices: Choices) -> Document:
    if choices.redact != "off":
        data = choices.cover(data)
    meter = Meter()
    meter.feed(data, hashing=False)
    return Document(Held(data), meter.index, meter.lines, meter.newlines, (Section(0, len(data)),))
