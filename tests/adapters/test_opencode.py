"""opencode's plugin: run by node as opencode runs it, with the real `spill hook` behind it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from spillover import Clipper, DirStore, Limits, MemoryStore
from spillover.adapters import opencode
from spillover.adapters.opencode import LEFT_ALONE, reply

LONG = "".join(f"line {number} of many\n" for number in range(1, 5_001))
PLUGIN = Path(opencode.__file__).parent / "opencode_plugin.js"
#: Loads the plugin as opencode does, calls its hook with each pair in turn, and prints what became of the results.
HOST = """
import * as plugin from "./plugin.mjs"
const functions = Object.values(plugin)
if (functions.length !== 1 || typeof functions[0] !== "function") throw new Error("opencode calls every export")
const hooks = await functions[0]({ directory: process.cwd(), client: {}, project: {}, $: null })
let given = ""
for await (const chunk of process.stdin) given += chunk
const results = []
for (const [input, output] of JSON.parse(given)) {
  await hooks["tool.execute.after"](input, output ?? undefined)
  results.push(output)
}
process.stdout.write(JSON.stringify(results))
"""


@pytest.fixture
def clipper():
    return Clipper(Limits(tokens=1_000), store=MemoryStore(), hints="cli")


def said(clipper, tool, **more):
    return reply({"tool": tool, "callID": "call_1", "args": {}, **more}, lambda: clipper)


def test_a_tool_of_opencode_has_its_text_bounded(clipper):
    new = said(clipper, "bash", output=LONG)
    assert new.keys() == {"output"}
    assert new["output"].startswith("[Output clipped: ")
    assert clipper.count(new["output"]) <= 1_000
    (record,) = clipper.store.list()
    assert (record.tool, record.call_id, record.bytes) == ("bash", "call_1", len(LONG))


def test_the_blocks_of_an_mcp_server_stay_blocks(clipper):
    picture = {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="}
    new = said(clipper, "server_tool", content=[{"type": "text", "text": LONG}, picture])
    assert [block["type"] for block in new["content"]] == ["text", "image"]
    assert new["content"][1] == picture


def test_what_fits_is_not_answered(clipper):
    assert said(clipper, "bash", output="all is well\n") is None
    assert said(clipper, "server_tool", content=[{"type": "text", "text": "all is well"}]) is None


def test_what_opencode_has_cut_is_taken_from_its_file(clipper, tmp_path):
    whole = tmp_path / "tool_1"
    whole.write_text(LONG)
    ended = "\n\n<shell_metadata>\nterminated after 1500 ms\n</shell_metadata>"
    new = said(
        clipper, "bash", output="...output truncated...\n\nline 5000" + ended, truncated=True, outputPath=str(whole)
    )
    assert "line 1 of many\n" in new["output"]
    assert new["output"].endswith(ended), "what opencode says of the command is not in the file"
    (record,) = clipper.store.list()
    assert record.bytes == len(LONG) + len(ended)


@pytest.mark.parametrize("path", ["/no/such/file", None, 5, "\0"])
def test_what_opencode_has_cut_stays_where_its_file_cannot_be_had(clipper, path):
    assert said(clipper, "bash", output=LONG, truncated=True, outputPath=path) is None


@pytest.mark.parametrize("tool", [*sorted(LEFT_ALONE), "spillover_read_output"])
def test_how_the_model_goes_back_is_left_alone(clipper, tool):
    assert said(clipper, tool, output=LONG) is None


def test_answers_of_spill_and_searches_in_the_store_are_left_alone(clipper, tmp_path):
    stored = Clipper(Limits(tokens=1_000), store=DirStore(tmp_path))
    assert said(clipper, "bash", output=LONG, args={"command": "spill read last"}) is None
    assert said(stored, "grep", output=LONG, args={"path": str(tmp_path / "bash-7f3a9c2e41d0.txt")}) is None


@pytest.fixture
def results(tmp_path, monkeypatch):
    """What becomes of results in a host that has the plugin."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node on this machine to run the plugin with")
    (tmp_path / "plugin.mjs").write_text(PLUGIN.read_text())
    (tmp_path / "host.mjs").write_text(HOST)
    monkeypatch.setenv("SPILLOVER_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("PATH", os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])))

    def call(*pairs, **env):
        ran = subprocess.run(
            [node, "host.mjs"],
            cwd=tmp_path,
            input=json.dumps(pairs),
            env={**os.environ, **env},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    return call


def asked(tool="bash", **args):
    return {"tool": tool, "sessionID": "ses_1", "callID": "call_1", "args": args}


def test_the_plugin_bounds_what_is_long_and_leaves_the_rest(results, tmp_path):
    small = {"title": "a", "output": "all is well\n", "metadata": {"truncated": False}}
    long = {"title": "b", "output": LONG, "metadata": {"truncated": False, "exit": 3}, "attachments": []}
    server = {"content": [{"type": "text", "text": LONG}, {"type": "image", "data": "xx", "mimeType": "image/png"}]}
    one, two, three, four = results(
        (asked(), small), (asked(command="make"), long), (asked("server_tool"), server), (asked("read"), long)
    )
    assert one == small
    assert two["output"].startswith("[Output clipped: ")
    assert {**two, "output": LONG} == long
    assert [block["type"] for block in three["content"]] == ["text", "image"]
    assert three["content"][0]["text"].startswith("[Output clipped: ")
    assert four == long, "read is how the model goes back"
    assert len(list((tmp_path / "store").glob("*.txt"))) == 2


def test_whatever_the_host_has_for_a_result_the_plugin_lets_it_be(results):
    odd = [None, {}, {"output": None}, {"output": 5}, {"content": 5}, {"content": [None, 5, {"type": "text"}]}]
    assert results(*((asked(), one) for one in odd)) == odd


def test_without_spill_on_the_path_results_stay_as_they_were(results):
    long = {"title": "b", "output": LONG, "metadata": {}}
    assert results((asked(), long), PATH="/nowhere") == [long]


def test_a_spill_that_fails_or_says_nonsense_changes_nothing(results, tmp_path):
    long = {"title": "b", "output": LONG, "metadata": {}}
    fake = tmp_path / "bin" / "spill"
    fake.parent.mkdir()
    for script in ("exit 1", "echo nonsense", "cat > /dev/null; echo '{\"output\": 5}'", "exec < /dev/null; sleep 0.2"):
        fake.write_text(f"#!/bin/sh\n{script}\n")
        fake.chmod(0o755)
        assert results((asked(), long), PATH=f"{fake.parent}:{os.environ['PATH']}") == [long]
