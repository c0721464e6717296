"""The public address, once there is one: absolute links in README.md that lead to files, and project.urls."""

import importlib.util
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
ADDRESS = "https://git.example/somebody/spillover"

_spec = importlib.util.spec_from_file_location("address", ROOT / "scripts" / "address.py")
address = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(address)

README = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_every_link_of_the_readme_becomes_absolute_and_leads_to_a_file():
    page = address.make_absolute(README, ADDRESS)
    targets = re.findall(r"\]\(([^)\s]+)\)", page)
    assert len(targets) > 15
    for target in targets:
        path = re.fullmatch(rf"{ADDRESS}/(?:blob|raw)/main/([^#]+)(?:#.*)?", target)
        assert path is None or (ROOT / path[1]).exists(), target
        assert target.startswith(("https://", "#")), target
    assert f"]({ADDRESS}/raw/main/docs/demo.svg)" in page


def test_the_address_can_change_later():
    once = address.make_absolute(README, "https://old.example/a/spillover")
    assert address.make_absolute(once, ADDRESS) == address.make_absolute(README, ADDRESS)
    twice = address.set_urls(address.set_urls(PROJECT, "https://old.example/a/spillover"), ADDRESS)
    assert twice == address.set_urls(PROJECT, ADDRESS)


def test_the_urls_are_valid_and_nothing_else_changes():
    before, after = (tomllib.loads(text) for text in (PROJECT, address.set_urls(PROJECT, ADDRESS)))
    urls = after["project"].pop("urls")
    assert urls["Source"] == ADDRESS
    before["project"].pop("urls", None)
    assert before == after


def test_anything_but_an_address_is_refused(capsys):
    assert [address.main(words) for words in ([], ["spillover"], ["http://x/y"], ["https://x/y z"])] == [2, 2, 2, 2]
    assert "python scripts/address.py https://HOST/OWNER/spillover" in capsys.readouterr().err
