"""With `redact`, no way in leads a secret to a model: every way, every format, whether it fits or not, whatever fails.

A way in is a row of WAYS, or of the tables in law_ways.py; hosts and frameworks are those of tests/hosts/test_contract.py.
"""

import dataclasses
import importlib.util
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

import msgspec
import pytest
from law_faults import CALLS, Faulty, failures
from law_ways import SOURCES, TOGETHER, WRAPPED

from spillover import Budget, Clipper, DirStore, Limits, MemoryStore, StoreError
from spillover.errors import ToolOutputError
from spillover.testing import content
from support import (
    ToolClipper,
    claude_code,
    cline,
    codex,
    copilot,
    finished,
    messages,
    pi,
    readable,
    with_tools,
    within,
)
from support import cover_secrets as cover
from support import opencode_host as opencode

TESTS = Path(__file__).parents[1]


def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


bench = load("bench_redact", TESTS.parent / "bench" / "redact.py")
contract = load("contract_of_hosts", TESTS / "hosts" / "test_contract.py")

FILLER = "a line of the log, and nothing in it\n"
TOKEN = "ghp_" + "aB3dE6gH9" * 4


class Row(msgspec.Struct):
    secret: str
    number: int = 3


@dataclasses.dataclass
class Pair:
    first: list
    beside: dict


class OddError(Exception):
    """An exception with words of its own."""

    def __init__(self, words):
        super().__init__()
        self.words = words

    def __str__(self):
        return self.words


def wrapped(make):
    def way(clipper, text):
        result = clipper.wrap(lambda: make(text))()
        plain = msgspec.to_builtins(result) if isinstance(result, (Row, Pair)) else result
        return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)

    return way


def raised(make):
    def way(clipper, text):
        def tool():
            raise make(text)

        try:
            clipper.wrap(tool)()
        except (ValueError, OSError, KeyError, SyntaxError, OddError, ToolOutputError) as error:
            return f"{error}{error!r}{error.__cause__!r}"

    return way


def through_proxy(method, kind, make):
    """Return a way through the MCP proxy: what its client is sent of an answer, or of what a server says by itself."""

    def way(clipper, text):
        whole = json.dumps(
            {"jsonrpc": "2.0", **({"id": 7} if kind != "params" else {"method": method}), kind: make(text)}
        )
        message = next(messages(whole.encode()))
        if kind == "params":
            line = within(message, clipper).line
        elif method == "initialize":
            line = with_tools(message, clipper)
        else:
            line = finished(method, message, clipper)
        return json.dumps(json.loads(readable(line, clipper)), ensure_ascii=False)

    return way


def retrieved(answer):
    def way(clipper, text):
        ref = Clipper(Limits(bytes=200), store=clipper.settings.store).clip(text + FILLER * 300).ref
        return answer(clipper, ref)

    return way


def pointed(answer):
    """Return a way back to a part of JSON, which is decoded when it is read."""

    def way(clipper, text):
        whole = json.dumps({"out": text, "rows": [FILLER] * 300})
        return answer(clipper, Clipper(Limits(bytes=200), store=clipper.settings.store).clip(whole).ref)

    return way


def block(text, **more):
    return {"type": "text", "text": text, **more}


CONTENT = {
    "text": block,
    "text with annotations": lambda text: block("fine", annotations={"note": text[:3_000]}),
    "resource": lambda text: {"type": "resource", "resource": {"uri": "a:b", "text": text}},
    "resource link": lambda text: {"type": "resource_link", "uri": f"a:{text[:900]}", "name": text[:900]},
    "of a kind to come": lambda text: {"type": "hologram", "words": [text[:3_000]]},
}
PROXY = {
    **{f"content: {name}": ("tools/call", "result", lambda text, make=make: {"content": [make(text)]}) for name, make in CONTENT.items()},
    "structuredContent": ("tools/call", "result", lambda text: {"content": [], "structuredContent": {"rows": [{"out": text}]}}),
    "structuredContent, under a key": ("tools/call", "result", lambda text: {"content": [], "structuredContent": {text[:3_000]: 1}}),
    "a result of no known shape": ("tools/call", "result", lambda text: {"out": text}),
    "_meta": ("tools/call", "result", lambda text: {"content": [block("ok")], "_meta": {"trace": text[:900]}}),
    "error": ("tools/call", "error", lambda text: {"code": -1, "message": text}),
    "data of an error": ("tools/call", "error", lambda text: {"code": -1, "message": "no", "data": {"why": [text]}}),
    "resources/read": ("resources/read", "result", lambda text: {"contents": [{"uri": "a:b", "text": text}]}),
    "prompts/get": ("prompts/get", "result", lambda text: {"description": text, "messages": [{"role": "user", "content": block(text)}]}),
    "completion": ("completion/complete", "result", lambda text: {"completion": {"values": [text[:900]]}}),
    "a list": ("resources/list", "result", lambda text: {"resources": [{"uri": "a:b", "description": text[:900]}]}),
    "instructions": ("initialize", "result", lambda text: {"capabilities": {}, "instructions": text[:900]}),
    "log message": ("notifications/message", "params", lambda text: {"level": "info", "data": text}),
    "progress": ("notifications/progress", "params", lambda text: {"progressToken": 1, "message": text[:900]}),
}  # fmt: skip


