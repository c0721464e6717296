"""Functions that are tools: the same name, signature and docs, and what they return or raise within the limits.

`bound` is for results and `bound_error` for exceptions; frameworks call them, and `wrap` does so around a function.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
import time
import typing
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from spillover import pipeline
from spillover.document.document import cover_text
from spillover.errors import ToolOutputError, UsageError
from spillover.events import has_line, record_result, record_run, together
from spillover.kinds.fit import trim
from spillover.kinds.selection import largest
from spillover.notice.wording import no_json, no_text
from spillover.result import Clip
from spillover.results.blocks import (
    SHORT_CHARS,
    are_blocks,
    clip_blocks,
    clip_texts,
    cover_blocks,
    is_program,
    keep_for_program,
    list_data_beside,
    list_texts,
)
from spillover.results.objects import (
    BYTES,
    cover_strings,
    fields_of,
    find_opaque,
    is_collection,
    is_media,
    list_forms,
    map_strings,
    spell,
    to_json,
)
from spillover.settings.settings import Call
from spillover.shell import is_retrieval

_log = logging.getLogger(__name__)

Function = TypeVar("Function", bound=Callable[..., Any])

#: Shares of the room beside an object's own shape that are tried for its texts: JSON writes some characters as several.
TEXT_SHARES = (1.0, 0.7, 0.4, 0.2)
#: The `__str__` of exceptions whose words can be set: by their arguments, by `strerror`, as repr.
SETTABLE_STR = (BaseException.__str__, OSError.__str__, KeyError.__str__)
#: Fields that may hold the message, too: of exceptions of SDKs; of SyntaxError and ImportError.
MESSAGE_FIELDS = ("message", "msg")


def bound(
    result: Any, call: Call, *, leave: tuple[type, ...] = (), declared: str = "", caller: object = None
) -> tuple[Any, Clip]:
    """Return a tool's result within the limits, with the Clip that says what became of it, and record it.

    Results of a type to `leave` pass. `declared` is "dict" or "list" if the result must stay one.
    """
    if is_program(caller):
        return _store_for_program(result, call, leave)
    started = time.monotonic()
    with together():
        value, clip = _bound(result, call, leave, declared)
    is_same = value is result and not clip.text and not isinstance(value, str)
    if not is_same and has_line(call.settings, whole=clip.outcome == "whole"):
        texts = _list_shown(value, leave)
        record_result(call, clip, texts=texts, framed=True, seconds=time.monotonic() - started)
    return value, clip


def _store_for_program(result: Any, call: Call, leave: tuple[type, ...]) -> tuple[Any, Clip]:
    """Return a result that a program reads whole, and its Clip; it is stored where it overflows."""
    if isinstance(result, leave) or result is None:
        return result, Clip("", _limits=call.limits)
    if isinstance(result, BYTES) or _is_stream(result):
        clip = keep_for_program(_as_source(result), call)
        return (clip.text if _is_stream(result) or call.settings.redact != "off" else result), clip
    try:
        blocks = result if isinstance(result, (list, tuple)) else [result]
        texts = list_texts(blocks) or list_forms(result, leave)[:1]
    except RecursionError:
        texts = []
    return cover_secrets(result, call, leave), keep_for_program("\n".join(texts), call)


def _is_stream(result: Any) -> bool:
    """Return whether it is a generator or another iterator, or a file."""
    return hasattr(result, "__next__")


def _as_source(result: Any) -> Any:
    return map(_to_piece, result) if _is_stream(result) and not hasattr(result, "read") else result


def _to_piece(value: Any) -> str | bytes:
    """Return a piece of an iterator: text as it is, anything else as JSON on a line of its own."""
    if isinstance(value, (str, bytes)):
        return value
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    return f"{_write(value)}\n"


def _write(value: Any, leave: tuple[type, ...] = ()) -> str:
    return next(iter(list_forms(value, leave)), None) or no_json(type(value).__name__)


def _list_shown(value: Any, leave: tuple[type, ...]) -> list[str]:
    """Return the texts that a model reads of a result that fits."""
    if isinstance(value, str):
        return [value]
    blocks = value.get("content") if isinstance(value, Mapping) else value
    return list_texts(blocks) if isinstance(blocks, list) and are_blocks(blocks) else list_forms(value, leave)[:1]


def _bound(result: Any, call: Call, leave: tuple[type, ...], declared: str) -> tuple[Any, Clip]:
    """Clip a text, and blocks together; an object keeps its shape where its texts can be clipped, or becomes text."""
    if isinstance(result, Clip):
        return cover_text(call.settings, result.text), result
    if result is None or isinstance(result, (bool, float, *leave)):
        return result, Clip("", _limits=call.limits)
    if isinstance(result, (str, *BYTES)) or _is_stream(result):
        clip = pipeline.clip(_as_source(result), call)
        return clip.text, clip
    try:
        pair = _bound_blocks(result, call)
    except RecursionError:  # nested too deeply, or in itself
        pair = None
    return pair or _bound_object(result, call, leave, declared)


def _bound_blocks(result: Any, call: Call) -> tuple[Any, Clip] | None:
    """Bound a list of blocks, or a message that holds one; return None for anything else."""
    if _are_clippable(result, call):
        blocks = clip_blocks(result, call)
        return list(blocks), blocks.clip
    content = result.get("content") if isinstance(result, Mapping) else None
    if not isinstance(content, list) or not _are_clippable(content, call):
        return None
    beside = to_json({key: value for key, value in result.items() if key != "content"})
    if beside is None or _fill(beside, call) > 1:
        return None
    blocks = clip_blocks(content, call)
    return cover_blocks([{**result, "content": list(blocks)}], call)[0], blocks.clip


def _are_clippable(parts: Any, call: Call) -> bool:
    """Return whether these are blocks, or messages, that fit once their texts are clipped."""
    if not are_blocks(parts):
        return False
    beside = [data for part in parts for data in list_data_beside(part)]
    text = to_json(beside)
    return not beside or (text is not None and _fill(text, call) <= 1)


def _fill(text: str, call: Call) -> float:
    return call.limits.fill(text, call.settings.count)


def _bound_object(result: Any, call: Call, leave: tuple[type, ...], declared: str) -> tuple[Any, Clip]:
    """Bound an object: the very same one where all its forms fit, and without secrets where these are covered."""
    forms = list_forms(result, leave)
    if not forms:  # no host can write it
        clip = Clip(trim(no_json(type(result).__name__), call.within_budget()))
        call.spend(clip.text)
        return clip.text, clip
    if call.settings.redact != "off":
        clean_result = _cover_object(result, call, leave)
        if clean_result is None:
            clip = pipeline.clip(forms[0], call)
            return clip.text, clip
        result = clean_result
        forms = list_forms(clean_result, leave)
    within = replace(call.within_budget(), budget=None)
    if all(pipeline.fits(form, within) for form in forms):
        call.spend(forms[0])
        return result, Clip(forms[0], _count=call.settings.count, _limits=call.limits)
    value, clip = _clip_object(result, forms, replace(within, trigger=None), leave, declared)
    call.spend(value if isinstance(value, str) else to_json(value, leave) or clip.text)
    return value, clip


def _clip_object(
    result: Any, forms: Sequence[str], call: Call, leave: tuple[type, ...], declared: str
) -> tuple[Any, Clip]:
    """Clip an object above the limits: in its own shape where that can be kept, else one of its `forms` as text."""
    if opaque := find_opaque(result, leave):
        clip = Clip(trim(no_text(opaque), call))
        return clip.text, clip
    if declared or not is_collection(result):
        pair = _clip_strings(result, call, leave) or _clip_in_collection(result, forms[0], call)
        if pair is not None:
            return pair
    has_parts = is_collection(result) or isinstance(result, Enum) or fields_of(result) is not None
    too_large = [form for form in forms if _fill(form, call) > 1]
    # The JSON where that is too large; of an object without parts, `str()`, line by line.
    clip = pipeline.clip([*too_large, forms[0]][0] if has_parts else forms[-1], call)
    return clip.text, clip


def _clip_strings(result: Any, call: Call, leave: tuple[type, ...]) -> tuple[Any, Clip] | None:
    """Return the same object with its long strings clipped together; None where that does not make it fit."""
    long: list[str] = []

    def take(text: str) -> str:
        if len(text) <= SHORT_CHARS:
            return text
        long.append(text)
        return ""

    def put(texts: Iterator[str]) -> Any:
        return map_strings(result, lambda text: text if len(text) <= SHORT_CHARS else next(texts), leave)

    try:
        frame = map_strings(result, take, leave)
        room = 1 - max(_fill(form, call) for form in list_forms(frame, leave))
        for share in TEXT_SHARES if long and room > 0 else ():
            texts, clip = clip_texts(long, replace(call, limits=call.limits.share(room * share)))
            value = put(iter(texts))
            if all(_fill(form, call) <= 1 for form in list_forms(value, leave)):
                return value, clip
    except Exception:  # noqa: BLE001  a class of somebody else's that cannot be copied becomes text
        return None
    return None


def _clip_in_collection(result: Any, text: str, call: Call) -> tuple[Any, Clip] | None:
    """Return a dict or a list with the clipped JSON in it; None if a notice has no room there."""
    if isinstance(result, dict):
        return _clip_strings({"output": text}, call, ())
    if not isinstance(result, list):
        return None
    # A framework may check that the items are objects.
    are_objects = all(isinstance(item, dict) for item in result)
    return _clip_strings([{"output": text}] if are_objects else [text], call, ())


def cover_secrets(value: Any, call: Call, leave: tuple[type, ...] = ()) -> Any:
    """Return the same object without its secrets, or its JSON where they cannot be taken out."""
    if call.settings.redact == "off" or value is None or isinstance(value, (bool, float, *leave)):
        return value
    if isinstance(value, str):
        return cover_text(call.settings, value)
    clean_value = _cover_object(value, call, leave)
    return cover_text(call.settings, _write(value, leave)) if clean_value is None else clean_value


def _cover_object(result: Any, call: Call, leave: tuple[type, ...]) -> Any:
    """Return the same object without its secrets; None where one is a key, in a set, or cannot be replaced."""

    def cover(text: str) -> str:
        return cover_text(call.settings, text)

    def shows_secrets(value: Any) -> bool:
        value = map_strings(value, lambda text: "" if is_media(text) else text, leave)
        return any(cover(form) != form for form in list_forms(value, leave))

    try:
        clean_value = map_strings(result, lambda text: cover_strings(text, cover), leave)
        if type(clean_value) in (dict, list) and shows_secrets(clean_value):
            clean_value = cover_strings(clean_value, cover, keys=False)
        return None if shows_secrets(clean_value) else clean_value
    except Exception:  # noqa: BLE001  it contains itself, or is of a class that cannot be copied
        return None


def bound_error(error: Exception, call: Call) -> Exception:
    """Return an exception whose message fits, since hosts show it to the model.

    It is the same exception where its message can be set, else a `ToolOutputError` that has it as `original`.
    """
    started = time.monotonic()
    plain = replace(call.for_retrieval(), trigger=None)  # a profile's words may say that the call succeeded
    new_error = error
    with together() as clips:
        words = "\n".join([f"{type(error).__name__}: {spell(error)}", *_list_context_words(error)])
        try:
            new_error = _bound_message(error, _bound_context(error, plain))
        except UnspokenError:
            pass
        except Exception:  # noqa: BLE001  somebody else's attributes: a frozen dataclass has none that can be set
            new_error = _replace_error(error, pipeline.clip(words, plain).text)
    cut = next((clip for clip in clips if clip.outcome != "whole"), None)
    if has_line(call.settings, whole=cut is None):
        with suppress(UnspokenError):
            message = _spell_message(new_error)
            clip = cut or Clip(message, _count=call.settings.count)
            record_result(call, clip, texts=[message], seconds=time.monotonic() - started)
    return new_error


class UnspokenError(Exception):
    """An exception that cannot say what it is."""


def _spell_message(error: Exception) -> str:
    try:
        return str(error)
    except Exception as failure:
        raise UnspokenError from failure


def _bound_message(error: Exception, call: Call) -> Exception:
    """Bound an exception's own words: its arguments one by one, then all of them together."""

    def clip(text: str | bytes) -> str:
        return pipeline.clip(text, call).text

    def bound_argument(argument: Any) -> Any:
        # Strings that are more than that, and bytes, only if they are long.
        if type(argument) is str or (isinstance(argument, (str, bytes)) and _fill(str(argument), call) > 1):
            return clip(argument)
        with suppress(Exception):  # an object that cannot be copied
            return map_strings(argument, lambda text: cover_text(call.settings, text))
        return argument

    with suppress(Exception):  # somebody else's attributes: some cannot be set, some cannot be read
        error.args = tuple(map(bound_argument, error.args))
    for name in MESSAGE_FIELDS:
        with suppress(Exception):
            if isinstance(message := getattr(error, name, None), str):
                setattr(error, name, clip(message))
    message = _spell_message(error)
    around = "\n".join(map(spell, _list_causes(error)))
    around_fits = not around or (not _shows_secret(around, call) and _fill(f"{message}\n{around}", call) <= 1)
    if around_fits and _fill(message, call) <= 1 and not _shows_secret(message, call):
        return error
    if type(error).__str__ not in SETTABLE_STR or not around_fits:
        return _replace_with_notes(error, clip(f"{type(error).__name__}: {error}"))
    # Several arguments can be too long together, and some exceptions add to their message.
    text = clip(message)
    chars = largest(len(text), lambda chars: _fill(_spell_message(_set_message(error, text[:chars])), call))
    return _set_message(error, text[:chars])


