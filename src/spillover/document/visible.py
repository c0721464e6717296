"""What a model sees of the bytes of an output under some settings: cleaned, secrets covered, imitated notices marked.

Every way in goes through these functions, so that there is one answer to what may be read.
"""

from __future__ import annotations

from collections.abc import Sequence

from spillover.document.clean import keep_line_ends, look
from spillover.document.forged import Guard, may_hold
from spillover.notice.wording import WORDING, Wording
from spillover.secrets.outputs import CoveredBlob, cover
from spillover.settings.settings import Settings
from spillover.source.blob import Blob


def visible(settings: Settings, data: bytes) -> tuple[str, int]:
    """Return what a model sees of these bytes, and how many overwritten frames are left out."""
    data = cover_bytes(settings, data)
    text, frames = (data.decode("utf-8", "replace"), 0) if settings.raw else look(data)
    guard = notice_guard(settings)
    text = text if guard is None else guard(text)
    text = cover_text(settings, text)  # what was written over may have come between the parts of a secret
    # A model that writes a file back writes the line ends that it was shown.
    return (text if settings.raw else keep_line_ends(text, data)), frames


def visible_text(settings: Settings, data: bytes) -> str:
    """Return what a model sees of these bytes."""
    return visible(settings, data)[0]


def cover_bytes(settings: Settings, data: bytes) -> bytes:
    """Return the bytes with secrets covered, where the settings say so; the length does not change."""
    return data if settings.redact == "off" else cover(data)[0]


def cover_text(settings: Settings, text: str) -> str:
    """Return a text with secrets covered, where the settings say so; the length does not change."""
    if settings.redact == "off":
        return text
    return cover_bytes(settings, text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")


def cover_blob(settings: Settings, blob: Blob) -> Blob:
    """Return the bytes of an output as a model may read them."""
    return blob if settings.redact == "off" else CoveredBlob(blob)


def may_imitate_notice(settings: Settings, text: str) -> bool:
    """Return whether a text may hold a line that reads like a notice."""
    return may_hold(text) if settings.wording is WORDING else not settings.raw and settings.form is None


def notice_guard(settings: Settings) -> Guard | None:
    """Return the function that marks tool text imitating our notices; None for profiles and raw output."""
    if settings.raw or not isinstance(settings.wording, Wording):
        return None

    def find_notices(ref: str) -> Sequence[str]:
        try:
            record = settings.outputs.get_any_scope(ref)
        except Exception:  # noqa: BLE001  a store that cannot say makes no notice ours, and fails no tool call
            return ()
        return () if record is None else record.notices

    return Guard(find_notices, () if settings.wording is WORDING else settings.wording.openings)
