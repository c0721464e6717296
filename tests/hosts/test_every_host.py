"""What holds for every agent, by its record alone: a new one needs its file, its line in hosts/__init__.py and its own test."""

import json
import re
from pathlib import Path

import pytest

import spillover
from spillover import Clipper, Limits, MemoryStore
from spillover.hosts import AGENTS, HOSTS, find, hook
from spillover.hosts.install import targets

SOURCES = Path(spillover.__file__).parent
#: Examples in the help, the profile of a system that is also an agent, and the models that have the name of an agent.
MENTIONS = {
    "cli/parsing.py": {"opencode"},
    "cli/agents.py": {"claude-code", "opencode", "codex"},
    "tokens.py": {"codex", "gemini"},
}

each_agent = pytest.mark.parametrize("host", AGENTS, ids=lambda host: host.name)


@pytest.fixture
def event(tmp_path):
    """Return the sample of an agent, in a session of its own."""
    return lambda host: {**host.hook.sample, "transcript_path": str(tmp_path / "chats" / "session.jsonl")}


def texts_in(value):
    """Yield every text in an answer; for a path of a file of ours, what is in the file."""
    if isinstance(value, str):
        yield Path(value).read_text() if "/tool-outputs/" in value else value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from texts_in(inner)


@each_agent
def test_a_long_result_is_stored_and_comes_back_within_what_the_agent_shows(host, event):
    clipper = Clipper(Limits(tokens=1_000_000), store=MemoryStore())
    answer = json.loads(json.dumps(hook.answer(host, event(host), lambda: clipper)))
    text = max(texts_in(answer), key=len)
    assert "Full output: " in text
    assert host.shows.hold(text, len)
    (record,) = clipper.settings.store.list()
    assert record.lines == 5_000


@each_agent
def test_whatever_fails_a_long_result_comes_back_bounded(host, event):
    text = max(texts_in(hook.answer(host, event(host), lambda: 1 / 0)), key=len)
    assert "spill failed (ZeroDivisionError)" in text
    assert host.shows.hold(text, len)


@each_agent
def test_an_event_without_a_result_changes_nothing_and_needs_no_clipper(host, event):
    for nothing in (None, 5, [], {}, {"tool": "x"}, {"hook_event_name": "SessionStart"}):
        assert hook.answer(host, nothing, lambda: pytest.fail("a Clipper was made")) is None
    for key in event(host):
        for value in (None, 5, [], {}):
            hook.answer(host, {**event(host), key: value}, lambda: Clipper(store=MemoryStore()))


@each_agent
def test_a_result_that_the_model_needs_word_for_word_stays(host, event):
    key = next(key for key in ("tool", "tool_name", "toolName") if key in host.hook.sample)
    for tool in host.hook.exact:
        assert hook.answer(host, {**event(host), key: tool}, Clipper) is None


@each_agent
def test_the_record_of_an_agent_is_complete(host, tmp_path):
    assert find(host.name) is host
    assert (SOURCES / "hosts" / f"{host.name.replace('-', '_')}.py").exists()
    assert all((host.title, host.seen_in, host.variable, host.shell_tool, host.shows, host.cut_mark, host.program))
    assert host.works.endswith(".")
    assert host.cannot.endswith(".")
    for scope in ("user", "project"):
        paths = [target.path for target in targets(host, scope, {"HOME": str(tmp_path)}, str(tmp_path))]
        assert paths
        assert all(path.startswith(str(tmp_path)) for path in paths)


def test_each_name_and_variable_belongs_to_one_host():
    assert len({host.name for host in HOSTS}) == len(HOSTS)
    assert len({host.variable for host in AGENTS}) == len(AGENTS)


def test_no_other_file_mentions_an_agent():
    words = {word for host in AGENTS for word in (host.name, host.title, host.variable) if len(word) > 2}
    pattern = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, sorted(words, key=len, reverse=True)))})(?![\w-])")
    mentions = {}
    for path in SOURCES.rglob("*.py"):
        name = path.relative_to(SOURCES).as_posix()
        if not name.startswith(("hosts/", "profiles/")):
            mentions[name] = set(pattern.findall(path.read_text())) - MENTIONS.get(name, set())
    assert {name: found for name, found in mentions.items() if found} == {}
    own = {path.name: set(pattern.findall(path.read_text())) for path in (SOURCES / "hosts").glob("*.py")}
    shared = {name: found for name, found in own.items() if name in ("host.py", "hook.py", "install.py", "edits.py")}
    assert {name: found for name, found in shared.items() if found} == {}
