"""Configuration: every key from every source, which one wins, and what is said about a wrong one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from spillover.api import Clipper
from spillover.errors import ConfigError
from spillover.notice.hints import hints
from spillover.settings.limits import Limits
from spillover.settings.load import KEYS, RULE_KEYS, VARIABLES, load
from spillover.settings.settings import Settings, default_root
from spillover.settings.trust import trust
from spillover.store.directory import DirStore
from spillover.store.retention import Retention

DEFAULT = Limits()


@pytest.fixture
def place(tmp_path):
    """A home, and a repository with a project in it whose configuration the user has trusted; and nothing else."""
    return Place(tmp_path)


class Place:
    def __init__(self, root: Path) -> None:
        self.home, self.project = root / "home", root / "work" / "project"
        self.user = self.home / ".config" / "spillover" / "spillover.toml"
        self.file = self.project / "spillover.toml"
        for folder in (self.user.parent, self.project, root / "work" / ".git"):
            folder.mkdir(parents=True)

    def load(self, toml=None, *, user=None, environ=None, arguments=None, cwd=None):
        if toml is not None:
            self.file.write_text(toml)
        if user is not None:
            self.user.write_text(user)
        environ = {"HOME": str(self.home), **(environ or {})}
        here = cwd or self.project
        # What a project may say without trust is in tests/settings/test_narrow.py.
        for folder in (here, *here.parents):
            for file in (folder / "spillover.toml", folder / "pyproject.toml"):
                if file.is_file():
                    trust(str(file), file.read_bytes(), environ, os.geteuid())
        return load(cwd=str(here), environ=environ, arguments=arguments)

    def refusal(self, *args, **kwargs) -> str:
        with pytest.raises(ConfigError) as caught:
            self.load(*args, **kwargs).settings()
        return str(caught.value)


def limits(**changed):
    return Limits(**{"lines": DEFAULT.lines, "bytes": DEFAULT.bytes, "tokens": DEFAULT.tokens, **changed})


# What holds when nobody says anything


def test_without_any_source_the_defaults_are_those_of_the_library(place):
    found = place.load()
    chosen = found.settings()
    assert {setting.origin for setting in found.values.values()} == {"default"}
    assert found.files == ()
    store = DirStore(str(place.home / ".local/state/spillover"), retention=Retention())
    root = str(place.project.parent)
    assert chosen == Settings(store=store, scope=root, hints="path", stats=True), "what fits is in the journal, too"


def test_a_user_without_a_home_has_a_private_folder_among_the_temporary_ones(monkeypatch):
    """A folder called ~ was made wherever the tool ran."""
    monkeypatch.setattr("os.path.expanduser", lambda path: path)  # as for a user whom the system does not know
    monkeypatch.setenv("TMPDIR", "/t")
    assert default_root({}) == f"/t/spillover-{os.getuid()}"


def test_the_default_root_follows_the_variables():
    assert default_root({"HOME": "/h"}) == "/h/.local/state/spillover"
    assert default_root({"HOME": "/h", "XDG_STATE_HOME": "/s"}) == "/s/spillover"
    assert default_root({"HOME": "/h", "XDG_STATE_HOME": "relative"}) == "/h/.local/state/spillover"
    assert default_root({"HOME": "/h", "SPILLOVER_STORE": "~/kept"}) == "/h/kept"


# Every key, from every source

#: key, as in TOML, as in a variable, the choice it becomes
EVERY_KEY = [
    ("lines", "300", "300", {"limits": limits(lines=300)}),
    ("bytes", "9_000", "9_000", {"limits": limits(bytes=9_000)}),
    ("chars", "8000", "8000", {"limits": limits(chars=8_000)}),
    ("tokens", "4_000", "4000", {"limits": limits(tokens=4_000)}),
    ("tokens", "0", "0", {"limits": limits(tokens=None)}),
    ("tokens", "false", "false", {"limits": limits(tokens=None)}),
    ("keep", '"tail"', "tail", {"keep": "tail"}),
    ("worth", "0.25", "0.25", {"worth": 0.25}),
    ("since", '"last"', "last", {"since": "last"}),
    ("tokenizer", '"estimate"', "estimate", {"tokenizer": "estimate"}),
    ("hints", '["cli", "files:Read,Grep"]', "cli; files:Read,Grep", {"hints": hints(["cli", "files:Read,Grep"])}),
    ("hints", '["agent:Task", "path"]', "agent:Task path", {"hints": hints(["agent:Task", "path"])}),
    ("hints", "[]", " ; ", {"hints": ()}),
    ("cap", "1000", "1000", {"cap": 1_000}),
    ("cap", '"2 GiB"', "2 GiB", {"cap": 2 << 30}),
    ("store", '"/elsewhere"', "/elsewhere", {"store": "/elsewhere"}),
    ("store", '"~/kept"', "~/kept", {"store": "{home}/kept"}),
    ("store", '"kept"', "kept", {"store": "{project}/kept"}),
    ("scope", '"acme/web"', "acme/web", {"scope": "acme/web"}),
    ("retention.age", "60", "60", {"store": Retention(age_seconds=60)}),
    ("retention.age", '"2w"', "2w", {"store": Retention(age_seconds=14 * 86_400)}),
    ("retention.age", "false", "false", {"store": Retention(age_seconds=None)}),
    ("retention.bytes", '"1.5 MB"', "1.5 MB", {"store": Retention(bytes=1_500_000)}),
    ("retention.bytes", "0", "0", {"store": Retention(bytes=None)}),
    ("retention.count", "50", "50", {"store": Retention(count=50)}),
    ("retention.grace", '"5m"', "5m", {"store": Retention(grace_seconds=300)}),
    ("retention.grace", "0", "0", {"store": Retention(grace_seconds=0)}),
    ("retention.runs", "50", "50", {"store": Retention(runs=50)}),
    ("retention.runs", "0", "0", {"store": Retention(runs=0)}),
    ("redact", '"shown"', "shown", {"redact": "shown"}),
    ("stats", "false", "false", {"stats": False}),
]


def expected(place, choice):
    """A Retention stands for the usual store with it, a text for the store at that path."""
    [(name, value)] = choice.items()
    if isinstance(value, Retention):
        value = DirStore(str(place.home / ".local/state/spillover"), retention=value)
    elif name == "store":
        value = DirStore(value.format(home=place.home, project=place.project))
    return name, value


@pytest.mark.parametrize(("key", "toml", "text", "choice"), EVERY_KEY)
def test_every_key_can_be_set_in_a_file_a_variable_and_by_the_caller(place, key, toml, text, choice):
    name, value = expected(place, choice)
    variable = "SPILLOVER_" + key.upper().replace(".", "_")
    by_variable = place.load(environ={variable: text})
    by_caller = place.load(arguments={key: text})
    by_file = place.load(f"{key} = {toml}")
    for found, origin in (
        (by_variable, variable),
        (by_caller, "--" + key.replace(".", "-")),
        (by_file, str(place.file)),
    ):
        assert getattr(found.settings(), name) == value
        assert found.values[key].origin == origin
        assert sum(setting.origin != "default" for setting in found.values.values()) == 1


def test_the_table_above_has_every_key():
    # A profile is no choice of its own: it brings others (tests/profiles/test_configured.py).
    # A deadline is for stores that are no folders (tests/settings/test_place.py).
    assert {key for key, *_ in EVERY_KEY} | {"profile", "deadline"} == set(KEYS)


def test_one_hint_needs_no_list(place):
    assert place.load('hints = "files:Read,Grep"').settings().hints == hints("files:Read,Grep")


def test_a_setting_reads_as_it_would_be_written(place):
    found = place.load('tokens = 4_000\nhints = ["cli"]\n[tools.bash]\nclip = false')
    written = [str(setting) for setting in found.values.values() if setting.origin != "default"]
    assert written == ["tokens = 4000", "hints = ['cli']", "tools.bash.clip = false"]


def test_tables_may_be_written_inline_or_with_a_header(place):
    inline = place.load('retention = {age = "1d", count = 5}')
    header = place.load('[retention]\nage = "1d"\ncount = 5')
    assert inline == header
    assert inline.values["retention.age"].value == 86_400


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0 B", None),
        ("1 B", 1),
        ("5kB", 5_000),
        ("5 KB", 5_000),
        ("5KiB", 5_120),
        ("0.5 MiB", 1 << 19),
        ("1_000 mb", 10**9),
        ("2 GiB", 2 << 30),
        ("3gb", 3 * 10**9),
        (" 1 TiB ", 1 << 40),
        ("1 TB", 10**12),
    ],
)
def test_sizes_have_units(place, text, size):
    assert place.load(f'retention = {{bytes = "{text}"}}').settings().store.retention.bytes == size


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30s", 30), ("5m", 300), ("12 h", 43_200), ("7d", 604_800), ("1.5D", 129_600), ("2 w", 1_209_600), ("0d", None)],
)
def test_times_have_units(place, text, seconds):
    assert place.load(f'retention.age = "{text}"').settings().store.retention.age_seconds == seconds


# Which source wins


def test_each_source_is_stronger_than_the_one_before(place):
    def tokens(**sources):
        found = place.load(**sources).values["tokens"]
        return found.value, found.origin

    assert tokens() == (10_000, "default")
    assert tokens(user="tokens = 1001") == (1_001, str(place.user))
    assert tokens(toml="tokens = 1002") == (1_002, str(place.file))
    assert tokens(environ={"SPILLOVER_TOKENS": "1003"}) == (1_003, "SPILLOVER_TOKENS")
    assert tokens(environ={"SPILLOVER_TOKENS": "1003"}, arguments={"tokens": 1_004}) == (1_004, "--tokens")
    assert place.load().files == (str(place.user), str(place.file))


def test_limits_from_all_sources_hold_together(place):
    found = place.load("lines = 100", user="bytes = 0", environ={"SPILLOVER_CHARS": "700"}, arguments={"tokens": 800})
    assert found.settings().limits == Limits(lines=100, chars=700, tokens=800)


def test_a_stronger_source_can_take_a_limit_back(place):
    assert place.load("chars = 500", arguments={"chars": 0}).settings().limits == DEFAULT


def test_an_empty_variable_and_a_none_from_the_caller_say_nothing(place):
    empty = dict.fromkeys(VARIABLES, "")
    assert place.load("tokens = 500", environ=empty, arguments={"tokens": None}) == place.load()


def test_the_caller_may_have_its_own_word_for_where_a_value_comes_from(place):
    found = load(
        cwd=str(place.project),
        environ={"HOME": str(place.home)},
        arguments={"keep": "tail"},
        argument_origin="mcp {}".format,
    )
    assert found.values["keep"].origin == "mcp keep"


def test_without_arguments_the_process_itself_is_asked(place, monkeypatch):
    place.file.write_text("tokens = 500")
    monkeypatch.chdir(place.project)
    monkeypatch.setenv("HOME", str(place.home))
    monkeypatch.setenv("SPILLOVER_LINES", "50")
    assert (load().values["tokens"].value, load().values["lines"].value) == (500, 50)


def test_a_working_folder_that_is_gone_stops_nothing(place, monkeypatch):
    monkeypatch.chdir(place.project)
    place.project.rmdir()
    assert load(environ={"HOME": str(place.home), "SPILLOVER_STORE": "kept"}).values["store"].value == "/kept"


# Which files are read


def test_the_nearest_folder_with_a_configuration_is_the_project(place):
    below = place.project / "a" / "b"
    below.mkdir(parents=True)
    above = place.project.parent / "spillover.toml"
    above.write_text("tokens = 500\nlines = 50")
    assert place.load(cwd=below).files == (str(above),)
    place.file.write_text("tokens = 600")
    found = place.load(cwd=below)
    assert found.files == (str(place.file),)
    assert (found.values["tokens"].value, found.values["lines"].value) == (600, DEFAULT.lines)
    (below / "pyproject.toml").write_text("[tool.spillover]\ntokens = 700")
    assert place.load(cwd=below).values["tokens"].value == 700
    (below / "spillover.toml").write_text("tokens = 800")
    assert place.load(cwd=below).values["tokens"].value == 800


@pytest.mark.parametrize(
    "text", ["", "[tool.other]\ntokens = 1", "# tool.spillover\ntool = 1", "# [tool.spillover]\n[tool.x]"]
)
def test_a_pyproject_without_our_table_is_passed_by(place, text):
    (place.project / "pyproject.toml").write_text(text)
    above = place.project.parent / "spillover.toml"
    above.write_text("tokens = 500")
    assert place.load().files == (str(above),)


def test_a_pyproject_that_does_not_speak_of_us_is_not_even_parsed(place):
    (place.project / "pyproject.toml").write_text("this is [ no TOML")
    assert place.load().files == ()


def test_a_very_deep_working_folder_is_no_trouble(place):
    deep = place.project.joinpath(*["a"] * 1_500)
    assert place.load("tokens = 500", cwd=deep).values["tokens"].value == 500


def test_the_users_file_is_where_xdg_says(place):
    place.user.write_text("tokens = 500")
    other = place.home / "xdg" / "spillover"
    other.mkdir(parents=True)
    (other / "spillover.toml").write_text("tokens = 600")
    assert place.load().values["tokens"].value == 500
    assert place.load(environ={"XDG_CONFIG_HOME": str(other.parent)}).values["tokens"].value == 600
    assert place.load(environ={"XDG_CONFIG_HOME": "relative"}).values["tokens"].value == 500


def test_the_users_file_is_read_once_even_from_its_own_folder(place):
    assert place.load(user="tokens = 500", cwd=place.user.parent).files == (str(place.user),)


@pytest.mark.parametrize(
    "name", ["other.toml", "../other.toml", "~/other.toml", "{project}/other.toml", "pyproject.toml"]
)
def test_a_named_file_is_read_instead_of_looking_upward(place, name):
    name = name.format(project=place.project)
    where = Path(os.path.normpath(place.project / name.replace("~", str(place.home))))
    where.write_text("[tool.spillover]\nlines = 60" if name == "pyproject.toml" else "lines = 60")
    found = place.load("tokens = 500", user="chars = 700", environ={"SPILLOVER_CONFIG": name})
    assert [found.values[key].value for key in ("lines", "chars", "tokens")] == [60, 700, DEFAULT.tokens]


@pytest.mark.parametrize("none", ["", "none"])
def test_no_file_at_all_can_be_asked_for(place, none):
    found = place.load("broken", user="broken", environ={"SPILLOVER_CONFIG": none})
    assert found.files == ()


def test_a_named_file_that_is_not_there_is_said(place):
    said = place.refusal(environ={"SPILLOVER_CONFIG": "/not/there.toml"})
    assert said == 'SPILLOVER_CONFIG: there is no configuration at /not/there.toml; name another file, or "none".'


def test_a_relative_store_starts_from_the_file_that_names_it(place):
    below = place.project / "a"
    below.mkdir()
    assert place.load('store = ".outputs"', cwd=below).values["store"].value == str(place.project / ".outputs")
    assert place.load("", user='store = "../kept"').values["store"].value == str(place.home / ".config/kept")
    assert place.load(environ={"SPILLOVER_STORE": "here"}, cwd=below).values["store"].value == str(below / "here")


# Rules


def test_rules_keep_the_order_of_the_file_and_the_projects_come_first(place):
    found = place.load(
        '[tools."mcp.*"]\nkeep = "head"\n[tools."bash*"]\nkeep = "tail"',
        user='[tools."*"]\nkeep = "ends"\n[tools."bash*"]\nkeep = "head"\ntokens = 500\n[tools.zsh]\nclip = false',
    )
    rules = found.settings().rules
    assert list(rules) == ["mcp.*", "bash*", "*", "zsh"]
    assert rules["bash*"] == {"tokens": 500, "keep": "tail"}
    assert rules["zsh"] == {"clip": False}
    assert found.values["tools.bash*.keep"].origin == str(place.file)
    assert found.values["tools.bash*.tokens"].origin == str(place.user)
    assert found.values['tools."mcp.*".keep'].value == "head"


def test_the_first_rule_that_fits_a_tool_is_used(place):
    found = place.load('[tools."bash*"]\ntokens = 500\n[tools."*"]\nclip = false')
    choices = found.settings()
    assert choices.for_call("bash_long").limits.tokens == 500
    assert choices.leaves_alone("grep")
    assert not choices.leaves_alone("bash")


@pytest.mark.parametrize(("key", "toml", "_text", "choice"), [row for row in EVERY_KEY if row[0] in RULE_KEYS])
def test_a_rule_has_the_same_keys(place, key, toml, _text, choice):
    [(name, value)] = choice.items()
    assert getattr(place.load(f'[tools."bash*"]\n{key} = {toml}').settings().for_call("bash-x"), name) == value


def test_a_rule_changes_the_limits_it_names_and_no_others(place):
    found = place.load("lines = 100\n[tools.x]\ntokens = 0")
    assert found.settings().for_call("x").limits == limits(lines=100, tokens=None)


def test_what_is_said_for_all_tools_by_variable_or_caller_is_stronger_than_a_rule(place):
    toml = '[tools.bash]\ntokens = 500\nkeep = "head"\nlines = 50'
    found = place.load(toml, environ={"SPILLOVER_KEEP": "tail"}, arguments={"tokens": 900})
    assert found.settings().rules["bash"] == {"lines": 50, "tokens": 900, "keep": "tail"}
    assert found.values["tools.bash.tokens"].origin == "--tokens"


def test_the_caller_may_give_a_rule(place):
    found = place.load('[tools.bash]\nkeep = "head"', arguments={"tools.bash.keep": "tail", "tools.bash.clip": "false"})
    assert found.settings().rules == {"bash": {"keep": "tail", "clip": False}}


def test_an_empty_rule_keeps_a_tool_from_the_rules_after_it(place):
    choices = place.load('[tools.bash_plain]\n[tools."bash*"]\ntokens = 500').settings()
    assert choices.for_call("bash_plain").limits == DEFAULT


@pytest.mark.parametrize("pattern", ["a", "a.b", "a.keep", '\\"', '\\".', '\\"a\\".b', "", ".", "tools.x"])
def test_any_pattern_stays_what_it_is(place, pattern):
    rules = place.load(f'[tools."{pattern}"]\nkeep = "tail"\ncap = 40000').settings().rules
    assert list(rules) == [pattern.replace("\\", "")]
    assert set(rules[pattern.replace("\\", "")]) == {"keep", "cap"}


# What is said about mistakes


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("\ntokns = 5", ":2: tokns is not a key; did you mean tokens?"),
        ("max_tokens = 5", ":1: max_tokens is not a key; did you mean tokens?"),
        ("tool.bash = {}", ":1: tool is not a key; did you mean tools?"),
        ("retention = {ages = 5}", ":1: retention.ages is not a key; did you mean age?"),
        (
            "[retention]\ndays = 5",
            ":2: retention.days is not a key; use age, bytes, count, grace, runs.",
        ),
        ('[tools."b*"]\nclips = true', ":2: clips is not a key of a rule; did you mean clip?"),
        ("timeout = 5", ":1: timeout is not a key; use lines, bytes, chars, tokens, keep, hints, cap, "),
        # It may be either line; better none than a wrong one.
        ("# tokns = 1\ntokns = 5", ": tokns is not a key; did you mean tokens?"),
    ],
)
def test_a_wrong_key_names_the_nearest_right_one_and_its_line(place, toml, said):
    assert place.load(toml).complaint.startswith(f"{place.file}{said}")


@pytest.mark.parametrize("rest", ["lines = 50", "[tools.make]\nlines = 50", "[retention]\ncount = 50"])
@pytest.mark.parametrize(
    "unknown",
    ["tokns = 5", "state = 5", "nope = {a = 1}", '"\\u001b]52;c;x" = 5', "tool = { bash = 5 }", "retention.days = 5"],
)
def test_one_unknown_key_dropped_the_whole_file(place, unknown, rest):
    rest = "retention.count = 50" if unknown.startswith("retention") else rest  # a table is written once
    found, alone = place.load(f"{unknown}\n{rest}"), place.load(rest)
    assert found.values == alone.values
    assert len(found.ignored) == 1
    assert found.settings() == alone.settings()


def test_an_unknown_key_of_a_rule_costs_only_itself(place):
    found = place.load('[tools."b*"]\nkep = "tail"\nlines = 50\n[tools.c]\ntokns = 5')
    assert found.settings().rules == {"b*": {"lines": 50}}
    assert [one.key for one in found.ignored] == ["tools.b*.kep", "tools.c.tokns"]
    assert found.complaint == (
        f"{place.file}:2: kep is not a key of a rule; did you mean keep? (1 more: see `spill config`) The rest of the file counts."
    )


@pytest.mark.parametrize("toml", ['redcat = "shown"', 'scopes = "x"', 'stor = "x"', '[tools.b]\nredact = "shown"'])
def test_a_slip_in_a_key_of_privacy_refuses_the_file(place, toml):
    assert " is not a key" in place.refusal(f"lines = 50\n{toml}")


def test_a_file_of_unknown_keys_is_refused(place):
    assert " more than 20 keys are unknown; " in place.refusal("".join(f"k{number} = 1\n" for number in range(21)))


def test_python_logs_what_it_ignores(place, caplog, monkeypatch):
    place.load("tokns = 5\nlines = 50")
    monkeypatch.setenv("HOME", str(place.home))
    monkeypatch.setenv("SPILLOVER_CONFIG", str(place.file))
    assert Clipper.configured(cwd=str(place.project)).settings.limits.lines == 50
    assert "tokns is not a key; did you mean tokens?" in caplog.text


COUNTED = "expected a whole number, e.g. 4_000; 0 sets none."
SIZED = 'expected a whole number of bytes, or a size with its unit, e.g. "2 GiB".'
AGED = 'expected a whole number of seconds, or a time with its unit (s, m, h, d, w), e.g. "7d".'
HINTED = 'expected a hint in quotes, or a list of them, e.g. ["cli", "files:Read,Grep"].'


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ('tokens = "4000"', f":1: tokens = '4000': {COUNTED}"),
        ("tokens = 4.5", f":1: tokens = 4.5: {COUNTED}"),
        ("tokens = true", f":1: tokens = true: {COUNTED}"),
        ("tokens = -1", f":1: tokens = -1: {COUNTED}"),
        ("tokens = 9223372036854775808", f":1: tokens = 9223372036854775808: {COUNTED}"),
        ("tokens = {lines = 1}", f":1: tokens = {{'lines': 1}}: {COUNTED}"),
        ("bytes = 10", ":1: bytes = 10: Limits(bytes=10) leaves no room for the notice; use 200 or more."),
        ("retention = 5", ":1: retention = 5: expected a table of keys."),
        ("tools = 5", ":1: tools = 5: expected a table of keys."),
        ("tools.bash = 5", ":1: bash = 5: expected a table of keys."),
        ("keep = 5", ":1: keep = 5: expected a word in quotes."),
        ('keep = ""', ":1: keep = '': expected a word in quotes."),
        ("tokenizer = []", ":1: tokenizer = []: expected a word in quotes."),
        ("hints = 5", f":1: hints = 5: {HINTED}"),
        ('hints = ["cli", 5]', f":1: hints = ['cli', 5]: {HINTED}"),
        ('hints = "phone"', ":1: hints = 'phone': 'phone' is not a hint; use cli, tools, path,"),
        ('cap = "2 gigs"', f":1: cap = '2 gigs': {SIZED}"),
        ('cap = "1000"', f":1: cap = '1000': {SIZED}"),
        ('cap = "0.1 B"', f":1: cap = '0.1 B': {SIZED}"),
        ('cap = "-1 B"', f":1: cap = '-1 B': {SIZED}"),
        ('cap = "1__0 B"', f":1: cap = '1__0 B': {SIZED}"),
        ('cap = "99999999 TiB"', f":1: cap = '99999999 TiB': {SIZED}"),
        ('retention.age = "7 parsecs"', f":1: retention.age = '7 parsecs': {AGED}"),
        ('retention.age = "0 parsecs"', f":1: retention.age = '0 parsecs': {AGED}"),
        ("retention.age = 1979-05-27", f":1: retention.age = datetime.date(1979, 5, 27): {AGED}"),
        ("retention.count = '5'", f":1: retention.count = '5': {COUNTED}"),
        (
            'store = ""',
            ":1: store = '': expected the path of a folder, or a URL such as s3://bucket/prefix, in quotes.",
        ),
        ("[tools.bash]\nclip = 0", ":2: tools.bash.clip = 0: expected true or false."),
        ("[tools.bash]\nbytes = 10", ":2: tools.bash.bytes = 10: Limits(bytes=10) leaves no room"),
    ],
)
def test_a_wrong_value_says_what_is_expected_where(place, toml, said):
    assert place.refusal(toml).startswith(f"{place.file}{said}")


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ('store = "s3:/x"', "store = 's3:/x' is not a URL; use "),
        ('keep = "middle"', "keep = 'middle' is not valid; use "),
        ("cap = 0", "cap = 0 is not valid; use a number of bytes, e.g. cap=500_000_000."),
        ('tokenizer = "nonesuch"', "tokenizer = 'nonesuch' is "),
        ('[tools.bash]\nkeep = "middle"', "tools.bash.keep = 'middle' is not valid"),
        ('store = "a\\u0000b"', "store = '"),
    ],
)
def test_what_a_clipper_would_not_take_names_its_origin(place, toml, said):
    assert place.refusal(toml).startswith(f"{place.file}: {said}")


def test_a_wrong_scope_is_quoted_once(place):
    assert place.refusal('scope = ".."').startswith(f"{place.file}:1: scope = '..' has the segment '..'; use ")


@pytest.mark.parametrize("prefix", ["", "[tools.x]\n"])
def test_a_limit_is_needed(place, prefix):
    said = place.refusal(prefix + "lines = 0\nbytes = 0\ntokens = false")
    assert said.endswith("lines, bytes, chars, tokens are all 0; set one of them.")


@pytest.mark.parametrize(
    ("variable", "said"),
    [
        ("SPILLOVER_TOKEN", "SPILLOVER_TOKEN is not a variable; did you mean SPILLOVER_TOKENS?"),
        ("SPILLOVER_CONFG", "SPILLOVER_CONFG is not a variable; did you mean SPILLOVER_CONFIG?"),
        ("SPILLOVER_RETENTION_AG", "SPILLOVER_RETENTION_AG is not a variable; did you mean SPILLOVER_RETENTION_AGE?"),
        ("SPILLOVER_XYZZY", "SPILLOVER_XYZZY is not a variable; use SPILLOVER_LINES, SPILLOVER_BYTES, "),
    ],
)
def test_an_unknown_variable_names_the_nearest_right_one(place, variable, said):
    assert place.refusal(environ={variable: ""}).startswith(said)


@pytest.mark.parametrize(
    ("sources", "said"),
    [
        ({"environ": {"SPILLOVER_TOKENS": "many"}}, f"SPILLOVER_TOKENS: tokens = 'many': {COUNTED}"),
        ({"environ": {"SPILLOVER_TOKENS": "true"}}, f"SPILLOVER_TOKENS: tokens = true: {COUNTED}"),
        ({"environ": {"SPILLOVER_TOKENS": "9" * 5_000}}, "SPILLOVER_TOKENS: tokens = '9999"),
        (
            {"environ": {"SPILLOVER_HINTS": "cli phone"}},
            "SPILLOVER_HINTS: hints = ['cli', 'phone']: 'phone' is not a hint; ",
        ),
        ({"arguments": {"tokens": -1}}, f"--tokens: tokens = -1: {COUNTED}"),
        ({"arguments": {"retention.age": "long"}}, f"--retention-age: retention.age = 'long': {AGED}"),
        ({"arguments": {"tokns": 1}}, "--tokns: tokns is not a key; did you mean tokens?"),
        ({"arguments": {"tools.x.clip": "no"}}, "--tools-x-clip: tools.x.clip = 'no': expected true or false."),
    ],
)
def test_a_wrong_variable_or_argument_is_named(place, sources, said):
    assert place.refusal(**sources).startswith(said)


def test_broken_toml_quotes_the_parser_with_the_file(place):
    assert place.refusal("tokens = \n") == f"{place.file} is not TOML: Invalid value (at line 1, column 10)."


@pytest.mark.parametrize("data", [b"\xff", b"a = " + b"[" * 50_000, b"a = " + b"9" * 5_000])
def test_what_only_looks_like_toml_is_a_complaint_too(place, data):
    place.file.write_bytes(data)
    assert place.refusal().startswith(f"{place.file} is not TOML: ")


@pytest.mark.parametrize(
    "toml", ["lines = 0x" + "f" * 5_000, "lines." + "a." * 5_000 + "a = 1", "hints = [0x" + "f" * 5_000 + "]"]
)
def test_a_value_too_large_to_show_is_still_a_complaint(place, toml):
    assert place.refusal(toml).startswith(f"{place.file}:1: ")


def test_a_pyproject_where_our_table_is_none_is_a_complaint(place):
    (place.project / "pyproject.toml").write_text("tool.spillover = 5")
    assert place.refusal() == f"{place.project}/pyproject.toml:1: spillover = 5: expected a table of keys."


def test_a_file_of_the_users_that_cannot_be_read_is_a_complaint(place):
    place.user.mkdir()
    assert place.refusal() == f"{place.user} is not used: it is not a regular file."


needs_permissions = pytest.mark.skipif(os.geteuid() == 0, reason="root may read and enter everything")


@needs_permissions
def test_a_file_of_the_users_without_permission_is_a_complaint(place):
    place.user.write_text("")
    place.user.chmod(0)
    assert place.refusal() == f"{place.user} is not used: it cannot be read: Permission denied."


@needs_permissions
def test_a_folder_that_may_not_be_entered_holds_nothing(place):
    place.user.parent.chmod(0)
    try:
        assert place.load().files == ()
    finally:
        place.user.parent.chmod(0o700)


# The page about it

PAGE = Path(__file__).parents[2].joinpath("docs", "configuration.md").read_text(encoding="utf-8")


def test_the_page_has_every_key_beside_its_variable():
    assert [row for row in VARIABLES.items() if "| `{1}` | `{0}` |".format(*row) not in PAGE] == []


@pytest.mark.parametrize("example", [part.partition("```")[0] for part in PAGE.split("```toml\n")[1:]])
def test_the_examples_on_the_page_can_be_used(place, example):
    assert place.load(example).settings()


# Laws

keys = st.sampled_from([*KEYS, "retention", "tools", "tools.bash", "tools.'a.b'.keep", "tools.x.clip", "tokn"])
values = st.one_of(
    st.integers().map(str),
    st.text().map(repr),
    st.sampled_from(["true", "false", "[]", "{}", "nan", "inf", "1e400", "1979-05-27", '"2 GiB"', '"7d"', "['cli']"]),
    st.from_regex(r"\"[0-9._]{0,5} ?[a-zA-Z]{0,3}\"", fullmatch=True),
)
files = st.one_of(
    st.binary(),
    st.text().map(str.encode),
    st.lists(st.tuples(keys, values).map(" = ".join)).map("\n".join).map(lambda text: text.encode("utf-8", "replace")),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=300)
@given(data=files, name=st.sampled_from(["spillover.toml", "pyproject.toml"]))
@example(data=b"retention.bytes = '1e400 TiB'", name="spillover.toml")
def test_no_text_in_a_file_raises_anything_but_a_config_error(place, data, name):
    place.file.unlink(missing_ok=True)
    (place.project / name).write_bytes(b"[tool.spillover]\n" * (name != "spillover.toml") + data)
    try:
        place.load().settings()
    except ConfigError as error:
        assert str(place.project / name) in str(error)  # noqa: PT017  most texts are fine or refused, and both are right


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(variable=st.sampled_from(sorted(VARIABLES)), text=st.text(st.characters(exclude_characters="\0")))
def test_no_text_in_a_variable_raises_anything_but_a_config_error(place, variable, text):
    try:
        place.load(environ={variable: text}).settings()
    except ConfigError as error:
        assert str(error).startswith(variable)  # noqa: PT017  as above


def test_without_a_file_and_without_a_mistake_no_parser_is_imported(place):
    code = """
import sys
before = set(sys.modules)
from spillover.settings.load import load
load(cwd=sys.argv[1], environ={"HOME": sys.argv[2], "SPILLOVER_TOKENS": "500"}).settings()
print(sorted({"tomllib", "difflib", "pathlib"} & (set(sys.modules) - before)))
"""
    done = subprocess.run(
        [
            sys.executable,
            "-S",
            "-c",
            f"import sys; sys.path[:0] = {sys.path!r}\n{code}",
            str(place.project),
            str(place.home),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"
