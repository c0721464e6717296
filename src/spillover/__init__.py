"""Bounded tool output for LLM agents: lossy on the model, lossless on disk.

    from spillover import clip

    out = clip(log_text)      # str, bytes, a file, any iterable of them
    out.text                  # send this to the model: never above the limits, notice included

Importing this does no work: each name is loaded when it is first used.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.blocks import Blocks as Blocks
    from spillover.budget import Budget as Budget
    from spillover.capture import Capture as Capture
    from spillover.clipper import Clipper as Clipper
    from spillover.clipper import aclip as aclip
    from spillover.clipper import clip as clip
    from spillover.errors import ConfigError as ConfigError
    from spillover.errors import MissingExtraError as MissingExtraError
    from spillover.errors import PatternError as PatternError
    from spillover.errors import RefError as RefError
    from spillover.errors import SpilloverError as SpilloverError
    from spillover.errors import StoreError as StoreError
    from spillover.errors import UsageError as UsageError
    from spillover.limits import Limits as Limits
    from spillover.limits import Size as Size
    from spillover.notice import Hint as Hint
    from spillover.notice import Wording as Wording
    from spillover.notice import file_tools as file_tools
    from spillover.notice import sub_agent as sub_agent
    from spillover.result import Clip as Clip
    from spillover.result import Reason as Reason
    from spillover.run import Progress as Progress
    from spillover.run import Run as Run
    from spillover.select.span import Hidden as Hidden
    from spillover.select.span import Span as Span
    from spillover.store.base import Record as Record
    from spillover.store.base import Store as Store
    from spillover.store.base import verify as verify
    from spillover.store.directory import DirStore as DirStore
    from spillover.store.memory import MemoryStore as MemoryStore
    from spillover.store.retention import Retention as Retention
    from spillover.tokens import estimate as estimate
    from spillover.view.document import Document as Document

_WHERE = {
    "blocks": ("Blocks",),
    "budget": ("Budget",),
    "capture": ("Capture",),
    "clipper": ("Clipper", "aclip", "clip"),
    "errors": (
        "ConfigError",
        "MissingExtraError",
        "PatternError",
        "RefError",
        "SpilloverError",
        "StoreError",
        "UsageError",
    ),
    "limits": ("Limits", "Size"),
    "notice": ("Hint", "Wording", "file_tools", "sub_agent"),
    "result": ("Clip", "Reason"),
    "run": ("Progress", "Run"),
    "select.span": ("Hidden", "Span"),
    "store.base": ("Record", "Store", "verify"),
    "store.directory": ("DirStore",),
    "store.memory": ("MemoryStore",),
    "store.retention": ("Retention",),
    "tokens": ("estimate",),
    "view.document": ("Document",),
}
_MODULE = {name: f"spillover.{module}" for module, names in _WHERE.items() for name in names}

__all__ = sorted([*_MODULE, "__version__"])  # noqa: PLE0605  it is a list


def __getattr__(name: str) -> object:
    if name not in _MODULE:
        raise AttributeError(f"module 'spillover' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_MODULE[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
