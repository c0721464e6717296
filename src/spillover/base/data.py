"""Frozen, slotted dataclasses that cost next to nothing to define.

`dataclasses` takes 19 ms to import and most of a millisecond for each class, and every tool call pays for the start of
`spill`. This is the part of it that we use, made lazily: a constructor is compiled once a class has made a few objects, and
the standard library's own `replace`, `fields` and `asdict` work on these classes as on any others. Checkers see the real thing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
else:
    from _operator import attrgetter  # `operator` would load more, and not know more

    MISSING = object()
    #: To compile a constructor takes as long as to make so many objects without; most classes make one or two in a call.
    FEW = 16

    class _Field:
        """How one field is made and used."""

        __slots__ = ("compare", "default", "factory", "init", "kw_only", "name", "repr", "type")

        def __init__(self, default=MISSING, default_factory=MISSING, init=True, repr=True, compare=True, kw_only=None):  # noqa: A002
            self.default, self.factory = default, default_factory
            self.init, self.repr, self.compare, self.kw_only = init, repr, compare, kw_only
            self.name = self.type = ""

    field = _Field
    #: For each class, what gets the values it is compared by.
    _getters = {}
    #: How many objects each class has made without a compiled constructor.
    _counts = {}

    def dataclass(*, frozen=True, slots=True, kw_only=False, order=False):
        """A class whose annotations are its fields; always frozen and slotted."""
        assert frozen
        assert slots

        def made(cls):
            own = {}
            body = dict(cls.__dict__)
            for name, kind in body.get("__annotations__", {}).items():
                value = body.pop(name, MISSING)
                one = value if isinstance(value, _Field) else _Field(value)
                one.name, one.type = name, kind
                one.kw_only = kw_only if one.kw_only is None else one.kw_only
                own[name] = one
            above = getattr(cls, "__spillover_fields__", {})
            body.pop("__dict__", None)
            body.pop("__weakref__", None)
            body["__slots__"] = tuple(name for name in own if name not in above)
            body["__spillover_fields__"] = {**above, **own}
            body["__init__"] = _first_init
            body["__dataclass_fields__"], body["__dataclass_params__"] = _fields, _params
            for name, method in (_ORDERED if order else _METHODS).items():
                body.setdefault(name, method)
            new = type(cls)(cls.__name__, cls.__bases__, body)
            new.__qualname__ = cls.__qualname__
            return new

        return made

    def replace(obj, /, **changes):
        """The same with other values; what is derived is derived anew."""
        for one in type(obj).__spillover_fields__.values():
            if one.init and one.name not in changes:
                changes[one.name] = getattr(obj, one.name)
        return type(obj)(**changes)

    def _first_init(self, *args, **kwargs):
        """Make one of the first objects of a class; then, or where the arguments do not fit, compile its constructor."""
        # Of a subclass with a constructor of its own, that one stays.
        cls = next(each for each in type(self).__mro__ if each.__dict__.get("__init__") is _first_init)
        made = _counts[cls] = _counts.get(cls, 0) + 1
        if made > FEW or not _set_fields(cls, self, args, kwargs):
            _counts.pop(cls, None)
            cls.__init__ = init = _compiled(cls)
            init(self, *args, **kwargs)

    def _set_fields(cls, self, args, kwargs):
        """Do what a compiled constructor does, slowly; return False for arguments that it would not take."""
        fields_ = [one for one in cls.__spillover_fields__.values() if one.init]
        names = [one.name for one in fields_ if not one.kw_only]
        given = dict(zip(names, args, strict=False))
        if len(args) > len(names) or given.keys() & kwargs.keys():
            return False
        given |= kwargs
        for one in fields_:
            if one.name in given:
                value = given.pop(one.name)
            elif one.default is not MISSING:
                value = one.default
            elif one.factory is not MISSING:
                value = one.factory()
            else:
                return False
            object.__setattr__(self, one.name, value)
        if given:
            return False
        if hasattr(self, "__post_init__"):
            self.__post_init__()
        return True

    def _compiled(cls):
        fields_ = [one for one in cls.__spillover_fields__.values() if one.init]
        given = [one for one in fields_ if not one.kw_only]
        named = [one for one in fields_ if one.kw_only]
        # Each slot is set by its own descriptor, in half the time that `object.__setattr__` takes to find it.
        scope = {"_made": MISSING} | {f"_set_{one.name}": getattr(cls, one.name).__set__ for one in fields_}
        words, lines = ["self"], []
        for one in [*given, *(["*"] if named else []), *named]:
            if one == "*":
                words.append("*")
                continue
            if one.default is not MISSING:
                scope[f"_d_{one.name}"] = one.default
                words.append(f"{one.name}=_d_{one.name}")
            elif one.factory is not MISSING:
                scope[f"_f_{one.name}"] = one.factory
                words.append(f"{one.name}=_made")
                lines.append(f" if {one.name} is _made: {one.name} = _f_{one.name}()")
            else:
                words.append(one.name)
        lines += [f" _set_{one.name}(self, {one.name})" for one in fields_]
        if hasattr(cls, "__post_init__"):
            lines.append(" self.__post_init__()")
        exec("\n".join([f"def __init__({', '.join(words)}):", *(lines or [" pass"])]), scope)  # noqa: S102  our own names
        return scope["__init__"]

    def _values(self):
        cls = type(self)
        if cls not in _getters:
            names = [one.name for one in cls.__spillover_fields__.values() if one.compare]
            _getters[cls] = attrgetter(*names) if names else lambda _self: ()
        return _getters[cls](self)

    def _eq(self, other):
        return _values(self) == _values(other) if type(self) is type(other) else NotImplemented

    def _lt(self, other):
        return _values(self) < _values(other) if type(self) is type(other) else NotImplemented

    def _hash(self):
        return hash(_values(self))

    def _repr(self):
        shown = (
            f"{one.name}={getattr(self, one.name)!r}" for one in type(self).__spillover_fields__.values() if one.repr
        )
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def _frozen(self, name, value=None):
        from dataclasses import FrozenInstanceError  # whoever gets here has made a mistake, and time

        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def _getstate(self):
        return [getattr(self, name) for name in type(self).__spillover_fields__]

    def _setstate(self, state):
        for name, value in zip(type(self).__spillover_fields__, state, strict=True):
            object.__setattr__(self, name, value)

    _METHODS = {
        "__eq__": _eq,
        "__hash__": _hash,
        "__repr__": _repr,
        "__setattr__": _frozen,
        "__delattr__": _frozen,
        "__getstate__": _getstate,
        "__setstate__": _setstate,
    }
    _ORDERED = {**_METHODS, "__lt__": _lt}

    class _Lazy:
        """What the standard library looks for on a dataclass, made when it looks."""

        def __init__(self, make):
            self._make = make

        def __get__(self, obj, cls):
            return self._make(cls)

    def _standard_fields(cls):
        import dataclasses

        out = {}
        for one in cls.__spillover_fields__.values():
            given = {"init": one.init, "repr": one.repr, "compare": one.compare, "kw_only": one.kw_only}
            if one.default is not MISSING:
                given["default"] = one.default
            if one.factory is not MISSING:
                given["default_factory"] = one.factory
            made = dataclasses.field(**given)
            made.name, made.type, made._field_type = one.name, one.type, dataclasses._FIELD  # noqa: SLF001  as it does itself
            out[one.name] = made
        return out

    class _Params:
        """As `dataclass(frozen=True)` would have left it."""

        init = repr = eq = frozen = match_args = slots = True
        order = unsafe_hash = kw_only = weakref_slot = False

    _fields = _Lazy(_standard_fields)
    _params = _Lazy(lambda _cls: _Params)
