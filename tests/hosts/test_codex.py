"""Codex's hook: a result comes back as a text within 9,000 bytes, with the exit code that the reply would hide."""

import json

import pytest

from spillover import Clipper, Limits, MemoryStore
from spillover.hosts.codex import __file__ as SOURCE  # noqa: N812
from support import codex

LONG = "".join(f"line {number} of many\n" for number in range(1, 5_001))
#: As in 0.169: what the hook gets of a large output, and what the transcript has.
CUT = f"Warning: truncated output (original token count: 66455)\n... 16172 bytes omitted ...\n\n{LONG[:5_000]}…17 chars truncated…{LONG[-5_000:]}"
KEPT = f"{LONG[:32_000]}\n... command output truncated for persistence ...\n{LONG[-32_000:]}"


@pytest.fixture
def clipper():
    return Clipper(store=MemoryStore(), hints="cli")


@pytest.fixture
def shell(tmp_path):
    """An event of the shell; the transcript has an item with these fields."""

    def make(response, output=KEPT, call_id="call_1", **item):
        path = tmp_path / "rollout.jsonl"
        item = {"type": "CommandExecution", "id": "call_1", "aggregated_output": output, **item}
        lines = [
            {"type": "response_item", "payload": {"type": "function_call", "call_id": "call_1"}},
            {"type": "event_msg", "payload": {"type": "item_completed", "item": item}},
            {
                "type": "event_msg",
                "payload": {"type": "item_completed", "item": {**item, "id": "other", "exit_code": 77}},
            },
        ]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"payload": "call_1')
        return {
            "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "make"}, "cwd": "/",
            "tool_response": response, "tool_use_id": call_id, "transcript_path": str(path),
        }  # fmt: skip

    return make


def mcp(response, tool="mcp__s__t"):
    return {"hook_event_name": "PostToolUse", "tool_name": tool, "tool_response": response, "tool_use_id": "call_1"}


def blocks(*texts):
    return {"content": [{"type": "text", "text": text} for text in texts], "isError": False}


@pytest.mark.parametrize("exit_code", [0, 1, 2, 137])
def test_the_exit_code_stays_although_the_reply_replaces_it(clipper, shell, exit_code):
    answer = codex.reply(shell(CUT, exit_code=exit_code), lambda: clipper)
    assert answer == {"continue": False, "stopReason": answer["stopReason"]}
    assert answer["stopReason"].startswith("[Output clipped: ")
    assert answer["stopReason"].endswith(f"\nProcess exited with code {exit_code}")


def test_more_than_the_hook_is_shown_comes_from_the_transcript(clipper, shell):
    codex.reply(shell(CUT, exit_code=0), lambda: clipper)
    [record] = clipper.settings.store.list()
    assert (record.bytes, record.command, record.call_id) == (len(KEPT.encode()), "make", "call_1")


def test_of_a_command_that_codex_has_cut_the_clip_says_so(clipper, shell):
    cut = codex.reply(shell(CUT, exit_code=0), lambda: clipper)["stopReason"]
    assert "Codex had already cut the output" in cut
    whole = codex.reply(shell(CUT, output=LONG, exit_code=0), lambda: clipper)["stopReason"]
    assert whole.startswith("[Output clipped: ")
    assert "Codex had" not in whole


UNKNOWN = {
    "no transcript": {"transcript_path": "/no/such/file"},
    "no path": {"transcript_path": None},
    "a folder": {"transcript_path": "/"},
    "another call": {"tool_use_id": "call_2"},
    "no id": {"tool_use_id": None},
}


@pytest.mark.parametrize("changes", UNKNOWN.values(), ids=UNKNOWN)
def test_a_result_without_a_known_exit_code_is_not_replaced(clipper, shell, changes):
    assert codex.reply({**shell(LONG, exit_code=2), **changes}, lambda: clipper) is None


def test_what_a_script_reads_is_not_changed_and_is_stored(clipper, shell):
    event = shell(LONG, exit_code=2, call_id="exec-1", id="exec-1")
    assert codex.reply(event, lambda: clipper) is None
    assert [record.bytes for record in clipper.settings.store.list()] == [len(LONG)]


@pytest.mark.parametrize(
    "limits", [None, Limits(bytes=500_000), Limits(lines=40), Limits(tokens=50_000), Limits(chars=99_999)]
)
@pytest.mark.parametrize("text", [LONG, "x" * 100_000, "漢字の行\n" * 9_000, "\n" * 90_000, '{"a": [1]}\n' * 9_000])
def test_a_reply_is_never_longer_than_codex_takes(clipper, shell, limits, text):
    chosen = Clipper(limits or Limits(), store=MemoryStore())
    for event in (shell(text, exit_code=255), mcp(blocks(text))):
        answer = codex.reply(event, lambda: chosen)
        assert len(answer["stopReason"].encode()) <= 9_000


def test_when_the_configuration_fails_a_reply_is_no_longer_either(shell):
    def fail():
        raise OSError("no such thing")

    answer = codex.reply(shell(LONG, exit_code=3), fail)
    assert len(answer["stopReason"].encode()) <= 9_000
    assert answer["stopReason"].endswith("Process exited with code 3")


def test_data_of_an_mcp_server_is_clipped_as_codex_shows_it(clipper):
    data = {"rows": [{"id": number, "ok": True} for number in range(2_000)]}
    answer = codex.reply(mcp({**blocks("see the data"), "structuredContent": data}), lambda: clipper)
    assert answer["stopReason"].startswith("[Output clipped: ")
    assert "see the data" not in answer["stopReason"]


STAYS = {
    "nothing": 5,
    "no event": {},
    "another event": {**mcp(blocks(LONG)), "hook_event_name": "PreToolUse"},
    "a short result": mcp(blocks("all is well")),
    "an image": mcp({"content": [{"type": "text", "text": LONG}, {"type": "image", "data": "iVBO"}]}),
    "no content": mcp({}),
    "a text": mcp(LONG),
    "an edit": mcp(LONG, tool="apply_patch"),
    "blocks that are none": mcp({"content": [5, None]}),
}


@pytest.mark.parametrize("event", STAYS.values(), ids=STAYS)
def test_what_is_short_or_not_only_text_stays(clipper, event):
    assert codex.reply(event, lambda: clipper) is None


def test_a_reply_never_blocks():
    """In code mode a call that is blocked throws, and the rest of the script does not run."""
    with open(SOURCE, encoding="utf-8") as source:
        assert '"decision"' not in source.read()
