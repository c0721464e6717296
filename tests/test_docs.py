"""The docs say what the code does: examples are run, help and signatures are compared, every name and link is there."""

import importlib
import importlib.util
import inspect
import re
import runpy
import shlex
from pathlib import Path

import pytest

import spillover
import spillover.errors
import spillover.testing
import spillover.types
from spillover import profiles
from spillover.cli.parsing import FILTER, MODULES, build_parser, parse

ROOT = Path(__file__).parent.parent

_spec = importlib.util.spec_from_file_location("docs", ROOT / "scripts" / "docs.py")
docs = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(docs)

PAGES = [*docs.pages(), ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", ROOT / "AGENTS.md"]
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
REFERENCE = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")


@each_page
def test_examples_run_and_what_they_print_stands_in_the_page(page):
    assert docs.words(docs.rendered(page)) == docs.words(page.read_text(encoding="utf-8")), "run `make docs`"


@each_page
def test_every_command_line_in_the_docs_is_one_that_spill_understands(page):
    for words in spill_calls(page.read_text(encoding="utf-8")):
        parse(words)


def spill_calls(text):
    """The arguments of each `spill` in a console block, also behind a pipe or a variable."""
    for fence in docs.FENCE.finditer(text):
        if fence["kind"].startswith("console"):
            for line in re.findall(r"^\$ (.*)$", fence["body"], re.MULTILINE):
                lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
                lexer.whitespace_split = True
                yield from _calls(list(lexer))


def _calls(words):
    call = []
    for word in [*words, "|"]:
        if set(word) <= set("|&;()<>"):
            if call and call[0] == "spill":
                yield call[1:]
            call = []
        elif call or not re.match(r"\w+=", word):
            call.append(word)


def test_calls_are_found_behind_pipes_variables_and_comments():
    text = "```console run\n$ make 2>&1 | A=1 spill --tokens 4000 # as a filter\n$ spill list; ls\nspill no\n```\n"
    assert list(spill_calls(text)) == [["--tokens", "4000"], ["list"]]


@pytest.mark.parametrize("command", ["spill", *MODULES])
def test_every_command_is_in_the_reference_with_its_help(command):
    assert f"<!-- help: {command} -->\n```text\nusage: spill" in REFERENCE


@pytest.mark.parametrize("command", [FILTER, *MODULES])
def test_every_option_is_in_the_reference(command):
    options = {option for action in build_parser(command)._actions for option in action.option_strings}
    written = set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", REFERENCE))
    assert options <= written


def test_every_public_name_is_in_the_reference():
    marked = {name for names in re.findall(r"<!-- api: (.*?) -->", REFERENCE) for name in names.split()}
    raised = {
        name
        for name, value in vars(spillover.errors).items()
        if inspect.isclass(value) and issubclass(value, Exception)
    }
    places = {
        "errors": raised - {*spillover.__all__},
        "testing": spillover.testing.__all__,
        "types": spillover.types.__all__,
    }
    elsewhere = {f"{module}.{name}" for module, names in places.items() for name in names}
    assert {*spillover.__all__, *elsewhere} - {"__version__"} <= marked
    assert "`spillover.__version__`" in REFERENCE


def anchors(page):
    """The places in a page that a link can name, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@each_page
def test_every_link_leads_somewhere(page):
    text = docs.FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith("https://"):
            continue  # tests do not use the network
        path, _, anchor = target.partition("#")
        file = (page.parent / path) if path else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


@pytest.mark.parametrize("name", profiles.NAMES)
def test_every_public_name_of_a_profile_is_on_its_page(name):
    page = (ROOT / "docs/profiles" / f"{name}.md").read_text(encoding="utf-8")
    names = importlib.import_module(f"spillover.profiles.{name}").__all__
    assert {public for public in names if not re.search(rf"\b{public}\b", page)} == set()


THREATS = (ROOT / "docs/security.md").read_text(encoding="utf-8").partition("## Threats")[2].partition("\n## ")[0]
THREAT_ROWS = re.findall(r"^\| .*$", THREATS, re.MULTILINE)[1:]


def test_every_threat_names_tests_that_are_there():
    files = {path.stem for path in (ROOT / "tests").rglob("test_*.py")}
    for row in THREAT_ROWS:
        named = re.findall(r"`(test_\w+|tests/[\w/.]+)`", row.split(" | ")[2])
        assert named, row
        assert [name for name in named if name not in files and not (ROOT / name).exists()] == [], row


def test_every_part_of_the_soak_holds_a_threat_and_no_other_is_named():
    named = {
        part for parts in re.findall(r"`make soak` \(([^)]+)\)", THREATS) for part in re.findall(r"`(\w+)`", parts)
    }
    assert named == set(runpy.run_path(str(ROOT / "scripts/soak.py"))["PARTS"])


def test_how_to_report_a_vulnerability_names_no_address_that_is_not_there():
    """It once named "the address in the package's metadata", which has none."""
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert "Report a vulnerability" in page
    assert "docs/security.md#threats" in page
    assert "metadata" not in page or "email" in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
