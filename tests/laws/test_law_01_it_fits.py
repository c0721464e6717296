"""Law 1: what reaches the model is within every limit, including the notice and the gap markers."""

import asyncio
import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from law_given import choices, cuts, law, law_for_processes, law_in_short, outputs
from law_naive import over, over_all
from law_ways import SOURCES, TOGETHER, WRAPPED
from msgspec.structs import replace

from spillover import Budget, Clipper, DirStore, Limits, MemoryStore
from spillover.testing import HOSTILE_REFS, FailingStore, put
from spillover.tokens import estimate
from support import SMALLEST, ToolClipper
from support import exact_counter as exact

STORES = {
    "memory": MemoryStore,
    "full": lambda: FailingStore(MemoryStore(), after_bytes=900),
    "closed": lambda: FailingStore(MemoryStore(), on="writer", reason="no such place " * 40),
    "gone at last": lambda: FailingStore(MemoryStore(), on="publish"),
}
stores = st.sampled_from([*STORES])


def is_whole(came):
    return all(clip.outcome == "whole" for clip in came.clips)


@law
@given(st.sampled_from([*SOURCES]), stores, choices, outputs, cuts)
def test_every_source_fits(tmp_path, way, store, chosen, data, cuts):
    clipper = ToolClipper(**chosen, store=STORES[store]())
    came = SOURCES[way](clipper, data, cuts, tmp_path)
    assert not over_all(came.texts, clipper, whole=is_whole(came))


@pytest.mark.parametrize("way", TOGETHER)
@law_in_short
@given(store=stores, chosen=choices, data=outputs, cuts=cuts)
def test_several_texts_fit_together(tmp_path, way, store, chosen, data, cuts):
    clipper = ToolClipper(**chosen, store=STORES[store]())
    came = TOGETHER[way](clipper, data, cuts, tmp_path)
    assert not over_all(came.texts, clipper, whole=is_whole(came) and way != "clip_many")  # one budget, no trigger


@law_in_short
@given(st.sampled_from([*WRAPPED]), stores, choices, outputs, cuts)
def test_what_a_wrapped_tool_gives_back_fits(tmp_path, way, store, chosen, data, cuts):
    clipper = ToolClipper(**chosen, store=STORES[store]())
    came = WRAPPED[way](clipper, data, cuts, tmp_path)
    assert not over(came.texts, clipper.settings.limits, clipper.settings.count)


@pytest.mark.parametrize("way", [*SOURCES, *TOGETHER, *WRAPPED])
def test_whichever_way_an_output_comes_in_it_fits_what_is_left_of_the_budget(tmp_path, way):
    budget = Budget(1_000)
    clipper = Clipper(Limits(tokens=800), keep="ends", store=MemoryStore(), budget=budget)  # it fills the limits
    data = "".join(f"{number} compiled src/module_{number}.c\n" for number in range(300)).encode()
    for _ in range(3):
        before = budget.used
        came = (SOURCES | TOGETHER | WRAPPED)[way](clipper, data, [3_000], tmp_path)
        assert budget.used - before >= sum(map(estimate, came.texts)) - 20
    assert 800 < budget.used <= 1_000 + 4 * SMALLEST["tokens"]


#: Valid and invalid requests for a stored output.
QUESTIONS = [
    *(("read_output", {"lines": lines}) for lines in (None, "1", "1:", "-5:", "2:+3", "7:9", ":", "0:1", "x" * 999, 10**30)),
    *(("read_output", {"bytes": which}) for which in ("1:", "5:90", "-40:", "999999999:", "一" * 999)),
    *(("read_output", {"lines": line, "columns": which}) for line in (1, "2", "1:9") for which in ("1:", "9:99", "-9:")),
    ("read_output", {"lines": "1", "bytes": "1"}),
    *(("read_output", {"lines": sent}) for sent in ([1, 3], "1-3", {"start": 2}, [], ["x"] * 999, {"長" * 999: 1})),
    *(("grep_output", {"pattern": word}) for word in ("x", ".", "line|長", r"\d+", "\\x{2028}", "^", "no such thing")),
    *(("grep_output", {"pattern": wrong}) for wrong in ("", "[", "(?=x)", "a\nb", "\ud800", "長" * 9_999, "(" * 999)),
    *(("grep_output", {"pattern": word * 999, "fixed": True}) for word in ("長 ", "z", "\x85\u2028", "'\"")),
    *(("grep_output", {"pattern": "0|a|長", "context": context}) for context in (1, 9, 1_000, 10**9, -1)),
    *(("grep_output", {"pattern": "X", "ignore_case": True, "start": start}) for start in ("3", "1:99", "99999", "nowhere")),
    ("outline_output", {}),
    ("list_outputs", {}),
    ("list_outputs", {"tool": "nobody"}),
    ("list_outputs", {"query": "長" * 999}),
]  # fmt: skip
#: The refs to use in them; "" stands for the output's own ref.
REFS = ("", "", "", "", "last", "last:no such command", "長" * 99, 5, *HOSTILE_REFS)


