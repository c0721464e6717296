"""What a host prints of an exception that a tool raised: all of the traceback fits, whatever hangs on the exception."""

import traceback
from dataclasses import dataclass

import pytest

from spillover import Clipper, Limits, MemoryStore
from spillover.errors import ToolOutputError

BIG = "".join(f"line {number}\n" for number in range(60_000))
LIMITS = Limits(bytes=2_000)
#: What the frames of a traceback may take beside the words.
FRAMES = 6_000


def noted(error, *notes):
    for note in notes:
        error.add_note(note)
    return error


def caused(error, cause):
    error.__cause__ = cause
    return error


def within(error, context):
    error.__context__ = context
    return error


def chain(length):
    error = ValueError("the first")
    for number in range(length):
        error = caused(KeyError(f"{number} {BIG[:2_000]}"), error)
    return error


def in_itself():
    error = ValueError("a")
    error.__context__ = within(KeyError(BIG), error)
    return error


def noted_as(notes):
    error = ValueError("x")
    error.__notes__ = notes
    return error


ERRORS = {
    "notes in a tuple": lambda: noted_as(("note", BIG)),
    "notes that are no list": lambda: noted_as(BIG.encode()),
    "notes that are a text": lambda: noted_as(BIG),
    "notes that are a number": lambda: noted_as(10**3_000),
    "a note": lambda: noted(ValueError("x"), BIG),
    "many notes": lambda: noted(ValueError("x"), *["note"] * 50_000),
    "a cause": lambda: caused(ValueError("x"), KeyError(BIG)),
    "a context": lambda: within(ValueError("x"), OSError(2, BIG)),
    "a note on a cause": lambda: caused(ValueError("x"), noted(KeyError("y"), BIG)),
    "a long chain": lambda: chain(500),
    "a chain that ends in itself": in_itself,
    "a group": lambda: ExceptionGroup("x", [ValueError(BIG), KeyError("k")]),
    "a group in a group": lambda: ExceptionGroup("x", [ExceptionGroup("y", [noted(ValueError(BIG), BIG)])]),
    "a wide group": lambda: ExceptionGroup("x", [ValueError(BIG[:1_000])] * 500),
    "its own words, and a note": lambda: noted(ValueError(BIG), BIG),
    "a line of source": lambda: SyntaxError("x", ("f.py", 1, 1, BIG.replace("\n", " "))),
}


class SpokenError(Exception):
    """Its words cannot be set."""

    def __str__(self):
        return BIG


class HalfSpokenError(Exception):
    """Its words fit; those of many do not."""

    def __str__(self):
        return BIG[:1_000]


class FixedError(Exception):
    """Nothing about it can be set."""

    def __setattr__(self, name, value):
        raise RuntimeError(name)


@dataclass(frozen=True)
class FrozenError(Exception):
    words: str


class NotedError(Exception):
    __notes__ = property(lambda _: [BIG])


#: What cannot be reworded, so that another exception takes its place.
SPOKEN = {
    "a frozen dataclass": lambda: FrozenError(BIG),
    "one whose attributes cannot be set": lambda: FixedError(BIG),
    "a cause whose attributes cannot be set": lambda: caused(ValueError("x"), FixedError(BIG)),
    "notes that cannot be set": NotedError,
    "words of its own": SpokenError,
    "words of its own, and a note": lambda: noted(SpokenError(), BIG),
    "words of its own, and a cause": lambda: caused(SpokenError(), SpokenError()),
    "a group of one with words of its own": lambda: ExceptionGroup("x", [SpokenError(), ValueError("y")]),
    "such a group in a group": lambda: ExceptionGroup("x", [ExceptionGroup("y", [noted(SpokenError(), BIG)])]),
    "a group of many": lambda: ExceptionGroup("x", [HalfSpokenError() for _ in range(9)]),
    "a group with a long name": lambda: ExceptionGroup(BIG, [SpokenError()]),
}


@pytest.mark.parametrize("what", SPOKEN)
def test_what_a_traceback_prints_of_an_exception_that_cannot_be_reworded_fits(what):
    """It was the cause of the one that fits, so that a traceback printed it whole; a member of a group was printed, too."""
    store = MemoryStore()
    error = raised(SPOKEN[what], store)
    assert len("".join(traceback.format_exception(error)).encode()) <= LIMITS.bytes + FRAMES
    assert isinstance(error, ToolOutputError)
    assert type(error.original) is type(SPOKEN[what]())
    assert "raise make()" in "".join(traceback.format_exception(error)), "where it was raised"
    assert len([*store.list()]) >= 1, "what is cut is kept"


def test_one_that_takes_the_place_of_another_keeps_its_notes_and_its_cause():
    cause = KeyError("k")
    error = raised(lambda: noted(caused(SpokenError(), cause), "a note"), MemoryStore())
    assert isinstance(error.__cause__, KeyError) or "KeyError" in "".join(error.__notes__)
    assert "a note" in "".join(error.__notes__)


def raised(make, store):
    def tool():
        raise make()

    with pytest.raises(Exception, match=r".*") as caught:
        Clipper(LIMITS, store=store).wrap(tool)()
    return caught.value


@pytest.mark.parametrize("what", ERRORS)
def test_all_that_a_traceback_prints_of_an_exception_fits(what):
    """`wrap` bounded `str()` of an exception, and 6 MB of notes, causes and groups went to the model with the traceback."""
    store = MemoryStore()
    error = raised(ERRORS[what], store)
    words = traceback.format_exception_only(error)
    assert len("".join(words).encode()) <= LIMITS.bytes + 100
    assert len("".join(traceback.format_exception(error)).encode()) <= LIMITS.bytes + FRAMES
    assert type(error) is type(ERRORS[what]()), "its class is what callers catch"
    assert len([*store.list()]) >= 1, "what is cut is kept"


def test_an_exception_whose_traceback_fits_keeps_its_notes_and_its_cause():
    cause = KeyError("k")
    error = raised(lambda: noted(caused(ValueError("x"), cause), "a note"), MemoryStore())
    assert (str(error), error.__cause__, error.__notes__) == ("x", cause, ["a note"])


def fail():
    raise RuntimeError(BIG)


class Failing:
    __repr__ = __str__ = lambda self: fail()


class FailingTwice:
    """Its error cannot say what it is, either."""

    def __repr__(self):
        raise SilentError


class SilentError(RuntimeError):
    def __str__(self):
        raise ValueError("no")


class Described:
    """It has fields, which fit, and fails where a host asks for its text."""

    def __init__(self):
        self.a = 1

    def __str__(self):
        return fail()


@pytest.mark.parametrize(
    "result", [Failing(), FailingTwice(), Described(), [Failing()], {"a": FailingTwice()}, {Failing()}]
)
def test_a_result_that_cannot_say_what_it_is_raises_nothing_and_fits(result):
    """`wrap` raised where the `__repr__` of a result did, and passed a result on whose `__str__` raises 600 KB."""
    given = Clipper(LIMITS, store=MemoryStore()).wrap(lambda: result)()
    assert given is result if is_short(result) else isinstance(given, str)
    assert not isinstance(given, str) or len(given.encode()) <= LIMITS.bytes


def is_short(result):
    """Return whether the error that a host would meet has no words to bound."""
    return isinstance(result, FailingTwice) or (isinstance(result, dict) and isinstance(result["a"], FailingTwice))
