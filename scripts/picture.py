"""Draw the output of `make demo` as docs/demo.svg, for the README. Run it with `make picture` and look at the result."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COLUMNS, CHAR, ROW, EDGE, SIZE = 100, 7.8, 18, 16, 13
#: The styles that the demo uses → how they look on a dark background.
STYLES = {
    "1;36": 'fill="#7dcfff" font-weight="bold"',
    "1": 'fill="#ffffff" font-weight="bold"',
    "2": 'fill="#a9b1d6"',
    "33": 'fill="#e0af68"',
}
#: Renderers collapse ordinary spaces.
NBSP = "\xa0"
STYLED = re.compile(r"\x1b\[([\d;]+)m(.*?)\x1b\[0m")


def main() -> None:
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "FORCE_COLOR": "1"}
    command = [sys.executable, str(ROOT / "examples" / "demo.py")]
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    (ROOT / "docs" / "demo.svg").write_text(drawn(said.rstrip("\n").split("\n")), encoding="utf-8")


def drawn(rows: list[str]) -> str:
    """Return terminal rows as SVG with selectable text and without external fonts or scripts."""
    width, height = round(COLUMNS * CHAR + 2 * EDGE), len(rows) * ROW + 2 * EDGE
    texts = "\n".join(
        text for number, row in enumerate(rows) if (text := drawn_row(row, EDGE + (number + 1) * ROW - 5))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="A failing command, read by way of spill">\n'
        f'<rect width="{width}" height="{height}" rx="8" fill="#1a1b26"/>\n'
        f'<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="{SIZE}">\n'
        f"{texts}\n</g>\n</svg>\n"
    )


def drawn_row(row: str, y: int) -> str:
    if not row:
        return ""
    style, words = 'fill="#c0caf5"', row
    if found := STYLED.fullmatch(row):
        style, words = STYLES[found[1]], found[2]
    # Where a row begins is its place, not blanks, which some renderers drop; textLength makes it as wide as in a terminal.
    shown = words.lstrip(" ")
    x = EDGE + (len(words) - len(shown)) * CHAR
    width = len(shown) * CHAR
    return f'<text x="{x:.1f}" y="{y}" textLength="{width:.1f}" {style}>{escape(shown).replace(" ", NBSP)}</text>'


if __name__ == "__main__":
    main()
