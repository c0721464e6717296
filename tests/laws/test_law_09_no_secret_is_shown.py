"""With `redact`, no way in leads a secret to a model: every way, every format, whether it fits or not, whatever fails.

A way in is a row of WAYS, or of the tables in law_ways.py. What the hosts and the frameworks do is in tests/adapters/test_contract.py.
"""

import dataclasses
import importlib.util
import itertools
import json
import random
import sys
from pathlib import Path

import msgspec
import pytest
from law_faults import failures
from law_ways import SOURCES, TOGETHER, WRAPPED

from spillover import Clipper, Limits, MemoryStore
from spillover.adapters.mcp.answer import finished, readable, with_tools, within
from spillover.adapters.mcp.message import messages
from spillover.choices import Choices
from spillover.errors import ToolOutputError
from spillover.secrets.outputs import cover

_spec = importlib.util.spec_from_file_location("bench_redact", Path(__file__).parents[2] / "bench" / "redact.py")
bench = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(bench)

FILLER = "a line of the log, and nothing in it\n"
SIZES = {"it fits": 2, "it overflows": 3_000}
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
    "structuredContent, under a key": ("tools/call", "result", lambda text: {"content": [], "structuredContent": {text[-800:]: 1}}),
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
    "preview": retrieved(lambda clipper, ref: clipper.preview(ref).text),
    "tools": retrieved(lambda clipper, ref: clipper.tools()[0](ref)),
    "dispatch": retrieved(lambda clipper, ref: str(clipper.dispatch("read_output", {"ref": ref}))),
    **{f"proxy: {name}": through_proxy(*row) for name, row in PROXY.items()},
}  # fmt: skip
#: By law_ways.py and above: methods of Clipper by which something reaches a model.
COVERED = {"clip", "aclip", "capture", "clip_blocks", "clip_many", "clip_streams", "wrap", "run", "arun", "read", "grep", "outline", "diff",
           "preview", "tools", "dispatch", "adispatch", "tool_specs"}  # fmt: skip
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


@pytest.mark.parametrize("redact", ["shown", "stored"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("way", [*SOURCES, *TOGETHER, *WRAPPED, *WAYS])
def test_mcp_results_that_fit_were_not_covered_and_no_way_in_shows_a_secret(way, size, redact, tmp_path):
    dice = random.Random(f"{way} {size}")
    rest = FILLER * (SIZES[size] // 2)
    for kind in bench.KINDS if way in WAYS and SIZES[size] < 9 else dice.sample([*bench.KINDS], 3):
        before, secret, behind = bench.KINDS[kind](dice)
        text = (
            f"{before}{secret}{behind}\n{rest}{before}{secret}{behind}\n"
            if rest[99:]
            else f"a {before}{secret}{behind} z"
        )
        clipper = Clipper(Limits(tokens=900), store=MemoryStore(), redact=redact)
        if way in WAYS:
            shown = WAYS[way](clipper, text)
        else:
            shown = "\n".join((SOURCES | TOGETHER | WRAPPED)[way](clipper, text.encode(), [], tmp_path).texts)
        assert not secrets_of(shown, secret), (kind, shown[:1_000])
        assert "hunter2x9" not in shown


OPTIONS = (
    {"redact": "off"}, {"redact": "shown"}, {"redact": "stored"},
)  # fmt: skip
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
        more = {**more, **({"cap": cap} if cap else {})}
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
