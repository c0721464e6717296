"""Settings, all options of clipping in one immutable object; and Call, the settings of one call of a tool."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, Self, TypedDict, get_args
from urllib.parse import unquote

from msgspec import Struct, field
from msgspec.structs import force_setattr, replace

from spillover.budget import Budget
from spillover.errors import OptionsStruct, UsageError, quote
from spillover.notice.form import Form
from spillover.notice.hints import PATH, Hint, hints
from spillover.notice.render import Facts, Gap, Storage, marker, notice
from spillover.notice.wording import WORDING, Wording
from spillover.settings.limits import DEFAULT_WORTH, SIZES, SMALLEST, Agent, Limits, read_amount
from spillover.source.intake import MAX_STORED_BYTES
from spillover.store import BaseStore, Store, complete
from spillover.store.directory import DirStore
from spillover.store.folder import expand, user_folder
from spillover.store.memory import MemoryStore
from spillover.store.object_store import ObjectStore
from spillover.store.record import REF_DIGITS, check_scope
from spillover.store.retention import Retention
from spillover.store.scopes import ScopedStore
from spillover.tokens import Counter, find_counter
from spillover.types import HintName, Keep, Redact, Selector

DEFAULT_TOOL = "tool"
#: The words that `keep` may be.
KEEPS: tuple[str, ...] = get_args(Keep)
#: Where secrets are covered: nowhere, in what a model reads, or in what is stored as well.
REDACT = ("off", "shown", "stored")
#: Bytes of each end of an output that a selector can read, at least and at most; more take more time and memory.
MIN_REACH_BYTES = 1 << 16
MAX_REACH_BYTES = 1 << 20
#: Limits that no output exceeds.
UNLIMITED = Limits(bytes=1 << 62)
#: The methods of the Protocol Store.
STORE_METHODS = ("writer", "get", "open", "list", "delete", "pin", "where")
#: The schemes of object stores.
OBJECT_STORES = ("s3", "gs", "az")
SCHEMES = ("file", "memory", *OBJECT_STORES)
#: Seconds that a call waits for an object store without progress; more delay a call when the store is away.
DEADLINE_SECONDS = 5


def default_root(environ: Mapping[str, str]) -> str:
    """Return the folder or URL of the default store: SPILLOVER_STORE, else the user's state directory."""
    root = environ.get("SPILLOVER_STORE")
    if not root:
        return user_folder(environ, "XDG_STATE_HOME", ".local/state")
    return root if is_url(root) else os.path.abspath(expand(root, environ))


def default_store() -> BaseStore:
    return open_store(default_root(os.environ))


def is_url(location: str) -> bool:
    """Return whether a location begins like a URL, even a malformed one, and not like the path of a folder."""
    scheme, separator, rest = location.partition(":")
    return bool(separator) and (scheme.lower() in SCHEMES or (scheme.isalnum() and rest.startswith("//")))


def open_store(store: Any, retention: Retention | None = None, **options: Any) -> BaseStore:
    """Return the store of a path or a URL, or the store itself. `options` are for object stores."""
    retention = Retention() if retention is None else retention
    if isinstance(store, (str, os.PathLike)):
        path = os.fspath(store)
        if not isinstance(path, str) or not is_url(path):
            return DirStore(expand(path, os.environ) if isinstance(path, str) else path, retention)
        scheme, separator, rest = path.partition("://")
        if not separator:  # s3:/bucket would be a folder called s3:
            scheme, _, rest = path.partition(":")
            url = f"{scheme}://{rest.lstrip('/')}"
            raise UsageError(f"store={quote(path)} is not a URL; use {url}, or ./{path} for a folder of that name.")
        return _open_url(path, scheme.lower(), rest, retention, options)
    if isinstance(store, type):
        raise UsageError(f"store={store.__name__} is a class; use an object of it, e.g. MemoryStore().")
    missing = [name for name in STORE_METHODS if not callable(getattr(store, name, None))]
    if missing:
        raise UsageError(
            f"store={quote(store)} is not a store (it has no {', '.join(missing)}); use the path of a folder, "
            "file://, memory://, s3://, a DirStore, a MemoryStore, an ObjectStore, or an object with the methods of "
            "spillover.Store."
        )
    return complete(store)


