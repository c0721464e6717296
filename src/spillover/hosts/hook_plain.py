"""The fallback when clipping fails in a hook: both ends of each text (`plain`), and a line that says why.

A result that makes us fail would otherwise reach the model whole. It has the methods of `hooked.Call`.
"""

from __future__ import annotations

from msgspec import Struct

from spillover.fallback import mark, shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from spillover.settings.limits import Limits


class Plain(Struct, frozen=True):
    """A call whose result could not be clipped, within the limits as far as they are known."""

    error: BaseException
    limits: Limits | None = None
    ending: str = ""
    cover: Callable[[str], str] = str  # what takes secrets out of a text, where they are to be covered
    program: bool = False  # one reads the result, so nothing is cut

    def fits(self, text: str) -> bool:
        """Return whether a text is within the limits."""
        return self.text(text) is None

    def text(self, text: str) -> str | None:
        """Return both ends of a text; None where it is short enough as it is."""
        short = self._short(text, 1)
        return None if short is None else short + self.ending

    def marked(self, text: str) -> str:
        """Return the text with lines that look like a notice marked; no store is asked, so none counts as ours."""
        return mark(text)

    def blocks(self, blocks: list[Any]) -> list[Any] | None:
        """Return all texts as one, in the place of the first; what has no text stays."""
        bearing = [block for block in blocks if _text_of(block)]
        text = self.text("\n".join(map(_text_of, bearing)))
        if text is None:
            return None
        return [_with_text(bearing[0], text), *(block for block in blocks if not _text_of(block))]

    def streams(self, *, stdout: str, stderr: str) -> dict[str, str] | None:
        """Return both ends of each stream, half of the room for each."""
        texts = {"stdout": stdout, "stderr": stderr}
        changed = {name: short for name, text in texts.items() if (short := self._short(text, 2)) is not None}
        return {**texts, **changed} if changed else None

    def clipped(self, **_: Any) -> tuple[dict[str, str], str]:
        """Return nothing: what is in a file is not stored."""
        return {}, "lost"

    def _short(self, text: str, shares: int) -> str | None:
        try:
            covered = self.cover(text)
        except Exception as error:  # noqa: BLE001  then nothing is shown that was not looked at
            return shorten("", error, self.limits, shares=shares, hidden=len(text.encode("utf-8", "replace")))
        short = None if self.program else shorten(covered, self.error, self.limits, shares=shares)
        return covered if short is None and covered != text else short


def _text_of(block: Any) -> str:
    """Return the text in a block, of whatever shape; "" where there is none."""
    if isinstance(block, str):
        return block
    if not isinstance(block, dict):
        return ""
    resource = block.get("resource")
    text = (resource if isinstance(resource, dict) else block).get("text")
    if isinstance(text, str):
        return text
    content = block.get("content")
    return "\n".join(filter(None, map(_text_of, content))) if isinstance(content, list) else _text_of(content)


def _with_text(block: Any, text: str) -> Any:
    """Return a block that says this; of the same kind where that has a place for it."""
    if isinstance(block, str):
        return text
    if isinstance(block.get("resource"), dict):
        return {**block, "resource": {**block["resource"], "text": text}}
    return {**block, "text": text} if isinstance(block.get("text"), str) else {"type": "text", "text": text}
