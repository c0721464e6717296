"""JSON with comments and trailing commas, as hosts keep their settings."""

from __future__ import annotations

import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# One token after the other; no quantifier gives anything back. A string or a comment that is not closed is a token, too:
# otherwise each quote in it would be followed to the end again.
_TOKEN = re.compile(r'"(?:[^"\\\n]++|\\.)*+"?|//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?|,|[^"/,]++|.', re.DOTALL)
_BLANKS = re.compile(r"\s*+")


def blank(text: str) -> str:
    """Return the same text, as long, with spaces for comments and for commas before a closing bracket: plain JSON."""
    once = "".join(_blank(found[0]) for found in _TOKEN.finditer(text))
    # A comment may have stood between a comma and its bracket.
    return "".join(" " if found[0] == "," and _closes(found) else found[0] for found in _TOKEN.finditer(once))


def read_jsonc(text: str) -> Any:
    """Return the value of a text; ValueError where it is not JSON even so."""
    try:
        return json.loads(text)
    except ValueError:
        return json.loads(blank(text.removeprefix("\ufeff")))


def _blank(token: str) -> str:
    if token.startswith("//") or (token.startswith("/*") and token[2:].endswith("*/")):
        return "".join(char if char in "\r\n" else " " for char in token)
    return token


def _closes(found: re.Match[str]) -> bool:
    """Return whether a comma stands before a closing bracket."""
    behind = _BLANKS.match(found.string, found.end())
    at = behind.end() if behind else found.end()
    return found.string[at : at + 1] in ("}", "]")
