"""`spill init`: into the real files of each host and out again; what was there stays, byte for byte."""

import json
import os
import re
import shlex
import stat
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spillover.cli.parsing import parse
from spillover.errors import UsageError
from spillover.hosts import AGENTS, find
from spillover.hosts.edits import read_jsonc
from spillover.hosts.install import LINES, apply, plan_install, plan_removal, targets

HOSTS = [*(host.name for host in AGENTS), "shell"]
CLAUDE, GEMINI, CODEX = ".claude/settings.json", ".gemini/settings.json", ".codex/config.toml"
CODEX_HOOKS = ".codex/hooks.json"
CLINE = ".cline/plugins/spillover.js"
PLUGIN, COPILOT, PI = ".opencode/plugins/spillover.js", ".github/hooks/spillover.json", ".pi/extensions/spillover.js"
HOOK = {"type": "command", "command": "spill hook claude-code"}


@pytest.fixture
def home(monkeypatch, tmp_path):
    home = Path(os.environ["HOME"])
    monkeypatch.setenv("PATH", os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])))
    return home


@pytest.fixture
def init(spill, home):
    """Call `spill init`, which must succeed; what it said."""

    def call(*words):
        said = spill("init", *words)
        assert (said.returncode, said.stderr) == (0, "")
        return said.stdout

    return call


