"""What `spillover` exports: complete, importable, documented, and free until it is used."""

import ast
import importlib.metadata
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import spillover
import spillover.errors
import spillover.testing
import spillover.types

PACKAGE = Path(spillover.__file__).parent


def names_for_the_checker():
    """name → module, from the imports below `if TYPE_CHECKING`."""
    block = next(node for node in ast.parse((PACKAGE / "__init__.py").read_text()).body if isinstance(node, ast.If))
    assert all(alias.name == alias.asname for node in block.body for alias in node.names), "`as` makes it public"
    return {alias.asname: node.module for node in block.body for alias in node.names}


@pytest.mark.parametrize("name", spillover.__all__)
def test_every_public_name_can_be_had(name):
    assert getattr(spillover, name) is not None
    assert name in dir(spillover)


def test_a_star_import_gives_all_of_them():
    names = {}
    exec("from spillover import *", names)
    assert set(spillover.__all__) <= set(names)


def test_the_checker_and_the_interpreter_know_the_same_names_from_the_same_places():
    assert names_for_the_checker() == spillover._MODULE
    assert spillover.__all__ == sorted({*spillover._MODULE, "__version__"})


def test_every_error_we_raise_on_purpose_can_be_caught_by_its_public_name():
    raised = {name for name, value in vars(spillover.errors).items() if inspect.isclass(value)}
    assert raised <= set(spillover.__all__)


@pytest.mark.parametrize("name", sorted(set(spillover.__all__) - {"__version__"}))
def test_every_public_name_says_what_it_is(name):
    said = inspect.getdoc(getattr(spillover, name))
    if spillover._MODULE[name] == "spillover.types":  # an alias has a comment instead
        lines = inspect.getsource(spillover.types).splitlines()
        at = next(number for number, line in enumerate(lines) if line.startswith(f"{name} = "))
        said = lines[at - 1].removeprefix("#: ")
    assert not said.startswith(f"{name}("), "this is what dataclasses write by themselves"
    assert said.split("\n")[0].endswith(".")


@pytest.mark.parametrize("name", spillover.testing.__all__)
def test_every_name_for_tests_can_be_had(name):
    assert getattr(spillover.testing, name) is not None


def test_a_name_that_is_not_there_is_said_so():
    with pytest.raises(AttributeError, match="no attribute 'clop'"):
        spillover.clop  # noqa: B018  asking is the test


def test_importing_does_no_work():
    code = "import sys, spillover; print(*sorted(name for name in sys.modules if name.startswith('spillover')))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert loaded == ["spillover"]


def test_checkers_of_those_who_use_it_see_the_types():
    assert (PACKAGE / "py.typed").read_bytes() == b""


def test_the_version_is_the_one_that_is_installed():
    assert spillover.__version__ == importlib.metadata.version("spillover")


CLASSES_AND_FUNCTIONS = [
    name
    for name in spillover.__all__
    if spillover._MODULE.get(name, "spillover.types") != "spillover.types"
    and not getattr(getattr(spillover, name), "_is_protocol", False)  # nobody makes one
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
    assert str(signature).startswith("(limits: 'Limits' = <factory>, *, trigger: 'Limits | None' = None, keep: ")
    bound = signature.bind(spillover.Limits(tokens=500), keep="tail")
    assert spillover.Clipper(*bound.args, **bound.kwargs).keep == "tail"


@pytest.mark.parametrize("name", [name for name in dir(spillover.Clipper) if not name.startswith("_")])
def test_every_method_of_a_clipper_names_its_arguments(name):
    value = getattr(spillover.Clipper, name)
    if callable(value):
        assert "kwargs" not in inspect.signature(value).parameters
