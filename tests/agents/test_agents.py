"""4 MB with an error in the middle, exit code 2: as a command, a piped command, an MCP text, MCP data and an MCP error.

In every host the error is in the model's next request, once, within what the host shows; going back works; and after the host
has rewritten its files, `--uninstall` leaves them as they would be without us.
"""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest
from model import Model

from conftest import HERE

pytestmark = pytest.mark.filterwarnings("ignore")  # connections that an agent never closed

CODE = "import sys; [print('step', n, 'compiling part', n) for n in range(60000)]; print('ERROR:', 'part9.c:17: no such type'); [print('step', n, 'compiling part', n) for n in range(60000)]; sys.exit(2)"  # fmt: skip
FAILING = f"python3 -c {shlex.quote(CODE)} 2>&1"
ERROR = "ERROR: part9.c:17: no such type"
SERVER = str(HERE / "server.py")


def claude(run, home, model, servers=None):
    more = []
    if servers:
        (home / "work/mcp.json").write_text(json.dumps({"mcpServers": servers}))
        more = ["--mcp-config", "mcp.json"]
    return run(
        "claude", "-p", "go", "--allowedTools", "Bash,mcp__big__probe", "--model", "claude-sonnet-4-5", *more,
        ANTHROPIC_BASE_URL=model.url, ANTHROPIC_API_KEY="sk-none", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
        ENABLE_TOOL_SEARCH="false", MCP_CONNECTION_NONBLOCKING="false",  # the tools of a server are offered at once
    )  # fmt: skip


def opencode(run, home, model, servers=None):
    folder = home / ".config/opencode"
    folder.mkdir(parents=True, exist_ok=True)
    models = {"m": {"limit": {"context": 200_000, "output": 8_000}}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{model.url}/v1", "apiKey": "x"},
        "models": models,
    }
    mcp = {
        name: {"type": "local", "command": [one["command"], *one["args"]], "enabled": True}
        for name, one in (servers or {}).items()
    }
    settings = {"provider": {"x": provider}, "model": "x/m", "permission": "allow", "mcp": mcp}
    (folder / "opencode.json").write_text(json.dumps(settings))
    return run("opencode", "run", "go")


def codex(run, home, model, servers=None, named="gpt-5"):
    folder = home / ".codex"
    folder.mkdir(exist_ok=True)
    path = folder / "config.toml"
    text = path.read_text() if path.exists() else ""
    for name, one in (servers or {}).items():
        if f"[mcp_servers.{name}]" not in text:
            text += (
                f"\n[mcp_servers.{name}]\ncommand = {json.dumps(one['command'])}\nargs = {json.dumps(one['args'])}\n"
            )
    path.write_text(text)
    provider = f'model_providers.x={{name="x",base_url="{model.url}/v1",wire_api="responses",env_key="KEY"}}'
    return run(
        "codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust",
        "-c", 'model_provider="x"', "-c", provider, "-c", f'model="{named}"', "go", KEY="x",
    )  # fmt: skip


def gemini(run, home, model, servers=None):
    path = home / ".gemini/settings.json"
    settings = json.loads(path.read_text()) if path.exists() else {}
    path.parent.mkdir(exist_ok=True)
    settings["security"] = {"auth": {"selectedType": "gemini-api-key"}}
    settings["privacy"] = {"usageStatisticsEnabled": False}
    settings.setdefault("mcpServers", {}).update(servers or {})
    path.write_text(json.dumps(settings, indent=2))
    return run(
        "gemini", "-p", "go", "--yolo", "-m", "gemini-2.5-pro",
        GEMINI_API_KEY="x", GOOGLE_GEMINI_BASE_URL=model.url, GEMINI_CLI_TRUST_WORKSPACE="true",
    )  # fmt: skip


def copilot(run, home, model, servers=None):
    folder = home / ".copilot"
    folder.mkdir(exist_ok=True)
    entries = {name: {"type": "local", **one, "tools": ["*"]} for name, one in (servers or {}).items()}
    (folder / "mcp-config.json").write_text(json.dumps({"mcpServers": entries}))
    return run(
        "copilot", "-p", "go", "--allow-all-tools", COPILOT_PROVIDER_BASE_URL=f"{model.url}/v1", COPILOT_PROVIDER_TYPE="openai",
        COPILOT_PROVIDER_API_KEY="x", COPILOT_MODEL="gpt-5", COPILOT_OFFLINE="true",
    )  # fmt: skip


def pi(run, home, model, servers=None):
    folder = home / ".pi/agent"
    folder.mkdir(parents=True, exist_ok=True)
    cost = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
    one = {
        "id": "m",
        "name": "m",
        "reasoning": False,
        "input": ["text"],
        "cost": cost,
        "contextWindow": 200_000,
        "maxTokens": 8_000,
    }
    provider = {"baseUrl": f"{model.url}/v1", "api": "openai-completions", "apiKey": "x", "models": [one]}
    (folder / "models.json").write_text(json.dumps({"providers": {"x": provider}}))
    return run("pi", "-p", "--provider", "x", "--model", "m", "go")


