"""The call that continues where an answer ends."""

from __future__ import annotations

from spillover.notice.hints import Hint
from spillover.notice.words import frames_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

#: How reading goes on for a reader of whom nothing is known: the range to ask for.
PLAIN = {
    "lines": "lines {first}:{last}",
    "bytes": "bytes {start}:{end}",
    "columns": "line {line}, columns {start}:{end}",
}


def next_call(ways: Sequence[Hint], kind: str, ref: str, first: int, last: int, line: int = 0) -> str:
    """Return the call that continues where an answer ends, for the first hint that has one."""
    return "Next: " + _call(ways, kind, ref, first, last, line)


def _call(ways: Sequence[Hint], kind: str, ref: str, first: int, last: int, line: int = 0) -> str:
    templates = (getattr(way, kind) for way in ways if not way.names_path)
    template = next((template for template in templates if template), PLAIN[kind])
    count = last - first + 1
    return template.format(ref=ref, first=first, last=last, count=count, start=first, end=last, line=line)


def frames_call(ways: Sequence[Hint], ref: str, frames: int, line: int, count: int) -> str:
    """Return the words about overwritten frames that an answer leaves out, with the call that shows the first ones."""
    return f"{frames_of(frames)} left out: {_call(ways, 'columns', ref, 1, count, line)}."


def search_call(
    ways: Sequence[Hint],
    ref: str,
    pattern: str,
    start: str,
    *,
    context: int,
    ignore_case: bool,
    fixed: bool,
    extra: str = "",
) -> str:
    """Return the call that continues a search with the same options, for the first hint that has one."""
    way = next((way for way in ways if way.grep and not way.names_path), None)
    if way is None or way.grep is None:
        return f"Next: from line {start}"
    if way.grep.startswith("spill "):
        if not pattern.replace("\t", " ").isprintable():  # a shell could not be given it as it stands
            return f"Next: from line {start}"
        from shlex import quote  # only answers that go on need it

        options = (
            [extra or f" -C {context}" * bool(context)] + [" -i"] * ignore_case + [" -F"] * fixed
        )  # a shell has all the options of grep
        words = way.grep
        if pattern.startswith("-"):  # or it would be taken for an option
            words = words.replace(" {pattern}", "") + " -- {pattern}"
        return "Next: " + words.format(ref=ref, pattern=quote(pattern), options="".join(options), start=start)
    options = [f", context={context}"] * bool(context) + [", ignore_case=True"] * ignore_case + [", fixed=True"] * fixed
    return "Next: " + way.grep.format(ref=ref, pattern=repr(pattern), options="".join(options), start=start)
