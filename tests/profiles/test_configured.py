"""A profile by name: in a file, in the environment, on the command line; what is set beside it is stronger."""

import contextlib
import os
import subprocess
import sys

import pytest

from spillover import Clipper, Limits, UsageError, profiles
from spillover.errors import ConfigError
from support import load_settings as load

FLOOD = "".join(f"line {number} of a flood of lines\n" for number in range(1, 9_001))
#: name, its limits, its trigger, what it keeps, words that only it has
PROFILES = [
    ("opencode", Limits(lines=2_000, bytes=51_200), None, "head", "The tool call succeeded but the output was truncated."),
    ("t15", Limits(lines=2_000, bytes=50_000), None, "tail", "<truncated-notice>"),
    ("klaude", Limits(chars=20_000), Limits(chars=40_000), "ends", "[Output truncated: "),
    ("daycare", Limits(chars=8_000), None, "tail", "chars truncated from output"),
    ("vtcode", Limits(tokens=25_000), None, "ends", "[OUTPUT] Output too large ("),
]  # fmt: skip
each = pytest.mark.parametrize(("name", "limits", "trigger", "keep", "words"), PROFILES)


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    for name in [name for name in os.environ if name.startswith(("SPILLOVER_", "XDG_"))]:
        monkeypatch.delenv(name)
    return tmp_path


def user_file(home):
    path = home / ".config" / "spillover" / "spillover.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def test_every_profile_is_in_the_table():
    assert tuple(name for name, *_ in PROFILES) == profiles.NAMES


@each
def test_a_file_a_variable_and_the_caller_make_the_same_clipper(home, monkeypatch, name, limits, trigger, keep, words):
    by_caller = Clipper.configured(profile=name)
    monkeypatch.setenv("SPILLOVER_PROFILE", name)
    by_variable = Clipper.configured()
    monkeypatch.delenv("SPILLOVER_PROFILE")
    user_file(home).write_text(f'profile = "{name}"\n')
    by_file = Clipper.configured()
    for clipper in (by_caller, by_variable, by_file):
        assert (clipper.settings.limits, clipper.settings.trigger, clipper.settings.keep) == (limits, trigger, keep)
        clip = clipper.clip(FLOOD * 9, tool="make")
        assert words in clip.text
        assert clip.outcome == "stored"


@each
def test_spill_speaks_as_the_profile_does_and_the_way_back_needs_none(home, name, limits, trigger, keep, words):
    def spill(*arguments, given=""):
        code = "from spillover.cli import main; raise SystemExit(main())"
        ran = subprocess.run(
            [sys.executable, "-c", code, *arguments], input=given, capture_output=True, text=True, check=False
        )
        assert (ran.returncode, ran.stderr) == (0, ""), ran.stderr
        return ran.stdout

    assert words in spill("--profile", name, given=FLOOD * 9)
    ref = spill("list", "-q").strip()
    assert "line 4000 of a flood of lines" in spill("read", ref, "4000:4001")
    assert f"profile {name}" in spill_config(spill, home, name)


def spill_config(spill, home, name):
    user_file(home).write_text(f'profile = "{name}"\n')
    return spill("config")


def test_what_is_set_beside_it_is_stronger(home):
    user_file(home).write_text('profile = "opencode"\nlines = 7\nkeep = "tail"\n'.replace("7", "70"))
    clipper = Clipper.configured()
    assert (clipper.settings.limits, clipper.settings.keep) == (Limits(lines=70, bytes=51_200), "tail")
    text = clipper.clip(FLOOD).text
    assert text.startswith("...8931 lines truncated...\n\n")
    assert text.endswith("line 9000 of a flood of lines\n")


def test_a_rule_for_a_tool_works_under_a_profile(home):
    user_file(home).write_text('profile = "opencode"\n[tools."make*"]\nlines = 50\n')
    clipper = Clipper.configured()
    assert "...8951 lines truncated..." in clipper.clip(FLOOD, tool="make").text
    assert " bytes truncated..." in clipper.clip(FLOOD, tool="bash").text