def run(clipper, text):
    return clipper.run(
        [sys.executable, "-c", "import sys; sys.stdout.write(sys.argv[1]); sys.stderr.write(sys.argv[1])", text]
    ).clip.text


def blocks(text):
    return [block(text), {"type": "resource", "resource": {"uri": "a:b", "text": text}}]


def of_claude_code(tool, response):
    return {"hook_event_name": "PostToolUse", "tool_name": tool, "tool_input": {}, "tool_response": response}


def of_codex(response, **more):
    return {
        "hook_event_name": "PostToolUse",
        "tool_name": "mcp__s__x",
        "tool_use_id": "c1",
        "tool_response": response,
        **more,
    }


def of_opencode(tool="bash", **more):
    return {"tool": tool, "callID": "c1", "args": {"command": "make"}, **more}


def of_copilot(text, **more):
    return {
        "toolName": "bash",
        "toolArgs": "{}",
        "toolResult": {"resultType": "success", "textResultForLlm": text, **more},
    }


def of_cline(output):
    return {"tool": "run_commands", "callID": "c1", "args": {}, "output": output}


#: What the hooks of the hosts are given, in the shapes that test_contract.py does not have.
HOOKED = {
    "claude code: stderr": (claude_code, lambda text: of_claude_code("Bash", {"stdout": "", "stderr": text})),
    "claude code: a file that is gone": (claude_code, lambda text: of_claude_code("Bash", {"stdout": text, "stderr": text, "persistedOutputPath": "/none"})),
    "claude code: grep": (claude_code, lambda text: of_claude_code("Grep", {"content": text, "filenames": [text[:900]]})),
    "claude code: glob": (claude_code, lambda text: of_claude_code("Glob", {"filenames": [text]})),
    "claude code: web": (claude_code, lambda text: of_claude_code("WebFetch", {"result": text, "url": text[:900]})),
    "claude code: search": (claude_code, lambda text: of_claude_code("WebSearch", {"results": [{"content": [{"title": text[:900]}]}, text]})),
    "claude code: agent": (claude_code, lambda text: of_claude_code("Task", {"content": blocks(text)})),
    "claude code: output of a task": (claude_code, lambda text: of_claude_code("TaskOutput", {"task": {"output": text}})),
    "claude code: resource": (claude_code, lambda text: of_claude_code("ReadMcpResourceTool", {"contents": [{"uri": "a:b", "text": text}]})),
    "claude code: an object": (claude_code, lambda text: of_claude_code("mcp__s__x", {"content": blocks(text)})),
    "opencode: blocks": (opencode, lambda text: of_opencode("s_x", content=blocks(text))),
    "opencode: below its output": (opencode, lambda text: of_opencode(output=f"ok\n\n<shell_metadata>\n{text}</shell_metadata>")),
    "pi: a failing command": (pi, lambda text: of_opencode(content=[block(f"{text}\n\nCommand exited with code 1")])),
    "copilot: what failed": (copilot, lambda text: of_copilot(text, error=text[:900])),
    "copilot: below its output": (copilot, lambda text: of_copilot(f"ok\n<shellId: {text[:190]} exit code 0>")),
    "cline: a text": (cline, of_cline),
    "cline: data": (cline, lambda text: of_cline({"content": blocks("ok"), "structuredContent": {"out": text[:900]}})),
    "cline: a list": (cline, lambda text: of_cline([text[:900], 1])),
    "cline: what failed": (cline, lambda text: of_cline([{"query": "make", "result": text, "error": text[:900]}])),
    "codex: data": (codex, lambda text: of_codex({"content": [], "structuredContent": {"out": text}})),
    "codex: a script": (codex, lambda text: of_codex({"content": [block(text)]}, tool_use_id="exec-1")),
}  # fmt: skip


