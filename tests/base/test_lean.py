"""numpy with its core alone: every name is the one numpy exports, and whatever we do not know loads all of it."""

import subprocess
import sys

import pytest

LEAN = "import sys\nfrom spillover.base import lean\nlean.load()\nimport numpy as np\n"


def asked(program: str) -> list[str]:
    """Return the words that a process of its own prints."""
    ran = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", LEAN + program], capture_output=True, text=True, check=True
    )
    return ran.stdout.split()


def test_the_core_and_what_we_use_beside_it_load_nothing_else():
    assert asked(
        """
assert np.diff(np.flatnonzero([1, 0, 1, 1]), prepend=-1, append=9).tolist() == [1, 2, 1, 6]
assert np.interp([1.5], [1, 2], [3, 4]).tolist() == [3.5]
assert np.isin([1, 2], [2]).tolist() == [False, True]
print(*({"numpy.linalg", "numpy.ma", "inspect", "ast", "pickle", "ctypes", "datetime"} & set(sys.modules)), type(np).__name__)
"""
    ) == ["_Unfinished"]


def test_every_name_is_the_one_that_numpy_exports():
    assert asked(
        """
np.isin
homes = [sys.modules[name] for name in (lean.CORE, *lean.HOMES)]
given = {name: getattr(np, name) for home in homes for name in home.__all__} | {name: getattr(np, name) for name in lean.ELSEWHERE}
assert type(np).__name__ == "_Unfinished"
np.linalg
assert type(np) is type(sys)
print(len(given) > 300, *(name for name, value in given.items() if getattr(np, name) is not value))
"""
    ) == ["True"]


@pytest.mark.parametrize(
    "use",
    [
        "assert np.linalg.norm([3, 4]) == 5",
        "assert np.ma.is_masked(np.ma.array([1], mask=[True]))",
        "from numpy import __version__; assert __version__[0].isdigit()",
        "import numpy.random; assert 0 <= numpy.random.default_rng(1).random() < 1",
        "import numpy.lib.stride_tricks as s; assert s.sliding_window_view(np.arange(3), 2).shape == (2, 2)",
        "assert type(np.matrix([1, 2])).__name__ == 'matrix' and isinstance(np.matrix([1]), np.matrix)",
        "assert np.lib.NumpyVersion('2.0.0') > '1.0.0'",
        "import pickle; assert pickle.loads(pickle.dumps(np.arange(3))).tolist() == [0, 1, 2]",
        "import inspect; assert list(inspect.signature(lambda a: a).parameters) == ['a']",
        "assert np.zeros(3).ctypes.shape[0] == 3",
        "import datetime; assert np.datetime64('2026-01-02').item() == datetime.date(2026, 1, 2)",
        "from datetime import datetime as d; assert np.array([d(2026, 1, 2)], 'M8[D]').astype(str).tolist() == ['2026-01-02']",
        "assert np.dtype('i4,f8').names == ('f0', 'f1')",
        "from numpy import *; assert tile([1], 2).tolist() == [1, 1]",
        "assert not hasattr(np, 'no_such_name')",
        "del sys.modules[lean.CORE].test; assert np.zeros(2).tolist() == [0, 0]",
    ],
)
def test_whatever_else_is_used_is_there(use):
    assert asked(f"{use}\nprint('held')") == ["held"]


@pytest.mark.parametrize(
    "change", ["GLOBALS = 'nowhere'", "CORE = 'numpy._nowhere'", "HOMES = ('numpy.lib._nowhere',)"]
)
def test_a_numpy_that_is_laid_out_otherwise_is_loaded_as_usual(change):
    program = f"import sys\nfrom spillover.base import lean\nlean.{change}\nlean.load()\nimport numpy as np\n"
    program += "assert np.diff([1, 3]).tolist() == [2] and np.linalg and type(np) is type(sys)"
    subprocess.run([sys.executable, "-W", "error::UserWarning", "-c", program], check=True)


def test_a_numpy_that_cannot_be_loaded_says_why():
    program = (
        "import sys\nfrom spillover.base import lean\nsys.modules['numpy._core._multiarray_umath'] = None\nlean.load()"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "Importing the numpy C-extensions failed" in ran.stderr


def test_threads_that_ask_at_once_get_the_same():
    assert asked(
        """
from threading import Barrier, Thread
names = ["diff", "linalg", "median", "flatnonzero", "matrix", "unique", "ma", "pad"] * 4
got, start = {}, Barrier(len(names))
def ask(number):
    start.wait()
    got[number] = getattr(np, names[number])
threads = [Thread(target=ask, args=(number,)) for number in range(len(names))]
[each.start() for each in threads], [each.join() for each in threads]
print(len(got) == len(names), all(got[n] is getattr(np, names[n]) for n in got if names[n] != "matrix"))
"""
    ) == ["True", "True"]


def test_importlib_is_left_to_whoever_imports_it():
    """Two threads that import it first, one of them a part of it, leave Python with one that cannot import anything."""
    program = "import sys\nsys.modules['importlib'] = None\n" + LEAN
    program += "late = lean._Later('colorsys')\nsys.modules['colorsys'] = late\n"
    program += "assert late.rgb_to_hsv(0, 0, 0) == (0, 0, 0) and np.diff([1, 3]).tolist() == [2]\n"
    program += "import colorsys; assert colorsys is not late and type(np).__name__ == '_Unfinished'"
    subprocess.run([sys.executable, "-c", program], check=True)


HYPERSCAN = "import sys\nfrom spillover.base import lean\n"


def test_hyperscan_is_loaded_without_typing_and_finds_what_it_finds():
    program = """
lean.load_hyperscan()
assert "typing" not in sys.modules
import hyperscan
database = hyperscan.Database()
database.compile(expressions=[b"b+"], ids=[0], flags=[hyperscan.HS_FLAG_SOM_LEFTMOST])
found = []
database.scan(b"abc", match_event_handler=lambda *match: found.append(match[1:3]))
import typing
assert typing.NamedTuple.__module__ == "typing" and hyperscan.typing.Any is typing.Any
print(found)
"""
    ran = subprocess.run([sys.executable, "-c", HYPERSCAN + program], capture_output=True, text=True, check=True)
    assert ran.stdout == "[(1, 2)]\n"


def test_a_hyperscan_that_wants_more_of_typing_is_left_to_whoever_imports_it(tmp_path):
    package = tmp_path / "hyperscan"
    package.mkdir()
    (package / "__init__.py").write_text(
        "import typing\nclass A(typing.NamedTuple):\n    a: int = 1\nassert A(2).a == 2\n"
    )
    program = f"""
sys.path.insert(0, {str(tmp_path)!r})
lean.load_hyperscan()
assert "hyperscan" not in sys.modules
import hyperscan
print(hyperscan.A())
"""
    ran = subprocess.run([sys.executable, "-c", HYPERSCAN + program], capture_output=True, text=True, check=True)
    assert ran.stdout == "A(a=1)\n"
