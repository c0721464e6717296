"""JSON that is nested too deeply to be parsed, made shallow enough."""

from __future__ import annotations

import json
import re

#: Strings, which are passed over as a whole, and brackets. A string that never ends matches, too: it is looked at once.
_TOKEN = re.compile(r'(?s)"(?:[^"\\]++|\\.)*+"?|[\[\]{}]')


def without_the_deepest(text: str, deepest: int, word: str | None = None) -> str:
    """Return JSON with a word, or else a string of JSON, for all that is nested deeper, without a call for each level."""
    pieces, depth, at, start = [], 0, 0, 0
    for token in _TOKEN.finditer(text):
        if token[0] in ("[", "{"):
            depth += 1
            if depth == deepest + 1:
                start = token.start()
                pieces.append(text[at:start])
        elif token[0] in ("]", "}"):
            depth -= 1
            if depth == deepest:
                pieces.append(json.dumps(text[start : token.end()] if word is None else word))
                at = token.end()
    return "".join((*pieces, text[at:]))