def hooked(host, event):
    """Return a way through a hook, and through one that fails: what it answers, or what stays if it changes nothing."""

    def way(clipper, text):
        asked = event(text)
        answers = [host.reply(asked, lambda: clipper) or asked, host.reply(asked, lambda: 1 / 0) or asked]
        return json.dumps(answers, ensure_ascii=False)

    return way


def in_host(host):
    def way(clipper, text):
        return str(host.run(clipper, contract.Output((text,))).parts)

    return way


CODE = "import sys; from spillover.cli import main; sys.exit(main())"


def spill(folder, *words, given="", **env):
    """Return what `spill` prints as a process of its own."""
    env = {**os.environ, "SPILLOVER_REDACT": "shown", "SPILLOVER_STORE": str(folder / "store"), **env}
    command = [sys.executable, "-c", CODE, *map(str, words)]
    ran = subprocess.run(command, input=given, capture_output=True, text=True, env=env, cwd=folder, check=False)
    return ran.stdout + ran.stderr


#: Settings that cannot be used, whatever else they say.
WRONG = {"SPILLOVER_KEEP": "sideways"}


def printed(*words, given=str, kept=None, **env):
    """Return a way through `spill` as a process. `kept`: the words that print the output once it was kept as it came."""

    def way(clipper, text):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            env.update(SPILLOVER_TOKENS=str(clipper.settings.limits.tokens), SPILLOVER_REDACT=clipper.settings.redact)
            if kept is None:
                shown = spill(folder, *words, given=given(text), **env)
                stored = [path.read_bytes().decode("utf-8", "replace") for path in folder.rglob("*") if path.is_file()]
                return shown + "".join(stored if clipper.settings.redact == "stored" else ())
            for output in (FILLER * 3_000, text + FILLER * 3_000):
                spill(folder, "run", "--", "cat", given=output, SPILLOVER_REDACT="off")
            return spill(folder, *kept, **env)

    return way