def _open_url(url: str, scheme: str, rest: str, retention: Retention, options: dict[str, Any]) -> BaseStore:
    if scheme == "memory" and not rest:
        return MemoryStore()
    if scheme == "file":
        host, slash, path = rest.partition("/")
        if slash and host in ("", "localhost"):
            return DirStore(unquote("/" + path), retention)
        raise UsageError(f"store={quote(url)} does not name a folder of this machine; use file:///absolute/path.")
    if scheme in OBJECT_STORES:
        return ObjectStore(url, retention, **options)
    schemes = ", ".join(f"{name}://" for name in SCHEMES)
    raise UsageError(f"store={quote(url)} is not a known kind of store; use the path of a folder, or {schemes}.")


class Options(TypedDict, total=False):
    """The settings as keyword arguments, for a Clipper, `Clipper.but` and `clip`."""

    keep: Keep | Selector
    store: Store | str | os.PathLike[str]
    tokenizer: str | Callable[[str], int]
    hints: HintName | Hint | Iterable[HintName | Hint]
    rules: Mapping[str, Mapping[str, Any]]
    cap: int
    wording: Wording | Form
    scope: str | None
    raw: bool
    redact: Redact
    worth: float
    since: str
    stats: bool | None
    agent: Agent | None


#: The keys of a rule: options, each limit by its name, and `clip`; none that decides who sees an output.
RULE_KEYS = frozenset(
    {*Options.__annotations__, "limits", *SMALLEST, "clip"} - {"agent", "redact", "rules", "scope", "stats"}
)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_share(value: object) -> bool:
    return type(value) in (int, float) and 0 <= value <= 1  # type: ignore[operator]  # a number: its type was just checked


#: Setting → (check of a value by itself, remedy).
CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "limits": (lambda value: isinstance(value, Limits), "use Limits, e.g. Limits(tokens=4_000)"),
    "keep": (lambda value: callable(value) or value in KEEPS, f"use {', '.join(KEEPS)} or a selector"),
    "cap": (lambda value: type(value) is int and value > 0, "use a number of bytes, e.g. cap=500_000_000"),
    "wording": (lambda value: isinstance(value, Wording | Form), "use a Wording, or the Form of a profile"),
    "raw": (_is_flag, "use True or False"),
    "redact": (lambda value: value in REDACT, f"use {', '.join(REDACT)}"),
    "worth": (_is_share, "use a number from 0 (fill the limits) to 1"),
    "since": (
        lambda value: isinstance(value, str) and value != "",
        'use "last", "good", "off" or the ref of an output',
    ),
    "stats": (
        lambda value: value is None or _is_flag(value),
        "use True, False, or None for what is cut and fetched back",
    ),
    "agent": (lambda value: isinstance(value, Agent | None), "use an Agent, or None"),
    "rules": (
        lambda value: isinstance(value, Mapping),
        'map names of tools to settings, e.g. {"pytest*": {"keep": "tail"}}',
    ),
}


