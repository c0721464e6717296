"""Who may ask the page what: token, Host, Origin, method, scope; what every answer carries; how it starts."""

import http.client
import json
import re
import sys
from html.parser import HTMLParser
from importlib import resources
from urllib.parse import urlsplit

import pytest

from spillover import Clipper
from spillover.cli import main
from spillover.ui.server import can_browse

STATIC = resources.files("spillover.ui") / "static"


@pytest.fixture(scope="module")
def served(tmp_path_factory, new_place):
    place = new_place(tmp_path_factory.mktemp("door"))
    mine = place.clipper.clip("mine\n" * 50_000, tool="mine").ref
    theirs = Clipper(store=place.store, scope="acme/other").clip("theirs\n" * 50_000, tool="theirs").ref
    with place.serve() as address:
        yield address, mine, theirs


def ask(address, path, *, token=None, method="GET", **headers):
    parts = urlsplit(address)
    given = parts.fragment.removeprefix("token=") if token is None else token
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    sent = {"Authorization": f"Bearer {given}"} | {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, headers={name: value for name, value in sent.items() if value})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body, dict(answer.getheaders())


@pytest.mark.parametrize("token", ["", "wrong", "é"])
def test_without_the_token_nothing_is_answered(served, token):
    address, mine, _ = served
    for path in (
        "/api/about",
        "/api/outputs",
        f"/api/output/{mine}",
        f"/api/output/{mine}/lines",
        "/api/nothing",
    ):
        status, body, _ = ask(
            address, path, Authorization=f"Bearer {token}".encode("latin-1", "replace").decode("latin-1")
        )
        assert status == 401, path
        assert b"the address that `spill ui` printed" in body
        assert b"mine" not in body


def test_only_this_very_page_may_ask(served):
    address, mine, _ = served
    port = urlsplit(address).port
    for origin in (
        "https://example.com",
        "http://127.0.0.1:1",
        f"http://localhost:{port}",
        "null",
        f"https://127.0.0.1:{port}.example.com",
    ):
        assert ask(address, f"/api/output/{mine}", Origin=origin)[0] == 403, origin
        assert ask(address, "/", Origin=origin)[0] == 403, origin
    assert ask(address, f"/api/output/{mine}", Origin=f"http://127.0.0.1:{port}")[0] == 200
    for host in ("example.com", f"example.com:{port}", "127.0.0.1.example.com", "", "0.0.0.0"):
        assert ask(address, f"/api/output/{mine}", Host=host or "\t")[0] in (400, 421), host
        assert ask(address, "/", Host=host or "\t")[0] in (400, 421), host
    assert ask(address, "/", Host=f"localhost:{port}")[0] == 200


def test_it_only_reads(served):
    address, mine, _ = served
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"):
        assert ask(address, f"/api/output/{mine}", method=method)[0] == 405
    assert ask(address, f"/api/output/{mine}")[0] == 200


def test_every_answer_forbids_scripts_styles_and_frames_that_are_not_ours(served):
    address = served[0]
    for path, token in (
        ("/", None),
        ("/main.js", None),
        ("/nothing", None),
        ("/api/outputs", None),
        ("/api/outputs", "wrong"),
    ):
        headers = {name.lower(): value for name, value in ask(address, path, token=token)[2].items()}
        policy = headers["content-security-policy"]
        assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
        assert not re.search(r"unsafe|https?:|\*|data:|blob:", policy)
        assert "require-trusted-types-for 'script'; trusted-types 'none'" in policy
        assert headers["cache-control"] == "no-store"
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
        assert "access-control-allow-origin" not in headers
        assert "server" not in headers


def test_other_projects_are_as_if_they_were_not_there(served):
    address, mine, theirs = served
    listed = json.loads(ask(address, "/api/outputs")[1])
    assert [row["id"] for row in listed["rows"]] == [mine]
    for rest in ("", "/lines", "/search?q=theirs", "/replay", "/clip"):
        status, body, _ = ask(address, f"/api/output/{theirs}{rest}")
        assert status == 404, rest
        assert b"theirs\\n" not in body
    assert ask(address, "/api/text?q=theirs")[1].startswith(b'{"ids":[],')
    assert ask(address, f"/api/compare?new={mine}&old={theirs}")[0] == 404


def test_a_wrong_request_is_refused_in_words_and_never_with_a_traceback(served):
    address, mine, _ = served
    for path, status in (
        ("/../../etc/passwd", 404), ("/%2e%2e/app.py", 404), ("/static/main.js", 404), ("/api/output/..%2f..%2fx", 404),
        ("/api/output/run:../../x", 404), ("/api/output/run:" + "0" * 20 + "-" + "a" * 8, 404), ("/api/output/%00", 404),
        (f"/api/output/{mine}/lines?from=-1", 400), (f"/api/output/{mine}/lines?from=9e9", 400),
        (f"/api/output/{mine}/lines?from={'9' * 16}", 400), (f"/api/output/{mine}/search?q=(", 422),
        (f"/api/output/{mine}/search?q=", 422), (f"/api/output/{mine}/clip?tokens=1", 400),
        (f"/api/output/{mine}/clip?profile=nobody", 400), (f"/api/output/{mine}/clip?store=/tmp", 400),
        (f"/api/output/{mine}/line?line=1&column=99999999", 200),
        (f"/api/output/{mine}/lines?from=999999999", 200), ("/api/stats?days=99999999999", 200),
    ):  # fmt: skip
        answer = ask(address, path)
        assert answer[0] == status, (path, answer[1][:200])
        assert b"Traceback" not in answer[1]
        assert status == 200 or json.loads(answer[1])["error"]


def test_the_page_has_no_script_or_style_in_its_markup_and_names_no_other_host():
    wrong = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            names = dict(attrs)
            wrong.extend(f"{tag} {name}" for name in names if name.startswith("on") or name == "style")
            if tag == "style" or (tag == "script" and not names.get("src")):
                wrong.append(tag)

    Reader().feed((STATIC / "index.html").read_text(encoding="utf-8"))
    assert wrong == []
    for file in STATIC.iterdir():
        text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|//cdn|@import|url\(", text), file.name
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text), (
            file.name
        )


def test_a_port_that_is_taken_is_said_with_what_to_do(served, place):
    port = urlsplit(served[0]).port
    done = place.spill("ui", "--no-open", "--port", str(port))
    assert done.returncode == 2
    assert f"Try --port {port + 1}." in done.stderr
    assert "Traceback" not in done.stderr


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


def test_the_browser_is_led_by_a_private_file_that_goes_once_it_was_used(place, tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/arguments\n')
    browser.chmod(0o700)
    place.env |= {"BROWSER": str(browser), "TMPDIR": str(temporary)}
    with place.serve(browse=True) as address:
        assert ask(address, "/")[0] == 200
        (folder,) = temporary.iterdir()
        (file,) = folder.iterdir()
        assert (tmp_path / "arguments").read_text() == f"file://{file}\n", "the token is on no command line"
        assert (folder.stat().st_mode & 0o777, file.stat().st_mode & 0o777) == (0o700, 0o600)
        assert f"url={address}" in file.read_text()
        assert ask(address, "/api/about", token="wrong")[0] == 401
        assert file.exists()
        assert ask(address, "/api/about")[0] == 200
        assert [*temporary.iterdir()] == []