def cline(run, home, model, servers=None):
    settings = home / ".cline/data/settings"
    settings.mkdir(parents=True, exist_ok=True)
    (settings / "cline_mcp_settings.json").write_text(json.dumps({"mcpServers": servers or {}}))
    run("cline", "auth", "-p", "openai", "-k", "x", "-m", "gpt-5", "-b", f"{model.url}/v1")
    return run("cline", "--json", "-t", "120", "please\ngo\n")


#: host → (its name for `spill init`, how it is run, its shell, the argument for the line, how much it shows)
HOSTS = {
    "claude-code": (claude, "Bash", {"description": "x"}, 30_000),
    "opencode": (opencode, "bash", {"description": "x"}, 52_000),
    "gemini": (gemini, "run_shell_command", {"description": "x"}, 41_000),
    "copilot": (copilot, "bash", {"description": "x", "mode": "sync", "sessionId": "a"}, 21_000),
    "pi": (pi, "bash", {}, 52_000),
    "codex": (codex, "exec_command", {}, 10_500),
    "cline": (cline, "run_commands", {}, 8_000),
}
#: These show a hook all that a failing command printed. In the others the model runs it in `spill sh`, as its instructions say.
HOOK_SEES_FAILING = ("opencode", "pi", "gemini")
#: The hooks that see all, or the first part, of what a command printed that succeeded.
HOOKS = ("claude-code", "opencode", "pi", "copilot", "cline", "codex", "gemini")


def shell_arguments(host, line, more):
    """Return a line of shell as the host's tool wants it."""
    named = {"codex": {"cmd": line}, "cline": {"commands": [line]}}
    return {**named.get(host, {"command": line}), **more}


def in_spill_sh(host, line):
    """Return the line as a model runs it after it has read the instructions. Of a line that succeeds Cline shows no stderr."""
    spill = Path(sys.executable).with_name("spill") if host == "codex" else "spill"  # its login shell has its own PATH
    return f"{spill} sh {shlex.quote(line)}" + " 2>&1" * (host == "cline")


def result_in(said):
    """Return what the model reads of the result: what stands behind the last call of the tool."""
    return said[said.index("go\n") :]


def play_in_time(host, run, home, calls, answered):
    """Have a session; in Cline again if the result is not `answered`: on a busy machine its 2 s may be too few for the hook."""
    for _ in range(4 if host == "cline" else 1):
        model = Model(calls)
        HOSTS[host][0](run, home, model)
        model.close()
        if re.search(answered, result_in(model.said(1))):
            break
    return model


def check(model, most):
    assert len(model.requests) >= 2, "the host never came back with a result"
    said = result_in(model.said(1))
    assert said.count(ERROR) == 1
    assert len(said) <= most + 2_000
    return said


@pytest.mark.parametrize("host", HOSTS)
def test_a_failing_command_keeps_its_error_and_can_be_read_back(host, run, home):
    play, shell, more, most = HOSTS[host]
    assert run("spill", "init", host).returncode == 0
    line = FAILING if host in HOOK_SEES_FAILING else in_spill_sh(host, FAILING)
    spill = Path(sys.executable).with_name("spill") if host == "codex" else "spill"
    back = (shell, shell_arguments(host, f"{spill} grep last 'no such type'", more))
    model = Model([(shell, shell_arguments(host, line, more)), back])
    ended = play(run, home, model)
    said = check(model, most)
    assert "[Output clipped: " in said, ended.stderr[-500:]
    assert "60001: ERROR: part9.c:17: no such type" in result_in(model.said(2))
    model.close()


@pytest.mark.parametrize("host", HOOKS)
def test_a_command_that_succeeds_is_clipped_by_the_hook(host, run, home):
    _, shell, more, most = HOSTS[host]
    assert run("spill", "init", host).returncode == 0
    lines = 120_000 if host in ("claude-code", "opencode", "pi", "gemini") else 500  # the others cut before the hook
    (home / "work/spillover.toml").write_text("lines = 50\n")
    clipped = r"\[Output clipped: \d+ of (?:120,000|50\d) lines shown"  # Copilot CLI adds a line
    calls = [(shell, shell_arguments(host, f"seq -f 'part %g' {lines}", more))]
    said = result_in(play_in_time(host, run, home, calls, clipped).said(1))
    assert re.search(clipped, said)
    assert len(said) <= most + 2_000


#: How these say that a command ended with 3. The others keep their own line, or tell it apart from the text.
ENDINGS = {"codex": "Process exited with code 3", "gemini": "Exit Code: 3"}


