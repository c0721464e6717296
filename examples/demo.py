"""The demo: a program fails, and says why in the middle of thousands of lines. What does the model read, and what then?

Run by `make demo`. Everything happens in a temporary folder with a store of its own, and nothing is left behind.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

from spillover import estimate

#: A colleague's file has the name of a standard module, so that report.py imports the wrong one.
PROGRAM = {
    "report.py": (
        "import asyncio, email.mime.multipart, http.server, json, logging.config\n"
        "import statistics\n"
        "import unittest, xml.dom.minidom\n"
        'print("average wait:", statistics.mean([12, 15, 9]))\n'
    ),
    "statistics.py": "hits = 0  # how often the page was opened\n",
}
#: `python -vv` tells of every file it looks for, imports and forgets; the traceback stands between the two.
NOISY = "python -vv report.py"
#: Of a long text, so many lines of each end are shown here.
ENDS = 4
WIDTH = min(120, shutil.get_terminal_size(fallback=(100, 24)).columns)
COLOUR = sys.stdout.isatty() and "NO_COLOR" not in os.environ


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="spillover-demo-"))
    try:
        demonstrate(folder)
    finally:
        shutil.rmtree(folder)


def demonstrate(folder: Path) -> None:
    for name, text in PROGRAM.items():
        (folder / name).write_text(text, encoding="utf-8")

    heading("A command that says far too much")
    say("report.py crashes. An agent looks for the reason with `python -vv`, which tells of every file it looks for:")
    whole = run(folder, f"{NOISY} 2>&1", trim=True)
    say(f"That is about {rounded(whole):,} tokens. Why it crashed is said somewhere in the middle.")

    heading("What the model reads instead")
    read = run(folder, f"spill run -- {NOISY}", trim=True)
    ref = found(r"[a-z0-9_.]+-[0-9a-f]{12}\b", read)
    say(
        "The exit code is the command's own. The notice says how much there is, where all of it is kept and what to do "
        "next; a marker stands where something is hidden. The reason is not in what is shown, so the model goes back."
    )

    heading("Finding what was hidden")
    hits = run(folder, f"spill grep {ref} '^Traceback|Error: '")
    line = int(found(r"^(\d+): Traceback", hits))

    heading("Reading it")
    part = run(folder, f"spill read {ref} {line}:+6")
    say("There is no mean() in `statistics`. Which statistics is that? Python said so, when it imported it:")
    where = run(folder, f"spill grep {ref} 'code object from.*statistics'")
    say("Not the one of the standard library: a file of ours has its name. That is the bug.")

    heading("What it cost, and what was lost")
    cost = rounded(read + hits + part + where)
    say(f"The model read about {cost:,} tokens in four answers, not {rounded(whole):,}. And nothing was lost:")
    run(folder, f"spill verify {ref}")


def run(folder: Path, line: str, *, trim: bool = False) -> str:
    """Run a shell line as it is printed here, and show what it says: all of it, or the ends of each part."""
    print(styled("1", f"$ {line}"))
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("SPILLOVER_")}
    environment = {
        **inherited,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "SPILLOVER_STORE": str(folder / "outputs"),
        "SPILLOVER_CONFIG": "none",  # the defaults, whatever is configured on this machine
    }
    ended = subprocess.run(line, shell=True, cwd=folder, env=environment, stdout=subprocess.PIPE, check=False)
    text = ended.stdout.decode("utf-8", "replace")
    for one in trimmed(text.splitlines()) if trim else text.splitlines():
        for row in fitted(one):
            print(styled("33" if one.startswith(("[", " Next:")) else "2", row))
    if ended.returncode:
        print(styled("2", f"  (exit code {ended.returncode})"))
    print()
    return text


def trimmed(lines: list[str]) -> list[str]:
    """The first and the last lines of each part; a part ends where a marker says that something is hidden."""
    marks = [number for number, line in enumerate(lines) if line.startswith("[…")]
    edges = [0, *(edge for mark in marks for edge in (mark, mark + 1)), len(lines)]
    out = []
    for start, end in itertools.pairwise(edges):
        part = lines[start:end]
        left_out = len(part) - 2 * ENDS
        words = f"      ({left_out:,} more lines; only this demo leaves them out)"
        out += [*part[:ENDS], words, *part[-ENDS:]] if left_out > 1 else part
    return out


def fitted(line: str) -> list[str]:
    """A line for this terminal: the notice is wrapped, each step in one piece; anything else is cut."""
    if not line.startswith(("[Output", " Next:")):
        return [f"  {line}" if len(line) + 2 <= WIDTH else f"  {line[: WIDTH - 3]}…"]
    steps = line.split(" · ") if line.startswith(" Next:") else []
    whole = " · ".join(step.replace(" ", "\xa0") for step in steps) or line
    rows = textwrap.wrap(
        whole, WIDTH, initial_indent="  ", subsequent_indent="   ", break_on_hyphens=False, break_long_words=False
    )
    return [row.replace("\xa0", " ") for row in rows]


def found(pattern: str, text: str) -> str:
    match = re.search(pattern, text, re.MULTILINE)
    if match is None:
        sys.exit(f"The demo went wrong: there is no {pattern} in:\n{text[:2_000]}")
    return match[match.lastindex or 0]


def rounded(text: str) -> int:
    """Tokens, in hundreds: it is an estimate."""
    return round(estimate(text), -2)


def heading(words: str) -> None:
    print(styled("1;36", f"── {words} ".ljust(WIDTH, "─")))


def say(words: str) -> None:
    print(textwrap.fill(words, WIDTH) + "\n")


def styled(codes: str, text: str) -> str:
    return f"\x1b[{codes}m{text}\x1b[0m" if COLOUR else text


if __name__ == "__main__":
    main()
