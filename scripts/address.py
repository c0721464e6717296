"""Writes the public address of this repository where it belongs: `project.urls`, and absolute links in README.md.

    python scripts/address.py https://HOST/OWNER/spillover

A package index shows README.md without the files around it, so its links have to be absolute there. There is no public
address yet, and a guess could be somebody else's; run this when there is one, and again when it changes.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"(?P<open>!?\[[^\]]*\]\()(?P<target>[^)\s#][^)\s]*)\)")
URLS = {
    "Documentation": "{address}/blob/main/docs/tutorial.md",
    "Source": "{address}",
    "Issues": "{address}/issues",
    "Changelog": "{address}/blob/main/CHANGELOG.md",
}


def main(arguments: list[str]) -> int:
    """Rewrite both files; the exit code."""
    if len(arguments) != 1 or not re.fullmatch(r"https://[\w.-]+/[\w./-]+[\w-]", arguments[0]):
        print("Name the address: python scripts/address.py https://HOST/OWNER/spillover", file=sys.stderr)
        return 2
    for name, rewrite in (("pyproject.toml", set_urls), ("README.md", make_absolute)):
        file = ROOT / name
        file.write_text(rewrite(file.read_text(encoding="utf-8"), arguments[0]), encoding="utf-8")
    return 0


def make_absolute(page: str, address: str) -> str:
    """Return a page of the root folder with absolute links to files; pictures are linked as they are, not as a page."""

    def absolute(match: re.Match[str]) -> str:
        target = match["target"]
        if known := re.match(r"https://[^)]*/(?:blob|raw)/main/(.*)", target):
            target = known[1]
        elif target.startswith("https://"):
            return match[0]
        return f"{match['open']}{address}/{'raw' if match['open'].startswith('!') else 'blob'}/main/{target})"

    return LINK.sub(absolute, page)


def set_urls(project: str, address: str) -> str:
    """Return pyproject.toml with `project.urls`."""
    rows = "".join(f'{name} = "{url.format(address=address)}"\n' for name, url in URLS.items())
    without = re.sub(r"\[project\.urls\]\n(?:[^\[\n].*\n)*\n*", "", project)
    return without.replace("[project.scripts]\n", f"[project.urls]\n{rows}\n[project.scripts]\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
