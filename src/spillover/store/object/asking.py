"""Waiting for an answer no longer than one may: what still runs then runs in a daemon thread, and ends with the process."""

from __future__ import annotations

import time

from spillover.errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    Given = TypeVar("Given")

#: What looks that may be left out may take of the deadline, in so many seconds.
LOOKS_SHARE, LOOKS_SECONDS = 0.2, 60.0


class Asked:
    """Work that is under way in a thread of its own, which ends with the process."""

    __slots__ = ("_done", "_failed", "_thread")

    def __init__(self, work: Callable[[], Any]) -> None:
        from threading import Thread  # wanted only once something has overflowed

        self._done: list[Any] = []
        self._failed: list[BaseException] = []

        def run() -> None:
            try:
                self._done.append(work())
            except BaseException as error:  # noqa: BLE001  raised again below
                self._failed.append(error)

        self._thread = Thread(target=run, name="spillover-request", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # no more threads here, or the interpreter is ending
            run()

    def result(self, seconds: float, what: str) -> Any:
        """Return what the work returns; StoreError when it takes longer."""
        if self._thread.ident is not None:
            self._thread.join(seconds)
        if self._failed:
            raise self._failed[0]
        if not self._done:
            raise StoreError(no_answer(what, seconds))
        return self._done[0]


def within(seconds: float, what: str, work: Callable[[], Given]) -> Given:
    """Return what the work returns; StoreError when it takes longer."""
    done: Given = Asked(work).result(seconds, what)
    return done


class Patience:
    """How long looks that may be left out take together: a part of the deadline in every while, and nothing once it is used up."""

    __slots__ = ("_left", "_since", "_whole")

    def __init__(self, deadline: float) -> None:
        self._whole, self._left, self._since = deadline * LOOKS_SHARE, 0.0, float("-inf")

    def ask(self, what: str, work: Callable[[], Given]) -> Given | None:
        """Return what the work returns; None where it fails, or where there is no time for it."""
        begun = time.monotonic()
        if begun - self._since > LOOKS_SECONDS:
            self._left, self._since = self._whole, begun
        if self._left <= 0:
            return None
        try:
            return within(self._left, what, work)
        except StoreError:
            self._left = 0.0
            return None
        finally:
            self._left -= time.monotonic() - begun


def no_answer(what: str, seconds: float) -> str:
    return f"{what} gave no answer for {seconds:g} seconds"
