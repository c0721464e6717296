"""What can go wrong, as a tree.

    SpilloverError
    ├── UsageError            wrong arguments: say what is wrong and what to do      (also ValueError)
    │   ├── ConfigError       a wrong key or value in a file or the environment
    │   └── PatternError      an expression that the search engine does not support
    ├── RefError              a ref that is unknown, ended, ambiguous or malformed   (also LookupError)
    ├── StoreError            the store could not take or give an output             (also OSError)
    ├── MissingExtraError     an optional package is needed                          (also ImportError)
    └── ToolOutputError       a tool raised an exception whose message is too long and cannot be set

A store that fails while an output is clipped is an outcome ("lost"), not an exception.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from typing import Any

from msgspec import Struct, StructMeta

#: What a person can do about a file or folder that the store cannot use, by errno.
_IN_THE_WAY = "{} is a file where the store needs a folder; move it or name another store"
_NOT_ALLOWED = "this user may not read or write {}; change its permissions or name another store"
SENTENCES = {
    errno.EEXIST: _IN_THE_WAY,
    errno.ENOTDIR: _IN_THE_WAY,
    errno.EACCES: _NOT_ALLOWED,
    errno.EPERM: _NOT_ALLOWED,
    errno.EROFS: "{} is on a read-only file system; name another store",
    errno.ENOENT: "{} was removed while it was in use; run the command again",
}


def describe_error(error: OSError, path: str = "") -> str:
    """Explain an error of the store at a path, and what to do about it; without a path, in the words of the system."""
    sentence = SENTENCES.get(error.errno or 0)
    if not path or sentence is None:
        return f"{error.strerror or error}{path and f': {path}'}"
    if sentence is _IN_THE_WAY:  # one of its parents may be the file
        if isinstance(error.filename, str) and os.path.isabs(error.filename):
            path = error.filename
        while path and not os.path.lexists(path):
            path = os.path.dirname(path)
    return sentence.format(path)


#: Characters of a value that a message quotes: it may be a whole output. More make longer messages.
QUOTED_CHARS = 80


def quote(value: object) -> str:
    """Return the beginning of a value's repr for a message; its type if the repr fails."""
    try:
        return f"{value!r:.{QUOTED_CHARS}}" if isinstance(value, str) else f"{value!r}"[:QUOTED_CHARS]
    except Exception:  # noqa: BLE001  a __repr__ may raise anything
        return f"an object of {type(value).__name__}"


def find_similar(word: str, words: Iterable[str], likeness: float = 0.6) -> str:
    """Return the most similar of some words; "" if none is similar enough."""
    from difflib import get_close_matches  # takes 5 ms to import, and only an error message needs it

    return next(iter(get_close_matches(word, list(words), n=1, cutoff=likeness)), "")


def suggest(word: str, words: Iterable[str], prefix: str = "") -> str:
    """Return "did you mean …?" with the most similar word; if none is similar, a list of all."""
    words = list(words)
    similar = find_similar(word, words)
    return f"did you mean {prefix}{similar}?" if similar else f"use {', '.join(prefix + name for name in words)}."


class SpilloverError(Exception):
    """The base class of all our exceptions."""


class UsageError(SpilloverError, ValueError):
    """The arguments of the call are wrong."""


class ConfigError(UsageError):
    """A configuration file or an environment variable is wrong."""


class PatternError(UsageError):
    """The search engine does not support this expression."""


class RefError(SpilloverError, LookupError):
    """No output can be found under this ref."""


class StoreError(SpilloverError, OSError):
    """The store could not save or return an output."""


class MissingExtraError(SpilloverError, ImportError):
    """An optional package is not installed."""


class ToolOutputError(SpilloverError):
    """A tool raised an exception whose message is too long and cannot be set.

    The tool's exception is `original` and not the cause, because a traceback prints causes.
    """

    original: BaseException | None = None


class _OptionsMeta(StructMeta):
    """Raises a UsageError instead of a TypeError for wrong arguments of a class of options."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        try:
            return super().__call__(*args, **options)
        except TypeError as error:
            unknown = [name for name in options if name not in self.__struct_fields__]
            if not args and not unknown:
                raise
            problem = f"has no option {quote(unknown[0])}" if unknown else "takes its options by name"
            raise UsageError(f"{self.__name__} {problem}; use {', '.join(self.__struct_fields__)}.") from error


class OptionsStruct(Struct, frozen=True, kw_only=True, metaclass=_OptionsMeta):
    """Options by name; an unknown one is a UsageError that lists the known ones."""
