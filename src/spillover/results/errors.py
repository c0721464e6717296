"""Bound what a tool raised: the same exception with a shorter message, or another one where its class fixes the message."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from spillover import pipeline
from spillover.document.document import cover_text
from spillover.errors import ToolOutputError
from spillover.events import has_line, record_result, together
from spillover.kinds.selection import largest
from spillover.result import Clip
from spillover.results.shape import change_texts
from spillover.settings.settings import Call

#: How exceptions are written whose words can be set: by their arguments, by `strerror`, as repr.
PLAIN_STR = (BaseException.__str__, OSError.__str__, KeyError.__str__)
#: Where some keep their words, too: those of SDKs; SyntaxError and ImportError.
WORDS = ("message", "msg")


def bound_error(error: Exception, call: Call) -> Exception:
    """Return an exception whose message fits, since hosts show it to the model.

    It is the same exception where its message can be set, else a `ToolOutputError` that has it as `original`.
    """
    begun = time.monotonic()
    bounded = error
    with together() as clips:
        words = "\n".join([f"{type(error).__name__}: {spell_error(error)}", *_words_around(error)])
        try:
            bounded = _bound_error(error, _bound_around(error, call))
        except UnspokenError:
            pass
        except Exception:  # noqa: BLE001  somebody else's attributes: those of a frozen dataclass cannot be set
            plain = replace(call.for_retrieval(), trigger=None)
            bounded = _replace(error, pipeline.clip(words, plain).text)
    cut = next((clip for clip in clips if clip.outcome != "whole"), None)
    if has_line(call.settings, whole=cut is None):
        with contextlib.suppress(UnspokenError):
            said = _spell(bounded)
            clip = cut or Clip(said, _count=call.settings.count)
            record_result(call, clip, texts=[said], seconds=time.monotonic() - begun)
    return bounded


def _bound_error(error: Exception, call: Call) -> Exception:
    plain = replace(call.for_retrieval(), trigger=None)  # a profile's words may say that the call succeeded

    def clip(text: str | bytes) -> str:
        return pipeline.clip(text, plain).text

    def full(text: str) -> float:
        return plain.limits.fill(text, plain.settings.count)

    def cover(arg: object) -> object:
        with contextlib.suppress(Exception):  # an object that cannot be copied
            return change_texts(arg, partial(cover_text, plain.settings))
        return arg

    with contextlib.suppress(Exception):  # somebody else's attributes: some cannot be set, some cannot be read
        error.args = tuple(clip(arg) if _is_text(arg, full) else cover(arg) for arg in error.args)
    for name in WORDS:
        with contextlib.suppress(Exception):
            if isinstance(words := getattr(error, name, None), str):
                setattr(error, name, clip(words))
    words, members = _spell(error), "\n".join(map(spell_error, _printed_with(error)))
    is_open = [bool(text) and cover_text(plain.settings, text) != text for text in (words, members)]
    full_members = bool(members) and (is_open[1] or full(f"{words}\n{members}") > 1)
    if full(words) <= 1 and not full_members and not is_open[0]:
        return error
    if type(error).__str__ not in PLAIN_STR or full_members:
        return _stand_in(error, clip(f"{type(error).__name__}: {error}"))
    # Several arguments can be too long together, and some exceptions add to their message.
    text = clip(_spell(error))
    return _reword(error, text[: largest(len(text), lambda chars: full(_spell(_reword(error, text[:chars]))))])


def _replace(error: Exception, text: str) -> ToolOutputError:
    """Return what is raised instead of an exception; a traceback prints this text alone."""
    bounded = ToolOutputError(text)
    bounded.original = error
    bounded.__cause__ = None
    return bounded.with_traceback(error.__traceback__)


def _stand_in(error: Exception, text: str) -> ToolOutputError:
    """Return what is raised instead of an exception whose words cannot be set; a traceback prints the rest of it, and not those."""
    bounded = _replace(error, text)
    for note in _notes(error):
        bounded.add_note(note)
    bounded.__cause__ = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return bounded


def _bound_around(error: Exception, call: Call) -> Call:
    """Bound what a traceback prints beside an exception's own words; return the call for those, which may have half the room.

    Notes, causes and members of groups that do not fit become one note: clipped, and stored as a whole.
    """
    others = _printed_with(error)
    words = _words_around(error)
    text = "\n".join(words)
    whole = f"{spell_error(error)}\n{text}"
    fits = call.limits.hold(whole, call.settings.count)
    if not words or (fits and cover_text(call.settings, text) == text):
        return call
    half = replace(call.for_retrieval(), trigger=None, limits=call.limits.share(0.5))
    for one in (error, *others):
        one.__cause__ = one.__context__ = None
        one.__notes__ = []
        if one is not error and isinstance(one, Exception) and type(one).__str__ in PLAIN_STR:
            _reword(one, "")
    if isinstance(error, SyntaxError):
        error.text = None
    error.add_note(pipeline.clip(text, half).text)
    return replace(call, trigger=None, limits=call.limits.share(0.5))


def _words_around(error: Exception) -> list[str]:
    """Return what a traceback prints beside an exception's own words."""
    others = _printed_with(error)
    words = [f"{type(one).__name__}: {spell_error(one)}" for one in others]
    words += [note for one in (error, *others) for note in _notes(one)]
    return [*words, error.text] if isinstance(error, SyntaxError) and error.text else words


def _printed_with(error: BaseException) -> list[BaseException]:
    """Return the causes, contexts and members that a traceback prints with an exception, each as often as it is one."""
    seen = {id(error)}
    waiting = [error]
    printed: list[BaseException] = []
    while waiting:
        one = waiting.pop()
        members = getattr(one, "exceptions", ()) if isinstance(one, BaseExceptionGroup) else ()
        for other in (one.__cause__, one.__context__, *members):
            if other is not None and other is not error:
                printed.append(other)
                waiting += [other] if id(other) not in seen else []
                seen.add(id(other))
    return printed


def _notes(error: BaseException) -> list[str]:
    """Return the notes of an exception as a traceback prints them, whatever somebody has set them to."""
    notes = getattr(error, "__notes__", None) or ()
    return [spell_error(note) for note in notes] if isinstance(notes, Sequence) else [spell_error(notes)]


def spell_error(error: object) -> str:
    """Return what an exception, or another object, says; its class where it cannot say anything."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001  somebody else's code
        return f"<{type(error).__name__}>"


def _is_text(arg: Any, full: Callable[[str], float]) -> bool:
    """Return whether an argument is text to be clipped; bytes, and strings that are more than that, only if they are long."""
    return type(arg) is str or (isinstance(arg, (str, bytes)) and full(str(arg)) > 1)


class UnspokenError(Exception):
    """An exception that cannot say what it is."""


def _spell(error: Exception) -> str:
    try:
        return str(error)
    except Exception as failure:
        raise UnspokenError from failure


def _reword(error: Exception, words: str) -> Exception:
    """Give an exception other words."""
    if isinstance(error, OSError):
        error.strerror = words
        del error.filename, error.filename2  # they are in the words, as far as they fit
    else:
        error.args = (words,)
    return error