class Settings(OptionsStruct, frozen=True, kw_only=True, dict=True):
    """How to clip. To vary one, copy: `settings.but(keep="tail")`."""

    limits: Limits = field(default_factory=Limits)
    keep: Keep | Selector = "auto"
    store: Store = field(default_factory=default_store)  # or the path of a folder, or a URL
    tokenizer: str | Callable[[str], int] = "estimate"
    hints: tuple[Hint, ...] = (PATH,)  # or the names of hints
    rules: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # "pytest*" or "npm *" → other settings
    cap: int = MAX_STORED_BYTES  # bytes stored of one output
    wording: Wording | Form = WORDING
    scope: str | None = None  # the scope of the outputs, "tenant/project/session"; None: the current project
    raw: bool = False  # show control codes and progress frames as they are
    redact: Redact = "off"  # "shown": cover secrets in what a model reads; "stored": in what is stored, too
    worth: float = DEFAULT_WORTH  # stop when the rest is less likely than this to be needed; 0 fills the limits
    since: str = "auto"  # compare with this run: "last", "good" (exit code 0), a ref, "off"; "auto": see `spill run`
    agent: Agent | None = None  # the one that runs us, for the journal
    stats: bool | None = None  # the journal gets: True every result, None what is cut or fetched back, False nothing

    def __post_init__(self) -> None:
        for name, (is_valid, remedy) in CHECKS.items():
            if not is_valid(value := getattr(self, name)):
                raise UsageError(f"{name}={quote(value)} is not valid; {remedy}.")
        force_setattr(self, "hints", hints(self.hints))
        force_setattr(self, "store", open_store(self.store))
        if self.scope is not None:
            check_scope(self.scope)
        if self.form is not None:
            self.form.check(self.keep)
        self.check_room(self.limits)
        self.parsed_rules  # noqa: B018  raise a UsageError for a rule that is not valid

    def check_room(self, limits: Limits) -> None:
        """Raise a UsageError if the shortest notice is not within these limits, as the tokenizer counts."""
        if self.form is not None:  # its words may stand outside, and are cut where they stand inside
            return
        limits.check_room()
        if limits.tokens is None or self.count.within_bytes:
            return
        room = self.count(_widest_notice(self.wording)) * 5 // 4
        if room > limits.tokens:
            raise UsageError(
                f"Limits(tokens={limits.tokens}) leaves no room for the notice, as your tokenizer counts; "
                f"use {room} or more."
            )

    @cached_property
    def count(self) -> Counter:
        """The function that counts the tokens of a text; it never raises."""
        return find_counter(self.tokenizer)

    @cached_property
    def parsed_rules(self) -> tuple[Rule, ...]:
        """The rules, each with complete settings of its own."""
        return tuple(self._parse_rule(pattern, rule) for pattern, rule in self.rules.items())

    def _parse_rule(self, pattern: str, rule: Mapping[str, Any]) -> Rule:
        check_rule(pattern, rule)
        settings = replace(self, rules={}, **read_rule(rule, self.limits))
        alone = rule.get("clip") is False
        uncut = settings.uncut() if alone and settings.redact != "off" else None
        return Rule(pattern, settings, leaves_alone=alone, uncut=uncut, sets_keep="keep" in rule)

    @property
    def outputs(self) -> ScopedStore:
        """The store, limited to the scope; all reading and writing goes through it."""
        return ScopedStore(self.store, self.scope)

    @property
    def form(self) -> Form | None:
        """The words of another system, if a profile is used."""
        return self.wording if isinstance(self.wording, Form) else None

    @property
    def trigger(self) -> Limits | None:
        """The size above which the system of a profile cuts, down to the limits; None where the limits decide both."""
        return None if self.form is None else self.form.trigger

    @property
    def notice_is_outside(self) -> bool:
        """Whether the notice comes on top of the limits, as in the systems of the profiles."""
        return self.form is not None and not self.form.inside

    @property
    def warning(self) -> str | None:
        """What a profile says about a command before it runs; see `for_call`."""
        return None if self.form is None else self.form.warning

    def but(self, **changes: Any) -> Self:
        """Return a copy with some settings changed, checked like new ones."""
        return replace(self, **changes)

    def for_call(self, tool: str, command: str = "", *, uncut: bool = False) -> Settings:
        """Return the settings for one call: of the first rule for its command, else for its tool, else these.

        A profile may adapt them to a command, except for a `keep` in a rule. `uncut`: the result of a tool that a rule
        leaves alone only has its secrets covered.
        """
        if not self.parsed_rules and (not command or self.form is None):
            return self
        rule = find_command_rule(self.parsed_rules, command) or find_rule(self.parsed_rules, tool)
        if uncut and rule is not None and rule.uncut is not None:
            return rule.uncut
        settings = self if rule is None else rule.settings
        form = settings.form
        if not command or form is None or form.for_command is None or not isinstance(settings.keep, str):
            return settings
        changes = form.for_command(command, settings.keep)
        if rule is not None and rule.sets_keep:
            changes = {**changes, "keep": settings.keep}
        return replace(settings, **changes)

    def leaves_alone(self, tool: str) -> bool:
        """Return whether a rule leaves a tool alone (`clip = false`) and its secrets are not covered either."""
        rule = find_rule(self.parsed_rules, tool)
        return rule is not None and rule.leaves_alone and rule.uncut is None

    def for_retrieval(self) -> Settings:
        """Return the settings for reading a stored output: our own words, and limits with room for a notice."""
        if self.form is None:
            return self
        return replace(
            self,
            limits=self.limits.with_room(),
            wording=WORDING,
            raw=False,
            keep="auto",
        )

    def uncut(self) -> Settings:
        """Return the settings for a result that only has its secrets covered."""
        return replace(
            self,
            limits=UNLIMITED,
            rules={},
            wording=WORDING,
            keep="auto",
            raw=True,
            since="off",
            stats=False,
        )


