"""The texts of blocks, in order, and the same blocks with other texts. One walk does both, so they cannot disagree."""

from __future__ import annotations

from collections.abc import Mapping

from spillover.blocks.shapes import Place, fields_in, get, is_text, places_of
from spillover.wrap.shape import change_texts, copy_object, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Swap = Callable[[str], str]

#: Strings in data that are longer are texts of their own, where little else is in it.
SHORT_CHARS = 200
#: So much of data beside its long strings may stay as it is, as the ids and names around a text do.
FRAME_CHARS = 1_000


def texts_of(blocks: Sequence[Any]) -> list[str]:
    """Return all texts in blocks, in order."""
    found: list[str] = []

    def note(text: str) -> str:
        found.append(text)
        return text

    swap_texts(blocks, note, keep_empty=True)
    return found


def swap_texts(blocks: Sequence[Any], swap: Swap, *, keep_empty: bool) -> list[Any]:
    """Return the blocks with other texts, in order. One that has lost all of them is left out, but never a message or a result.

    A block whose texts stay the same is the very same object.
    """
    out = []
    for block in blocks:
        own: list[str] = []

        def note(text: str, own: list[str] = own) -> str:
            own.append(swap(text))
            return own[-1]

        new = note(block) if isinstance(block, str) else _swap_in(block, note, keep_empty=keep_empty)
        if keep_empty or not own or any(own) or not is_text(block):
            out.append(new)
    return out


def _swap_in(block: Any, swap: Swap, *, keep_empty: bool) -> Any:
    for place in places_of(block):
        if place.instead:
            block = _swap_data(block, place, swap)
            continue
        inner = place.inner
        if isinstance(inner, str):
            new: Any = swap(inner)
        elif isinstance(inner, list):
            new = swap_texts(inner, swap, keep_empty=keep_empty)
        else:
            new = _swap_in(inner, swap, keep_empty=keep_empty)
        block = block if new is inner or new == inner else _with(block, place.path, new)
    return block


def _swap_data(block: Any, place: Place, swap: Swap) -> Any:
    """Return a block with its data: the long strings in it swapped, or all of it as one text where it has much else."""
    frame = _write_frame(place.inner)
    if frame is not None and len(frame) <= FRAME_CHARS:
        new = change_texts(place.inner, lambda text: swap(text) if len(text) > SHORT_CHARS else text)
        return block if new is place.inner else _with(block, place.path, new)
    written = write(place.inner)
    if written is None:  # no host can write it either
        return block
    text = swap(written)
    if text == written:
        return block
    there = get(block, place.instead)
    return _with(_without(block, place.path), place.instead, _add(there, text) if place.adds else text)


def _write_frame(data: Any) -> str | None:
    """Return data as JSON without its long strings; None where it has a form that cannot be changed."""
    try:
        return write(change_texts(data, lambda text: text if len(text) <= SHORT_CHARS else ""))
    except Exception:  # noqa: BLE001  a class of somebody else's that cannot be copied
        return None


def _add(blocks: Any, text: str) -> list[Any]:
    """Return blocks with a text behind them: a block like the others, where one of them is a text."""
    there = blocks if isinstance(blocks, list) else []
    like = next((block for block in there if fields_in(block).get("type") == "text"), {"type": "text"})
    return [*there, _with(like, ("text",), text)]


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
