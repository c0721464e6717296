"""With `redact`, no way in leads a secret to a model: every way, every format, whether it fits or not, whatever fails.

A way in is a row of WAYS, or of the tables in law_ways.py. What the hosts and the frameworks do is in tests/adapters/test_contract.py.
"""

import dataclasses
import importlib.util
import itertools
import json
import os
import random
import subprocess
import sys
import traceback
from pathlib import Path

import msgspec
import pytest
from law_faults import CALLS, Faulty, failures
from law_ways import SOURCES, TOGETHER, WRAPPED

from spillover import Budget, Clipper, Limits, MemoryStore, StoreError
from spillover.errors import ToolOutputError
from support import Choices, finished, messages, readable, with_tools, within
from support import cover_secrets as cover

_spec = importlib.util.spec_from_file_location("bench_redact", Path(__file__).parents[2] / "bench" / "redact.py")
bench = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(bench)

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
        except (ValueError, OSError, KeyError, OddError, ToolOutputError) as error:
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
        ref = Clipper(Limits(bytes=200), store=clipper.store).clip(text + FILLER * 300).ref
        return answer(clipper, ref)

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


#: Ways in that law_ways.py does not have. A method of Clipper that gives a model something is in one of the tables.
WAYS = {
    "run": run,
    "wrapped dict": wrapped(lambda text: {"a": {"secret words": text}}),
    "wrapped password": wrapped(lambda text: {"rows": [{"out": [text]}], "password": "hunter2x9!"}),
    "wrapped key": wrapped(lambda text: {text: 1}),
    "wrapped set": wrapped(lambda text: {text}),
    "wrapped list": wrapped(lambda text: [1, [text, None]]),
    "wrapped Struct": wrapped(Row),
    "wrapped dataclass": wrapped(lambda text: Pair([text], {"x": text})),
    "wrapped blocks with more": wrapped(lambda text: {"content": [block("fine", note=text[:900])], "beside": text[:900]}),
    "raised": raised(ValueError),
    "raised OSError": raised(lambda text: OSError(5, text)),
    "raised, in several parts": raised(lambda text: KeyError(text, {"more": text.encode()})),
    "raised with words of its own": raised(OddError),
    "blocks with more": lambda clipper, text: json.dumps(clipper.clip_blocks([block(text, note=text[:900])]), ensure_ascii=False),
    "blocks for a program": lambda clipper, text: json.dumps(clipper.clip_blocks([block(text)], caller="code"), ensure_ascii=False),
    "clip for a program": lambda clipper, text: clipper.clip(text, caller="code").text,
    "read": retrieved(lambda clipper, ref: clipper.read(ref, lines="1:30").text),
    "read by bytes": retrieved(lambda clipper, ref: "".join(clipper.read(ref, bytes=f"{at}:{at + 60}").text.split("\n")[-1] for at in range(1, 300, 50))),
    "grep": retrieved(lambda clipper, ref: clipper.grep(ref, ".", context=1).text),
    "outline": retrieved(lambda clipper, ref: clipper.outline(ref).text),
    "diff": retrieved(lambda clipper, ref: clipper.diff(ref, clipper.clip(FILLER * 400).ref or ref).text),
    "tools": retrieved(lambda clipper, ref: clipper.tools()[0](ref)),
    "dispatch": retrieved(lambda clipper, ref: str(clipper.dispatch("read_output", {"ref": ref}))),
    **{f"proxy: {name}": through_proxy(*row) for name, row in PROXY.items()},
}  # fmt: skip
#: By law_ways.py and above: methods of Clipper by which something reaches a model.
COVERED = {"clip", "aclip", "capture", "clip_blocks", "clip_many", "clip_streams", "wrap", "run", "arun", "read", "grep", "outline", "diff",
           "tools", "dispatch", "adispatch", "tool_specs"}  # fmt: skip
NOTHING_IS_SHOWN = {"asking", "configured", "handles"}


def test_every_method_that_gives_a_model_something_is_a_way_in_of_this_law():
    methods = {name for name, value in vars(Clipper).items() if callable(value) and not name.startswith("_")}
    made = {name for name in dir(Choices) if not name.startswith("_")}
    assert {name for name in dir(Clipper) if not name.startswith("_")} - made | methods <= COVERED | NOTHING_IS_SHOWN


def secrets_of(text, secret):
    """Return what is readable of a secret that is worth having."""
    parts = secret.split("\n")[1:-1] if secret.startswith("-----") else [secret]
    runs = {part[at : at + 8] for part in parts for at in range(12 if len(part) >= 24 else 0, len(part) - 7)}
    return sorted(run for run in runs if run in text)


