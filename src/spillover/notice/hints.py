"""How the reader goes on: hints, by name or as templates, and the calls that are made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from shlex import quote

from msgspec import Struct
from msgspec.structs import replace

from spillover.errors import UsageError
from spillover.notice.wording import check_template, frames_of, shorten_reason

#: What the templates of a hint may name.
_PLACES: Mapping[str, object] = {
    **dict.fromkeys(("ref", "path", "pattern", "options", "pointer"), ""),
    **dict.fromkeys(("first", "last", "count", "start", "end", "line"), 0),
}
_STEPS = ("search", "lines", "bytes", "columns", "grep", "inside", "outline")


class Hint(Struct, frozen=True, kw_only=True):
    """How the reader can read the rest, as templates.

    They may name {ref} {path} {first} {last} {count} {start} {end} {line}.
    """

    search: str | None = None
    lines: str | None = None
    bytes: str | None = None
    columns: str | None = None
    grep: str | None = None  # how to continue a search; also {pattern} {options} {start}
    inside: str | None = None  # lines of a string in JSON; also {pointer}
    outline: str | None = None
    path: bool = False  # whether the reader can open files

    def __post_init__(self) -> None:
        for name in _STEPS:
            check_template(f"Hint({name}=", getattr(self, name) or "", _PLACES)

    @property
    def fields(self) -> dict[str, str | bool]:
        """The fields that are set, by name."""
        return {name: value for name in (*_STEPS, "path") if (value := getattr(self, name))}

    @property
    def names_path(self) -> bool:
        steps = (getattr(self, name) for name in _STEPS)
        return self.path or any("{path}" in (step or "") for step in steps)


#: The reader can run `spill`.
CLI = Hint(
    search="spill grep {ref} {pattern}",
    lines="spill read {ref} {first}:{last}",
    bytes="spill read {ref} --bytes {start}:{end}",
    columns="spill read {ref} {line} --columns {start}:{end}",
    grep="spill grep {ref} {pattern}{options} --from {start}",
    inside="spill read {ref}#{pointer} {first}:{last}",
    outline="spill outline {ref}",
)
#: The reader has the tools of `spill mcp`, or of `Clipper.tools()`.
TOOLS = Hint(
    search='grep_output("{ref}", {pattern})',
    lines='read_output("{ref}", lines="{first}:{last}")',
    bytes='read_output("{ref}", bytes="{start}:{end}")',
    columns='read_output("{ref}", lines="{line}", columns="{start}:{end}")',
    grep='grep_output("{ref}", {pattern}{options}, start="{start}")',
    inside='read_output("{ref}#{pointer}", lines="{first}:{last}")',
    outline='outline_output("{ref}")',
)
#: The reader can open files; nothing is known of its tools.
PATH = Hint(path=True)
NAMED = {"cli": CLI, "tools": TOOLS, "path": PATH}
#: How reading goes on for a reader of whom nothing is known: the range to ask for.
PLAIN = {
    "lines": "lines {first}:{last}",
    "bytes": "bytes {start}:{end}",
    "columns": "line {line}, columns {start}:{end}",
}


def with_options(hint: Hint, options: str) -> Hint:
    """Return a hint with options after the verb of each command: `spill read --scope acme/web {ref} …`."""
    options = options.replace("{", "{{").replace("}", "}}")
    steps = {name: getattr(hint, name) for name in _STEPS}
    return replace(
        hint, **{name: step and step.replace(" {ref}", f" {options} {{ref}}", 1) for name, step in steps.items()}
    )


def file_tools(read: str = "Read", search: str = "Grep") -> Hint:
    """Return a hint for a reader that has file tools of these names."""
    read, search = _check_tool(read), _check_tool(search)
    return Hint(search=f"{search} {{pattern}} in {{path}}", lines=f"{read} {{path}} offset={{first}} limit={{count}}")


def sub_agent(name: str = "Task") -> Hint:
    """Return a hint for a reader that can hand the file to another agent."""
    return Hint(search=f"have {_check_tool(name)} look through {{path}} and report what matters")


def _check_tool(name: str) -> str:
    """Return the name of a tool, if it can stand in a template."""
    if not name.isprintable() or "{" in name or "}" in name:
        raise UsageError(f"{name!r} is not the name of a tool.")
    return name


def hints(choice: str | Hint | Iterable[str | Hint]) -> tuple[Hint, ...]:
    """Return the hints for names ("cli", "tools", "path", "files:Read,Grep", "agent:Task", "none") and for hints."""
    if isinstance(choice, (str, Hint)):
        choice = [choice]
    try:
        items = tuple(choice)
    except TypeError:
        items = (choice,)  # type: ignore[assignment]  # refused below
    return tuple(hint for item in items for hint in ([item] if isinstance(item, Hint) else _parse_hint(item)))


def _parse_hint(name: str) -> list[Hint]:
    if not isinstance(name, str):
        raise UsageError(
            f"{name!r:.80} is not a hint; use cli, tools, path, files:READ,GREP, agent:NAME, none or a Hint."
        )
    kind, _, rest = name.partition(":")
    names = [part.strip() for part in rest.split(",") if part.strip()]
    if kind == "none" and not names:
        return []
    if kind in NAMED and not names:
        return [NAMED[kind]]
    if kind == "files" and len(names) in (0, 2):
        return [file_tools(*names)]
    if kind == "agent" and len(names) in (0, 1):
        return [sub_agent(*names)]
    raise UsageError(f"{name!r} is not a hint; use cli, tools, path, files:READ,GREP, agent:NAME or none.")


def next_call(hints: Sequence[Hint], kind: str, ref: str, first: int, last: int, line: int = 0) -> str:
    """Return the call that continues where an answer ends, for the first hint that has one."""
    return "Next: " + _call(hints, kind, ref, first, last, line)


def frames_call(hints: Sequence[Hint], ref: str, frames: int, line: int, count: int) -> str:
    """Return the words about overwritten frames that an answer leaves out, with the call that shows the first ones."""
    return f"{frames_of(frames)} left out: {_call(hints, 'columns', ref, 1, count, line)}."


def _call(hints: Sequence[Hint], kind: str, ref: str, first: int, last: int, line: int) -> str:
    templates = (getattr(hint, kind) for hint in hints if not hint.names_path)
    template: str = next((template for template in templates if template), PLAIN[kind])
    count = last - first + 1
    return template.format(ref=ref, first=first, last=last, count=count, start=first, end=last, line=line)


def search_call(
    hints: Sequence[Hint],
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
    template = next((hint.grep for hint in hints if hint.grep and not hint.names_path), None)
    if template is None:
        return f"Next: from line {start}"
    if not template.startswith("spill "):
        options = f", context={context}" * bool(context) + ", ignore_case=True" * ignore_case + ", fixed=True" * fixed
        return "Next: " + template.format(ref=ref, pattern=repr(pattern), options=options, start=start)
    if not pattern.replace("\t", " ").isprintable():  # a shell could not be given it as it stands
        return f"Next: from line {start}"
    options = (extra or f" -C {context}" * bool(context)) + " -i" * ignore_case + " -F" * fixed  # as grep has them
    if pattern.startswith("-"):  # or it would be taken for an option
        template = template.replace(" {pattern}", "") + " -- {pattern}"
    return "Next: " + template.format(ref=ref, pattern=quote(pattern), options=options, start=start)


def quote_pattern(pattern: str, template: str) -> str:
    """Return a pattern as it is written in a call of this form; a placeholder if no search is likely."""
    if not pattern:
        return "PATTERN"
    if "(" in template:
        return f'"{pattern}"'
    return quote(pattern) if template.startswith("spill ") else pattern


def cut_data(hints: Sequence[Hint], size: int, ref: str | None, reason: str | None) -> str:
    """Return the notice for data that was cut to fit, where there is no place for gap markers."""
    words = f"Cut to fit: long strings shortened, lists and objects with fewer entries. {size:,} bytes in all."
    if ref is None:
        return f"[{words} Full output not kept: {shorten_reason(reason)}.]"
    searches = [hint.search for hint in hints if hint.search and not hint.names_path]
    step = f" Next: {searches[0].format(**{**_PLACES, 'ref': ref, 'pattern': 'PATTERN'})}" if searches else ""
    return f"[{words} Full output: {ref}{step}]"
