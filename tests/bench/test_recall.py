"""The table of the README is what bench/recall.py prints."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent

_spec = importlib.util.spec_from_file_location("bench_recall", ROOT / "bench" / "recall.py")
recall = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(recall)


def cell(share, logs=10):
    return {"all": share, "any": share, "over": 0, "logs": logs}


def test_ours_comes_last_and_the_best_of_a_row_is_bold():
    figures = {
        "spillover": {"cidiff@2000": cell(0.614), "logchunks@2000": cell(0.8)},
        "tail": {"cidiff@2000": cell(0.38), "logchunks@2000": cell(0.802)},
    }
    assert recall.markdown(figures).splitlines() == [
        "| | logs | tail | spillover |",
        "|---|---:|---:|---:|",
        "| Travis CI builds, 39 projects (LogChunks) | 10 | **80** | **80** |",
        "| CI builds, 16 projects (CiDiff) | 10 | 38 | **61** |",
    ]


def test_with_several_budgets_each_row_says_which():
    figures = {"spillover": {"new@1000": cell(0.5), "new@2000": cell(1)}}
    assert [row.split("|")[1] for row in recall.markdown(figures).splitlines()[2:]] == [
        " new, 1,000 tokens ",
        " new, 2,000 tokens ",
    ]


def projects(**shares):
    return {"all": sum(shares.values()) / len(shares), "projects": shares, "held out": ["c"], "logs": 9, "over": 0}


def test_projects_left_out_are_said_for_those_that_choices_may_see_and_for_those_held_out():
    rows = recall.by_choice({"cidiff@1000": projects(a=0.5, b=1.0, c=0.0)}).splitlines()
    assert rows[1].split() == ["cidiff@1000", "75.0%", "0.0%", "2", "+", "1"]


def test_a_range_is_a_bootstrap_over_projects_and_of_differences_project_by_project():
    steady = {"cidiff@1000": projects(a=0.5, b=0.5, c=0.5), "bugswarm@1000": projects(a=1.0, b=1.0, c=1.0)}
    mixed = {"cidiff@1000": projects(a=0.4, b=0.4, c=1.0), "bugswarm@1000": projects(a=0.0, b=1.0, c=1.0)}
    published = {cell: {"all": 0.25} for cell in steady}
    rows = recall.means({"before": mixed, "page": published, recall.OURS: steady, recall.LEFT_OUT: steady}).splitlines()
    assert "against before" in rows[0]
    assert rows[1].split()[:4] == ["cidiff", "+50.0", "[+50.0,", "+50.0]"]
    assert rows[1].split()[4:7] == ["-10.0", "[-30.0,", "+10.0]"]
    assert rows[1].split()[7:10] == ["+25.0", "[+25.0,", "+25.0]"]
    assert rows[3].split()[:4] == ["all", "of", "these", "+75.0"]


def test_the_readme_has_such_a_table():
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    titles = [*recall.NAIVE.values(), recall.OURS]
    assert f"| | logs | {' | '.join(titles)} |" in page
    assert all(recall.TITLES[corpus] in page for corpus in ("logchunks", "swebench_eval", "cidiff", "treeherder"))
