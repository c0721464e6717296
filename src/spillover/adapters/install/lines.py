"""The few lines that tell a model with a shell how to keep output short, and how to go back to what was left out."""

from __future__ import annotations

#: For AGENTS.md and its like. Every command in it is one that `spill` understands; a test holds it.
LINES = """\
## Commands that print a lot

- Run them as `spill run -- COMMAND`, with a pipe or a redirection as `spill sh 'COMMAND'`. You see what fits, the
  exit code is the command's own, and all of it is kept. The exit code of a pipe is that of its last part; a note names a
  part before it that failed.
- When something was left out, the first line says so and names a ref, such as `make-7f3a9c2e41d05b86`. Do not run the command
  again to see the rest; look at what is kept:
  - `spill grep REF 'FAILED|Error' -C 2` finds lines, `spill read REF 120:180` reads them, `spill outline REF` shows a map.
  - `spill list` shows what is kept. Instead of a REF, `last` is the newest run, and `last:make` the newest run of `make`.
"""
