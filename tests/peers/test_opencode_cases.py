"""opencode's own test cases, as tables: OC1 truncation, OC4 permissions, OC5 compaction, and the part of OC6
(the second design) that also applies to the first.

Source: anomalyco/opencode at d545d8f, packages/opencode/test/{tool/truncation,agent/agent,session/message-v2}.test.ts and
packages/core/test/tool-output-store.test.ts. OC3, its Read, is in test_opencode_tools.py.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from spillover import Limits
from spillover.profiles import opencode
from spillover.profiles.opencode import allow_reading, evaluate, may_delegate
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


#: id, text, config, options of the call, truncated, what the text contains, what it does not contain.
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
    assert opencode.clipper(config=config).settings.limits == Limits(lines=123, bytes=456)


@pytest.mark.parametrize(("case", "rules", "delegates"), [("OC1-15", MAY, True), ("OC1-16", MAY_NOT, False)])
def test_the_hint_is_for_what_the_agent_may_do(folder, case, rules, delegates):
    content = opencode.output(lines(100), opencode.clipper(permission=rules, folder=folder), max_lines=10)["content"]
    assert "Grep" in content
    assert ("Task tool" in content) is delegates


def test_oc1_18_it_can_be_imported_first_in_a_fresh_process():
    subprocess.run([sys.executable, "-c", "import spillover.profiles.opencode"], check=True)


def test_oc1_19_age_is_that_of_the_file_even_if_ids_wrap(folder):
    """Their ids wrap after 2^36 ms. By id, a new file looked older, so new outputs were deleted in August 2026."""
    wrap = 26 * 2**36 / 1_000  # 2026-08-14T11:19:55Z
    names = {age: ascending_at(wrap + shift) for age, shift in ((10, -7 * DAY), (3, 60))}
    assert names[3] < names[10], "by the name, the recent one is the older one"
    for age, name in names.items():
        place(folder, name, age)
    assert opencode.outputs(folder).sweep_names() == 1
    assert os.listdir(folder) == [names[3]]


def ascending_at(seconds):
    """Return an id for this time."""
    return f"tool_{int(seconds * 1_000) * 4_096 % 2**48:012x}{'5' * 14}"


def place(folder, name, days):
    os.makedirs(folder, exist_ok=True)
    path = Path(folder, name)
    path.write_text("an output")
    os.utime(path, (time.time() - days * DAY,) * 2)


DENIED = [{"permission": "*", "pattern": "*", "action": "allow"},
          {"permission": "external_directory", "pattern": "*", "action": "deny"}]  # fmt: skip
#: id, rules, request, answer.
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
    assert evaluate("external_directory", asked.format(folder=at), allow_reading(rules, at)) == answer


#: rules for `task` in order, whether the agent may delegate. The last match decides; `?` matches one character.
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


#: OC5: output, how much is kept, what is kept.
OC5 = [
    ("abcdefghij", 4, "abcd\n[Tool output truncated for compaction: omitted 6 chars]"),
    ("abcd", 4, "abcd"),
    ("", 4, ""),
]


@pytest.mark.parametrize(("text", "most", "kept"), OC5)
def test_compaction(text, most, kept):
    assert opencode.compact(text, most) == kept


def test_oc6_8_an_interruption_stays_one_and_leaves_nothing(folder):
    class Interrupted(FailingStore):
        def writer(self):
            raise KeyboardInterrupt

    clipper = opencode.clipper(store=Interrupted(opencode.outputs(folder)))
    with pytest.raises(KeyboardInterrupt):
        clipper.clip("x" * 60_000)
    assert not os.path.exists(folder)


def test_oc6_10_only_old_outputs_go(folder):
    for name, days in (("tool_old", 8), ("tool_recent", 0), ("keep.txt", 8)):
        place(folder, name, days)
    assert opencode.outputs(folder).sweep_names() == 1
    assert sorted(os.listdir(folder)) == ["keep.txt", "tool_recent"]


#: The cases of these tables that have no row above, and why.
NOT_OURS = {
    "OC6-1 to OC6-7, OC6-9": "opencode's second design: in no document here; its cases for our own blocks are in test_blocks.py",
    "OC6 registry": "their settlement fails with 'Failed to write tool output: disk full'; ours never does, see test_opencode_files.py",
    "OC6 bash": "their capture stops at 1 MiB and says so; ours is stored from byte 0, so there is nothing to say",
    "OC6 process": "a process buffer of 5 bytes; the same cut is in test_head_and_tail.py",
    "OC6 read v2": "strict UTF-8 makes a typed error of a broken byte; our Read shows it as U+FFFD and goes on",
}


def test_every_case_of_the_tables_has_a_row_or_a_reason():
    here = Path(__file__).read_text()
    wanted = [f"OC1-{n}" for n in range(1, 20)] + ["OC6-8", "OC6-10"]
    said = here.lower().replace("oc1_7_and_8", "oc1_7 oc1_8").replace("_", "-")
    assert [case for case in wanted if f"{case.lower()}" not in said] == []
    assert all(len(reason) > 20 for reason in NOT_OURS.values())


def test_its_cleanup_was_missing_under_that_name(tmp_path):
    old, fresh = (tmp_path / f"tool_{name}" for name in ("0old", "1fresh"))
    for path in (old, fresh):
        path.write_text("an output")
    os.utime(old, (time.time() - 8 * 86_400,) * 2)
    assert opencode.cleanup(str(tmp_path)) == 1
    assert [path.name for path in tmp_path.iterdir()] == [fresh.name]
    assert opencode.cleanup(str(tmp_path / "none")) == 0
