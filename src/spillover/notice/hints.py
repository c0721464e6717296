"""How the reader can go back: the hints, by name or as templates."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from spillover.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_STEPS = ("search", "lines", "bytes", "columns", "grep", "inside", "outline")


class Hint(Struct, frozen=True, kw_only=True):
    """How the reader can read the rest: templates with the placeholders {ref} {path} {first} {last} {count} {start} {end} {line}."""

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
    def given(self) -> dict[str, str | bool]:
        return {name: said for name in (*_STEPS, "path") if (said := getattr(self, name))}

    @property
    def names_path(self) -> bool:
        steps = (getattr(self, name) for name in _STEPS)
        return self.path or any("{path}" in (step or "") for step in steps)


#: What the templates of a hint, and the sentences of a notice and of a marker, may name.
_PLACES = {**dict.fromkeys(("ref", "path", "pattern", "options", "pointer"), ""),
           **dict.fromkeys(("first", "last", "count", "start", "end", "line"), 0)}  # fmt: skip


def check_template(what: str, template: str, places: Mapping[str, object]) -> None:
    """Raise a UsageError for a template that cannot be filled in: when it is chosen, not when an output is at stake."""
    try:
        template.format(**places)
    except (LookupError, ValueError, AttributeError, TypeError) as error:
        known = " ".join(f"{{{name}}}" for name in places)
        raise UsageError(f"{what}{template!r}) cannot be filled in; it may name {known}.") from error


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


def with_options(hint: Hint, options: str) -> Hint:
    """Return a hint with options after the verb of each command: `spill read --scope acme/web {ref} …`."""
    options = options.replace("{", "{{").replace("}", "}}")
    steps = {name: getattr(hint, name) for name in _STEPS}
    return replace(
        hint, **{name: step and step.replace(" {ref}", f" {options} {{ref}}", 1) for name, step in steps.items()}
    )


def file_tools(read: str = "Read", search: str = "Grep") -> Hint:
    """Return a hint for a reader that has file tools of these names."""
    read, search = _plain(read), _plain(search)
    return Hint(search=f"{search} {{pattern}} in {{path}}", lines=f"{read} {{path}} offset={{first}} limit={{count}}")


def sub_agent(name: str = "Task") -> Hint:
    """Return a hint for a reader that can hand the file to another agent."""
    return Hint(search=f"have {_plain(name)} look through {{path}} and report what matters")


def _plain(name: str) -> str:
    """Return the name of a tool, if it can stand in a template."""
    if not name.isprintable() or "{" in name or "}" in name:
        raise UsageError(f"{name!r} is not the name of a tool.")
    return name


NAMED = {"cli": CLI, "tools": TOOLS, "path": PATH}


def hints(chosen: str | Hint | Iterable[str | Hint]) -> tuple[Hint, ...]:
    """Return hints given by name ("cli", "tools", "path", "files:Read,Grep", "agent:Task", "none") or as they are."""
    if isinstance(chosen, (str, Hint)):
        chosen = [chosen]
    try:
        given = tuple(chosen)
    except TypeError:
        given = (chosen,)  # type: ignore[assignment]  # refused below, as what it is
    return tuple(hint for one in given for hint in ([one] if isinstance(one, Hint) else _named(one)))


def _named(name: str) -> list[Hint]:
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


_NOWHERE = {**{name: value for name, value in _PLACES.items() if name != "ref"}, "pattern": "PATTERN"}
