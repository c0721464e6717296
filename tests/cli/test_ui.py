"""`spill ui` as far as no browser is needed: what it says when it cannot start, and when it opens a browser."""

import sys

import pytest

from spillover.cli import main
from spillover.ui.serve import _Redirect, can_browse


def test_without_its_extra_it_says_what_to_install(monkeypatch, capfd):
    for name in [name for name in sys.modules if name.startswith("spillover.ui")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "starlette", None)
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    assert main(["ui", "--no-open"]) == 2
    assert "pip install 'spillover[ui]'" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("environ", "platform", "expected"),
    [({}, "linux", False), ({"DISPLAY": ":0"}, "linux", True), ({"WAYLAND_DISPLAY": "w"}, "linux", True), ({}, "darwin", True)],
)  # fmt: skip
def test_a_browser_is_opened_only_where_there_is_a_screen(environ, platform, expected):
    assert can_browse(environ, platform) is expected


def test_the_browser_is_led_by_a_private_file_that_goes_once_it_was_used(monkeypatch, tmp_path):
    opened = []
    monkeypatch.setenv("BROWSER", "one")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("webbrowser.open", opened.append)
    redirect = _Redirect()
    redirect.open("http://127.0.0.1:1/#token=secret&to=/output/x")
    (folder,) = tmp_path.iterdir()
    (file,) = folder.iterdir()
    assert opened == [f"file://{file}"], "the token is on no command line"
    assert (folder.stat().st_mode & 0o777, file.stat().st_mode & 0o777) == (0o700, 0o600)
    assert "token=secret&amp;to=/output/x" in file.read_text()
    redirect.remove()
    redirect.remove()
    assert [*tmp_path.iterdir()] == []