#: Ways through a process of its own: all formats at once.
PROCESSES = {
    "spill": printed(),
    "spill with wrong settings": printed(**WRONG),
    "spill --json": printed("--json"),
    "spill run": printed("run", "--", "cat"),
    "spill run, stderr": printed("run", "--", "sh", "-c", "cat >&2"),
    "spill run with wrong settings": printed("run", "--", "cat", **WRONG),
    "spill run --since": printed("run", "--since", "last", "--", "cat"),
    "spill sh": printed("sh", "cat"),
    "spill sh with a pipe": printed("sh", "cat | tail -400"),
    "spill hook": printed("hook", "opencode", given=lambda text: json.dumps(of_opencode(output=text))),
    "spill hook with wrong settings": printed(
        "hook", "opencode", given=lambda text: json.dumps(of_opencode(output=text)), **WRONG
    ),
    "spill sh with wrong settings": printed("sh", "cat", **WRONG),
    "spill read": printed(kept=("read", "last", "1:90")),
    "spill read by bytes": printed(kept=("read", "last", "--bytes", "100:4000")),
    "spill grep": printed(kept=("grep", "last", "[A-Za-z0-9]{8}")),
    "spill outline": printed(kept=("outline", "last")),
    "spill diff": printed(kept=("diff", "last")),
}
#: Ways back to what was kept as it came.
BACK = {
    "read": retrieved(lambda clipper, ref: clipper.read(ref, lines="1:30").text),
    "read by bytes": retrieved(lambda clipper, ref: "".join(clipper.read(ref, bytes=f"{at}:{at + 60}").text.split("\n")[-1] for at in range(1, 300, 50))),
    "grep": retrieved(lambda clipper, ref: clipper.grep(ref, ".", context=1).text),
    "outline": retrieved(lambda clipper, ref: clipper.outline(ref).text),
    "diff": retrieved(lambda clipper, ref: clipper.diff(ref, clipper.clip(FILLER * 400).ref or ref).text),
    "read by columns": retrieved(lambda clipper, ref: clipper.read(ref, lines=1, columns="3:300").text),
    "grep one by one": retrieved(lambda clipper, ref: clipper.grep(ref, "[A-Za-z0-9]{8}", context=1).text),
    "read by pointer": pointed(lambda clipper, ref: clipper.read(f"{ref}#/out").text),
    "grep by pointer": pointed(lambda clipper, ref: clipper.grep(f"{ref}#/out", ".").text),
    "outline by pointer": pointed(lambda clipper, ref: clipper.outline(f"{ref}#/out").text),
    "since": retrieved(lambda clipper, ref: Clipper(clipper.settings.limits, store=clipper.settings.store, redact=clipper.settings.redact, since=ref).clip(content(clipper.settings.store, ref) + b"one line more\n").text),
    "tools": retrieved(lambda clipper, ref: clipper.tools()[0](ref)),
    "dispatch": retrieved(lambda clipper, ref: str(clipper.dispatch("read_output", {"ref": ref}))),
}  # fmt: skip
#: Ways in that law_ways.py does not have. A method of Clipper that gives a model something is in one of the tables.
WAYS = {
    "run": run,
    **{f"hook: {name}": hooked(*row) for name, row in HOOKED.items()},
    **{f"in: {name}": in_host(host) for name, host in contract.HOSTS.items()},
    **PROCESSES,
    "wrapped dict": wrapped(lambda text: {"a": {"secret words": text}}),
    "wrapped password": wrapped(lambda text: {"rows": [{"out": [text]}], "password": "hunter2x9!"}),
    "wrapped key": wrapped(lambda text: {text: 1}),
    "wrapped set": wrapped(lambda text: {text}),
    "wrapped list": wrapped(lambda text: [1, [text, None]]),
    "wrapped Struct": wrapped(Row),
    "wrapped dataclass": wrapped(lambda text: Pair([text], {"x": text})),
    "wrapped blocks with more": wrapped(lambda text: {"content": [block("fine", note=text[:900])], "beside": text[:900]}),
    "raised": raised(ValueError),
    "raised with a line of source": raised(lambda text: SyntaxError("no", ("a.py", 1, 1, text[:900]))),
    "raised OSError": raised(lambda text: OSError(5, text)),
    "raised, in several parts": raised(lambda text: KeyError(text, {"more": text.encode()})),
    "raised with words of its own": raised(OddError),
    "blocks with more": lambda clipper, text: json.dumps(clipper.clip_blocks([block(text, note=text[:900])]), ensure_ascii=False),
    "blocks for a program": lambda clipper, text: json.dumps(clipper.clip_blocks([block(text)], caller="code"), ensure_ascii=False),
    "clip for a program": lambda clipper, text: clipper.clip(text, caller="code").text,
    **BACK,
    **{f"proxy: {name}": through_proxy(*row) for name, row in PROXY.items()},
}  # fmt: skip
#: By law_ways.py and above: methods of Clipper by which something reaches a model.
COVERED = {"clip", "aclip", "capture", "clip_blocks", "clip_many", "clip_streams", "wrap", "run", "arun", "read", "grep", "outline", "diff",
           "tools", "dispatch", "adispatch", "tool_specs"}  # fmt: skip
NOTHING_IS_SHOWN = {"budget", "but", "call", "configured", "handles", "settings"}


def test_every_method_that_gives_a_model_something_is_a_way_in_of_this_law():
    assert {name for name in dir(Clipper) if not name.startswith("_")} == COVERED | NOTHING_IS_SHOWN


def secrets_of(text, secret):
    """Return what is readable of a secret that is worth having."""
    parts = secret.split("\n")[1:-1] if secret.startswith("-----") else [secret]
    runs = {part[at : at + 8] for part in parts for at in range(12 if len(part) >= 24 else 0, len(part) - 7)}
    return sorted(run for run in runs if run in text)


#: Every format through every way in where it fits; otherwise some of them.
PAIRS = {
    "it fits": ("shown", 0),
    "it fits, stored": ("stored", 2),
    "it overflows": ("shown", 2),
    "it overflows, stored": ("stored", 1),
}
#: Ways that start a process or an agent get all formats at once.
SLOW = {"run", *PROCESSES, *(way for way in WAYS if way.startswith("in: "))}