@pytest.mark.parametrize("name", ["", "nobody", "../opencode", "Opencode"])
def test_a_profile_that_is_none_is_refused_before_any_work(home, name):
    with pytest.raises(ConfigError, match="profile"):
        load(arguments={"profile": name})
    with pytest.raises(UsageError, match="There is no profile"):
        profiles.find_profile(name)


STORED = {
    "klaude": "tmp/klaude",
    "t15": "tmp/opencode-overflow",
    "vtcode": ".vtcode/tool-output",
    "opencode": ".local/share/opencode/tool-output",
    "daycare": ".local/state/spillover",
}


def run_spill(*arguments):
    code = "from spillover.cli import main; raise SystemExit(main())"
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def large(folder):
    return [path for path in folder.rglob("*") if path.is_file() and path.stat().st_size > 200_000]


@pytest.mark.parametrize("way", ["python", "shell", "file"])
@each
def test_one_output_had_another_file_and_another_name_by_every_way_in(home, way, name, limits, trigger, keep, words):
    if way == "file":
        user_file(home).write_text(f'profile = "{name}"\n')
    made = profiles.find_profile(name).clipper() if way == "python" else Clipper.configured(profile=name)
    clip = (Clipper.configured() if way == "file" else made).clip(FLOOD * 9, tool="make")
    named = [path for path in large(home) if ".spillover" not in path.parts]
    assert [str(path) for path in named] == [clip.path]
    assert named[0].parent == home / STORED[name]
    assert len({path.stat().st_ino for path in large(home)}) == 1
    assert "line 1 of a flood" in run_spill("read", "--all-scopes", clip.path, "1:2")
    assert "removed" in run_spill("rm", "--all-scopes", clip.path)
    assert large(home) == []


def test_the_path_in_a_notice_was_taken_by_no_command(home):
    path = profiles.klaude.clipper(folder=str(home / "elsewhere")).clip(FLOOD * 9, tool="make").path
    assert "line 4000 of" in run_spill("grep", "--all-scopes", path, "line 4000 of")
    assert "[Outline of make-" in run_spill("outline", "--all-scopes", path)
    assert run_spill("path", "--all-scopes", path).strip() == path
    assert run_spill("verify", "--all-scopes", path).startswith("make-")


@each
def test_a_store_that_is_named_got_a_folder_more_and_a_second_file(home, name, limits, trigger, keep, words):
    clip = Clipper.configured(profile=name, store=str(home / "here")).clip(FLOOD * 9)
    assert [str(path) for path in large(home)] == [clip.path]
    run_spill("rm", "--all-scopes", clip.path)
    assert large(home) == []


def test_last_was_an_older_run_where_a_profile_had_the_newest(home):
    run_spill("run", "--", "seq", "1", "9000")
    run_spill("run", "--profile", "klaude", "--", "seq", "1", "99000")
    assert "98000" in run_spill("grep", "last", "98000")


def test_gc_said_removed_and_left_the_file(home):
    user_file(home).write_text('profile = "klaude"\nretention.age = "2h"\n')
    clip = Clipper.configured().clip(FLOOD * 9)
    for path in [path for path in (home / "tmp").rglob("*") if path.is_file()]:
        os.utime(path, (1, 1))
    assert "removed 1 output" in run_spill("gc")
    assert not os.path.exists(clip.path)


# A profile's own options

TASK = 'permission=[{permission = "task", pattern = "*", action = "allow"}]'
#: A value for each option, as TOML, that every profile takes which has it.
VALUES = {
    "permission": TASK.partition("=")[2],
    "config": "{tool_output = {max_lines = 50}}",
    "folder": '"outputs"',
    "notice_style": '"recipe"',
    "directions": '{make = "head"}',
    "ttl_seconds": "60",
    "quota_bytes": "1_000_000",
    "max_length": "30_000",
    "head_chars": "500",
    "tail_chars": "500",
    "source": '"stdout"',
    "place": "false",
    "max_tokens": "500",
    "max_lines": "50",
    "chunk_lines": "50",
    "model": '"gpt-4o"',
    "banner": "false",
}
own = pytest.mark.parametrize(
    ("name", "option"), [(name, key) for name in profiles.NAMES for key in profiles.options(name)]
)


