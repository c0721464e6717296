"""The demo: a program fails and says why in the middle of 8,000 lines. What would a model read, and what does it read now?

Run by `make demo`. Everything happens in a temporary folder with a store of its own; nothing is left behind.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

from spillover.tokens import estimate

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
#: `python -vv` prints every file it looks for, imports and forgets; the traceback stands between the two.
NOISY = "python -vv report.py"
#: Enough for the traceback, what stands around it, and how it all ended.
TOKENS = 400
WIDTH = min(100, shutil.get_terminal_size(fallback=(100, 24)).columns)
COLOUR = "FORCE_COLOR" in os.environ or (sys.stdout.isatty() and "NO_COLOR" not in os.environ)


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="spillover-demo-"))
    try:
        demonstrate(folder)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads it has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    finally:
        shutil.rmtree(folder)


def demonstrate(folder: Path) -> None:
    for name, text in PROGRAM.items():
        (folder / name).write_text(text, encoding="utf-8")
    whole = output_of(folder, f"{NOISY} 2>&1")
    lines, size = whole.splitlines(), tokens(whole)
    reason = next(number for number, line in enumerate(lines) if line.startswith("AttributeError"))
    longer = (len(lines) - reason - 1) // 1_000 * 1_000

    heading(f"report.py crashes, and says why in {len(lines):,} lines ({size:,} tokens)")
    tail = run(folder, f"{NOISY} 2>&1 | tail -4")
    say(f"That is what many agents would read. The reason is not in it, nor in the last {longer:,} lines.")

    heading(f"The same in {TOKENS} tokens, with the same exit code")
    read = run(folder, f"spill run --tokens {TOKENS} -- {NOISY}")
    ref = found(r"[a-z0-9_.]+-[0-9a-f]{12,}\b", read)
    say("There is the reason: statistics has no mean(). But which statistics is it? An earlier line says so:")

    heading("Go back for anything else")
    where = run(folder, f"spill grep {ref} 'code object from.*statistics'")
    say("Not the standard library's: a file of ours has its name. That is the bug.")

    heading("What it cost")
    ours = tokens(read + where)
    print(f"  everything {size:>9,} tokens\n  tail -4    {tokens(tail):>9,} tokens, without the reason")
    print(f"  tail -{longer} {tokens(chr(10).join(lines[-longer:])):>9,} tokens, without the reason")
    print(f"  spill      {ours:>9,} tokens, with the reason, and every byte kept:\n")
    run(folder, f"spill verify {ref}")


def output_of(folder: Path, line: str) -> str:
    """What a shell line prints, in a folder with a store and a configuration of its own."""
    return ended(folder, line).stdout.decode("utf-8", "replace")


def run(folder: Path, line: str) -> str:
    """Run a shell line, and show it and what it prints as they are; a line too long for this terminal is cut."""
    print(styled("1", f"$ {line}"))
    result = ended(folder, line)
    text = result.stdout.decode("utf-8", "replace")
    for one in text.splitlines():
        for row in rows_of(one.replace(str(folder), "~")):
            print(styled("33" if one.startswith(("[", " Next:")) else "2", row))
    if result.returncode:
        print(styled("2", f"  (exit code {result.returncode})"))
    return text


def ended(folder: Path, line: str) -> subprocess.CompletedProcess[bytes]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("SPILLOVER_")}
    environment = {
        **inherited,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "SPILLOVER_STORE": str(folder / "outputs"),
        "SPILLOVER_CONFIG": "none",  # the defaults, whatever is configured on this machine
    }
    return subprocess.run(line, shell=True, cwd=folder, env=environment, stdout=subprocess.PIPE, check=False)


def rows_of(line: str) -> list[str]:
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


def tokens(text: str) -> int:
    """Tokens, in tens: it is an estimate."""
    return round(estimate(text), -1)


def heading(words: str) -> None:
    print(styled("1;36", f"── {words} ".ljust(WIDTH, "─")))


def say(words: str) -> None:
    print(textwrap.fill(words, WIDTH) + "\n")


def styled(codes: str, text: str) -> str:
    return f"\x1b[{codes}m{text}\x1b[0m" if COLOUR else text


if __name__ == "__main__":
    main()
