"""Calls that a type checker has to refuse: each line marked with `# wrong` is an error, and no other line is."""

from __future__ import annotations

from spillover import Clipper, Limits, MemoryStore, aclip, clip
from spillover.profiles import daycare, klaude, opencode, t15, vtcode
from spillover.profiles.opencode import read
from spillover.types import Keep

clipper = Clipper(store=MemoryStore())
Clipper(keep="tial")  # wrong
Clipper(hints="telepathy")  # wrong
Clipper(hints=["cli", "tool"])  # wrong
Clipper(redact="above")  # wrong
Clipper(store=5)  # wrong
Clipper(tokens="o200k_base")  # wrong
Clipper(budget=100_000)  # wrong
clipper.tool_specs("gemini")  # wrong
clip("text", keep="tial")  # wrong
clip("text", Limits(tokens=500), hints="telepathy")  # wrong
clip("text", kep="tail")  # wrong
aclip("text", keep="tial")  # wrong
answer = clipper.dispatch("read_output").txt  # wrong
clipper.wrap(tool=5)  # wrong
word: Keep = "middle"  # wrong
opencode.clipper(keep="tial")  # wrong
opencode.output("text", clipper, direction="ends")  # wrong
read("file.txt", offset="1")  # wrong
t15.clipper(notice_style="blok")  # wrong
t15.clipper(keep="tial")  # wrong
klaude.clipper(keep="tial")  # wrong
daycare.clipper(keep="tial")  # wrong
vtcode.clipper(keep="tial", store="outputs")  # wrong


@clipper.wrap(tool="bash")
def run(line: str) -> str:
    return line


run(5)  # wrong
