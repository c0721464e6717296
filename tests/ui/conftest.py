"""A project with outputs, `spill ui` on it, and a real Chromium. Tests of the page run in the browser's own thread."""

import importlib.util
import inspect
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from spillover import Clipper, DirStore
from spillover.store.scopes import folder_scope

_place = Path(__file__).parents[2] / "scripts" / "install.py"
_spec = importlib.util.spec_from_file_location("install", _place)
chromium_script = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(chromium_script)

SPILL = str(Path(sys.executable).parent / "spill")
#: Milliseconds that a browser waits for what must come; only a page that is broken takes as long.
PATIENCE = 60_000


class Place:
    """A project with a store of its own."""

    def __init__(self, folder):
        self.project = folder / "project"
        self.project.mkdir(parents=True)
        (self.project / ".git").mkdir()
        self.env = {"PATH": os.environ["PATH"], "HOME": str(folder), "XDG_STATE_HOME": str(folder / "state"), "XDG_CONFIG_HOME": str(folder / "config"), "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(folder)), "LANG": "C.UTF-8"}  # fmt: skip
        self.root = folder / "state" / "spillover"
        self.store = DirStore(self.root)
        self.scope = folder_scope(self.project)
        self.clipper = Clipper(store=self.store, scope=self.scope)

    def spill(self, *words):
        command = [SPILL, *words]
        return subprocess.run(command, cwd=self.project, env=self.env, capture_output=True, text=True, check=False)

    @contextmanager
    def serve(self, *options, browse=False):
        """`spill ui`, as anybody starts it; its address."""
        command = [SPILL, "ui", *([] if browse else ["--no-open"]), *options]
        with subprocess.Popen(
            command, cwd=self.project, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            try:
                address = process.stdout.readline().strip()
                assert address.startswith("http://127.0.0.1:"), address
                yield address
            finally:
                process.terminate()
                errors = process.communicate(timeout=60)[1]
                assert process.returncode == 0
                assert "Traceback" not in errors


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


@pytest.fixture(scope="session")
def new_place():
    return Place


class Browser:
    """Chromium in a thread of its own: Playwright keeps a loop running there, which async tests would stumble over."""

    def __init__(self):
        self.thread = ThreadPoolExecutor(1)

    def start(self):
        from playwright.sync_api import sync_playwright

        self.driver = sync_playwright().start()
        self.chromium = self.driver.chromium.launch(
            executable_path=chromium_script.find_chromium(), args=list(chromium_script.CHROMIUM_FLAGS)
        )

    def stop(self):
        self.chromium.close()
        self.driver.stop()

    def run(self, test, values):
        context = self.chromium.new_context(viewport={"width": 1440, "height": 900})
        context.set_default_timeout(PATIENCE)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        wrong = []
        context.on("weberror", lambda error: wrong.append(str(error.error)))
        context.on(
            "console",
            lambda message: (
                wrong.append(message.text) if message.type == "error" and not _is_expected(message) else None
            ),
        )
        try:
            test(page=context.new_page(), **values)
            assert wrong == []
        finally:
            context.close()


def _is_expected(message):
    """A refusal that a test asks for is an error in a browser's eyes, and so is a server that has ended."""
    return message.text.startswith("Failed to load resource")


@pytest.fixture(scope="session")
def chromium():
    if chromium_script.find_chromium() is None:
        pytest.skip(chromium_script.why_no_chromium())
    browser = Browser()
    browser.thread.submit(browser.start).result()
    yield browser
    browser.thread.submit(browser.stop).result()
    browser.thread.shutdown()


@pytest.fixture
def page(chromium):
    """A page of its own for each test, made in the browser's thread; the test fails if it says an error on its console."""
    return chromium


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    browser = pyfuncitem.funcargs.get("page")
    if not isinstance(browser, Browser):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    values = {name: pyfuncitem.funcargs[name] for name in names if name != "page"}
    browser.thread.submit(browser.run, pyfuncitem.obj, values).result()
    return True
