"""What `spillover` exports: complete, importable, documented, and free until it is used."""

import importlib.metadata
import inspect
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import spillover
import spillover.errors
import spillover.testing
import spillover.types
from spillover.settings.settings import Options, Settings

PACKAGE = Path(spillover.__file__).parent


@pytest.mark.parametrize("name", spillover.__all__)
def test_every_public_name_can_be_had(name):
    assert getattr(spillover, name) is not None
    assert name in dir(spillover)


def test_a_star_import_gives_all_of_them():
    names = {}
    exec("from spillover import *", names)
    assert set(spillover.__all__) <= set(names)


@pytest.mark.parametrize("name", sorted(set(spillover.__all__) - {"__version__"}))
def test_every_public_name_says_what_it_is(name):
    said = inspect.getdoc(getattr(spillover, name))
    assert not said.startswith(f"{name}("), "this is what dataclasses write by themselves"
    assert said.split("\n")[0].endswith(".")


@pytest.mark.parametrize("name", spillover.testing.__all__)
def test_every_name_for_tests_can_be_had(name):
    assert getattr(spillover.testing, name) is not None


def test_a_name_that_is_not_there_is_said_so():
    with pytest.raises(AttributeError, match="no attribute 'clop'"):
        spillover.clop  # noqa: B018  asking is the test


ALIASES = [name for name in spillover.types.__all__ if typing.get_origin(getattr(spillover.types, name)) is not None]


@pytest.mark.parametrize("name", ALIASES)
def test_every_name_for_annotations_says_what_it_is(name):
    lines = inspect.getsource(spillover.types).splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith(f"{name} = "))
    assert lines[at - 1].startswith("#: ")


def test_importing_loads_nothing_that_only_an_overflow_needs():
    code = "import sys, spillover; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "asyncio", "hyperscan", "tree_sitter", "obstore", "tomllib"} & {*loaded}


def test_checkers_of_those_who_use_it_see_the_types():
    assert (PACKAGE / "py.typed").read_bytes() == b""


def test_the_version_is_the_one_that_is_installed():
    assert spillover.__version__ == importlib.metadata.version("spillover")


CLASSES_AND_FUNCTIONS = [
    name
    for name in spillover.__all__
    if name != "__version__"
    and not (inspect.isclass(getattr(spillover, name)) and issubclass(getattr(spillover, name), Exception))
]


@pytest.mark.parametrize("name", CLASSES_AND_FUNCTIONS)
def test_the_signature_of_a_public_name_names_its_arguments_and_does_not_fail(name):
    """`inspect.signature(Clipper)` failed, or was `(*args, **kwargs)`, because its annotations name what only checkers import."""
    value = getattr(spillover, name)
    parameters = inspect.signature(value).parameters.values()
    assert not {"args", "kwargs"} & {one.name for one in parameters}
    assert all(one.annotation is not one.empty for one in parameters)
    fields = {field for field in getattr(value, "__struct_fields__", ()) if not field.startswith("_")}
    assert fields <= {one.name for one in parameters}


def test_the_signature_of_a_clipper_can_be_called_with_what_it_says():
    signature = inspect.signature(spillover.Clipper)
    assert [*signature.parameters] == ["limits", "budget", "settings", "options"]
    assert {*Options.__annotations__} == {*Settings.__struct_fields__} - {"limits"}
    bound = signature.bind(spillover.Limits(tokens=500), keep="tail")
    assert spillover.Clipper(*bound.args, **bound.kwargs).settings.keep == "tail"


@pytest.mark.parametrize("name", [name for name in dir(spillover.Clipper) if not name.startswith("_")])
def test_every_method_of_a_clipper_names_its_arguments(name):
    value = getattr(spillover.Clipper, name)
    if callable(value):
        assert "kwargs" not in inspect.signature(value).parameters
