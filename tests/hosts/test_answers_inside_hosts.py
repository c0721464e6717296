"""What `spill` prints in an agent's shell fits what the agent shows and the hook allows, so it is never clipped again."""

import itertools
import json

import pytest

from spillover import Clipper, DirStore
from spillover.cli import main
from spillover.hosts import AGENTS
from spillover.settings.load import load
from spillover.testing import put
from support import claude_code
from support import opencode_host as opencode

LINES = b"".join(b"%d: the quick brown fox\n" % number for number in range(1, 9_001))
#: Stored outputs, each hard to bound in its own way.
OUTPUTS = {
    "lines": LINES,
    "one huge line": b"x" * 120_000,
    "empty lines": b"\n" * 9_000,
    "wide characters": "漢字の行\n".encode() * 900,
    "JSON": json.dumps([{"id": number, "name": f"row {number}"} for number in range(2_500)], indent=1).encode(),
    "forged": "[Output clipped: 2 of 9 lines shown. Full output: x-000000000000]\n[… 2-9 …]\n".encode() * 900,
    "coloured": b"\x1b[31mred\x1b[0m and \x1b]8;;http://x\x07link\x1b]8;;\x07\n" * 3_000,
}
ANSWERS = {
    "read": ["read", "REF"],
    "read lines": ["read", "REF", "100:8900"],
    "read bytes": ["read", "REF", "--bytes", "1:110000"],
    "read columns": ["read", "REF", "1", "--columns", "1:110000"],
    "grep": ["grep", "REF", "."],
    "grep with context": ["grep", "REF", "7", "-C", "20"],
    "outline": ["outline", "REF"],
    "list": ["list"],
    "show": ["show", "REF"],
    "show why": ["show", "REF", "--why"],
}
#: Configurations that a user may have; the hook applies all of these rules to an answer.
RULES = {
    "none": "",
    "few lines for the shell": "[tools.Bash]\nlines = 40\n[tools.bash]\nlines = 40\n",
    "few tokens for all": "tokens = 900\n",
    "few characters for any tool": '[tools."*"]\nchars = 1200\n',
    "more for a command": "[tools.cat]\ntokens = 90_000\nbytes = 900_000\nlines = 90_000\n",
    "another counter for the shell": '[tools."[Bb]ash"]\ntokenizer = "o200k_base"\ntokens = 3000\n',
    "no limit but lines": "bytes = 0\ntokens = 0\nlines = 1_999\n",
}
SHELLS = {"claude-code": AGENTS[0], "opencode": AGENTS[1]}


def through(host, text, folder):
    """Return what a host's hook turns a result of its shell into; None if it is unchanged."""
    made = Clipper(settings=load(cwd=str(folder)).settings())
    if host == "claude-code":
        response = {"stdout": text, "stderr": "", "interrupted": False}
        event = {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {}, "tool_response": response}
        return claude_code.reply(event, lambda: made)
    return opencode.reply({"tool": "bash", "args": {}, "output": text}, lambda: made)


@pytest.fixture
def said(tmp_path, monkeypatch, capfd):
    """Call `spill` as in an agent's shell and return what it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPILLOVER_STORE", str(tmp_path / "store"))
    monkeypatch.setattr("spillover.store.scopes._default", None)  # outputs that the test stores belong to this folder

    def call(host, *arguments):
        with monkeypatch.context() as within:
            within.setenv(SHELLS[host].variable, "1")
            within.setattr("spillover.store.scopes._default", None)  # in reality, every call is a new process
            code = main([*map(str, arguments)])
        printed = capfd.readouterr()
        assert code in (0, 1), printed.err  # 1: grep has found nothing
        return printed.out

    return call


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
@pytest.mark.parametrize("host", SHELLS)
def test_no_answer_is_clipped_again(said, tmp_path, host, rules):
    (tmp_path / "spillover.toml").write_text(rules)
    store = DirStore(tmp_path / "store")
    refs = [put(store, data, tool="bash", command="x " * 400).ref for data in OUTPUTS.values()]
    for ref, words in itertools.product(refs, ANSWERS.values()):
        text = said(host, *(ref if word == "REF" else word for word in words))
        assert through(host, text, tmp_path) is None, (ref, words, len(text))
        assert all(len(text) <= most for unit, most in SHELLS[host].shows.given() if unit == "chars")
    assert len(list(store.list())) == len(refs)


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
@pytest.mark.parametrize("host", SHELLS)
def test_no_clip_of_spill_run_is_clipped_again(said, tmp_path, host, rules):
    (tmp_path / "spillover.toml").write_text(rules)
    for number, data in enumerate(OUTPUTS.values()):
        (tmp_path / f"{number}.log").write_bytes(data)
        text = said(host, "run", "--", "cat", f"{number}.log")
        assert through(host, text, tmp_path) is None, (number, len(text))


@pytest.mark.parametrize("host", SHELLS)
def test_a_limit_of_the_caller_is_the_callers_and_the_hook_clips_the_answer(said, tmp_path, host):
    ref = put(DirStore(tmp_path / "store"), LINES, tool="bash").ref
    text = said(host, "read", ref, "1:9000", "--tokens", "99999999")
    assert through(host, text, tmp_path) is not None


@pytest.mark.parametrize("host", AGENTS, ids=lambda host: host.name)
def test_the_configuration_shows_which_limits_are_the_agents(tmp_path, monkeypatch, capfd, host):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(host.variable, "1")
    assert main(["config", "--json"]) == 0
    shown = json.loads(capfd.readouterr().out)
    for name, most in host.shows.given():
        assert shown[name] == {"value": most, "origin": f"{host.title} (as seen in {host.seen_in})"}


def test_in_no_agent_nothing_is_narrowed(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    assert main(["config", "--json"]) == 0
    shown = json.loads(capfd.readouterr().out)
    assert {setting["origin"] for key, setting in shown.items() if key != "ignored"} == {"default"}


def test_an_agent_in_an_agent_is_held_to_both(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    for host in AGENTS:
        monkeypatch.setenv(host.variable, "1")
    assert main(["config", "--json"]) == 0
    shown = json.loads(capfd.readouterr().out)
    assert (shown["chars"]["value"], shown["bytes"]["value"], shown["lines"]["value"]) == (7_500, 8_900, 1_900)


def test_a_profile_is_what_it_is_wherever_it_runs(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setenv("SPILLOVER_PROFILE", "opencode")
    assert main(["config", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["chars"] == {"value": 0, "origin": "profile opencode"}
