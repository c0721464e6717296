"""What can go wrong, as a tree.

    SpilloverError
    ├── UsageError            wrong arguments: say what is wrong and what to do      (also ValueError)
    │   ├── ConfigError       a wrong key or value in a file or the environment
    │   └── PatternError      an expression the search engine cannot do
    ├── RefError              a ref that is unknown, ended, ambiguous or malformed   (also LookupError)
    ├── StoreError            the store could not take or give an output             (also OSError)
    └── MissingExtraError     an optional package is needed                          (also ImportError)

A store that fails while an output is clipped is an outcome ("lost"), not an exception.
"""

from __future__ import annotations


class SpilloverError(Exception):
    """The base of everything raised here on purpose."""


class UsageError(SpilloverError, ValueError):
    """The call cannot be carried out as it was written."""


class ConfigError(UsageError):
    """A configuration file or an environment variable says something we do not understand."""


class PatternError(UsageError):
    """The search engine cannot do this expression."""


class RefError(SpilloverError, LookupError):
    """No output can be found under this ref."""


class StoreError(SpilloverError, OSError):
    """The store could not take or give an output."""


class MissingExtraError(SpilloverError, ImportError):
    """An optional package is not installed."""
