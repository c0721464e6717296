"""All choices about how to clip, checked when they are made."""

from __future__ import annotations

import os
from functools import cached_property

from msgspec import Struct, field
from msgspec.structs import force_setattr, replace

from spillover.base import Public
from spillover.errors import UsageError
from spillover.notice.clipped import Facts, Gap, notice
from spillover.notice.hints import PATH, Hint, hints
from spillover.notice.marker import marker
from spillover.notice.wording import WORDING, Wording
from spillover.rules import check_rule, find_command_rule, find_rule, is_for_commands, read_rule
from spillover.select import HEAD_SHARE, KEEPS
from spillover.settings.limits import DEFAULT_WORTH, SMALLEST, Limits
from spillover.settings.place import default_store, open_store
from spillover.source.intake import MAX_STORED_BYTES
from spillover.store.record import REF_DIGITS
from spillover.tokens import Counter, find_counter
from spillover.view.clean import keep_line_ends, look
from spillover.view.forged import Guard, may_hold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Literal, Protocol, Self, TypedDict, overload

    from spillover.notice.form import Form
    from spillover.select.wanted import Wanted
    from spillover.source.blob import Blob
    from spillover.store import Store
    from spillover.store.scopes import ScopedStore
    from spillover.types import HintName, Keep, NoticePlace, Redact, Selector

    class StoreLike:
        """For the checker: a store, a path or a URL goes in, and a store comes out."""

        @overload
        def __get__(self, choices: None, owner: type) -> Self: ...
        @overload
        def __get__(self, choices: object, owner: type) -> Store: ...
        def __get__(self, choices: object, owner: type) -> Store | Self: ...
        def __set__(self, choices: object, value: Store | str | os.PathLike[str]) -> None: ...

    class Given(TypedDict, total=False):
        """The choices of a Clipper as keywords, for `clip` and `aclip`."""

        trigger: Limits | None
        keep: Keep | Selector
        store: Store | str | os.PathLike[str]
        tokenizer: str | Callable[[str], int]
        hints: HintName | Hint | Iterable[HintName | Hint]
        rules: Mapping[str, Mapping[str, Any]]
        tool: str
        cap: int
        wording: Wording | Form
        notice: NoticePlace
        scope: str | None
        raw: bool
        redact: Redact
        query: str
        worth: float
        since: str
        budget: Pool | None
        stats: bool | None

    class Pool(Protocol):
        """A budget, as far as a clip needs one."""

        def limits(self, base: Limits | None = None, *, call_id: str | None = None) -> Limits:
            """Return what a call may have."""

        def add(self, component: Literal["tool_results"], what: str | int, *, call_id: str | None = None) -> int:
            """Count a result as used."""


DEFAULT_TOOL = "tool"
#: Where secrets are covered: nowhere, in what a model reads, or in what is stored as well.
REDACT = ("off", "shown", "stored")
_DEFAULT_STORE: Any = default_store  # Any, so that a checker lets the descriptor have it
#: How much of each end of an output a cut looks at, at least and at most.
REACH = (1 << 16, 1 << 20)
#: More than there is: nothing is cut.
UNLIMITED = Limits(bytes=1 << 62)


class _Limited(Struct, metaclass=Public, frozen=True, dict=True):
    """The only choice that may be given without its name."""

    limits: Limits = field(default_factory=Limits)


