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
intake = begin(Clipper(Limits(tokens=500), keep=sys.argv[2], store=MemoryStore()).for_tool("tool"))
intake.write(sys.argv[3].encode() * 4_000)
for thread in threading.enumerate():
    if thread.name == "spillover-warm-up":
        thread.join()
print("numpy" in sys.modules, "hyperscan" in sys.modules)
"""


@pytest.mark.parametrize(
    ("whose", "keep", "line", "loaded"),
    [
        ("ours", "auto", "a line of a log\n", "True True"),
        ("ours", "tail", "a line of a log\n", "False False"),
        ("ours", "auto", "<p>a page</p>\n", "False False"),
        ("theirs", "auto", "a line of a log\n", "False False"),
    ],
)
def test_it_is_loaded_where_it_will_be_needed_and_the_process_is_ours(whose, keep, line, loaded):
    words = [sys.executable, "-c", PROGRAM, whose, keep, line]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip() == loaded


def test_where_no_thread_can_be_started_the_output_is_clipped_all_the_same(monkeypatch):
    def full(_self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(process, "ours", True)
    monkeypatch.setattr(threading.Thread, "start", full)
    clipper = Clipper(Limits(tokens=500), store=MemoryStore())
    intake = begin(clipper.for_tool("tool"))
    intake.write(b"a line of a log\n" * 4_000)
    assert intake.spilled
