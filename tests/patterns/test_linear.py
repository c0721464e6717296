"""Patterns in linear time; and what works where a library is missing."""

import os
import re
import subprocess
import sys
import venv
from importlib.util import find_spec
from pathlib import Path

import pytest

import spillover
from spillover import Clipper, MemoryStore
from spillover.patterns import LinePattern, PatternSyntaxError

BLOCKED = "import sys; sys.modules.update(dict.fromkeys({missing!r})); from spillover.cli import main; sys.exit(main())"
TEXT = "".join(f"{number:04} step {'FAILED: disk quota' if number % 700 == 699 else 'ok'}\n" for number in range(3_000))


def spill(missing, *words, given="", store):
    argv = [sys.executable, "-c", BLOCKED.format(missing=missing), *words]
    where = {**os.environ, "SPILLOVER_STORE": str(store)}
    return subprocess.run(argv, input=given, capture_output=True, text=True, check=False, env=where)


@pytest.mark.parametrize("missing", ["numpy", "hyperscan"])
def test_without_a_library_an_output_is_still_clipped_stored_and_searched(missing, tmp_path):
    cut = spill([missing], "--tokens", "300", given=TEXT, store=tmp_path)
    assert (cut.returncode, cut.stderr) == (0, "")
    assert "Output clipped" in cut.stdout
    assert cut.stdout.endswith("2999 step ok\n")
    assert "".join(path.read_text() for path in tmp_path.rglob("*.txt")) == TEXT
    words = ("-F", "step FAILED") if missing == "hyperscan" else ("^[0-9]+ step F.*quota$",)
    found = spill([missing], "grep", "last", *words, store=tmp_path)
    assert found.returncode == 0, found.stderr
    assert [line.split(":")[0] for line in found.stdout.splitlines()[1:5]] == ["700", "1400", "2100", "2800"]


@pytest.mark.parametrize(("missing", "said"), [("numpy", "both ends"), ("hyperscan", "both ends")])
def test_doctor_says_what_is_missing_and_what_that_costs(missing, said, tmp_path):
    line = next(
        line for line in spill([missing], "doctor", store=tmp_path).stdout.splitlines() if f"without {missing}" in line
    )
    assert said in line
    assert "pip install" in line


def test_doctor_has_nothing_to_say_where_all_are_installed(tmp_path):
    assert "all required ones are installed" in spill([], "doctor", store=tmp_path).stdout


PATTERNS = ["FAILED", "F[A-Z]+:", "quota$", "^0699", r"\d{4} step F", "disk|quota", "(?:step )+F", "é+", "[^ ]+ ok"]


@pytest.mark.parametrize("ignore_case", [False, True])
@pytest.mark.parametrize("text", PATTERNS)
def test_the_same_lines_are_found_as_by_re_and_begin_at_the_same_place(text, ignore_case):
    data = (TEXT + "é éé\nlast line failed: QUOTA").encode()
    ours = LinePattern(text, fixed=False, ignore_case=ignore_case)
    theirs = re.compile(text.encode(), re.MULTILINE | (re.IGNORECASE if ignore_case else re.NOFLAG))
    at = 0
    while first := theirs.search(data, at):
        assert ours.search(data, at, len(data))[0] == first.start()
        at = data.find(b"\n", first.end()) + 1 or len(data)
    assert ours.search(data, at, len(data)) is None


def test_a_fixed_text_is_no_pattern():
    pattern = LinePattern("a.b*(", fixed=True, ignore_case=False)
    assert pattern.search(b"axb a.b*( a", 0, 11) == (4, 9)


@pytest.mark.parametrize("wrong", ["(", "*a", "[z-a]", "a)(b"])
def test_a_pattern_that_is_wrong_is_refused(wrong):
    with pytest.raises(PatternSyntaxError):
        LinePattern(wrong, fixed=False, ignore_case=False)


def test_a_pattern_that_matches_nothing_at_all_is_known():
    assert LinePattern("a*", fixed=False, ignore_case=False).matches_empty
    assert not LinePattern("a", fixed=False, ignore_case=False).matches_empty


def test_a_long_line_with_a_match_at_every_place_takes_one_scan():
    clipper = Clipper(store=MemoryStore())
    ref = clipper.clip("ab" * 40_000).ref
    assert clipper.grep(ref, "a[b]+").text.startswith("1")


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """Return what makes a Python of its own that has our dependencies, all but one: a real environment, and no download."""
    root = tmp_path_factory.mktemp("bare")
    venv.create(root, symlinks=True)
    site = next(root.glob("lib/python*/site-packages"))
    (site / "ours.pth").write_text(str(Path(spillover.__file__).parent.parent))
    packages = {name: Path(find_spec(name).origin) for name in ("stringzilla", "numpy", "hyperscan", "msgspec")}

    def without(missing):
        for name, file in packages.items():
            folder = file.parent if file.name == "__init__.py" else file
            for beside in [folder, *folder.parent.glob(f"{name}.libs"), *folder.parent.glob(f"{name}[._-]*")]:
                link = site / beside.name
                link.unlink(missing_ok=True)
                if name != missing:
                    link.symlink_to(beside)
        return str(root / "bin" / "python")

    return without


@pytest.mark.parametrize("missing", ["numpy", "hyperscan"])
def test_an_environment_without_a_package_clips_searches_and_says_so(missing, bare, tmp_path):
    python = bare(missing)
    where = {"SPILLOVER_STORE": str(tmp_path), "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}

    def spill(*words, given=""):
        argv = [python, "-c", "import sys; from spillover.cli import main; sys.exit(main())", *words]
        ran = subprocess.run(argv, input=given, capture_output=True, text=True, check=False, env=where)
        assert "Traceback" not in ran.stderr
        return ran.stdout

    assert "Output clipped" in spill("--tokens", "300", given=TEXT)
    if missing == "hyperscan":
        assert spill("grep", "last", "^[0-9]+ step F.*quota$") == ""
        assert spill("grep", "last", "-F", "FAILED: disk").splitlines()[1].startswith("700:")
    else:
        assert spill("grep", "last", "^[0-9]+ step F.*quota$").splitlines()[1].startswith("700:")
    assert f"without {missing}, " in spill("doctor")


def test_a_command_with_many_options_is_looked_through(tmp_path):
    """One rule had two ways to read each option, which took a backtracking engine years."""
    command = "./configure " + "--enable-x " * 60
    ran = spill([], "run", "--", "sh", "-c", f"echo {command}; seq 30000", store=tmp_path)
    assert ran.returncode == 0
    assert "Output clipped" in ran.stdout