@law_in_short
@given(st.sampled_from(QUESTIONS), st.sampled_from(REFS), choices, outputs)
def test_every_answer_fits_and_stores_nothing(question, ref, chosen, data):
    store = MemoryStore()
    put(store, b"another", "長 a tool")
    record = put(store, bytes(data), chosen["tool"])
    clipper = ToolClipper(**chosen, store=store)
    name, asked = question
    ask = {tool.__name__: tool for tool in clipper.tools()}[name]
    answer = ask(ref or record.ref, **asked) if name != "list_outputs" else ask(**asked)
    sent = asked if name == "list_outputs" else {"ref": ref or record.ref, **asked}
    for said in (answer, clipper.dispatch(name, sent).text):
        assert not over([said], clipper.settings.limits, clipper.settings.count)
        assert said
    assert len(list(store.list())) == 2


@law_for_processes
@given(choices, outputs, st.booleans())
def test_what_a_command_printed_fits(tmp_path, chosen, data, awaited):
    path = tmp_path / "printed"
    path.write_bytes(data)
    clipper = ToolClipper(**chosen, store=MemoryStore())
    command = ["sh", "-c", 'cat "$0"; head -c 999 "$0" >&2; exit 3', str(path)]
    ran = asyncio.run(clipper.arun(command)) if awaited else clipper.run(command)
    assert ran.exit_code == 3
    assert not over_all([ran.clip.text], clipper, whole=ran.clip.outcome == "whole")


@law_for_processes
@given(choices, outputs, st.sampled_from(["filter", "run", "read", "grep"]))
def test_what_the_command_line_prints_fits(tmp_path, chosen, data, command):
    store = DirStore(tmp_path / "store", retention=None)
    ref = put(store, bytes(data)).ref
    limits = {name: value for name, value in chosen["limits"].given() if name != "tokens"} or {"lines": 4, "bytes": 200}
    # Limits that are not given have their defaults, far above any size here.
    named = [word for name, value in limits.items() for word in (f"--{name}", str(value))]
    words = {
        "filter": ["--keep", chosen["keep"], *named],
        "run": ["run", *named, "--", "cat"],
        "read": ["read", ref, "1:", "--tokens", "100"],
        "grep": ["grep", ref, "a|o|0", "-C", "1", *named],
    }[command]
    spill = [sys.executable, "-c", "from spillover.cli import main; raise SystemExit(main())", *words]
    env = {**os.environ, "SPILLOVER_STORE": str(store.root), "SPILLOVER_CONFIG": "none"}
    ran = subprocess.run(spill, input=bytes(data), capture_output=True, env=env, check=False)
    nothing_found = command == "grep" and ran.returncode == 1
    assert nothing_found or ran.returncode == 0
    assert ran.stderr == b""
    assert not over([ran.stdout.decode()], Limits(tokens=100) if command == "read" else Limits(**limits), estimate)


@settings(law, max_examples=200)  # each takes milliseconds, and the estimate's rounding is the harder case
@given(st.sampled_from([*SOURCES, *TOGETHER]), choices, outputs, cuts)
def test_with_an_exact_counter_it_fits_exactly(tmp_path, way, chosen, data, cuts):
    limits = replace(chosen["limits"], tokens=max(300, chosen["limits"].tokens or 0))
    clipper = Clipper(limits, tokenizer="o200k_base", keep=chosen["keep"], hints=chosen["hints"], store=MemoryStore())
    came = (SOURCES | TOGETHER)[way](clipper, data, cuts, tmp_path)
    assert not over(came.texts, limits, exact("o200k_base"))


#: Possible locations of a store; a notice may contain any of these paths.
ROOTS = [
    "plain",
    "with a space",
    "two\nlines",
    "line\u2028end",
    "長" * 60,
    "x" * 200,
    "half a character \udcff",
    "\x1b[31m]",
]


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize(
    "limits", [Limits(lines=4), Limits(bytes=200), Limits(chars=200), Limits(tokens=100), Limits()]
)
def test_wherever_the_store_is_a_notice_with_its_path_fits(tmp_path, root, limits):
    clipper = Clipper(limits, store=DirStore(tmp_path / root), hints=["path", "files", "agent", "cli", "tools"])
    clip = clipper.clip("one of many lines\n" * 50_000)
    assert clip.outcome == "stored"
    assert not over([clip.text], limits, estimate)
