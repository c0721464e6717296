"""Patterns that are compiled at their first use: an output is ruled out of most kinds before their patterns are asked."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from re import compile  # noqa: A004  checkers see the real thing
    from typing import Any
else:

    class compile:  # noqa: A001, N801  called as `re.compile` is, and stands for what that returns
        """A pattern, which is compiled when something is first asked of it."""

        def __init__(self, pattern: str | bytes, flags: int = 0) -> None:
            self.pattern, self._flags = pattern, flags

        def __repr__(self) -> str:
            return f"patterns.compile({self.pattern!r})"

        def __reduce__(self) -> tuple[Any, ...]:
            return compile, (self.pattern, self._flags)

        def __getattr__(self, name: str) -> Any:
            compiled = re.compile(self.pattern, self._flags)
            # From here on these are found without coming here.
            self.match, self.search, self.fullmatch = compiled.match, compiled.search, compiled.fullmatch
            self.finditer, self.findall, self.sub, self.split = (
                compiled.finditer,
                compiled.findall,
                compiled.sub,
                compiled.split,
            )
            return getattr(compiled, name)


__all__ = ["compile"]
