"""opencode's own test cases, as tables: OC1 truncation, OC4 permissions, OC5 compaction, OC6 the second design.

Source: anomalyco/opencode at d545d8f, packages/opencode/test/{tool/truncation,agent/agent,session/message-v2}.test.ts and
packages/core/test/tool-output-store.test.ts. OC2 and OC3, its shell and its Read, are in test_opencode_tools.py.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from spillover.limits import Limits
from spillover.profiles import opencode, opencode_v2
from spillover.profiles.opencode_ids import ascending
from spillover.profiles.opencode_permission import evaluate, may_delegate, reading
from spillover.testing import FailingStore

MIB = 1 << 20
DAY = 24 * 60 * 60
MODELS = json.dumps({f"model-{number}": {"context": number, "name": "m" * 60} for number in range(1_000)}, indent=2)
MAY, MAY_NOT = ([{"permission": "task", "pattern": "*", "action": action}] for action in ("allow", "deny"))


def lines(count):
    return "\n".join(f"line{number}" for number in range(count))


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path / "tool-output")


#: id, text, config, what the call says, truncated, what is in the text, what is not in it.
OC1 = [
    ("OC1-1", MODELS, {}, {}, True, ["truncated..."], []),
    ("OC1-2", "line1\nline2\nline3", {}, {}, False, ["line1\nline2\nline3"], []),
    ("OC1-3", lines(100), {}, {"max_lines": 10}, True, ["...90 lines truncated..."], []),
    ("OC1-4", "a" * 1_000, {}, {"max_bytes": 100}, True, ["truncated..."], []),
    ("OC1-5", lines(10), {}, {"max_lines": 3}, True, ["line0", "line1", "line2"], ["line9"]),
    ("OC1-6", lines(10), {}, {"max_lines": 3, "direction": "tail"}, True, ["line7", "line8", "line9"], ["line0"]),
    ("OC1-10", lines(100), {"max_lines": 10, "max_bytes": MIB}, {}, True, ["...90 lines truncated..."], []),
    ("OC1-11", "a" * 1_000, {"max_lines": 1_000_000, "max_bytes": 100}, {}, True, ["bytes truncated..."], []),
    ("OC1-12", lines(50), {"max_lines": 10, "max_bytes": 100}, {"max_lines": 1_000, "max_bytes": MIB}, False, [], []),
    ("OC1-13", MODELS.replace("\n", ""), {}, {}, True, ["bytes truncated..."], []),
    ("OC1-14", lines(100), {}, {"max_lines": 10}, True,
     ["The tool call succeeded but the output was truncated", "Grep"], ["Task tool"]),
    ("OC1-17", "short content", {}, {}, False, ["short content"], []),
]  # fmt: skip


@pytest.mark.parametrize(
    ("case", "text", "config", "call", "truncated", "there", "absent"), OC1, ids=[row[0] for row in OC1]
)
def test_truncation(folder, case, text, config, call, truncated, there, absent):
    result = opencode.output(text, opencode.clipper(config={"tool_output": config}, folder=folder), **call)
    assert result["truncated"] is truncated
    assert [part for part in there if part not in result["content"]] == []
    assert [part for part in absent if part in result["content"]] == []
    if truncated:
        assert "tool_" in result["outputPath"]
        assert Path(result["outputPath"]).read_text() == text
    else:
        assert result == {"content": text, "truncated": False}
        assert not os.path.exists(folder), "nothing is written for what fits"


def test_oc1_7_and_8_the_defaults():
    assert (opencode.MAX_LINES, opencode.MAX_BYTES) == (2_000, 51_200)
    assert opencode.limits() == opencode.limits({}) == Limits(lines=2_000, bytes=51_200)


def test_oc1_9_the_config_sets_the_limits():
    config = {"tool_output": {"max_lines": 123, "max_bytes": 456}}
    assert opencode.limits(config) == Limits(lines=123, bytes=456)
    assert opencode.clipper(config=config).limits == Limits(lines=123, bytes=456)


@pytest.mark.parametrize(("case", "rules", "delegates"), [("OC1-15", MAY, True), ("OC1-16", MAY_NOT, False)])
def test_the_hint_is_for_what_the_agent_may_do(folder, case, rules, delegates):
    content = opencode.output(lines(100), opencode.clipper(permission=rules, folder=folder), max_lines=10)["content"]
    assert "Grep" in content
    assert ("Task tool" in content) is delegates


def test_oc1_18_it_can_be_imported_first_in_a_fresh_process():
    for module in ("opencode", "opencode_bash", "opencode_read", "opencode_v2"):
        subprocess.run([sys.executable, "-c", f"import spillover.profiles.{module}"], check=True)


def test_oc1_19_age_is_of_the_file_also_where_ids_wrap(folder):
    """Their ids hold 2^36 ms. By the id the recent file would be the older one: fresh outputs were deleted in August 2026."""
    wrap = 26 * 2**36 / 1_000  # 2026-08-14T11:19:55Z
    names = {age: ascending_at(wrap + shift) for age, shift in ((10, -7 * DAY), (3, 60))}
    assert names[3] < names[10], "by the name, the recent one is the older one"
    for age, name in names.items():
        place(folder, name, age)
    assert opencode.outputs(folder).sweep() == 1
    assert os.listdir(folder) == [names[3]]


def ascending_at(seconds):
    """A name of that moment; those made before it in this process would otherwise push it ahead."""
    from spillover.profiles import opencode_ids

    before, opencode_ids._last = opencode_ids._last, 0
    try:
        return ascending(seconds, "5" * 64)
    finally:
        opencode_ids._last = before


def place(folder, name, days):
    os.makedirs(folder, exist_ok=True)
    path = Path(folder, name)
    path.write_text("an output")
    os.utime(path, (time.time() - days * DAY,) * 2)


DENIED = [{"permission": "*", "pattern": "*", "action": "allow"},
          {"permission": "external_directory", "pattern": "*", "action": "deny"}]  # fmt: skip
#: id, the rules, what is asked for, the answer.
OC4 = [
    ("global deny", DENIED, "{folder}/*", "allow"),
    ("deny per agent, behind it", [*DENIED, DENIED[1]], "{folder}/*", "allow"),
    ("a file of it", DENIED, "{folder}/tool_1", "allow"),
    ("exactly that glob denied", [*DENIED, {**DENIED[1], "pattern": "{folder}/*"}], "{folder}/*", "deny"),
    ("the folder itself", DENIED, "{folder}", "deny"),
]


@pytest.mark.parametrize(("case", "rules", "asked", "answer"), OC4)
def test_outputs_may_be_read_whatever_else_is_denied(case, rules, asked, answer):
    at = "/data/tool-output"
    rules = [{key: value.format(folder=at) for key, value in rule.items()} for rule in rules]
    assert evaluate("external_directory", asked.format(folder=at), reading(rules, at)) == answer


#: rules for `task` in order, whether the agent may delegate. The last that matches decides; `?` is one character.
EVALUATED = [
    (None, False),
    ([], True),
    ([("task", "*", "deny"), ("task", "*", "allow")], True),
    ([("task", "*", "allow"), ("*", "*", "deny")], False),
    ([("task", "*", "deny"), ("task", "explore", "allow")], False),
    ([("ta?k", "*", "deny")], False),
    ([("t*", "*", "ask")], True),
    ([("task.", "*", "deny")], True),
]


@pytest.mark.parametrize(("rules", "may"), EVALUATED)
def test_the_last_rule_that_matches_decides(rules, may):
    keys = ("permission", "pattern", "action")
    assert may_delegate(rules and [dict(zip(keys, rule, strict=True)) for rule in rules]) is (may and rules is not None)


#: OC5: the output, how much stays, what stays.
OC5 = [
    ("abcdefghij", 4, "abcd\n[Tool output truncated for compaction: omitted 6 chars]"),
    ("abcd", 4, "abcd"),
    ("", 4, ""),
]


@pytest.mark.parametrize(("text", "most", "kept"), OC5)
def test_compaction(text, most, kept):
    assert opencode.compacted(text, most) == kept


def text(value):
    return {"type": "text", "text": value}


PNG = {"type": "file", "mime": "image/png", "uri": "data:image/png;base64," + "A" * (6 * MIB)}
#: id, the output, how many paths, what is in the file; None: what comes back is what went in.
OC6 = [
    ("OC6-1", {"structured": {"kind": "x"}, "content": [text("HEAD-" + "x" * 30_000), text("y" * 30_000 + "-TAIL")]},
     "HEAD-" + "x" * 30_000 + "y" * 30_000 + "-TAIL"),
    ("OC6-2", {"structured": {"text": "x" * 51_200}, "content": []},
     json.dumps({"text": "x" * 51_200}, indent=2)),
    ("OC6-3", {"structured": {}, "content": [PNG]}, None),
    ("OC6-4", {"structured": {}, "content": [text("x" * 51_201), PNG]}, "x" * 51_201),
    ("OC6-5", {"structured": {"text": "x" * 30_000}, "content": [text("x" * 30_000)]}, None),
    ("OC6-7", {"structured": {"big": object()}, "content": [text("present")]}, None),
]  # fmt: skip


@pytest.mark.parametrize(("case", "output", "stored"), OC6, ids=[row[0] for row in OC6])
def test_the_second_design(folder, case, output, stored):
    bound = opencode_v2.bound(output, opencode_v2.clipper(folder=folder))
    if stored is None:
        assert bound["output"] is output
        assert bound["outputPaths"] == []
        return
    [path] = bound["outputPaths"]
    shown, *media = bound["output"]["content"]
    assert Path(path).read_text() == stored
    assert bound["output"]["structured"] is output["structured"]
    assert media == [part for part in output["content"] if part["type"] != "text"]
    assert len(shown["text"].encode()) == 51_200
    assert f"... output truncated; full content saved to {path} ..." in shown["text"]


def test_oc6_6_a_folder_that_is_a_file_costs_the_path_and_not_the_call(folder):
    """Theirs: StorageError, and the successful call fails. Their own CONTEXT.md asks for what ours does."""
    Path(folder).write_text("in the way")
    given = {"structured": {"kind": "x"}, "content": [text("x" * 60_000), PNG]}
    bound = opencode_v2.bound(given, opencode_v2.clipper(folder=folder))
    shown = bound["output"]["content"][0]["text"]
    assert bound["outputPaths"] == []
    assert "... output truncated; full content not kept: " in shown
    assert len(shown.encode()) == 51_200
    assert bound["output"]["content"][1] is PNG
    assert Path(folder).read_text() == "in the way"


def test_oc6_8_an_interruption_stays_one_and_leaves_nothing(folder):
    class Interrupted(FailingStore):
        def writer(self):
            raise KeyboardInterrupt

    clipper = opencode_v2.clipper(store=Interrupted(opencode.outputs(folder)))
    with pytest.raises(KeyboardInterrupt):
        opencode_v2.bound({"content": [text("x" * 60_000)]}, clipper)
    assert not os.path.exists(folder)


def test_oc6_9_the_config_sets_its_limits_too(folder):
    clipper = opencode_v2.clipper(config={"tool_output": {"max_lines": 2, "max_bytes": 1_000}}, folder=folder)
    bound = opencode_v2.bound({"content": [text("one\ntwo\nthree")]}, clipper)
    [path] = bound["outputPaths"]
    assert bound["output"]["content"] == [text(f"... output truncated; full content saved to {path} ...")]


def test_oc6_10_only_old_outputs_go(folder):
    for name, days in (("tool_old", 8), ("tool_recent", 0), ("keep.txt", 8)):
        place(folder, name, days)
    assert opencode.outputs(folder).sweep() == 1
    assert sorted(os.listdir(folder)) == ["keep.txt", "tool_recent"]


#: What of these tables has no row above, and why.
NOT_OURS = {
    "OC6 registry": "their settlement fails with 'Failed to write tool output: disk full'; ours never does, see OC6-6",
    "OC6 bash": "their capture stops at 1 MiB and says so; ours is stored from byte 0, so there is nothing to say",
    "OC6 process": "a process buffer of 5 bytes; the same cut is in test_head_and_tail.py",
    "OC6 read v2": "strict UTF-8 makes a typed error of a broken byte; our Read shows it as U+FFFD and goes on",
}


def test_every_case_of_the_tables_has_a_row_or_a_reason():
    here = Path(__file__).read_text()
    wanted = [f"OC1-{n}" for n in range(1, 20)] + [f"OC6-{n}" for n in range(1, 11)]
    said = here.lower().replace("oc1_7_and_8", "oc1_7 oc1_8").replace("_", "-")
    assert [case for case in wanted if f"{case.lower()}" not in said] == []
    assert all(len(reason) > 20 for reason in NOT_OURS.values())
