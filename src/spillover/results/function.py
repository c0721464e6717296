"""Wrap a function that is a tool: the same name, signature and docs, and a result that fits."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from spillover.errors import UsageError
from spillover.events import record_run
from spillover.result import Clip
from spillover.results.bound import as_piece, bound
from spillover.results.errors import bound_error
from spillover.results.shape import declared_kind
from spillover.settings.settings import Call

_log = logging.getLogger(__name__)

Function = TypeVar("Function", bound=Callable[..., Any])


class Wrapping(Struct, frozen=True, kw_only=True):
    """How the results of one function are bounded."""

    call: Call
    leave: tuple[type, ...] = ()  # results of these types are left alone
    on_clip: Callable[[Clip], object] | None = None  # gets the Clip of each call
    declared: str = ""  # "dict" or "list", where the function says that it returns one
    query: Callable[..., str | None] | None = None  # what a call wants to know, by its arguments
    caller: object = None  # who gets the result, or a function of the arguments that says so

    def asking(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Wrapping:
        """Return how the result of one call is bounded: what it asks for is part of that, and who gets it."""
        asked = self._ask("query", self.query, args, kwargs)
        caller = self._ask("caller", self.caller, args, kwargs) if callable(self.caller) else self.caller
        if not asked and caller is self.caller:
            return self
        return replace(self, call=replace(self.call, query=str(asked or self.call.query)), caller=caller)

    def _ask(
        self, name: str, function: Callable[..., Any] | None, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        try:
            return None if function is None else function(*args, **kwargs)
        except Exception as error:  # noqa: BLE001  whatever it is: the tool call goes on
            _log.warning("The %s of %s failed, and its result is clipped without it: %s", name, self.call.tool, error)
            return None

    def bound(self, result: Any, began: float | None = None) -> Any:
        """Return a result within the limits, note the run, and tell about it."""
        if isinstance(result, self.leave):
            _log.info("Left a result of %s alone: %s.", self.call.tool, type(result).__name__)
        value, clip = bound(result, self.call, leave=self.leave, declared=self.declared, caller=self.caller)
        seconds = None if began is None else time.monotonic() - began
        record_run(self.call, clip, clip.text.encode("utf-8", "surrogatepass"), seconds=seconds)
        if self.on_clip is not None:
            try:
                self.on_clip(clip)
            except Exception as error:  # noqa: BLE001  whatever it is: the tool has done its work
                _log.warning("The on_clip of %s failed: %s: %s", self.call.tool, type(error).__name__, error)
        return value

    def fail(self, error: Exception, began: float) -> Exception:
        """Return an exception with a message within the limits, and note the run that ended with it."""
        bounded = bound_error(error, self.call)
        with suppress(Exception):  # some exceptions cannot say what they are
            words = f"{type(bounded).__name__}: {bounded}"
            clip = Clip(words, _limits=self.call.limits)
            record_run(self.call, clip, words.encode("utf-8", "surrogatepass"), seconds=time.monotonic() - began)
        return bounded


def wrap(
    function: Function,
    call: Call,
    *,
    leave: type | tuple[type, ...] = (),
    on_clip: Callable[[Clip], object] | None = None,
    query: Callable[..., str | None] | None = None,
    caller: object = None,
) -> Function:
    """Return the function with bounded results, sync or async as it is."""
    import functools  # only those who wrap pay for these
    import inspect

    if not callable(function):
        raise UsageError('wrap takes a function: @clipper.wrap, @clipper.wrap(tool="bash"), or clipper.wrap(function).')
    leave = leave if isinstance(leave, tuple) else (leave,)
    if not all(isinstance(kind, type) for kind in leave):
        raise UsageError("leave must be a type, or a tuple of types, whose results are left alone.")
    if query is not None and not callable(query):
        raise UsageError("query must be a function of the call's arguments: query=lambda pattern, path: pattern.")
    if on_clip is not None and not callable(on_clip):
        raise UsageError("on_clip must be a function that gets the Clip of each call: on_clip=clips.append.")
    wraps = Wrapping(
        call=call, leave=leave, on_clip=on_clip, declared=declared_kind(function), query=query, caller=caller
    )

    async def settle(work: Awaitable[Any], wrapping: Wrapping) -> Any:
        import asyncio  # whoever awaits has it already

        began = time.monotonic()
        try:
            result = await work
            if hasattr(result, "__aiter__"):
                result = "".join([_as_text(chunk) async for chunk in result])
        except Exception as error:  # noqa: BLE001  whatever it is, it goes on
            raise wrapping.fail(error, began)  # noqa: B904  it is the same exception
        result = draw(result, wrapping)
        return await asyncio.to_thread(wrapping.bound, result, began)

    def draw(result: Any, wrapping: Wrapping) -> Any:
        """Return a result; of an iterator, one that raises what fits. A file is read in chunks, by us."""
        is_iterator = hasattr(result, "__next__") and not hasattr(result, "read") and not isinstance(result, leave)
        return pieces_of(result, wrapping) if is_iterator else result

    def pieces_of(result: Any, wrapping: Wrapping) -> Any:
        try:
            yield from result
        except Exception as error:  # noqa: BLE001  as above
            raise bound_error(error, wrapping.call)  # noqa: B904  as above

    async def settle_pieces(pieces: Any, wrapping: Wrapping) -> Any:
        async def joined() -> str:
            return "".join([_as_text(piece) async for piece in pieces])

        yield await settle(joined(), wrapping)

    @functools.wraps(function)
    async def bound_async(*args: Any, **kwargs: Any) -> Any:
        return await settle(function(*args, **kwargs), wraps.asking(args, kwargs))

    @functools.wraps(function)
    def bound_sync(*args: Any, **kwargs: Any) -> Any:
        wrapping = wraps.asking(args, kwargs)
        began = time.monotonic()
        try:
            result = function(*args, **kwargs)
        except Exception as error:  # noqa: BLE001  whatever it is, it goes on
            raise wrapping.fail(error, began)  # noqa: B904  it is the same exception
        if hasattr(result, "__aiter__") and not isinstance(result, leave):
            return settle_pieces(result, wrapping)
        # An object with an async __call__, or a decorated one, does not look like an async function, but is one.
        return (
            settle(result, wrapping) if inspect.isawaitable(result) else wrapping.bound(draw(result, wrapping), began)
        )

    return bound_async if inspect.iscoroutinefunction(function) else bound_sync  # type: ignore[return-value]


def _as_text(piece: Any) -> str:
    text = as_piece(piece)
    return text if isinstance(text, str) else text.decode("utf-8", "surrogateescape")
