"""The texts of blocks, in order, and the same blocks with other texts. One walk does both, so they cannot disagree."""

from __future__ import annotations

from collections.abc import Mapping

from spillover.notice.sentences import no_json
from spillover.results.shape import copy_object, write
from spillover.results.shapes import Place, fields_in, get, is_text, places_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import Any

    Swap = Callable[[str], str]


def texts_of(blocks: Sequence[Any], leave: Collection[int] = ()) -> list[str]:
    """Return all texts in blocks, in order, but of none whose `id` is to `leave`."""
    found: list[str] = []

    def note(text: str) -> str:
        found.append(text)
        return text

    swap_texts(blocks, note, keep_empty=True, leave=leave)
    return found


def swap_texts(blocks: Sequence[Any], swap: Swap, *, keep_empty: bool, leave: Collection[int] = ()) -> list[Any]:
    """Return the blocks with other texts, in order. One that has lost all of them is left out, but never a message or a result.

    A block whose texts stay the same is the very same object, and so is one whose `id` is to `leave`.
    """
    out = []
    for block in blocks:
        if id(block) in leave:
            out.append(block)
            continue
        own: list[str] = []

        def note(text: str, own: list[str] = own) -> str:
            own.append(swap(text))
            return own[-1]

        new = note(block) if isinstance(block, str) else _swap_in(block, note, keep_empty=keep_empty, leave=leave)
        if keep_empty or not own or any(own) or not (is_text(block) or is_text(new)):
            out.append(new)
    return out


def _swap_in(block: Any, swap: Swap, *, keep_empty: bool, leave: Collection[int]) -> Any:
    for place in places_of(block):
        inner = place.inner
        if isinstance(inner, str):
            new: Any = swap(inner)
        elif place.instead:
            block = _swap_data(block, place, swap)
            continue
        elif isinstance(inner, (list, tuple)):
            new = swap_texts(inner, swap, keep_empty=keep_empty, leave=leave)
            new = tuple(new) if isinstance(inner, tuple) else new
        else:
            new = _swap_in(inner, swap, keep_empty=keep_empty, leave=leave)
        block = block if new is inner or new == inner else _with(block, place.path, new)
    return block


def _swap_data(block: Any, place: Place, swap: Swap) -> Any:
    """Return a block with its data, or with the text that takes its place where it does not stay as it is."""
    try:
        written = write(place.inner)
        text = swap(no_json(type(place.inner).__name__) if written is None else written)
    except Exception:  # noqa: BLE001  somebody else's code, which a host would meet as well
        return block
    return block if text == written else _say_instead(block, place, text)


def _say_instead(block: Any, place: Place, text: str) -> Any:
    """Return a block with a text instead of its data, behind what stands where the text goes."""
    inside = place.instead[: len(place.path)] == place.path
    rest, there = _without(block, place.path), None if inside else get(block, place.instead)
    if place.adds:
        return _with(rest, place.instead, _add(there, text))
    return _with(rest, place.instead, f"{there}\n{text}" if isinstance(there, str) and there else text)


def _add(there: Any, text: str) -> list[Any]:
    """Return blocks with one more text block, of the class of the text blocks before it."""
    blocks = [{"type": "text", "text": there}] if isinstance(there, str) and there else list(there or ())
    if not text:
        return blocks
    kind: Any = next((type(block) for block in blocks if fields_in(block).get("type") == "text"), dict)
    try:
        return [*blocks, kind(type="text", text=text)]
    except Exception:  # noqa: BLE001  somebody else's class, which wants more than that
        return [*blocks, {"type": "text", "text": text}]


def _with(block: Any, path: Sequence[str], value: Any) -> Any:
    key, *below = path
    new = _with(fields_in(block).get(key, {}), below, value) if below else value
    return {**block, key: new} if isinstance(block, Mapping) else copy_object(block, {key: new})


def _without(block: Any, path: Sequence[str]) -> Any:
    key, *below = path
    if below:
        return _with(block, (key,), _without(fields_in(block)[key], below))
    if isinstance(block, Mapping):
        return {name: value for name, value in block.items() if name != key}
    return copy_object(block, {key: None})