class Rule(Struct, frozen=True):
    """Other settings for the tools or commands whose name matches a pattern."""

    pattern: str
    settings: Settings
    leaves_alone: bool = False  # whether the tool bounds its own results
    uncut: Settings | None = None  # for the results of such a tool, where secrets are covered
    sets_keep: bool = False


def find_rule(rules: Sequence[Rule], tool: str) -> Rule | None:
    """Return the first rule whose pattern matches the name of a tool."""
    return next((rule for rule in rules if fnmatchcase(tool, rule.pattern)), None)


def find_command_rule(rules: Sequence[Rule], command: str) -> Rule | None:
    """Return the first rule that is for a command and matches this line of shell."""
    if not command:
        return None
    for rule in rules:
        if is_for_commands(rule.pattern) and matches_command(rule.pattern, command):
            return rule
    return None


def is_for_commands(pattern: str) -> bool:
    """Return whether a rule is for commands and not for tools: no tool has a space in its name."""
    return " " in pattern


def matches_command(pattern: str, command: str) -> bool:
    """Return whether a pattern matches a command in a line; `npm *` also matches `npm` alone."""
    ends = pattern.endswith(" *")
    return any(
        fnmatchcase(piece, pattern) or (ends and fnmatchcase(piece, pattern[:-2]))
        for piece in (*commands_in(command), " ".join(command.split()))
    )


def commands_in(line: str) -> list[str]:
    """Return the commands of a line of shell, roughly: the parts between `&&`, `;` and `|`, without variables."""
    for separator in ("&&", "||", "|&", "|", ";", "\n"):
        line = line.replace(separator, "\0")
    pieces = []
    for piece in line.split("\0"):
        words = piece.split()
        while words and words[0].partition("=")[0].isidentifier() and "=" in words[0]:
            words = words[1:]
        if words:
            pieces.append(" ".join(words))
    return pieces


def read_rule(rule: Mapping[str, Any], limits: Limits) -> dict[str, Any]:
    """Return a rule as changes of Settings; limits that it does not name stay those for all tools."""
    read = {key: value for key, value in rule.items() if key not in (*SMALLEST, "clip")}
    sizes = {key: value for key, value in rule.items() if key in SMALLEST}
    base = read.get("limits", limits)
    if sizes and isinstance(base, Limits):
        read["limits"] = _merge(base, sizes)
    if isinstance(read.get("cap"), str):
        read["cap"] = _read_cap(read["cap"])
    return read


def check_rule(pattern: str, rule: Mapping[str, Any]) -> None:
    """Raise a UsageError for a value that is no rule, or that has an unknown key."""
    if not isinstance(pattern, str) or not hasattr(rule, "items"):
        raise UsageError(
            f'the rule for {quote(pattern)} is not settings by name; use e.g. {{"pytest*": {{"keep": "tail"}}}}.'
        )
    for key in rule:
        if key not in RULE_KEYS:
            raise UsageError(
                f"the rule for {quote(pattern)} has {quote(key)}; a rule may set {', '.join(sorted(RULE_KEYS))}."
            )
    if "clip" in rule and is_for_commands(pattern):
        raise UsageError(f"the rule for {quote(pattern)} has 'clip'; a tool can be left alone, not a command.")


def _merge(limits: Limits, sizes: Mapping[str, Any]) -> Limits:
    """Return the limits with some of them changed; 0 and False remove one."""
    merged = {**dict(limits.given()), **{name: value or None for name, value in sizes.items()}}
    if not any(merged.values()):
        raise UsageError(f"{', '.join(SMALLEST)} are all 0; set one of them.")
    return Limits(**merged)


def _read_cap(text: str) -> int:
    try:
        return read_amount(text, SIZES)
    except ValueError:
        raise UsageError(
            f'cap={quote(text)} is not a size; use a number of bytes, or one with its unit: "2 GiB".'
        ) from None


