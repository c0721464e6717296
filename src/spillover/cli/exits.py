"""What `spill` exits with. `spill run` exits with what the command did; everything else with one of these."""

from __future__ import annotations

OK = 0  # also for a closed pipe: the reader had enough
FOUND = 1  # `grep` found no match, `verify` damage, `doctor` something to fix; `rm` left what is pinned
USAGE = 2  # wrong use, a wrong configuration, an unknown ref
GONE = 69  # the server behind `mcp` has ended
INTERRUPTED = 130  # Ctrl-C, as a shell says it
UNWRITTEN = 74  # stdout could not be written, e.g. to a full disk
BUG = 70  # a bug in spill; please report it
