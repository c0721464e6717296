"""What choosing takes is loaded while an output is still coming in, in a process of ours, and nowhere else."""

import subprocess
import sys
import threading

import pytest

from spillover import Clipper, Limits, MemoryStore
from spillover.base import process
from spillover.pipeline import begin

PROGRAM = """
import sys, threading
from spillover import Clipper, Limits, MemoryStore
from spillover.base import process
from spillover.pipeline import begin
process.ours = sys.argv[1] == "ours"
intake = begin(Clipper(Limits(tokens=500), keep=sys.argv[2], store=MemoryStore()).for_tool("tool"), awaited="" if sys.argv[4] == "waits" else None)
intake.write(sys.argv[3].encode() * 4_000)
for thread in threading.enumerate():
    if thread.name == "spillover-warm-up":
        thread.join()
print("numpy" in sys.modules, "hyperscan" in sys.modules)
"""


@pytest.mark.parametrize(
    ("whose", "keep", "line", "how", "loaded"),
    [
        ("ours", "auto", "a line of a log\n", "waits", "True True"),
        ("ours", "tail", "a line of a log\n", "waits", "False False"),
        ("ours", "auto", "<p>a page</p>\n", "waits", "False False"),
        ("ours", "auto", "a line of a log\n", "is there", "False False"),
        ("theirs", "auto", "a line of a log\n", "waits", "False False"),
    ],
)
def test_it_is_loaded_where_it_will_be_needed_and_the_process_is_ours(whose, keep, line, how, loaded):
    words = [sys.executable, "-c", PROGRAM, whose, keep, line, how]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip() == loaded


def test_where_no_thread_can_be_started_the_output_is_clipped_all_the_same(monkeypatch):
    def full(_self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(process, "ours", True)
    monkeypatch.setattr(threading.Thread, "start", full)
    clipper = Clipper(Limits(tokens=500), store=MemoryStore())
    intake = begin(clipper.for_tool("tool"), awaited="")
    intake.write(b"a line of a log\n" * 4_000)
    assert intake.spilled


READY = """
import sys
import spillover.cli.clipping, spillover.cli.setup, spillover.run.command, spillover.intake.guard, spillover.store.scoped
from spillover import Clipper, DirStore, Limits, pipeline
from spillover.base import process
from spillover.select.score import _weights
from spillover.show import warm
process.ours = True
clipper = Clipper(Limits(tokens=500), store=DirStore(sys.argv[1]))
warm._load("ls | wc", lambda: False)
loaded = set(sys.modules)
assert _weights.cache_info().currsize, "the warm-up scored no line"
steps = [f"2026-08-22T10:00:00 INFO compile src/module{number}.c -O2 done" for number in range(4_000)]
steps[3_000] = "src/module3000.c:7: error: unknown type name 'x'"
clip = pipeline.clip("\\n".join(steps), clipper.for_tool("tool"), command="cat x | sort")
assert clip.kind == "log" and clip.outcome == "stored"
assert not {"numpy.linalg", "numpy.ma"} & set(sys.modules), "a log needs more of numpy than its core"
print(*(set(sys.modules) - loaded))
"""


def test_a_log_needs_nothing_more_once_it_is_loaded(tmp_path):
    ran = subprocess.run([sys.executable, "-c", READY, str(tmp_path / "s")], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == ""
