"""Data beside the text of a result (`structuredContent`): the same choice as for the text, and still of its schema."""

from __future__ import annotations

from spillover.adapters.mcp.fields import SAID, fill
from spillover.adapters.mcp.message import loads, written
from spillover.adapters.mcp.schema import can_tell, cut, is_of
from spillover.select.wanted import Wanted
from spillover.wrap.data import choose_data

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from spillover.choices import Choices


def cut_data_to_fit(
    data: Any, choices: Choices, schema: dict[str, Any] | None, said: str, *, pointers: bool
) -> tuple[Any, bool]:
    """Return the data, cut; and whether it has a word about it, where the schema has a place for one."""
    wanted = Wanted(tool=choices.tool, query=choices.query, worth=choices.worth)
    noting = isinstance(data, dict) and SAID not in data
    for words in ({SAID: said}, {}) if noting else ({},):
        chosen = choose_data(data, _measure(choices, words), wanted, pointers=pointers)
        if chosen is not None and type(chosen) is type(data) and chosen and _is_known_to_be_of(words, chosen, schema):
            return ({**words, **chosen} if words else chosen), bool(words)
    return _cut_to_schema(data, choices, schema, said, noting=noting)


def _measure(choices: Choices, words: dict[str, str]) -> Callable[[str], float]:
    beside = written(words) if words else ""
    # How full, not only whether: what is left of the room is used.
    return lambda text: choices.limits.fill(text + beside, choices.count, byte_bound=False)


def _is_known_to_be_of(words: dict[str, str], value: Any, schema: dict[str, Any] | None) -> bool:
    """Return whether a value is of its schema for certain: what was chosen may lack a key that is required."""
    return schema is None or (can_tell() and is_of({**words, **value} if words else value, schema))


def _cut_to_schema(
    data: Any, choices: Choices, promised: dict[str, Any] | None, said: str, *, noting: bool
) -> tuple[Any, bool]:
    schema = promised or True
    if noting:
        words = written({SAID: said})
        value = cut(data, schema, lambda text: fill(text + words, choices))
        if value is not None and (promised is None or is_of({SAID: said, **value}, schema)):
            return {SAID: said, **value}, True
    value = cut(data, schema, lambda text: fill(text, choices))
    return (value if promised is None or is_of(value, schema) else None), False


def is_said(data: Any, content: list[Any]) -> bool:
    """Return whether the one text of a result is the data once more, so that it is stored already."""
    texts = [block.get("text") for block in content if isinstance(block, dict) and block.get("type") == "text"]
    if len(texts) != 1 or not isinstance(texts[0], str):
        return False
    if wraps(data, content):  # as servers wrap a string: {"result": …}, {"content": …}
        return True
    try:
        said = loads(texts[0].encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return False
    return data in (said, {"result": said})


def wraps(data: Any, content: list[Any]) -> bool:
    """Return whether the data is the text of the result as the one value of an object."""
    texts = [block.get("text") for block in content if isinstance(block, dict) and block.get("type") == "text"]
    return isinstance(data, dict) and [*data.values()] == texts
