"""`spill config` and `spill doctor`: what holds here, where it comes from, and whether it works."""

import json
import os

import pytest

from spillover.settings.load import KEYS
from spillover.testing import content, put


def rows(said):
    """The table without its head: setting → (value, origin)."""
    return {line.split()[0]: line.split()[1:] for line in said.stdout.splitlines()[1:]}


def test_config_shows_every_setting_and_that_nobody_set_it(spill, store):
    shown = rows(spill("config"))
    assert shown.keys() == KEYS.keys()
    assert shown["lines"] == ["2,000", "lines", "default"]
    assert shown["store"][-1] == "SPILLOVER_STORE"


def test_config_shows_units_and_the_project(spill, tmp_path):
    (tmp_path / "spillover.toml").write_text("lines = 50\n")
    shown = {name: " ".join(words) for name, words in rows(spill("config", env={"SPILLOVER_CAP": "500 MB"})).items()}
    assert shown["scope"] == f"{tmp_path} default"
    assert shown["bytes"] == "50 KiB default"
    assert shown["cap"] == "500,000,000 bytes SPILLOVER_CAP"
    assert shown["tokens"] == "10,000 tokens default"
    assert shown["chars"] == "none default"
    assert shown["retention.age"] == "7 days default"
    assert shown["retention.grace"] == "1 hour default"
    assert shown["retention.count"] == "10,000 outputs default"
    assert shown["retention.bytes"] == "5 GiB default"


def test_config_shows_who_set_a_value(spill, tmp_path):
    (tmp_path / "spillover.toml").write_text('keep = "tail"\n[tools."py*"]\ntokens = 500\n')
    facts = spill("config", "--json", env={"SPILLOVER_TOKENS": "4_000"}).json
    assert facts["keep"] == {"value": "tail", "origin": str(tmp_path / "spillover.toml")}
    assert facts["tokens"]["origin"] == "SPILLOVER_TOKENS"
    assert facts.pop("ignored") == []
    assert all(setting.keys() == {"value", "origin"} for setting in facts.values())


def test_the_file_of_a_folder_above_in_the_repository_holds_here(spill, tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "spillover.toml").write_text("lines = 50\n")
    below = tmp_path / "some folder" / "below"
    below.mkdir(parents=True)
    assert len(spill("run", "--", "seq", "5000", cwd=below).stdout.splitlines()) <= 50


def test_the_command_line_is_stronger_than_the_environment_and_that_than_a_file(spill, tmp_path):
    (tmp_path / "spillover.toml").write_text("lines = 50\n")

    def lines(*arguments, **env):
        return len(spill("run", *arguments, "--", "seq", "5000", env=env).stdout.splitlines())

    assert 40 <= lines() <= 50
    assert 30 <= lines(SPILLOVER_LINES="40") <= 40
    assert 20 <= lines("--lines", "30", SPILLOVER_LINES="40") <= 30


def test_a_rule_holds_for_its_tool(spill, tmp_path):
    (tmp_path / "spillover.toml").write_text("lines = 50\n[tools.seq]\nlines = 20\n")
    assert len(spill("run", "--", "seq", "5000").stdout.splitlines()) <= 20
    assert len(spill("run", "--tool", "other", "--", "seq", "5000").stdout.splitlines()) > 20


WRONG = pytest.mark.parametrize(
    ("toml", "env", "why"),
    [
        ("redcat = 'shown'\n", {}, "redact"),
        ("lines = -5\n", {}, "lines"),
        ("lines = 'many'\n", {}, "lines"),
        ("keep = 'sideways'\n", {}, "sideways"),
        ("not toml at all", {}, "not TOML"),
        ("[tools.x]\nstore = '/tmp'\n", {}, "store"),
        ("", {"SPILLOVER_TOKNS": "5"}, "SPILLOVER_TOKENS"),
        ("", {"SPILLOVER_TOKENS": "many"}, "SPILLOVER_TOKENS"),
        ("", {"SPILLOVER_CONFIG": "/no/such/file.toml"}, "/no/such/file.toml"),
        ("", {"SPILLOVER_CAP": "2 elephants"}, "SPILLOVER_CAP"),
        ("tokns = 5\n", {"SPILLOVER_CAP": "2 elephants"}, "SPILLOVER_CAP"),
    ],
)


@WRONG
@pytest.mark.parametrize("command", [["config"], ["list"]], ids=["config", "list"])
def test_a_wrong_setting_is_said_by_whoever_meets_it(spill, user_file, command, toml, env, why):
    user_file.write_text(toml)
    said = spill(*command, env=env)
    assert (said.returncode, said.stdout) == (2, "")
    assert why in said.stderr


