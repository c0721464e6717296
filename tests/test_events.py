"""A scripted agent makes 500 calls by every way in. What it received, counted here, is what the journal adds up to."""

import asyncio
import io
import json
import random
import subprocess
import sys
from dataclasses import dataclass

import pytest

from spillover import Clipper, DirStore, Limits, journal
from spillover.frameworks import clip_parts, clip_value
from spillover.run.line import run_line
from spillover.stats import add_up
from spillover.tokens import estimate
from support import claude_code, copilot
from support import opencode_host as opencode

CALLS = 500
CODE = "import sys; from spillover.cli import main; sys.exit(main())"


@dataclass
class Ran:
    stdout: str
    exit_code: int


class Agent:
    """Calls tools by every way in, and counts by itself the tokens of every text it is given."""

    def __init__(self, folder):
        self.folder, self.store = folder, DirStore(folder / "store")
        self.clipper = Clipper(Limits(tokens=600), store=self.store, stats=True, hints="tools", scope="agent")
        self.random = random.Random(7)
        self.received, self.shown, self.fetched, self.schemas = 0, 0, 0, 0
        self.refs = []

    def text(self):
        count = self.random.choice((0, 1, 5, 40, 400, 3_000))
        words = ("compiling", "ok", "ERROR: no such file", "passed", "ümlaut", "\x1b[31mred\x1b[0m", "x" * 90)
        return "".join(f"{number} {self.random.choice(words)}\n" for number in range(count))

    def shows(self, *texts):
        self.shown += sum(estimate(text) for text in texts if text)

    def fetches(self, *texts):
        self.fetched += sum(estimate(text) for text in texts if text)

    def remember(self, clip):
        if clip.ref:
            self.refs.append(clip.ref)

    # Clips

    def clip(self):
        clip = self.clipper.clip(self.text(), tool="bash")
        self.remember(clip)
        self.shows(clip.text)

    def clip_since(self):
        self.shows(self.clipper.clip(self.text(), since=self.ref()).text)

    def clip_a_file(self):
        self.shows(self.clipper.clip(io.BytesIO(self.text().encode())).text)

    def clip_from_async_code(self):
        async def source():
            yield self.text()

        self.shows(asyncio.run(self.clipper.aclip(source())).text)

    def capture(self):
        with self.clipper.capture() as capture:
            capture.write(self.text())
            capture.write(self.text(), "stderr")
        self.shows(capture.clip.text)

    def clip_streams(self):
        self.shows(self.clipper.clip_streams(stdout=self.text(), stderr=self.text()).text)

    def clip_blocks(self):
        blocks = self.clipper.clip_blocks(
            [{"type": "text", "text": self.text()}, {"type": "text", "text": self.text()}]
        )
        self.shows(*(block["text"] for block in blocks))

    def clip_many(self):
        clips = self.clipper.clip_many({name: self.text() for name in "abcdef"})
        self.shows(*(clip.text for clip in clips.values()))

    def wrap_text(self):
        self.shows(self.clipper.wrap(self.text, tool="wrapped")())

    def wrap_blocks(self):
        result = self.clipper.wrap(lambda: {"content": [{"type": "text", "text": self.text()}], "isError": False})()
        self.shows(*(block["text"] for block in result["content"]))

    def wrap_object(self):
        result = self.clipper.wrap(lambda: Ran(self.text(), 1))()
        if isinstance(result, str):
            self.shows(result)
            return
        from spillover.results.objects import to_json

        self.shows(to_json(result))

    def wrap_error(self):
        def fail():
            raise ValueError(self.text())

        try:
            self.clipper.wrap(fail)()
        except ValueError as error:
            self.shows(str(error))

    def run(self):
        self.shows(self.clipper.run(["seq", "1", self.random.choice(("3", "4000"))]).clip.text)

    def run_a_line(self):
        ended = run_line("seq 1 3000 | tail -4", self.clipper)
        self.shows(ended.run.clip.text, *ended.notes)

    def hook_claude_code(self):
        out = {"stdout": self.text(), "stderr": "", "interrupted": False}
        event = {
            "hook_event_name": "PostToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": "make"},
            "tool_response": out,
        }
        said = claude_code.reply(event, lambda: self.clipper)
        new = said["hookSpecificOutput"]["updatedToolOutput"] if said else out
        self.shows(new["stdout"], new["stderr"])

    def hook_opencode(self):
        event = {"tool": "bash", "args": {"command": "make"}, "output": self.text()}
        said = opencode.reply(event, lambda: self.clipper)
        self.shows(said["output"] if said else event["output"])

    def hook_copilot(self):
        event = {
            "toolName": "bash",
            "toolArgs": {"command": "make"},
            "toolResult": {"resultType": "success", "textResultForLlm": self.text()},
        }
        said = copilot.reply(event, lambda: self.clipper)
        text = said["modifiedResult"]["textResultForLlm"] if said else event["toolResult"]["textResultForLlm"]
        self.shows(text)

    def framework_parts(self):
        kept = clip_parts([self.text(), self.text()], self.clipper.call(), get_text=str, with_text=lambda _, text: text)
        self.shows(*(text for _, text in kept))

    def framework_value(self):
        rows = [{"id": number, "text": "x" * 30} for number in range(self.random.choice((2, 900)))]
        value = clip_value(rows, self.clipper.call())
        self.shows(value if isinstance(value, str) else json.dumps(rows, ensure_ascii=False, indent=1))

    # Going back

    def ref(self):
        if not self.refs:
            self.clip()
        return self.random.choice(self.refs) if self.refs else "bash-0000000000000000"

    def tools(self):
        read, grep, outline, listing = self.clipper.tools()
        ref = self.ref()
        ask = self.random.choice(
            (
                lambda: read(ref, lines="10:30"),
                lambda: read("bash-ffffffffffffffff"),
                lambda: read(ref, lines="none"),
                lambda: read(ref, since=self.ref()),
                lambda: read(ref, since="bash-ffffffffffffffff"),
                lambda: grep(ref, "ERROR", context=1),
                lambda: grep(ref, "(("),
                lambda: grep("last:3", "passed"),
                lambda: outline(ref),
                listing,
            )
        )
        self.fetches(ask())

    def dispatch(self):
        arguments = self.random.choice(({"ref": self.ref(), "lines": "1:9"}, {"ref": "nothing-here"}, {}, "not json"))
        self.fetches(
            self.clipper.dispatch(self.random.choice(("read_output", "grep_output", "no_such_tool")), arguments).text
        )

    def api(self):
        ref = self.ref()
        if not self.refs:
            return
        self.fetches(self.clipper.read(ref, lines="5:9").text)
        self.fetches(self.clipper.grep(ref, "ok").text)
        self.fetches(self.clipper.outline(ref).text)
        self.fetches(self.clipper.diff(ref, since=self.ref()).text)

    def specs(self):
        style = self.random.choice(("openai", "anthropic"))
        self.schemas += estimate(json.dumps(self.clipper.tool_specs(style), ensure_ascii=False))