def _shows_secret(text: str, call: Call) -> bool:
    return cover_text(call.settings, text) != text


def _set_message(error: Exception, message: str) -> Exception:
    if isinstance(error, OSError):
        error.strerror = message
        del error.filename, error.filename2  # they are in the message, as far as they fit
    else:
        error.args = (message,)
    return error


def _replace_error(error: Exception, text: str) -> ToolOutputError:
    """Return the error that replaces an exception; a traceback prints this text alone."""
    replacement = ToolOutputError(text)
    replacement.original = error
    replacement.__cause__ = None
    return replacement.with_traceback(error.__traceback__)


def _replace_with_notes(error: Exception, text: str) -> ToolOutputError:
    """Return the error that replaces an exception; a traceback prints the notes and the cause of that one, too."""
    replacement = _replace_error(error, text)
    for note in _list_notes(error):
        replacement.add_note(note)
    replacement.__cause__ = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return replacement


def _bound_context(error: Exception, call: Call) -> Call:
    """Bound what a traceback prints beside an exception's message; return the call for the message.

    Notes, causes and members of groups that do not fit become one note, stored and clipped to half the limits.
    """
    text = "\n".join(_list_context_words(error))
    fits = call.limits.hold(f"{spell(error)}\n{text}", call.settings.count)
    if not text or (fits and not _shows_secret(text, call)):
        return call
    for printed in (error, *_list_causes(error)):
        printed.__cause__ = printed.__context__ = None
        printed.__notes__ = []
        if printed is not error and isinstance(printed, Exception) and type(printed).__str__ in SETTABLE_STR:
            _set_message(printed, "")
    if isinstance(error, SyntaxError):
        error.text = None
    half = replace(call, limits=call.limits.share(0.5))
    error.add_note(pipeline.clip(text, half).text)
    return half