@pytest.mark.parametrize("host", ENDINGS)
def test_a_failing_command_is_clipped_by_the_hook_and_keeps_its_exit_code(host, run, home):
    play, shell, more, _ = HOSTS[host]
    assert run("spill", "init", host).returncode == 0
    (home / "work/spillover.toml").write_text("lines = 50\n")
    model = Model([(shell, shell_arguments(host, "seq -f 'part %g' 500; exit 3", more))])
    play(run, home, model)
    said = result_in(model.said(1))
    assert re.search(r"\[Output clipped: \d+ of 500 lines shown", said)
    assert said.count(ENDINGS[host]) == 1
    model.close()


def test_a_script_in_codex_reads_what_its_commands_printed_and_runs_to_its_end(run, home):
    assert run("spill", "init", "codex").returncode == 0
    rows = "python3 -c 'import json; print(json.dumps([*range(4_000)]))'; exit 3"  # 22,891 bytes; the hook shows 8,900
    script = f"""
        const first = await tools.exec_command({{cmd: {json.dumps(rows)}}})
        text(`rows: ${{JSON.parse(first.output).length}}, exit code: ${{first.exit_code}}`)
        text((await tools.exec_command({{cmd: "echo the second command"}})).output)
        text((await tools.exec_command({{cmd: {json.dumps(shlex.join([str(Path(sys.executable).with_name("spill")), "list"]))}}})).output)
    """
    model = Model([("exec", script)])
    codex(run, home, model, named="gpt-6.1-sol")
    said = result_in(model.said(1)).partition('await tools.exec_command({cmd: "echo')[2]
    assert "rows: 4000, exit code: 3" in said
    assert "the second command" in said
    assert "22,891" in said, "all of it is stored"
    assert "[Output clipped: " not in said
    model.close()


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini"])
def test_the_model_is_told_to_run_noisy_commands_in_spill_run(host, run, home):
    assert run("spill", "init", host).returncode == 0
    model = Model([])
    HOSTS[host][0](run, home, model)
    assert "`spill run -- COMMAND`" in json.dumps(model.requests[0])
    model.close()


@pytest.mark.parametrize("host", ["claude-code"])
def test_no_hook_replaces_what_a_failing_command_printed(host, run, home):
    """What `spill init claude-code` says that it cannot do, seen again in each version."""
    assert run("spill", "init", host).returncode == 0
    (home / "work/spillover.toml").write_text("lines = 50\n")
    model = Model([("Bash", {"command": "seq -f 'part %g' 5000; exit 3", "description": "x"})])
    claude(run, home, model)
    said = result_in(model.said(1))
    assert "Exit code 3" in said
    assert "part 100\n" in said
    assert "part 2500\n" not in said
    assert len(said) < 12_000
    model.close()


def test_a_session_of_cline_goes_on_if_the_hook_hangs(run, home):
    """After 3 s Cline would end it."""
    assert run("spill", "init", "cline").returncode == 0
    slow = home / "slow/spill"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    path = run("sh", "-c", "echo $PATH").stdout.strip()
    model = Model([("run_commands", shell_arguments("cline", "seq -f 'part %g' 500", {}))])
    cline(lambda *words, **more: run(*words, PATH=f"{slow.parent}:{path}", **more), home, model)
    assert len(model.requests) == 2
    assert "part 250\\n" in result_in(model.said(1))
    model.close()


def test_gemini_shows_a_long_line_as_it_is_in_the_clip(run, home):
    assert run("spill", "init", "gemini").returncode == 0
    model = Model([("run_shell_command", {"command": "python3 -c 'print(\"x\" * 200_000)'", "description": "x"})])
    gemini(run, home, model)
    said = result_in(model.said(1))
    assert "[Output clipped: " in said
    assert "truncated" not in said
    assert "x" * 3_000 in said, "by itself, read_file cuts a line behind 2,000"
    assert not [*home.glob(".gemini/tmp/*/tool-outputs/spillover-*")]
    model.close()


def test_where_gemini_excludes_read_file_the_result_stays(run, home):
    (home / ".gemini").mkdir()
    (home / ".gemini/settings.json").write_text('{"tools": {"exclude": ["read_file"]}}')
    assert run("spill", "init", "gemini").returncode == 0
    (home / "work/spillover.toml").write_text("lines = 50\n")
    model = Model([("run_shell_command", {"command": "seq -f 'part %g' 500", "description": "x"})])
    gemini(run, home, model)
    said = result_in(model.said(1))
    assert "part 250\n" in said
    assert "[Output clipped: " not in said
    model.close()


