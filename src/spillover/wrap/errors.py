"""Bound what a tool raised: the same exception with fewer words, or a twin of it where its class fixes what it says."""

from __future__ import annotations

import contextlib
import time

from spillover import pipeline
from spillover.base.data import replace
from spillover.ledger.note import gather, is_wanted, note_clip
from spillover.result import Clip
from spillover.select.ends import most

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from spillover.choices import Choices

#: How exceptions are written whose words can be set: by their arguments, by `strerror`, as repr.
PLAIN_STR = (BaseException.__str__, OSError.__str__, KeyError.__str__)
#: Where some keep their words, too: those of SDKs; SyntaxError and ImportError.
WORDS = ("message", "msg")


def bound_error(error: Exception, choices: Choices, *, call_id: str | None = None) -> Exception:
    """Return an exception whose message fits, since hosts show it to the model: the same one wherever that can be."""
    begun = time.monotonic()
    bounded = error
    with gather() as clips, contextlib.suppress(UnspokenError):
        bounded = _bound_error(error, choices, call_id)
    cut = next((clip for clip in clips if clip.outcome != "whole"), None)
    if is_wanted(choices, whole=cut is None):
        with contextlib.suppress(UnspokenError):
            said = _spell(bounded)
            clip = cut or Clip(said, _count=choices.count)
            note_clip(choices, clip, texts=[said], seconds=time.monotonic() - begun)
    return bounded


def _bound_error(error: Exception, choices: Choices, call_id: str | None) -> Exception:
    plain = replace(choices.for_answers(), trigger=None)  # a profile's words may say that the call succeeded

    def clip(text: str | bytes) -> str:
        return pipeline.clip(text, plain, call_id=call_id).text

    def full(text: str) -> float:
        return plain.limits.fill(text, plain.count, byte_bound=plain.byte_bound)

    with contextlib.suppress(Exception):  # somebody else's attributes: some cannot be set, some cannot be read
        error.args = tuple(clip(arg) if _is_text(arg, full) else arg for arg in error.args)
    for name in WORDS:
        with contextlib.suppress(Exception):
            if isinstance(words := getattr(error, name, None), str):
                setattr(error, name, clip(words))
    if full(_spell(error)) <= 1:
        return error
    # Several arguments can be too long together, and some exceptions put more around their words.
    said = clip(_spell(error))
    say: Callable[[str], Exception] = (
        (lambda words: _reword(error, words)) if type(error).__str__ in PLAIN_STR else _twin(error)
    )
    return say(said[: most(len(said), lambda chars: full(_spell(say(said[:chars]))))])


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


def _twin(error: Exception) -> Callable[[str], Exception]:
    """Return what gives an exception other words where its class decides what it says.

    It gets a class of the same name below its own, so whoever catches it catches it still. Where there can be none, another
    exception takes its place, of the nearest class that can be had, with the same traceback and cause.
    """
    held = [""]
    kind = type(error)
    body = {
        "__slots__": (),  # or an instance of a class with slots could not become one of it
        "__str__": lambda _: held[0],
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
        "__doc__": kind.__doc__,
    }
    twin = next(filter(None, (_become(error, base, body) for base in kind.__mro__)))

    def say(words: str) -> Exception:
        held[0] = words
        return twin

    return say


def _become(error: Exception, base: Any, body: dict[str, Any]) -> Exception | None:
    """Return the exception as one of a class below this one; None where there is none."""
    try:
        below: Any = type(type(error).__name__, (base,), dict(body))
    except Exception:  # noqa: BLE001  it is final, or wants to know more of the classes below it
        return None
    if base is type(error):
        with contextlib.suppress(TypeError):
            error.__class__ = below
            return error
    try:
        twin: Exception = below.__new__(below, *error.args)
    except Exception:  # noqa: BLE001  somebody else's constructor
        return None
    twin.__dict__.update(error.__dict__)
    twin.__cause__ = error.__cause__
    twin.__suppress_context__ = True  # it is raised while the other is handled, whose words are too long
    return twin.with_traceback(error.__traceback__)
