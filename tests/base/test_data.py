"""Our dataclasses behave as the standard library's do, and its own functions work on them."""

import copy
import dataclasses
import pickle
import subprocess
import sys

import pytest

from spillover import Limits, MemoryStore, Size
from spillover.base.data import FEW, dataclass, field, replace
from spillover.clipper import Clipper


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int = 2
    tags: list[str] = field(default_factory=list, compare=False)

    def __post_init__(self):
        if self.x < 0:
            raise ValueError("x")


@dataclass(frozen=True, slots=True, kw_only=True)
class Named(Point):
    name: str = "?"
    length: int = field(init=False, repr=False, compare=False)

    def __post_init__(self):
        object.__setattr__(self, "length", len(self.name))


@dataclass(frozen=True, slots=True, order=True)
class Pair:
    first: int
    second: int


@dataclasses.dataclass(frozen=True, slots=True)
class Standard:
    x: int
    y: int = 2
    tags: list[str] = dataclasses.field(default_factory=list, compare=False)


def test_places_names_and_defaults_work_as_they_do_there():
    for kind in (Point, Standard):
        assert (kind(1).x, kind(1).y, kind(1).tags) == (1, 2, [])
        assert kind(1, 5) == kind(y=5, x=1)
        assert kind(1, tags=["a"]) == kind(1, tags=["b"])
        assert hash(kind(1)) == hash(kind(1, 2))
        assert repr(kind(1)) == f"{kind.__name__}(x=1, y=2, tags=[])"
        assert kind(1) != (1, 2)


@pytest.mark.parametrize(("args", "kwargs"), [((), {}), ((1, 2, [], 4), {}), ((1,), {"z": 1}), ((1,), {"x": 1})])
def test_wrong_arguments_are_a_type_error(args, kwargs):
    for kind in (Point, Standard):
        with pytest.raises(TypeError):
            kind(*args, **kwargs)


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((1,), {}),
        ((1, 5), {"tags": ["a"]}),
        ((), {"y": 3, "x": 1}),
        ((), {}),
        ((1, 2, [], 4), {}),
        ((1,), {"x": 1}),
        ((-1,), {}),
    ],
)
@pytest.mark.parametrize("kw_only", [False, True])
def test_the_first_objects_are_made_as_all_others_are(args, kwargs, kw_only):
    @dataclass(frozen=True, slots=True, kw_only=kw_only)
    class New(Point):
        name: str = "?"
        length: int = field(init=False)

        def __post_init__(self):
            Point.__post_init__(self)
            object.__setattr__(self, "length", len(self.name))

    at_first = New.__init__

    def attempt():
        try:
            made = New(*args, **kwargs)
        except (TypeError, ValueError) as error:
            return type(error), str(error)
        return made.x, made.y, made.tags, made.name, made.length

    first, *others = [attempt() for _ in range(FEW + 2)]
    assert New.__init__ is not at_first
    assert all(other == first for other in others)


def test_every_object_gets_a_default_of_its_own():
    assert Point(1).tags is not Point(1).tags


def test_nothing_can_be_set_or_deleted_or_added():
    point = Point(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.x = 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        del point.x
    assert not hasattr(point, "__dict__")


def test_a_class_below_has_the_fields_of_the_one_above():
    named = Named(1, 3, name="abc")
    assert (named.x, named.y, named.name, named.length) == (1, 3, "abc", 3)
    assert [each.name for each in dataclasses.fields(named)] == ["x", "y", "tags", "name", "length"]


def test_what_is_checked_when_it_is_made_is_checked_when_it_is_copied():
    with pytest.raises(ValueError, match="x"):
        Point(-1)
    with pytest.raises(ValueError, match="x"):
        replace(Point(1), x=-1)
    assert replace(Named(1), name="abcd").length == 4


def test_pairs_are_put_in_order():
    assert sorted([Pair(2, 1), Pair(1, 9), Pair(1, 2)]) == [Pair(1, 2), Pair(1, 9), Pair(2, 1)]


@pytest.mark.parametrize("value", [Size(1, 2, 3, 4), Limits(tokens=500), Pair(1, 2)])
def test_copies_and_pickles_are_equal(value):
    assert copy.copy(value) == copy.deepcopy(value) == pickle.loads(pickle.dumps(value)) == value


def test_the_functions_of_the_standard_library_work_on_ours():
    clipper = Clipper(Limits(tokens=500), store=MemoryStore())
    assert dataclasses.is_dataclass(Clipper)
    assert dataclasses.replace(clipper, keep="tail").keep == "tail"
    assert dataclasses.replace(clipper, keep="auto") == clipper
    assert dataclasses.asdict(Size(1, 2, 3, 4)) == {"lines": 1, "bytes": 2, "chars": 3, "tokens": 4}


def test_a_dataclass_of_yours_can_stand_below_one_of_ours():
    @dataclasses.dataclass(frozen=True)
    class Mine(Size):
        words: int = 0

    assert Mine(1, 2, words=3).words == 3


def test_defining_them_does_not_load_dataclasses():
    code = (
        "import sys; import spillover.limits, spillover.notice, spillover.choices; print('dataclasses' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_a_subclass_keeps_a_constructor_of_its_own():
    class Thousands(Limits):
        def __init__(self, tokens):
            super().__init__(tokens=tokens * 1_000)

    assert {Thousands(4).tokens for _ in range(FEW + 3)} == {4_000}
    assert Limits(tokens=5).tokens == 5
