"""What a developer may want to know and a model need not: the logger `spillover`, silent until somebody listens.

Warnings say what was lost, and why. Infos say what was swept, and what was left alone. What is true of every cut
output is for debugging.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

NAME = "spillover"


def warn(message: str, *values: object) -> None:
    """Log what somebody should look into."""
    if logging := _loaded():
        logging.getLogger(NAME).warning(message, *values)


def debug(message: str, *values: object) -> None:
    """Log what is true of every call."""
    if logging := _loaded():
        logging.getLogger(NAME).debug(message, *values)


def info(message: str, *values: object) -> None:
    """Log what went as it should."""
    if logging := _loaded():
        logging.getLogger(NAME).info(message, *values)


def _loaded() -> ModuleType | None:
    """Return the logging module, if somebody has imported it: nobody else listens, and importing it costs milliseconds."""
    logging = sys.modules.get("logging")
    if logging is not None:
        handlers = logging.getLogger(NAME).handlers
        if not any(isinstance(handler, logging.NullHandler) for handler in handlers):
            logging.getLogger(NAME).addHandler(logging.NullHandler())  # or Python would print warnings
    return logging