@WRONG
@pytest.mark.parametrize("command", [[], ["run", "--", "sh", "-c", "cat; exit 7"]], ids=["filter", "run"])
def test_a_wrong_setting_stops_no_tool_call(spill, user_file, store, command, toml, env, why):
    user_file.write_text(toml)
    said = spill(*command, env=env, given="".join(f"{number}\n" for number in range(9_000)))
    assert said.returncode == (7 if command else 0)
    assert said.stdout.startswith("[Output clipped: ")
    assert len(said.stdout) <= 51_200
    assert said.stderr.count("\n") == 1
    assert why in said.stderr
    assert "Until that is fixed, no configuration file is read" in said.stderr
    assert len(list(store.list())) == 1, "it is stored where SPILLOVER_STORE says, all the same"


TOKEN = "ghp_" + "aB3dE6gH9" * 4
HOOKED = {"tool": "bash", "args": {"command": "make"}, "output": f"it is {TOKEN}\n", "exit": 0}


@WRONG
@pytest.mark.parametrize("command", [[], ["run", "--", "cat"], ["hook", "opencode"]], ids=["filter", "run", "hook"])
def test_a_mistake_in_the_settings_turned_off_the_covering_of_secrets(spill, user_file, store, command, toml, env, why):
    user_file.write_text(f"redact = 'shown'\n{toml}")
    given = json.dumps(HOOKED) if "hook" in command else HOOKED["output"] * 9_000
    shown = spill(*command, env=env, given=given).stdout
    assert "[redacted: github token" in shown
    assert TOKEN[4:12] not in shown


@pytest.mark.parametrize(
    ("toml", "env", "is_stored", "is_shown"),
    [
        ("redact = 'stored'\nkeep =\n", {}, False, False),
        ("", {"SPILLOVER_REDACT": "stord"}, False, False),
        ("keep =\n", {}, True, False),
        ("redact = 'stored'\nkeep =\n", {"SPILLOVER_REDACT": "off"}, True, True),
    ],
)
def test_what_is_covered_after_a_mistake_is_no_less_than_the_settings_ask_for(
    spill, user_file, store, toml, env, is_stored, is_shown
):
    user_file.write_text(toml)
    said = spill(env=env, given=HOOKED["output"] * 9_000)
    (record,) = store.list()
    assert (TOKEN.encode() in content(store, record.ref), TOKEN in said.stdout) == (is_stored, is_shown)
    assert ("and secrets are covered" in said.stderr) is not is_shown


@pytest.mark.parametrize("wrong", [["--keep", "sideways"], ["--tokens", "1"]])
@pytest.mark.parametrize("command", [["run"], []], ids=["run", "filter"])
def test_what_is_typed_wrong_on_the_command_line_is_an_error_before_anything_runs(
    spill, user_file, tmp_path, command, wrong
):
    user_file.write_text("tokns = 5\n")
    said = spill(*command, *wrong, *(["--", "touch", "ran"] * bool(command)))
    assert (said.returncode, said.stdout) == (2, "")
    assert wrong[1] in said.stderr
    assert not (tmp_path / "ran").exists()


def test_doctor_finds_everything_in_order(spill, tmp_path):
    said = spill("doctor")
    assert said.returncode == 0, said.stdout
    assert [line.split()[1] for line in said.stdout.splitlines()[1:]] == [
        "version",
        "configuration",
        "store",
        "space",
        "private",
        "room",
        "libraries",
        "tokens",
    ]
    assert {line.split()[0] for line in said.stdout.splitlines()[1:]} == {"ok"}
    assert not list((tmp_path / "a store").glob("*.txt")), "what it stored to try is gone"


def test_doctor_json_has_every_check(spill):
    checks = spill("doctor", "--json").json
    assert all(check.keys() == {"check", "ok", "said"} for check in checks)
    assert all(check["ok"] for check in checks)


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("raise ImportError('no such\\nlibrary')", "(it is installed but cannot be loaded: no such library)"),
        ("", "(something else has this name: "),
    ],
)
def test_doctor_finds_a_library_that_is_there_and_of_no_use(spill, tmp_path, program, why):
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "numpy.py").write_text(program)
    said = spill("doctor", env={"PYTHONPATH": str(tmp_path / "beside")})
    (wrong,) = [line for line in said.stdout.splitlines() if line.startswith("!!")]
    assert f"libraries      without numpy {why}" in wrong
    assert wrong.endswith(": pip install --force-reinstall numpy")


