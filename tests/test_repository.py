"""The house around the code: what its files promise each other."""

import fnmatch
import html
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import spillover
from spillover import profiles

ROOT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TASKS = re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE)
PACKAGE = ROOT / "src" / "spillover"
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))

# In pieces, so that this file is not the first to be found.
MACHINE = [f"/{'work'}/", f"/{'farm'}/", f"/{'opt'}/pypi", f"/{'root'}/", f"..{'/shared'}"]
REGISTRIES = [f"{name}.{end}" for name, end in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"))]
MAY_NAME_THE_CORPUS = "bench/"


def files():
    """Every text file of the repository, by its path from the root."""
    ignored = [line.strip("/") for line in (ROOT / ".gitignore").read_text().splitlines() if line]
    for folder, folders, names in os.walk(ROOT):
        here = Path(folder).relative_to(ROOT)
        kept = [name for name in folders if name != ".git" and not _is_ignored(here / name, ignored)]
        folders[:] = kept
        yield from (here / name for name in names if name != ".git" and not _is_ignored(here / name, ignored))


def _is_ignored(path, patterns):
    return any(fnmatch.fnmatch(path.name, pattern) or path.as_posix() == pattern for pattern in patterns)


def test_no_file_names_a_machine_or_a_package_index():
    found = []
    for path in files():
        text = (ROOT / path).read_bytes().decode("utf-8", "replace")
        wanted = REGISTRIES if path.as_posix().startswith(MAY_NAME_THE_CORPUS) else [*MACHINE, *REGISTRIES]
        found += [f"{path}: {word}" for word in wanted if word in text]
    assert found == []


def test_every_task_says_what_it_does_and_the_default_lists_them():
    said = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert re.findall(r"^  make ([a-z-]+) +\S", said, re.MULTILINE) == TASKS
    assert {"help", "demo", "test", "lint", "bench", "docs", "clean"} <= set(TASKS)


def test_no_task_takes_a_file_of_its_name_for_its_result():
    assert set(re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)[1].split()) == set(TASKS)


def test_ci_runs_the_tests_as_a_person_would_and_nothing_else():
    run = ROOT / ".ci" / "run"
    lines = [line for line in run.read_text().splitlines() if line and not line.startswith("#")]
    assert lines == ["set -euo pipefail", 'cd "$(dirname "$0")/.."', "make test"]
    assert os.access(run, os.X_OK)


def test_every_lint_exception_has_its_reason_beside_it():
    section = (ROOT / "pyproject.toml").read_text().partition("[tool.ruff.lint]")[2].partition("[tool.mypy]")[0]
    rules = [line for line in section.splitlines() if re.match(r'\s+"[A-Z]+\d*"|"[^"]+" = \[".*\]', line)]
    assert len(rules) > 10
    assert [line for line in rules if not re.search(r"# \w", line)] == []


def test_every_noqa_names_the_rule_it_silences():
    bare = re.compile(r"# noqa(?!:)")
    sources = [path for path in files() if path.suffix == ".py" and (ROOT / path) != Path(__file__)]
    assert [str(path) for path in sources if bare.search((ROOT / path).read_text())] == []


def test_the_version_is_the_same_everywhere():
    assert PYPROJECT["project"]["version"] == spillover.__version__
    assert f"\n## {spillover.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


def test_every_module_stands_in_the_map():
    the_map = (ROOT / "AGENTS.md").read_text().partition("## The map")[2].partition("\n## ")[0]
    modules = {path.name + "/" * path.is_dir() for path in PACKAGE.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert {name for name in modules if not name.startswith("__")} <= set(re.findall(r"`([\w.]+/?)`", the_map))


ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_every_file_that_the_architecture_names_is_there():
    names = re.findall(r"(?<![\w./])[\w/]+(?:\.py|\.json|/)(?=[\s`,;:)])", ARCHITECTURE.replace("`src/spillover/`", ""))
    assert len(set(names)) > 40
    assert sorted(name for name in names if not (PACKAGE / name).exists()) == []


def test_the_architecture_is_one_page_with_a_drawing_and_three_walks_and_the_readme_leads_to_it():
    assert len(ARCHITECTURE.splitlines()) <= 100
    assert ARCHITECTURE.count("```") == 2
    assert [*re.findall(r"^## (.*)$", ARCHITECTURE, re.MULTILINE)][:3] == [
        "One that fits",
        "A log that overflows",
        "A stored output that is read back",
    ]
    assert "docs/architecture.md" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_there_are_few_decisions_to_read():
    assert len(DECISIONS) <= 15


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_every_decision_answers_a_question_with_context_decision_and_consequences(page):
    text = page.read_text(encoding="utf-8")
    assert text.partition("\n")[0].endswith("?")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["Context", "Decision", "Consequences"]


def test_the_demo_shows_the_reason_that_tail_does_not_and_leaves_nothing_behind(tmp_path):
    environment = {**os.environ, "HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path), "COLUMNS": "80"}
    ended = subprocess.run(
        [sys.executable, ROOT / "examples" / "demo.py"], env=environment, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    tail, ours = ended.stdout.split("spill run", 1)
    reason = "AttributeError: module 'statistics' has no attribute 'mean'"
    assert (reason in tail, reason in ours.partition("Go back")[0]) == (False, True)
    assert len(ended.stdout.splitlines()) <= 60
    assert "0 damaged" in ended.stdout
    assert "\x1b" not in ended.stdout, "colours are for terminals"
    assert [line for line in ended.stdout.splitlines() if len(line) > 80 and str(tmp_path) not in line] == []
    assert list(tmp_path.iterdir()) == []
    # The picture in the README shows the same demo; numbers and wrapping differ from machine to machine.
    picture = (ROOT / "docs" / "demo.svg").read_text(encoding="utf-8")
    drawn = "\n".join(re.findall(r'<text x="16\.0"[^>]*>(.*?)</text>', picture))
    assert _words(html.unescape(drawn)) == _words(ended.stdout), "run `make picture`"


def test_every_python_we_support_is_named_and_the_oldest_is_required():
    named = [line.rpartition(" ")[2] for line in PYPROJECT["project"]["classifiers"] if "Python :: 3." in line]
    assert named == ["3.11", "3.12", "3.13", "3.14"]
    assert PYPROJECT["project"]["requires-python"] == f">={named[0]}"


def _words(demo):
    """The words of a demo that are the same on every machine: what is typed and what is said about it."""
    without = re.sub(r"(?m)^ .*\n?", "", demo)
    return re.sub(r"[\d,]+|─+|-[0-9a-f]{12,}", "", without).split()


def test_the_locks_import_private_names_only_from_support():
    public = {"spillover", *(f"spillover.{name}" for name in ("errors", "types", "testing", "tokens", "profiles"))}
    public |= {f"spillover.profiles.{name}" for name in profiles.NAMES}
    public |= {f"spillover.frameworks.{name}" for name in ("langchain", "openai_agents", "pydantic_ai")}
    folders = [ROOT / "tests" / name for name in ("laws", "peers", "profiles", "e2e")]
    locks = [*(path for folder in folders for path in folder.rglob("*.py")), ROOT / "tests/hosts/test_contract.py"]
    private = [
        f"{path.relative_to(ROOT)}: {module}"
        for path in locks
        for module in re.findall(r"^\s*(?:from|import) (spillover[\w.]*)", path.read_text(), re.MULTILINE)
        if module not in public
    ]
    assert not private, "import these from tests/support.py"