#: What a hook alone makes of a failing command; "" where the host lets it have no more than a preview.
FAILING_BY_HOOK = {"opencode": "of 120,001 lines shown", "pi": "of 120,001 lines shown", "copilot": "of 120,001 lines shown", "cline": "preview"}  # fmt: skip


@pytest.mark.parametrize("host", FAILING_BY_HOOK)
def test_a_failing_command_is_whole_or_called_a_preview_by_the_hook_alone(host, run, home):
    _, shell, more, most = HOSTS[host]
    assert run("spill", "init", host).returncode == 0
    back = (shell, shell_arguments(host, "spill grep last 'no such type'", more))
    model = play_in_time(host, run, home, [(shell, shell_arguments(host, FAILING, more)), back], FAILING_BY_HOOK[host])
    said, found = result_in(model.said(1)), result_in(model.said(2))
    assert FAILING_BY_HOOK[host] in said, said[:2_000]
    assert len(said) <= most + 2_000
    assert ("60001: ERROR" in found) == (host != "cline"), found[-1_000:]
    assert re.search("exited? (?:with )?(?:exit )?code:? 2|exit code 2", found)


@pytest.mark.parametrize("host", HOSTS)
def test_a_piped_command_tells_what_its_filter_hid(host, run, home):
    play, shell, more, _ = HOSTS[host]
    assert run("spill", "init", host).returncode == 0
    model = Model([(shell, shell_arguments(host, in_spill_sh(host, f"{FAILING} | tail -5"), more))])
    play(run, home, model)
    said = result_in(model.said(1))
    assert re.search(
        r'\[All 120,001 lines that went into \\*"\| tail -5\\*" are kept: python3-\w+ · python3 exited 2\]', said
    )
    model.close()


def probe(host, run, home, servers):
    """Have the server's tool called; again where the host gave up before it had connected to the server."""
    for _ in range(4):
        model = Model([(lambda names: next((name for name in names if "probe" in name), None), {})])
        ended = MCP[host](run, home, model, servers)
        if len(model.requests) >= 2:
            break
        model.close()
    return model, ended


MCP = {name: play for name, (play, *_) in HOSTS.items() if name != "pi"}


@pytest.mark.parametrize("mode", ["text", "data", "error"])
@pytest.mark.parametrize("host", MCP)
def test_an_mcp_result_keeps_its_error_behind_the_proxy(host, mode, run, home):
    behind = {"big": {"command": "spill", "args": ["mcp", "--", "python3", SERVER, mode]}}
    model, ended = probe(host, run, home, behind)
    assert len(model.requests) >= 2, ended.stderr[-800:]
    said = result_in(model.said(1))
    assert said.count(ERROR) == 1
    assert len(said) < 60_000
    model.close()


@pytest.mark.parametrize("mode", ["text", "error"])
@pytest.mark.parametrize("host", ["claude-code", "opencode", "codex", "gemini"])
def test_an_mcp_result_keeps_its_error_with_the_hook_alone(host, mode, run, home):
    if host in ("claude-code", "codex") and mode == "error":
        pytest.skip("this host asks no hook that could replace an MCP result that is an error")
    assert run("spill", "init", host).returncode == 0
    model, _ = probe(host, run, home, {"big": {"command": "python3", "args": [SERVER, mode]}})
    said = check(model, 55_000)
    assert "of 120,001 lines shown" in said
    model.close()


def test_codex_rewrites_its_file_and_uninstall_leaves_what_is_its_own(run, home):
    path = home / ".codex/config.toml"
    path.parent.mkdir()
    path.write_text('model = "gpt-5" # mine\n')
    run("codex", "mcp", "add", "first", "--", "echo", "one")
    run("codex", "mcp", "add", "other", "--", "echo", "hi")
    without = path.read_bytes()
    run("codex", "mcp", "remove", "other")
    assert run("spill", "init", "codex").returncode == 0
    run("codex", "mcp", "add", "other", "--", "echo", "hi")
    assert "spillover" in path.read_text()
    assert run("spill", "init", "codex", "--uninstall").returncode == 0
    assert path.read_bytes() == without


@pytest.mark.parametrize("host", HOSTS)
def test_uninstall_leaves_no_trace_after_a_session(host, run, home):
    play = HOSTS[host][0]
    model = Model([])
    run("spill", "init", host)
    play(run, home, model)
    assert run("spill", "init", host, "--uninstall").returncode == 0
    files = [path for path in home.rglob("*") if path.is_file() and path.suffix in (".json", ".toml", ".js", ".md")]
    ours = [
        path
        for path in files
        if "backup" not in path.name and "state" not in path.parts[len(home.parts) : len(home.parts) + 1]
    ]
    assert [
        str(path)
        for path in ours
        if "spill hook" in Path(path).read_text(errors="replace")
        and "projects" not in str(path)
        and "session" not in str(path)
    ] == []
    model.close()
