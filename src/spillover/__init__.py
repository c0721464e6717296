"""Bounded tool output for LLM agents: lossy on the model, lossless on disk.

    from spillover import clip

    out = clip(log_text)      # str, bytes, a file, any iterable of them
    out.text                  # send this to the model: never above the limits, notice included

Each name is loaded when it is first used.
"""

import logging as _logging

__version__ = "0.1.0"

_logging.getLogger("spillover").addHandler(_logging.NullHandler())  # or Python prints warnings to stderr

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spillover.blocks.together import Blocks as Blocks
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
    from spillover.errors import ToolOutputError as ToolOutputError
    from spillover.errors import UsageError as UsageError
    from spillover.notice.hints import Hint as Hint
    from spillover.notice.hints import file_tools as file_tools
    from spillover.notice.hints import sub_agent as sub_agent
    from spillover.notice.wording import Wording as Wording
    from spillover.result import Clip as Clip
    from spillover.result import Reason as Reason
    from spillover.retrieve.tools import Answer as Answer
    from spillover.run.command import Progress as Progress
    from spillover.run.command import Run as Run
    from spillover.select.span import Hidden as Hidden
    from spillover.select.span import Span as Span
    from spillover.settings.limits import Limits as Limits
    from spillover.settings.limits import Size as Size
    from spillover.source.blob import Blob as Blob
    from spillover.store import BaseStore as BaseStore
    from spillover.store import Store as Store
    from spillover.store import Writer as Writer
    from spillover.store import verify as verify
    from spillover.store.directory import DirStore as DirStore
    from spillover.store.memory import MemoryStore as MemoryStore
    from spillover.store.object_store import ObjectStore as ObjectStore
    from spillover.store.record import Record as Record
    from spillover.store.retention import Retention as Retention
    from spillover.tokens import estimate as estimate
    from spillover.types import AsyncSource as AsyncSource
    from spillover.types import Fill as Fill
    from spillover.types import HintName as HintName
    from spillover.types import Keep as Keep
    from spillover.types import NoticePlace as NoticePlace
    from spillover.types import Outcome as Outcome
    from spillover.types import Redact as Redact
    from spillover.types import Selector as Selector
    from spillover.types import Source as Source
    from spillover.types import SpecStyle as SpecStyle
    from spillover.view.document import Document as Document

_WHERE = {
    "blocks.together": ("Blocks",),
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
        "ToolOutputError",
        "UsageError",
    ),
    "source.blob": ("Blob",),
    "settings.limits": ("Limits", "Size"),
    "notice.hints": ("Hint", "file_tools", "sub_agent"),
    "notice.wording": ("Wording",),
    "result": ("Clip", "Reason"),
    "retrieve.tools": ("Answer",),
    "run.command": ("Progress", "Run"),
    "select.span": ("Hidden", "Span"),
    "store": ("BaseStore", "Store", "Writer", "verify"),
    "store.record": ("Record",),
    "store.directory": ("DirStore",),
    "store.memory": ("MemoryStore",),
    "store.object_store": ("ObjectStore",),
    "store.retention": ("Retention",),
    "tokens": ("estimate",),
    "types": (
        "AsyncSource",
        "Fill",
        "HintName",
        "Keep",
        "NoticePlace",
        "Outcome",
        "Redact",
        "Selector",
        "Source",
        "SpecStyle",
    ),
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