def spill(home, *words, file=""):
    user_file(home).write_text(file)
    command = [sys.executable, "-c", "import sys; from spillover.cli import main; sys.exit(main())", *words]
    return subprocess.run(command, cwd=home, capture_output=True, text=True, timeout=60, check=False)


@own
@pytest.mark.filterwarnings("ignore::FutureWarning")  # two options of vtcode are deprecated
def test_every_option_of_a_profile_is_reached_from_toml(home, name, option):
    user_file(home).write_text(f'profile = "{name}"\n[profiles.{name}]\n{option} = {VALUES[option]}\n')
    value = load().values[f"profiles.{name}.{option}"].value
    clips = [
        made.clip(FLOOD * 9) for made in (Clipper.configured(), profiles.find_profile(name).clipper(**{option: value}))
    ]
    first, second = (
        clip.text.replace(os.path.basename(clip.path or "nowhere"), "") for clip in clips
    )  # some are named by the clock
    assert first == second


@own
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize(
    "value", ["1979-05-27", "[1]", "[{}]", "{}", "{tool_output = 5}", "{make = 5}", "true", "1", '"x"']
)
def test_no_value_of_an_option_is_a_traceback(home, name, option, value):
    user_file(home).write_text(f'profile = "{name}"\n[profiles.{name}]\n{option} = {value}\n')
    with contextlib.suppress(ConfigError):
        assert Clipper.configured().clip(FLOOD).text


def test_opencodes_task_hint_could_not_be_reached_from_a_shell_or_toml(home):
    run = ("run", "--", "seq", "9000")
    by_file = spill(home, *run, file=f'profile = "opencode"\n[profiles.opencode]\n{TASK}\n')
    by_shell = spill(home, "run", "--profile", "opencode", "--profile-option", TASK, *run[1:])
    assert "Use the Task tool" in by_file.stdout
    assert "Use the Task tool" in by_shell.stdout
    assert "Use the Task tool" not in spill(home, "run", "--profile", "opencode", *run[1:]).stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--profile", "vtcode", "--profile-option", "max_tokns=9"], "max_tokns is not an option of vtcode; did you mean max_tokens?"),
        (["--profile", "daycare", "--profile-option", "x=9"], "x is not an option of daycare; use source, place."),
        (["--profile", "vtcode", "--profile-option", "max_tokens=x"], "max_tokens = 'x': expected a whole number."),
        (["--profile", "vtcode", "--profile-option", "banner"], "--profile-option banner: expected KEY=VALUE."),
        (["--profile-option", "banner=true"], "--profile-option needs --profile; use one of opencode, t15,"),
        (["--profile", "t15", "--profile-option", "notice_style=x"], "is not a wording of t15; use block, recipe, generic."),
    ],
)  # fmt: skip
def test_a_wrong_option_is_answered_with_what_there_is(home, words, said):
    done = spill(home, "run", *words, "--", "touch", "ran")
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert not (home / "ran").exists()


def test_an_unknown_option_in_a_file_costs_only_itself(home):
    user_file(home).write_text(
        'profile = "vtcode"\n[profiles.vtcode]\nmax_tokns = 9\nmax_tokens = 500\n[profiles.vtcod]\nx = 1\n'
    )
    found = load()
    assert [one.why for one in found.ignored] == [
        "profiles.vtcode.max_tokns is not a key; did you mean max_tokens?",
        "profiles.vtcod is not a key; did you mean vtcode?",
    ]
    assert Clipper.configured().settings.limits == Limits(tokens=500)


def test_the_options_of_a_project_need_trust(home):
    (home / "spillover.toml").write_text('[profiles.vtcode]\nfolder = "/elsewhere"\n')
    found = load()
    assert "profiles.vtcode.folder" not in found.values
    assert "spill trust" in found.ignored[0].why
