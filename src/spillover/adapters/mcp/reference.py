"""Pass by reference: an argument that is exactly `spill://REF` becomes what is stored there, before the call is passed on.

So a model hands 400 rows to another tool without writing them once more. Off unless asked for, and then only for outputs of this
scope that came in this session, into tools of the server they came from, or tools that the user named.
"""

from __future__ import annotations

import json
import time
from fnmatch import fnmatchcase

from spillover.base.data import dataclass, field
from spillover.errors import SpilloverError, UsageError
from spillover.notice.sentences import passed_on
from spillover.notice.words import one_line
from spillover.retrieve.asked import SCHEME
from spillover.retrieve.opening import opened
from spillover.retrieve.part import open_value, split_ref
from spillover.retrieve.ranges import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from spillover.choices import Choices
    from spillover.store.base import Record

#: No more than this is put into one call.
CAP = 4 << 20
#: Deeper than this, arguments are not looked into.
DEEP = 20


@dataclass(frozen=True, slots=True)
class Passed:
    """The arguments with what was meant, and what is said of it in the result."""

    arguments: Any
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """Which outputs may go into which tools."""

    choices: Choices
    tools: Sequence[str] = ()  # names or patterns of tools that any output may go into
    same_server: Callable[[str, str], bool] = lambda *_: False
    since: float = field(default_factory=time.time)
    cap: int = CAP

    def put_into(self, arguments: Any, tool: str, schema: Any) -> Passed:
        """Return the arguments of a call with every reference resolved; UsageError where one may not be, or cannot."""
        notes: list[str] = []
        left = [self.cap]
        properties = schema.get("properties") if isinstance(schema, dict) else None

        def walk(value: Any, wants: Any, where: str, depth: int) -> Any:
            if isinstance(value, str):
                if not value.startswith(SCHEME):
                    return value
                content, size = self._read(value, tool, wants, left[0])
                left[0] -= size
                notes.append(passed_on(value, where, size))
                return content
            if depth > DEEP:
                return value
            if isinstance(value, list):
                return [walk(item, {}, where, depth + 1) for item in value]
            if isinstance(value, dict):
                return {key: walk(item, {}, f"{where}.{key}", depth + 1) for key, item in value.items()}
            return value

        if not isinstance(arguments, dict):
            return Passed(arguments)
        known = properties if isinstance(properties, dict) else {}
        new = {key: walk(value, known.get(key, {}), one_line(key, 40), 0) for key, value in arguments.items()}
        return Passed(new, tuple(notes)) if notes else Passed(arguments)

    def _read(self, uri: str, tool: str, wants: Any, room: int) -> tuple[Any, int]:
        """Return what a reference stands for, in the type that the tool wants, and how many bytes that is."""
        ref, part = split_ref(uri.removeprefix(SCHEME))
        try:
            record, document = opened(self.choices, ref)
        except SpilloverError as error:
            raise UsageError(f"{one_line(uri, 80)} cannot be passed on: {error}") from error
        try:
            self._check(record, tool)
            if part.pointer is not None:
                record, document = open_value(document, record, part.pointer)
            start, end = 0, document.size
            if part.lines is not None:
                first, last = parse(part.lines, document.lines)
                start, end = document.start(first), document.start(last + 1)
            elif part.bytes is not None:
                first, last = parse(part.bytes, document.size, "bytes")
                start, end = first - 1, last
            if end - start > room:
                raise UsageError(
                    f"{one_line(uri, 80)} is {end - start:,} bytes; one call may be given {self.cap:,}. "
                    f"Name a part of it: spill://{record.ref.partition('#')[0]}#L1-500, or #/json/pointer."
                )
            text = document.blob.read(start, end).decode("utf-8", "replace")
        finally:
            document.blob.close()
        return _as_wanted(text, wants), end - start

    def _check(self, record: Record, tool: str) -> None:
        newest = max([record.created, *(owner.created for owner in record.others)])
        if newest < self.since:
            raise UsageError(f"{record.ref} is from an earlier session; run the tool again to pass its result on.")
        if any(fnmatchcase(tool, pattern) for pattern in self.tools) or self.same_server(record.tool, tool):
            return
        raise UsageError(
            f"{record.ref} may not be passed to {one_line(tool, 60)}: it is not a tool of the server it came from. The user allows that "
            f"with --by-reference-to {one_line(tool, 60)}."
        )


def _as_wanted(text: str, wants: Any) -> Any:
    """Return a text, or the data it is, where the tool wants data."""
    kinds = wants.get("type") if isinstance(wants, dict) else None
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if not {"array", "object", "integer", "number", "boolean"} & {kind for kind in kinds if isinstance(kind, str)}:
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
