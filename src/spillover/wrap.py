"""Around a function that is a tool: the same name, signature and docs, and a result that fits."""

from __future__ import annotations

from collections.abc import Mapping

from spillover import pipeline
from spillover.blocks import TEXT_TYPES, clip_blocks
from spillover.data import replace
from spillover.result import Clip
from spillover.select.ends import most

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any, TypeVar

    from spillover.choices import Choices

    Function = TypeVar("Function", bound=Callable[..., Any])


def wrap(function: Function, choices: Choices, tool: str | None = None) -> Function:
    """The function with bounded results, sync or async as it is."""
    import functools  # only those who wrap pay for these
    import inspect

    name = tool or getattr(function, "__name__", choices.tool)
    if choices.leaves_alone(name):
        return function
    ruled = choices.for_tool(name)

    async def awaited(work: Awaitable[Any]) -> Any:
        import asyncio  # whoever awaits has it already

        try:
            result = await work
        except Exception as error:  # noqa: BLE001  whatever it is, it goes on
            raise bounded_error(error, ruled)  # noqa: B904  it is the same exception
        if hasattr(result, "__aiter__"):
            result = [chunk async for chunk in result]
        return await asyncio.to_thread(bounded, result, ruled)

    @functools.wraps(function)
    async def bounded_async(*args: Any, **kwargs: Any) -> Any:
        return await awaited(function(*args, **kwargs))

    @functools.wraps(function)
    def bounded_sync(*args: Any, **kwargs: Any) -> Any:
        try:
            result = function(*args, **kwargs)
        except Exception as error:  # noqa: BLE001  whatever it is, it goes on
            raise bounded_error(error, ruled)  # noqa: B904  it is the same exception
        # An object with an async __call__, or a decorated one, does not look like an async function, but is one.
        return awaited(result) if inspect.isawaitable(result) else bounded(result, ruled)

    return bounded_async if inspect.iscoroutinefunction(function) else bounded_sync  # type: ignore[return-value]


#: Blocks as MCP, Anthropic and OpenAI have them. Data may have a "type", too, and is no block for it.
BLOCK_TYPES = TEXT_TYPES | {
    *("image", "image_url", "input_image", "audio", "input_audio", "video", "file", "input_file", "document"),
    *("resource", "resource_link", "tool_result"),
}


def bounded(result: Any, choices: Choices) -> Any:
    """A tool's result, within the limits. What says that it bounded itself is left alone."""
    if isinstance(result, Clip):
        return result.text
    if result is None or isinstance(result, (bool, int, float)) or bounds_itself(result):
        return result
    if isinstance(result, (str, bytes, bytearray, memoryview)):
        return pipeline.clip(result, choices).text
    if isinstance(result, Mapping):
        content = result.get("content")
        if isinstance(content, list) and content and all(_is_block(part) for part in content):
            beside = as_json({key: value for key, value in result.items() if key != "content"})
            if beside is None or _fill(beside, choices) <= 1:
                return {**result, "content": list(clip_blocks(content, choices))}
        return _as_json(result, choices)
    if isinstance(result, (list, tuple)):
        if result and all(_is_block(part) for part in result):
            return list(clip_blocks(result, choices))
        return _as_json(result, choices)
    if hasattr(result, "__next__"):  # a generator of pieces
        return pipeline.clip(result, choices).text
    return result  # a shape we do not know


def bounds_itself(result: Any) -> bool:
    """Whether a result says that its tool has bounded it, or chose not to: `metadata.truncated` is there."""
    metadata = result.get("metadata") if isinstance(result, Mapping) else getattr(result, "metadata", None)
    return isinstance(metadata, Mapping) and metadata.get("truncated") is not None


def _is_block(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") in BLOCK_TYPES


def as_json(data: Any) -> str | None:
    """Data as a text with lines, so that parts of it can be named; None when it is no data."""
    import json

    try:
        return json.dumps(data, ensure_ascii=False, indent=1)
    except (TypeError, ValueError, RecursionError):
        return None


def _as_json(result: Any, choices: Choices) -> Any:
    """Data a framework would write as JSON: the same object when that fits, otherwise the JSON, clipped."""
    text = as_json(result)
    if text is None:
        return result  # a shape we do not know
    clip = pipeline.clip(text, choices)
    return result if clip.outcome == "whole" else clip.text


def bounded_error(error: Exception, choices: Choices, *, call_id: str | None = None) -> Exception:
    """The same exception; a message that would flood is clipped, since hosts show it to the model."""
    import contextlib

    plain = replace(choices.for_answers(), trigger=None)  # a profile's words may say that the call succeeded
    if any(isinstance(arg, (str, bytes)) for arg in error.args):
        error.args = tuple(
            pipeline.clip(arg, plain, call_id=call_id).text if isinstance(arg, (str, bytes)) else arg
            for arg in error.args
        )
    if type(error).__str__ in PLAIN_STR and _fill(str(error), plain) > 1:
        said = pipeline.clip(str(error), plain, call_id=call_id).text
        upto = most(len(said), lambda chars: _fill(_reworded(error, said[:chars]), plain))
        _reworded(error, said[:upto])
    if isinstance(getattr(error, "message", None), str):  # some keep their words there, too
        with contextlib.suppress(AttributeError):
            error.message = pipeline.clip(error.message, plain, call_id=call_id).text  # type: ignore[attr-defined]
    return error


#: How exceptions say themselves whose words can be set: by their arguments, by `strerror`, as repr.
PLAIN_STR = (BaseException.__str__, OSError.__str__, KeyError.__str__)


def _reworded(error: Exception, words: str) -> str:
    """Several arguments can flood together, and some exceptions put more around their words."""
    if isinstance(error, OSError):
        error.strerror = words
        del error.filename, error.filename2  # they are in the words, as far as they fit
    else:
        error.args = (words,)
    return str(error)


def _fill(text: str, choices: Choices) -> float:
    return choices.limits.fill(text, choices.count, byte_bound=choices.byte_bound)
