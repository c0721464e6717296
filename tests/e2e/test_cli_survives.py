"""`spill run` wraps a command: whatever is wrong around it, the command runs, and its output and exit code come through."""

import os
import subprocess
import sys

import pytest

SCRIPT = "seq 5000; echo problem >&2; exit 7"
TAIL = b"4999\n5000\n"


@pytest.fixture
def ran(spill, tmp_path, store, monkeypatch):
    """Run a script under `spill run`, in a folder where a test may put a configuration."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)

    def run(*options, script=SCRIPT, env=None, lines="20", without=(), **more):
        limits = ["--lines", lines] if lines else []
        given = {name: value for name, value in {**os.environ, **(env or {})}.items() if name not in without}
        more = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
        return subprocess.run(
            [spill, "run", *limits, *options, "--", "sh", "-c", script], env=given, check=False, **more
        )

    return run


def file_in_the_way(folder):
    (folder / "in the way").write_text("a file")
    return folder / "in the way"


#: Paths that cannot be a store; some are created in an empty folder.
STORES = {
    "in a place that is none": lambda folder: "/proc/nope/x",
    "a file": file_in_the_way,
    "below a file": lambda folder: file_in_the_way(folder) / "x",
    "a device": lambda folder: "/dev/null",
    "a name that is too long": lambda folder: folder / ("x" * 300),
    "a path that is too long": lambda folder: folder / ("x/" * 3_000),
}


@pytest.mark.parametrize("where", STORES)
@pytest.mark.parametrize("how", ["option", "environment", "file"])
def test_a_path_that_cannot_be_a_store_is_reported_and_only_storing_is_lost(ran, tmp_path, where, how):
    root = str(STORES[where](tmp_path))
    env, options = {}, []
    if how == "option":
        options = ["--store", root]
    elif how == "environment":
        env = {"SPILLOVER_STORE": root}
    else:
        (tmp_path / "mine.toml").write_text(f"store = {root!r}\n")
        env = {"SPILLOVER_CONFIG": str(tmp_path / "mine.toml")}
    done = ran(*options, env=env, without=["SPILLOVER_STORE"] if how == "file" else [])
    assert done.returncode == 7, done.stderr
    assert b"Full output not kept: " in done.stdout
    assert TAIL in done.stdout
    assert len(done.stdout.splitlines()) <= 20
    assert done.stderr == b""


#: Invalid configurations, in a file or in the environment, and what the message must contain.
CONFIGURATIONS = {
    "an unknown key": ("tokns = 5\n", {}, b"tokens"),
    "a value of another kind": ("lines = 'many'\n", {}, b"lines"),
    "no TOML": ("not toml at all", {}, b"not TOML"),
    "a rule for this tool": ("[tools.sh]\nkeep = 'sideways'\n", {}, b"sideways"),
    "a rule for another tool": ("[tools.pytest]\ntokens = 3\n", {}, b"tokens"),
    "an unknown variable": ("", {"SPILLOVER_TOKNS": "5"}, b"SPILLOVER_TOKENS"),
    "a wrong variable": ("", {"SPILLOVER_TOKENS": "many"}, b"SPILLOVER_TOKENS"),
    "a file that is not there": ("", {"SPILLOVER_CONFIG": "/no/such/file.toml"}, b"/no/such/file.toml"),
    "a folder for a file": ("", {"SPILLOVER_CONFIG": "/"}, b"/"),
}


@pytest.mark.parametrize("what", CONFIGURATIONS)
def test_an_invalid_configuration_is_reported_and_the_command_runs_without_it(ran, tmp_path, store, what):
    toml, env, why = CONFIGURATIONS[what]
    (tmp_path / "mine.toml").write_text(toml)
    done = ran(env={"SPILLOVER_CONFIG": str(tmp_path / "mine.toml"), **env})
    assert (done.returncode, TAIL in done.stdout) == (7, True)
    assert done.stderr.startswith(b"spill: ")
    assert why in done.stderr
    assert len(list(store.list())) == 1, "the store that was named is used"


def test_a_wrong_option_beside_a_wrong_configuration_is_still_wrong_use(ran):
    done = ran("--keep", "sideways", env={"SPILLOVER_TOKENS": "many"}, script="echo ran")
    assert (done.returncode, done.stdout) == (2, b"")


def test_without_a_home_it_runs(ran):
    done = ran(
        without=["HOME", "SPILLOVER_STORE"],
        env={"XDG_STATE_HOME": "relative, and so ignored"},
        lines="",
        script="exit 7",
    )
    assert (done.returncode, done.stdout, done.stderr) == (7, b"", b"")


def test_in_a_folder_that_is_gone_it_runs(ran, tmp_path, spill):
    gone = tmp_path / "gone"
    gone.mkdir()
    # By its Python: where that is in a folder with a space, pip writes a script for `sh`, which complains itself.
    script = f'cd "{gone}" && rmdir "{gone}" && exec "{sys.executable}" "{spill}" run --lines 20 -- sh -c "{SCRIPT}"'
    done = subprocess.run(["sh", "-c", script], capture_output=True, check=False)
    assert (done.returncode, TAIL in done.stdout, done.stderr) == (7, True, b"")


def test_in_a_folder_that_is_gone_going_back_said_no_such_file_and_not_which(tmp_path, spill):
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f'cd "{gone}" && rmdir "{gone}" && exec "{sys.executable}" "{spill}" list'
    done = subprocess.run(["sh", "-c", script], capture_output=True, check=False)
    expected = b"spill: the working folder was removed; change to another one.\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", expected)


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&-", ">&- 2>&-", "<&- 2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("script", ["echo out; echo err >&2; exit 7", SCRIPT], ids=["small", "large"])
def test_with_closed_streams_the_others_work_and_the_exit_code_is_the_commands(spill, store, closed, script):
    """A closed descriptor's number goes to the next file that is opened, which must not be the store or a pipe."""
    line = f'"{spill}" run --lines 20 -- sh -c "{script}" {closed}'
    done = subprocess.run(["sh", "-c", line], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert done.returncode == 7
    small = script != SCRIPT
    if ">&-" not in closed.replace("2>&-", "") and "<&- >&-" not in closed:
        assert (b"out\n" if small else TAIL) in done.stdout
    else:
        assert done.stdout == b""
    assert done.stderr == (b"err\n" if small and "2>&-" not in closed else b"")
    assert len(list(store.list())) == (0 if small else 1)


@pytest.mark.parametrize("closed", ["", "<&-"])
def test_stdin_is_closed_for_a_command_only_if_it_was_for_us(spill, store, closed):
    code = "import os; os.fstat(0); print(os.read(0, 9))"
    line = f"""echo given | "{spill}" run -- "{sys.executable}" -c "{code}" {closed}"""
    done = subprocess.run(["sh", "-c", line], capture_output=True, check=False)
    assert (done.stdout == b"b'given\\n'\n") is (not closed)
    assert (b"Bad file descriptor" in done.stderr) is bool(closed)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
@pytest.mark.parametrize("script", ["echo out; echo err >&2; exit 7", SCRIPT], ids=["small", "large"])
@pytest.mark.parametrize("which", ["stdout", "stderr", "stdout stderr"])
def test_on_a_full_disk_the_other_stream_works_and_the_exit_code_is_the_commands(ran, store, which, script):
    with open("/dev/full", "wb") as full:
        done = ran(script=script, **dict.fromkeys(which.split(), full))
    assert done.returncode == 7
    if which == "stdout":
        assert b"could not be written: No space left on device" in done.stderr
        assert (b"err\n" in done.stderr) is (script != SCRIPT)
    elif which == "stderr":
        assert (b"out\n" if script != SCRIPT else TAIL) in done.stdout


def test_with_hardly_any_memory_the_output_is_stored_and_the_exit_code_is_the_commands(ran, store):
    """A limit of 150 MB (`ulimit -v`) ended `spill run` inside numpy: exit code 1, and no output."""
    import resource

    most = 150 << 20
    ended = ran(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)))
    assert (ended.returncode, ended.stderr) == (7, b"")
    assert TAIL in ended.stdout
    assert [record.lines for record in store.list()] == [5_001]