def test_doctor_finds_a_store_that_cannot_be_one(spill, tmp_path):
    (tmp_path / "a store").write_text("in the way")
    said = spill("doctor")
    assert said.returncode == 1
    assert any(line.startswith("!!") and " store " in line for line in said.stdout.splitlines())
    assert "needs a folder; move it; to use another folder, set `store`" in said.stdout, "what to do is said once"


def test_doctor_names_the_folder_that_it_may_not_use(spill):
    said = spill("doctor", "--store", "/proc/1/nowhere")
    assert (said.returncode, said.stderr) == (1, "")
    wrong = [line for line in said.stdout.splitlines() if line.startswith("!!")]
    assert any("/proc/1/nowhere" in line for line in wrong)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may enter every folder")
def test_doctor_says_what_to_do_about_a_folder_that_is_shut(spill, tmp_path):
    shut = tmp_path / "shut"
    shut.mkdir(mode=0)
    said = spill("doctor", "--store", shut / "store")
    assert said.returncode == 1
    assert f"this user may not read or write {shut}/store; change its permissions" in said.stdout


def test_doctor_finds_a_store_that_is_full(spill, store, ref):
    store.pin(ref)
    for number in range(19):
        put(store, b"%d" % number)
    said = spill("doctor", env={"SPILLOVER_RETENTION_COUNT": "21"})
    assert said.returncode == 1
    (line,) = [line for line in said.stdout.splitlines() if line.startswith("!!")]
    assert "the store is full" in line
    assert "20 of 21 outputs" in line
    assert "raise retention.count, lower retention.grace, or unpin something" in line


def test_doctor_says_how_to_close_a_store_that_others_could_look_into(spill, tmp_path, store, ref):
    (tmp_path / "a store").chmod(0o755)
    said = spill("doctor")
    assert said.returncode == 1
    assert "has mode 0755; run `chmod 700 " in said.stdout
    assert (tmp_path / "a store").stat().st_mode & 0o777 == 0o755, "a folder that was there keeps its mode"


def test_one_unknown_key_is_said_and_the_rest_of_the_file_counts(spill, user_file):
    user_file.write_text("tokns = 5\nlines = 12\n")
    said = spill("run", "--", "seq", "5000")
    assert len(said.stdout.splitlines()) <= 12
    assert (
        said.stderr == f"spill: {user_file}:1: tokns is not a key; did you mean tokens? The rest of the file counts.\n"
    )
    shown = spill("config")
    assert (shown.returncode, "tokns is not a key; did you mean tokens?" in shown.stdout) == (0, True)
    assert spill("config", "--json").json["ignored"][0]["key"] == "tokns"


def test_doctor_finds_a_wrong_configuration(spill, user_file):
    user_file.write_text("tokns = 5\n")
    said = spill("doctor")
    assert said.returncode == 1
    assert "!!  configuration" in said.stdout
    assert "tokns" in said.stdout


def test_doctor_gives_no_advice_on_the_mode_of_what_is_not_a_folder(spill, tmp_path):
    (tmp_path / "file").write_text("a file, where a folder should be\n")
    said = spill("doctor", "--store", str(tmp_path / "file"))
    assert said.returncode == 1
    assert "is a file where the store needs a folder" in said.stdout
    assert "chmod" not in said.stdout


def test_a_wrong_option_is_named_once(spill):
    said = spill("--keep", "hed", given="")
    assert said.stderr == "spill: --keep: keep='hed' is not valid; use auto, signal, head, ends, tail or a selector.\n"


@pytest.mark.parametrize("words", [("list",), ("read", "last"), ("verify",), ("gc",), ("rm", "last"), ("path", "last")])
def test_a_store_that_cannot_be_opened_is_named_with_the_next_step(spill, tmp_path, words):
    (tmp_path / "file").write_text("a file, where a folder should be\n")
    said = spill(*words, "--store", str(tmp_path / "file"))
    assert (said.returncode, said.stdout) == (2, "")
    assert (
        said.stderr
        == f"spill: {tmp_path}/file is a file where the store needs a folder; move it or name another store.\n"
    )


def test_limits_that_an_agent_sets_are_named_by_config(spill):
    assert "Gemini CLI" in spill("config", env={"GEMINI_CLI": "1"}).stdout
    assert "Gemini CLI" not in spill("config").stdout
