"""What real tools printed, and the lines of it that a developer acts on: with keep="auto" they survive.

The outputs are in tests/tools/, each with the lines that matter in a .keep beside it; tests/tools/README.md says how.
"""

import re
import sys
from pathlib import Path

import pytest

from spillover import Clipper, Limits, MemoryStore
from spillover.tokens import exact_counter

sys.path.insert(0, str(Path(__file__).parent.parent))  # scripts/ is not installed
from scripts.samples import SAMPLES

TOOLS = Path(__file__).parent / "tools"
CASES = sorted(path.stem for path in TOOLS.glob("*.txt"))
ROOM = 1_000  # tokens

ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Z0-9]|[=>78])")
#: A home is /home/dev; any other home, and every temporary folder, is a place of the machine that ran the tool.
PLACES = re.compile(rf"/(?:home/(?!dev\b)|Users/|{'root'}/|tmp/|var/tmp/|private/|{'work'}/)")

#: What 1,000 tokens do not show since all lines compete in one ranking (docs/decisions/log-lines.md), and what they show instead.
LOST = {
    "gxx_many": "one of 31 errors, the first; others are shown with what is around them",
    "gxx_template": "one of three errors; the other two are shown with where they are required from",
    "maven": "BUILD FAILURE, and the plugin whose message the causes below it repeat",
    "terraform": "the line that the box at the end quotes in full",
}
count = exact_counter("o200k_base")
every_case = pytest.mark.parametrize("case", CASES)
survive_cases = pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.xfail(reason=LOST[case])) if case in LOST else case for case in CASES]
)


def output(case):
    return (TOOLS / f"{case}.txt").read_bytes()


def needles(case):
    return [line for line in (TOOLS / f"{case}.keep").read_text(encoding="utf-8").splitlines() if line]


def unwanted(case):
    path = TOOLS / f"{case}.drop"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def normalised(text):
    """Lines without ANSI codes, white space folded. A carriage return ends a line, too: what follows is drawn over it."""
    return [" ".join(line.split()) for line in re.split(r"[\r\n]+", ANSI.sub("", text))]


def lost(case, text):
    lines = normalised(text)
    return [needle for needle in needles(case) if not any(needle in line for line in lines)]


@survive_cases
def test_the_lines_a_developer_acts_on_survive(case):
    clipper = Clipper(Limits(tokens=ROOM), tokenizer="o200k_base", keep="auto", store=MemoryStore())
    text = clipper.clip(output(case)).text
    assert count(text) <= ROOM
    assert lost(case, text) == []
    lines = normalised(text)
    assert [words for words in unwanted(case) if any(words in line for line in lines)] == []


@pytest.mark.parametrize(
    ("kind", "line"),
    {
        "log": "AssertionError: ",
        "json": '{"id": 0, "name": "job-0", "status": "ok"',
        "ndjson": '{"id": 0, "name": "job-0", "status": "ok"',
        "csv": "777,job-17,eu-0,884,failed",
        "diff": "@@ -1,4 +1,4 @@ def parse():",
        "html": "<title>Report</title>",
    }.items(),
)
def test_every_kind_is_recognised_and_this_line_survives(kind, line):
    clip = Clipper(Limits(tokens=600), store=MemoryStore()).clip(SAMPLES[kind](60_000))
    assert clip.kind == kind
    assert line in clip.text


def test_bytes_that_are_no_text_are_a_blob():
    assert Clipper(Limits(tokens=600), store=MemoryStore()).clip(bytes(range(256)) * 200).kind == "blob"


def test_what_must_not_be_there_is_in_the_output():
    marked = [case for case in CASES if unwanted(case)]
    assert len(marked) >= 8
    for case in marked:
        lines = normalised(output(case).decode())
        assert [words for words in unwanted(case) if not any(words in line for line in lines)] == []


def test_there_are_many_cases_and_each_has_its_needles_and_its_project():
    assert len(CASES) >= 25
    assert sorted(path.stem for path in TOOLS.glob("*.keep")) == CASES
    assert sorted(path.stem for path in (TOOLS / "projects").glob("*.sh")) == CASES


def test_the_readme_names_the_tool_of_every_case():
    readme = (TOOLS / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| (?!case )(\w+) \| \S.* \| \S.* \|$", readme, re.MULTILINE) == CASES


@every_case
def test_every_needle_is_in_the_output(case):
    assert lost(case, output(case).decode()) == []
    assert all(needle == " ".join(needle.split()) for needle in needles(case))


@every_case
def test_the_needles_are_few_and_the_output_is_long(case):
    assert 2 <= len(needles(case)) <= 10
    assert count("\n".join(needles(case))) <= 350
    seen = Clipper(tokenizer="o200k_base", store=MemoryStore()).clip(output(case))
    assert seen.total.tokens > 1_500


@every_case
def test_no_output_names_a_place_of_the_machine_that_made_it(case):
    assert PLACES.findall(ANSI.sub("", output(case).decode())) == []


def test_the_fixture_stays_small():
    assert sum(path.stat().st_size for path in TOOLS.rglob("*") if path.is_file()) < 3_800_000
