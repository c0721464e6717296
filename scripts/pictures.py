"""Draw the pictures of the docs: docs/demo.svg and docs/ui-*.webp. Run it with `make picture` and look at the results."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from html import escape
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright
from scripts.install import CHROMIUM_FLAGS, find_chromium, why_no_chromium

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


def draw_demo() -> None:
    """Draw the output of `make demo` as docs/demo.svg."""
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "FORCE_COLOR": "1"}
    command = [sys.executable, str(ROOT / "examples" / "demo.py")]
    output = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    (ROOT / "docs" / "demo.svg").write_text(draw(output.rstrip("\n").split("\n")), encoding="utf-8")


def draw(rows: list[str]) -> str:
    """Return terminal rows as SVG with selectable text and without external fonts or scripts."""
    width, height = round(COLUMNS * CHAR + 2 * EDGE), len(rows) * ROW + 2 * EDGE
    texts = "\n".join(text for number, row in enumerate(rows) if (text := draw_row(row, EDGE + (number + 1) * ROW - 5)))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="A failing command, read by way of spill">\n'
        f'<rect width="{width}" height="{height}" rx="8" fill="#1a1b26"/>\n'
        f'<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="{SIZE}">\n'
        f"{texts}\n</g>\n</svg>\n"
    )


def draw_row(row: str, y: int) -> str:
    if not row:
        return ""
    style, words = 'fill="#c0caf5"', row
    if match := STYLED.fullmatch(row):
        style, words = STYLES[match[1]], match[2]
    # Where a row begins is its place, not blanks, which some renderers drop; textLength makes it as wide as in a terminal.
    shown = words.lstrip(" ")
    x = EDGE + (len(words) - len(shown)) * CHAR
    width = len(shown) * CHAR
    return f'<text x="{x:.1f}" y="{y}" textLength="{width:.1f}" {style}>{escape(shown).replace(" ", NBSP)}</text>'


SPILL = str(Path(sys.executable).parent / "spill")
WIDTH, HEIGHT = 1440, 900
LARGEST = 200_000
QUALITIES = (88, 80, 70, 60)
#: A suite of tests that a real pytest runs: long enough to overflow, and at times one of them fails.
TESTS = """
import os, time, pytest

@pytest.mark.parametrize("number", range(900))
def test_orders(number):
    total = number * 3
    if number in (417, 641) and os.environ.get("BREAK"):
        total -= 1
    assert total == sum([number] * 3), f"order {number}: the total is {total}"
"""
DATA = """
import json
orders = [{"id": n, "customer": f"customer-{n % 97}", "lines": [{"sku": f"A-{n}", "count": n % 5}], "paid": n != 731} for n in range(1500)]
print(json.dumps({"orders": orders, "next": None, "warnings": ["731 is not paid"]}, indent=1))
"""
TABLE = """
print("id,date,customer,amount,status")
for n in range(4000):
    print(f"{n},2026-{n % 12 + 1:02d}-{n % 28 + 1:02d},customer-{n % 97},{n * 3.75:.2f},{'failed' if n == 3333 else 'paid'}")
"""


def prepare(project: Path, environment: dict[str, str]) -> None:
    """Run real commands through spill, as an agent would, and go back to some of what they printed."""
    (project / ".git").mkdir(parents=True)
    for name, text in (("test_orders.py", TESTS), ("orders.py", DATA), ("export.py", TABLE)):
        (project / name).write_text(text, encoding="utf-8")

    def spill(*words: str, **more: str) -> None:
        env = {**environment, **more}
        subprocess.run([SPILL, *words], cwd=project, env=env, check=False, capture_output=True)

    test = ("run", "--", "python", "-m", "pytest", "-v", "--no-header", "test_orders.py")
    spill(*test)
    spill("run", "--", "python", "orders.py")
    spill(*test, BREAK="1")
    spill("run", "--", "python", "export.py")
    spill("run", "--", "git", "status")
    spill(*test)
    spill("run", "--", "find", "/usr/share", "-name", "*.py")
    spill(*test, BREAK="1")
    spill("grep", "last:pytest", "order 641")
    spill("read", "last:pytest", "430:470")


def save(page: Page, name: str) -> None:
    """Save what the page shows as WebP, as good as its size allows."""
    image = Image.open(BytesIO(page.screenshot()))
    path = ROOT / "docs" / f"ui-{name}.webp"
    for quality in QUALITIES:
        image.save(path, "WEBP", quality=quality, method=6)
        if path.stat().st_size < LARGEST:
            break
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes")


def take(page: Page, address: str) -> None:
    home = address.partition("#")[0]
    page.goto(address)
    page.locator(".row[data-id]", has_text="pytest").first.wait_for()
    save(page, "outputs")
    page.locator(".row[data-id]", has_text="pytest").first.click()
    page.locator("[data-pane=model] .clip").wait_for()
    page.fill(".tools input[type=search]", "order 641")
    page.locator(".line.now .text").wait_for()
    save(page, "output")
    page.click("[data-tab=whatif]")
    page.fill("#try-tokens", "700")
    page.locator("[data-pane=whatif] .step", has_text="tokens = 700").wait_for()
    page.emulate_media(color_scheme="dark")
    save(page, "whatif")
    page.emulate_media(color_scheme="light")
    page.goto(f"{home}#/runs")
    page.locator(".command-row", has_text="pytest").first.click()
    page.locator(".compared .columns").wait_for()
    save(page, "runs")
    page.goto(f"{home}#/stats")
    page.locator("#net").wait_for()
    save(page, "stats")


def take_ui_pictures() -> None:
    """Take the pictures of `spill ui` from a real run: docs/ui-*.webp."""
    if find_chromium() is None:
        print(why_no_chromium())
        return
    with tempfile.TemporaryDirectory(prefix="spill-") as folder:
        project = Path(folder) / "shop"
        states = {"HOME": folder, "XDG_STATE_HOME": f"{folder}/state", "XDG_CONFIG_HOME": f"{folder}/config"}
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {"PATH": path, "LANG": "C.UTF-8", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **states}
        prepare(project, environment)
        command = [SPILL, "ui", "--no-open"]
        with subprocess.Popen(command, cwd=project, env=environment, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                with sync_playwright() as driver:
                    browser = driver.chromium.launch(executable_path=find_chromium(), args=list(CHROMIUM_FLAGS))
                    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=1)
                    take(page, process.stdout.readline().strip())
                    browser.close()
            finally:
                process.terminate()


if __name__ == "__main__":
    draw_demo()
    take_ui_pictures()