def _list_context_words(error: Exception) -> list[str]:
    """Return the words that a traceback prints beside an exception's own."""
    printed = _list_causes(error)
    words = [f"{type(cause).__name__}: {spell(cause)}" for cause in printed]
    words += [note for cause in (error, *printed) for note in _list_notes(cause)]
    return [*words, error.text] if isinstance(error, SyntaxError) and error.text else words


def _list_causes(error: BaseException) -> list[BaseException]:
    """Return the causes, contexts and members that a traceback prints with an exception, as often as it does."""
    visited = {id(error)}
    waiting = [error]
    printed: list[BaseException] = []
    while waiting:
        current = waiting.pop()
        members = getattr(current, "exceptions", ()) if isinstance(current, BaseExceptionGroup) else ()
        for cause in (current.__cause__, current.__context__, *members):
            if cause is not None and cause is not error:
                printed.append(cause)
                waiting += [cause] if id(cause) not in visited else []
                visited.add(id(cause))
    return printed


def _list_notes(error: BaseException) -> list[str]:
    """Return the notes of an exception as a traceback prints them, whatever somebody has set them to."""
    notes = getattr(error, "__notes__", None) or ()
    return list(map(spell, notes)) if isinstance(notes, Sequence) else [spell(notes)]


class Wrapping(Struct, frozen=True, kw_only=True):
    """How the results of one function are bounded."""

    call: Call
    leave: tuple[type, ...] = ()  # results of these types are left alone
    on_clip: Callable[[Clip], object] | None = None  # gets the Clip of each call
    declared: str = ""  # "dict" or "list", where the function says that it returns one
    query: Callable[..., str | None] | None = None  # what a call wants to know, by its arguments
    caller: object = None  # who gets the result, or a function of the arguments that says so

    def for_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Wrapping:
        """Return the wrapping of one call, with its query and its caller."""
        query = self._ask("query", self.query, args, kwargs)
        caller = self._ask("caller", self.caller, args, kwargs) if callable(self.caller) else self.caller
        if not query and caller is self.caller:
            return self
        return replace(self, call=replace(self.call, query=str(query or self.call.query)), caller=caller)

    def _ask(
        self, name: str, function: Callable[..., Any] | None, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        try:
            return None if function is None else function(*args, **kwargs)
        except Exception as error:  # noqa: BLE001  whatever it is: the tool call goes on
            _log.warning("The %s of %s failed, and its result is clipped without it: %s", name, self.call.tool, error)
            return None

    def bound(self, result: Any, started: float) -> Any:
        """Return a result within the limits, record the run, and report its Clip."""
        if isinstance(result, self.leave):
            _log.info("Left a result of %s alone: %s.", self.call.tool, type(result).__name__)
        value, clip = bound(result, self.call, leave=self.leave, declared=self.declared, caller=self.caller)
        data = clip.text.encode("utf-8", "surrogatepass")
        if not is_retrieval(self.call.tool, None):
            record_run(self.call, clip, data, seconds=time.monotonic() - started)
        if self.on_clip is not None:
            try:
                self.on_clip(clip)
            except Exception as error:  # noqa: BLE001  whatever it is: the tool has done its work
                _log.warning("The on_clip of %s failed: %s: %s", self.call.tool, type(error).__name__, error)
        return value

    def bound_error(self, error: Exception, started: float) -> Exception:
        """Return an exception with a message within the limits, and record the run that ended with it."""
        new_error = bound_error(error, self.call)
        with suppress(Exception):  # some exceptions cannot say what they are
            words = f"{type(new_error).__name__}: {new_error}"
            clip = Clip(words, _limits=self.call.limits)
            record_run(self.call, clip, words.encode("utf-8", "surrogatepass"), seconds=time.monotonic() - started)
        return new_error

    async def finish(self, work: Awaitable[Any]) -> Any:
        """Await a result, and return it within the limits; the pieces of an async iterator as one text."""
        started = time.monotonic()
        try:
            result = await work
            if hasattr(result, "__aiter__"):
                result = await _join_pieces(result)
        except Exception as error:  # noqa: BLE001  whatever it is, it goes on
            raise self.bound_error(error, started)  # noqa: B904  it is the same exception
        return await asyncio.to_thread(self.bound, self.guard(result), started)

    async def finish_pieces(self, pieces: Any) -> Any:
        """Yield the pieces of an async iterator as one text within the limits."""
        yield await self.finish(_join_pieces(pieces))

    def guard(self, result: Any) -> Any:
        """Return a result; of an iterator, one that raises what fits. A file is read in chunks, by us."""
        is_iterator = _is_stream(result) and not hasattr(result, "read") and not isinstance(result, self.leave)
        return self._guard_pieces(result) if is_iterator else result

    def _guard_pieces(self, pieces: Any) -> Iterator[Any]:
        try:
            yield from pieces
        except Exception as error:  # noqa: BLE001  whatever it is, it goes on
            raise bound_error(error, self.call)  # noqa: B904  it is the same exception


async def _join_pieces(pieces: Any) -> str:
    texts = [_to_piece(piece) async for piece in pieces]
    return "".join(text if isinstance(text, str) else text.decode("utf-8", "surrogateescape") for text in texts)


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
    if not callable(function):
        raise UsageError('wrap takes a function: @clipper.wrap, @clipper.wrap(tool="bash"), or clipper.wrap(function).')
    leave = leave if isinstance(leave, tuple) else (leave,)
    if not all(isinstance(kind, type) for kind in leave):
        raise UsageError("leave must be a type, or a tuple of types, whose results are left alone.")
    if query is not None and not callable(query):
        raise UsageError("query must be a function of the call's arguments: query=lambda pattern, path: pattern.")
    if on_clip is not None and not callable(on_clip):
        raise UsageError("on_clip must be a function that gets the Clip of each call: on_clip=clips.append.")
    wrapping = Wrapping(
        call=call, leave=leave, on_clip=on_clip, declared=_read_return_kind(function), query=query, caller=caller
    )

    @functools.wraps(function)
    async def bound_async(*args: Any, **kwargs: Any) -> Any:
        return await wrapping.for_call(args, kwargs).finish(function(*args, **kwargs))

    @functools.wraps(function)
    def bound_sync(*args: Any, **kwargs: Any) -> Any:
        call_wrapping = wrapping.for_call(args, kwargs)
        started = time.monotonic()
        try:
            result = function(*args, **kwargs)
        except Exception as error:  # noqa: BLE001  whatever it is, it goes on
            raise call_wrapping.bound_error(error, started)  # noqa: B904  it is the same exception
        if hasattr(result, "__aiter__") and not isinstance(result, leave):
            return call_wrapping.finish_pieces(result)
        # An object with an async __call__, or a decorated one, does not look like an async function, but is one.
        if inspect.isawaitable(result):
            return call_wrapping.finish(result)
        return call_wrapping.bound(call_wrapping.guard(result), started)

    return bound_async if inspect.iscoroutinefunction(function) else bound_sync  # type: ignore[return-value]


def _read_return_kind(function: Callable[..., Any]) -> str:
    """Return "dict" or "list" where a function says that it returns one, else nothing."""
    declared = getattr(function, "__annotations__", {}).get("return")
    if isinstance(declared, str):  # unresolved, as it is written
        name = declared.partition("[")[0].rpartition(".")[2].strip().lower()
        return name if name in ("dict", "list") else ""
    kind = typing.get_origin(declared) or declared
    if kind is dict or typing.is_typeddict(declared):
        return "dict"
    return "list" if kind is list else ""
