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
    """A tool raised an exception with a message that was too long; the original is the cause."""
