"""What every other module stands on, and nothing about outputs: logging, caches, patterns in linear time.

Neighbours import what they need, module by module. Here is only the type of our public structs.
"""

from __future__ import annotations

import msgspec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from inspect import Signature


class Public(msgspec.StructMeta):
    """The type of a struct whose fields refer to types that only checkers import: `help` can still show its signature."""

    @property
    def __signature__(self) -> Signature:
        """The public fields as parameters. msgspec evaluates the annotations, and fails where one is not imported."""
        from inspect import Parameter, Signature  # nobody else pays for it

        bases = reversed(self.__mro__)
        types = {name: kind for base in bases for name, kind in getattr(base, "__annotations__", {}).items()}
        required = (Parameter.empty,) * (len(self.__struct_fields__) - len(self.__struct_defaults__))
        parameters = []
        for name, default in zip(self.__struct_fields__, (*required, *self.__struct_defaults__), strict=True):
            kind = Parameter.POSITIONAL_OR_KEYWORD if name in self.__match_args__ else Parameter.KEYWORD_ONLY
            known = Parameter.empty if default is msgspec.NODEFAULT else default
            if not name.startswith("_"):
                parameters.append(Parameter(name, kind, default=known, annotation=types[name]))
        return Signature(parameters)