#: Every format through every way in where it fits; where it overflows, some of them. `run` starts a process for each.
PAIRS = {"it fits": ("shown", 0), "it overflows": ("shown", 2), "it overflows, stored": ("stored", 1)}


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("way", [*SOURCES, *TOGETHER, *WRAPPED, *WAYS])
def test_mcp_results_that_fit_were_not_covered_and_no_way_in_shows_a_secret(way, pair, tmp_path):
    dice = random.Random(f"{way} {pair}")
    redact, some = PAIRS[pair]
    if way == "run" and not some:
        some = 3
    rest = FILLER * 600
    for kind in dice.sample([*bench.KINDS], some) if some else bench.KINDS:
        before, secret, behind = bench.KINDS[kind](dice)
        text = f"{before}{secret}{behind}\n{rest}{before}{secret}{behind}\n"
        text = text if pair != "it fits" else f"a {before}{secret}{behind} z"
        clipper = Clipper(Limits(tokens=900), store=MemoryStore(), redact=redact)
        if way in WAYS:
            shown = WAYS[way](clipper, text)
        else:
            shown = "\n".join((SOURCES | TOGETHER | WRAPPED)[way](clipper, text.encode(), [], tmp_path).texts)
        assert not secrets_of(shown, secret), (kind, shown[:1_000])
        assert "hunter2x9" not in shown


OPTIONS = ({"redact": "off"}, {"redact": "shown"}, {"redact": "stored"})
KEEPS = ("auto", "head", "tail", "ends", "signal")
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
)
TEXT = "".join(f"{number} a line\n" for number in range(6_000)) + f"Error: {TOKEN}\n" + "more\n" * 9_000 + TOKEN


def test_shown_with_a_failing_store_raised_an_index_error_and_no_options_do_with_any_failure(tmp_path):
    """Each redaction with each failure, and all other options in turn, so that no two of them keep meeting."""
    turns = (itertools.cycle(LIMITS), itertools.cycle(MORE), itertools.cycle((None, 1, 4_000, 70_000)))
    for (options, name), keep in zip(
        itertools.product(OPTIONS, failures(tmp_path / "s")), itertools.cycle(KEEPS), strict=False
    ):
        limits, more, piece = map(next, turns)
        store, cap = failures(tmp_path / "s")[name]
        more = {**more, **({"cap": cap} if cap else {}), **({"budget": Budget(9_000)} if "budget" in more else {})}
        clipper = Clipper(limits, store=store(), keep=keep, **options, **more)
        source = TEXT if piece is None else (TEXT[at : at + (piece * 997)] for at in range(0, len(TEXT), piece * 997))
        clip = clipper.clip(source)
        where = (options, keep, name, more, limits)
        assert clip.outcome in ("stored", "lost"), where
        assert options["redact"] == "off" or not secrets_of(clip.text, TOKEN), where


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


CODE = "import sys; from spillover.cli import main; sys.exit(main())"
SERVER = Path(__file__).parents[1] / "adapters" / "servers" / "plain.py"


def spill(folder, *words, given=""):
    """Return what `spill` prints as a process of its own."""
    env = {**os.environ, "SPILLOVER_REDACT": "shown", "SPILLOVER_STORE": str(folder / "store"), "TOKEN": TOKEN}
    command = [sys.executable, "-c", CODE, *map(str, words)]
    ran = subprocess.run(command, input=given, capture_output=True, text=True, env=env, cwd=folder, check=False)
    return ran.stdout + ran.stderr


@pytest.mark.parametrize("lines", [1, 9_000])
@pytest.mark.parametrize(
    "words",
    [
        (),
        ("run", "--", "cat"),
        ("run", "--", "sh", "-c", "cat >&2"),
        ("sh", "cat; echo $TOKEN"),
        ("sh", "cat | tail -3"),
    ],
)
def test_what_spill_prints_as_a_process_has_no_secret_in_it(words, lines, tmp_path):
    shown = spill(tmp_path, *words, given=f"it says {TOKEN}\n" * lines)
    assert "[redacted: github token" in shown
    assert not secrets_of(shown, TOKEN)


def test_the_mcp_proxy_once_passed_a_token_in_results_and_errors_that_fitted(tmp_path):
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
    shown = spill(tmp_path, "mcp", "--", sys.executable, SERVER, given=given)
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
    assert not [*clipper.store.list()]


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
            return getattr(clipper.store, name)

        def get(self, *given):
            return fail() if failure == "get" else clipper.store.get(*given)

        def open(self, *given):
            held = fail() if failure == "open" else clipper.store.open(*given)
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
