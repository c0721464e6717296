"""How soon `spill ui` shows the first outputs of a store with 10,000 of them, in a real Chromium.

    python bench/ui.py                    # the table; JSON in bench/out/ui.json
    python bench/ui.py --outputs 1000     # fewer, for a quick look

From the moment the address is opened to the first frame with rows on it, by the browser's own clock. "At once" is right after
the server has printed its address, while it is still reading records; "again" is every later visit. Times on a shared machine
vary: each is the median of several, and the least is told beside it. The processor time of the same visits, of the server and of
the page together, depends less on what else the machine does.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from spillover import DirStore
from spillover.store.folder import Folder
from spillover.store.record import Record, encode
from spillover.testing import record_of

HERE = Path(__file__).resolve().parent
SPILL = str(Path(sys.executable).parent / "spill")
ROUNDS = 5
BAR = 300.0
TOOLS = ("bash", "pytest", "make", "cargo", "npm")
#: The first frame that has a row on it, in milliseconds since the address was opened.
FIRST = """() => new Promise((done) => {
  const look = () => document.querySelector(".row[data-id]")
    ? requestAnimationFrame(() => setTimeout(() => done(performance.now()))) : requestAnimationFrame(look);
  look();
})"""


@dataclass
class Row:
    what: str
    median: float
    least: float
    bar: float | None = None

    @property
    def held(self) -> bool | None:
        return None if self.bar is None else self.median <= self.bar


def load_chromium() -> object:
    spec = importlib.util.spec_from_file_location("install", HERE.parent / "scripts" / "install.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fill(root: Path, outputs: int, scope: str) -> None:
    """Write so many outputs as a store does, without its checks: those take longer than everything that is measured."""
    DirStore(root).writer().abandon()
    now = time.time()
    with Folder(str(root)) as folder:
        for number in range(outputs):
            data = b"line %d of an output\n" % number * 50
            tool = TOOLS[number % len(TOOLS)]
            record: Record = record_of(data, tool, created=now - number, scope=scope, command=f"{tool} --target {number}", kind="log", shown=((1, 20),))  # fmt: skip
            ref = f"{tool}-{record.sha256[:16]}"
            for name, content in ((f"{ref}.txt", data), (f"{ref}.json", encode(record))):
                path = Path(folder.path) / name
                path.write_bytes(content)
                path.chmod(0o600)


def measure(outputs: int, folder: Path) -> list[Row]:
    from playwright.sync_api import sync_playwright

    chromium = load_chromium()
    scope = "bench/ui"
    fill(folder / "store", outputs, scope)
    command = [SPILL, "ui", "--no-open", "--store", str(folder / "store"), "--scope", scope]
    at_once: list[float] = []
    again: list[float] = []
    scrolled: list[float] = []
    worked: list[float] = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium.find_chromium(), args=list(chromium.CHROMIUM_FLAGS))  # type: ignore[attr-defined]
        for _ in range(ROUNDS):
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
                assert process.stdout is not None
                address = process.stdout.readline().strip()
                page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
                metrics = page.context.new_cdp_session(page)
                metrics.send("Performance.enable")

                def cpu(pid: int = process.pid, metrics: Any = metrics) -> float:
                    found = {each["name"]: each["value"] for each in metrics.send("Performance.getMetrics")["metrics"]}
                    ticks = sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[11:13]))
                    return 1000 * (float(found["ProcessTime"]) + ticks / os.sysconf("SC_CLK_TCK"))

                for times in (at_once, again):
                    page.goto("about:blank")
                    before = cpu()
                    page.goto(address, wait_until="commit")
                    times.append(float(page.evaluate(FIRST)))
                    if times is again:
                        worked.append(cpu() - before)
                    page.get_by_text(f"{outputs:,} outputs", exact=True).wait_for(timeout=120_000)
                before = time.perf_counter()
                page.locator(".list").evaluate("one => { one.scrollTop = one.scrollHeight; }")
                page.locator(f"[aria-posinset='{outputs}']").wait_for(state="attached")
                scrolled.append(1000 * (time.perf_counter() - before))
                page.context.close()
                process.terminate()
        browser.close()
    count = f"{outputs:,} outputs"
    return [
        Row(f"first view, {count}, at once", statistics.median(at_once), min(at_once), BAR),
        Row(f"first view, {count}, again", statistics.median(again), min(again), BAR),
        Row("  of these, processor time in all", statistics.median(worked), min(worked)),
        Row("from the first to the last row", statistics.median(scrolled), min(scrolled)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--outputs", type=int, default=10_000)
    arguments = parser.parse_args()
    chromium = load_chromium()
    if chromium.find_chromium() is None:  # type: ignore[attr-defined]
        print(chromium.why_no_chromium())  # type: ignore[attr-defined]
        return
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(arguments.outputs, Path(folder))
    print(f"{'':<42}{'median ms':>11}{'least ms':>11}{'bar':>7}")
    for row in rows:
        bar = "" if row.bar is None else f"{row.bar:.0f}"
        print(
            f"{row.what:<42}{row.median:>11.0f}{row.least:>11.0f}{bar:>7}{'' if row.held in (None, True) else '  MISSED'}"
        )
    out = HERE / "out"
    out.mkdir(exist_ok=True)
    (out / "ui.json").write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
