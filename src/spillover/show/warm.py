"""What choosing lines takes, loaded in a thread while the output is still coming in: the child runs, and we would only wait."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

#: What begins like this is markup or a diff, and needs none of it.
OTHERS = (b"<", b"diff ", b"commit ", b"Index: ")
#: A log in which several things failed. To clip it once prepares all that is made when it is first used.
SMALL = "".join(
    f"2026-01-01T00:00:{number % 60:02} INFO step {number} of the build, src/part{number % 7}.c\n"
    if number % 40
    else f"src/part{number}.c:{number}: error: 'x{number}' undeclared, expected 1\n"
    for number in range(120)
)
#: What is loaded once it has been chosen what to show.
BEHIND = (
    *("unicodedata", "heapq", "spillover.select.prose", "spillover.show.cut", "spillover.view.lookalike"),
    *(
        "spillover.store.quota",
        "spillover.store.joining",
        "spillover.store.runs",
        "spillover.telemetry",
        "spillover.ledger.note",
    ),
)


def warm_up(beginning: bytes, command: str, finished: Callable[[], bool]) -> None:
    """Begin to load it, unless the output looks like something else. Whatever goes wrong is said by whoever needs it."""
    if beginning.lstrip().startswith(OTHERS):
        return
    import threading

    try:
        threading.Thread(target=_load, args=(command, finished), name="spillover-warm-up", daemon=True).start()
    except RuntimeError:  # no more threads here: it is loaded when it is needed
        return


def _load(command: str, finished: Callable[[], bool]) -> None:
    import contextlib

    with contextlib.suppress(Exception):
        from spillover.select.arrays import load

        load()
        from spillover.select.classes import ENGINE

        ENGINE.prepare()
        if not finished():  # there is time for more
            from importlib import import_module

            from spillover.choices import Choices
            from spillover.intake.blob import Held
            from spillover.intake.meter import Meter
            from spillover.limits import Limits
            from spillover.select.told import kind_told
            from spillover.select.wanted import Wanted
            from spillover.show.fit import fit
            from spillover.show.render import Kept
            from spillover.store.memory import MemoryStore
            from spillover.view.document import Document, Section

            data, meter = SMALL.encode(), Meter()
            meter.feed(data)
            document = Document(Held(data), meter.index, meter.lines, meter.newlines, (Section(0, len(data)),), 1 << 18)
            fit(document, Choices(Limits(tokens=300), store=MemoryStore()), Kept(ref="log-000000000000"), 0)
            kind_told(Wanted(command=command))  # a line of shell may take a parser
            for name in BEHIND:
                import_module(name)
