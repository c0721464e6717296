"""What `spill` exits with. `spill run` exits with what the command did; everything else with one of these."""

from __future__ import annotations

OK = 0  # also for a closed pipe: whoever read had enough
FOUND = 1  # `verify` found damage, `doctor` found something to mend
USAGE = 2  # wrong use, a wrong configuration, a ref that names nothing
GONE = 69  # the server behind `mcp` ended by itself
INTERRUPTED = 130  # Ctrl-C, as a shell says it
UNWRITTEN = 74  # what we had to say could not be written, as to a full disk
BUG = 70  # we did something we should not have; please tell us
