"""Patterns in linear time; their cache, which can only cost time; and what works where a library is missing."""

import json
import os
import re
import resource
import stat
import subprocess
import sys
import venv
from importlib.util import find_spec
from pathlib import Path

import pytest

import spillover
from spillover import Clipper, MemoryStore, patterns
from spillover.kinds.log.classes import CLASSES
from spillover.patterns import LinePattern, PatternSet, PatternSyntaxError, load_cached, save_cached

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


PAYLOAD = b"what was saved" * 500


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "spillover"


def test_what_is_saved_is_loaded_and_is_private(folder):
    assert load_cached("a") is None
    save_cached("a", PAYLOAD)
    assert load_cached("a") == PAYLOAD
    assert os.listdir(folder) == ["a"]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "a").stat().st_mode) == 0o600


def replaced(change):
    def damage(path):
        data = path.read_bytes()
        path.write_bytes(change(data))

    return damage


def linked(path):
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def piped(path):
    path.unlink()
    os.mkfifo(path, 0o600)


DAMAGE = {
    "empty": replaced(lambda _: b""),
    "cut off": replaced(lambda data: data[:-1]),
    "cut off in the digest": replaced(lambda data: data[:30]),
    "one bit differs": replaced(lambda data: data[:900] + bytes([data[900] ^ 1]) + data[901:]),
    "of another version": replaced(lambda data: data.replace(b"cache 1", b"cache 9", 1)),
    "more behind it": replaced(lambda data: data + b"x"),
    "a link": linked,
    "a pipe": piped,
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "written by a group": lambda path: path.chmod(0o620),
    "written by anybody": lambda path: path.chmod(0o602),
    "in a folder that others can write": lambda path: path.parent.chmod(0o777),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_what_cannot_be_trusted_is_ignored(folder, damage):
    save_cached("a", PAYLOAD)
    DAMAGE[damage](folder / "a")
    assert load_cached("a") is None


def test_a_file_under_another_name_is_ignored(folder):
    save_cached("a", PAYLOAD)
    (folder / "a").rename(folder / "b")
    assert load_cached("b") is None


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to somebody else")
@pytest.mark.parametrize("whose", ["file", "folder"])
def test_what_belongs_to_somebody_else_is_ignored(folder, whose):
    save_cached("a", PAYLOAD)
    os.chown(folder / "a" if whose == "file" else folder, 1234, 1234)
    assert load_cached("a") is None
    if whose == "folder":
        save_cached("b", PAYLOAD)
        assert not (folder / "b").exists()


def test_a_huge_file_is_not_read(folder):
    save_cached("a", PAYLOAD)
    os.truncate(folder / "a", patterns.MAX_CACHE_BYTES + 1)
    assert load_cached("a") is None


def test_a_folder_that_cannot_be_made_is_ignored(tmp_path, monkeypatch):
    (tmp_path / "a file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a file"))
    save_cached("a", PAYLOAD)
    assert load_cached("a") is None


def test_a_write_that_fails_leaves_nothing(folder):
    save_cached("old", PAYLOAD)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, before[1]))  # a file that is too large fails as on a full disk
    save_cached("a", PAYLOAD)
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert os.listdir(folder) == ["old"]


def test_what_a_killed_process_left_is_removed_by_a_later_one(folder):
    save_cached("a", PAYLOAD)
    for name, age in ((".part-1-x", 2 * patterns.STALE_SECONDS), (".part-2-x", 0)):
        (folder / name).write_bytes(b"half")
        os.utime(folder / name, (now := (folder / "a").stat().st_mtime - age, now))
    save_cached("b", PAYLOAD)
    assert sorted(os.listdir(folder)) == [".part-2-x", "a", "b"]


def matches(engine):
    found = []
    engine.scan(b"an error: here\nok\nTraceback (most recent call last)\n", lambda *match: found.append(match[:3]))
    return sorted(found)


def engine():
    return PatternSet([each.pattern.encode() for each in CLASSES.values()])


def test_a_table_from_the_cache_finds_what_a_compiled_one_finds(folder, monkeypatch):
    first = matches(engine())
    assert len(os.listdir(folder)) == 1

    def compiled(_):
        raise AssertionError("it is compiled once")

    monkeypatch.setattr(PatternSet, "_compile", compiled)
    assert matches(engine()) == first != []


def test_what_the_engine_refuses_is_compiled_again_and_replaced(folder):
    first = matches(engine())
    (name,) = os.listdir(folder)
    good = load_cached(name)
    for hostile in (b"", b"x" * 5_000, good[:-5_000], good[:40] + bytes(200) + good[240:]):
        save_cached(name, hostile)  # with a digest that is right
        assert matches(engine()) == first
        assert load_cached(name) == good


def test_other_patterns_have_another_file(folder):
    matches(engine())
    matches(PatternSet([b"error"]))
    matches(PatternSet([b"error"], caseless=[True]))
    matches(PatternSet([b"error"], once=True))
    assert len(os.listdir(folder)) == 4


CROWD = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
import test_patterns as t
expected = sorted([(0, 0, 8), (1, 0, 17)])
opens, waits = os.pipe()
children = []
for number in range(200):
    child = os.fork()
    if child == 0:
        os.close(waits)
        os.read(opens, 1)  # until all are there
        os._exit(0 if t.matches(t.PatternSet([b"error", b"k$"])) == expected else 1)
    children.append(child)
os.close(opens)
os.close(waits)
for child in children[::2]:
    os.kill(child, signal.SIGKILL)
print(sorted({os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children}))
"""


def test_two_hundred_processes_at_once_all_find_the_same_though_half_are_killed(folder):
    words = [sys.executable, "-c", CROWD, str(Path(__file__).parent)]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert json.loads(said) == [-9, 0]
    made = [name for name in os.listdir(folder) if not name.startswith(patterns.PART_PREFIX)]
    assert len(made) == 1
    assert load_cached(made[0]) is not None
    assert matches(PatternSet([b"error", b"k$"])) == [(0, 0, 8), (1, 0, 17)]


def test_clips_are_the_same_whatever_is_in_the_cache(folder, tmp_path):
    """By way of the command line: nothing, whole files, half of one, and a folder that others can write to."""
    given = b"".join(b"%d step %s\n" % (n, b"error: no such file" if n == 1_400 else b"ok") for n in range(2_000))
    spill = [sys.executable, "-c", "import sys; from spillover.cli import main; sys.exit(main())", "--tokens", "300"]

    def clip():
        env = {**os.environ, "SPILLOVER_STORE": str(tmp_path / "store")}
        return subprocess.run(spill, input=given, capture_output=True, check=True, env=env).stdout

    first = clip()
    assert b"error: no such file" in first
    names = sorted(os.listdir(folder))
    assert [name.partition("-")[0] for name in names] == ["patterns"]
    for name in names:
        whole = (folder / name).read_bytes()
        for other in (whole, whole[: len(whole) // 2]):
            (folder / name).write_bytes(other)
            assert clip() == first
            assert (folder / name).read_bytes() == whole
    folder.chmod(0o777)
    assert clip() == first