def kept_in(store):
    """Return everything that a store keeps, of outputs that fitted too."""
    kept = [content(store, record.ref) for record in store.list()] + [run.data or b"" for run in store.runs()]
    return b"\n".join(kept).decode("utf-8", "replace")


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("way", [*SOURCES, *TOGETHER, *WRAPPED, *WAYS])
def test_mcp_results_that_fit_were_not_covered_and_no_way_in_shows_a_secret(way, pair, tmp_path):
    dice = random.Random(f"{way} {pair}")
    redact, some = PAIRS[pair]
    kinds = dice.sample([*bench.KINDS], some or len(bench.KINDS))
    for group in [[*bench.KINDS]] if way in SLOW else [[kind] for kind in kinds]:
        drawn = [bench.KINDS[kind](dice) for kind in group]
        lines = [f"a {before}{secret}{behind} z" for before, secret, behind in drawn]
        text = "\n".join(lines)
        if "overflows" in pair:
            text = "\n".join([*lines, FILLER * (2_000 if way in SLOW else 600), *lines, ""])
        clipper = Clipper(Limits(tokens=8_000 if way in SLOW else 900), store=MemoryStore(), redact=redact)
        if way in WAYS:
            shown = WAYS[way](clipper, text)
        else:
            shown = "\n".join((SOURCES | TOGETHER | WRAPPED)[way](clipper, text.encode(), [], tmp_path).texts)
        if redact == "stored" and way not in BACK:
            shown += kept_in(clipper.settings.store)
        assert "redacted" in shown or len(group) == 1, shown[:1_000]
        for kind, (_, secret, _) in zip(group, drawn, strict=True):
            assert not secrets_of(shown, secret), (kind, shown[:1_000])
        assert "hunter2x9" not in shown