class Choices(_Limited, frozen=True, kw_only=True):
    """How to clip. To vary one, copy: `replace(choices, keep="tail")`."""

    trigger: Limits | None = None  # cut only above this, then down to the limits
    keep: Keep | Selector = "auto"
    store: StoreLike = field(default_factory=_DEFAULT_STORE)  # a store, the path of a folder, or a URL
    tokenizer: str | Callable[[str], int] = "estimate"
    hints: HintName | Hint | Iterable[HintName | Hint] = (PATH,)
    rules: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # per tool: name pattern → other choices
    tool: str = DEFAULT_TOOL
    cap: int = MAX_STORED_BYTES
    wording: Wording | Form = WORDING
    notice: NoticePlace = "inside"  # "outside": the notice comes on top of the limits; for profiles
    scope: str | None = None  # the scope of the outputs, "tenant/project/session"; None: the current project
    raw: bool = False  # show control codes and progress frames as they are
    redact: Redact = "off"  # "shown": secrets are covered in what a model reads; "stored": in what is stored, too
    query: str = ""  # what the caller wants to know; lines that answer it are preferred
    worth: float = DEFAULT_WORTH  # stop when the rest is less likely than this to be needed; 0 fills the limits
    since: str = "auto"  # compare with this run: "last", "good" (exit code 0), a ref, "off"; "auto": see `spill run`
    budget: Pool | None = None  # a Budget that limits every call, and counts its result
    preview: str = ""  # who had cut the output before it came, in words: "Cline had already cut it"
    stats: bool | None = None  # what the journal gets: True all, False nothing, None what is cut or fetched back

    def __post_init__(self) -> None:
        self.count, self.ways  # noqa: B018  raise a UsageError if the tokenizer or a hint is not valid
        force_setattr(self, "store", open_store(self.store))
        if not isinstance(self.wording, Wording) and not hasattr(self.wording, "cuts"):
            raise UsageError("wording must be a Wording, or the Form of a profile.")
        if not isinstance(self.limits, Limits) or not isinstance(self.trigger, Limits | None):
            raise UsageError("limits and trigger must be Limits, e.g. Limits(tokens=4_000).")
        if not callable(self.keep) and self.keep not in KEEPS:
            raise UsageError(f"keep={self.keep!r} is not valid; use {', '.join(KEEPS)} or a selector.")
        if self.form is not None:
            self.form.check(self.keep)
        if self.notice not in ("inside", "outside"):
            raise UsageError(f'notice={self.notice!r} is not valid; use "inside" or "outside".')
        if self.notice == "outside" and self.form is None:
            raise UsageError('notice="outside" is for the forms of profiles; our own notice stands inside the limits.')
        if self.redact not in REDACT:
            raise UsageError(f"redact={self.redact!r} is not valid; use {', '.join(REDACT)}.")
        if self.scope is not None:
            from spillover.store.record import check_scope  # most leave it to the project

            check_scope(self.scope)
        if isinstance(self.cap, bool) or not isinstance(self.cap, int):
            raise UsageError(f"cap={self.cap!r} is not a number of bytes, e.g. cap=500_000_000.")
        if not isinstance(self.query, str):
            raise UsageError("query must be text: what you want to know about the output.")
        if not isinstance(self.since, str) or not self.since:
            raise UsageError(f'since={self.since!r} is not valid; use "last", "good", "off" or the ref of an output.')
        if isinstance(self.worth, bool) or not isinstance(self.worth, (int, float)) or not 0 <= self.worth <= 1:
            raise UsageError(f"worth={self.worth!r} is not valid; use a number from 0 (fill the limits) to 1.")
        if self.stats is not None and not isinstance(self.stats, bool):
            raise UsageError(
                f"stats={self.stats!r} is not valid; use True, False, or None for what is cut and fetched back."
            )
        if not isinstance(self.raw, bool):
            raise UsageError(f"raw={self.raw!r:.80} is not valid; use True or False.")
        if not isinstance(self.tool, str):
            raise UsageError(f"tool={self.tool!r:.80} is not the name of a tool.")
        if self.budget is not None and not (hasattr(self.budget, "limits") and hasattr(self.budget, "add")):
            raise UsageError(f"budget={self.budget!r:.80} is not a Budget; use e.g. Budget(200_000).")
        if self.cap < 1:
            raise UsageError(f"cap={self.cap} would store nothing; use 1 byte or more.")
        if not hasattr(self.rules, "items"):
            raise UsageError('rules must map names of tools to choices, e.g. {"pytest*": {"keep": "tail"}}.')
        self._check_trigger()
        self._check_room()
        for pattern, rule in self.rules.items():
            check_rule(pattern, rule)
            self._apply_rule(rule)

    def _check_trigger(self) -> None:
        if self.trigger is None:
            return
        for name in SMALLEST:
            low, high = getattr(self.limits, name), getattr(self.trigger, name)
            if low is not None and high is not None and high < low:
                raise UsageError(f"trigger has {high:,} {name}, the limits {low:,}; the trigger must not be smaller.")

    def _check_room(self) -> None:
        """Raise a UsageError where the shortest notice does not fit, by a counter of your own too."""
        if self.form is not None:  # its words may stand outside, and be cut where they stand inside
            return
        for bounds in (self.limits, self.trigger):
            if bounds is not None:
                bounds.check_room()
        limit = self.limits.tokens
        if limit is None or self.count.within_bytes:
            return
        facts = Facts(
            lines=10**9,
            bytes=10**12,
            tokens=10**12,
            shown_lines=10**8,
            shown_bytes=10**8,
            gap=None,
            ref="t" * 32 + "-" + "0" * REF_DIGITS,
        )
        needed = self.count(
            notice(facts, (), self.wording if isinstance(self.wording, Wording) else WORDING, tier=2)
            + "\n"
            + marker(Gap(10**8, 10**9, 1, 10**12, whole_lines=False), tier=2)
        )
        if needed + needed // 4 > limit:
            raise UsageError(
                f"Limits(tokens={limit}) leaves no room for the notice, as your tokenizer counts; use {needed + needed // 4} or more."
            )

    def wanted(self, command: str = "", name: str = "") -> Wanted:
        """Return what selectors know about an output besides its bytes."""
        from spillover.select.wanted import Wanted  # nothing of it is wanted before something overflows

        known = name or command or self.tool
        worth = self.worth if self.form is None else 0.0  # another system fills its limits
        return Wanted(name=known, tool=self.tool, command=command, query=self.query, worth=worth)

    @property
    def outputs(self) -> ScopedStore:
        """The store, limited to the scope; all reading and writing goes through it."""
        from spillover.store.scopes import ScopedStore  # nothing of it is wanted before something overflows

        return ScopedStore(self.store, self.scope)

    @property
    def form(self) -> Form | None:
        """The words of another system, if a profile is used."""
        return None if isinstance(self.wording, Wording) else self.wording

    def seen(self, data: bytes) -> str:
        """Return what the model sees of these bytes."""
        return self.look(data)[0]

    def look(self, data: bytes) -> tuple[str, int]:
        """Return what the model sees of these bytes, and how many overwritten frames are left out."""
        if self.redact != "off":
            data = self.cover(data)
        text, frames = (data.decode("utf-8", "replace"), 0) if self.raw else look(data)
        guard = self.guard()
        text = text if guard is None else guard(text)
        text = self.cover_text(text)  # what was written over may have come between its parts
        # A model that writes a file back writes the line ends that it was shown.
        return (text if self.raw else keep_line_ends(text, data)), frames

    def cover(self, data: bytes) -> bytes:
        """Return the bytes with secrets covered; the length does not change."""
        from spillover.secrets.outputs import cover  # wanted only by those who choose it

        return cover(data)[0]

    def cover_text(self, text: str) -> str:
        """Return a text with secrets covered; the length does not change."""
        if self.redact == "off":
            return text
        return self.cover(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def without_secrets(self, blob: Blob) -> Blob:
        """Return the bytes of an output as a model may see them."""
        if self.redact == "off":
            return blob
        from spillover.secrets.outputs import CoveredBlob

        return CoveredBlob(blob)

    def suspects(self, text: str) -> bool:
        """Return whether a text may hold a line that reads like a notice."""
        return may_hold(text) if self.wording is WORDING else not self.raw and self.form is None

    def guard(self) -> Guard | None:
        """Return the function that marks tool text imitating our notices; None for profiles and raw output."""
        if self.raw or not isinstance(self.wording, Wording):
            return None
        return Guard(self._notices, () if self.wording is WORDING else self.wording.openings)

    def _notices(self, ref: str) -> Sequence[str]:
        """Return the notices we gave for what is stored under this ref."""
        try:
            record = self.outputs.get_any_scope(ref)
        except Exception:  # noqa: BLE001  a store that cannot say makes no notice ours, and fails no tool call
            return ()
        return () if record is None else record.notices

    def for_answers(self) -> Self:
        """Return the choices for reading a stored output: our own wording, and limits that are large enough for it."""
        if self.form is None:
            return self
        return replace(
            self, limits=self.limits.with_room(), trigger=None, wording=WORDING, notice="inside", raw=False, keep="auto"
        )

    def with_limits(self, limits: Limits) -> Self:
        """Return the choices with these limits, and without a trigger that would let more tokens through."""
        trigger = replace(self.trigger, tokens=limits.tokens) if self.trigger else None
        return replace(self, limits=limits, trigger=trigger)

    def within_budget(self, call_id: str | None = None) -> Self:
        """Return the choices for one call; a budget may lower its limits."""
        if self.budget is None:
            return self
        try:
            return self.with_limits(self.budget.limits(self.limits, call_id=call_id))
        except UsageError:  # by a counter of your own, what is left has no room for a notice
            return self

    def spend(self, text: str, call_id: str | None = None) -> None:
        """Add what the model gets to the budget, if there is one."""
        if self.budget is not None:
            self.budget.add("tool_results", text, call_id=call_id)

    @cached_property
    def count(self) -> Counter:
        """The function that counts the tokens of a text."""
        return find_counter(self.tokenizer)

    @cached_property
    def ways(self) -> tuple[Hint, ...]:
        """The hints: how the reader can read the rest."""
        return hints(self.hints)

    @property
    def selector(self) -> Selector:
        """What `keep` stands for; `auto` is one of several, see `select.auto`."""
        if callable(self.keep):
            return self.keep
        if self.form is not None and self.keep in self.form.cuts:
            return self.form.cuts[self.keep](self.limits)
        if self.keep in HEAD_SHARE:
            from spillover.select.ends import keeping

            return keeping(HEAD_SHARE[self.keep])
        from spillover.select.log import signal

        return lambda document, fill: signal.select(document, fill, self.wanted())

    @property
    def reach(self) -> int:
        return min(max(2 * self.limits.window, REACH[0]), REACH[1])

    def for_tool(self, tool: str | None) -> Self:
        """Return the choices for a tool: the first rule whose pattern matches its name overrides everything else."""
        if not self.rules and tool in (None, self.tool):
            return self
        tool = tool or self.tool
        rule = find_rule(self.rules, tool)
        if rule is not None:
            return self._apply_rule(rule, tool=tool)
        return self if tool == self.tool else replace(self, tool=tool)

    def asking(self, query: str | None) -> Self:
        """Return the choices for a call with its own query; without one, the same choices."""
        return self if not query or query == self.query else replace(self, query=query)

    @property
    def compares(self) -> bool:
        """Whether an output is compared with an earlier one. "auto" leaves it to `spill run`, which knows how a command ended."""
        return self.since not in ("off", "auto") and self.form is None

    def telling_since(self, since: str | None) -> Self:
        """Return the choices for a call that is compared with an earlier run; None changes nothing."""
        return self if since is None or since == self.since else replace(self, since=since)

    def for_command(self, command: str | Sequence[str] | None) -> Self:
        """Return the choices for a command, given as a shell line or as words; a rule or a profile may have others for it.

        A rule for a command (`npm *`) is stronger than one for the tool that runs it.
        """
        form, ruled = self.form, any(map(is_for_commands, self.rules))
        knows = form is not None and form.for_command is not None and isinstance(self.keep, str)
        if not command or not (knows or ruled):
            return self
        line = command
        if not isinstance(command, str):
            import shlex  # only for those who want to know

            words = [os.fsdecode(word) for word in command]
            command = shlex.join(words)
            line = words[2] if len(words) == 3 and words[1] == "-c" else command
        made = self
        if ruled and (rule := find_command_rule(self.rules, str(line))) is not None:
            made = self._apply_rule(rule)
        if knows:
            assert form is not None
            assert form.for_command is not None
            made = replace(made, **form.for_command(command, self.keep))  # type: ignore[arg-type]  # a word, as seen above
        return made

    @property
    def warning(self) -> str | None:
        """What a profile says about a command before it runs; see `for_command`."""
        return None if self.form is None else self.form.warning

    def _apply_rule(self, rule: Mapping[str, Any], **more: Any) -> Self:
        ruled = replace(self, rules={}, **read_rule(rule, self.limits, self.trigger), **more)
        return ruled.uncut() if rule.get("clip") is False and ruled.redact != "off" else ruled

    def leaves_alone(self, tool: str | None) -> bool:
        """Return whether a rule says that this tool bounds its results itself (`clip = false`), and no secrets are covered in them."""
        rule = find_rule(self.rules, tool or self.tool) or {}
        return rule.get("clip", True) is False and self.for_tool(tool).redact == "off"

    def uncut(self) -> Self:
        """Return the choices for a result that only has its secrets covered: a program reads it, or a rule leaves it alone."""
        return replace(
            self, limits=UNLIMITED, trigger=None, wording=WORDING, notice="inside", keep="auto", raw=True, since="off", budget=None, stats=False
        )  # fmt: skip
