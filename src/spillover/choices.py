"""All choices about how to clip, checked when they are made."""

from __future__ import annotations

from spillover.config.place import default_store
from spillover.data import dataclass, field, replace
from spillover.errors import UsageError
from spillover.intake.take import CAP
from spillover.limits import SMALLEST, Limits
from spillover.notice import PATH, WORDING, Facts, Gap, Hint, Wording, hints, marker, notice
from spillover.select import HEAD_SHARE, KEEPS
from spillover.tokens import at_most_bytes, resolve
from spillover.view.clean import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any, Self

    from spillover.form import Form
    from spillover.select.span import Selector
    from spillover.store.base import Store

DEFAULT_TOOL = "tool"
#: How much of each end of an output a cut looks at, at least and at most.
REACH = (1 << 16, 1 << 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """How to clip. To vary one, copy: `replace(choices, keep="tail")`."""

    limits: Limits = field(default_factory=Limits, kw_only=False)
    trigger: Limits | None = None  # cut only above this, then down to the limits
    keep: str | Selector = "auto"
    store: Store = field(default_factory=default_store)
    tokens: str | Callable[[str], int] = "estimate"
    hints: str | Hint | Iterable[str | Hint] = (PATH,)
    rules: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # per tool: name pattern → other choices
    tool: str = DEFAULT_TOOL
    cap: int = CAP
    wording: Wording | Form = WORDING
    notice: str = "inside"  # or "outside": what is shown holds the limits, and the words come on top (form.OUTSIDE)
    raw: bool = False  # shown as it came, not cleaned of control codes and progress frames
    _count: Callable[[str], int] = field(init=False, repr=False, compare=False)
    _ways: tuple[Hint, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _set(self, "_count", _survivable(resolve(self.tokens)))
        _set(self, "_ways", hints(self.hints))
        if not isinstance(self.wording, Wording) and not hasattr(self.wording, "cuts"):
            raise UsageError("wording is a Wording, or the Form of a profile.")
        if not isinstance(self.limits, Limits) or not isinstance(self.trigger, Limits | None):
            raise UsageError("limits and trigger are Limits, e.g. Limits(tokens=4_000).")
        if not callable(self.keep) and self.keep not in KEEPS:
            raise UsageError(f"keep={self.keep!r} is no part of an output; use {', '.join(KEEPS)} or a selector.")
        if self.notice not in ("inside", "outside"):
            raise UsageError(f'notice={self.notice!r} is no place for it; use "inside" or "outside".')
        if self.notice == "outside" and self.form is None:
            raise UsageError('notice="outside" is for the forms of profiles; our own notice stands inside the limits.')
        if self.cap < 1:
            raise UsageError(f"cap={self.cap} would store nothing; use 1 byte or more.")
        self._check_trigger()
        self._check_room()
        for pattern, rule in self.rules.items():
            _check_rule(pattern, rule)
            self._ruled(rule)

    def _check_trigger(self) -> None:
        if self.trigger is None:
            return
        for name in SMALLEST:
            low, high = getattr(self.limits, name), getattr(self.trigger, name)
            if low is not None and high is not None and high < low:
                raise UsageError(
                    f"trigger has {high:,} {name}, the limits {low:,}; the trigger must not be the smaller one."
                )

    def _check_room(self) -> None:
        """A counter of your own may find the shortest notice too long; better to hear of it now."""
        if self.form is not None:  # its words may stand outside, and be cut where they stand inside
            return
        for bounds in (self.limits, self.trigger):
            if bounds is not None:
                bounds.check_room()
        limit = self.limits.tokens
        if limit is None or self.byte_bound:
            return
        facts = Facts(
            lines=10**9,
            bytes=10**12,
            tokens=10**12,
            shown_lines=10**8,
            shown_bytes=10**8,
            gap=None,
            ref="t" * 32 + "-" + "0" * 12,
        )
        needed = self._count(
            notice(facts, (), self.wording if isinstance(self.wording, Wording) else WORDING, tier=2)
            + "\n"
            + marker(Gap(10**8, 10**9, 1, 10**12, whole_lines=False), tier=2)
        )
        if needed + needed // 4 > limit:
            raise UsageError(
                f"Limits(tokens={limit}) leaves no room for the notice by your counter; use {needed + needed // 4} or more."
            )

    @property
    def form(self) -> Form | None:
        """The words of another system, where they are not ours."""
        return None if isinstance(self.wording, Wording) else self.wording

    def seen(self, data: bytes) -> str:
        """What the model sees of these bytes."""
        return data.decode("utf-8", "replace") if self.raw else clean(data)

    def for_answers(self) -> Self:
        """The choices for going back: in our own words, inside the limits, or inside as much as those need."""
        if self.form is None:
            return self
        return replace(
            self, limits=self.limits.with_room(), trigger=None, wording=WORDING, notice="inside", raw=False, keep="auto"
        )

    @property
    def count(self) -> Callable[[str], int]:
        """Tokens of a text, as chosen."""
        return self._count

    @property
    def byte_bound(self) -> bool:
        """Whether a token has at least one byte by this counter."""
        return at_most_bytes(self._count)

    @property
    def ways(self) -> tuple[Hint, ...]:
        """What the reader has to go back with."""
        return self._ways

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
        from spillover.select import signal

        return signal.select

    @property
    def reach(self) -> int:
        return min(max(2 * self.limits.window, REACH[0]), REACH[1])

    def for_tool(self, tool: str | None) -> Self:
        """The choices for a tool of this name: the first rule whose pattern fits it, over everything else."""
        if not self.rules and tool in (None, self.tool):
            return self
        tool = tool or self.tool
        for pattern, rule in self.rules.items():
            if _matches(pattern, tool):
                return self._ruled(rule, tool=tool)
        return self if tool == self.tool else replace(self, tool=tool)

    def _ruled(self, rule: Mapping[str, Any], **more: Any) -> Self:
        return replace(self, rules={}, **{key: value for key, value in rule.items() if key != "clip"}, **more)

    def leaves_alone(self, tool: str | None) -> bool:
        """Whether a rule says that this tool bounds its results itself (`clip = false`)."""
        rule = next((rule for pattern, rule in self.rules.items() if _matches(pattern, tool or self.tool)), {})
        return rule.get("clip", True) is False


def _survivable(count: Callable[[str], int]) -> Callable[[str], int]:
    """A counter that cannot fail the tool call: where yours raises, bytes are counted, of which a token has at least one."""
    if at_most_bytes(count):
        return count

    def counted(text: str) -> int:
        try:
            return max(0, int(count(text)))
        except Exception:  # noqa: BLE001  whatever it raises
            return len(text.encode("utf-8", "surrogatepass"))

    return counted


def _set(target: object, name: str, value: object) -> None:
    object.__setattr__(target, name, value)


def _matches(pattern: str, tool: str) -> bool:
    from fnmatch import fnmatchcase  # rules are rare, and this costs a millisecond

    return fnmatchcase(tool, pattern)


RULED = frozenset({"limits", "trigger", "keep", "store", "tokens", "hints", "cap", "wording", "notice", "raw", "clip"})


def _check_rule(pattern: str, rule: Mapping[str, Any]) -> None:
    for key in rule:
        if key not in RULED:
            raise UsageError(f"the rule for {pattern!r} has {key!r}; a rule may set {', '.join(sorted(RULED))}.")