class Call(Struct, frozen=True):
    """One call of a tool: its settings, and the facts about it. Nothing here is checked again."""

    settings: Settings
    limits: Limits  # of the settings, or lower
    trigger: Limits | None = None  # of a profile: cut only above this, then down to the limits
    ceiling: Limits | None = None  # of a budget or a host: for words that stand outside the limits too
    tool: str = DEFAULT_TOOL
    id: str | None = None
    command: str = ""
    cwd: str | None = None
    name: str = ""  # of the file that the output is read from
    query: str = ""  # the question of the caller; lines that answer it are preferred
    since: str = "auto"  # compare with this run
    preview: str = ""  # a sentence about an earlier cut of the output by another program
    budget: Budget | None = None  # limits the call, and counts its result

    @property
    def compares(self) -> bool:
        """Whether an output is compared with an earlier one; "auto" leaves it to `spill run`."""
        return self.since not in ("off", "auto") and self.settings.form is None

    @property
    def worth(self) -> float:
        """How likely a line must be to be needed; 0 fills the limits, as other systems do."""
        return self.settings.worth if self.settings.form is None else 0.0

    @property
    def reach(self) -> int:
        """The bytes of each end of an output that a selector can read."""
        return min(max(2 * self.limits.window, MIN_REACH_BYTES), MAX_REACH_BYTES)

    def with_settings(self, **changes: Any) -> Call:
        """Return the call with some of its settings changed."""
        settings = self.settings.but(**changes, rules={})
        copied = {name: changes[name] for name in ("limits", "since") if name in changes}
        return replace(self, settings=settings, **copied)

    def with_limits(self, limits: Limits) -> Call:
        """Return the call with these limits, and with a trigger that lets no more tokens through."""
        trigger = None if self.trigger is None else replace(self.trigger, tokens=limits.tokens)
        return replace(self, limits=limits, trigger=trigger)

    def lower(self, limits: Limits) -> Call:
        """Return the call with limits, trigger and ceiling lowered to those of a host or a tool."""
        trigger = self.trigger and self.trigger.lower(limits)
        return replace(self, limits=self.limits.lower(limits), trigger=trigger).below(limits)

    def below(self, ceiling: Limits) -> Call:
        """Return the call with a ceiling on everything the model gets; the caller lowers `limits` and `trigger`."""
        if not self.settings.notice_is_outside:
            return self
        return replace(self, ceiling=ceiling if self.ceiling is None else self.ceiling.lower(ceiling))

    def within_budget(self, promise: str | None = None) -> Call:
        """Return the call with limits from its budget, which sets the tokens aside under the name `promise`."""
        if self.budget is None or self.limits is UNLIMITED:
            return self
        limits = self.budget.limits(self.limits, call_id=promise)
        try:
            self.settings.check_room(limits)
        except UsageError:  # the user's own tokenizer counts more: the rest of the window has no room for a notice
            return self
        return self.with_limits(limits).below(Limits(tokens=limits.tokens))

    def spend(self, text: str, promise: str | None = None) -> None:
        """Add the text that the model gets to the budget, if there is one, and free the rest of the promise."""
        if self.budget is not None:
            self.budget.add("tool_results", text, call_id=promise)

    def release(self, promise: str) -> None:
        """Free the budget's promise to a call that adds nothing."""
        if self.budget is not None:
            self.budget.release(promise)

    def for_retrieval(self) -> Call:
        """Return the call for reading a stored output: our own words, and limits with room for a notice."""
        if self.settings.form is None:
            return self
        return replace(self, settings=self.settings.for_retrieval(), limits=self.limits.with_room(), trigger=None)

    def uncut(self) -> Call:
        """Return the call for a result that only has its secrets covered."""
        settings = self.settings.uncut()
        return replace(self, settings=settings, limits=settings.limits, trigger=None, since="off", budget=None)


def command_line(command: str | Sequence[str]) -> str:
    """Return the words of a command as a line of shell; LINE for `bash -c LINE`."""
    if isinstance(command, str):
        return command
    words = [os.fsdecode(word) for word in command]
    return words[2] if len(words) == 3 and words[1] == "-c" else shlex.join(words)


def _widest_notice(wording: Wording | Form) -> str:
    """Return the short form of a notice and a gap marker at its longest: with every number at its maximum."""
    facts = Facts(
        lines=10**9,
        bytes=10**12,
        tokens=10**12,
        shown_lines=10**8,
        shown_bytes=10**8,
        gap=None,
        storage=Storage(ref="t" * 32 + "-" + "0" * REF_DIGITS),
    )
    gap = Gap(10**8, 10**9, 1, 10**12, whole_lines=False)
    words = wording if isinstance(wording, Wording) else WORDING
    return notice(facts, (), words, tier=2) + "\n" + marker(gap, tier=2)