WAYS = [
    way
    for name, way in vars(Agent).items()
    if callable(way) and not name.startswith("_") and name not in ("text", "shows", "fetches", "remember", "ref")
]


@pytest.fixture
def agent(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Agent(tmp_path)


def test_what_a_scripted_agent_received_over_500_calls_is_what_the_journal_adds_up_to(agent):
    ways = {way.__name__: way for way in WAYS}
    assert len(ways) > 20
    for number in range(CALLS):
        way = WAYS[number % len(WAYS)]
        before = agent.shown + agent.fetched + agent.schemas
        way(agent)
        if number < len(WAYS):  # so that a failure names the way in
            total = add_up(journal.read_all(agent.store.root)).total
            assert total.received == agent.shown + agent.fetched + agent.schemas, (way.__name__, before)
    total = add_up(journal.read_all(agent.store.root)).total
    assert total.shown + total.notices == agent.shown
    assert total.fetched == agent.fetched
    assert total.schemas == agent.schemas
    assert total.produced >= total.shown > 0
    assert total.notices > 0


def test_what_the_command_line_printed_is_what_the_journal_adds_up_to(tmp_path, monkeypatch):
    """The last newline may be the terminal's: what is printed is the text, and a newline where it has none."""
    monkeypatch.setenv("SPILLOVER_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("SPILLOVER_TOKENS", "500")
    monkeypatch.chdir(tmp_path)
    place, received = str(tmp_path / "store"), 0

    def spill(*arguments, given=""):
        ran = subprocess.run(
            [sys.executable, "-c", CODE, *arguments], input=given.encode(), capture_output=True, check=False, timeout=60
        )
        return ran.stdout.decode(), ran.stderr.decode()

    long = "".join(f"line {number} of many\n" for number in range(3_000))
    event = {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_response": {"stdout": long, "stderr": ""}}
    ours = {**event, "tool_input": {"command": "spill read last | head"}}
    asked = [
        ("run", "--", "seq", "1", "4000"),
        ("run", "--", "echo", "hi"),
        ("sh", "seq 1 3000 | tail -3"),
        ("--tool", "make"),
        ("read", "last:seq", "100:120"),
        ("grep", "last:seq", "77$"),
        ("outline", "last:seq"),
        ("run", "--since", "last", "--", "seq", "1", "4000"),
        ("run", "--", "seq", "1", "4001"),
        ("diff", "last:seq 1 4000", "last:seq 1 4001"),
        ("hook", "claude-code"),
        ("hook", "opencode"),
    ]
    for arguments in asked:
        given = long if arguments[0] == "--tool" else ""
        if arguments[0] == "hook":
            given = json.dumps(event if arguments[1] == "claude-code" else {"tool": "bash", "output": long})
        out, words = spill(*arguments, given=given)
        if arguments[0] == "hook":
            said = json.loads(out)
            out = said["output"] if "output" in said else said["hookSpecificOutput"]["updatedToolOutput"]["stdout"]
        notes = words.splitlines() if arguments[0] == "sh" else []
        added = add_up(journal.read_all(place)).total.received - received
        forms = {estimate(form) + sum(map(estimate, notes)) for form in (out, out.removesuffix("\n"))}
        assert added in forms, arguments
        received += added
    short = {
        **ours,
        "tool_response": {"stdout": "100: line\n", "stderr": ""},
        "tool_input": {"command": "spill read last 1:1"},
    }
    spill("hook", "claude-code", given=json.dumps(short))  # it is an answer of ours, and noted as that
    assert add_up(journal.read_all(place)).total.received == received


def test_a_diff_is_a_line_of_the_journal_by_every_way_in_and_so_is_one_that_failed(agent, monkeypatch):
    old, new = (agent.clipper.clip("".join(f"{n} of {m}\n" for n in range(2_000)), tool="make") for m in ("a", "b"))
    given = {"ref": new.ref, "since": old.ref}
    agent.clipper.diff(new.ref, since=old.ref)
    agent.clipper.tools()[0](**given)
    agent.clipper.dispatch("read_output", given)
    agent.clipper.dispatch("read_output", {**given, "since": "make-ffffffffffffffff"})
    monkeypatch.setenv("SPILLOVER_STORE", str(agent.store.root))
    for words in (["diff", old.ref, new.ref], ["diff", new.ref]):
        subprocess.run([sys.executable, "-c", CODE, *words, "--scope", "agent"], capture_output=True, check=False)
    told = [entry for entry in journal.read(agent.store.root) if entry.operation != "clip"]
    assert [(entry.operation, entry.outcome) for entry in told] == [
        *[("diff", "stored")] * 3,
        ("diff", "failed"),
        *[("diff", "stored")] * 2,
    ]
    assert {entry.ref for entry in told} == {new.ref, ""}
    assert {entry.tool for entry in told if entry.ref} == {"make"}
    assert all(entry.shown > 0 for entry in told)