def tree(folder):
    """Every file below a folder: path, content, mode."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) for path in files}


def test_claude_code_gets_the_hook(init, home):
    assert init("claude-code").startswith(f"wrote {home}/.claude/settings.json\n")
    (entry,) = json.loads((home / CLAUDE).read_text())["hooks"]["PostToolUse"]
    assert entry["hooks"] == [HOOK]
    assert re.fullmatch(entry["matcher"], "Bash")


def test_codex_gets_the_server_and_the_lines(init, home):
    init("codex")
    server = tomllib.loads((home / CODEX).read_text())["mcp_servers"]["spillover"]
    assert server == {"command": "spill", "args": ["mcp"], "env": {"CODEX_THREAD_ID": "mcp"}}
    assert LINES in (home / ".codex/AGENTS.md").read_text()


def test_gemini_gets_the_server_and_the_lines(init, home):
    init("gemini")
    assert json.loads((home / GEMINI).read_text())["mcpServers"]["spillover"] == {"command": "spill", "args": ["mcp"]}
    assert LINES in (home / ".gemini/GEMINI.md").read_text()


def test_opencode_gets_the_plugin(init, home):
    init("opencode")
    assert (
        (home / ".config/opencode/plugins/spillover.js").read_text().startswith("// Written by `spill init opencode`")
    )


def test_in_a_project_it_goes_into_the_project(init, home, tmp_path):
    for host in HOSTS:
        init(host, "--scope", "project")
    made = {path for path in tree(tmp_path) if not path.startswith("a store")}
    lines = {"AGENTS.md", "CLAUDE.md", "GEMINI.md"}
    assert made == {CLAUDE, PLUGIN, CODEX, CODEX_HOOKS, GEMINI, COPILOT, CLINE, PI, *lines}
    assert tree(home) == {}


def test_the_folders_the_hosts_themselves_ask_for_are_used(init, tmp_path, monkeypatch):
    for variable, host in {
        "CLAUDE_CONFIG_DIR": "claude-code",
        "CODEX_HOME": "codex",
        "XDG_CONFIG_HOME": "opencode",
    }.items():
        monkeypatch.setenv(variable, str(tmp_path / variable))
        init(host)
    made = {path for path in tree(tmp_path) if not path.startswith("a store")}
    assert made == {
        "CLAUDE_CONFIG_DIR/settings.json",
        "CLAUDE_CONFIG_DIR/CLAUDE.md",
        "CODEX_HOME/config.toml",
        "CODEX_HOME/hooks.json",
        "CODEX_HOME/AGENTS.md",
        "XDG_CONFIG_HOME/opencode/plugins/spillover.js",
    }


@pytest.mark.parametrize("host", HOSTS)
def test_twice_is_once(init, tmp_path, host):
    init(host, "--scope", "project")
    once = tree(tmp_path)
    assert "nothing to do: " in init(host, "--scope", "project")
    assert tree(tmp_path) == once


@pytest.mark.parametrize("host", HOSTS)
def test_in_and_out_leaves_nothing_behind(init, tmp_path, host):
    init(host, "--scope", "project")
    assert "removed " in init(host, "--scope", "project", "--uninstall")
    assert tree(tmp_path) == {}
    assert "nothing to do: " in init(host, "--scope", "project", "--uninstall")


@pytest.mark.parametrize("host", HOSTS)
def test_a_dry_run_says_what_and_does_nothing(init, tmp_path, host):
    assert "would write " in init(host, "--scope", "project", "--dry-run")
    assert tree(tmp_path) == {}
    init(host, "--scope", "project")
    before = tree(tmp_path)
    assert "would remove " in init(host, "--scope", "project", "--dry-run", "--uninstall")
    assert tree(tmp_path) == before


SETTINGS = """{
    // not here: this is JSON
    "model": "opus",   "env": {"A": "é"},
    "hooks": {
        "PostToolUse": [
            {"matcher": "Write", "hooks": [{"type": "command", "command": "prettier"}]}
        ],
        "Stop": []
    }
}
""".replace("    // not here: this is JSON\n", "")
TOML = '# mine\nmodel = "gpt-5"   # the large one\n\n[mcp_servers.other]\ncommand = "x"\n'
THERE = {
    "claude-code": {CLAUDE: SETTINGS},
    "gemini": {
        GEMINI: '{"mcpServers": {"other": {"command": "x"}}, "theme": "dark"}',
        "GEMINI.md": "# Mine\r\n\r\nBe brief.\r\n",
    },
    "codex": {CODEX: TOML, "AGENTS.md": "# Mine\n\nno newline at the end"},
    "shell": {"AGENTS.md": "", "CLAUDE.md": "# Mine\n"},
}


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())


@pytest.mark.parametrize(("host", "files"), THERE.items(), ids=THERE)
def test_what_was_there_stays_and_is_kept_beside_it(init, tmp_path, host, files):
    write(tmp_path, files)
    init(host, "--scope", "project")
    for name, text in files.items():
        assert (tmp_path / (name + ".spillover-backup")).read_bytes() == text.encode()
        new = (tmp_path / name).read_bytes().decode()
        same = next((at for at, (old, now) in enumerate(zip(text, new, strict=False)) if old != now), len(text))
        first, hook, _ = new[same:].partition(', "hooks": ') if name == GEMINI else (new[same:], "", "")  # two entries
        assert first.endswith(text[same:].removesuffix("}" if hook else "")), (
            "something stands between, nothing is missing"
        )


@pytest.mark.parametrize(("host", "files"), THERE.items(), ids=THERE)
def test_in_and_out_is_the_same_byte_for_byte(init, tmp_path, host, files):
    write(tmp_path, files)
    for name in files:
        (tmp_path / name).chmod(0o640)
    before = tree(tmp_path)
    init(host, "--scope", "project")
    assert all(stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o640 for name in files)
    init(host, "--scope", "project", "--uninstall")
    assert tree(tmp_path) == before


def test_out_after_somebody_changed_the_file_takes_only_ours(init, tmp_path):
    write(tmp_path, {CLAUDE: SETTINGS})
    init("claude-code", "--scope", "project")
    file = tmp_path / CLAUDE
    file.write_text(file.read_text().replace('"opus"', '"sonnet"'))
    init("claude-code", "--scope", "project", "--uninstall")
    assert file.read_text() == SETTINGS.replace('"opus"', '"sonnet"')


def test_a_hook_of_ours_among_others_is_taken_out_alone(init, tmp_path):
    other = {"type": "command", "command": "notify"}
    moved = {"matcher": "Bash", "hooks": [other, {**HOOK, "command": "/opt/bin/spill hook claude-code", "timeout": 9}]}
    write(tmp_path, {CLAUDE: json.dumps({"hooks": {"PostToolUse": [moved]}})})
    assert "nothing to do: " in init("claude-code", "--scope", "project")
    init("claude-code", "--scope", "project", "--uninstall")
    kept = {"hooks": {"PostToolUse": [{"matcher": "Bash", "hooks": [other]}]}}
    assert json.loads((tmp_path / CLAUDE).read_text()) == kept


def test_lines_of_another_version_are_replaced_where_they_stand(init, tmp_path):
    write(tmp_path, {"AGENTS.md": "# Mine\n"})
    init("shell", "--scope", "project")
    file = tmp_path / "AGENTS.md"
    file.write_text(file.read_text().replace("spill outline", "spill overview") + "\n# Mine, too\n")
    assert "changed " in init("shell", "--scope", "project")
    assert LINES in file.read_text()
    init("shell", "--scope", "project", "--uninstall")
    assert file.read_text() == "# Mine\n\n# Mine, too\n"


def test_an_older_backup_is_never_written_over(init, tmp_path):
    file, backup = tmp_path / CLAUDE, tmp_path / (CLAUDE + ".spillover-backup")
    write(tmp_path, {CLAUDE: '{"a": 1}', CLAUDE + ".spillover-backup": "an old one"})
    init("claude-code", "--scope", "project")
    assert backup.read_text() == "an old one"
    assert Path(f"{backup}-2").read_text() == '{"a": 1}'
    init("claude-code", "--scope", "project", "--uninstall")
    assert file.read_text() == '{"a": 1}'
    assert backup.read_text() == "an old one"


BROKEN = {
    "half of it": ("claude-code", CLAUDE, '{"hooks": {', "it is not JSON, not even with comments"),
    "an open comment": ("claude-code", CLAUDE, '{"a": 1} /* mine', "it is not JSON, not even with comments"),
    "a list": ("claude-code", CLAUDE, "[]", "it is not an object. Fix it first, or add this by hand"),
    "hooks that are none": ("claude-code", CLAUDE, '{"hooks": []}', "hooks is not an object"),
    "an event that is none": (
        "claude-code",
        CLAUDE,
        '{"hooks": {"PostToolUse": 5}}',
        "hooks.PostToolUse is not a list",
    ),
    "another server of our name": (
        "gemini",
        GEMINI,
        '{"mcpServers": {"spillover": {"command": "x"}}}',
        "there is another mcpServers.spillover",
    ),
    "no TOML": ("codex", CODEX, "model = ", "valid TOML"),
    "servers on one line": ("codex", CODEX, 'mcp_servers = {a = {command = "x"}}\n', "cannot be added to it"),
    "a server of our name": ("codex", CODEX, '[mcp_servers.spillover]\ncommand = "x"\n', "another"),
    "a mark without its end": ("codex", "AGENTS.md", "<!-- spillover: written by `spill init` -->\n", "belongs to it"),
    "a plugin of somebody else": ("opencode", PLUGIN, "export const Mine = async () => ({})\n", "not ours"),
    "no text": ("claude-code", CLAUDE, '{"a": "\udce9"}', "not UTF-8"),
}


@pytest.mark.parametrize(("host", "name", "text", "why"), BROKEN.values(), ids=BROKEN)
def test_what_cannot_be_changed_safely_is_not_changed_and_it_is_said(spill, tmp_path, host, name, text, why):
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    before = tree(tmp_path)
    said = spill("init", host, "--scope", "project")
    assert (said.returncode, said.stdout) == (2, "")
    assert why in said.stderr
    assert str(tmp_path / name) in said.stderr
    assert tree(tmp_path) == before


def test_where_it_must_be_added_by_hand_it_says_what(spill, tmp_path):
    write(tmp_path, {CLAUDE: "{ /* mine"})
    said = spill("init", "claude-code", "--scope", "project")
    snippet = said.stderr[said.stderr.index("{\n") :]
    assert json.loads(snippet)["hooks"]["PostToolUse"][0]["hooks"] == [HOOK]


def test_a_link_is_followed_and_stays_a_link(init, tmp_path, home):
    dotfiles = tmp_path / "dotfiles"
    write(dotfiles, {"claude.json": '{"a": 1}\n'})
    (home / ".claude").mkdir()
    (home / CLAUDE).symlink_to(dotfiles / "claude.json")
    init("claude-code")
    assert (home / CLAUDE).is_symlink()
    assert "spill hook claude-code" in (dotfiles / "claude.json").read_text()
    init("claude-code", "--uninstall")
    assert tree(dotfiles).keys() == {"claude.json"}
    assert (dotfiles / "claude.json").read_text() == '{"a": 1}\n'


@pytest.mark.parametrize("there", [True, False], ids=["to a file", "to nowhere"])
def test_a_link_out_of_the_project_is_not_followed(spill, tmp_path, home, there):
    outside = home / "authorized_keys"
    if there:
        outside.write_text("mine\n")
    (tmp_path / "AGENTS.md").symlink_to(outside)
    said = spill("init", "shell", "--scope", "project")
    assert said.returncode == 2
    assert "nothing was changed" in said.stderr
    assert tree(home) == ({"authorized_keys": (b"mine\n", stat.S_IMODE(outside.stat().st_mode))} if there else {})


def test_two_names_for_one_file_are_one_file(init, tmp_path):
    write(tmp_path, {"AGENTS.md": "# Mine\n"})
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    init("shell", "--scope", "project")
    assert (tmp_path / "AGENTS.md").read_text().count("<!-- /spillover -->") == 1
    assert (tmp_path / "CLAUDE.md").is_symlink()


def test_a_place_that_cannot_be_written_is_said(spill, tmp_path):
    (tmp_path / ".claude").write_text("in the way")
    said = spill("init", "claude-code", "--scope", "project")
    assert said.returncode == 2
    assert f"{tmp_path}/.claude/settings.json cannot be read: Not a directory" in said.stderr


def test_when_the_second_file_is_wrong_the_first_is_not_written_either(spill, tmp_path):
    (tmp_path / "AGENTS.md").mkdir()
    said = spill("init", "codex", "--scope", "project")
    assert said.returncode == 2
    assert tree(tmp_path) == {}


def test_a_file_that_somebody_changes_meanwhile_is_left_to_them(tmp_path):
    hook, _ = targets(find("claude-code"), "project", {}, str(tmp_path))
    change = plan_install(hook)
    write(tmp_path, {CLAUDE: '{"a": 1}'})
    with pytest.raises(UsageError, match="just now"):
        apply(change)
    assert (tmp_path / CLAUDE).read_text() == '{"a": 1}'


def test_the_lines_are_printed_for_whoever_asks(init):
    assert init("shell") == LINES


def test_every_command_in_the_lines_is_one_that_spill_understands():
    commands = re.findall(r"`(spill [^`]+)`", LINES)
    assert len(commands) >= 6
    for words in commands:
        parse(shlex.split(words)[1:])


def test_what_the_lines_promise_is_true(spill):
    ran = spill(
        "run", "--lines", "20", "--tool", "make", "--", "sh", "-c", "seq 5000 | sed 's/^/n /'; echo Error >&2; exit 3"
    )
    assert ran.returncode == 3, "the exit code is the command's own"
    ref = re.search(r"make-[0-9a-f]{12}", ran.stdout.splitlines()[0] + ran.stdout.splitlines()[1])[0]
    for words in re.findall(r"`(spill (?:grep|read|outline|list)[^`]*)`", LINES):
        answer = spill(*shlex.split(words.replace("REF", ref))[1:])
        assert answer.returncode == 0, words
    assert "120: n 120" in spill("read", "last:make", "120:180").stdout


def test_shell_has_no_file_of_the_user(spill):
    said = spill("init", "shell", "--scope", "user")
    assert said.returncode == 2
    assert "--scope project" in said.stderr


def test_without_spill_on_the_path_it_says_so(spill):
    said = spill("init", "claude-code", env={"PATH": "/nowhere"})
    assert said.returncode == 0
    assert "not on your PATH" in said.stderr


def checked(spill, **env):
    checks = json.loads(spill("doctor", "--json", env=env).stdout)
    return [(one["check"], one["ok"], one["said"]) for one in checks if one["check"] in HOSTS]


def test_doctor_says_nothing_of_hosts_that_have_nothing_of_ours(spill, home):
    write(home, {CLAUDE: "{ // mine\n}", CODEX: "model = "})
    assert checked(spill) == []


def test_doctor_finds_what_is_installed_and_that_it_works(spill, init, home):
    for host in HOSTS[:4]:
        init(host)
    found = checked(spill)
    assert [(host, ok) for host, ok, _ in found] == [
        ("claude-code", True),
        ("claude-code", True),
        ("opencode", True),
        ("codex", True),
        ("codex", True),
        ("codex", True),
        ("gemini", True),
        ("gemini", True),
    ]


def test_doctor_finds_what_does_not_work_any_more(spill, init, home, tmp_path):
    for host in HOSTS[:4]:
        init(host)
    assert {ok for _, ok, _ in checked(spill, PATH="/nowhere")} == {False}
    fake = tmp_path / "bin" / "spill"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\nexit 2\n")
    fake.chmod(0o755)
    answers = {host: ok for host, ok, _ in checked(spill, PATH=str(fake.parent))}
    assert answers["claude-code"] is False
    (home / CODEX).write_text((home / CODEX).read_text().replace('"spill"', '"spell"'))
    assert ("codex", False) in [(host, ok) for host, ok, _ in checked(spill)]


FREE = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | FREE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FREE, inner, max_size=3),
    max_leaves=8,
)
JSON_FILES = st.builds(
    lambda value, indent, end: json.dumps(value, indent=indent, ensure_ascii=False) + end,
    st.dictionaries(FREE | st.sampled_from(["hooks", "mcpServers"]), JSON, max_size=4),
    st.sampled_from([None, 2, 4, "\t"]),
    st.sampled_from(["", "\n", "\r\n"]),
)
TOML_FILES = st.lists(
    st.sampled_from(["# mine", "", "a = 1", "[b]", "[mcp_servers.x]", 'command = "y"', "[[c]]"]), max_size=6
).map("\n".join)
PROSE = st.lists(FREE, max_size=5).map("\n".join)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data(), host=st.sampled_from(HOSTS))
def test_in_and_out_is_the_identity_whatever_was_there(tmp_path_factory, data, host):
    folder = tmp_path_factory.mktemp("any")
    for target in targets(find(host), "project", {}, str(folder)):
        kinds = {".json": JSON_FILES, ".toml": TOML_FILES, ".md": PROSE}
        text = data.draw(st.none() | kinds.get(Path(target.path).suffix, st.none()))
        if text is not None:
            write(folder, {os.path.relpath(target.path, folder): text})
    before = tree(folder)
    for target in targets(find(host), "project", {}, str(folder)):
        try:
            change = plan_install(target)
        except ValueError:  # as it says itself: nothing was changed
            continue
        apply(change)
        assert plan_install(target).is_noop
        if change.before is not None and target.path.endswith(".json"):
            old, new = json.loads(change.before or "{}"), json.loads(Path(target.path).read_text())
            assert all(new[key] == old[key] for key in old if key not in ("hooks", "mcpServers"))
        apply(plan_removal(target))
    assert tree(folder) == before


def test_copilot_and_pi_get_their_hooks(init, home):
    init("copilot")
    hooks = json.loads((home / ".copilot/hooks/spillover.json").read_text())
    assert (hooks["version"], [*hooks["hooks"]]) == (1, ["postToolUse"])
    assert hooks["hooks"]["postToolUse"][0]["bash"] == "spill hook copilot"
    init("pi")
    assert "tool_result" in (home / ".pi/agent/extensions/spillover.js").read_text()
    for host in ("copilot", "pi"):
        init(host, "--uninstall")
    assert tree(home) == {}


def test_every_host_ends_by_saying_what_it_cannot_do(init):
    for host in HOSTS:
        if host != "shell":
            planned, said = init(host, "--dry-run"), init(host)
            assert " ".join(find(host).cannot.split()) in " ".join(said.split())
            assert f"Undo: spill init {host} --uninstall\n" in said
            assert len(said.splitlines()) <= 22
            assert all(len(line) < 80 or line.startswith("wrote ") for line in said.splitlines())
            assert all(line.count("`") % 2 == 0 for line in said.splitlines()), "a command is broken"
            assert planned.partition("\nThen: ")[2] == said.partition("\nNow:  ")[2] != ""


@pytest.mark.parametrize("words", [*HOSTS, "shell --scope project", "mcp-json 'a file of mine.json'"])
def test_the_line_that_undoes_it_can_be_pasted(init, tmp_path, home, words):
    before = tree(tmp_path), tree(home)
    [undo] = [line for line in init(*shlex.split(words)).splitlines() if line.startswith("Undo: ")] or [None]
    if undo:
        assert (tree(tmp_path), tree(home)) != before
        init(*shlex.split(undo.removeprefix("Undo: spill init ")))
    assert (tree(tmp_path), tree(home)) == before


def test_claude_code_is_told_to_run_noisy_commands_in_spill_run(init, home):
    (home / ".claude").mkdir()
    (home / ".claude/CLAUDE.md").write_text("Mine.\n")
    init("claude-code")
    assert "spill run -- COMMAND" in (home / ".claude/CLAUDE.md").read_text()
    init("claude-code", "--uninstall")
    assert (home / ".claude/CLAUDE.md").read_text() == "Mine.\n"


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("host", HOSTS)
def test_uninstall_leaves_no_empty_folders(init, home, tmp_path, host, scope):
    if (host, scope) == ("shell", "user"):
        return

    def folders():
        return {path for base in (home, tmp_path) for path in base.rglob("*") if path.is_dir()}

    (home / ".config").mkdir(exist_ok=True)  # named by XDG_CONFIG_HOME
    before = folders()
    init(host, "--scope", scope)
    init(host, "--scope", scope, "--uninstall")
    assert folders() == before


FILES = {
    "cursor/mcp.json": (
        "mcpServers",
        '{\n  // mine\n  "mcpServers": {\n    "a": {"command": "x"}, // first\n  },\n}\n',
    ),
    ".vscode/mcp.json": ("servers", '{"servers": {}}'),
    "empty.json": ("mcpServers", ""),
    "zed/settings.json": (
        "context_servers",
        '/* zed */ {"theme": "x",\r\n "context_servers": {"b": {"command": "y"}}}\r\n',
    ),
}


@pytest.mark.parametrize(("name", "key", "text"), [(name, *rest) for name, rest in FILES.items()], ids=FILES)
def test_any_file_of_servers_gets_the_entry_and_keeps_its_comments(init, tmp_path, name, key, text):
    write(tmp_path, {name: text})
    init("mcp-json", str(tmp_path / name))
    there = (tmp_path / name).read_bytes().decode()
    assert read_jsonc(there)[key]["spillover"]["args"] == ["mcp"]
    for comment in ("// mine", "// first", "/* zed */"):
        assert (comment in there) == (comment in text)
    assert "nothing to do" in init("mcp-json", str(tmp_path / name))
    init("mcp-json", str(tmp_path / name), "--uninstall")
    assert (tmp_path / name).read_bytes().decode() == text


def test_mcp_json_wants_a_file(spill):
    assert "name the host's file" in spill("init", "mcp-json").stderr


def test_mcp_json_makes_no_folders(spill, tmp_path):
    said = spill("init", "mcp-json", str(tmp_path / "typo" / "dir" / "x.json"))
    assert (said.returncode, said.stdout) == (2, "")
    assert said.stderr.endswith(f"check the path, or make it first: mkdir -p {tmp_path}/typo/dir\n")
    assert not (tmp_path / "typo").exists()


def test_all_finds_what_is_installed(init, home, spill):
    (home / ".codex").mkdir()
    (home / ".copilot").mkdir()
    said = init("--all")
    assert "codex:\n" in said
    assert "copilot:\n" in said
    assert (home / CODEX).is_file()
    assert spill("init").returncode == 2
    assert spill("init", "codex", "--all").returncode == 2


MINE = 'model = "gpt-5" # mine\n'
OURS = '[mcp_servers.spillover]\ncommand = "spill"\nargs = ["mcp"]\n'
FIRST, LAST = "# >>> spillover: written by `spill init codex`\n", "# <<< spillover\n"
TRUST = '[projects."/home/me/app"]\ntrust_level = "trusted"\n'
OTHER = '[mcp_servers.other]\ncommand = "echo"\nargs = ["hi"]\n'
#: What Codex has made of the file, and what it would be without us.
REWRITTEN = {
    "as we left it": (MINE + "\n" + FIRST + OURS + LAST, MINE),
    "trust between our marks": (MINE + "\n" + FIRST + OURS + "\n" + TRUST + LAST, MINE + "\n" + TRUST),
    "after codex mcp add": (MINE + "\n" + OURS + "\n" + OTHER + LAST, MINE + "\n" + OTHER),
    "no marks left": (MINE + "\n" + OURS, MINE),
    "ours first": (OURS + "\n" + OTHER, OTHER),
    "with a table below ours": (
        MINE + "\n" + OURS + '\n[mcp_servers.spillover.env]\nA = "b"\n\n' + OTHER,
        MINE + "\n" + OTHER,
    ),
    "somebody's comment behind ours": (
        MINE + "\n" + OURS + "# about the other\n" + OTHER,
        MINE + "# about the other\n" + OTHER,
    ),
}


@pytest.mark.parametrize(("there", "without"), REWRITTEN.values(), ids=REWRITTEN)
def test_whatever_codex_makes_of_its_file_only_ours_is_taken_out(init, home, there, without):
    write(home, {CODEX: there})
    assert "nothing to do" in init("codex")
    init("codex", "--uninstall")
    assert (home / CODEX).read_text() == without


def proxy(*more):
    return {"command": "spill", "args": ["mcp", *more, "--", "some-server"]}


def test_where_several_entries_offer_our_tools_it_says_what_to_do(init, spill, home, tmp_path):
    file = tmp_path / ".mcp.json"
    others = {
        "big": proxy(),
        "db": proxy("--lines", "50"),
        "quiet": proxy("--no-tools"),
        "other": {"command": "x", "args": ["mcp"]},
    }
    file.write_text(json.dumps({"mcpServers": others}))
    said = init("mcp-json", str(file))
    assert f"spillover and big, db in {file} each offer read_output" in said
    assert 'Add "--no-tools" to the args of big, db, before "--"' in said
    told = [one for one in json.loads(spill("doctor", "--json").stdout) if one["check"] == "mcp"]
    assert [(one["ok"], "big, db" in one["said"]) for one in told] == [(True, True)]
    mine = {
        "a": {"command": "spill", "args": ["mcp", "--", "x", "--no-tools"]},
        "z": {"command": "/opt/bin/spill", "args": ["mcp"]},
    }
    file.write_text(json.dumps({"mcpServers": mine}))
    (told,) = [one for one in json.loads(spill("doctor", "--json").stdout) if one["check"] == "mcp"]
    assert told["said"].startswith("z and a in ")  # a server's own words are not ours, and z would have nothing left
    file.write_text(json.dumps({"mcpServers": {"big": proxy("--no-tools"), "db": {**proxy(), "disabled": True}}}))
    assert "--no-tools" not in init("mcp-json", str(file))
    assert not [one for one in json.loads(spill("doctor", "--json").stdout) if one["check"] == "mcp"]


def test_codex_and_gemini_are_told_of_other_entries_that_offer_our_tools(init, home):
    write(
        home,
        {
            CODEX: '[mcp_servers.big]\ncommand = "spill"\nargs = ["mcp", "--", "x"]\n',
            GEMINI: json.dumps({"mcpServers": {"big": proxy()}}),
        },
    )
    for host in ("codex", "gemini"):
        assert "spillover and big" in init(host)
        assert "each offer" not in init(host, "--uninstall")
