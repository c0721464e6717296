"""`spill config` and `spill doctor`: what holds here, where it comes from, and whether it works."""

import pytest

from spillover.config.values import KEYS


def rows(said):
    """The table without its head: setting → (value, origin)."""
    return {line.split()[0]: line.split()[1:] for line in said.stdout.splitlines()[1:]}


def test_config_shows_every_setting_and_that_nobody_set_it(spill, store):
    shown = rows(spill("config"))
    assert shown.keys() == KEYS.keys()
    assert shown["lines"] == ["2000", "default"]
    assert shown["store"][-1] == "SPILLOVER_STORE"


def test_config_shows_who_set_a_value(spill, tmp_path):
    (tmp_path / "spillover.toml").write_text('keep = "tail"\n[tools."py*"]\ntokens = 500\n')
    facts = spill("config", "--json", env={"SPILLOVER_TOKENS": "4_000"}).json
    assert facts["keep"] == {"value": "tail", "origin": str(tmp_path / "spillover.toml")}
    assert facts["tokens"]["origin"] == "SPILLOVER_TOKENS"
    assert all(setting.keys() == {"value", "origin"} for setting in facts.values())


def test_the_file_of_the_folder_above_holds_here(spill, tmp_path):
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


@pytest.mark.parametrize(
    ("toml", "env", "why"),
    [
        ("tokns = 5\n", {}, "tokens"),
        ("lines = -5\n", {}, "lines"),
        ("lines = 'many'\n", {}, "lines"),
        ("keep = 'sideways'\n", {}, "sideways"),
        ("not toml at all", {}, "not TOML"),
        ("[tools.x]\nstore = '/tmp'\n", {}, "store"),
        ("", {"SPILLOVER_TOKNS": "5"}, "SPILLOVER_TOKENS"),
        ("", {"SPILLOVER_TOKENS": "many"}, "SPILLOVER_TOKENS"),
        ("", {"SPILLOVER_CONFIG": "/no/such/file.toml"}, "/no/such/file.toml"),
        ("", {"SPILLOVER_CAP": "2 elephants"}, "SPILLOVER_CAP"),
    ],
)
@pytest.mark.parametrize("command", [["config"], ["list"], []], ids=["config", "list", "filter"])
def test_a_wrong_setting_is_said_by_whoever_meets_it(spill, tmp_path, command, toml, env, why):
    (tmp_path / "spillover.toml").write_text(toml)
    said = spill(*command, env=env)
    assert (said.returncode, said.stdout) == (2, "")
    assert why in said.stderr


def test_doctor_finds_everything_in_order(spill, tmp_path):
    said = spill("doctor")
    assert said.returncode == 0, said.stdout
    assert [line.split()[1] for line in said.stdout.splitlines()[1:]] == [
        "version",
        "configuration",
        "store",
        "space",
        "private",
        "tokens",
    ]
    assert {line.split()[0] for line in said.stdout.splitlines()[1:]} == {"ok"}
    assert not list((tmp_path / "a store").glob("*.txt")), "what it stored to try is gone"


def test_doctor_json_has_every_check(spill):
    checks = spill("doctor", "--json").json
    assert all(check.keys() == {"check", "ok", "said"} for check in checks)
    assert all(check["ok"] for check in checks)


def test_doctor_finds_a_store_that_cannot_be_one(spill, tmp_path):
    (tmp_path / "a store").write_text("in the way")
    said = spill("doctor")
    assert said.returncode == 1
    assert any(line.startswith("!!") and " store " in line for line in said.stdout.splitlines())


def test_a_store_that_others_could_read_is_closed_to_them(spill, tmp_path, store, ref):
    (tmp_path / "a store").chmod(0o755)
    said = spill("doctor")
    assert said.returncode == 0
    assert "has mode 700" in said.stdout


def test_doctor_finds_a_wrong_configuration(spill, tmp_path):
    (tmp_path / "spillover.toml").write_text("tokns = 5\n")
    said = spill("doctor")
    assert said.returncode == 1
    assert "!!  configuration" in said.stdout
    assert "tokns" in said.stdout
