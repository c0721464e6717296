"""numpy with only its core loaded, for a process of ours: half the time it takes to load goes to parts that we never use.

Python imports it as usual, but its `__init__` does not run at first. The names of its core are there, and what we use of the rest
is looked up where numpy keeps it. The first name that is not found runs the `__init__` after all, in the same module, and so
does anything that goes wrong: then numpy is what it always is, some milliseconds later.
Hyperscan is imported as usual, but for `typing`.
"""

from __future__ import annotations

import sys
from _thread import RLock, allocate_lock  # `threading` costs a millisecond
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any
else:
    ModuleType = type(sys)

NUMPY, CORE, PARTS = "numpy", "numpy._core", "numpy.lib"
HYPERSCAN = "hyperscan"
#: Where numpy keeps the few functions we use that are not in its core; loaded without running their package's `__init__`.
HOMES = tuple(
    f"{PARTS}.{name}"
    for name in ("_function_base_impl", "_stride_tricks_impl", "_type_check_impl", "_arraysetops_impl")
)
#: What numpy exports from its core by way of one of those.
ELSEWHERE = {"bincount": "numpy._core.multiarray"}
#: What the core asks of `numpy` while it is loaded stands here.
GLOBALS = "numpy._globals"
#: Docstrings for people: never read here.
FOR_READERS = ("numpy._core._add_newdocs", "numpy._core._add_newdocs_scalars")
#: Imported by the core for functions that we never call.
LATER = ("ast", "ctypes", "pickle")

_lock = RLock()  # one thread at a time looks names up; a thread that runs an `__init__` looks up more of them
_taking = allocate_lock()  # nothing is imported while it is held
_running: set[str] = set()
_UNKNOWN = object()


def load() -> None:
    """Import numpy with its core alone."""
    stand_ins: dict[str, ModuleType] = {name: ModuleType(name) for name in FOR_READERS}
    stand_ins |= {name: _Later(name) for name in LATER} | {
        "inspect": _Inspect("inspect"),
        "datetime": _Datetime("datetime"),
    }
    _import_with(stand_ins, lambda: _import_unfinished(NUMPY))


def load_hyperscan() -> None:
    """Import Hyperscan without `typing`, which takes longer than the rest of it. Where that fails, nothing is imported."""
    if HYPERSCAN not in sys.modules:
        with suppress(Exception):  # another Hyperscan than those we know, or none; whoever imports it next is told
            _import_with({"typing": _Typing("typing")}, lambda: __import__(HYPERSCAN))


def _import_with(stand_ins: Mapping[str, ModuleType], import_: Callable[[], object]) -> None:
    """Import something while other modules stand in for some that it imports."""
    for name, module in stand_ins.items():
        sys.modules.setdefault(name, module)  # in one step: another thread may be importing it
    try:
        import_()
    finally:
        for module in stand_ins.values():
            if isinstance(module, _Later):
                module.give_way()


def _import_unfinished(name: str) -> None:
    """Import a package by way of `_Loader`."""
    finder = _Finder(name)
    sys.meta_path.insert(0, finder)
    try:
        __import__(name)
    finally:
        sys.meta_path.remove(finder)


class _Finder:
    """Finds one package where Python finds it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != self._name:
            return None
        # Loaded by Python itself. Two threads that import `importlib` first, one of them a part of it, break it for all.
        from _frozen_importlib_external import PathFinder

        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)  # type: ignore[assignment]  # likewise
        return spec


class _Loader:
    """Makes a package whose `__init__` runs when a name is asked for that is not there yet."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return ModuleType(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self._loader
        module.__class__ = _Unfinished
        if module.__name__ != NUMPY:
            return
        _running.add(CORE)
        try:
            __import__(CORE)
        except Exception:  # noqa: BLE001  another numpy than those we know
            _finish(module)
        finally:
            _running.discard(CORE)


class _Unfinished(ModuleType):
    """A package before its own `__init__` has run."""

    def __getattr__(self, name: str) -> Any:
        with _lock:
            if name in self.__dict__ or type(self) is ModuleType:  # another thread was quicker
                return getattr(self, name)
            if self.__name__ in _running:  # as in any module that is being imported
                raise AttributeError(name)
            found = _find(name) if self.__name__ == NUMPY else _UNKNOWN
            if found is _UNKNOWN:
                _finish(self)
                return getattr(self, name)
            setattr(self, name, found)
            return found


class _Matrix:
    """`numpy.matrix`, which the core asks of every array: none is one before numpy is finished, and nothing else is asked here."""

    def __new__(cls, *given: Any, **options: Any) -> Any:
        """Make one after all."""
        _finish(sys.modules[NUMPY])
        return sys.modules[NUMPY].matrix(*given, **options)


def _find(name: str) -> Any:
    """Return what numpy exports under this name; _UNKNOWN where we do not know."""
    if name == "matrix":
        return _Matrix
    if CORE in _running:  # what it asks for while it is being loaded
        return getattr(sys.modules.get(GLOBALS), name)
    core = sys.modules[CORE]
    if name in getattr(core, "__all__", ()):
        return getattr(core, name, _UNKNOWN)
    if name in ELSEWHERE:
        return getattr(sys.modules.get(ELSEWHERE[name]), name, _UNKNOWN)
    try:
        if PARTS not in sys.modules:
            _import_unfinished(PARTS)
        for home in HOMES:
            __import__(home)
            if name in sys.modules[home].__all__:
                return getattr(sys.modules[home], name, _UNKNOWN)
    except Exception:  # noqa: BLE001, S110  another numpy than those we know
        pass
    return _UNKNOWN


def _finish(module: ModuleType) -> None:
    """Run the `__init__` of a package."""
    assert module.__spec__ is not None
    assert module.__spec__.loader is not None
    with _lock:
        if type(module) is ModuleType:
            return
        _running.add(module.__name__)
        try:
            module.__spec__.loader.exec_module(module)
        finally:
            _running.discard(module.__name__)
        module.__class__ = ModuleType


class _Later(ModuleType):
    """A module that is imported when something is asked of it."""

    def __getattr__(self, name: str) -> Any:
        self.give_way()
        return getattr(__import__(self.__name__), name)

    def give_way(self) -> None:
        """Take it away, so that the next import finds the module itself."""
        with _taking:
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]


class _Inspect(_Later):
    """`inspect`, of which numpy's core wants the signatures of its functions for people who read them."""

    def signature(self, function: Any, **options: Any) -> Any:
        return None if _asked_by(NUMPY) else self.__getattr__("signature")(function, **options)

    def cleandoc(self, doc: str) -> str:
        return doc if _asked_by(NUMPY) else str(self.__getattr__("cleandoc")(doc))


class _Datetime(_Later):
    """`datetime`, of which numpy wants what it has from `_datetime`; before Python 3.12 it defines all of that once more."""

    @property
    def datetime_CAPI(self) -> Any:  # noqa: N802  its name
        from _datetime import datetime_CAPI  # type: ignore[import-not-found]

        return datetime_CAPI


class _Typing(_Later):
    """`typing`, of which Hyperscan wants a base for the class of an argument that we never give."""

    @property
    def NamedTuple(self) -> Any:  # noqa: N802  its name
        return object if _asked_by(HYPERSCAN) else self.__getattr__("NamedTuple")


def _asked_by(package: str) -> bool:
    return str(sys._getframe(2).f_globals.get("__name__")).startswith(package)  # noqa: SLF001  the caller's module
