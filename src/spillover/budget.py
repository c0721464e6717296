"""Budget: the tokens of one context window, shared by many calls."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any, Literal, Self

from msgspec.structs import replace

from spillover.errors import ConfigError, UsageError, quote
from spillover.settings.limits import SMALLEST, Limits
from spillover.tokens import find_counter

_log = logging.getLogger(__name__)

Component = Literal["system", "user", "assistant", "tool_results"]
Level = Literal["ok", "warning", "alert"]

#: The environment variable with the size of the window in tokens.
CONTEXT_VARIABLE = "SPILLOVER_CONTEXT_TOKENS"
#: The size of the window where nobody sets it.
WINDOW_TOKENS = 128_000
COMPONENTS: tuple[Component, ...] = ("system", "user", "assistant", "tool_results")
LEVELS: tuple[Level, ...] = ("ok", "warning", "alert")
#: Shares of the window from which `level` is "warning" and "alert"; higher shares report later.
WARNING_SHARE = 0.75
ALERT_SHARE = 0.85

#: The limit of a call whose limits name no tokens; a higher one fills the window with fewer calls.
TOOL_TOKENS = 25_000
#: Above this share of the window a call gets less than its limit; with a higher share, later.
TIGHT_SHARE = 0.8
#: The part of its limit that such a call gets: 15,000 of 25,000 tokens. A higher part fills the window sooner.
LOWERED_SHARE = 0.6
#: Below this share of the window a call gets `stretch` times its limit; with a higher share, for longer.
ROOMY_SHARE = 0.5
#: No window has more tokens; larger numbers are refused as mistakes.
MAX_TOKENS = 10**12
#: A larger `stretch` is refused as a mistake.
MAX_STRETCH = 100
#: Begins the ids that stand for calls without one.
UNNAMED = "\0"
#: Calls whose limit is remembered. Beyond these the oldest is forgotten, and may get another limit; more take memory.
MAX_DECISIONS = 4_096


class Budget:
    """The context tokens that several calls share. Safe under threads and in async code.

        budget = Budget(200_000, tokenizer="model:claude-sonnet-4")
        budget.add("system", prompt)
        clipper = Clipper(Limits(tokens=4_000), budget=budget)    # every call gets a limit by how full the window is

    By hand, for calls that no Clipper makes:

        limits = budget.limits(Limits(tokens=4_000), call_id=call.id)
        budget.add("tool_results", text, call_id=call.id)         # its size; the rest of the promise is free again

    A limit that you set is a ceiling: a call gets all of it or less, never more. What is promised to a call is set
    aside until the call adds its result, so two calls at the same time are not promised the same tokens. The same call
    gets the same limit again, however full the window is by then: its text stays as it is, and a prompt cache holds.
    `Budget.from_env()` lets SPILLOVER_CONTEXT_TOKENS decide on the window. `stretch` is for a profile whose system
    gives more than its limit while the window is less than half full (`profiles.vtcode.budget()`: 1.4 times).
    """

    def __init__(
        self,
        window: int = WINDOW_TOKENS,
        *,
        tokenizer: str | Callable[[str], int] = "estimate",
        warning: float = WARNING_SHARE,
        alert: float = ALERT_SHARE,
        smallest: int = SMALLEST["tokens"],
        stretch: float = 1,
        on_level: Callable[[Level], None] | None = None,
    ) -> None:
        if not (_is_number(warning) and _is_number(alert) and 0 < warning <= alert):
            raise UsageError(
                f"warning={warning} and alert={alert} must be shares of the window, the smaller one first; "
                "use e.g. 0.75 and 0.85."
            )
        if not (_is_number(stretch) and 1 <= stretch <= MAX_STRETCH):
            raise UsageError(f"stretch={quote(stretch)} is not a factor of 1 to {MAX_STRETCH}.")
        if on_level is not None and not callable(on_level):
            raise UsageError("on_level must be a function that gets the new level, e.g. on_level=print.")
        self.stretch = stretch
        self.smallest = max(_check_count("smallest", smallest), SMALLEST["tokens"])
        self._counter = find_counter(tokenizer)
        self._shares = (warning, alert)
        self._on_level = on_level
        self._lock = threading.Lock()  # held for arithmetic only: never while counting or reporting
        self._window = self._check_window(window)
        self._used: dict[str, int] = dict.fromkeys(COMPONENTS, 0)
        self._decided: dict[str, int] = {}
        self._promised: dict[str, int] = {}
        self._level = 0

    @classmethod
    def from_env(
        cls, window: int = WINDOW_TOKENS, *, variables: Sequence[str] = (CONTEXT_VARIABLE,), **options: Any
    ) -> Self:
        """Return a Budget with the window that the first of these environment variables names, if one is set."""
        return cls(_find_window(variables) or window, **options)

    @property
    def window(self) -> int:
        """The size of the window in tokens; `resize` changes it."""
        return self._window

    @property
    def components(self) -> dict[str, int]:
        """The tokens used, by component: system, user, assistant, tool_results."""
        with self._lock:
            return dict(self._used)

    @property
    def used(self) -> int:
        """The tokens used by all components."""
        return sum(self.components.values())

    @property
    def promised(self) -> int:
        """The tokens set aside for calls that have not added their result yet."""
        with self._lock:
            return sum(self._promised.values())

    @property
    def left(self) -> int:
        """The tokens neither used nor promised; 0 when the window is full."""
        with self._lock:
            return max(0, self._window - self._committed_tokens())

    @property
    def usage(self) -> float:
        """The share of the window that is used; above 1 if more was added than it holds."""
        with self._lock:
            return sum(self._used.values()) / self._window

    @property
    def level(self) -> Level:
        """How full it is: "ok", "warning" from 75 % of the window, "alert" from 85 %."""
        return LEVELS[self._level]

    def count(self, text: str) -> int:
        """Count the tokens of a text."""
        if not isinstance(text, str):
            raise UsageError(f"count() takes a str, not {type(text).__name__}.")
        return self._counter(text)

    def add(self, component: Component, what: str | int, *, call_id: str | None = None) -> int:
        """Count a text, or a number of tokens, as used. With the id of a call, its promise ends."""
        return self._change(component, self._count_tokens(component, what), call_id=call_id)

    def deduct(self, component: Component, what: str | int) -> int:
        """Subtract a text, or a number of tokens, e.g. after a compaction; return how many there were to subtract."""
        return -self._change(component, -self._count_tokens(component, what))

    def limits(
        self, base: Limits | None = None, *, call_id: str | None = None, max_tokens: int | None = None
    ) -> Limits:
        """Return the limits for a call: `base`, or three fifths of its tokens above 80 % of the window.

        The tokens are at most those of `base`, the rest of the window and `max_tokens`, but at least `smallest`: a
        call on a full window still has room for a notice. With a `call_id` the tokens are set aside until
        the call adds its result, and the same call gets the same limit again. Without one nothing is remembered.
        """
        if not isinstance(base, Limits | None) or not isinstance(call_id, str | None):
            raise UsageError(f"limits() takes Limits and the id of a call, not {quote(base)} and {quote(call_id)}.")
        base = Limits(tokens=TOOL_TOKENS) if base is None else base
        at_most = MAX_TOKENS if max_tokens is None else _check_count("max_tokens", max_tokens)
        with self._lock:
            decision = None if call_id is None else self._decided.get(call_id)
            normal = base.tokens or TOOL_TOKENS
            tokens = self._decide(normal, at_most) if decision is None else min(decision, round(normal * self.stretch))
            if call_id is not None and decision is None:
                self._decided[call_id] = tokens
                self._promised[call_id] = tokens
                if len(self._decided) > MAX_DECISIONS:
                    oldest = next(iter(self._decided))
                    del self._decided[oldest]
                    self._promised.pop(oldest, None)
        return replace(base, tokens=tokens)

    def release(self, call_id: str) -> None:
        """Free what was promised to a call that will add nothing, e.g. after a failure."""
        with self._lock:
            self._forget_promise(call_id)

    def resize(self, window: int) -> None:
        """Change the window. Usage and level follow; what was decided for a call stays."""
        with self._lock:
            self._window = self._check_window(window)
            new_levels = self._update_level()
        self._report(new_levels)

    def reset(self) -> None:
        """Start a new conversation in the same window: nothing used, nothing promised, no call remembered."""
        with self._lock:
            self._used = dict.fromkeys(COMPONENTS, 0)
            self._decided = {}
            self._promised = {}
            self._update_level()

    def _check_window(self, window: int) -> int:
        if _check_count("window", window) < self.smallest:
            raise UsageError(f"A window of {window} tokens has no room for one call; use {self.smallest} or more.")
        return window

    def _count_tokens(self, component: str, amount: str | int) -> int:
        if component not in COMPONENTS:
            raise UsageError(f"{quote(component)} is not a component of a context; use one of {', '.join(COMPONENTS)}.")
        return self.count(amount) if isinstance(amount, str) else _check_count("tokens", amount)

    def _change(self, component: str, by: int, call_id: str | None = None) -> int:
        with self._lock:
            by = max(by, -self._used[component])
            self._used[component] += by
            if call_id is not None:
                self._forget_promise(call_id)
            new_levels = self._update_level()
        self._report(new_levels)
        return by

    def _forget_promise(self, call_id: str) -> None:
        """Forget what a call was promised; of a call without an id of its own, which is made once, its limit too."""
        self._promised.pop(call_id, None)
        if call_id.startswith(UNNAMED):
            self._decided.pop(call_id, None)

    def _committed_tokens(self) -> int:
        return sum(self._used.values()) + sum(self._promised.values())

    def _decide(self, normal: int, at_most: int) -> int:
        committed = self._committed_tokens()
        share: float = 1
        if committed > TIGHT_SHARE * self._window:
            share = LOWERED_SHARE
        elif committed < ROOMY_SHARE * self._window:
            share = self.stretch
        tokens = max(self.smallest, min(round(normal * share), self._window - committed, at_most))
        return min(round(normal * self.stretch), tokens)

    def _update_level(self) -> tuple[Level, ...]:
        """Update the level and return the levels that usage has risen to since the last update."""
        before = self._level
        tokens = sum(self._used.values())
        self._level = sum(tokens >= share * self._window for share in self._shares)
        return LEVELS[before + 1 : self._level + 1]

    def _report(self, new_levels: tuple[Level, ...]) -> None:
        if self._on_level:
            for level in new_levels:
                try:
                    self._on_level(level)
                except Exception as error:  # noqa: BLE001  a user's callback may raise anything
                    _log.warning("The on_level of a Budget failed: %s: %s", type(error).__name__, error)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _check_count(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_TOKENS:
        raise UsageError(f"{name}={quote(value)} is not a whole number of 0 to {MAX_TOKENS:,}.")
    return value


def _find_window(variables: Sequence[str]) -> int | None:
    """Return the context window from the first of these environment variables that is set."""
    name = next((name for name in variables if os.environ.get(name, "").strip()), None)
    if name is None:
        return None
    text = os.environ[name].strip()
    try:
        tokens = int(text)
    except ValueError:
        tokens = 0
    if tokens < 1:
        raise ConfigError(f"{name}={text[:80]!r} is not a number of tokens; use one such as 128000.")
    return tokens
