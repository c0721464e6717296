"""Bounded tool output for LLM agents: lossy on the model, lossless on disk.

    from spillover import clip

    out = clip(log_text)      # str, bytes, a file, any iterable of them
    out.text                  # send this to the model: never above the limits, notice included

What selectors, stores and annotations need is in `spillover.types`, what can go wrong in `spillover.errors`.
"""

import logging as _logging

from spillover.api import Clipper, aclip, clip
from spillover.budget import Budget
from spillover.errors import RefError, SpilloverError, StoreError, UsageError
from spillover.notice.hints import Hint, file_tools
from spillover.result import Clip, Run
from spillover.settings.limits import Limits, Size
from spillover.settings.settings import Settings
from spillover.store import verify
from spillover.store.directory import DirStore
from spillover.store.memory import MemoryStore
from spillover.store.object_store import ObjectStore
from spillover.store.retention import Retention

__version__ = "0.1.0"

__all__ = [
    "Budget",
    "Clip",
    "Clipper",
    "DirStore",
    "Hint",
    "Limits",
    "MemoryStore",
    "ObjectStore",
    "RefError",
    "Retention",
    "Run",
    "Settings",
    "Size",
    "SpilloverError",
    "StoreError",
    "UsageError",
    "__version__",
    "aclip",
    "clip",
    "file_tools",
    "verify",
]

_logging.getLogger("spillover").addHandler(_logging.NullHandler())  # or Python prints warnings to stderr