OPTIONS = ({"redact": "off"}, {"redact": "shown"}, {"redact": "stored"})
KEEPS = ("auto", "head", "tail", "ends", "signal")
PIECES = (None, 1, 4_000, 70_000)
LIMITS = (Limits(lines=20), Limits(bytes=900), Limits(chars=900), Limits(tokens=300), Limits(tokens=300, lines=30))
MORE = (
    {},
    {"worth": 0},
    {"worth": 0.9},
    {"since": "last"},
    {"query": "which line is 77"},
    {"tokenizer": lambda text: len(text) // 3 + 1},
    {"raw": True},
    {"cap": 10_000},
    {"budget": True},
    {"hints": "tools"},
    {"stats": True},
    {"rules": {"t*": {"keep": "tail"}}, "tool": "there"},
    {"scope": "a/b/c"},
)
TEXT = "".join(f"{number} a line\n" for number in range(2_500)) + f"Error: {TOKEN}\n" + "more\n" * 9_000 + TOKEN


@pytest.mark.parametrize("more", MORE, ids=lambda more: next(iter(more), "nothing else"))
def test_shown_with_a_failing_store_raised_an_index_error_and_no_options_do_with_any_failure(more, tmp_path):
    """Each redaction and each other option with each failure; limits, ends and pieces in turn, so that no two keep meeting."""
    start = MORE.index(more)
    turns = [itertools.cycle((*row[start % len(row) :], *row[: start % len(row)])) for row in (LIMITS, PIECES, KEEPS)]
    for options, name in itertools.product(OPTIONS, failures(tmp_path / "s")):
        limits, piece, keep = map(next, turns)
        store, cap = failures(tmp_path / "s")[name]
        given = {**more, **({"cap": cap} if cap else {}), **({"budget": Budget(9_000)} if "budget" in more else {})}
        clipper = ToolClipper(limits, store=store(), keep=keep, **options, **given)
        source = TEXT if piece is None else (TEXT[at : at + (piece * 997)] for at in range(0, len(TEXT), piece * 997))
        clip = clipper.clip(source)
        where = (options, keep, name, given, limits)
        assert clip.outcome in ("stored", "lost"), where
        assert options["redact"] == "off" or not secrets_of(clip.text, TOKEN), where


KEY_LINES = [f"{number:03}MIIEpAIBAAKCAQEA{number * 7919:08}abcdefghij" for number in range(300)]


def key_of(count):
    return "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *KEY_LINES[:count], "-----END RSA PRIVATE KEY-----", ""])


def test_the_rest_of_a_secret_behind_a_gap_was_shown_when_nothing_could_be_stored():
    for secret in (key_of(30), TOKEN + "\n"):
        for offset in range(1, len(secret), max(1, len(secret) // 12)):
            rest = 102_400 - len(secret) + offset
            text = "start\n" * 60_000 + secret + "ok\n" * (rest // 3) + "\n" * (rest % 3)
            shown = Clipper(store=DirStore("/dev/full"), redact="shown").clip(text).text
            assert not [line for line in KEY_LINES if line[4:27] in shown or line[-18:] in shown], (offset, shown[:900])
            assert not secrets_of(shown, TOKEN), (offset, shown[:900])


def test_the_rest_of_a_key_was_shown_when_clipping_itself_failed(monkeypatch):
    monkeypatch.setattr("spillover.kinds.cut.cut", lambda *_: 1 / 0)
    monkeypatch.setattr("spillover.fallback.SURVIVED", (Exception,))
    for store in (MemoryStore(), DirStore("/dev/full")):
        for lines in (30, 290):
            text = "start\n" * 60_000 + key_of(lines) + "ok\n" * 100
            shown = Clipper(Limits(tokens=60_000), store=store, redact="shown").clip(text).text
            assert "ZeroDivisionError" in shown
            assert not [line for line in KEY_LINES if line in shown], shown[-3_000:]


def test_a_token_that_a_cap_cut_in_two_was_shown_when_it_was_read_back():
    before = "".join(f"{number}\n" for number in range(20_000))
    for redact in ("shown", "stored"):
        for offset in range(1, len(TOKEN) + 2, 3):
            cap = len(before) + len("using ") + offset
            clipper = Clipper(Limits(tokens=300), store=MemoryStore(), redact=redact, cap=cap)
            clip = clipper.clip(f"{before}using {TOKEN}\n{before}")
            reads = [clipper.read(clip.ref, lines=20_001).text, clipper.read(clip.ref, bytes=f"{cap - 30}:{cap}").text]
            reads.append(clipper.grep(clip.ref, "^using|^.redacted|^[*]").text)
            assert not secrets_of("".join([clip.text, *reads]), TOKEN), (offset, reads)
            assert len(reads[0]) > 30


def test_a_part_of_an_output_that_is_decoded_when_it_is_read_shows_no_secret():
    text = json.dumps(
        {"out": f"a\n{TOKEN}\n", "far": "".join(f"\\u{ord(char):04x}" for char in TOKEN), "rows": ["x" * 50] * 400}
    )
    text = text.replace("\\\\u", "\\u")
    for redact in ("shown", "stored"):
        clipper = Clipper(Limits(tokens=900), store=MemoryStore(), redact=redact)
        ref = clipper.clip(text).ref
        for pointer in ("/out", "/far", ""):
            assert not secrets_of(clipper.read(ref + "#" + pointer if pointer else ref).text, TOKEN)


def test_what_a_host_gives_back_as_it_came_and_media_stay():
    clipper = Clipper(redact="shown", store=MemoryStore())
    picture = "iVBORw0KGgo" * 200
    line = json.dumps(
        {"id": TOKEN, "result": {"nextCursor": TOKEN, "content": [{"type": "image", "data": picture}, block(TOKEN)]}}
    ).encode()
    message = json.loads(readable(line, clipper))
    assert (message["id"], message["result"]["nextCursor"]) == (TOKEN, TOKEN)
    assert message["result"]["content"][0]["data"] == picture
    assert message["result"]["content"][1]["text"] == cover(TOKEN.encode())[0].decode()


SERVER = Path(__file__).parents[1] / "mcp" / "servers" / "plain.py"


@pytest.mark.parametrize("env", [{}, {"SPILLOVER_REDACT": "stored"}, WRONG], ids=["shown", "stored", "wrong settings"])
def test_the_mcp_proxy_once_passed_a_token_in_results_and_errors_that_fitted(env, tmp_path):
    calls = []
    for size in (100, 1_000, 8_000):
        text = TOKEN + "a line of it\n" * ((size - len(TOKEN)) // 13)
        calls += [("say", {"result": {"content": [block(text)]}}), ("error", {"error": {"code": -1, "message": text}})]
        calls += [("say", {"result": {"content": [], "structuredContent": {"nextCursor": text, "rows": [text]}}})]
    asked = [
        {"jsonrpc": "2.0", "id": at, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        for at, (name, arguments) in enumerate(calls)
    ]
    given = "".join(json.dumps(one) + "\n" for one in asked)
    shown = spill(tmp_path, "mcp", "--", sys.executable, SERVER, given=given, **env)
    assert {json.loads(line)["id"] for line in shown.splitlines() if line.startswith("{")} == {*range(len(calls))}
    assert shown.count("[redacted: github token") >= len(calls)
    assert not secrets_of(shown, TOKEN)


NOTED = {
    "a note": lambda error: error.add_note(f"it was {TOKEN}") or error,
    "a cause": lambda error: setattr(error, "__cause__", KeyError(TOKEN)) or error,
    "a context": lambda error: setattr(error, "__context__", KeyError(TOKEN)) or error,
    "a group": lambda error: ExceptionGroup("several", [error, OSError(5, TOKEN)]),
    "a line of source": lambda error: SyntaxError("no", ("a.py", 1, 1, f"x = '{TOKEN}'")),
}


@pytest.mark.parametrize("where", NOTED)
def test_what_a_traceback_prints_beside_a_short_exception_was_not_covered(where):
    def tool():
        raise NOTED[where](ValueError("no"))

    with pytest.raises((ValueError, ExceptionGroup, SyntaxError)) as caught:
        Clipper(redact="shown", store=MemoryStore()).wrap(tool)()
    shown = "".join(traceback.format_exception(caught.value))
    assert "[redacted: github token" in shown
    assert not secrets_of(shown, TOKEN)


def test_a_rule_that_exempts_a_tool_from_clipping_turned_off_covering():
    clipper = Clipper(LIMITS[1], store=MemoryStore(), redact="shown", rules={"own": {"clip": False}})
    text = FILLER * 300 + TOKEN
    for made in (text, {"out": text}, [block(text)]):
        shown = json.dumps(clipper.wrap(lambda made=made: made, tool="own")())
        assert len(shown) >= len(json.dumps(made))
        assert not secrets_of(shown, TOKEN)
    assert not [*clipper.settings.store.list()]


def test_lines_of_keys_without_a_space_were_taken_for_media():
    text = "password=hunter2x9\n" * 99
    for made in ({"out": text}, [block("ok", note=text)], [text]):
        assert "hunter2x9" not in json.dumps(
            Clipper(redact="shown", store=MemoryStore()).wrap(lambda made=made: made)()
        )


@pytest.mark.parametrize("call", CALLS)
def test_the_address_of_a_store_that_failed_was_shown_with_its_password(call):
    for number, error in enumerate((StoreError, OSError, ValueError)):
        store = Faulty(MemoryStore(), call, 0, lambda error=error: error(f"no answer from https://me:{TOKEN}@host"))
        clipper = Clipper(LIMITS[number], store=store, redact="shown", since="last")
        for made in (clipper.clip(FILLER * 3_000).text, clipper.wrap(lambda: {"a": FILLER * 3_000})()):
            assert not secrets_of(str(made), TOKEN)


@pytest.mark.parametrize("failure", ["open", "get", "read"])
def test_a_store_that_fails_while_an_output_is_read_shows_no_secret(failure):
    clipper = Clipper(Limits(tokens=900), store=MemoryStore(), redact="shown")
    ref = clipper.clip(FILLER * 300 + TOKEN + FILLER * 900).ref

    class Failing:
        def __getattr__(self, name):
            return getattr(clipper.settings.store, name)

        def get(self, *given):
            return fail() if failure == "get" else clipper.settings.store.get(*given)

        def open(self, *given):
            held = fail() if failure == "open" else clipper.settings.store.open(*given)
            return FailingBlob(held) if failure == "read" else held

    class FailingBlob:
        def __init__(self, held):
            self.held, self.reads = held, 0

        def __getattr__(self, name):
            return getattr(self.held, name)

        def read(self, start, end):
            self.reads += 1
            return self.held.read(start, end) if self.reads < 2 else fail()

    def fail():
        raise OSError(5, TOKEN)

    failing = Clipper(Limits(tokens=900), store=Failing(), redact="shown")
    for name, more in (("read_output", {}), ("outline_output", {}), ("grep_output", {"pattern": "ghp"})):
        assert not secrets_of(str(failing.dispatch(name, {"ref": ref, **more})), TOKEN)
