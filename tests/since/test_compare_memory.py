"""Comparing takes no more memory for larger outputs."""

import os
import subprocess
import sys

PROGRAM = """
import os, sys
from spillover.source.blob import Meter
from spillover.since.compare import compare
from spillover.testing import peak_memory
from spillover.document.document import Document

class File:
    def __init__(self, path):
        self.fd, self.size = os.open(path, os.O_RDONLY), os.path.getsize(path)
    def read(self, start, end):
        return os.pread(self.fd, max(0, end - start), start)

def document(path):
    meter = Meter()
    with open(path, "rb") as file:
        while data := file.read(1 << 20):
            meter.feed(data)
    return Document(File(path), meter.index, meter.lines, meter.newlines)

def measure(size):
    for later in (0, 1):
        with open(f"{sys.argv[1]}/{later}", "wb") as file:
            for at in range(0, size, 100):
                again = b" again" * (later and at % 100_000 == 0)
                row = b"part_%d was built by worker %d in %d ms and all is well with it%s\\n"
                file.write(row % (at, at % 7, at % 977, again))
    found = compare(document(f"{sys.argv[1]}/1"), document(f"{sys.argv[1]}/0"))
    return found.new.lines, peak_memory() >> 20

print(*measure(2_000_000), *measure(14_000_000))
"""


def test_two_outputs_of_ten_megabytes_take_little_more_memory_than_two_of_one(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], capture_output=True, text=True, check=True, env=os.environ
    )
    few, small, many, large = map(int, done.stdout.split())
    assert (few, many) == (20, 140)
    assert large - small < 40  # MiB: a million keys at most, and a block of each output at a time
