"""Take the pictures of `spill ui` for the docs from a real run: docs/ui-*.webp. Run it with `make picture` and look at them."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import tempfile
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parent.parent
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


def picture(page: Page, name: str) -> None:
    """Save what the page shows as WebP, as good as its size allows."""
    from PIL import Image

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
    picture(page, "outputs")
    page.locator(".row[data-id]", has_text="pytest").first.click()
    page.locator("[data-pane=model] .clip").wait_for()
    page.fill(".tools input[type=search]", "order 641")
    page.locator(".line.now .text").wait_for()
    picture(page, "output")
    page.click("[data-tab=whatif]")
    page.fill("#try-tokens", "700")
    page.locator("[data-pane=whatif] .step", has_text="tokens = 700").wait_for()
    page.emulate_media(color_scheme="dark")
    picture(page, "whatif")
    page.emulate_media(color_scheme="light")
    page.goto(f"{home}#/runs")
    page.locator(".command-row", has_text="pytest").first.click()
    page.locator(".compared .columns").wait_for()
    picture(page, "runs")
    page.goto(f"{home}#/stats")
    page.locator("#net").wait_for()
    picture(page, "stats")


def main() -> int:
    from playwright.sync_api import sync_playwright

    chromium = runpy.run_path(str(ROOT / "scripts" / "chromium.py"))
    if chromium["find"]() is None:
        print(chromium["why_not"]())
        return 0
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
                    browser = driver.chromium.launch(executable_path=chromium["find"](), args=list(chromium["FLAGS"]))
                    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=1)
                    take(page, process.stdout.readline().strip())
                    browser.close()
            finally:
                process.terminate()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
